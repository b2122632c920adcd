/* The bytes of a clone of ingress are parsed as those of a packet that has just come in by the same port: the parser sees no field that the clone
 * keeps, and not that the packet is a clone. Behind the parser the clone has the fields of its list, its type, and no port. A packet that is
 * resubmitted has all of it from the start. (BMv2: simple_switch.cpp, ingress_thread.) */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> kind;
    bit<8> kept_in_parser;
    bit<8> type_in_parser;
    bit<8> port_in_parser;
    bit<8> kept_in_egress;
    bit<8> lost_in_egress;
    bit<8> type_in_egress;
    bit<8> port_in_egress;
}

struct headers {
    data_t h;
}

struct meta {
    @field_list(1)
    bit<8> kept;
    @field_list(1)
    bit<8> counted;
    bit<8> lost;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        h.h.kept_in_parser = m.kept;
        h.h.type_in_parser = (bit<8>) s.instance_type;
        h.h.port_in_parser = (bit<8>) s.ingress_port;
        m.counted = m.counted + 1;
        m.lost = 0x55;
        transition select(m.kept, s.instance_type) {
            (0, 0): accept;
            (_, 6): accept;
            default: reject;
        }
    }
}

control none(inout headers h, inout meta m) { apply { } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        if (s.instance_type == 0) {
            if (h.h.kind == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
            if (h.h.kind == 2) { resubmit_preserving_field_list(1); }
            m.kept = 0x11;
            m.counted = m.counted + 0x20;
        }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        h.h.kept_in_egress = m.kept |+| m.counted;
        h.h.lost_in_egress = m.lost;
        h.h.type_in_egress = (bit<8>) s.instance_type;
        h.h.port_in_egress = (bit<8>) s.ingress_port;
    }
}

control deparse(packet_out p, in headers h) { apply { p.emit(h.h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
