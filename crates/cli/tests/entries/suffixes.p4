// Names that end in each other: controllers name these objects by whole parts of their names.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}

struct headers {
    h_t h;
}

struct meta { }

parser P(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    value_set<bit<8>>(4) set;
    value_set<bit<8>>(4) reset;
    state start {
        p.extract(h.h);
        transition select(h.h.a) {
            set: accept;
            reset: accept;
            _: accept;
        }
    }
}

control V(inout headers h, inout meta m) {
    apply { }
}

control I(inout headers h, inout meta m, inout standard_metadata_t s) {
    register<bit<8>>(4) r;
    register<bit<8>>(4) tr;
    counter(4, CounterType.packets) c;
    counter(4, CounterType.packets) rc;
    meter(4, MeterType.packets) m1;
    meter(4, MeterType.packets) am1;
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) ways;
    action_selector(HashAlgorithm.crc16, 32w16, 32w14) always;

    action act(bit<8> v) {
        h.h.b = v;
    }
    action react(bit<8> v) {
        h.h.b = v + 1;
    }

    table t {
        key = { h.h.a: exact; }
        actions = { act; react; }
    }
    table at {
        key = { h.h.a: exact; }
        actions = { react; act; }
    }
    table one {
        key = { h.h.a: exact; h.h.b: selector; }
        actions = { act; react; }
        implementation = ways;
    }
    table none {
        key = { h.h.a: exact; h.h.b: selector; }
        actions = { act; react; }
        implementation = always;
    }

    apply {
        bit<2> colour;
        s.egress_spec = 1;
        t.apply();
        at.apply();
        one.apply();
        none.apply();
        r.read(h.h.a, 1);
        tr.read(h.h.b, 1);
        c.count(1);
        rc.count(1);
        m1.execute_meter(1, colour);
        am1.execute_meter(1, colour);
    }
}

control E(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control C(inout headers h, inout meta m) {
    apply { }
}

control D(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
