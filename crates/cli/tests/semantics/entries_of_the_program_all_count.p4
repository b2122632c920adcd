/* A program may bring more entries than its `size`: all count. Of two that match the same, the first does. */
#include "frame.p4"

INGRESS {
    action set(bit<8> v) { h.h.d = v; }
    action mark(bit<8> v) { h.h.c = v; }
    action note(bit<16> v) { h.h.x = v; }
    table few {
        key = { h.h.a : exact; }
        actions = { set; NoAction; }
        size = 2;
        const entries = {
            1 : set(1);
            2 : set(2);
            3 : set(3);
        }
    }
    table initial {
        key = { h.h.b : exact; }
        actions = { mark; NoAction; }
        size = 1;
        entries = {
            1 : mark(1);
            2 : mark(2);
        }
    }
    table twice {
        key = { h.h.y : lpm; }
        actions = { note; NoAction; }
        const entries = {
            0x1200 &&& 0xff00 : note(1);
            0x1200 &&& 0xff00 : note(2);
            0x1234            : note(3);
        }
    }
    apply {
        s.egress_spec = 1;
        few.apply();
        initial.apply();
        twice.apply();
    }
}

SWITCH
