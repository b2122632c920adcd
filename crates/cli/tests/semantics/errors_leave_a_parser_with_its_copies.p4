/* A parser applied in another one fails: what it wrote to its arguments is copied out, whatever they are, as headers extracted before an error stay. */
#include "frame.p4"

parser inner(packet_in p, inout bit<8> whole, inout bit<8> part, out byte_t t) {
    state start {
        whole = whole + 1;
        part = 0x55;
        p.extract(t);
        transition select(t.v) {
            0: accept;
            1: reject;
            2: more;
        }
    }
    state more {
        part = 0x66;
        p.advance(800);
        transition accept;
    }
}

parser outer(packet_in p, inout headers h, inout meta m) {
    inner() parts;
    state start {
        parts.apply(p, m.n, m.k[11:4], h.s[h.h.a]);
        m.n = m.n + 0x10;
        transition accept;
    }
}

PARSER {
    outer() all;
    state start {
        p.extract(h.h);
        m.k = 0xffff;
        all.apply(p, h, m);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = m.n;
        h.h.x = m.k;
        h.h.y = (bit<16>) (bit<1>) h.s[2].isValid();
        h.h.c = s.parser_error == error.NoMatch ? 8w2 : s.parser_error == error.PacketTooShort ? 8w1 : 8w0;
    }
}

SWITCH_WITH_PARSER
