// Every path of a packet through PSA, with metadata that goes along: the command in the packet chooses one, the egress reports it.

#include <core.p4>
#include <psa.p4>

header order_t {
    bit<8> command;
    bit<8> port;
    bit<8> path;
    bit<8> seen;
}

header tag_t {
    bit<8> value;
}

struct headers_t {
    order_t order;
}

struct user_t {
    bit<8> seen;
}

struct number_t {
    bit<8> value;
}

struct tagged_t {
    tag_t tag;
}

struct empty_t {}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_ingress_parser_input_metadata_t istd,
                         in number_t resubmitted, in number_t recirculated) {
    state start {
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: from_resubmit;
            PSA_PacketPath_t.RECIRCULATE: from_recirculate;
            default: order;
        }
    }
    state from_resubmit {
        user.seen = resubmitted.value;
        transition order;
    }
    state from_recirculate {
        user.seen = recirculated.value;
        transition order;
    }
    state order {
        packet.extract(hdr.order);
        transition accept;
    }
}

control IngressImpl(inout headers_t hdr, inout user_t user, in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    apply {
        PortId_t port = (PortId_t)(bit<32>)hdr.order.port;
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT || istd.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            hdr.order.seen = user.seen;
            if (istd.ingress_port == PSA_PORT_RECIRCULATE) {
                hdr.order.seen = hdr.order.seen + 1;
            }
            send_to_port(ostd, port);
        } else if (hdr.order.command == 0) {
            send_to_port(ostd, port);
        } else if (hdr.order.command == 1) {
            send_to_port(ostd, port);
            ostd.resubmit = true;
        } else if (hdr.order.command == 2) {
            send_to_port(ostd, PSA_PORT_RECIRCULATE);
        } else if (hdr.order.command == 3) {
            // Dropped, but cloned all the same: the clone has the bytes that came in.
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t)5;
            hdr.order.seen = 0xee;
        } else if (hdr.order.command == 4) {
            send_to_port(ostd, port);
        } else if (hdr.order.command == 5) {
            ostd.class_of_service = (ClassOfService_t)9;
            multicast(ostd, (MulticastGroup_t)1);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out tagged_t cloned, out number_t resubmitted, out empty_t normal,
                            inout headers_t hdr, in user_t user, in psa_ingress_output_metadata_t istd) {
    apply {
        if (psa_clone_i2e(istd)) {
            cloned.tag.setValid();
            cloned.tag.value = 0x33;
        }
        if (psa_resubmit(istd)) {
            resubmitted.value = 0x5a;
        }
        packet.emit(hdr.order);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_egress_parser_input_metadata_t istd,
                        in empty_t normal, in tagged_t from_ingress, in number_t from_egress) {
    state start {
        packet.extract(hdr.order);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: cloned_i2e;
            PSA_PacketPath_t.CLONE_E2E: cloned_e2e;
            default: accept;
        }
    }
    state cloned_i2e {
        user.seen = from_ingress.tag.isValid() ? from_ingress.tag.value : 0;
        transition accept;
    }
    state cloned_e2e {
        user.seen = from_egress.value;
        transition accept;
    }
}

control EgressImpl(inout headers_t hdr, inout user_t user, in psa_egress_input_metadata_t istd,
                   inout psa_egress_output_metadata_t ostd) {
    apply {
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST) {
            hdr.order.path = 1;
            ostd.clone = hdr.order.command == 4;
            ostd.clone_session_id = (CloneSessionId_t)6;
        } else if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) {
            hdr.order.path = 0x20 | (bit<8>)(bit<16>)istd.instance;
            hdr.order.seen = (bit<8>)istd.class_of_service;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_I2E) {
            hdr.order.path = 3;
            hdr.order.seen = hdr.order.seen + user.seen;
        } else if (istd.packet_path == PSA_PacketPath_t.CLONE_E2E) {
            hdr.order.path = hdr.order.path + 0x40;
            hdr.order.seen = user.seen;
        }
        if (hdr.order.port == 7) {
            egress_drop(ostd);
        }
    }
}

control EgressDeparserImpl(packet_out packet, out number_t cloned, out number_t recirculated, inout headers_t hdr, in user_t user,
                           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        if (psa_clone_e2e(istd)) {
            cloned.value = 0x44;
        }
        if (psa_recirculate(istd, edstd)) {
            recirculated.value = 0x77;
            hdr.order.command = 0;
        }
        packet.emit(hdr.order);
    }
}

IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
