/* An extract that fails takes nothing and leaves the headers before it; no match of a select, a full stack and a look too far are errors. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        transition select(h.h.a) {
            1: bytes;
            2: ahead;
            3: skip;
            4: pick;
            default: accept;
        }
    }
    state bytes {
        p.extract(h.s.next);
        transition bytes;
    }
    state ahead {
        h.h.x = p.lookahead<bit<16>>();
        transition accept;
    }
    state skip {
        p.advance(16);
        transition accept;
    }
    state pick {
        transition select(h.h.b) {
            1: accept;
        }
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        if (s.parser_error == error.PacketTooShort) { h.h.d = 1; }
        if (s.parser_error == error.NoMatch) { h.h.d = 2; }
        if (s.parser_error == error.StackOutOfBounds) { h.h.d = 3; }
        h.h.c = (h.s[0].isValid() ? 8w1 : 0) | (h.s[1].isValid() ? 8w2 : 0) | (h.s[2].isValid() ? 8w4 : 0);
    }
}

SWITCH_WITH_PARSER
