/* An `out` header is invalid at the start, whatever is passed, and stays so unless it is made valid. */
#include "frame.p4"

struct pair {
    byte_t    one;
    byte_t[2] many;
}

bit<8> look(out byte_t o, out pair p) {
    return (o.isValid() ? 8w1 : 0) | (p.one.isValid() ? 8w2 : 0) | (p.many[1].isValid() ? 8w4 : 0);
}

INGRESS {
    apply {
        s.egress_spec = 1;
        pair p;
        p.one.setValid();
        p.many[1].setValid();
        h.t.setValid();
        h.h.a = look(h.t, p);
        h.h.b = (h.t.isValid() ? 8w1 : 0) | (p.one.isValid() ? 8w2 : 0) | (p.many[1].isValid() ? 8w4 : 0);
    }
}

SWITCH
