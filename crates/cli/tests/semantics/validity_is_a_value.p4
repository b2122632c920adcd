/* Assignment copies validity, writes to an invalid header are lost, `setValid` keeps the fields of a valid one, and invalid headers are equal. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        byte_t gone;
        byte_t here = { 7 };
        byte_t also;
        h.t = here;
        gone.v = 9;
        h.h.a = (gone.isValid() ? 8w1 : 0) | (here.isValid() ? 8w2 : 0) | (gone == also ? 8w4 : 0) | (gone == here ? 8w8 : 0);
        h.t.setValid();
        h.h.b = h.t.v;
        h.s[0] = here;
        h.s[0] = gone;
        h.h.c = h.s[0].isValid() ? 8w1 : 0;
        h.s[1] = here;
        h.s[1].setInvalid();
        h.s[1].v = 5;
        h.h.d = (here == { 7 } ? 8w1 : 0) | (h.s[1].isValid() ? 8w2 : 0) | (h.s[2] == h.s[1] ? 8w4 : 0);
        h.s[2] = {#};
    }
}

SWITCH
