/* 0 is a packet as it came, 1 and 2 are clones of ingress and egress, 4 was recirculated, 5 is a replica, 6 was resubmitted. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = (bit<8>)s.instance_type;
        if (h.h.a == 1 && s.instance_type == 0) { clone(CloneType.I2E, 5); }
        if (h.h.a == 3 && s.instance_type == 0) { resubmit_preserving_field_list(0); }
        if (h.h.a == 5) { s.mcast_grp = 1; }
    }
}

EGRESS {
    apply {
        h.h.c = (bit<8>)s.instance_type;
        if (h.h.a == 2 && s.instance_type == 0) { clone(CloneType.E2E, 5); }
        if (h.h.a == 4 && h.h.b == 0) { recirculate_preserving_field_list(0); }
    }
}

SWITCH_WITH_EGRESS
