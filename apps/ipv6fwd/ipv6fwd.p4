/* An IPv6 router: the longest prefix of 128 bits, hop limit, and the next hop's addresses (RFC 8200). It answers no neighbour solicitation: hosts need a
 * static neighbour for their gateway. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV6 = 0x86dd;
const bit<32> HEADER_BYTES = 54;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_IPV6 = 1;
const bit<32> DROP_HEADER = 2;
const bit<32> DROP_HOP_LIMIT = 3;
const bit<32> DROP_NO_ROUTE = 4;
const bit<32> DROP_REASONS = 5;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv6_t     ipv6;
}

struct metadata_t {}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV6: ipv6;
            default: accept;
        }
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

control Router(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
    }

    action no_route() {
        drop(DROP_NO_ROUTE);
    }

    action forward(bit<9> port, bit<48> dst, bit<48> src) {
        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    table routes {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            forward;
            no_route;
        }
        const default_action = no_route();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        } else if (!hdr.ipv6.isValid()) {
            drop(DROP_NOT_IPV6);
        } else if (hdr.ipv6.version != 6 || (bit<32>)hdr.ipv6.payload_length > standard.packet_length - HEADER_BYTES) {
            drop(DROP_HEADER);
        } else if (hdr.ipv6.hop_limit <= 1) {
            drop(DROP_HOP_LIMIT);
        } else {
            routes.apply();
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(RouterParser(), NoChecksum(), Router(), NoEgress(), NoChecksum(), RouterDeparser()) main;
