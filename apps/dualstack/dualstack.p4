/* A router for IPv4 and IPv6: the checks, prefixes and next hops of apps/ipv4fwd and apps/ipv6fwd in one program. ARP packets go to the host behind port
 * 255, which answers them. Neighbour solicitations are packets like others: hosts need a static neighbour for their IPv6 gateway. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_ARP = 0x0806;
const bit<16> TYPE_IPV6 = 0x86dd;
const bit<32> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
const bit<32> IPV6_BYTES = 40;
const bit<9> HOST_PORT = 255;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_TYPE = 1;
const bit<32> DROP_HEADER = 2;
const bit<32> DROP_CHECKSUM = 3;
const bit<32> DROP_TTL = 4;
const bit<32> DROP_NO_ROUTE = 5;
const bit<32> DROP_REASONS = 6;

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
    ipv4_t     ipv4;
    ipv6_t     ipv6;
}

struct metadata_t {}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
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

control CheckHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version_ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
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

    action forward4(bit<9> port, bit<48> dst, bit<48> src) {
        bit<17> sum = (bit<17>)hdr.ipv4.checksum + 0x100;

        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        /* RFC 1624: one less in the upper byte of a word is 0x100 more in the checksum, with the carry brought round. */
        hdr.ipv4.checksum = (bit<16>)(sum >= 0xffff ? sum + 1 : sum);
    }

    action forward6(bit<9> port, bit<48> dst, bit<48> src) {
        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    table routes4 {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            forward4;
            no_route;
        }
        const default_action = no_route();
    }

    table routes6 {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            forward6;
            no_route;
        }
        const default_action = no_route();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        } else if (hdr.ipv4.isValid()) {
            if (hdr.ipv4.version_ihl != 0x45 || hdr.ipv4.total_length < IPV4_BYTES ||
                (bit<32>)hdr.ipv4.total_length > standard.packet_length - ETHERNET_BYTES) {
                drop(DROP_HEADER);
            } else if (standard.checksum_error != 0) {
                drop(DROP_CHECKSUM);
            } else if (hdr.ipv4.ttl <= 1) {
                drop(DROP_TTL);
            } else {
                routes4.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            if (hdr.ipv6.version != 6 || (bit<32>)hdr.ipv6.payload_length > standard.packet_length - ETHERNET_BYTES - IPV6_BYTES) {
                drop(DROP_HEADER);
            } else if (hdr.ipv6.hop_limit <= 1) {
                drop(DROP_TTL);
            } else {
                routes6.apply();
            }
        } else if (hdr.ethernet.type == TYPE_ARP) {
            standard.egress_spec = HOST_PORT;
        } else {
            drop(DROP_TYPE);
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control NoUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(RouterParser(), CheckHeader(), Router(), NoEgress(), NoUpdate(), RouterDeparser()) main;
