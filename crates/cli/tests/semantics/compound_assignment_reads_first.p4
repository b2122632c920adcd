/* `a op= e` is `a = a op e`: the target is chosen and read before `e` is evaluated, whatever `e` does to it. */
#include "frame.p4"

bit<8> change(inout bit<8> x) {
    x = x + 0x40;
    return 3;
}

bit<16> clear(inout bit<16> x) {
    x = 0;
    return 0x0100;
}

INGRESS {
    bit<2> at;
    apply {
        s.egress_spec = 1;
        h.h.a += change(h.h.a);
        h.h.b |+|= change(h.h.b);
        h.h.c[3:0] |= change(h.h.c)[3:0];
        h.h.x -= clear(h.h.x);
        h.h.y ^= (h.h.y[15:8] == 0x12 ? clear(h.h.y) : 16w1);
        at = 0;
        h.s[0].setValid();
        h.s[0].v = 5;
        h.s[1].setValid();
        h.s[1].v = 6;
        bit<8> step = 1;
        h.s[step - 1].v <<= change(step) - 2;
    }
}

SWITCH
