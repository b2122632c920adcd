/* A parameter is a variable of the callee (P4_16 6.8). What it was last written is what is read, also where the argument is a field of an invalid
 * header, to which the copy at the end of the call changes nothing (8.17). */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

struct meta {
    bit<8> m;
}

struct headers {
    data_t shown;
    data_t absent;
}

bit<8> written(out bit<8> value) {
    value = 1;
    return value;
}

bit<8> counted(inout bit<8> value, in bit<8> start) {
    value = start;
    for (bit<8> at in 8w1 .. 3) {
        value = value + at;
    }
    return value;
}

/* Reads before it writes: the argument itself does. */
bit<8> incremented(inout bit<8> value) {
    bit<8> before = value;
    value = value + 1;
    return before;
}

void passed_on(out bit<8> value, out bit<8> copy) {
    copy = written(value);
    copy = copy + value;
}

control inner(inout bit<8> value, out bit<8> result) {
    action set(bit<8> to) { value = to; }
    apply {
        set(0x30);
        result = value + 1;
    }
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.shown);
        m.m = written(h.absent.a);
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    action both(inout bit<8> value, out bit<8> result) {
        value = 5;
        result = value;
    }

    apply {
        s.egress_spec = 1;
        if (h.shown.a == 0) {
            h.shown = { m.m, counted(h.absent.b, 10), 0, 0 };
            passed_on(h.absent.c, h.shown.c);
            inner.apply(h.absent.d, h.shown.d);
        } else if (h.shown.a == 1) {
            both(h.absent.a, h.shown.a);
            incremented(h.absent.b);
            h.shown.b = incremented(h.shown.c);
        } else {
            /* Its members are evaluated before it is valid. */
            h.absent = { written(h.absent.a), counted(h.absent.b, 2), 0x77, h.shown.d };
        }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }

control deparse(packet_out p, in headers h) { apply { p.emit(h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
