/* What is assigned to a header is computed before the header becomes valid: it may ask whether it was. */
#include "frame.p4"

header_union either {
    byte_t one;
    data_t all;
}

INGRESS {
    either u;

    apply {
        s.egress_spec = 1;
        h.t = { h.t.isValid() ? 8w1 : 8w2 };
        h.t = { h.t.isValid() ? h.t.v + 0x10 : 8w3 };
        h.s[0] = h.s[0].isValid() ? h.t : h.s[1];
        h.s[1] = { h.s[1].isValid() ? 8w4 : 8w5 };
        u.one = { 6 };
        u.all = { 1, 2, 3, 4, 5, u.one.isValid() ? 16w6 : 16w7 };
        h.h = u.all;
    }
}

SWITCH
