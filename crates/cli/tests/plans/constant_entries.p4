// Constant entries of every match kind, whose action data are bytes of headers, wide, or numbers; and a table that is written.
#include <core.p4>
#include <v1model.p4>

header flow_t {
    bit<8>   kind;
    bit<32>  source;
    bit<128> destination;
    bit<16>  port;
    bit<8>   mark;
    bit<48>  address;
    bit<128> wide;
}

struct headers_t {
    flow_t flow;
}

struct metadata_t {
    bit<8> class;
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
    action set_class(bit<8> class) {
        meta.class = class;
    }
    action set_address(bit<48> address) {
        hdr.flow.address = address;
    }
    action set_wide(bit<128> wide) {
        hdr.flow.wide = wide;
    }
    action send(bit<9> port) {
        standard.egress_spec = port;
    }
    action mark(bit<8> by) {
        hdr.flow.mark = hdr.flow.mark + by;
    }
    action drop() {
        mark_to_drop(standard);
    }

    table kinds {
        key = { hdr.flow.kind: exact; }
        actions = { set_class; mark; NoAction; }
        const default_action = set_class(9);
        const entries = {
            0 : set_class(1);
            3 : mark(7);
            4 : NoAction();
        }
    }
    table prefixes {
        key = { hdr.flow.source: lpm; }
        actions = { set_address; drop; }
        const default_action = set_address(0x020202020202);
        const entries = {
            0x0a000000 &&& 0xff000000 : set_address(0x001122334455);
            0x0a010000 &&& 0xffff0000 : set_address(0x665544332211);
            0x0a000007                : drop();
        }
    }
    table rules {
        key = { hdr.flow.destination: ternary; hdr.flow.port: range; meta.class: optional; }
        actions = { set_wide; mark; NoAction; }
        const default_action = NoAction();
        const entries = {
            (_, 80 .. 443, 1)                 : set_wide(0x0123456789abcdef0011223344556677);
            (0x80000000000000000000000000000000 &&& 0x80000000000000000000000000000000, _, _) : mark(1);
            (5, 0 .. 65535, _)                : mark(2);
            (_, 443 .. 500, _)                : mark(3);
        }
    }
    table ports {
        key = { meta.class: exact; }
        actions = { send; drop; }
        default_action = send(1);
    }

    apply {
        standard.egress_spec = 1;
        kinds.apply();
        prefixes.apply();
        if (rules.apply().hit) {
            hdr.flow.kind = 0xff;
        }
        ports.apply();
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
