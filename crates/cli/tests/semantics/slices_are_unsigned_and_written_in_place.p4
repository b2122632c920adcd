/* `++` puts its left operand in front; slices are unsigned, may be sliced again, and are written in place, at run time as well. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        int<8> low = -2;
        h.h.x = h.h.a ++ h.h.b;
        h.h.c = low[7:0][3:0] ++ 4w5;
        h.h.y[11:4][5:2] = 0xf;
        h.h.d = h.h.a[h.h.b[2:0]+:4] ++ 4w0;
        h.h.a[7:4] = h.h.a[3:0];
    }
}

SWITCH
