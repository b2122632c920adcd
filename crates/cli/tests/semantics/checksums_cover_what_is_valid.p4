/* Checksums are verified behind the parser and computed after egress, over the bits of the fields one after another; fields of an invalid
 * header count nothing; the payload may be covered, an odd byte padded with zeros on its right. */
#include "frame.p4"

PARSER {
    state start {
        p.extract(h.h);
        transition select(h.h.a) {
            2: more;
            default: accept;
        }
    }
    state more {
        p.extract(h.t);
        transition accept;
    }
}

control check(inout headers h, inout meta m) {
    apply {
        verify_checksum(h.h.a != 9, { h.h.a, h.h.b, h.h.c[7:4], h.h.c[3:0], h.h.d }, h.h.x, HashAlgorithm.csum16);
    }
}

INGRESS {
    apply {
        s.egress_spec = 1;
        h.h.b = (bit<8>)s.checksum_error;
    }
}

EGRESS {
    apply {
        h.h.c = 0x10;
    }
}

control update(inout headers h, inout meta m) {
    apply {
        update_checksum(true, { h.h.a, h.h.b, h.h.c, h.h.d, h.t.v, h.h.a }, h.h.x, HashAlgorithm.csum16);
        update_checksum_with_payload(h.h.a != 3, { h.h.c }, h.h.y, HashAlgorithm.csum16);
    }
}

V1Switch(parse(), check(), ingress(), egress(), update(), emit_all()) main;
