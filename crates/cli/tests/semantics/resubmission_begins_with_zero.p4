/* What is resubmitted begins with metadata of zero, the port that it came in by included: no field list names any of it. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = (bit<8>)s.ingress_port;
        h.h.c = (bit<8>)s.instance_type;
        h.h.d = m.n;
        m.n = 7;
        if (h.h.a == 1 && s.instance_type == 0) { resubmit_preserving_field_list(3); }
    }
}

SWITCH
