/* v1model: a clone begins with metadata of zero. Headers in the metadata are invalid then, whether the parser or a control made them valid. */
#include <core.p4>
#include <v1model.p4>

header byte_t {
    bit<8> v;
}

struct headers {
    byte_t what;
    byte_t parsed;
    byte_t written;
    byte_t last;
}

struct meta {
    byte_t parsed;
    byte_t written;
}

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.what);
        m.parsed.setValid();
        m.parsed.v = 0xaa;
        transition accept;
    }
}

control no_check(inout headers h, inout meta m) {
    apply { }
}

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        m.written.setValid();
        m.written.v = 0xbb;
        if (h.what.v == 1) { clone(CloneType.I2E, 5); }
        if (h.what.v == 3) { s.mcast_grp = 1; }
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        h.parsed = m.parsed;
        h.written = m.written;
        h.last.setValid();
        h.last.v = 0xcc;
        if (h.what.v == 2 && s.instance_type == 0) { clone(CloneType.E2E, 5); }
    }
}

control emit_all(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(parse(), no_check(), ingress(), egress(), no_check(), emit_all()) main;
