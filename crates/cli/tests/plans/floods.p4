/* A bridge whose copies are not written: each frame leaves by every port but its own, with the address that ingress has given it. */
#include <core.p4>
#include <v1model.p4>

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

control Bridge(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }

    action translate(bit<48> src, bit<16> group) {
        hdr.ethernet.src = src;
        standard.mcast_grp = group;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table bridges {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            flood;
            translate;
            drop;
        }
        default_action = flood(1);
    }

    apply {
        if (hdr.ethernet.isValid()) {
            bridges.apply();
        } else {
            drop();
        }
    }
}

control Prune(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(8, CounterType.packets_and_bytes) sent;

    action shut() {
        mark_to_drop(standard);
    }

    table shut_ports {
        key = {
            standard.egress_port : exact;
            hdr.ethernet.type    : exact;
        }
        actions = {
            shut;
            NoAction;
        }
        default_action = NoAction();
    }

    apply {
        if (standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        } else {
            shut_ports.apply();
            sent.count((bit<32>)standard.egress_port);
        }
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FrameParser(), NoChecksum(), Bridge(), Prune(), NoChecksum(), FrameDeparser()) main;
