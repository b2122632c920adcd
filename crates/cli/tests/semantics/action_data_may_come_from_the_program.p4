/* A parameter without direction is action data; where the program itself calls the action, it may be any value. */
#include "frame.p4"

INGRESS {
    action set(inout bit<8> to, bit<8> v) { to = v; }
    table t {
        key = { h.h.a : exact; }
        actions = { set(h.h.b); }
        const entries = { 1 : set(h.h.b, 0x11); }
        default_action = set(h.h.b, 0x22);
    }
    apply {
        s.egress_spec = 1;
        t.apply();
        set(h.h.c, h.h.b + 1);
    }
}

SWITCH
