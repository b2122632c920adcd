/* An intrusion detection system followed by a router, the third of PacketMill's network functions:
 * what follows the IPv4 header is checked, then the packet is routed as in router.p4.
 *
 * The paper states "an Intrusion Detection System (IDS) followed by a router", and no more. Chosen,
 * as Click's elements check the headers of TCP, UDP and ICMP:
 *   checksums     of TCP, UDP (where there is one) and ICMP, over the whole payload. v1model has
 *                 one bit for all checksums, so a wrong one is counted where the router counts that
 *                 of IPv4. A frame's padding is summed, too: it must be zeros.
 *   lengths       a header lies within its packet, and UDP's length is that of the payload.
 *   TCP           no ports of 0, and no flags that no host sends: none of SYN, ACK and RST, or SYN
 *                 with FIN or RST.
 *   UDP           no destination port of 0.
 *   addresses     source and destination differ (a "land" attack).
 *   fragments     of TCP, none begins within the header, and the first has all of it (RFC 1858).
 *                 Otherwise fragments are routed as they are.
 *   protocols     other than these three are routed.
 * What fails is dropped and counted in `rejected`. Rules over payloads are not part of it. */
#include <core.p4>
#include <v1model.p4>
#include "../router/routing.p4"

const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<16> TCP_BYTES = 20;
const bit<16> UDP_BYTES = 8;
const bit<16> ICMP_BYTES = 8;

/* Indices of `rejected`. */
const bit<32> REJECT_LAND = 0;
const bit<32> REJECT_FRAGMENT = 1;
const bit<32> REJECT_LENGTH = 2;
const bit<32> REJECT_FLAGS = 3;
const bit<32> REJECT_PORT = 4;
const bit<32> REJECT_REASONS = 5;

header tcp_t {
    bit<16> src;
    bit<16> dst;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<4>  offset;
    bit<6>  reserved;
    bit<1>  urg;
    bit<1>  ack;
    bit<1>  psh;
    bit<1>  rst;
    bit<1>  syn;
    bit<1>  fin;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

header udp_t {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

header icmp_t {
    bit<8>  type;
    bit<8>  code;
    bit<16> checksum;
}

struct headers_t {
    host_t         host;
    ethernet_t     ethernet;
    arp_t          arp;
    ipv4_t         ipv4;
    ipv4_options_t options;
    tcp_t          tcp;
    udp_t          udp;
    icmp_t         icmp;
}

struct metadata_t {
    /* Bytes behind the IPv4 header. */
    bit<16> payload;
}

parser IdsParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            TYPE_ARP: arp;
            default: accept;
        }
    }

    state arp {
        packet.extract(hdr.arp);
        transition accept;
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        meta.payload = hdr.ipv4.total_length - (bit<16>)hdr.ipv4.ihl * 4;
        transition select(hdr.ipv4.ihl) {
            0 .. 4: accept;
            5: transport;
            default: options;
        }
    }

    state options {
        packet.extract(hdr.options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition transport;
    }

    /* A fragment is judged by its header alone. */
    state transport {
        transition select(hdr.ipv4.flags[0:0], hdr.ipv4.offset, hdr.ipv4.protocol) {
            (0, 0, PROTOCOL_TCP): tcp;
            (0, 0, PROTOCOL_UDP): udp;
            (0, 0, PROTOCOL_ICMP): icmp;
            default: accept;
        }
    }

    state tcp {
        packet.extract(hdr.tcp);
        transition accept;
    }

    state udp {
        packet.extract(hdr.udp);
        transition accept;
    }

    state icmp {
        packet.extract(hdr.icmp);
        transition accept;
    }
}

control Checksums(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && !hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            one_zero(hdr.ipv4.checksum), HashAlgorithm.csum16);
        verify_checksum(hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.options },
            one_zero(hdr.ipv4.checksum), HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.tcp.isValid(),
            { hdr.ipv4.src, hdr.ipv4.dst, 8w0, hdr.ipv4.protocol, meta.payload, hdr.tcp.src, hdr.tcp.dst, hdr.tcp.sequence,
              hdr.tcp.acknowledgement, hdr.tcp.offset, hdr.tcp.reserved, hdr.tcp.urg, hdr.tcp.ack, hdr.tcp.psh, hdr.tcp.rst, hdr.tcp.syn,
              hdr.tcp.fin, hdr.tcp.window, hdr.tcp.urgent },
            one_zero(hdr.tcp.checksum), HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.udp.isValid() && hdr.udp.checksum != 0,
            { hdr.ipv4.src, hdr.ipv4.dst, 8w0, hdr.ipv4.protocol, meta.payload, hdr.udp.src, hdr.udp.dst, hdr.udp.length },
            one_zero(hdr.udp.checksum), HashAlgorithm.csum16);
        verify_checksum_with_payload(hdr.icmp.isValid(), { hdr.icmp.type, hdr.icmp.code }, one_zero(hdr.icmp.checksum), HashAlgorithm.csum16);
    }
}

control Inspect(in headers_t hdr, in metadata_t meta, inout standard_metadata_t standard) {
    counter(REJECT_REASONS, CounterType.packets) rejected;

    action reject(bit<32> reason) {
        rejected.count(reason);
        mark_to_drop(standard);
        exit;
    }

    apply {
        if (hdr.ipv4.src == hdr.ipv4.dst) {
            reject(REJECT_LAND);
        }
        if (hdr.tcp.isValid()) {
            if (hdr.tcp.offset < 5 || (bit<16>)hdr.tcp.offset * 4 > meta.payload) {
                reject(REJECT_LENGTH);
            }
            if (hdr.tcp.syn == 1 ? hdr.tcp.fin == 1 || hdr.tcp.rst == 1 : hdr.tcp.ack == 0 && hdr.tcp.rst == 0) {
                reject(REJECT_FLAGS);
            }
            if (hdr.tcp.src == 0 || hdr.tcp.dst == 0) {
                reject(REJECT_PORT);
            }
        } else if (hdr.udp.isValid()) {
            if (hdr.udp.length < UDP_BYTES || hdr.udp.length != meta.payload) {
                reject(REJECT_LENGTH);
            }
            if (hdr.udp.dst == 0) {
                reject(REJECT_PORT);
            }
        } else if (hdr.icmp.isValid()) {
            if (meta.payload < ICMP_BYTES) {
                reject(REJECT_LENGTH);
            }
        } else if (hdr.ipv4.protocol == PROTOCOL_TCP) {
            /* In units of 8 bytes; only what begins at 0 is a first fragment. */
            if ((hdr.ipv4.offset == 0 && meta.payload < TCP_BYTES) || hdr.ipv4.offset == 1 || hdr.ipv4.offset == 2) {
                reject(REJECT_FRAGMENT);
            }
        }
    }
}

control IdsRouter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;
    Ipv4Check(dropped) check;
    Inspect() inspect;
    Ipv4Route(dropped) route;

    apply {
        check.apply(hdr.ethernet, hdr.arp, hdr.ipv4, hdr.host, standard);
        inspect.apply(hdr, meta, standard);
        route.apply(hdr.ethernet, hdr.ipv4, hdr.host, standard);
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

control IdsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(IdsParser(), Checksums(), IdsRouter(), NoEgress(), NoUpdate(), IdsDeparser()) main;
