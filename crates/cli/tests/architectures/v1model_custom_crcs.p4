// Hashes whose parameters a controller sets: `calc` and `calc_1` have 16 and 32 bits, and `calc_0` between them cannot be set.
// They are numbered as they are written, not as they are called, and checksums come behind them.
#include <core.p4>
#include <v1model.p4>

header digits_t {
    bit<72> digits;
    bit<16> short;
    bit<32> fixed_crc;
    bit<32> long;
}

struct headers { digits_t digits; }
struct metadata { }

parser parse(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.digits);
        transition accept;
    }
}

control verify_short(inout headers hdr, inout metadata meta) {
    apply { verify_checksum(true, { hdr.digits.digits }, hdr.digits.short, HashAlgorithm.csum16); }
}

control ingress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    action shorten() {
        hash(hdr.digits.short, HashAlgorithm.crc16_custom, 32w0, { hdr.digits.digits }, 32w0x10000);
    }
    action lengthen() {
        hash(hdr.digits.fixed_crc, HashAlgorithm.crc32, 64w0, { hdr.digits.digits }, 64w0x100000000);
        hash(hdr.digits.long, HashAlgorithm.crc32_custom, 64w0, { hdr.digits.digits }, 64w0x100000000);
    }
    apply {
        lengthen();
        shorten();
        standard.egress_spec = 2;
    }
}

control egress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) { apply { } }

control compute_nothing(inout headers hdr, inout metadata meta) { apply { } }

control deparse(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.digits); }
}

V1Switch(parse(), verify_short(), ingress(), egress(), compute_nothing(), deparse()) main;
