// Hosts that are not known are asked for at the control plane; what a packet has computed before the lookup is there when it goes on.
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers { ethernet_t ethernet; }
struct metadata { bit<16> seen; }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); m.seen = h.ethernet.type; transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action forward(bit<9> port) { s.egress_spec = port; h.ethernet.type = m.seen + 1; }
    @punt_on_miss
    table hosts {
        key = { h.ethernet.dst: exact; }
        actions = { forward; }
    }
    apply { h.ethernet.src = h.ethernet.src + 1; hosts.apply(); }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
