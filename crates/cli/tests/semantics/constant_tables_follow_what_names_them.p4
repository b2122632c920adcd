/* A table whose entries name those of a constant one, which the compiler may join: hits, misses and defaults. */
#include <core.p4>
#include <v1model.p4>

header frame_t { bit<16> host; bit<8> class; bit<8> queue; }
struct headers { frame_t frame; }
struct metadata { bit<8> class; }

parser parse(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.frame); transition accept; }
}

control ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action set_class(bit<8> class) { m.class = class; h.frame.class = class; }
    action set_queue(bit<8> queue) { h.frame.queue = queue; }
    table hosts {
        key = { h.frame.host: exact; }
        actions = { set_class; }
        default_action = set_class(1);
        size = 64;
    }
    table classes {
        key = { m.class: exact; }
        actions = { set_queue; }
        const default_action = set_queue(0xff);
        const entries = { 1: set_queue(11); 2: set_queue(12); 3: set_queue(13); }
    }
    apply { hosts.apply(); classes.apply(); s.egress_spec = 1; }
}

control egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control checksum(inout headers h, inout metadata m) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.frame); } }

V1Switch(parse(), checksum(), ingress(), egress(), checksum(), deparse()) main;
