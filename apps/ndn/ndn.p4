/* A forwarder of named data: interests leave by the port given by the table of names (names of 32
 * bytes, 10 million of them).
 *
 * The papers state: one lookup in a hash table, by a URL of 32 bytes in the packet's headers.
 * Chosen:
 *   the packets   NDN's format (version 0.3) over Ethernet, type 0x8624: an Interest whose Name
 *                 holds NAME_BYTES bytes, with CanBePrefix, MustBeFresh, a Nonce and a HopLimit, in
 *                 this order. All but Name and Nonce may be missing. Parameters behind them pass as
 *                 they are.
 *   the match     the whole value of the Name, component headers included, is one exact key: no
 *                 prefix of a name is matched. -D NAME_BYTES=16 (ndn16.p4) has names of half the
 *                 size.
 *   the addresses stay: Ethernet faces send to the group address of NDN.
 *   the hop limit is counted down. 0 is dropped, and so is 1, for no application is here that it
 *                 could still be handed to.
 *   state         no pending interests and no store: Data and other packets are dropped. */
#include <core.p4>
#include <v1model.p4>

#ifndef NAME_BYTES
#define NAME_BYTES 32
#endif

const bit<16> TYPE_NDN = 0x8624;

/* Types of NDN's TLVs, all with a length of one byte. */
const bit<8> TLV_INTEREST = 0x05;
const bit<8> TLV_NAME = 0x07;
const bit<16> CAN_BE_PREFIX = 0x2100;
const bit<16> MUST_BE_FRESH = 0x1200;
const bit<16> NONCE = 0x0a04;
const bit<16> HOP_LIMIT = 0x2201;
const bit<16> PARAMETERS = 0x2400;

/* Bytes of the TLVs. */
const bit<8> NAME_TLV_BYTES = 2 + NAME_BYTES;
const bit<8> FLAG_TLV_BYTES = 2;
const bit<8> NONCE_TLV_BYTES = 6;
const bit<8> HOP_LIMIT_TLV_BYTES = 3;

/* Indices of `dropped`. */
const bit<32> DROP_SHORT = 0;
const bit<32> DROP_NOT_INTEREST = 1;
const bit<32> DROP_NAME = 2;
const bit<32> DROP_ELEMENT = 3;
const bit<32> DROP_HOP_LIMIT = 4;
const bit<32> DROP_NO_ROUTE = 5;
const bit<32> DROP_REASONS = 6;

error {
    NoInterest,
    NameLength,
    Element
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header interest_t {
    bit<8> type;
    bit<8> length;
}

header name_t {
    bit<8>                type;
    bit<8>                length;
    bit<(NAME_BYTES * 8)> value;
}

header flag_t {
    bit<16> tag;
}

header nonce_t {
    bit<16> tag;
    bit<32> value;
}

header hop_limit_t {
    bit<16> tag;
    bit<8>  value;
}

struct headers_t {
    ethernet_t  ethernet;
    interest_t  interest;
    name_t      name;
    flag_t      can_be_prefix;
    flag_t      must_be_fresh;
    nonce_t     nonce;
    hop_limit_t hop_limit;
}

struct metadata_t {
    /* Bytes of the interest that are not parsed yet. */
    bit<8> rest;
}

parser InterestParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_NDN: interest;
            default: accept;
        }
    }

    state interest {
        packet.extract(hdr.interest);
        verify(hdr.interest.type == TLV_INTEREST, error.NoInterest);
        verify(packet.lookahead<bit<16>>() == TLV_NAME ++ (bit<8>)NAME_BYTES, error.NameLength);
        packet.extract(hdr.name);
        /* Name and Nonce are the least; a longer length than one byte can express (253 and above) is none of these packets. */
        verify(hdr.interest.length >= NAME_TLV_BYTES + NONCE_TLV_BYTES && hdr.interest.length < 253, error.Element);
        meta.rest = hdr.interest.length - NAME_TLV_BYTES - NONCE_TLV_BYTES;
        transition select(packet.lookahead<bit<16>>()) {
            CAN_BE_PREFIX: can_be_prefix;
            MUST_BE_FRESH: must_be_fresh;
            default: nonce;
        }
    }

    state can_be_prefix {
        verify(meta.rest >= FLAG_TLV_BYTES, error.Element);
        meta.rest = meta.rest - FLAG_TLV_BYTES;
        packet.extract(hdr.can_be_prefix);
        transition select(packet.lookahead<bit<16>>()) {
            MUST_BE_FRESH: must_be_fresh;
            default: nonce;
        }
    }

    state must_be_fresh {
        verify(meta.rest >= FLAG_TLV_BYTES, error.Element);
        meta.rest = meta.rest - FLAG_TLV_BYTES;
        packet.extract(hdr.must_be_fresh);
        transition nonce;
    }

    state nonce {
        packet.extract(hdr.nonce);
        verify(hdr.nonce.tag == NONCE, error.Element);
        transition select(meta.rest) {
            0: accept;
            default: behind_nonce;
        }
    }

    state behind_nonce {
        transition select(packet.lookahead<bit<16>>()) {
            HOP_LIMIT: hop_limit;
            PARAMETERS &&& 0xff00: accept;
            default: unknown;
        }
    }

    state hop_limit {
        verify(meta.rest >= HOP_LIMIT_TLV_BYTES, error.Element);
        packet.extract(hdr.hop_limit);
        transition accept;
    }

    state unknown {
        verify(false, error.Element);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Forwarder(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(DROP_REASONS, CounterType.packets) dropped;

    action drop(bit<32> reason) {
        dropped.count(reason);
        mark_to_drop(standard);
    }

    action no_route() {
        drop(DROP_NO_ROUTE);
    }

    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    table names {
        key = {
            hdr.name.value : exact;
        }
        actions = {
            forward;
            no_route;
        }
        const default_action = no_route();
    }

    apply {
        if (standard.parser_error != error.NoError) {
            if (standard.parser_error == error.NoInterest) {
                drop(DROP_NOT_INTEREST);
            } else if (standard.parser_error == error.NameLength) {
                drop(DROP_NAME);
            } else if (standard.parser_error == error.Element) {
                drop(DROP_ELEMENT);
            } else {
                drop(DROP_SHORT);
            }
        } else if (!hdr.name.isValid()) {
            drop(DROP_NOT_INTEREST);
        } else if (hdr.hop_limit.isValid() && hdr.hop_limit.value <= 1) {
            drop(DROP_HOP_LIMIT);
        } else {
            if (hdr.hop_limit.isValid()) {
                hdr.hop_limit.value = hdr.hop_limit.value - 1;
            }
            names.apply();
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control InterestDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(InterestParser(), NoChecksum(), Forwarder(), NoEgress(), NoChecksum(), InterestDeparser()) main;
