// Each flow has an element of a register, which counts its packets, and one of a meter. Both go into the packet.
#include <core.p4>
#include <v1model.p4>
header flow_t { bit<16> flow; bit<32> count; bit<8> colour; }
struct headers { flow_t flow; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.flow); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    register<bit<32>>(65536) seen;
    meter(65536, MeterType.packets) rate;
    apply {
        bit<32> count;
        bit<8> colour;
        // Without this, frames that are too short would share an element, whatever worker they are on.
        if (h.flow.isValid()) {
            seen.read(count, (bit<32>)h.flow.flow);
            count = count + 1;
            seen.write((bit<32>)h.flow.flow, count);
            rate.execute_meter((bit<32>)h.flow.flow, colour);
            h.flow.count = count;
            h.flow.colour = colour;
            s.egress_spec = 1;
        }
    }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
