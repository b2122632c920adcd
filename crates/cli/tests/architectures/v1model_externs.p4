// v1model: what its externs give. `kind` selects one.
#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8>  kind;
    bit<16> a;
    bit<16> b;
    bit<64> result;
    bit<16> sum;
}

struct headers_t {
    order_t order;
}

struct metadata_t {
    bit<2> colour;
    bit<1> bad;
}

parser Orders(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) special;

    state start {
        packet.extract(hdr.order);
        transition select(hdr.order.a) {
            special: marked;
            default: accept;
        }
    }
    state marked {
        hdr.order.b = 0xbeef;
        transition accept;
    }
}

control Verify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum_with_payload(hdr.order.kind == 20, { hdr.order.a, hdr.order.b }, hdr.order.sum, HashAlgorithm.csum16);
        verify_checksum(hdr.order.kind == 21, { hdr.order.a, hdr.order.b }, hdr.order.sum, HashAlgorithm.csum16);
    }
}

control Before(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<40>>(4) last;
    counter(4, CounterType.packets_and_bytes) seen;
    meter(4, MeterType.packets) packets;
    meter(4, MeterType.bytes) bytes;
    direct_counter(CounterType.packets_and_bytes) hits;
    direct_meter<bit<2>>(MeterType.packets) rate;

    action note(bit<64> value) {
        hdr.order.result = value;
        hits.count();
        rate.read(meta.colour);
    }
    table noted {
        key = { hdr.order.a: exact; }
        actions = { note; NoAction; }
        counters = hits;
        meters = rate;
    }

    action hashes() {
        bit<32> wide;
        bit<16> narrow;
        bit<64> whole;
        if (hdr.order.kind == 1) {
            hash(wide, HashAlgorithm.crc32, 32w0, { hdr.order.a, hdr.order.b }, 64w0x100000000);
            hdr.order.result = (bit<64>)wide;
        } else if (hdr.order.kind == 2) {
            hash(narrow, HashAlgorithm.crc16, 16w0, { hdr.order.a, hdr.order.b }, 32w0x10000);
            hdr.order.result = (bit<64>)narrow;
        } else if (hdr.order.kind == 3) {
            hash(whole, HashAlgorithm.identity, 64w0, { hdr.order.a, hdr.order.b }, 64w0xffffffffffff);
            hdr.order.result = whole;
        } else if (hdr.order.kind == 4) {
            hash(narrow, HashAlgorithm.csum16, 16w0, { hdr.order.a, hdr.order.b }, 32w0x10000);
            hdr.order.result = (bit<64>)narrow;
        } else if (hdr.order.kind == 5) {
            hash(narrow, HashAlgorithm.xor16, 16w0, { hdr.order.a, hdr.order.b }, 32w0x10000);
            hdr.order.result = (bit<64>)narrow;
        } else if (hdr.order.kind == 6) {
            hash(wide, HashAlgorithm.crc32_custom, 32w0, { hdr.order.a, hdr.order.b }, 64w0x100000000);
            hdr.order.result = (bit<64>)wide;
        } else if (hdr.order.kind == 7) {
            hash(narrow, HashAlgorithm.crc16_custom, 16w0, { hdr.order.a, hdr.order.b }, 32w0x10000);
            hdr.order.result = (bit<64>)narrow;
        } else if (hdr.order.kind == 8) {
            // The base is added to what is left of the hash modulo the maximum; 0 leaves nothing.
            hash(narrow, HashAlgorithm.crc16, 16w100, { hdr.order.a, hdr.order.b }, 32w10);
            bit<16> base;
            hash(base, HashAlgorithm.crc16, 16w100, { hdr.order.a, hdr.order.b }, 32w0);
            hdr.order.result = (bit<64>)(narrow ++ base);
        } else {
            hash(narrow, HashAlgorithm.random, 16w1000, { hdr.order.a, hdr.order.b }, 32w10);
            hdr.order.result = (bit<64>)(bit<1>)(narrow >= 1000 && narrow < 1010 ? 1w1 : 1w0);
        }
    }

    apply {
        standard.egress_spec = 1;
        if (hdr.order.kind <= 9) {
            hashes();
        } else if (hdr.order.kind == 10) {
            bit<8> die;
            bit<100> wide;
            random(die, 8w1, 8w6);
            random(wide, 100w1 << 90, (100w1 << 90) + 7);
            bit<1> fair = die >= 1 && die <= 6 && wide >= (100w1 << 90) && wide - (100w1 << 90) <= 7 ? 1w1 : 1w0;
            hdr.order.result = (bit<64>)fair;
        } else if (hdr.order.kind == 11) {
            bit<40> before;
            last.read(before, (bit<32>)hdr.order.a);
            last.write((bit<32>)hdr.order.a, before + (bit<40>)hdr.order.b);
            hdr.order.result = (bit<64>)before;
        } else if (hdr.order.kind == 12) {
            seen.count((bit<32>)hdr.order.a);
        } else if (hdr.order.kind == 13) {
            packets.execute_meter((bit<32>)hdr.order.a, meta.colour);
            hdr.order.result = (bit<64>)meta.colour;
        } else if (hdr.order.kind == 14) {
            bytes.execute_meter((bit<32>)hdr.order.a, meta.colour);
            hdr.order.result = (bit<64>)meta.colour;
        } else if (hdr.order.kind == 15) {
            noted.apply();
            hdr.order.b = (bit<16>)meta.colour;
        } else if (hdr.order.kind == 16) {
            log_msg("a is {}, b is {}", { hdr.order.a, hdr.order.b });
            assert(hdr.order.a != 0xffff);
            assume(hdr.order.b != 0xfffe);
        } else if (hdr.order.kind == 17) {
            hdr.order.result = 16w0 ++ standard.ingress_global_timestamp;
        } else if (hdr.order.kind >= 20) {
            hdr.order.result = (bit<64>)standard.checksum_error;
        }
    }
}

control After(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.order.kind == 18) {
            // What a switch without queues reports of them.
            hdr.order.result = (bit<64>)(standard.enq_timestamp ++ standard.egress_global_timestamp[31:0]);
            hdr.order.b = (bit<16>)(standard.enq_qdepth |+| standard.deq_qdepth)
                |+| (bit<16>)standard.deq_timedelta |+| (bit<16>)standard.priority;
        }
    }
}

control Compute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum_with_payload(hdr.order.kind == 20, { hdr.order.a, hdr.order.b }, hdr.order.sum, HashAlgorithm.csum16);
        update_checksum(hdr.order.kind == 22, { hdr.order.a, hdr.order.b }, hdr.order.sum, HashAlgorithm.csum16);
    }
}

control Deparse(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.order);
    }
}

V1Switch(Orders(), Verify(), Before(), After(), Compute(), Deparse()) main;
