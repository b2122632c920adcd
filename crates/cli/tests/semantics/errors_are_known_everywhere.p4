/* Errors are in one namespace, wherever they are declared: also above their declaration, and in several. */
#include "frame.p4"

const error EARLY = error.TooOld;

bit<8> code_of(in error e) {
    if (e == error.TooNew) {
        return 1;
    }
    return e == EARLY ? 8w2 : 8w3;
}

error { TooOld }

PARSER {
    state start {
        p.extract(h.h);
        verify(h.h.a > 3, error.TooOld);
        verify(h.h.a < 9, error.TooNew);
        transition accept;
    }
}

error { TooNew }

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = code_of(s.parser_error);
    }
}

SWITCH_WITH_PARSER
