// A table of every kind with something special in a response of P4Runtime.
#include <core.p4>
#include <v1model.p4>

header frame_t { bit<48> station; bit<32> address; bit<8> kind; bit<8> mark; }
struct headers { frame_t f; }
struct meta { bit<2> colour; }

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start { p.extract(h.f); transition accept; }
}
control none(inout headers h, inout meta m) { apply { } }
control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }
control emit(packet_out p, in headers h) { apply { p.emit(h); } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets_and_bytes) host_counter;
    direct_meter<bit<2>>(MeterType.bytes) host_meter;
    @id(0x01000001) action forward(bit<9> port) { s.egress_spec = port; }
    @id(0x01000002) action drop() { mark_to_drop(s); }
    @id(0x01000003) action metered(bit<8> value) { host_meter.read(m.colour); h.f.mark = value; }
    @id(0x01000004) action mark(bit<8> value) { h.f.mark = value; }
    @id(0x11000001) action_selector(HashAlgorithm.crc16, 32, 16) choice;
    @id(0x02000001) table hosts {
        key = { h.f.station : exact; }
        actions = { metered; }
        counters = host_counter;
        meters = host_meter;
        support_timeout = true;
    }
    @id(0x02000002) table routes {
        key = { h.f.address : lpm; h.f.kind : selector; }
        actions = { forward; drop; }
        implementation = choice;
    }
    @id(0x02000003) table kinds {
        key = { h.f.kind : exact; }
        actions = { mark; drop; }
        const default_action = mark(9);
        const entries = { 1 : mark(1); 2 : drop(); }
    }
    @id(0x02000004) table marks {
        key = { h.f.mark : exact; }
        actions = { mark; drop; }
        default_action = mark(7);
        entries = { 3 : mark(4); 5 : mark(6); }
    }
    apply {
        hosts.apply();
        routes.apply();
        kinds.apply();
        marks.apply();
        if (h.f.kind == 8) { clone(CloneType.I2E, 5); s.mcast_grp = 7; }
    }
}

V1Switch(parse(), none(), ingress(), egress(), none(), emit()) main;
