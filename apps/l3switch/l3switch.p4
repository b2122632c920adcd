/* A layer 3 switch: bridges Ethernet and routes IPv4, with the checksum verified and written anew
 * (NPF's IPv4 forwarding benchmark, which the paper measures).
 *
 * The paper states: bridging and IPv4 routing, a lookup of the next hop, time to live and checksum.
 * NPF's tables and traffic are not public. Chosen:
 *   bridging      addresses are learnt by a digest, also when a host moves to another port. Unknown
 *                 and group destinations are flooded to multicast group 1, but for the port that
 *                 the frame came by. Frames for 01-80-C2-00-00-0x and those that would go back by
 *                 their port are filtered.
 *   routing       frames to an address of the switch: header checks, checksum, TTL, the longest
 *                 prefix, and the next hop's addresses.
 *   options       pass unread; the checksum covers them. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<32> ETHERNET_BYTES = 14;
const bit<16> FLOOD = 1;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_SOURCE = 1;
const bit<32> DROP_RESERVED = 2;
const bit<32> DROP_SAME_PORT = 3;
const bit<32> DROP_NOT_IPV4 = 4;
const bit<32> DROP_HEADER = 5;
const bit<32> DROP_CHECKSUM = 6;
const bit<32> DROP_TTL = 7;
const bit<32> DROP_ROUTE = 8;
const bit<32> DROP_NEXTHOP = 9;
const bit<32> DROP_REASONS = 10;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> total_length;
    bit<16> identification;
    bit<16> flags_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv4_options_t {
    varbit<320> options;
}

struct headers_t {
    ethernet_t     ethernet;
    ipv4_t         ipv4;
    ipv4_options_t options;
}

struct metadata_t {
    bool    routed;
    bit<16> nexthop;
}

/* What the control plane learns a host from. */
struct host_t {
    bit<48> address;
    bit<9>  port;
}

parser SwitchParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) {
            0 .. 5: accept;
            default: options;
        }
    }

    state options {
        packet.extract(hdr.options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition accept;
    }
}

control CheckHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && !hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control Switch(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action learn() {
        digest<host_t>(1, { hdr.ethernet.src, standard.ingress_port });
    }

    action known(bit<9> port) {
        if (port != standard.ingress_port) {
            learn();
        }
    }

    action route() {
        meta.routed = true;
    }

    action bridge(bit<9> port) {
        standard.egress_spec = port;
    }

    action flood() {
        standard.mcast_grp = FLOOD;
    }

    action set_nexthop(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    action no_route() {
        drop(DROP_ROUTE);
    }

    action send(bit<9> port, bit<48> dst, bit<48> src) {
        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action no_nexthop() {
        drop(DROP_NEXTHOP);
    }

    table smac {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            known;
            learn;
        }
        const default_action = learn();
    }

    table dmac {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            route;
            bridge;
            flood;
        }
        const default_action = flood();
    }

    table routes {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            set_nexthop;
            no_route;
        }
        const default_action = no_route();
    }

    table nexthops {
        key = {
            meta.nexthop : exact;
        }
        actions = {
            send;
            no_nexthop;
        }
        const default_action = no_nexthop();
    }

    apply {
        /* What cannot be routed may still be bridged: a frame needs no more than its own header. */
        if (!hdr.ethernet.isValid()) {
            drop(DROP_SHORT);
        }
        if (hdr.ethernet.src[40:40] == 1) {
            drop(DROP_SOURCE);
        }
        smac.apply();
        if (hdr.ethernet.dst[47:4] == 0x0180c200000) {
            drop(DROP_RESERVED);
        }
        dmac.apply();
        if (meta.routed) {
            if (standard.parser_error != error.NoError) {
                drop(DROP_SHORT);
            }
            if (!hdr.ipv4.isValid()) {
                drop(DROP_NOT_IPV4);
            }
            if (hdr.ipv4.version != 4 || hdr.ipv4.ihl < 5 || hdr.ipv4.total_length < (bit<16>)hdr.ipv4.ihl * 4 ||
                (bit<32>)hdr.ipv4.total_length > standard.packet_length - ETHERNET_BYTES) {
                drop(DROP_HEADER);
            }
            if (standard.checksum_error != 0) {
                drop(DROP_CHECKSUM);
            }
            if (hdr.ipv4.ttl <= 1) {
                drop(DROP_TTL);
            }
            routes.apply();
            nexthops.apply();
        } else if (standard.mcast_grp == 0 && standard.egress_spec == standard.ingress_port) {
            drop(DROP_SAME_PORT);
        }
    }
}

/* Of the copies of a flooded frame, one is for the port that it came by. */
control Copies(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (!meta.routed && standard.egress_port == standard.ingress_port) {
            mark_to_drop(standard);
        }
    }
}

control UpdateChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.routed && !hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(meta.routed && hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(SwitchParser(), CheckHeader(), Switch(), Copies(), UpdateChecksum(), SwitchDeparser()) main;
