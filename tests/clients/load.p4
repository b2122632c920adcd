/* For the numbers of the control plane: a large exact table, and one port whose packets all go to the controller. */
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 255;
const bit<9> PUNTED = 2;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    packet_in_t packet_in;
    ethernet_t  ethernet;
}

struct metadata_t {}

parser LoadParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Hosts(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    action drop() {
        mark_to_drop(standard);
    }
    table hosts {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        const default_action = drop();
        size = 2097152;
    }
    apply {
        if (standard.ingress_port == PUNTED) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = standard.ingress_port;
            hdr.packet_in.reason = 0;
            standard.egress_spec = CPU_PORT;
        } else {
            hosts.apply();
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}

control LoadDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
    }
}

V1Switch(LoadParser(), NoChecksum(), Hosts(), NoEgress(), NoChecksum(), LoadDeparser()) main;
