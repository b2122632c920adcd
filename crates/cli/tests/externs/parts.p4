// Arguments with parts, methods and functions of one name, objects of one type with widths of their own.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8>  a;
    bit<24> b;
    bit<32> c;
}

struct pair_t {
    bit<8>  x;
    bit<16> y;
}

struct headers_t {
    h_t h;
    h_t g;
}

struct metadata_t {
    pair_t pair;
}

enum kind_t { ONE, TWO, THREE }

extern Adder<T> {
    Adder(T start, kind_t kind, bool flag);
    pair_t add(in pair_t by);
    void add(in h_t by, out h_t to);
    void swap(inout pair_t pair, in T more);
}

extern bit<32> twice(in bit<32> x);
extern bit<32> twice(in bit<32> x, in bit<32> y);

parser Parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Add(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    Adder<bit<16>>(16w7, kind_t.THREE, true) small;
    Adder<bit<64>>(64w9, kind_t.TWO, false) large;

    apply {
        standard.egress_spec = 1;
        meta.pair = small.add({ 8w1, 16w2 });
        large.swap(meta.pair, 5);
        small.add(hdr.h, hdr.g);
        hdr.h.a = meta.pair.x;
        hdr.h.b = (bit<24>)meta.pair.y;
        hdr.h.c = twice(hdr.h.c) + twice(hdr.h.c, 1);
    }
}

control Send(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {}
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
        packet.emit(hdr.g);
    }
}

V1Switch(Parse(), Verify(), Add(), Send(), Compute(), Deparse()) main;
