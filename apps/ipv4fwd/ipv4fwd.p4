/* An IPv4 router: every header check of RFC 1812 (5.2.2, 5.3.1), the longest prefix, and the next hop's addresses. Packets with options belong to a slow
 * path and are dropped here with the malformed ones; `dropped` counts by reason. It answers no ARP and sends no ICMP: a host needs a static neighbour for its
 * gateway (`ip neighbour add GATEWAY lladdr MAC dev eth0`), and the route to a host has the host's MAC address as `dst`. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<32> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_IPV4 = 1;
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

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
}

struct metadata_t {}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
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

    action forward(bit<9> port, bit<48> dst, bit<48> src) {
        bit<17> sum = (bit<17>)hdr.ipv4.checksum + 0x100;

        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        /* RFC 1624: one less in the upper byte of a word is 0x100 more in the checksum, with the carry brought round. */
        hdr.ipv4.checksum = (bit<16>)(sum >= 0xffff ? sum + 1 : sum);
    }

    table routes {
        key = {
            hdr.ipv4.dst : lpm;
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
        } else if (!hdr.ipv4.isValid()) {
            drop(DROP_NOT_IPV4);
        } else if (hdr.ipv4.version_ihl != 0x45 || hdr.ipv4.total_length < IPV4_BYTES ||
                   (bit<32>)hdr.ipv4.total_length > standard.packet_length - ETHERNET_BYTES) {
            drop(DROP_HEADER);
        } else if (standard.checksum_error != 0) {
            drop(DROP_CHECKSUM);
        } else if (hdr.ipv4.ttl <= 1) {
            drop(DROP_TTL);
        } else {
            routes.apply();
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
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(RouterParser(), CheckHeader(), Router(), NoEgress(), NoUpdate(), RouterDeparser()) main;
