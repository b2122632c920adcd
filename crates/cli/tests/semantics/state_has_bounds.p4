/* Out of range, a register leaves what it would be read into and writes nothing, a counter counts nothing; a direct counter counts every hit, whatever the action does. */
#include "frame.p4"

INGRESS {
    register<bit<8>>(4) r;
    counter(2, CounterType.packets) c;
    direct_counter(CounterType.packets) d;
    action count() { d.count(); h.h.d = 1; }
    action silent() { h.h.d = 2; }
    table t {
        key = { h.h.a : exact; }
        actions = { count; silent; NoAction; }
        counters = d;
    }
    apply {
        s.egress_spec = 1;
        h.h.c = 0x55;
        r.read(h.h.c, (bit<32>)h.h.a);
        r.write((bit<32>)h.h.a, h.h.b);
        c.count((bit<32>)h.h.a);
        t.apply();
    }
}

SWITCH
