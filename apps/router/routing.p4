/* The IPv4 router of router.p4 and of ids_router.p4, in two controls: `Ipv4Check` judges what came
 * in, `Ipv4Route` sends it on. Each ends the packet's way by `exit` where it drops it, answers it,
 * or hands it to the host. */

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_ARP = 0x0806;
const bit<32> ETHERNET_BYTES = 14;
const bit<9> HOST_PORT = 255;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_IPV4 = 1;
const bit<32> DROP_INTERFACE = 2;
const bit<32> DROP_OTHER_HOST = 3;
const bit<32> DROP_ARP = 4;
const bit<32> DROP_HEADER = 5;
const bit<32> DROP_CHECKSUM = 6;
const bit<32> DROP_SOURCE = 7;
const bit<32> DROP_DESTINATION = 8;
const bit<32> DROP_BROADCAST = 9;
const bit<32> DROP_REASONS = 10;

/* Why the host gets a packet. */
const bit<16> HOST_LOCAL = 0;
const bit<16> HOST_ARP_REPLY = 1;
const bit<16> HOST_OPTIONS = 2;
const bit<16> HOST_TTL = 3;
const bit<16> HOST_NO_ROUTE = 4;
const bit<16> HOST_NEIGHBOUR = 5;
const bit<16> HOST_MTU = 6;

/* In front of a packet for the host. */
header host_t {
    bit<16> reason;
    bit<16> port;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header arp_t {
    bit<16> hardware;
    bit<16> protocol;
    bit<8>  hardware_bytes;
    bit<8>  protocol_bytes;
    bit<16> operation;
    bit<48> sender_mac;
    bit<32> sender;
    bit<48> target_mac;
    bit<32> target;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  diffserv;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv4_options_t {
    varbit<320> options;
}

/* In ones' complement 0xffff is 0, too: what a receiver that sums (RFC 1071) accepts, a comparison must. UDP (RFC 768) always sends 0 so. */
bit<16> one_zero(in bit<16> checksum) {
    return checksum == 0xffff ? 0 : checksum;
}

control Ipv4Check(inout ethernet_t ethernet, inout arp_t arp, inout ipv4_t ipv4, inout host_t host, inout standard_metadata_t standard)
                 (counter dropped) {
    bit<48> mac = 0;
    bit<32> address = 0;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action to_host(bit<16> reason) {
        host = { reason, (bit<16>)standard.ingress_port };
        standard.egress_spec = HOST_PORT;
        exit;
    }

    action own(bit<48> own_mac, bit<32> own_address) {
        mac = own_mac;
        address = own_address;
    }

    action no_interface() {
        drop(DROP_INTERFACE);
    }

    action answer() {
        ethernet.dst = arp.sender_mac;
        ethernet.src = mac;
        arp.operation = 2;
        arp.target_mac = arp.sender_mac;
        arp.target = arp.sender;
        arp.sender_mac = mac;
        arp.sender = address;
        standard.egress_spec = standard.ingress_port;
        exit;
    }

    table interfaces {
        key = {
            standard.ingress_port : exact;
        }
        actions = {
            own;
            no_interface;
        }
        size = 512;
        const default_action = no_interface();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            drop(DROP_SHORT);
        }
        interfaces.apply();
        if (ethernet.dst != mac && ethernet.dst[40:40] == 0) {
            drop(DROP_OTHER_HOST);
        }
        if (arp.isValid()) {
            if (arp.hardware != 1 || arp.protocol != TYPE_IPV4 || arp.hardware_bytes != 6 || arp.protocol_bytes != 4 || arp.target != address) {
                drop(DROP_ARP);
            }
            switch (arp.operation) {
                1: {
                    answer();
                }
                2: {
                    to_host(HOST_ARP_REPLY);
                }
                default: {
                    drop(DROP_ARP);
                }
            }
        }
        if (!ipv4.isValid()) {
            drop(DROP_NOT_IPV4);
        }
        if (ipv4.version != 4 || ipv4.ihl < 5 || ipv4.total_length < (bit<16>)ipv4.ihl * 4 ||
            (bit<32>)ipv4.total_length > standard.packet_length - ETHERNET_BYTES) {
            drop(DROP_HEADER);
        }
        if (standard.checksum_error != 0) {
            drop(DROP_CHECKSUM);
        }
        /* RFC 1812, 5.3.7: none of "this network", loopback, multicast, class E and broadcast is a sender. */
        if (ipv4.src[31:24] == 0 || ipv4.src[31:24] == 127 || ipv4.src[31:29] == 7) {
            drop(DROP_SOURCE);
        }
    }
}

control Ipv4Route(inout ethernet_t ethernet, inout ipv4_t ipv4, inout host_t host, inout standard_metadata_t standard)(counter dropped) {
    bit<9> port = 0;
    bit<32> nexthop = 0;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action to_host(bit<16> reason) {
        host = { reason, (bit<16>)standard.ingress_port };
        standard.egress_spec = HOST_PORT;
        exit;
    }

    /* One of the router's own addresses, or a broadcast address of its networks. */
    action local() {
        to_host(HOST_LOCAL);
    }

    /* A network on a port: the destination is the next hop. */
    action connected(bit<9> to) {
        port = to;
        nexthop = ipv4.dst;
    }

    action via(bit<9> to, bit<32> gateway) {
        port = to;
        nexthop = gateway;
    }

    action no_route() {
        to_host(HOST_NO_ROUTE);
    }

    action send(bit<48> dst, bit<48> src, bit<16> mtu) {
        bit<17> sum = (bit<17>)ipv4.checksum + 0x100;

        if (ipv4.total_length > mtu) {
            to_host(HOST_MTU);
        }
        standard.egress_spec = port;
        ethernet.dst = dst;
        ethernet.src = src;
        ipv4.ttl = ipv4.ttl - 1;
        /* RFC 1624: one less in the upper byte of a word is 0x100 more in the checksum, with the carry brought round. */
        ipv4.checksum = (bit<16>)(sum >= 0xffff ? sum + 1 : sum);
    }

    action unknown_neighbour() {
        to_host(HOST_NEIGHBOUR);
    }

    table routes {
        key = {
            ipv4.dst : lpm;
        }
        actions = {
            local;
            connected;
            via;
            no_route;
        }
        const default_action = no_route();
    }

    table neighbours {
        key = {
            port    : exact;
            nexthop : exact;
        }
        actions = {
            send;
            unknown_neighbour;
        }
        const default_action = unknown_neighbour();
    }

    apply {
        /* Multicast is not routed, and no packet leaves for this host, this network or class E. The limited broadcast is for `local`. */
        if (ipv4.dst[31:24] == 0 || ipv4.dst[31:24] == 127 || (ipv4.dst[31:29] == 7 && ipv4.dst != 0xffffffff)) {
            drop(DROP_DESTINATION);
        }
        routes.apply();
        /* RFC 1812, 5.3.4: what came as a broadcast of the link is for the router itself, or is dropped. */
        if (ethernet.dst[40:40] == 1) {
            drop(DROP_BROADCAST);
        }
        if (ipv4.ttl <= 1) {
            to_host(HOST_TTL);
        }
        if (ipv4.ihl != 5) {
            to_host(HOST_OPTIONS);
        }
        neighbours.apply();
    }
}
