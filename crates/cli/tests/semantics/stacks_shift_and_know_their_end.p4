/* Elements pushed are invalid; what is behind the last is lost; an index out of range reads nothing of use and writes nothing. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        h.s[0] = { 1 };
        h.s[1] = { 2 };
        h.s[2] = { 3 };
        if (h.h.a == 1) { h.s.push_front(1); }
        if (h.h.a == 2) { h.s.pop_front(2); }
        if (h.h.a == 3) { h.s[h.h.b].v = 9; h.s[h.h.b].setInvalid(); }
        if (h.h.a == 4) { h.s.push_front(1); h.s[0].setValid(); h.s[0].v = 8; }
        h.h.c = (h.s[0].isValid() ? 8w1 : 0) | (h.s[1].isValid() ? 8w2 : 0) | (h.s[2].isValid() ? 8w4 : 0);
    }
}

SWITCH
