/* A bridge that copies and never rewrites: what it mirrors on the way in or out, and what it floods, has the bytes as received. */
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
    @field_list(1)
    bit<8> mirrored;
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

    action none() {
    }

    action watched(bit<32> session) {
        meta.mirrored = 1;
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }

    table watches {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            none;
            watched;
        }
        default_action = none();
    }

    table hosts {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            flood;
        }
        default_action = forward(2);
    }

    apply {
        watches.apply();
        hosts.apply();
    }
}

control Ports(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action none() {
    }

    action watched(bit<32> session) {
        clone_preserving_field_list(CloneType.E2E, session, 1);
    }

    table ports {
        key = {
            standard.egress_port : exact;
        }
        actions = {
            none;
            watched;
        }
        default_action = none();
    }

    apply {
        if (standard.instance_type != 2) {
            ports.apply();
        }
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(FrameParser(), NoChecksum(), Bridge(), Ports(), NoChecksum(), FrameDeparser()) main;
