/* A table that no control applies: p4c takes it out with a warning; its entries are checked by nothing and have no effect. */
#include "frame.p4"

INGRESS {
    action put(bit<8> v) { h.h.b = v; }
    table used {
        key = { h.h.a : exact; }
        actions = { put; NoAction; }
        default_action = NoAction;
    }
    table unused {
        key = { h.h.b : exact; }
        actions = { put; NoAction; }
        default_action = NoAction;
    }
    apply {
        s.egress_spec = 1;
        used.apply();
    }
}

SWITCH
