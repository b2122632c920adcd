/* What is behind the parser's place in the packet follows the headers; invalid ones are left out, and one emitted twice is there twice. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        p.extract(h.s.next);
        p.advance(8);
        transition accept;
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.s[2] = { 0x99 };
        if (h.h.a == 1) { h.h.setInvalid(); }
        h.t = { 0x77 };
    }
}

control deparse(packet_out p, in headers h) {
    apply {
        p.emit(h.t);
        p.emit(h.h);
        p.emit(h.s);
        p.emit(h.t);
    }
}

V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), deparse()) main;
