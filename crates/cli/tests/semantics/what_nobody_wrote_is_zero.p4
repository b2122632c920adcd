/* Variables, metadata and the fields of a header that becomes valid are zero, each time. */
#include "frame.p4"

INGRESS {
    bit<8> local;
    apply {
        s.egress_spec = 1;
        bit<8> inner;
        h.h.a = local | inner | m.n | m.k[7:0];
        local = 1;
        inner = 1;
        m.n = 1;
        m.k = 1;
        h.t.setValid();
        h.h.b = h.t.v;
        h.t.v = 5;
        h.t.setInvalid();
        h.t.setValid();
        h.h.c = h.t.v;
    }
}

SWITCH
