/* A packet that is resubmitted is the one that came in, also where its parser may go anywhere and what it extracted has been changed. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        p.advance((bit<32>)h.h.a << 3);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        if (s.instance_type == 0) {
            h.h.b = 0xff;
            resubmit_preserving_field_list(0);
        }
    }
}

SWITCH_WITH_PARSER
