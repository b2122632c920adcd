/* Operands are evaluated from left to right, `&&` and `||` stop when they know, keys are computed before the lookup, and an exit in the
 * middle of a statement ends it. */
#include "frame.p4"

bit<8> count(inout bit<8> n) {
    n = n + 1;
    return n;
}

INGRESS {
    action leave() { exit; }
    action hit(bit<8> v) { h.h.d = v; }
    table keys {
        key = {
            count(m.n) : exact @name("first");
            m.n        : exact @name("second");
            count(m.n) : exact @name("third");
        }
        actions = { hit; NoAction; }
        const entries = { (3, 3, 4) : hit(0x44); }
    }
    table leaving {
        key = { h.h.a : exact; }
        actions = { leave; NoAction; }
        const entries = { 7 : leave(); }
    }
    apply {
        s.egress_spec = 1;
        h.h.b = count(m.n) - (m.n << 4) - count(m.n);
        if (h.h.a == 0 && count(h.h.c) == 1) { }
        if (h.h.a != 0 || count(h.h.c) == 1) { }
        keys.apply();
        if (leaving.apply().hit) { h.h.x = 1; } else { h.h.x = 2; }
        h.h.y = 3;
    }
}

SWITCH
