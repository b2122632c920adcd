/* Making one member of a union valid makes the others invalid; an invalid header given to a member, too, and making a member invalid, whichever is valid;
 * the valid one is emitted. */
#include <core.p4>
#include <v1model.p4>

header one_t { bit<8> v; }
header two_t { bit<16> v; }
header_union either { one_t one; two_t two; }
struct headers { one_t kind; either u; either w; }
struct meta { }

parser parse(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.kind);
        transition select(h.kind.v) {
            1: take_one;
            2: take_both;
            default: accept;
        }
    }
    state take_one {
        p.extract(h.u.one);
        transition accept;
    }
    state take_both {
        p.extract(h.u.one);
        p.extract(h.u.two);
        transition accept;
    }
}

void leave(inout one_t one) { }
void leave_out(out one_t one) { }

control ingress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        one_t gone;
        h.w = h.u;
        if (h.kind.v == 3) {
            h.u.one.setValid();
            h.u.one.v = 0x33;
            h.u.two = { 0x4444 };
        }
        if (h.kind.v == 4) {
            h.u.two = { 0x4444 };
            h.u.one = gone;
        }
        if (h.kind.v == 5 || h.kind.v == 6) {
            h.u.two = { 0x5555 };
            h.u.one.setInvalid();
            if (h.kind.v == 6) {
                h.u.one.setValid();
                h.u.one.v = 0x66;
            }
        }
        if (h.kind.v == 7) {
            h.u.two = { 0x7777 };
            h.u.one = h.u.one;
        }
        if (h.kind.v == 8) {
            h.u.two = { 0x8888 };
            h.u.two = h.u.two;
        }
        if (h.kind.v == 9) {
            h.u.two = { 0x9999 };
            leave(h.u.one);
        }
        if (h.kind.v == 10) {
            h.u.two = { 0xaaaa };
            leave_out(h.u.one);
        }
        h.kind.v = (h.u.one.isValid() ? 8w1 : 0) | (h.u.two.isValid() ? 8w2 : 0) | (h.u.isValid() ? 8w4 : 0) | (h.w == h.u ? 8w8 : 0);
    }
}

control none(inout headers h, inout meta m) { apply { } }
control egress(inout headers h, inout meta m, inout standard_metadata_t s) { apply { } }
control deparse(packet_out p, in headers h) { apply { p.emit(h.kind); p.emit(h.u); p.emit(h.w); } }
V1Switch(parse(), none(), ingress(), egress(), none(), deparse()) main;
