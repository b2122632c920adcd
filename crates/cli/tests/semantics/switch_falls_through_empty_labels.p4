/* A label without a body goes on to the next one that has; `action_run` may be the default action, too; a table without keys misses. */
#include "frame.p4"

INGRESS {
    action one() { h.h.b = 1; }
    action two() { h.h.b = 2; }
    action three() { h.h.b = 3; }
    table t {
        key = { h.h.a : exact; }
        actions = { one; two; three; }
        const entries = { 1 : one(); 2 : two(); }
        default_action = three;
    }
    table keyless {
        actions = { one; }
        default_action = one;
    }
    table nothing {
        key = { h.h.a : exact; }
        actions = { one; @defaultonly NoAction; }
    }
    apply {
        s.egress_spec = 1;
        switch (t.apply().action_run) {
            one:
            two: { h.h.c = 0x12; }
            default: { h.h.c = 0x33; }
        }
        switch (h.h.a) {
            1:
            2: { h.h.d = 0x12; }
            3: { h.h.d = 3; }
        }
        if (nothing.apply().hit) { h.h.x = 1; }
        if (keyless.apply().miss) { h.h.y = 1; }
    }
}

SWITCH
