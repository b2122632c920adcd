// Packets look a key up in two tables, and count where what they find differs.
#include <core.p4>
#include <v1model.p4>
header probe_t { bit<32> key; bit<32> first; bit<32> second; }
struct headers { probe_t probe; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.probe); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    counter(1, CounterType.packets) torn;
    action set_first(bit<32> version) { h.probe.first = version; }
    table first { key = { h.probe.key: exact; } actions = { set_first; } size = 64; }
    action set_second(bit<32> version) { h.probe.second = version; }
    table second { key = { h.probe.key: exact; } actions = { set_second; } size = 64; }
    apply {
        first.apply();
        second.apply();
        s.egress_spec = 1;
        if (h.probe.first != h.probe.second) { torn.count(0); }
    }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
