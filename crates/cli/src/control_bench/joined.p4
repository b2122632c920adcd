/* For `bacus bench control --only joined`: two tables that are joined, the second keyed by what the first writes. Packets check what they have found. */
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header probe_t {
    bit<32> address;
    bit<32> number;
}

struct headers_t {
    ethernet_t ethernet;
    probe_t    probe;
}

struct metadata_t {
    bit<32> group;
    bit<32> check;
    bit<32> of_group;
    bit<32> of_number;
}

parser LoadParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.probe);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control Load(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(1, CounterType.packets) missed;
    counter(1, CounterType.packets) torn;
    direct_counter(CounterType.packets) hits;

    action no_group() {
        missed.count(0);
    }

    /* The check is the key, xor the group. */
    action set_group(bit<32> group, bit<32> check) {
        meta.group = group;
        meta.check = check;
    }

    action no_member() {
        missed.count(0);
    }

    /* The entry's own key. */
    action set_member(bit<32> of_group, bit<32> of_number) {
        meta.of_group = of_group;
        meta.of_number = of_number;
    }

    table groups {
        key = { hdr.probe.address: exact; }
        actions = { set_group; no_group; }
        const default_action = no_group();
        counters = hits;
        size = 1024;
    }

    table members {
        key = { meta.group: exact; hdr.probe.number: exact; }
        actions = { set_member; no_member; }
        const default_action = no_member();
        size = 65536;
    }

    apply {
        groups.apply();
        members.apply();
        /* Not both entries of before a write, or of behind it. */
        if (meta.check != (hdr.probe.address ^ meta.group) || meta.of_group != meta.group
            || meta.of_number != hdr.probe.number) {
            torn.count(0);
        }
        standard.egress_spec = 1;
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}

control LoadDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.probe);
    }
}

V1Switch(LoadParser(), NoChecksum(), Load(), NoEgress(), NoChecksum(), LoadDeparser()) main;
