/* What the programs of this folder share: eight bytes of data, a stack, and a switch around an ingress control. */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8>  a;
    bit<8>  b;
    bit<8>  c;
    bit<8>  d;
    bit<16> x;
    bit<16> y;
}

header byte_t {
    bit<8> v;
}

struct headers {
    data_t    h;
    byte_t[3] s;
    byte_t    t;
}

struct meta {
    bit<8>  n;
    bit<16> k;
}

parser parse_data(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control no_check(inout headers h, inout meta m) {
    apply { }
}

control no_egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control emit_all(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

#define INGRESS control ingress(inout headers h, inout meta m, inout standard_metadata_t s)
#define EGRESS control egress(inout headers h, inout meta m, inout standard_metadata_t s)
#define PARSER parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s)
#define SWITCH V1Switch(parse_data(), no_check(), ingress(), no_egress(), no_check(), emit_all()) main;
#define SWITCH_WITH_EGRESS V1Switch(parse_data(), no_check(), ingress(), egress(), no_check(), emit_all()) main;
#define SWITCH_WITH_PARSER V1Switch(parse(), no_check(), ingress(), no_egress(), no_check(), emit_all()) main;
