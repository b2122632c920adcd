/* `exit` and `return` end what runs, but what was written comes out; egress runs after an exit in ingress. */
#include "frame.p4"

control inner(inout bit<8> v) {
    action leave(inout bit<8> w) {
        w = w + 1;
        exit;
    }
    apply {
        v = v + 1;
        if (v == 3) { return; }
        if (v == 6) { leave(v); }
        v = 0x77;
    }
}

INGRESS {
    inner() i;
    apply {
        s.egress_spec = 1;
        i.apply(h.h.a);
        h.h.b = 1;
    }
}

EGRESS {
    apply {
        h.h.c = 0xee;
    }
}

SWITCH_WITH_EGRESS
