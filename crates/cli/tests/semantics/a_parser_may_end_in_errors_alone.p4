/* A parser that no packet leaves by accept, and elements of a stack that there are not: the errors are those of P4_16 12.6 and 8.18, and ingress runs. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        transition select(h.h.d) {
            0: loop;
            1: chosen;
        }
    }
    state loop {
        p.extract(h.s.next);
        transition select(h.s.last.v) {
            7: loop;
        }
    }
    state chosen {
        p.extract(h.s[h.h.a]);
        h.h.a = h.h.a + 1;
        transition chosen;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = s.parser_error == error.NoMatch ? 8w2
            : s.parser_error == error.StackOutOfBounds ? 8w3
            : s.parser_error == error.PacketTooShort ? 8w1 : 8w0;
    }
}

SWITCH_WITH_PARSER
