/* An Ethernet switch that learns by itself, for hosts as they are. Each frame teaches the port of its source address; frames to an address that is not
 * known, to a group or to all go to every port but the one they came from. So ARP and IPv6 neighbour discovery work without a controller.
 *
 * It also answers for configured addresses: `arp` for IPv4, `neighbours` for IPv6. Then the question is not flooded.
 *
 * What it expects of the controller: multicast group 1 with all ports. Tables may stay empty. Addresses are learned in a register, at the hash of each: two
 * addresses with one hash displace each other, which costs floods and no misdelivery. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_ARP = 0x0806;
const bit<16> TYPE_IPV6 = 0x86dd;
const bit<16> ALL_PORTS = 1;	/* the multicast group of floods */
const bit<32> HOSTS = 65536;
const bit<48> GROUP_BIT = 0x010000000000;	/* of multicast and broadcast addresses */

const bit<8> PROTOCOL_ICMPV6 = 58;
const bit<8> NEIGHBOUR_SOLICITATION = 135;
const bit<8> NEIGHBOUR_ADVERTISEMENT = 136;
const bit<32> SOLICITED_OVERRIDE = 0x60000000;
const bit<16> NEIGHBOUR_BYTES = 32;	/* of a solicitation with the asking host's address */

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

/* Of Ethernet and IPv4. */
header arp_t {
    bit<64> kind;	/* 0x0001080006040001: a request */
    bit<48> sender_mac;
    bit<32> sender_ip;
    bit<48> target_mac;
    bit<32> target_ip;
}

header ipv6_t {
    bit<32>  version_class_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

/* A solicitation or an advertisement with one link-layer address. */
header neighbour_t {
    bit<8>   type;
    bit<8>   code;
    bit<16>  checksum;
    bit<32>  flags;
    bit<128> target;
    bit<8>   option;	/* 1: of the source, 2: of the target */
    bit<8>   option_length;
    bit<48>  mac;
}

struct headers_t {
    ethernet_t  ethernet;
    arp_t       arp;
    ipv6_t      ipv6;
    neighbour_t neighbour;
}

struct metadata_t {
    bool answered;
}

const bit<64> ARP_REQUEST = 0x0001080006040001;
const bit<64> ARP_REPLY = 0x0001080006040002;

parser FrameParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_ARP: arp;
            TYPE_IPV6: ipv6;
            default: accept;
        }
    }

    state arp {
        transition select(packet.lookahead<bit<64>>()) {
            ARP_REQUEST: arp_request;
            default: accept;
        }
    }

    state arp_request {
        packet.extract(hdr.arp);
        transition accept;
    }

    state ipv6 {
        transition select(packet.lookahead<ipv6_t>().next_header, packet.lookahead<ipv6_t>().payload_length) {
            (PROTOCOL_ICMPV6, NEIGHBOUR_BYTES): icmpv6;
            default: accept;
        }
    }

    state icmpv6 {
        packet.extract(hdr.ipv6);
        packet.extract(hdr.neighbour);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Switch(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    /* By the hash of an address: the address in the upper 48 bits, then the port and a bit that marks that there is one. */
    register<bit<64>>(HOSTS) hosts;

    action learn(in bit<48> address, in bit<9> port) {
        bit<32> index;

        hash(index, HashAlgorithm.crc32, 32w0, { address }, HOSTS);
        hosts.write(index, address ++ 6w0 ++ port ++ 1w1);
    }

    action find(in bit<48> address, out bit<64> host) {
        bit<32> index;

        hash(index, HashAlgorithm.crc32, 32w0, { address }, HOSTS);
        hosts.read(host, index);
    }

    action drop() {
        mark_to_drop(standard);
    }

    action back(in bit<48> mac) {
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = mac;
        standard.egress_spec = standard.ingress_port;
        meta.answered = true;
    }

    action answer_arp(bit<48> mac) {
        bit<32> asked = hdr.arp.target_ip;

        hdr.arp.kind = ARP_REPLY;
        hdr.arp.target_mac = hdr.arp.sender_mac;
        hdr.arp.target_ip = hdr.arp.sender_ip;
        hdr.arp.sender_mac = mac;
        hdr.arp.sender_ip = asked;
        back(mac);
    }

    table arp {
        key = {
            hdr.arp.target_ip : exact;
        }
        actions = {
            answer_arp;
            NoAction;
        }
        const default_action = NoAction();
    }

    action answer_neighbour(bit<48> mac) {
        hdr.ipv6.dst = hdr.ipv6.src;
        hdr.ipv6.src = hdr.neighbour.target;
        hdr.neighbour.type = NEIGHBOUR_ADVERTISEMENT;
        hdr.neighbour.flags = SOLICITED_OVERRIDE;
        hdr.neighbour.option = 2;
        hdr.neighbour.mac = mac;
        back(mac);
    }

    table neighbours {
        key = {
            hdr.neighbour.target : exact;
        }
        actions = {
            answer_neighbour;
            NoAction;
        }
        const default_action = NoAction();
    }

    apply {
        bit<64> host = 0;

        if (!hdr.ethernet.isValid()) {
            drop();
        } else {
            if (hdr.ethernet.src & GROUP_BIT == 0) {
                learn(hdr.ethernet.src, standard.ingress_port);
            }
            if (hdr.arp.isValid()) {
                arp.apply();
            } else if (hdr.neighbour.isValid() && hdr.neighbour.type == NEIGHBOUR_SOLICITATION && hdr.neighbour.option == 1) {
                neighbours.apply();
            }
            if (!meta.answered) {
                find(hdr.ethernet.dst, host);
                if (host[0:0] == 0 || host[63:16] != hdr.ethernet.dst) {
                    standard.mcast_grp = ALL_PORTS;
                } else if (host[9:1] == standard.ingress_port) {
                    drop();
                } else {
                    standard.egress_spec = host[9:1];
                }
            }
        }
    }
}

control Prune(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        /* A flood does not return to where it came from; an answer does. */
        if (standard.egress_port == standard.ingress_port && !meta.answered) {
            mark_to_drop(standard);
        }
    }
}

control UpdateChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(meta.answered && hdr.neighbour.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_length, 24w0, hdr.ipv6.next_header,
              hdr.neighbour.type, hdr.neighbour.code, hdr.neighbour.flags, hdr.neighbour.target,
              hdr.neighbour.option, hdr.neighbour.option_length, hdr.neighbour.mac },
            hdr.neighbour.checksum, HashAlgorithm.csum16);
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.arp);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.neighbour);
    }
}

V1Switch(FrameParser(), NoChecksum(), Switch(), Prune(), UpdateChecksum(), FrameDeparser()) main;
