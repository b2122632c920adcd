// Ports of PNA have 32 bits: 511 is one like others, and those of more than 16 bits are no port's.

#include <core.p4>
#include <pna.p4>

header order_t { bit<32> to; }
struct headers_t { order_t order; }
struct user_t { }

parser ParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control PreImpl(in headers_t hdr, inout user_t user, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply { }
}

control MainImpl(inout headers_t hdr, inout user_t user, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    action to(PortId_t port) {
        send_to_port(port);
    }
    action mirror(PortId_t port) {
        mirror_packet((MirrorSlotId_t)0, (MirrorSessionId_t)2);
        send_to_port(port);
    }
    table ports {
        key = { hdr.order.to : exact; }
        actions = { to; mirror; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (!ports.apply().hit) {
            to(istd.input_port);
        }
    }
}

control DeparserImpl(packet_out packet, in headers_t hdr, in user_t user, in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.order);
    }
}

PNA_NIC(ParserImpl(), PreImpl(), MainImpl(), DeparserImpl()) main;
