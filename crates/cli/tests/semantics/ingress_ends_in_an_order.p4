/* At the end of ingress: clone, also of what is dropped; resubmit before all else; multicast before drop; then drop or send. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = 0xee;
        if (h.h.a == 1) { clone(CloneType.I2E, 5); mark_to_drop(s); }
        if (h.h.a == 2) { s.mcast_grp = 1; s.egress_spec = 511; }
        if (h.h.a == 3) { s.mcast_grp = 9; }
        if (h.h.a == 4 && s.instance_type == 0) { resubmit_preserving_field_list(0); s.mcast_grp = 1; }
        if (h.h.a == 5) { clone(CloneType.I2E, 6); clone(CloneType.I2E, 5); }
        if (h.h.a == 6) { clone(CloneType.I2E, 77); }
    }
}

EGRESS {
    apply {
        h.h.c = (bit<8>)s.instance_type;
        h.h.d = (bit<8>)s.egress_rid;
        h.h.x = (bit<16>)s.egress_port;
    }
}

SWITCH_WITH_EGRESS
