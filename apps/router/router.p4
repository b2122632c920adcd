/* A standard IPv4 router, the second of PacketMill's network functions: ARP, header checks, routes,
 * neighbours and a slow path.
 *
 * The paper names it and gives no details. Chosen, after RFC 1812 and the elements of Click's IP
 * router:
 *   ARP           requests for an interface's address are answered here, replies go to the host.
 *   checks        frame for this interface; version, lengths, checksum (over options too), source
 *                 and destination.
 *   routes        the longest prefix leads to a gateway, to a network on a port, or to the router
 *                 itself.
 *   neighbours    next hop -> addresses of the frame and MTU of the port.
 *   slow path     the host behind port 255 gets, with a reason and the ingress port in front: local
 *                 packets, options, ended lives (TTL), no route, an unknown neighbour, packets
 *                 longer than the MTU. ICMP, fragments and options are its work, as are redirects,
 *                 of which it is not notified. */
#include <core.p4>
#include <v1model.p4>
#include "routing.p4"

struct headers_t {
    host_t         host;
    ethernet_t     ethernet;
    arp_t          arp;
    ipv4_t         ipv4;
    ipv4_options_t options;
}

struct metadata_t {
}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
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
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            one_zero(hdr.ipv4.checksum), HashAlgorithm.csum16);
        verify_checksum(hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags,
              hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.options },
            one_zero(hdr.ipv4.checksum), HashAlgorithm.csum16);
    }
}

control Router(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;
    Ipv4Check(dropped) check;
    Ipv4Route(dropped) route;

    apply {
        check.apply(hdr.ethernet, hdr.arp, hdr.ipv4, hdr.host, standard);
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

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(RouterParser(), CheckHeader(), Router(), NoEgress(), NoUpdate(), RouterDeparser()) main;
