/* `HashAlgorithm.identity` is a number of 64 bits: the first eight bytes of what is hashed, as in BMv2. */
#include <core.p4>
#include <v1model.p4>

header long_t {
    bit<72> key;
    bit<64> sum;
    bit<16> wide;
    bit<16> narrow;
    bit<16> odd;
    bit<8>  member;
}

struct headers {
    long_t h;
}

struct meta { }

parser parse_long(packet_in p, out headers h, inout meta m, inout standard_metadata_t s) {
    state start {
        p.extract(h.h);
        transition accept;
    }
}

control verify_long(inout headers h, inout meta m) {
    apply {
        verify_checksum(true, { h.h.key }, h.h.sum, HashAlgorithm.identity);
    }
}

control choose(inout headers h, inout meta m, inout standard_metadata_t s) {
    action member(bit<8> number) {
        h.h.member = number;
    }

    action_selector(HashAlgorithm.identity, 32w16, 32w64) members;

    table spread {
        key = {
            h.h.member: exact;
            h.h.key: selector;
        }
        actions = { member; NoAction; }
        implementation = members;
    }

    apply {
        s.egress_spec = s.checksum_error == 1 ? 9w2 : 9w1;
        hash(h.h.wide, HashAlgorithm.identity, 16w0, { h.h.key }, 32w0x10000);
        hash(h.h.narrow, HashAlgorithm.identity, 16w1, { h.h.key[71:8] }, 32w1000);
        // 68 bits are nine bytes, filled up with zeros.
        hash(h.h.odd, HashAlgorithm.identity, 16w0, { h.h.key[3:0], h.h.key[71:64], h.h.key[63:8] }, 32w0x10000);
        spread.apply();
    }
}

control no_egress(inout headers h, inout meta m, inout standard_metadata_t s) {
    apply { }
}

control update_long(inout headers h, inout meta m) {
    apply {
        update_checksum(true, { h.h.key }, h.h.sum, HashAlgorithm.identity);
    }
}

control deparse_long(packet_out p, in headers h) {
    apply {
        p.emit(h);
    }
}

V1Switch(parse_long(), verify_long(), choose(), no_egress(), update_long(), deparse_long()) main;
