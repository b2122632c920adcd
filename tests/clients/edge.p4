/* What controllers use of a switch, in one program: hosts learned by digest, routes, an access list with counters and meters, a counter and a meter by index,
 * clone sessions, multicast, packets to and from the controller, entries that age. */
#include <core.p4>
#include <v1model.p4>

const bit<9> CPU_PORT = 255;

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> padding;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<8>  version_ihl;
    bit<8>  tos;
    bit<16> length;
    bit<16> id;
    bit<16> fragment;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    packet_in_t  packet_in;
    packet_out_t packet_out;
    ethernet_t   ethernet;
    ipv4_t       ipv4;
}

struct metadata_t {
    bit<2> colour;
}

struct host_t {
    bit<48> address;
    bit<9>  port;
}

parser EdgeParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        transition select(standard.ingress_port) {
            CPU_PORT: from_controller;
            default: ethernet;
        }
    }
    state from_controller {
        packet.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control EdgeIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(16, CounterType.packets_and_bytes) port_packets;
    meter(16, MeterType.packets) port_meter;
    direct_counter(CounterType.packets_and_bytes) acl_packets;
    direct_meter<bit<2>>(MeterType.packets) acl_meter;

    action learn() {
        digest<host_t>(1, { hdr.ethernet.src, standard.ingress_port });
    }
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }
    action flood(bit<16> group) {
        standard.mcast_grp = group;
    }
    action route(bit<9> port, bit<48> dst) {
        standard.egress_spec = port;
        hdr.ethernet.src = hdr.ethernet.dst;
        hdr.ethernet.dst = dst;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    action drop() {
        mark_to_drop(standard);
    }
    action punt() {
        standard.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard.ingress_port;
        hdr.packet_in.reason = 7;
    }
    action permit() {
        acl_packets.count();
        acl_meter.read(meta.colour);
    }
    action mirror(bit<32> session) {
        acl_packets.count();
        clone(CloneType.I2E, session);
    }
    action to_controller() {
        acl_packets.count();
        punt();
        exit;
    }

    table smac {
        key = { hdr.ethernet.src: exact; }
        actions = { NoAction; learn; }
        const default_action = learn();
        support_timeout = true;
        size = 4096;
    }
    table dmac {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; flood; drop; punt; }
        default_action = drop();
        size = 4096;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { route; drop; }
        default_action = drop();
        size = 1024;
    }
    table acl {
        key = {
            hdr.ethernet.type: ternary;
            standard.ingress_port: ternary;
        }
        actions = { permit; mirror; to_controller; NoAction; }
        default_action = NoAction();
        counters = acl_packets;
        meters = acl_meter;
        size = 128;
    }
    /* Of the last packet of a port that was not green. */
    register<bit<32>>(16) colours;

    apply {
        if (hdr.packet_out.isValid()) {
            standard.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }
        bit<32> port = (bit<32>)standard.ingress_port;
        port_packets.count(port);
        bit<2> colour = 0;
        port_meter.execute_meter(port, colour);
        meta.colour = 0;
        acl.apply();
        if (colour != 0) {
            colours.write(port, (bit<32>)colour);
        }
        if (meta.colour == 2) {
            drop();
            exit;
        }
        smac.apply();
        if (hdr.ipv4.isValid()) {
            routes.apply();
        } else {
            dmac.apply();
        }
    }
}

control EdgeEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.egress_rid != 0 && standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        }
    }
}

control EdgeDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(EdgeParser(), NoChecksum(), EdgeIngress(), EdgeEgress(), NoChecksum(), EdgeDeparser()) main;
