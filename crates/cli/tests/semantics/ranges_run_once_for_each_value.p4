/* `for (x in low..high)` runs once for each value, whatever its body does to x: at run time, unrolled for a table, and with x given to what writes it. */
#include "frame.p4"

INGRESS {
    action add(bit<8> v) { h.h.c = h.h.c + v; }
    action twice(inout bit<8> v) { v = v + v; }
    table t {
        key = { h.h.b : exact; }
        actions = { add; NoAction; }
        const entries = { 1 : add(0x10); }
    }
    apply {
        s.egress_spec = 1;
        for (bit<8> i in 1..h.h.a) {
            i = i + 1;
            h.h.d = h.h.d + i;
        }
        for (bit<8> i in 1..3) {
            t.apply();
            i = i + 1;
            h.h.c = h.h.c + i;
        }
        for (bit<16> i in 1..(bit<16>)h.h.a) {
            i[15:8] = 1;
            h.h.x = h.h.x + i;
        }
        for (bit<8> i in 2..h.h.a) {
            twice(i);
            if (i == 6) { continue; }
            h.h.y = h.h.y + (bit<16>)i;
        }
    }
}

SWITCH
