// A table that is applied in both branches, and goes on to the same statements.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> key;
    bit<8> mark;
    bit<8> sum;
}

struct headers {
    h_t h;
}

struct meta { }

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control check(inout headers h, inout meta m) {
    apply { }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    action set(bit<8> v) { h.h.sum = h.h.sum + v; }
    table t {
        key = { h.h.key : exact; }
        actions = { set; NoAction; }
        const entries = {
            1 : set(0x10);
            2 : set(0x20);
        }
    }
    apply {
        s.egress_spec = 1;
        if (h.h.key == 1) {
            h.h.mark = 0xaa;
            t.apply();
        } else {
            h.h.sum = 5;
            t.apply();
        }
        h.h.sum = h.h.sum + 1;
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control deparse(packet_out p, in headers h) {
    apply { p.emit(h); }
}

V1Switch(parse(), check(), ingress(), egress(), check(), deparse()) main;
