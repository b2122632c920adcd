/* A control with a table that is applied more than once looks up what it is given each time: by expressions that read the same, from a loop, inside
   of another control that is applied twice, and as an instance that two others share. */
#include "frame.p4"

control step_c(in bit<8> key, out bit<8> result);

control step(in bit<8> key, out bit<8> result) {
    action set(bit<8> v) { result = v; }
    action missed() { result = key + 0x80; }
    table next {
        key = { key : exact; }
        actions = { set; missed; }
        const default_action = missed;
    }
    apply { next.apply(); }
}

control around(inout bit<8> v) {
    step() inner;
    apply {
        bit<8> found;
        inner.apply(v + 1, found);
        v = found;
    }
}

control sharing(inout bit<8> v)(step_c inner) {
    apply { inner.apply(v, v); }
}

control with_headers(inout headers h, inout bit<8> v) {
    action put(bit<8> n) { v = n; h.h.d = h.h.d + 1; }
    table t {
        key = { v : exact; h.h.d : exact; }
        actions = { put; NoAction; }
        default_action = NoAction;
    }
    apply { t.apply(); }
}

INGRESS {
    step() same;
    step() looped;
    step() shared;
    around() outer;
    sharing(shared) first;
    sharing(shared) second;
    with_headers() partly;
    bit<8> r;

    apply {
        s.egress_spec = 1;
        if (h.h.d == 0) {
            same.apply(h.h.a + 1, r);
            h.h.b = r;
            h.h.a = h.h.a + 1;
            same.apply(h.h.a+1, r);
            h.h.a = r;
            same.apply(h.h.c, h.h.c);
            same.apply(h.h.c, h.h.c);
        } else if (h.h.d == 1) {
            for (bit<8> i in 4 .. 5) {
                looped.apply(i + 1, r);
                if (i == 4) { h.h.a = r; } else { h.h.b = r; }
            }
        } else if (h.h.d == 2) {
            outer.apply(h.h.a);
            outer.apply(h.h.b);
        } else if (h.h.d == 3) {
            first.apply(h.h.a);
            second.apply(h.h.b);
        } else {
            partly.apply(h, h.h.a);
            partly.apply(h, h.h.b);
        }
    }
}

SWITCH
