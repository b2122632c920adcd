// PSA 1.2, 7.6: a checksum object is cleared whenever the parser or control that has it is applied.

#include <core.p4>
#include <psa.p4>

header one_t {
    bit<8> last;
    bit<8> value;
}

header shown_t {
    bit<16> parsed;
    bit<16> first;
    bit<16> second;
    bit<16> looped;
}

struct headers_t {
    one_t[4] ones;
    shown_t shown;
}

struct user_t {
    bit<16> parsed;
}

struct empty_t {}

parser Adds(packet_in packet, in bit<8> value, inout bit<16> into) {
    InternetChecksum() sum;
    state start {
        sum.add({ 8w0, value });
        into = into + sum.get_state();
        transition accept;
    }
}

control Sums(in bit<8> value, out bit<16> into) {
    InternetChecksum() sum;
    Checksum<bit<8>>(PSA_HashAlgorithm_t.IDENTITY) same;
    apply {
        sum.add({ 8w0, value });
        same.update(value);
        into = sum.get_state() + ((bit<16>) same.get() << 8);
    }
}

control Counts(inout bit<16> into) {
    InternetChecksum() sum;
    apply {
        sum.add(16w1);
        into = into + sum.get_state();
    }
}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_ingress_parser_input_metadata_t istd,
                         in empty_t resubmitted, in empty_t recirculated) {
    Adds() adds;
    state start {
        packet.extract(hdr.ones.next);
        adds.apply(packet, hdr.ones.last.value, user.parsed);
        transition select(hdr.ones.last.last) {
            0: start;
            default: accept;
        }
    }
}

control IngressImpl(inout headers_t hdr, inout user_t user, in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    Sums() sums;
    Counts() counts;
    apply {
        hdr.shown.setValid();
        hdr.shown.parsed = user.parsed;
        sums.apply(hdr.ones[0].value, hdr.shown.first);
        sums.apply(hdr.ones[1].value, hdr.shown.second);
        hdr.shown.looped = 0;
        for (bit<8> i in 8w1 .. hdr.ones[0].value) {
            counts.apply(hdr.shown.looped);
        }
        send_to_port(ostd, (PortId_t) 1);
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t resubmitted, out empty_t normal,
                            inout headers_t hdr, in user_t user, in psa_ingress_output_metadata_t istd) {
    apply {
        packet.emit(hdr.shown);
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
