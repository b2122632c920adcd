// Tables with several lookups per packet: by the same key, and by one that has changed in between; in ingress and in egress.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<48> source;
    bit<48> target;
    bit<16> at;
    bit<16> sum;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<48> address;
    bit<16> step;
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

control Walk(inout headers_t hdr, inout metadata_t meta) {
    direct_counter(CounterType.packets) walked;

    action by(bit<16> more) {
        hdr.flow.sum = hdr.flow.sum + more;
    }
    action rest() {
    }

    table steps {
        key = { meta.step: exact; }
        actions = { by; rest; }
        const default_action = rest();
        counters = walked;
        size = 1024;
    }

    apply {
        meta.step = hdr.flow.at;
        steps.apply();
        steps.apply();
        steps.apply();
        meta.step = hdr.flow.at + 1;
        steps.apply();
    }
}

control MyIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Walk() walk;

    action send(bit<9> port) {
        standard.egress_spec = port;
        hdr.flow.sum = hdr.flow.sum + 0x1000;
    }
    action mark(bit<16> more) {
        hdr.flow.sum = hdr.flow.sum ^ more;
    }
    action none() {
    }

    table hosts {
        key = { meta.address: exact; }
        actions = { send; none; }
        default_action = none();
        size = 4096;
    }
    table marks {
        key = { meta.address: exact; }
        actions = { mark; none; }
        default_action = none();
        size = 4096;
    }

    apply {
        standard.egress_spec = 1;
        meta.address = hdr.flow.source;
        hosts.apply();
        marks.apply();
        hosts.apply();
        meta.address = hdr.flow.target;
        marks.apply();
        if (!hosts.apply().hit) {
            marks.apply();
        }
        walk.apply(hdr, meta);
    }
}

control MyEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Walk() walk;

    apply {
        walk.apply(hdr, meta);
    }
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
