/* A label edge and switching router: layer 2, then MPLS, IPv4 or IPv6, then an access list.
 * Labels are swapped, popped or pushed (RFC 3031, 3032; up to three deep); the time to live is carried through (RFC 3443, uniform model). */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_IPV6 = 0x86dd;
const bit<16> TYPE_MPLS = 0x8847;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_STATION = 1;
const bit<32> DROP_LABEL = 2;
const bit<32> DROP_TTL = 3;
const bit<32> DROP_ROUTE = 4;
const bit<32> DROP_NOT_ROUTABLE = 5;
const bit<32> DROP_DENIED = 6;
const bit<32> DROP_REASONS = 7;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mpls_t {
    bit<20> label;
    bit<3>  class;
    bit<1>  bottom;
    bit<8>  ttl;
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

header ipv6_t {
    bit<32>  version_class_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_t ethernet;
    mpls_t[3]  labels;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
}

struct metadata_t {
    bit<16> nexthop;
    bit<8>  ttl;
    bool    route;
}

parser LabelParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_MPLS: label;
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state label {
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.bottom) {
            0: label;
            1: payload;
        }
    }

    /* The type of a label stack's payload is known by its first four bits only (RFC 4928). */
    state payload {
        transition select(packet.lookahead<bit<4>>()) {
            4: ipv4;
            6: ipv6;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }

    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control LabelRouter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action mine() {
    }

    action bridge(bit<9> port) {
        standard.egress_spec = port;
        exit;
    }

    action unknown_station() {
        drop(DROP_STATION);
    }

    action swap(bit<20> label, bit<16> nexthop) {
        hdr.labels[0].label = label;
        hdr.labels[0].ttl = meta.ttl;
        meta.nexthop = nexthop;
    }

    /* The penultimate hop takes the label off and forwards what is below it as it is. */
    action pop(bit<16> nexthop) {
        meta.nexthop = nexthop;
        if (hdr.labels[1].isValid()) {
            hdr.labels[1].ttl = meta.ttl;
        }
        hdr.labels.pop_front(1);
    }

    /* The end of the path: the packet below is routed. */
    action pop_and_route() {
        meta.route = true;
        hdr.labels.pop_front(1);
    }

    action unknown_label() {
        drop(DROP_LABEL);
    }

    action forward(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    action push(bit<20> label, bit<16> nexthop) {
        hdr.labels.push_front(1);
        hdr.labels[0].setValid();
        hdr.labels[0] = { label, 0, 1, meta.ttl };
        meta.nexthop = nexthop;
    }

    action no_route() {
        drop(DROP_ROUTE);
    }

    action send(bit<9> port, bit<48> dst, bit<48> src) {
        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
    }

    action permit() {
    }

    action deny() {
        drop(DROP_DENIED);
    }

    table dmac {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            mine;
            bridge;
            unknown_station;
        }
        const default_action = unknown_station();
    }

    table labels {
        key = {
            hdr.labels[0].label : exact;
        }
        actions = {
            swap;
            pop;
            pop_and_route;
            unknown_label;
        }
        const default_action = unknown_label();
    }

    table routes4 {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            forward;
            push;
            no_route;
        }
        const default_action = no_route();
    }

    table routes6 {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            forward;
            push;
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
            no_route;
        }
        const default_action = no_route();
    }

    table acl {
        key = {
            standard.ingress_port : ternary;
            standard.egress_spec  : ternary;
            hdr.ethernet.type     : ternary;
            hdr.ipv4.src          : ternary;
            hdr.ipv4.dst          : ternary;
        }
        actions = {
            permit;
            deny;
        }
        size = 64;
        const default_action = permit();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        }
        dmac.apply();
        if (hdr.labels[0].isValid()) {
            meta.ttl = hdr.labels[0].ttl;
        } else if (hdr.ipv4.isValid()) {
            meta.ttl = hdr.ipv4.ttl;
        } else if (hdr.ipv6.isValid()) {
            meta.ttl = hdr.ipv6.hop_limit;
        } else {
            drop(DROP_NOT_ROUTABLE);
        }
        if (meta.ttl <= 1) {
            drop(DROP_TTL);
        }
        meta.ttl = meta.ttl - 1;
        if (hdr.labels[0].isValid()) {
            labels.apply();
        } else {
            meta.route = true;
        }
        if (meta.route) {
            if (hdr.ipv4.isValid()) {
                routes4.apply();
            } else if (hdr.ipv6.isValid()) {
                routes6.apply();
            } else {
                drop(DROP_NOT_ROUTABLE);
            }
        }
        nexthops.apply();
        acl.apply();
    }
}

/* Writes what the change of labels means for the headers around them. */
control LabelEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.labels[0].isValid()) {
            hdr.ethernet.type = TYPE_MPLS;
        } else if (meta.ttl != 0 && hdr.ipv4.isValid()) {
            hdr.ethernet.type = TYPE_IPV4;
            hdr.ipv4.ttl = meta.ttl;
        } else if (meta.ttl != 0 && hdr.ipv6.isValid()) {
            hdr.ethernet.type = TYPE_IPV6;
            hdr.ipv6.hop_limit = meta.ttl;
        }
    }
}

control UpdateChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.ttl != 0 && hdr.ipv4.isValid() && !hdr.labels[0].isValid() && hdr.ipv4.version_ihl == 0x45,
            { hdr.ipv4.version_ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control LabelDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(LabelParser(), NoChecksum(), LabelRouter(), LabelEgress(), UpdateChecksum(), LabelDeparser()) main;
