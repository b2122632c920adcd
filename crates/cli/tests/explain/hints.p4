/* The programmer's hints about its traffic are macros: of packets from outside, of IPv6, of who is known. */
#include <core.p4>
#include <v1model.p4>

#ifndef OUTSIDE
#define OUTSIDE
#endif
#ifndef SIX
#define SIX
#endif
#ifndef KNOWN
#define KNOWN
#endif

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header ipv4_t {
    bit<96> rest;
    bit<32> src;
    bit<32> dst;
}

header ipv6_t {
    bit<64>  rest;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
}

struct metadata_t {
}

parser HintsParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: four;
            0x86dd: six;
        }
    }

    state four {
        packet.extract(hdr.ipv4);
        transition accept;
    }

    SIX state six {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control NoChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
    }
}

control Hints(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) {
        standard.egress_spec = port;
    }

    action inside() {
    }

    OUTSIDE action outside() {
    }

    action unknown() {
        mark_to_drop(standard);
    }

    table sides {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            inside;
            outside;
            @defaultonly unknown;
        }
        size = 100000;
        const default_action = unknown();
    }

    table near {
        key = {
            hdr.ipv4.dst : exact;
        }
        actions = {
            forward;
        }
        size = 100000;
        default_action = forward(0);
    }

    table far {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            forward;
        }
        size = 100000;
        default_action = forward(0);
    }

    KNOWN table known {
        key = {
            hdr.ethernet.src : exact;
        }
        actions = {
            NoAction;
        }
        size = 100000;
        const default_action = NoAction();
    }

    table routes {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            forward;
        }
        size = 100000;
        default_action = forward(0);
    }

    table strangers {
        key = {
            hdr.ipv6.src : exact;
        }
        actions = {
            forward;
        }
        size = 100000;
        default_action = forward(0);
    }

    apply {
        if (hdr.ipv4.isValid()) {
            switch (sides.apply().action_run) {
                inside: {
                    near.apply();
                }
                outside: {
                    far.apply();
                }
            }
        } else if (hdr.ipv6.isValid()) {
            if (known.apply().hit) {
                routes.apply();
            } else {
                strangers.apply();
            }
        }
    }
}

control NoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
    }
}

control HintsDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

V1Switch(HintsParser(), NoChecksum(), Hints(), NoEgress(), NoChecksum(), HintsDeparser()) main;
