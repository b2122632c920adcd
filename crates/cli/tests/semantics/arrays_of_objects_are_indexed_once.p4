/* An array of objects, of which a run-time index chooses one: the index is read once, before the call writes what it was read from. */
#include "frame.p4"

INGRESS {
    register<bit<8>>(2) elements[4];
    apply {
        s.egress_spec = 1;
        elements[0].write(0, 2);
        elements[2].write(0, 3);
        elements[3].write(0, 9);
        /* 0 is read from the packet; the element's 2 takes its place there, and is no index any more. */
        elements[h.h.a[1:0]].read(h.h.a, 0);
        /* The same with the index in a later argument. */
        elements[h.h.b].read(h.h.b, (bit<32>)h.h.b - 2);
        m.n = h.h.c;
        elements[m.n].write(1, m.n + 0x40);
        elements[1].read(h.h.c, 1);
    }
}

SWITCH
