/* `clone3`, `resubmit` and `recirculate` with the fields to keep, as they were written before there were numbered lists: each call keeps its own. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        if (s.instance_type == 0) {
            m.n = 0x11;
            m.k = 0x2222;
            if (h.h.a == 1) { clone3(CloneType.I2E, 32w5, { m.n }); }
            if (h.h.a == 2) { clone3(CloneType.I2E, 32w5, { m.k, s.ingress_port }); }
            if (h.h.a == 3) { resubmit({ m.n }); }
            if (h.h.a == 4) { resubmit({ m.k }); }
            if (h.h.a == 5) { resubmit(m); }
            if (h.h.a == 6) { resubmit(s); }
        } else {
            h.h.b = (bit<8>)s.ingress_port;
        }
        m.k[3:0] = 3;
    }
}

EGRESS {
    apply {
        if (s.instance_type == 1) {
            h.h.b = (bit<8>)s.ingress_port;
        }
        h.h.c = m.n;
        h.h.x = m.k;
    }
}

SWITCH_WITH_EGRESS
