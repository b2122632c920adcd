// Tables of every kind, a multicast group and a mirror session, for entries in every form.
#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<48> station;
    bit<32> address;
    bit<8>  kind;
    bit<8>  level;
    bit<8>  mark;
}

struct headers { frame_t f; }
struct meta { }

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start { p.extract(h.f); transition accept; }
}
control none(inout headers h, inout meta m) { apply { } }
control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }
control emit(packet_out p, in headers h) { apply { p.emit(h); } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    register<bit<32>>(4) written;
    action forward(bit<9> port) { s.egress_spec = port; }
    action flood(bit<16> group) { s.mcast_grp = group; }
    action drop() { mark_to_drop(s); }
    action mark(bit<8> value) { h.f.mark = value; }
    action copy(bit<32> session) { clone(CloneType.I2E, session); h.f.mark = 0xcc; }
    table hosts {
        key = { h.f.station : exact; }
        actions = { forward; flood; drop; }
        default_action = drop;
    }
    table routes {
        key = { h.f.address : lpm; }
        actions = { mark; NoAction; }
        entries = { 0xc0000000 &&& 0xff000000 : mark(0xc0); }
    }
    table rules {
        key = { h.f.kind : ternary; h.f.level : range; h.f.mark : optional; }
        actions = { mark; copy; NoAction; }
    }
    apply {
        hosts.apply();
        routes.apply();
        rules.apply();
        written.read(h.f.address, (bit<32>)h.f.level[1:0]);
    }
}

V1Switch(parse(), none(), ingress(), egress(), none(), emit()) main;
