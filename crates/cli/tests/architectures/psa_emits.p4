// A header leaves as it is when it is emitted, whatever the deparser writes into it then.

#include <core.p4>
#include <psa.p4>

header tag_t {
    bit<8> value;
}

struct headers_t {
    tag_t first;
    tag_t second;
}

struct empty_t {}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout empty_t user, in psa_ingress_parser_input_metadata_t istd,
                         in empty_t resubmitted, in empty_t recirculated) {
    state start {
        packet.extract(hdr.first);
        packet.extract(hdr.second);
        transition accept;
    }
}

control IngressImpl(inout headers_t hdr, inout empty_t user, in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    apply {
        send_to_port(ostd, (PortId_t)1);
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t resubmitted, out empty_t normal,
                            inout headers_t hdr, in empty_t user, in psa_ingress_output_metadata_t istd) {
    apply {
        hdr.second.value = hdr.second.value + 1;
        packet.emit(hdr.first);
        hdr.first.value = 0xee;
        packet.emit(hdr.second);
    }
}

parser EgressParserImpl(packet_in packet, out headers_t hdr, inout empty_t user, in psa_egress_parser_input_metadata_t istd,
                        in empty_t normal, in empty_t from_ingress, in empty_t from_egress) {
    state start {
        transition accept;
    }
}

control EgressImpl(inout headers_t hdr, inout empty_t user, in psa_egress_input_metadata_t istd,
                   inout psa_egress_output_metadata_t ostd) {
    apply {
    }
}

control EgressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t recirculated, inout headers_t hdr, in empty_t user,
                           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
    }
}

IngressPipeline(IngressParserImpl(), IngressImpl(), IngressDeparserImpl()) ip;
EgressPipeline(EgressParserImpl(), EgressImpl(), EgressDeparserImpl()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
