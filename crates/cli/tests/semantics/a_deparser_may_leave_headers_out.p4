/* A deparser that returns emits no more: what it leaves out is gone, though it lay where it would have been emitted to. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        p.extract(h.t);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
    }
}

control deparse(packet_out p, in headers h) {
    apply {
        p.emit(h.h);
        if (h.h.a == 1) {
            return;
        }
        p.emit(h.t);
    }
}

V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), deparse()) main;
