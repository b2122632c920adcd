/* Addresses with dots and colons, names of entries with `$`, arguments by place or by name, `&` for masks. */
#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<48>  mac;
    bit<32>  a;
    bit<128> dad;
    bit<8>   seen;
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
    direct_counter(CounterType.packets) hits;
    action rewrite(bit<48> a, bit<32> b) { h.f.mac = a; h.f.a = b; }
    action mark(bit<128> a, bit<8> bit_to_set) { h.f.dad = a; h.f.seen = h.f.seen | bit_to_set; }
    action seen(bit<8> v) { h.f.seen = h.f.seen | v; }
    table hosts {
        key = { h.f.mac : exact; }
        actions = { rewrite; NoAction; }
        counters = hits;
    }
    table routes {
        key = { h.f.a : lpm; }
        actions = { seen; NoAction; }
    }
    table wide {
        key = { h.f.dad : lpm; }
        actions = { mark; NoAction; }
    }
    table masks {
        key = { h.f.mac : ternary; h.f.a : range; }
        actions = { seen; NoAction; }
    }
    apply {
        s.egress_spec = 1;
        masks.apply();
        routes.apply();
        wide.apply();
        hosts.apply();
    }
}

V1Switch(parse(), none(), ingress(), egress(), none(), emit()) main;
