/* A stateful NAT with a router behind it, the fourth of PacketMill's network functions: inside
 * addresses share a few outside ones, by port.
 *
 * The paper names it and gives no details. Chosen, after RFC 4787 (UDP), 5382 (TCP) and 5508 (ICMP):
 *   sides         ports are a host's (inside) or the network's (outside), as PNA has it:
 *                 `register_write direction PORT 1` makes a port an inside one.
 *   mappings      an inside protocol, address and port has one outside address and port, whatever
 *                 it talks to (endpoint-independent mapping), and anyone may answer there
 *                 (endpoint-independent filtering). Echo requests have their identifier as port.
 *   allocation    the first packet of an inside port takes the first free one of PROBES outside
 *                 ports, beginning at a hash of its protocol, address and port. Its two entries are
 *                 inserted by the packet itself (add on miss): no controller is in the loop.
 *   pools         the inside network selects the outside address and the range of ports, a power
 *                 of two. A range whose PROBES ports are taken drops the packet, which is counted:
 *                 with as many probes as ports, when the range is full.
 *   ends          each packet in either direction restarts both entries' timers: 60 s for ICMP, 300
 *                 s for UDP, 120 s for TCP until the answer to a SYN and from FIN or RST on, 12 h
 *                 in between. Idle entries delete themselves.
 *   memory        is bounded by the tables, -D MAPPINGS=65536, and by the ranges of ports; a flood
 *                 fills no more than that.
 *   routing       the longest prefix, the next hop's addresses, TTL. A packet's length is not
 *                 checked, for PNA does not report it. Checksums are brought up to date, not computed
 *                 anew (RFC 1624).
 *   left out      fragments, options, ICMP errors, other protocols, and packets from inside to an
 *                 outside address of this NAT (hairpins) are dropped and counted. */
#include <core.p4>
#include <pna.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_ICMP = 1;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;
const bit<8> ICMP_ECHO_REPLY = 0;
const bit<8> ICMP_ECHO = 8;

/* Mappings at the same time. */
#ifndef MAPPINGS
#define MAPPINGS 65536
#endif
const bit<16> PROBES = 8;

/* PNA's profiles with the times that they have at the start. */
const ExpireTimeProfileId_t EXPIRE_ICMP = (ExpireTimeProfileId_t)2;
const ExpireTimeProfileId_t EXPIRE_TCP_TRANSITORY = (ExpireTimeProfileId_t)3;
const ExpireTimeProfileId_t EXPIRE_UDP = (ExpireTimeProfileId_t)4;
const ExpireTimeProfileId_t EXPIRE_TCP = (ExpireTimeProfileId_t)5;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_IPV4 = 1;
const bit<32> DROP_HEADER = 2;
const bit<32> DROP_CHECKSUM = 3;
const bit<32> DROP_TTL = 4;
const bit<32> DROP_FRAGMENT = 5;
const bit<32> DROP_PROTOCOL = 6;
const bit<32> DROP_ICMP = 7;
const bit<32> DROP_POOL = 8;
const bit<32> DROP_PORTS = 9;
const bit<32> DROP_TABLE = 10;
const bit<32> DROP_NO_MAPPING = 11;
const bit<32> DROP_ROUTE = 12;
const bit<32> DROP_HAIRPIN = 13;
const bit<32> DROP_REASONS = 14;

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
    bit<2>  flags;
    bit<14> more_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header tcp_t {
    bit<16> src;
    bit<16> dst;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<11> offset_reserved;
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
    bit<16> identifier;
    bit<16> sequence;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    tcp_t      tcp;
    udp_t      udp;
    icmp_t     icmp;
}

struct metadata_t {
}

/* The data of an entry of either table. */
struct endpoint_t {
    bit<32> address;
    bit<16> port;
}

parser NatParser(packet_in packet, out headers_t hdr, inout metadata_t meta, in pna_main_parser_input_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version_ihl, hdr.ipv4.more_offset, hdr.ipv4.protocol) {
            (0x45, 0, PROTOCOL_TCP): tcp;
            (0x45, 0, PROTOCOL_UDP): udp;
            (0x45, 0, PROTOCOL_ICMP): icmp;
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

control NoPreparation(in headers_t hdr, inout metadata_t meta, in pna_pre_input_metadata_t standard, inout pna_pre_output_metadata_t output) {
    apply {
    }
}

control Nat(inout headers_t hdr, inout metadata_t meta, in pna_main_input_metadata_t standard, inout pna_main_output_metadata_t output) {
    Counter<bit<64>, bit<32>>(DROP_REASONS, PNA_CounterType_t.PACKETS) dropped;
    Hash<bit<32>>(PNA_HashAlgorithm_t.CRC32) hash;
    InternetChecksum() sum;

    endpoint_t inside = { 0, 0 };
    endpoint_t outside = { 0, 0 };
    /* Which of the two the packet, or a table, has given. */
    bool inside_known = false;
    bool outside_known = false;
    /* The outside port is the inside one's. */
    bool mine = false;
    bool full = false;

    bit<32> pool_address = 0;
    bit<16> pool_first = 0;
    bit<16> pool_mask = 0;

    /* For how long the packet keeps its mapping, and whether an older one's time changes with it. */
    ExpireTimeProfileId_t profile = EXPIRE_UDP;
    bool changes = false;

    action drop(bit<32> reason) {
        dropped.count(reason);
        drop_packet();
        exit;
    }

    action assign(bit<32> address, bit<16> first, bit<16> mask) {
        pool_address = address;
        pool_first = first;
        pool_mask = mask;
    }

    action no_pool() {
        drop(DROP_POOL);
    }

    action keep() {
        if (changes) {
            set_entry_expire_time(profile);
        } else {
            restart_expire_timer();
        }
    }

    action to_outside(bit<32> address, bit<16> port) {
        if (!outside_known) {
            outside = { address, port };
        }
        keep();
    }

    /* A miss inserts what is known; the first lookup of a new mapping knows nothing yet. */
    action map_inside() {
        if (outside_known) {
            full = !add_entry("to_outside", outside, profile);
        }
    }

    action to_inside(bit<32> address, bit<16> port) {
        if (!inside_known) {
            inside = { address, port };
            keep();
        } else if (address == inside.address && port == inside.port) {
            mine = true;
            keep();
        }
    }

    action map_outside() {
        if (inside_known) {
            mine = add_entry("to_inside", inside, profile);
            full = !mine;
        }
    }

    action forward(PortId_t port, bit<48> dst, bit<48> src) {
        send_to_port(port);
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
    }

    /* An outside address of this NAT. */
    action hairpin() {
        drop(DROP_HAIRPIN);
    }

    action no_route() {
        drop(DROP_ROUTE);
    }

    table pools {
        key = {
            hdr.ipv4.src : lpm;
        }
        actions = {
            assign;
            no_pool;
        }
        const default_action = no_pool();
    }

    table outbound {
        key = {
            hdr.ipv4.protocol : exact;
            inside.address    : exact;
            inside.port       : exact;
        }
        actions = {
            @tableonly to_outside;
            @defaultonly map_inside;
        }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
        size = MAPPINGS;
        const default_action = map_inside();
    }

    table inbound {
        key = {
            hdr.ipv4.protocol : exact;
            outside.address   : exact;
            outside.port      : exact;
        }
        actions = {
            @tableonly to_inside;
            @defaultonly map_outside;
        }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
        size = MAPPINGS;
        const default_action = map_outside();
    }

    table routes {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            forward;
            hairpin;
            no_route;
        }
        const default_action = no_route();
    }

    /* The address and the port of one side become another's, in the headers and in what covers them. */
    action rewrite(inout bit<32> address, inout bit<16> port, in endpoint_t to) {
        sum.clear();
        sum.subtract({ hdr.ipv4.checksum, address, hdr.ipv4.ttl, hdr.ipv4.protocol });
        sum.add({ to.address, hdr.ipv4.ttl - 1, hdr.ipv4.protocol });
        hdr.ipv4.checksum = sum.get();
        sum.clear();
        if (hdr.tcp.isValid()) {
            sum.subtract({ hdr.tcp.checksum, address, port });
            sum.add({ to.address, to.port });
            hdr.tcp.checksum = sum.get();
        } else if (hdr.udp.isValid()) {
            /* RFC 768: 0 means that there is none, and a sum of 0 is sent as 0xffff. */
            if (hdr.udp.checksum != 0) {
                sum.subtract({ hdr.udp.checksum, address, port });
                sum.add({ to.address, to.port });
                hdr.udp.checksum = sum.get();
                if (hdr.udp.checksum == 0) {
                    hdr.udp.checksum = 0xffff;
                }
            }
        } else {
            sum.subtract({ hdr.icmp.checksum, port });
            sum.add({ to.port });
            hdr.icmp.checksum = sum.get();
        }
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        address = to.address;
        port = to.port;
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        }
        if (!hdr.ipv4.isValid()) {
            drop(DROP_NOT_IPV4);
        }
        if (hdr.ipv4.version_ihl != 0x45 || hdr.ipv4.total_length < 20) {
            drop(DROP_HEADER);
        }
        sum.clear();
        sum.add(hdr.ipv4);
        if (sum.get() != 0) {
            drop(DROP_CHECKSUM);
        }
        if (hdr.ipv4.ttl <= 1) {
            drop(DROP_TTL);
        }
        if (hdr.ipv4.more_offset != 0) {
            drop(DROP_FRAGMENT);
        }
        if (hdr.tcp.isValid()) {
            bool ends = hdr.tcp.fin == 1 || hdr.tcp.rst == 1;
            bool answers = hdr.tcp.syn == 1 && hdr.tcp.ack == 1;

            changes = ends || answers;
            profile = answers && !ends ? EXPIRE_TCP : EXPIRE_TCP_TRANSITORY;
        } else if (hdr.icmp.isValid()) {
            profile = EXPIRE_ICMP;
            if (hdr.icmp.type != SelectByDirection(standard.direction, ICMP_ECHO_REPLY, ICMP_ECHO)) {
                drop(DROP_ICMP);
            }
        } else if (!hdr.udp.isValid()) {
            drop(DROP_PROTOCOL);
        }
        if (standard.direction == PNA_Direction_t.HOST_TO_NET) {
            inside = { hdr.ipv4.src, hdr.tcp.isValid() ? hdr.tcp.src : hdr.udp.isValid() ? hdr.udp.src : hdr.icmp.identifier };
            inside_known = true;
            /* Before there is a mapping: what has no route gets none. */
            routes.apply();
            if (outbound.apply().hit) {
                inbound.apply();
            } else {
                bit<32> start;

                pools.apply();
                start = hash.get_hash({ hdr.ipv4.protocol, inside.address, inside.port });
                outside.address = pool_address;
                for (bit<16> i = 0; i < PROBES && !mine && !full; i += 1) {
                    outside.port = pool_first + (start[15:0] + i & pool_mask);
                    inbound.apply();
                }
                if (mine) {
                    outside_known = true;
                    outbound.apply();
                }
            }
            if (full) {
                drop(DROP_TABLE);
            }
            if (!mine) {
                drop(DROP_PORTS);
            }
            if (hdr.tcp.isValid()) {
                rewrite(hdr.ipv4.src, hdr.tcp.src, outside);
            } else if (hdr.udp.isValid()) {
                rewrite(hdr.ipv4.src, hdr.udp.src, outside);
            } else {
                rewrite(hdr.ipv4.src, hdr.icmp.identifier, outside);
            }
        } else {
            outside = { hdr.ipv4.dst, hdr.tcp.isValid() ? hdr.tcp.dst : hdr.udp.isValid() ? hdr.udp.dst : hdr.icmp.identifier };
            outside_known = true;
            if (!inbound.apply().hit) {
                drop(DROP_NO_MAPPING);
            }
            outbound.apply();
            if (hdr.tcp.isValid()) {
                rewrite(hdr.ipv4.dst, hdr.tcp.dst, inside);
            } else if (hdr.udp.isValid()) {
                rewrite(hdr.ipv4.dst, hdr.udp.dst, inside);
            } else {
                rewrite(hdr.ipv4.dst, hdr.icmp.identifier, inside);
            }
            routes.apply();
        }
    }
}

control NatDeparser(packet_out packet, in headers_t hdr, in metadata_t meta, in pna_main_output_metadata_t output) {
    apply {
        packet.emit(hdr);
    }
}

PNA_NIC(NatParser(), NoPreparation(), Nat(), NatDeparser()) main;
