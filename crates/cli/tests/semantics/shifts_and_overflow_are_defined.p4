/* A shift by the width or more leaves nothing, or the sign, also by a number that the width has no room for; negation wraps; saturating operators stay within their type. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        bit<128> far = 1;
        far = far << 100;
        int<8> sign = (int<8>)h.h.a;
        h.h.b = (bit<8>)(sign >> h.h.b);
        h.h.c = h.h.a << h.h.c;
        h.h.x = h.h.x >> far;
        h.h.d = -h.h.d;
        h.h.y = (h.h.a |+| 0x90) ++ (h.h.a |-| 0x90);
        h.t.setValid();
        h.t.v = (bit<8>)(sign |+| -100);
        h.s[0].setValid();
        // 4 and 8 need more bits than the operands have.
        h.s[0].v = (h.h.a[1:0] >> 4) ++ (h.h.a[7:5] << 8) ++ (bit<3>)((int<3>)h.h.a[7:5] >> 8);
    }
}

SWITCH
