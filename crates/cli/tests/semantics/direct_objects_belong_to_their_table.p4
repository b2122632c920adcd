/* A direct counter counts the hits of its table alone: a call elsewhere, in an action that another table has too, or of one without a table, counts nothing. */
#include "frame.p4"

INGRESS {
    direct_counter(CounterType.packets) counted;
    direct_counter(CounterType.packets) nobodys;
    direct_meter<bit<8>>(MeterType.packets) colour;
    action both() {
        counted.count();
        nobodys.count();
        h.h.c = h.h.c + 1;
    }
    action read() {
        colour.read(h.h.d);
    }
    table t {
        key = { h.h.a : exact; }
        actions = { both; NoAction; }
        counters = counted;
        meters = colour;
    }
    table u {
        key = { h.h.b : exact; }
        actions = { both; read; NoAction; }
    }
    apply {
        s.egress_spec = 1;
        counted.count();
        t.apply();
        u.apply();
    }
}

SWITCH
