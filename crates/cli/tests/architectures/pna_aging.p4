// Entries that packets insert, and that are deleted when no packet has restarted their timer for the time of their profile.
#include <core.p4>
#include <pna.p4>

header order_t {
    bit<8> command;
    bit<8> port;
    bit<8> flow;
    bit<8> seen;
}

struct headers_t {
    order_t order;
}

struct user_t {}

struct learnt_t {
    bit<8> port;
    bit<8> seen;
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control PreImpl(in headers_t hdr, inout user_t user, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply {}
}

control MainImpl(inout headers_t hdr, inout user_t user, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    bool added = false;

    // What such a function takes is known at compile time, or the data of an action, which the program may call with anything.
    action send(PortId_t to) {
        send_to_port(to);
    }

    // A hit alone restarts nothing. `seen` selects what to do: 1 restarts, 2 changes the profile to 3.
    action forward(bit<8> port, bit<8> seen) {
        set_entry_expire_time_if(hdr.order.seen == 2, (ExpireTimeProfileId_t)3);
        if (hdr.order.seen == 1) {
            restart_expire_timer();
        }
        hdr.order.seen = seen;
        send_to_port((PortId_t)(bit<32>)port);
    }

    action learn() {
        learnt_t data = { hdr.order.port, 0x11 };
        added = add_entry("forward", data, (ExpireTimeProfileId_t)1);
        hdr.order.seen = added ? 8w0xaa : 8w0xbb;
        send((PortId_t)(bit<32>)hdr.order.port);
    }

    table flows {
        key = { hdr.order.flow: exact; }
        actions = { @tableonly forward; @defaultonly learn; }
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
        size = 2;
        const default_action = learn;
    }

    apply {
        flows.apply();
    }
}

control DeparserImpl(packet_out packet, in headers_t hdr, in user_t user, in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.order);
    }
}

PNA_NIC(ParserImpl(), PreImpl(), MainImpl(), DeparserImpl()) main;
