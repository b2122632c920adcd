/* An Ethernet bridge with a controller: both addresses are looked up, a source that is not known yet is reported, and a frame goes to the port of its
 * destination. Frames to unknown destinations are dropped and counted. Nothing is flooded, so ARP and IPv6 neighbour discovery do not pass: hosts need static
 * neighbours (`ip neighbour add ADDRESS lladdr MAC dev eth0`), or apps/l2switch, which learns and floods. */
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

struct metadata_t {}

/* What the control plane learns a station from. */
struct station_t {
    bit<48> address;
    bit<9>  port;
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
    action learn() {
        digest<station_t>(1, { hdr.ethernet.src, standard.ingress_port });
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard);
    }

    table smac {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            NoAction;
            learn;
        }
        const default_action = learn();
    }

    table dmac {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            drop;
        }
        const default_action = drop();
    }

    apply {
        if (hdr.ethernet.isValid()) {
#ifndef ONE_LOOKUP
            smac.apply();
#endif
            dmac.apply();
        } else {
            drop();
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

V1Switch(FrameParser(), NoChecksum(), Bridge(), NoEgress(), NoChecksum(), FrameDeparser()) main;
