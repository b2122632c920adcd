// PNA: verdicts, mirroring, recirculation and directions.

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

struct user_t {
    bit<8> prepared;
}

parser ParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in pna_main_parser_input_metadata_t istd) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control PreImpl(in headers_t hdr, inout user_t user, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply {
        // After the parser, before the main control, on the same metadata.
        user.prepared = hdr.order.flow;
    }
}

control MainImpl(inout headers_t hdr, inout user_t user, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    // What such a function takes is known at compile time, or the data of an action, which the program may call with anything.
    action send(PortId_t to) {
        send_to_port(to);
    }

    action mirror(MirrorSlotId_t slot) {
        mirror_packet(slot, (MirrorSessionId_t)2);
    }

    apply {
        PortId_t port = (PortId_t)(bit<32>)hdr.order.port;
        if (hdr.order.command == 2) {
            drop_packet();
            send(port);
        } else if (hdr.order.command == 3) {
            send(port);
            drop_packet();
        } else if (hdr.order.command == 4) {
            send(port);
            if ((PassNumberUint_t)istd.pass < 3) {
                hdr.order.seen = hdr.order.seen + 1;
                recirculate();
            }
        } else if (hdr.order.command == 5) {
            // Copies are of what the deparser makes, also where the packet itself is dropped.
            mirror_packet((MirrorSlotId_t)0, (MirrorSessionId_t)9);
            mirror_packet((MirrorSlotId_t)0, (MirrorSessionId_t)1);
            mirror((MirrorSlotId_t)(MirrorSlotIdUint_t)hdr.order.flow);
            hdr.order.seen = 0x55;
            drop_packet();
        } else if (hdr.order.command == 6) {
            hdr.order.seen = SelectByDirection(istd.direction, 8w1, 8w2);
            send(port);
        } else if (hdr.order.command == 7) {
            hdr.order.seen = user.prepared;
            hdr.order.flow = (bit<8>)(bit<32>)allocate_flow_id();
            send(port);
        }
    }
}

control DeparserImpl(packet_out packet, in headers_t hdr, in user_t user, in pna_main_output_metadata_t ostd) {
    apply {
        packet.emit(hdr.order);
    }
}

PNA_NIC(ParserImpl(), PreImpl(), MainImpl(), DeparserImpl()) main;
