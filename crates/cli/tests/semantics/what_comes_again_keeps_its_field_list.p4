/* What is cloned, resubmitted or recirculated begins with metadata of zero, except the fields of the list given, as they are at the end of
 * the control. A clone of ingress has the bytes that came in, one of egress those that egress made. */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}

struct headers {
    data_t h;
}

struct meta {
    @field_list(1, 2)
    bit<8> kept;
    @field_list(2)
    bit<8> second;
    bit<8> lost;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        h.h.b = m.kept;
        h.h.c = m.second;
        h.h.d = m.lost;
        if (s.instance_type == 0) {
            if (h.h.a == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
            if (h.h.a == 3) { resubmit_preserving_field_list(2); }
            m.kept = 0x11;
            m.second = 0x22;
            m.lost = 0x33;
        }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        if (s.instance_type == 1 || s.instance_type == 2) {
            h.h.b = h.h.b |+| m.kept;
            h.h.c = h.h.c |+| m.second;
            h.h.d = h.h.d |+| m.lost;
        } else {
            if (h.h.a == 2) { clone_preserving_field_list(CloneType.E2E, 5, 2); h.h.d = 0x44; }
            if (h.h.a == 4 && h.h.b == 0) { recirculate_preserving_field_list(1); }
        }
    }
}

control deparse(packet_out p, in headers h) { apply { p.emit(h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
