// Action profiles and selectors: members shared by entries and by two tables, groups chosen by hashes of different algorithms and widths.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<8>  kind;
    bit<16> source;
    bit<8>  port;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<8> mark;
}

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action send(bit<9> port, bit<8> mark) {
        standard.egress_spec = port;
        meta.mark = mark;
    }
    action drop() {
        mark_to_drop(standard);
    }
    action marked(bit<128> wide) {
        meta.mark = wide[71:64];
    }

    action_selector(HashAlgorithm.crc16, 32w128, 32w14) paths;
    direct_counter(CounterType.packets) hits;

    table spread {
        key = {
            hdr.flow.kind: exact;
            hdr.flow.source: selector;
            hdr.flow.port: selector;
        }
        actions = { send; drop; }
        implementation = paths;
        counters = hits;
        default_action = drop();
    }

    // The same members, in a table of another kind, chosen by another part of the packet.
    table again {
        key = {
            hdr.flow.source: ternary;
            hdr.flow.port: selector;
        }
        actions = { send; drop; }
        implementation = paths;
    }

    action_profile(32w16) marks;

    table mark {
        key = {
            hdr.flow.port: exact;
        }
        actions = { marked; NoAction; }
        implementation = marks;
    }

    apply {
        if (hdr.flow.kind == 9) {
            again.apply();
        } else if (spread.apply().hit) {
            mark.apply();
        }
        hdr.flow.kind = meta.mark;
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.flow);
    }
}

V1Switch(Parse(), Verify(), MyIngress(), MyEgress(), Compute(), Deparse()) main;
