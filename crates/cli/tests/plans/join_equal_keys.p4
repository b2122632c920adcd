/* Two keys of a table with the same value. */
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; }
struct headers { h_t h; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.h); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action first_is(bit<8> c) { h.h.c = c; }
    action second_is(bit<8> d) { h.h.d = d; }
    table first { key = { h.h.a: exact; } actions = { first_is; NoAction; } default_action = NoAction; size = 16; }
    table second {
        key = { h.h.b: exact @name("one"); h.h.b: exact @name("two"); }
        actions = { second_is; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    apply { first.apply(); second.apply(); s.egress_spec = 2; }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
