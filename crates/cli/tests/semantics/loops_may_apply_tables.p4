/* Tables in a loop: in its body, its condition and its update, with ends that are known, and with ends that the packet decides. */
#include "frame.p4"

control step(in bit<8> key, out bit<8> result) {
    action set(bit<8> v) { result = v; }
    action missed() { result = 0xff; }
    table next {
        key = { key : exact; }
        actions = { set; missed; }
        const default_action = missed;
        const entries = {
            5 : set(0x55);
            6 : set(0x66);
        }
    }
    apply { next.apply(); }
}

INGRESS {
    action count() { h.h.b = h.h.b + 1; }
    table below {
        key = { h.h.b : exact; }
        actions = { count; NoAction; }
        default_action = NoAction;
        const entries = {
            0 : count();
            1 : count();
            2 : count();
            0xfe : count();
        }
    }
    step() looked;
    bit<8> r = 0;

    apply {
        s.egress_spec = 1;
        if (h.h.d == 0) {
            for (bit<8> i = 0; i < 3 && below.apply().hit; i = i + 1) { h.h.a = h.h.a + 1; }
        } else if (h.h.d == 1) {
            for (bit<8> i = 0; below.apply().hit && i < 2; i = i + 1) { h.h.a = h.h.a + 1; }
        } else if (h.h.d == 2) {
            for (bit<8> i = 0; i < 3; i = i + (below.apply().hit ? 8w1 : 2)) { h.h.a = h.h.a + 1; }
        } else if (h.h.d == 3) {
            for (bit<8> i = h.h.a; i < h.h.b; i = i + 1) { looked.apply(i, r); h.h.c = r; }
        } else if (h.h.d == 4) {
            for (bit<8> i in h.h.a .. h.h.b) {
                if (i == 7) { continue; }
                if (i == 9) { break; }
                looked.apply(i, r);
                h.h.c = h.h.c + 1;
            }
            h.h.a = r;
        } else {
            for (bit<8> i = 0; !(below.apply().miss || i == 3); i = i + 1) { h.h.a = h.h.a + 1; }
        }
    }
}

SWITCH
