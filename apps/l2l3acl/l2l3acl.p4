/* A layer 2 and 3 switch with an access list, in seven tables (the shape is that of docs/model.md, Papers; the tables' roles are ours):
 *
 *   1 vlans     port -> bridge domain                    5 nexthops  next hop -> port and rewrite
 *   2 smac      known station, or learn                  6 acl       ternary on the 5-tuple
 *   3 dmac      mine: route; else bridge to a port       7 rewrites  rewrite -> addresses, key written by 5
 *   4 routes    longest prefix; may divert to the bridge
 *
 * With the VLAN of 1, all keys of 2, 3, 4 and 6 are known: one stage can look these up together (docs/path.md). 5 waits for 4, and 7 for 5.
 *
 * With REWRITE_IN_INGRESS, 7 follows 5 directly and can be joined with it; else it is behind the traffic manager. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_VLAN = 1;
const bit<32> DROP_STATION = 2;
const bit<32> DROP_NOT_ROUTABLE = 3;
const bit<32> DROP_ROUTE = 4;
const bit<32> DROP_NEXTHOP = 5;
const bit<32> DROP_DENIED = 6;
const bit<32> DROP_REASONS = 7;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<8>  version_ihl;
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

header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ports_t    ports;
}

struct metadata_t {
    bit<12> vlan;
    bool    routed;
    bit<16> nexthop;
    bit<16> rewrite;
}

/* What the control plane learns a station from. */
struct station_t {
    bit<12> vlan;
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
        transition select(hdr.ipv4.version_ihl, hdr.ipv4.protocol) {
            (0x45, PROTOCOL_TCP): ports;
            (0x45, PROTOCOL_UDP): ports;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Rewriter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action rewrite(bit<48> src, bit<48> dst) {
        bit<17> sum = (bit<17>)hdr.ipv4.checksum + 0x100;

        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        /* RFC 1624, as in ipv4fwd. */
        hdr.ipv4.checksum = (bit<16>)(sum >= 0xffff ? sum + 1 : sum);
    }

    action drop() {
        mark_to_drop(standard);
    }

    table rewrites {
        key = {
            meta.rewrite : exact;
        }
        actions = {
            rewrite;
            drop;
        }
        const default_action = drop();
    }

    apply {
        if (meta.routed) {
            rewrites.apply();
        }
    }
}

control Switch(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;
#ifdef REWRITE_IN_INGRESS
    Rewriter() rewriter;
#endif

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
    }

    action set_vlan(bit<12> vlan) {
        meta.vlan = vlan;
    }

    action no_vlan() {
        drop(DROP_VLAN);
        exit;
    }

    action learn() {
        digest<station_t>(1, { meta.vlan, hdr.ethernet.src, standard.ingress_port });
    }

    action route() {
        meta.routed = true;
    }

    action bridge(bit<9> port) {
        standard.egress_spec = port;
    }

    action unknown_station() {
        drop(DROP_STATION);
        exit;
    }

    action set_nexthop(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    /* The destination is on a network that is bridged, not routed. */
    action divert(bit<9> port) {
        meta.routed = false;
        standard.egress_spec = port;
    }

    action no_route() {
        drop(DROP_ROUTE);
        exit;
    }

    action send(bit<9> port, bit<16> rewrite) {
        standard.egress_spec = port;
        meta.rewrite = rewrite;
    }

    action no_nexthop() {
        drop(DROP_NEXTHOP);
        exit;
    }

    action permit() {
    }

    action deny() {
        drop(DROP_DENIED);
    }

    table vlans {
        key = {
            standard.ingress_port : exact;
        }
        actions = {
            set_vlan;
            no_vlan;
        }
        size = 512;
        const default_action = no_vlan();
    }

    table smac {
        key = {
            meta.vlan        : exact;
            hdr.ethernet.src : exact;
        }
        actions = {
            NoAction;
            learn;
        }
        const default_action = learn();
    }

    table dmac {
        key = {
            meta.vlan        : exact;
            hdr.ethernet.dst : exact;
        }
        actions = {
            route;
            bridge;
            unknown_station;
        }
        const default_action = unknown_station();
    }

    table routes {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            set_nexthop;
            divert;
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

    table acl {
        key = {
            hdr.ipv4.src      : ternary;
            hdr.ipv4.dst      : ternary;
            hdr.ipv4.protocol : ternary;
            hdr.ports.src     : ternary;
            hdr.ports.dst     : ternary;
        }
        actions = {
            permit;
            deny;
        }
        const default_action = permit();
    }

    apply {
        if (!hdr.ethernet.isValid()) {
            drop(DROP_SHORT);
            exit;
        }
        vlans.apply();
        smac.apply();
        dmac.apply();
        if (meta.routed) {
            if (!hdr.ipv4.isValid() || hdr.ipv4.version_ihl != 0x45 || hdr.ipv4.ttl <= 1) {
                drop(DROP_NOT_ROUTABLE);
                exit;
            }
            routes.apply();
        }
        if (meta.routed) {
            nexthops.apply();
#ifdef REWRITE_IN_INGRESS
            rewriter.apply(hdr, meta, standard);
#endif
        }
        if (hdr.ipv4.isValid()) {
            acl.apply();
        }
    }
}

#ifdef REWRITE_IN_INGRESS
control NoRewriter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}
#endif

control SwitchDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

#ifdef REWRITE_IN_INGRESS
V1Switch(SwitchParser(), NoChecksum(), Switch(), NoRewriter(), NoChecksum(), SwitchDeparser()) main;
#else
V1Switch(SwitchParser(), NoChecksum(), Switch(), Rewriter(), NoChecksum(), SwitchDeparser()) main;
#endif
