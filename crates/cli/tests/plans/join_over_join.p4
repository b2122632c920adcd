/* Routes of the program, whose next hops and links come later. */
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> dst; bit<8> port; bit<8> mark; }
struct headers { h_t h; }
struct metadata { bit<16> hop; bit<16> link; }
parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.h); transition accept; }
}
control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action via(bit<16> hop) { m.hop = hop; }
    action link(bit<16> number) { m.link = number; }
    action out_by(bit<8> port) { h.h.port = port; }
    action nothing() { h.h.mark = h.h.mark + 1; }
    table routes {
        key = { h.h.dst: lpm; }
        actions = { via; nothing; }
        default_action = nothing;
        entries = {
            0x0a000000 &&& 0xff000000: via(1);
            0x0a010000 &&& 0xffff0000: via(2);
            0x0a010100 &&& 0xffffff00: via(3);
        }
        size = 64;
    }
    table hops {
        key = { m.hop: exact; }
        actions = { link; nothing; }
        default_action = nothing;
        size = 64;
    }
    table links {
        key = { m.link: exact; }
        actions = { out_by; nothing; }
        default_action = nothing;
        size = 64;
    }
    apply { routes.apply(); hops.apply(); links.apply(); s.egress_spec = 2; }
}
control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.h); } }
V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
