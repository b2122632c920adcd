// A table without keys before lookups of a stage: its write to a register is deferred to the commit phase.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<8>  kind;
    bit<32> source;
    bit<8>  seen;
    bit<8>  mark;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<8> seen;
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
    register<bit<8>>(16) count;

    action step(bit<8> by) {
        count.read(meta.seen, (bit<32>)hdr.flow.kind);
        count.write((bit<32>)hdr.flow.kind, meta.seen + by);
    }
    action send(bit<9> port, bit<8> mark) {
        standard.egress_spec = port;
        hdr.flow.mark = mark;
    }
    action drop() {
        mark_to_drop(standard);
    }

    table always {
        actions = { step; NoAction; }
        default_action = step(1);
    }
    table first {
        key = { hdr.flow.source: exact; }
        actions = { send; drop; }
        default_action = drop();
        size = 100000;
    }

    apply {
        always.apply();
        first.apply();
        hdr.flow.seen = meta.seen;
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
