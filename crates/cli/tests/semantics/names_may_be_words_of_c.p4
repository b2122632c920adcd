/* Any identifier that is no keyword of P4 is a name (6.2): words of C, its library and its macros, too. */
#include "frame.p4"

INGRESS {
    action NULL(bit<8> signed, bit<8> SIZE_MAX) {
        h.h.b = signed;
        h.h.c = SIZE_MAX;
    }
    register<bit<8>>(4) labs;
    table qsort {
        key = { h.h.a: exact; }
        actions = { NULL; NoAction; }
        const default_action = NoAction;
    }
    apply {
        bit<8> strlen;
        s.egress_spec = 1;
        qsort.apply();
        labs.write(1, h.h.b + 1);
        labs.read(strlen, 1);
        h.h.d = strlen;
    }
}

SWITCH
