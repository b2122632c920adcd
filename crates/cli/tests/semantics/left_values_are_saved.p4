/* P4_16 6.8: the place of an argument is found before the call, once. What the callee does to an index does not move it. */
#include "frame.p4"

bit<8> mark_and_move(inout bit<8> at, inout bit<8> place) {
    at = at + 1;
    place = place | 0x10;
    return at;
}

void set_bits(inout bit<4> nibble, inout bit<8> low) {
    low = 0;
    nibble = nibble + 1;
}

PARSER {
    state start {
        p.extract(h.h);
        p.extract(h.s.next);
        p.extract(h.s.next);
        p.extract(h.s.next);
        transition accept;
    }
}

INGRESS {
    bit<8> i;

    action step(inout bit<8> place) {
        i = i + 1;
        place = place | 0x20;
    }

    apply {
        s.egress_spec = 1;
        i = h.h.a;
        h.h.b = mark_and_move(i, h.s[i].v);
        mark_and_move(place = h.s[i].v, at = i);
        i = h.h.a;
        step(h.s[i].v);
        h.h.c = i;
        i = 4;
        set_bits(h.h.x[i+:4], i);
        h.h.d = i;
    }
}

SWITCH_WITH_PARSER
