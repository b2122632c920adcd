/* The keys of a select are evaluated when the packet is there: values, masks and ranges of it, also of signed numbers. The first case that
 * has the value is taken. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        transition select(h.h.a, (int<8>)h.h.b) {
            (0x41, 4 .. -4)                                   : same;
            (h.h.c, _)                                        : same;
            (h.h.c &&& h.h.d, 5)                              : masked;
            (_, (int<8>)h.h.c .. (int<8>)h.h.d)               : between;
            (h.h.x[7:0] .. h.h.y[7:0], 0x60 &&& (int<8>)h.h.c) : both;
            default                                           : accept;
        }
    }
    state same { m.n = 1; transition accept; }
    state masked { m.n = 2; transition accept; }
    state between { m.n = 3; transition accept; }
    state both { m.n = 4; transition accept; }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.x = 8w0 ++ m.n;
    }
}

SWITCH_WITH_PARSER
