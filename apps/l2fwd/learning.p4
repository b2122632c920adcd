/* The Ethernet bridge without a controller: it learns in the data plane, by PNA's add-on-miss. A source that is not known is added to the table of hosts with
 * its port, by the packet that brings it, and is forgotten when it has sent nothing for a minute. A host that has moved is learned at its new port then.
 * Frames to unknown destinations are dropped and counted, as in l2fwd.p4. */
#include <core.p4>
#include <pna.p4>

/* Of the profiles of expiry: sixty seconds. */
const ExpireTimeProfileId_t MINUTE = (ExpireTimeProfileId_t)2;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    ethernet_t ethernet;
}

/* Each packet looks two addresses up: first its source's, then its destination's. */
struct lookup_t {
    bit<48> address;
    bool    is_source;
}

struct host_t {
    PortId_t port;
}

parser FrameParser(packet_in packet, out headers_t hdr, inout lookup_t lookup, in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control NoPre(in headers_t hdr, inout lookup_t lookup, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply {
    }
}

control Bridge(inout headers_t hdr, inout lookup_t lookup, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    /* A source at another port than the one that is known does not keep the entry alive. */
    action forward(PortId_t port) {
        if (!lookup.is_source) {
            send_to_port(port);
        } else if (port == istd.input_port) {
            restart_expire_timer();
        }
    }

    action miss() {
        if (lookup.is_source) {
            host_t host = { istd.input_port };
            add_entry("forward", host, MINUTE);
        } else {
            drop_packet();
        }
    }

    table hosts {
        key = {
            lookup.address : exact;
        }
        actions = {
            @tableonly forward;
            @defaultonly miss;
        }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
        const default_action = miss;
        size = 65536;
    }

    apply {
        if (!hdr.ethernet.isValid()) {
            drop_packet();
            return;
        }
        lookup.address = hdr.ethernet.src;
        lookup.is_source = true;
        hosts.apply();
        lookup.address = hdr.ethernet.dst;
        lookup.is_source = false;
        hosts.apply();
    }
}

control FrameDeparser(packet_out packet, in headers_t hdr, in lookup_t lookup, in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

PNA_NIC(FrameParser(), NoPre(), Bridge(), FrameDeparser()) main;
