/* `&`, `^` and `|` bind tighter than comparisons, `++` as `+`; `a < b` is a comparison, also where a call is possible. */
#include "frame.p4"

bit<8> same<T>(in T v, in bit<8> w) {
    return w;
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.c = (h.h.a & 1 == 1) ? 8w1 : 0;
        h.h.d = (h.h.a | 2 != h.h.b ^ 3) ? 8w1 : 0;
        h.h.x = h.h.a + 1 ++ h.h.b - 1;
        bool less = h.h.a < h.h.b && h.h.b > (h.h.a);
        h.h.y = same<bit<8>>(1, less ? 8w5 : 6) ++ (h.h.a >> 1 + 1);
    }
}

SWITCH
