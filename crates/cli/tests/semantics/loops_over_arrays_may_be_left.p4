/* `return`, `exit` and `break` leave a loop over an array, in a function, in an action and in a control. */
#include "frame.p4"

struct list_t { bit<8>[3] all; }

bit<8> first_above(in list_t list, in bit<8> least) {
    for (bit<8> v in list.all) {
        if (v > least) { return v; }
    }
    return 0;
}

bit<8> first(in list_t list) {
    bit<8> n = 9;
    for (bit<8> v in list.all) { n = v; break; }
    for (bit<8> v in list.all) return n;
    return 0xff;
}

control leaves(in list_t list, inout bit<8> seen) {
    apply {
        for (bit<8> v in list.all) {
            if (v == 4) { return; }
            seen = seen + v;
        }
        seen = seen + 0x80;
    }
}

INGRESS {
    list_t list;
    leaves() some;
    action stop() {
        for (bit<8> v in list.all) {
            h.h.d = h.h.d + 1;
            if (v == 3) { exit; }
        }
    }
    apply {
        s.egress_spec = 1;
        list.all[0] = h.h.a;
        list.all[1] = 4;
        list.all[2] = 3;
        h.h.b = first_above(list, 2);
        h.h.c = first(list);
        some.apply(list, h.h.x[7:0]);
        stop();
        h.h.y = 1;
    }
}

SWITCH
