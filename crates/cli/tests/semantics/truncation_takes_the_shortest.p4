/* Of several calls of `truncate` the smallest length counts, when the packet leaves. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        truncate((bit<32>)h.h.a);
        truncate(10);
        h.t = { 0xee };
    }
}

SWITCH
