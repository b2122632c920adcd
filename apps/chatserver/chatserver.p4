/* A chat server in the switch: a message to the server goes to all members of its sender's room.
 * Six tables:
 *
 *   1 smac           known host, or learn
 *   2 routes         longest prefix -> port, or the server itself
 *   3 services       UDP port -> chat
 *   4 senders        sender -> room, and the network of its members
 *   5 egress_routes  for each copy: longest prefix -> next hop
 *   6 egress_switch  next hop -> the frame's addresses
 *
 * The paper states: UDP, two fields of the application (sender and room), the lookup of the sender
 * gives the room as the place to send to, and the buffer replicates by the members of the room: by
 * 4 (entries.stf), or by 64 (chatserver64_entries.stf). Chosen:
 *   the message   behind UDP: sender (32 bits), room (16 bits), text. A room other than the
 *                 sender's is refused.
 *   members       a room is a multicast group, and a member one of its replicas. The replica's
 *                 number, added to the room's network, is the member's address.
 *   a copy        comes from the server's address and the service's port, goes to the same port of
 *                 its member, and has a TTL of 64. UDP's checksum is brought up to date, not
 *                 computed anew: what was wrong stays wrong (RFC 1624). The sender gets none.
 *   the rest      what is not for the server is routed as by any router. Options and fragments are
 *                 for no chat. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_UDP = 17;
const bit<32> ETHERNET_BYTES = 14;
const bit<16> IPV4_BYTES = 20;
const bit<8> SERVER_TTL = 64;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_IPV4 = 1;
const bit<32> DROP_HEADER = 2;
const bit<32> DROP_CHECKSUM = 3;
const bit<32> DROP_ROUTE = 4;
const bit<32> DROP_TTL = 5;
const bit<32> DROP_NO_CHAT = 6;
const bit<32> DROP_SENDER = 7;
const bit<32> DROP_ROOM = 8;
const bit<32> DROP_REASONS = 9;

/* Indices of `egress_dropped`. */
const bit<32> DROP_OWN_COPY = 0;
const bit<32> DROP_EGRESS_ROUTE = 1;
const bit<32> DROP_NEXTHOP = 2;
const bit<32> DROP_EGRESS_REASONS = 3;

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

header udp_t {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

header chat_t {
    bit<32> sender;
    bit<16> room;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    udp_t      udp;
    chat_t     chat;
}

struct metadata_t {
    bool    local;
    bool    copied;
    bit<32> network;
    bit<16> nexthop;
}

/* What the control plane learns a host from. */
struct host_t {
    bit<48> address;
    bit<9>  port;
}

parser ChatParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
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
            (0x45, 0, PROTOCOL_UDP): udp;
            default: accept;
        }
    }

    state udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.length) {
            0 .. 13: accept;
            default: chat;
        }
    }

    /* Six bytes of any UDP packet: the tables decide whether they are a message. */
    state chat {
        packet.extract(hdr.chat);
        transition accept;
    }
}

control CheckHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version_ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.more_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ChatServer(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action learn() {
        digest<host_t>(1, { hdr.ethernet.src, standard.ingress_port });
    }

    action local() {
        meta.local = true;
    }

    action forward(bit<9> port) {
        if (hdr.ipv4.ttl <= 1) {
            drop(DROP_TTL);
        }
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        standard.egress_spec = port;
    }

    action no_route() {
        drop(DROP_ROUTE);
    }

    action serve() {
        meta.copied = true;
    }

    action no_chat() {
        drop(DROP_NO_CHAT);
    }

    action speak(bit<16> room, bit<32> network) {
        if (hdr.chat.room != room) {
            drop(DROP_ROOM);
        }
        standard.mcast_grp = room;
        meta.network = network;
    }

    action unknown_sender() {
        drop(DROP_SENDER);
    }

    table smac {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            NoAction;
            learn;
        }
        const default_action = learn();
    }

    table routes {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            local;
            forward;
            no_route;
        }
        const default_action = no_route();
    }

    table services {
        key = {
            hdr.udp.dst : exact;
        }
        actions = {
            serve;
            no_chat;
        }
        const default_action = no_chat();
    }

    table senders {
        key = {
            hdr.chat.sender : exact;
        }
        actions = {
            speak;
            unknown_sender;
        }
        const default_action = unknown_sender();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        }
        smac.apply();
        if (!hdr.ipv4.isValid()) {
            drop(DROP_NOT_IPV4);
        }
        if (hdr.ipv4.version_ihl != 0x45 || hdr.ipv4.total_length < IPV4_BYTES ||
            (bit<32>)hdr.ipv4.total_length > standard.packet_length - ETHERNET_BYTES) {
            drop(DROP_HEADER);
        }
        if (standard.checksum_error != 0) {
            drop(DROP_CHECKSUM);
        }
        routes.apply();
        if (meta.local) {
            if (!hdr.chat.isValid() || hdr.udp.length != hdr.ipv4.total_length - IPV4_BYTES) {
                drop(DROP_NO_CHAT);
            }
            services.apply();
            senders.apply();
        }
    }
}

control Copies(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_EGRESS_REASONS, CounterType.packets) egress_dropped;

    action drop(bit<32> reason) {
        egress_dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action set_nexthop(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    action no_route() {
        drop(DROP_EGRESS_ROUTE);
    }

    action rewrite(bit<48> dst, bit<48> src) {
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
    }

    action no_nexthop() {
        drop(DROP_NEXTHOP);
    }

    /* One word of what UDP's checksum covers becomes another: the sum of ~m + m' of RFC 1624. */
    action change(inout bit<32> sum, in bit<16> old, in bit<16> new) {
        sum = sum + (bit<32>)~old + (bit<32>)new;
    }

    /* From the server to a member. */
    action address(bit<32> member) {
        bit<32> sum = (bit<32>)~hdr.udp.checksum;

        change(sum, hdr.ipv4.src[31:16], hdr.ipv4.dst[31:16]);
        change(sum, hdr.ipv4.src[15:0], hdr.ipv4.dst[15:0]);
        change(sum, hdr.ipv4.dst[31:16], member[31:16]);
        change(sum, hdr.ipv4.dst[15:0], member[15:0]);
        change(sum, hdr.udp.src, hdr.udp.dst);
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        /* RFC 768: 0 means that there is none, and a sum of 0 is sent as 0xffff. */
        if (hdr.udp.checksum != 0) {
            hdr.udp.checksum = sum == 0xffff ? 16w0xffff : ~sum[15:0];
        }
        hdr.ipv4.src = hdr.ipv4.dst;
        hdr.ipv4.dst = member;
        hdr.ipv4.ttl = SERVER_TTL;
        hdr.udp.src = hdr.udp.dst;
    }

    table egress_routes {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            set_nexthop;
            no_route;
        }
        const default_action = no_route();
    }

    table egress_switch {
        key = {
            meta.nexthop : exact;
        }
        actions = {
            rewrite;
            no_nexthop;
        }
        const default_action = no_nexthop();
    }

    apply {
        if (meta.copied) {
            bit<32> member = meta.network + (bit<32>)standard.egress_rid;

            if (member == hdr.ipv4.src) {
                drop(DROP_OWN_COPY);
            }
            address(member);
        }
        egress_routes.apply();
        egress_switch.apply();
    }
}

control UpdateChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(),
            { hdr.ipv4.version_ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.more_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ChatDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(ChatParser(), CheckHeader(), ChatServer(), Copies(), UpdateChecksum(), ChatDeparser()) main;
