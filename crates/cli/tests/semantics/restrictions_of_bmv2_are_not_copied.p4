/* A prefix of any width, a table applied twice, code beside checksums and in the deparser, and a stack of unions indexed at run time. */
#include <core.p4>
#include <v1model.p4>

header odd_t {
    bit<9> key;
    bit<7> set;
}

header one_t { bit<8> v; }
header two_t { bit<16> v; }
header_union either { one_t one; two_t two; }

struct headers {
    odd_t     h;
    either[2] u;
}

struct meta {
    bit<8> checks;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control check(inout headers h, inout meta m) {
    apply {
        if (h.h.key == 0x1ff) { m.checks = 1; } else { m.checks = 2; }
    }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    action set(bit<7> v) { h.h.set = v; }
    action other(bit<9> k) { h.h.key = k; }
    table t {
        key = { h.h.key : lpm; }
        actions = { set; other; NoAction; }
    }
    apply {
        s.egress_spec = 1;
        t.apply();
        t.apply();
        h.u[m.checks - 1].one.setValid();
        h.u[m.checks - 1].one.v = m.checks;
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }

control update(inout headers h, inout meta m) {
    apply {
        if (m.checks == 1) { h.u[1].two = { 0xabcd }; }
    }
}

control deparse(packet_out p, in headers h) {
    apply {
        p.emit(h.h);
        if (h.h.set == 3) { p.emit(h.u[1]); }
        p.emit(h.u[0]);
    }
}

V1Switch(parse(), check(), ingress(), egress(), update(), deparse()) main;
