/* An action with the name that a hidden action of joins has, too. */
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<8> d; }
struct headers { h_t h; }
struct metadata { bit<32> x; }

parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.h); transition accept; }
}

control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    @name(".slow") action slow(bit<8> d) { h.h.d = d; }
    @name(".odd") action odd(bit<8> d) { h.h.d = d + 1; }
    @name(".rest") action rest(bit<8> d) { h.h.d = d + 2; }
    @name(".via") action via(bit<32> x) { m.x = x; }
    table first {
        key = { h.h.a: lpm; }
        actions = { via; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    table second {
        key = { m.x: exact; }
        actions = { slow; odd; rest; }
        default_action = rest(7);
        size = 16;
    }
    apply {
        first.apply();
        second.apply();
        s.egress_spec = 2;
    }
}

control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.h); } }

V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
