/* `int` has no width and exists at compile time; what it is cast to takes its low bits. Division by powers of two works at run time. */
#include "frame.p4"

const int huge = 1 << 100;
const int small = -7;

bit<8> seen(inout bit<8> n) {
    n = n + 1;
    return n;
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.a = (bit<8>)(huge >> 97);
        h.h.b = (bit<8>)(small >> 1);
        h.h.c = (bit<8>)((huge - 1) % 1000);
        h.h.x = h.h.x / 64;
        h.h.y = h.h.y % 64;
        h.h.d = 8w0 / seen(m.n);
        h.h.d = h.h.d + m.n;
    }
}

SWITCH
