// PNA: each packet that misses is learned, and answered with wide data of the default action, which is read before and after the insertion.

#include <core.p4>
#include <pna.p4>

header order_t {
    bit<32>  flow;
    bit<16>  added;
    bit<128> before;
    bit<128> behind;
}

struct headers_t {
    order_t order;
}

struct user_t {}

struct learned_t {
    bit<128> answer;
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
    action known(bit<128> answer) {
        hdr.order.behind = answer;
    }

    action learn(bit<128> answer) {
        hdr.order.before = answer + 1;
        learned_t data = { answer ^ (bit<128>)hdr.order.flow };
        hdr.order.added = add_entry("known", data, (ExpireTimeProfileId_t)1) ? 16w1 : 16w2;
        hdr.order.behind = answer + 2;
    }

    table flows {
        key = { hdr.order.flow: exact; }
        actions = { @tableonly known; @defaultonly learn; }
        add_on_miss = true;
        default_action = learn(0);
        size = 300000;
    }

    apply {
        send_to_port((PortId_t)3);
        flows.apply();
    }
}

control DeparserImpl(packet_out packet, in headers_t hdr, in user_t user, in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.order);
    }
}

PNA_NIC(ParserImpl(), PreImpl(), MainImpl(), DeparserImpl()) main;
