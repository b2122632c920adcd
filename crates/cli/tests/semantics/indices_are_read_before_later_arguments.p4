/* Arguments are evaluated from left to right (P4_16 6.8): an `inout` argument whose place an index chooses is the one that the index said then, both
 * where it is copied in and where it is copied out, whatever later arguments do to the index. */
#include <core.p4>
#include <v1model.p4>

header data_t {
    bit<8> index;
    bit<32> word;
    bit<8> first;
    bit<8> second;
    bit<8> third;
    bit<8> fourth;
}

struct meta {
    bit<8>[4] bytes;
}

struct headers {
    data_t h;
}

bit<8> moves(inout bit<8> index) {
    index = index + 1;
    return 0x10;
}

void adds(inout bit<8> value, in bit<8> number) { value = value + number; }

void leaves(inout bit<8> value, in bit<8> number) { }

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        leaves(h.h.word[h.h.index + 1 +: 8], moves(h.h.index));
        transition accept;
    }
}

control none(inout headers h, inout meta m) { apply { } }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        adds(h.h.word[h.h.index +: 8], moves(h.h.index));
        m.bytes = { h.h.first, h.h.second, h.h.third, h.h.fourth };
        adds(m.bytes[h.h.index], moves(h.h.index));
        h.h.first = m.bytes[0];
        h.h.second = m.bytes[1];
        h.h.third = m.bytes[2];
        h.h.fourth = m.bytes[3];
    }
}

control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }

control deparse(packet_out p, in headers h) { apply { p.emit(h); } }

V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
