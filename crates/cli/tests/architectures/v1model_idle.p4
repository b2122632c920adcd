// support_timeout: the control plane is notified of entries that no packet has hit for the time that it gave them.
#include <core.p4>
#include <v1model.p4>

header word_t {
    bit<16> key;
}

struct headers_t {
    word_t word;
}

struct metadata_t {}

parser Words(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.word);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Tables(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action send(bit<9> port) {
        standard.egress_spec = port;
    }
    table exactly {
        key = { hdr.word.key: exact; }
        actions = { send; NoAction; }
        support_timeout = true;
    }
    table prefixes {
        key = { hdr.word.key: lpm; }
        actions = { send; NoAction; }
        support_timeout = true;
    }
    table masks {
        key = { hdr.word.key: ternary; standard.ingress_port: range @name("in_port"); }
        actions = { send; NoAction; }
        support_timeout = true;
    }
    apply {
        exactly.apply();
        prefixes.apply();
        masks.apply();
    }
}

control Send(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.word);
    }
}

V1Switch(Words(), Verify(), Tables(), Send(), Compute(), Deparse()) main;
