/* A parser that rejects does not drop: ingress runs, with the error that there was, and what was not parsed follows as payload. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        transition select(h.h.a) {
            1: reject;
            default: more;
        }
    }
    state more {
        p.extract(h.t);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = s.parser_error == error.NoError ? 8w1 : 2;
    }
}

SWITCH_WITH_PARSER
