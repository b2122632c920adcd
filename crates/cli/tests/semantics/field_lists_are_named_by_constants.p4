/* The lists of a field are constants of any form: members of enumerations, names, computed numbers; in either spelling, and in several
 * annotations. A list on a structure is one of all its fields. */
#include <core.p4>
#include <v1model.p4>

enum bit<8> Keeps { again = 3, copy = 4 }
const bit<8> OTHER = 5;

header data_t {
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
    bit<8> e;
}

struct headers {
    data_t h;
}

struct inner {
    bit<8> one;
    bit<8> two;
}

struct meta {
    @field_list(Keeps.again)
    bit<8> first;
    @field_list[OTHER - 2]
    bit<8> second;
    @field_list(Keeps.copy) @field_list(2 + 1)
    bit<8> third;
    @field_list(8w3, OTHER)
    inner fourth;
    @field_list(OTHER)
    bit<8> lost;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control show(inout headers h, in meta m) {
    apply {
        h.h.a = m.first;
        h.h.b = m.second;
        h.h.c = m.third;
        h.h.d = m.fourth.one | m.fourth.two;
        h.h.e = m.lost;
    }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    show() shown;
    apply {
        s.egress_spec = 1;
        if (s.instance_type == 0) {
            m = { 0x11, 0x22, 0x33, { 0x04, 0x40 }, 0x55 };
            resubmit_preserving_field_list((bit<8>)Keeps.again);
        } else {
            shown.apply(h, m);
            m.lost = 0x55;
            clone_preserving_field_list(CloneType.I2E, 5, Keeps.copy);
        }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    show() shown;
    apply {
        if (s.instance_type == 1) {
            shown.apply(h, m);
        }
    }
}

control emit_all(packet_out p, in headers h) { apply { p.emit(h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), emit_all()) main;
