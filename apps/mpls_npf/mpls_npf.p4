/* A label switching router that pushes, swaps and pops stacks of up to three labels (NPF's MPLS
 * benchmark, which the paper measures).
 *
 * The paper states: one or more labels are attached, and the label is the index into the forwarding
 * table. NPF's tables and traffic are not public. Chosen:
 *   push          an IPv4 packet gets one, two or three labels by the longest prefix of its
 *                 destination (RFC 3031: FTN), or none: then it is routed.
 *   swap          a label is replaced (ILM), and one or two more may be pushed on it, up to three
 *                 in all.
 *   pop           at the last hop but one, what is below the label is sent as it is. At the last
 *                 hop, the label below is looked up next, and behind the last label the IPv4
 *                 packet is routed or gets labels again. That includes the explicit null label 0,
 *                 if an entry requires it.
 *   TTL           uniform model (RFC 3443): the outermost TTL, less one, is in whatever is
 *                 outermost afterwards; IPv4's checksum follows (RFC 1624).
 *   class         of pushed labels: that of the label below, or IPv4's precedence.
 *   payloads      other than IPv4 pass below labels, but are dropped once the last label is off.
 *                 IPv4 options pass unread.
 *   traffic       for measurements: push, swap and pop in equal shares, depths 1 to 3 in equal
 *                 shares. */
#include <core.p4>
#include <v1model.p4>

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_MPLS = 0x8847;
const bit<32> ETHERNET_BYTES = 14;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_DEPTH = 1;
const bit<32> DROP_NOT_IPV4 = 2;
const bit<32> DROP_HEADER = 3;
const bit<32> DROP_CHECKSUM = 4;
const bit<32> DROP_TTL = 5;
const bit<32> DROP_LABEL = 6;
const bit<32> DROP_ROUTE = 7;
const bit<32> DROP_NEXTHOP = 8;
const bit<32> DROP_REASONS = 9;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header mpls_t {
    bit<20> label;
    bit<3>  class;
    bit<1>  bottom;
    bit<8>  ttl;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
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

header ipv4_options_t {
    varbit<320> options;
}

struct headers_t {
    ethernet_t     ethernet;
    mpls_t[3]      labels;
    ipv4_t         ipv4;
    ipv4_options_t options;
}

struct metadata_t {
    bit<16> nexthop;
    bit<8>  ttl;
    bool    look_up;
    /* Whether the stack of labels ended in its bottom, and its bytes. */
    bool    complete;
    bit<32> stack_bytes;
}

parser LabelParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_MPLS: label;
            TYPE_IPV4: ipv4;
            default: accept;
        }
    }

    state label {
        packet.extract(hdr.labels.next);
        meta.stack_bytes = meta.stack_bytes + 4;
        transition select(hdr.labels.last.bottom) {
            0: label;
            1: payload;
        }
    }

    /* The type of a stack's payload is known by its first four bits only (RFC 4928). */
    state payload {
        meta.complete = true;
        transition select(packet.lookahead<bit<4>>()) {
            4: ipv4;
            default: accept;
        }
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

/* Of labelled packets, too: those whose last label comes off are routed. */
control CheckHeader(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && !hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.options.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.diffserv, hdr.ipv4.total_length, hdr.ipv4.identification, hdr.ipv4.flags_offset,
              hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.options },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control LabelRouter(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
        exit;
    }

    action swap(bit<20> label, bit<16> nexthop) {
        hdr.labels[0].label = label;
        hdr.labels[0].ttl = meta.ttl;
        meta.nexthop = nexthop;
    }

    action swap_and_push(bit<20> label, bit<20> outer, bit<16> nexthop) {
        if (hdr.labels[2].isValid()) {
            drop(DROP_DEPTH);
        }
        swap(label, nexthop);
        hdr.labels.push_front(1);
        hdr.labels[0] = { outer, hdr.labels[1].class, 0, meta.ttl };
    }

    action swap_and_push_two(bit<20> label, bit<20> middle, bit<20> outer, bit<16> nexthop) {
        if (hdr.labels[1].isValid()) {
            drop(DROP_DEPTH);
        }
        swap(label, nexthop);
        hdr.labels.push_front(2);
        hdr.labels[1] = { middle, hdr.labels[2].class, 0, meta.ttl };
        hdr.labels[0] = { outer, hdr.labels[2].class, 0, meta.ttl };
    }

    /* The last hop but one. */
    action pop(bit<16> nexthop) {
        if (hdr.labels[1].isValid()) {
            hdr.labels[1].ttl = meta.ttl;
        }
        hdr.labels.pop_front(1);
        meta.nexthop = nexthop;
    }

    /* The last hop: what is below is looked up. */
    action pop_and_look_up() {
        hdr.labels.pop_front(1);
        meta.look_up = true;
    }

    action unknown_label() {
        drop(DROP_LABEL);
    }

    action forward(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    action push(bit<20> label, bit<16> nexthop) {
        hdr.labels.push_front(1);
        hdr.labels[0] = { label, hdr.ipv4.diffserv[7:5], 1, meta.ttl };
        meta.nexthop = nexthop;
    }

    action push_two(bit<20> inner, bit<20> outer, bit<16> nexthop) {
        push(inner, nexthop);
        hdr.labels.push_front(1);
        hdr.labels[0] = { outer, hdr.ipv4.diffserv[7:5], 0, meta.ttl };
    }

    action push_three(bit<20> inner, bit<20> middle, bit<20> outer, bit<16> nexthop) {
        push_two(inner, middle, nexthop);
        hdr.labels.push_front(1);
        hdr.labels[0] = { outer, hdr.ipv4.diffserv[7:5], 0, meta.ttl };
    }

    action no_route() {
        drop(DROP_ROUTE);
    }

    action send(bit<9> port, bit<48> dst, bit<48> src) {
        standard.egress_spec = port;
        hdr.ethernet.dst = dst;
        hdr.ethernet.src = src;
    }

    action no_nexthop() {
        drop(DROP_NEXTHOP);
    }

    table ilm {
        key = {
            hdr.labels[0].label : exact;
        }
        actions = {
            swap;
            swap_and_push;
            swap_and_push_two;
            pop;
            pop_and_look_up;
            unknown_label;
        }
        const default_action = unknown_label();
    }

    table ftn {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            forward;
            push;
            push_two;
            push_three;
            no_route;
        }
        const default_action = no_route();
    }

    table nexthops {
        key = {
            meta.nexthop : exact;
        }
        actions = {
            send;
            no_nexthop;
        }
        const default_action = no_nexthop();
    }

    /* The TTL of an IPv4 packet without labels, and RFC 1624's HC' = ~(~HC + ~m + m') for the word that it is in. */
    action set_ttl() {
        bit<32> sum = (bit<32>)~hdr.ipv4.checksum + (bit<32>)~(hdr.ipv4.ttl ++ hdr.ipv4.protocol) + (bit<32>)(meta.ttl ++ hdr.ipv4.protocol);

        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        hdr.ipv4.checksum = ~sum[15:0];
        hdr.ipv4.ttl = meta.ttl;
    }

    apply {
        if (standard.parser_error == error.StackOutOfBounds) {
            drop(DROP_DEPTH);
        }
        /* What labels carry is no business of theirs, unless the last one comes off. */
        if (standard.parser_error != error.NoError && !meta.complete) {
            drop(DROP_SHORT);
        }
        if (hdr.labels[0].isValid()) {
            meta.ttl = hdr.labels[0].ttl;
        } else if (hdr.ipv4.isValid()) {
            meta.ttl = hdr.ipv4.ttl;
        } else {
            drop(DROP_NOT_IPV4);
        }
        if (meta.ttl <= 1) {
            drop(DROP_TTL);
        }
        meta.ttl = meta.ttl - 1;
        meta.look_up = true;
        for (bit<32> i = 0; i < 3 && meta.look_up && hdr.labels[0].isValid(); i += 1) {
            meta.look_up = false;
            ilm.apply();
        }
        if (!hdr.labels[0].isValid()) {
            if (standard.parser_error != error.NoError) {
                drop(DROP_SHORT);
            }
            if (!hdr.ipv4.isValid()) {
                drop(DROP_NOT_IPV4);
            }
            if (hdr.ipv4.version != 4 || hdr.ipv4.ihl < 5 || hdr.ipv4.total_length < (bit<16>)hdr.ipv4.ihl * 4 ||
                (bit<32>)hdr.ipv4.total_length > standard.packet_length - ETHERNET_BYTES - meta.stack_bytes) {
                drop(DROP_HEADER);
            }
            if (standard.checksum_error != 0) {
                drop(DROP_CHECKSUM);
            }
            set_ttl();
            if (meta.look_up) {
                ftn.apply();
            }
        }
        nexthops.apply();
        hdr.ethernet.type = hdr.labels[0].isValid() ? TYPE_MPLS : TYPE_IPV4;
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

control LabelDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(LabelParser(), CheckHeader(), LabelRouter(), NoEgress(), NoUpdate(), LabelDeparser()) main;
