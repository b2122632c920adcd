/* A program that never sets `egress_spec` sends to port 0; 511 drops, also by hand; what is written after `mark_to_drop` undoes it, but the
 * multicast group is gone. */
#include "frame.p4"

INGRESS {
    apply {
        if (h.h.a == 1) { s.egress_spec = 511; }
        if (h.h.a == 2) { mark_to_drop(s); s.egress_spec = 3; }
        if (h.h.a == 3) { s.egress_spec = 3; mark_to_drop(s); }
        if (h.h.a == 4) { s.mcast_grp = 1; mark_to_drop(s); s.egress_spec = 4; }
    }
}

SWITCH
