/* Arguments are evaluated from left to right and copied in; what is written is copied out after the return, from left to right. */
#include "frame.p4"

bit<8> nine(inout bit<8> z) {
    z = 9;
    return z + 1;
}

bit<8> add(inout bit<8> p, in bit<8> q) {
    p = p + 1;
    return q;
}

bit<8> twice(inout bit<8> p, inout bit<8> q) {
    p = 1;
    q = 2;
    return p;
}

bit<8> next(inout bit<8> n) {
    n = n + 1;
    return n;
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = add(h.h.a, nine(h.h.a));
        h.h.d = twice(h.h.c, h.h.c);
        h.s[0].setValid();
        h.s[1].setValid();
        m.n = add(h.s[m.n].v, next(m.n));
        h.h.x[7:0] = m.n;
    }
}

SWITCH
