/* A firewall on the wire: two ports joined in pairs, and an ordered list of rules over addresses, protocol and port ranges. The first rule
 * that matches decides; what no rule matches is denied. Every rule counts its packets and bytes. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<8> PROTOCOL_TCP = 6;
const bit<8> PROTOCOL_UDP = 17;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
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

/* The part that TCP and UDP have in common. */
header ports_t {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_t     ethernet;
    ipv4_t         ipv4;
    ipv4_options_t options;
    ports_t        ports;
}

struct metadata_t {
    bit<16> src_port;
    bit<16> dst_port;
}

parser FirewallParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.ParserInvalidArgument);
        verify(hdr.ipv4.ihl >= 5, error.HeaderTooShort);
        transition select(hdr.ipv4.ihl) {
            5: transport;
            default: options;
        }
    }

    state options {
        packet.extract(hdr.options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition transport;
    }

    state transport {
        transition select(hdr.ipv4.offset, hdr.ipv4.protocol) {
            (0, PROTOCOL_TCP): ports;
            (0, PROTOCOL_UDP): ports;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
        meta.src_port = hdr.ports.src;
        meta.dst_port = hdr.ports.dst;
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Firewall(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) matched;

    action cross(bit<9> port) {
        standard.egress_spec = port;
    }

    action permit() {
    }

    action deny() {
        mark_to_drop(standard);
    }

    table pairs {
        key = {
            standard.ingress_port : exact;
        }
        actions = {
            cross;
            deny;
        }
        size = 512;
        const default_action = deny();
    }

    table rules {
        key = {
            hdr.ipv4.src      : ternary;
            hdr.ipv4.dst      : ternary;
            hdr.ipv4.protocol : ternary;
            meta.src_port     : range;
            meta.dst_port     : range;
        }
        actions = {
            permit;
            deny;
        }
        counters = matched;
        size = 1024;
        default_action = deny();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            deny();
        } else {
            /* Only IPv4 is judged: ARP must pass for it to work at all. */
            if (pairs.apply().hit && hdr.ipv4.isValid()) {
                rules.apply();
            }
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control FirewallDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(FirewallParser(), NoChecksum(), Firewall(), NoEgress(), NoChecksum(), FirewallDeparser()) main;
