/* P4_16 6.7, 8.1, 8.19: an element or a slice of a variable refers to storage. The indexes are evaluated from left to right, and what is referred
 * to is read afterwards: a call in an index that changes the variable is seen. */
#include "frame.p4"

struct row_t {
    bit<8>[2] e;
}

bit<8> take(inout byte_t[3] s) {
    s.pop_front(1);
    return 0;
}

bit<8> put(inout byte_t[3] s) {
    s.push_front(1);
    s[0].setValid();
    s[0].v = 9;
    return 0;
}

bit<8> value(in byte_t b) {
    return b.isValid() ? b.v : 0xff;
}

bit<8> swap(inout bit<16> x) {
    x = x[7:0] ++ x[15:8];
    return 8;
}

bit<8> fill(inout bit<8> i, inout row_t[2] r) {
    i = 1;
    r[0].e[1] = 0x55;
    r[1].e[1] = 0x66;
    return 1;
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
    bit<8> i = 0;
    row_t[2] r;

    apply {
        s.egress_spec = 1;
        h.h.a = h.s[take(h.s)].v;
        h.h.b = h.s[take(h.s) + 1].isValid() ? 8w1 : 2;
        h.h.c = value(h.s[put(h.s)]);
        h.h.d = h.h.x[swap(h.h.x)+:8];
        h.h.y[7:0] = r[i].e[fill(i, r)];
        h.h.y[15:8] = h.s[take(h.s)] == h.s[0] ? 8w1 : 2;
    }
}

SWITCH_WITH_PARSER
