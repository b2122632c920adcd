/* A bridge that makes copies wherever v1model can: frames to many hosts are flooded, those of watched hosts are mirrored at ingress or egress, some
 * enter again with the mark that they have. All of it is decided by lookups, so that plans have stages before, between and behind what is copied. */
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mark_t {
    bit<8>  kind;
    bit<8>  rounds;
    bit<16> port;
}

struct headers_t {
    ethernet_t ethernet;
    mark_t     mark;
}

struct metadata_t {
    @field_list(1)
    bit<8> rounds;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x88b5: mark;
            default: accept;
        }
    }
    state mark {
        packet.extract(hdr.mark);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Bridge(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) seen;

    action known() {
        seen.count();
    }

    action watched(bit<32> session) {
        seen.count();
        clone_preserving_field_list(CloneType.I2E, session, 1);
    }

    action unknown() {
        seen.count();
        mark_to_drop(standard);
    }

    /* The frame comes again from the start, once. */
    action again() {
        seen.count();
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }

    table hosts {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            known;
            watched;
            unknown;
            again;
        }
        default_action = known();
        counters = seen;
    }

    table bridges {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            flood;
        }
        default_action = flood(1);
    }

    apply {
        if (hdr.ethernet.isValid()) {
            switch (hosts.apply().action_run) {
                unknown: {
                    return;
                }
                again: {
                    if (meta.rounds == 0) {
                        meta.rounds = 1;
                        resubmit_preserving_field_list(1);
                    }
                }
            }
            bridges.apply();
        } else {
            mark_to_drop(standard);
        }
    }
}

control Ports(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action plain() {
    }

    action marked(bit<8> kind) {
        hdr.mark.setValid();
        hdr.mark.kind = kind;
        hdr.mark.rounds = meta.rounds;
        hdr.mark.port = (bit<16>)standard.egress_port;
        hdr.ethernet.type = 0x88b5;
    }

    action watched(bit<32> session) {
        clone_preserving_field_list(CloneType.E2E, session, 1);
    }

    action shut() {
        mark_to_drop(standard);
    }

    /* The frame as it leaves enters once more. */
    action around() {
        if (meta.rounds < 2) {
            meta.rounds = meta.rounds + 1;
            recirculate_preserving_field_list(1);
        }
    }

    table ports {
        key = {
            standard.egress_port : exact;
            hdr.ethernet.src     : ternary;
        }
        actions = {
            plain;
            marked;
            watched;
            shut;
            around;
        }
        default_action = plain();
        size = 64;
    }

    apply {
        if (standard.instance_type == 0 || standard.instance_type == 5) {
            ports.apply();
        }
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.mark);
    }
}

V1Switch(FrameParser(), NoChecksum(), Bridge(), Ports(), NoChecksum(), FrameDeparser()) main;
