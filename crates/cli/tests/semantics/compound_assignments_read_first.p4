/* `a op= e` is `a = a op e`: the left operand is read before e is evaluated. p4c reads it afterwards. */
#include "frame.p4"

bit<8> clear(inout bit<8> v, in bit<8> result) {
    v = 0;
    return result;
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.a |= clear(h.h.a, 0x44);
        h.h.b += clear(h.h.b, 3);
        h.h.x[7:0] ^= clear(h.h.c, 1);
        h.h.y -= (bit<16>) clear(h.h.y[7:0], 1);
    }
}

SWITCH
