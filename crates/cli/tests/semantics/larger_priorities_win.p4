/* The larger priority wins, not the longer prefix, where there is a ternary key; of constant entries the first; a value may have bits that
 * its mask has not. */
#include "frame.p4"

INGRESS {
    action set(bit<8> v) { h.h.d = v; }
    action mark(bit<8> v) { h.h.c = v; }
    action note(bit<16> v) { h.h.x = v; }
    action look(bit<16> v) { h.h.y = v; }
    table mixed {
        key = { h.h.x : lpm; h.h.a : ternary; }
        actions = { set; NoAction; }
    }
    table constant {
        key = { h.h.a : ternary; }
        actions = { mark; NoAction; }
        const entries = {
            0x11 &&& 0x0f : mark(1);
            0x21          : mark(2);
            _             : mark(3);
        }
    }
    table initial {
        key = { h.h.a : ternary; }
        actions = { note; NoAction; }
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            priority = 20: 0x01 &&& 0x01 : note(1);
                           0x20 &&& 0x20 : note(2);
            priority = 5:  0x21 &&& 0xff : note(3);
        }
    }
    table longest {
        key = { h.h.b : exact; h.h.y : lpm; }
        actions = { look; NoAction; }
    }
    apply {
        s.egress_spec = 1;
        mixed.apply();
        constant.apply();
        initial.apply();
        longest.apply();
    }
}

SWITCH
