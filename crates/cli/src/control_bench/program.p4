/* For `bacus bench control`: what happens to a packet depends on the port that it comes in by. Packets check what they have found. */
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 255;
const bit<9> PACKET_IN = 2;
const bit<9> LEARNT = 3;
const bit<9> ROUTED = 4;
const bit<9> PAIRED = 5;
const bit<9> SCARCE = 6;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

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
    packet_in_t packet_in;
    ethernet_t  ethernet;
    probe_t     probe;
}

struct metadata_t {
    bit<48> check;
    bit<32> mask;
    bit<32> first;
    bit<32> second;
}

struct host_t {
    bit<48> address;
    bit<9>  port;
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
    counter(1, CounterType.packets) wrong;
    counter(1, CounterType.packets) torn;
    counter(1, CounterType.packets) resumed;
    counter(1, CounterType.packets) disordered;
    register<bit<32>>(65536) last;

    action drop() {
        mark_to_drop(standard);
    }

    /* The check is the key, xor the port. */
    action forward(bit<9> port, bit<48> check) {
        standard.egress_spec = port;
        meta.check = check;
    }
    table hosts {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        const default_action = drop();
        size = 2097152;
    }

    /* The check is the route's prefix, xor the port. */
    action route(bit<9> port, bit<32> mask, bit<32> check) {
        standard.egress_spec = port;
        meta.mask = mask;
        meta.check = (bit<48>)check;
    }
    table routes {
        key = { hdr.probe.address: lpm; }
        actions = { route; drop; }
        const default_action = drop();
        size = 2097152;
    }

    action report() {
        digest<host_t>(1, { hdr.ethernet.src, standard.ingress_port });
        standard.egress_spec = 1;
    }
    action known() {
        standard.egress_spec = 1;
    }
    table learnt {
        key = { hdr.ethernet.src: exact; }
        actions = { known; report; }
        const default_action = report();
        size = 262144;
    }

    /* What a controller writes to both at once. */
    action set_first(bit<32> version) {
        meta.first = version;
    }
    table first {
        key = { hdr.probe.address: exact; }
        actions = { set_first; drop; }
        const default_action = drop();
        size = 1024;
    }
    action set_second(bit<32> version) {
        meta.second = version;
    }
    table second {
        key = { hdr.probe.address: exact; }
        actions = { set_second; drop; }
        const default_action = drop();
        size = 1024;
    }

    table scarce {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; drop; }
        const default_action = drop();
        size = 1024;
    }

    action pass(bit<9> port) {
        standard.egress_spec = port;
    }
    @punt_on_miss
    table awaited {
        key = { hdr.ethernet.dst: exact; }
        actions = { pass; }
        size = 65536;
    }

    apply {
        if (standard.ingress_port == PACKET_IN) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = standard.ingress_port;
            hdr.packet_in.reason = 0;
            standard.egress_spec = CPU_PORT;
        } else if (standard.ingress_port == LEARNT) {
            learnt.apply();
        } else if (standard.ingress_port == ROUTED) {
            if (!routes.apply().hit) {
                missed.count(0);
            } else if ((bit<48>)((hdr.probe.address & meta.mask) ^ (bit<32>)standard.egress_spec) != meta.check) {
                wrong.count(0);
            }
        } else if (standard.ingress_port == PAIRED) {
            first.apply();
            second.apply();
            standard.egress_spec = 1;
            if (meta.first != meta.second) {
                torn.count(0);
            }
        } else if (standard.ingress_port == SCARCE) {
            scarce.apply();
        } else if (standard.ingress_port == CPU_PORT) {
            awaited.apply();
            bit<32> before;
            last.read(before, hdr.ethernet.dst[31:0] & 0xffff);
            last.write(hdr.ethernet.dst[31:0] & 0xffff, hdr.probe.number);
            resumed.count(0);
            if (hdr.probe.number != before + 1) {
                disordered.count(0);
            }
        } else {
            if (!hosts.apply().hit) {
                missed.count(0);
            } else if ((hdr.ethernet.dst ^ (bit<48>)standard.egress_spec) != meta.check) {
                wrong.count(0);
            }
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply { }
}

control LoadDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.probe);
    }
}

V1Switch(LoadParser(), NoChecksum(), Load(), NoEgress(), NoChecksum(), LoadDeparser()) main;
