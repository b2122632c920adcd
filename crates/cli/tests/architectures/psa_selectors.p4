// PSA's action selector: members, groups and the hash of the `selector` keys, with the width that the constructor gives.

#include <core.p4>
#include <psa.p4>

header flow_t {
    bit<8>  kind;
    bit<16> source;
    bit<8>  mark;
}

struct headers_t {
    flow_t flow;
}

struct user_t {}
struct empty_t {}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_ingress_parser_input_metadata_t istd,
                         in empty_t resubmitted, in empty_t recirculated) {
    state start {
        packet.extract(hdr.flow);
        transition accept;
    }
}

control IngressImpl(inout headers_t hdr, inout user_t user, in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 32w64, 32w10) paths;

    action send(PortId_t port, bit<8> mark) {
        send_to_port(ostd, port);
        hdr.flow.mark = mark;
    }
    action drop() {
        ingress_drop(ostd);
    }

    table spread {
        key = {
            hdr.flow.kind: exact;
            hdr.flow.source: selector;
        }
        actions = { send; drop; }
        psa_implementation = paths;
        psa_empty_group_action = send((PortId_t)32w6, 0x66);
    }

    // Without a word on empty groups they do nothing, and nothing is not among the actions.
    table silent {
        key = {
            hdr.flow.source: exact;
            hdr.flow.kind: selector;
        }
        actions = { send; drop; }
        default_action = send((PortId_t)32w5, 0x55);
        psa_implementation = paths;
    }

    apply {
        ostd.drop = false;
        if (hdr.flow.mark == 1) {
            switch (silent.apply().action_run) {
                drop: { hdr.flow.kind = 0xdd; }
                send: { hdr.flow.kind = 0xcc; }
                default: { send_to_port(ostd, (PortId_t)32w7); }
            }
        } else if (!spread.apply().hit) {
            send_to_port(ostd, (PortId_t)32w9);
        }
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t resubmitted, out empty_t normal, inout headers_t hdr,
                            in user_t user, in psa_ingress_output_metadata_t istd) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_egress_parser_input_metadata_t istd,
                        in empty_t normal, in empty_t from_ingress, in empty_t from_egress) {
    state start {
        transition accept;
    }
}

control EgressImpl(inout headers_t hdr, inout user_t user, in psa_egress_input_metadata_t istd,
                   inout psa_egress_output_metadata_t ostd) {
    apply {}
}

control EgressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t recirculated, inout headers_t hdr, in user_t user,
                           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {}
}

IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
