/* P4_16 6.8: arguments are copied out from left to right as the call is written, through slices, elements that the packet chooses, and the members
   of a union; the last copy stays. */
#include "frame.p4"

header_union either {
    byte_t one;
    byte_t two;
}

struct some {
    either u;
}

void low_and_whole(inout bit<8> low, inout bit<16> whole) {
    low = low + 1;
    whole = 0xee00;
}

void whole_and_high(inout bit<16> whole, out bit<8> high) {
    whole = whole + 1;
    high = 0xee;
}

void both(inout bit<8> first, inout bit<8> second) {
    first = 0x11;
    second = 0x22;
}

void header_and_field(inout data_t whole, inout bit<8> part) {
    part = 0x33;
    whole.a = 0x44;
}

void members(inout byte_t one, inout byte_t two) {
    two.setValid();
    two.v = 2;
    one.setValid();
    one.v = 1;
}

void stacks(inout byte_t[3] all, inout bit<8> v) {
    all[1].v = 0x55;
    v = 0x66;
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
    some held;
    bit<8> v = 0;

    apply {
        s.egress_spec = 1;
        if (h.h.d == 0) {
            low_and_whole(h.h.x[7:0], h.h.x);
            whole_and_high(h.h.y, h.h.y[15:8]);
            both(h.s[h.h.a].v, h.s[0].v);
            both(second = h.s[1].v, first = h.s[h.h.b].v);
        } else if (h.h.d == 1) {
            header_and_field(h.h, h.h.a);
            stacks(h.s, h.s[h.h.b].v);
        } else if (h.h.d == 2) {
            header_and_field(part = h.h.a, whole = h.h);
            stacks(v = h.s[h.h.b].v, all = h.s);
        } else if (h.h.d == 3) {
            members(held.u.one, held.u.two);
        } else {
            members(two = held.u.two, one = held.u.one);
        }
        if (held.u.one.isValid()) {
            h.h.b = held.u.one.v;
        }
        if (held.u.two.isValid()) {
            h.h.c = held.u.two.v;
        }
    }
}

SWITCH_WITH_PARSER
