/* A range of signed numbers around zero is one entry; one that ends before it starts is none; a mask of all bits is a value. The priorities
 * of constant entries are constants of any form, the smallest goes first. */
#include "frame.p4"

const bit<32> FIRST = 1;
enum bit<32> Rank { last = 9 }

INGRESS {
    action set(bit<8> v) { h.h.d = v; }
    action mark(bit<16> v) { h.h.x = v; }
    table around {
        key = { (int<8>)h.h.a : range @name("a"); h.h.b : exact; }
        actions = { set; }
        const default_action = set(9);
        const entries = {
            (-3 .. 2, 1)              : set(1);
            (5 .. 4, 1)               : set(2);
            (0 .. -128, 3)            : set(6);
            (-128 .. -100, 1 &&& 255) : set(3);
            (4 .. -4, 2)              : set(4);
            (_, 2)                    : set(5);
        }
    }
    table ranked {
        key = { h.h.c : ternary; }
        actions = { mark; NoAction; }
        const entries = {
            0x10 &&& 0xf0 : mark(1) @priority(Rank.last);
            0x11          : mark(2) @priority(FIRST + 1);
            0x11 &&& 0x1f : mark(3) @priority[FIRST];
        }
    }
    apply {
        s.egress_spec = 1;
        around.apply();
        ranked.apply();
    }
}

SWITCH
