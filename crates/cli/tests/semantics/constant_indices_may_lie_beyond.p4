/* An index that is a constant only once the calls around it are known, and lies beyond the stack: it reads zero or an invalid header, and writes nothing. */
#include "frame.p4"

struct pair_t { bit<8>[2] two; }

bit<8> five() { return 5; }

PARSER {
    state start {
        p.extract(h.h);
        p.extract(h.s.next);
        p.extract(h.s.next);
        transition accept;
    }
}

INGRESS {
    pair_t held;
    pair_t other;

    action put(in bit<8> at) {
        h.s[at].v = 0xee;
        held.two[at] = 0xee;
    }

    apply {
        s.egress_spec = 1;
        held.two[1] = 7;
        put(4);
        h.s[five()].v |= 0x0f;
        h.h.b = h.h.a == 1 ? 8w0xbe : held.two[five()];
        if (h.s[five()] == h.s[five()]) { h.h.c = 1; }
        if (h.s[five()].isValid()) { h.h.c = 2; }
        h.h.d = held.two[1];
        other.two[0] = 0xdd;
        h.h.x[7:0] = 0x10 | (h.h.a == 1 ? held.two : other.two)[five()];
        if ((h.h.a == 1 ? h.s : { {#}, {#}, {#} })[five()].isValid()) { h.h.x[15:8] = 0; }
        h.h.y[7:0] = h.s[five()].v;
        h.s[1] = h.s[five()];
    }
}

SWITCH_WITH_PARSER
