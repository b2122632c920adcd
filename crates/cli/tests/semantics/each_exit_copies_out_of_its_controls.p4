/* `exit` copies out of every control that it leaves, and of no other (P4_16 6.8, 12.5). Two controls are applied one after the other: an `exit` of
 * the first must not decide what an `exit` of the second copies out, though only statements are between them. */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
}

struct meta {
    bit<8> seen;
}

struct headers {
    data_t h;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        m.seen = h.h.a;
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control first(inout bit<8> value, in bit<8> leaves_at) {
    apply {
        value = value + 1;
        if (value == leaves_at) { exit; }
    }
}

/* Both arguments hold the first byte: what is written last in the order of the arguments stays. */
control second(inout bit<8> alone, inout headers all) {
    action leave() { exit; }
    table t {
        key = { all.h.b: exact; }
        actions = { leave; NoAction; }
        const default_action = NoAction();
    }
    apply {
        all.h.c = 7;
        alone = 9;
        if (all.h.b == 1) { leave(); }
        t.apply();
        all.h.b = 0xee;
    }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    second() c;
    apply {
        s.egress_spec = 1;
        first.apply(m.seen, 3);
        c.apply(h.h.a, h);
        h.h.a = h.h.a + m.seen;
        first.apply(h.h.a, 8);
        h.h.b = 0x55;
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }

control deparse(packet_out p, in headers h) { apply { p.emit(h.h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
