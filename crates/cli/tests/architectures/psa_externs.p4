// The externs of PSA: what they compute, count and remember comes back in the packet.

#include <core.p4>
#include <psa.p4>

header request_t {
    bit<8> command;
    bit<8> index;
    bit<16> data;
    bit<32> result;
}

struct headers_t {
    request_t request;
}

struct user_t {
    bit<16> checksum;
    bool learn;
}

struct learnt_t {
    bit<8> command;
    bit<16> data;
}

struct empty_t {}

parser IngressParserImpl(packet_in packet, out headers_t hdr, inout user_t user, in psa_ingress_parser_input_metadata_t istd,
                         in empty_t resubmitted, in empty_t recirculated) {
    InternetChecksum() checksum;

    state start {
        packet.extract(hdr.request);
        checksum.clear();
        checksum.add({ hdr.request.command, hdr.request.index, hdr.request.data });
        checksum.subtract(hdr.request.data);
        checksum.add(16w1);
        user.checksum = checksum.get();
        transition accept;
    }
}

control IngressImpl(inout headers_t hdr, inout user_t user, in psa_ingress_input_metadata_t istd,
                    inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(16, PSA_CounterType_t.PACKETS_AND_BYTES) requests;
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) hits;
    Meter<bit<8>>(16, PSA_MeterType_t.PACKETS) meter;
    Register<bit<32>, bit<8>>(4, 32w0x1000) memory;
    Register<bit<32>, bit<8>>(4) plain;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc16;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc32;
    Checksum<bit<32>>(PSA_HashAlgorithm_t.CRC32) incremental;
    Random<bit<32>>(5, 5) five;
    ActionProfile(8) profile;

    action quiet() {}

    action counted(bit<32> result) {
        hits.count();
        hdr.request.result = result;
    }

    table direct {
        key = { hdr.request.index: exact; }
        actions = { quiet; counted; }
        default_action = quiet();
        psa_direct_counter = hits;
    }

    action counted_by_profile(bit<32> result) {
        hdr.request.result = result;
    }

    table profiled {
        key = { hdr.request.index: exact; }
        actions = { quiet; counted_by_profile; }
        psa_implementation = profile;
    }

    apply {
        bit<8> command = hdr.request.command;
        bit<8> index = hdr.request.index;
        requests.count(command);
        if (command == 1) {
            hdr.request.result = memory.read(index);
            memory.write(index, hdr.request.result + 1);
        } else if (command == 2) {
            hdr.request.result = plain.read(index);
            plain.write(index, (bit<32>)hdr.request.data);
        } else if (command == 3) {
            hdr.request.result = (bit<32>)crc16.get_hash({ index, hdr.request.data });
        } else if (command == 4) {
            hdr.request.result = crc32.get_hash(32w100, { index, hdr.request.data }, 32w10);
        } else if (command == 5) {
            incremental.clear();
            incremental.update(8w1);
            incremental.clear();
            incremental.update(index);
            if (index != 0) {
                incremental.update(hdr.request.data);
            }
            hdr.request.result = incremental.get();
        } else if (command == 6) {
            hdr.request.result = five.read();
        } else if (command == 7) {
            direct.apply();
        } else if (command == 8) {
            PSA_MeterColor_t color = meter.execute(index);
            hdr.request.result = color == PSA_MeterColor_t.GREEN ? 32w1 : color == PSA_MeterColor_t.YELLOW ? 32w2 : 32w3;
        } else if (command == 9) {
            hdr.request.result = (bit<32>)user.checksum;
        } else if (command == 10) {
            user.learn = true;
        } else if (command == 11) {
            profiled.apply();
        } else if (command == 12) {
            PSA_MeterColor_t color = meter.execute(index, PSA_MeterColor_t.RED);
            hdr.request.result = color == PSA_MeterColor_t.RED ? 32w3 : 32w0;
        }
        send_to_port(ostd, (PortId_t)32w1);
    }
}

control IngressDeparserImpl(packet_out packet, out empty_t cloned, out empty_t resubmitted, out empty_t normal, inout headers_t hdr,
                            in user_t user, in psa_ingress_output_metadata_t istd) {
    Digest<learnt_t>() learnt;

    apply {
        if (user.learn) {
            learnt.pack({ hdr.request.command, hdr.request.data });
        }
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
