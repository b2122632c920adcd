/* `hash` gives base + H mod max, base if max is 0; CRCs are the reflected ones; `random` includes both its ends. */
#include "frame.p4"

INGRESS {
    apply {
        s.egress_spec = 1;
        bit<32> wide;
        hash(wide, HashAlgorithm.crc32, 32w0, { h.h.a, h.h.b }, 64w0x100000000);
        hash(h.h.x, HashAlgorithm.crc16, 16w0, { h.h.a, h.h.b }, 32w0x10000);
        hash(h.h.y, HashAlgorithm.crc16, 16w1000, { h.h.a, h.h.b }, 16w100);
        hash(h.h.d, HashAlgorithm.crc32, 8w7, { h.h.a }, 8w0);
        random(h.h.c, 8w3, 8w3);
        h.s[0] = { wide[31:24] };
        h.s[1] = { wide[23:16] };
        hash(wide, HashAlgorithm.identity, 32w0, { h.h.a[3:0], h.h.b[3:0] }, 32w0x1000);
        h.s[2] = { wide[7:0] };
    }
}

SWITCH
