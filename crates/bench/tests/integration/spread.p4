// Addresses of IPv4 behind up to three tags, by which elements of a register are chosen.
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header tag_t { bit<16> tci; bit<16> type; }
header ipv4_t { bit<64> first; bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> source; bit<32> destination; }
struct headers { ethernet_t ethernet; tag_t[3] tags; ipv4_t ipv4; }
struct metadata { }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        p.extract(h.ethernet);
        transition select(h.ethernet.type, s.ingress_port) {
            (0x8100, _): tag;
            (0x0800, 3..5): ipv4;
            (0x0900 &&& 0xff0f, _): ipv4;
            default: accept;
        }
    }
    state tag {
        p.extract(h.tags.next);
        transition select(h.tags.last.type) {
            0x8100: tag;
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 { p.extract(h.ipv4); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    register<bit<32>>(65536) seen;
    apply {
        bit<32> count;
        if (h.ipv4.isValid()) {
            seen.read(count, h.ipv4.source);
            seen.write(h.ipv4.source, count + 1);
        }
    }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
