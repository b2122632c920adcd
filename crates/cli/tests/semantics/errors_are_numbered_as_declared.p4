/* Errors have numbers in the order of their declarations: those of core.p4 first, then the program's own. */
#include "frame.p4"

error { Mine, Other }

struct report {
    error what;
}

PARSER {
    state start {
        p.extract(h.h);
        verify(h.h.a != 1, error.Mine);
        verify(h.h.a != 2, error.Other);
        p.extract(h.t);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        digest<report>(1, { s.parser_error });
        if (s.parser_error == error.NoError) { h.h.b = 0xa0; }
        if (s.parser_error == error.PacketTooShort) { h.h.b = 0xa1; }
        if (s.parser_error == error.Mine) { h.h.b = 0xa2; }
        if (s.parser_error == error.Other) { h.h.b = 0xa3; }
    }
}

SWITCH_WITH_PARSER
