/* `~` of one bit that a comparison gives: the bit is inverted, and no other one is set. */
#include <core.p4>
#include <v1model.p4>

header frame_t { bit<8> a; bit<8> b; bit<8> result; }
struct headers { frame_t frame; }
struct metadata { }

parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.frame); transition accept; }
}

control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    apply {
        bit<1> same = ~(bit<1>)(h.frame.a == h.frame.b);
        h.frame.result[4:4] = same;
        h.frame.result[0:0] = ~(bit<1>)(h.frame.a < h.frame.b);
        // A C compiler may warn that this never holds.
        if (8w2 < (bit<8>)(bit<1>)(h.frame.a == h.frame.b)) { h.frame.result = 0; }
        s.egress_spec = 1;
    }
}

control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.frame); } }

V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
