// v1model: every path of a packet. What `path` asks for happens in ingress below 16, in egress from 16 on.
#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8>  path;
    bit<8>  seen;
    bit<16> session;
}

header report_t {
    bit<8>  instance_type;
    bit<8>  kept;
    bit<8>  lost;
    bit<8>  rid;
    bit<16> length;
    bit<16> ports;
}

struct headers_t {
    order_t  order;
    report_t report;
}

struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> lost;
    @field_list(1, 2)
    bit<8> rounds;
}

struct notice_t {
    bit<8>  kind;
    bit<16> session;
}

parser Orders(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.order);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Before(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        standard.egress_spec = 1;
        bit<8> path = hdr.order.path;
        hdr.order.seen = hdr.order.seen + 1;
        meta.rounds = meta.rounds + 1;
        if (path == 1) {
            // The clone begins with the bytes that came in, and with what the list keeps.
            meta.kept = 0x51;
            meta.lost = 0x52;
            clone_preserving_field_list(CloneType.I2E, (bit<32>)hdr.order.session, 1);
            hdr.order.seen = 0x99;
        } else if (path == 2) {
            clone(CloneType.I2E, (bit<32>)hdr.order.session);
            mark_to_drop(standard);
        } else if (path == 3 && standard.instance_type == 0) {
            meta.kept = 0x53;
            resubmit_preserving_field_list(2);
        } else if (path == 4) {
            standard.mcast_grp = hdr.order.session;
        } else if (path == 5) {
            standard.mcast_grp = hdr.order.session;
            mark_to_drop(standard);
        } else if (path == 6) {
            // Multicast goes before the port of the drop.
            mark_to_drop(standard);
            standard.mcast_grp = hdr.order.session;
        } else if (path == 7) {
            truncate((bit<32>)hdr.order.session);
        } else if (path == 8) {
            // The value is taken here.
            digest<notice_t>(1, { hdr.order.seen, hdr.order.session });
            hdr.order.session = 0xffff;
        } else if (path == 9) {
            // The last call wins.
            clone(CloneType.I2E, 77);
            clone(CloneType.I2E, (bit<32>)hdr.order.session);
        } else if (path == 10) {
            mark_to_drop(standard);
            standard.egress_spec = 2;
        } else if (path == 11) {
            resubmit_preserving_field_list(1);
        }
    }
}

control After(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        bit<8> path = hdr.order.path;
        if (path == 16 && standard.instance_type == 0) {
            // A clone of egress has the headers as they are.
            meta.kept = 0x61;
            meta.lost = 0x62;
            hdr.order.seen = 0x63;
            clone_preserving_field_list(CloneType.E2E, (bit<32>)hdr.order.session, 1);
            hdr.order.seen = 0x64;
        } else if (path == 17 && meta.rounds == 1) {
            meta.kept = 0x71;
            meta.lost = 0x72;
            recirculate_preserving_field_list(1);
        } else if (path == 18) {
            mark_to_drop(standard);
        } else if (path == 19) {
            // Without an end of its own: the budget ends it.
            recirculate_preserving_field_list(2);
        }
        hdr.report.setValid();
        hdr.report.instance_type = (bit<8>)standard.instance_type;
        hdr.report.kept = meta.kept;
        hdr.report.lost = meta.lost;
        hdr.report.rid = (bit<8>)standard.egress_rid;
        hdr.report.length = (bit<16>)standard.packet_length;
        hdr.report.ports = standard.ingress_port[7:0] ++ standard.egress_port[7:0];
        if (path == 3) {
            hdr.report.lost = meta.rounds;
        }
        if (path == 17 && meta.rounds == 1) {
            hdr.report.setInvalid();
        }
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
        packet.emit(hdr.report);
    }
}

V1Switch(Orders(), Verify(), Before(), After(), Compute(), Deparse()) main;
