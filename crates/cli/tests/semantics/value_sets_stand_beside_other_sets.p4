/* In a case of several keys each may be asked for in a value set, or be compared otherwise; keys may have more than 64 bits. */
#include <core.p4>
#include <v1model.p4>

header key_t {
    bit<8>  a;
    bit<8>  b;
    bit<72> wide;
    bit<8>  taken;
}

struct headers {
    key_t key;
}

struct meta {
    bit<8> taken;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    value_set<bit<8>>(4) few;
    value_set<bit<8>>(4) more;
    value_set<bit<72>>(4) long;

    state start {
        p.extract(h.key);
        transition select(h.key.a, h.key.b, h.key.wide) {
            (few, _, 7): first;
            (few, more, long): second;
            (_, few, 1 .. 9): third;
            (3 &&& 0xf, more, _): fourth;
            (_, _, long): fifth;
            default: accept;
        }
    }
    state first { m.taken = 1; transition accept; }
    state second { m.taken = 2; transition accept; }
    state third { m.taken = 3; transition accept; }
    state fourth { m.taken = 4; transition accept; }
    state fifth { m.taken = 5; transition accept; }
}

control no_check(inout headers h, inout meta m) {
    apply { }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        h.key.taken = m.taken;
    }
}

control no_egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control emit_all(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), emit_all()) main;
