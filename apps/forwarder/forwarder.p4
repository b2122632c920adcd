/* A simple forwarder, the first of PacketMill's network functions: what input, parsing and output
 * cost, and nothing else.
 *
 * The paper names it and gives no details. Chosen: the two Ethernet addresses change places, and the
 * frame leaves by the port that it came in by. There is no table. A frame that ends within its
 * Ethernet header is dropped and counted. */
#include <core.p4>
#include <v1model.p4>

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_REASONS = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

struct metadata_t {
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Forwarder(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    apply {
        if (hdr.ethernet.isValid()) {
            bit<48> dst = hdr.ethernet.dst;

            hdr.ethernet.dst = hdr.ethernet.src;
            hdr.ethernet.src = dst;
            standard.egress_spec = standard.ingress_port;
        } else {
            dropped.count(DROP_SHORT);
            mark_to_drop(standard);
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FrameParser(), NoChecksum(), Forwarder(), NoEgress(), NoChecksum(), FrameDeparser()) main;
