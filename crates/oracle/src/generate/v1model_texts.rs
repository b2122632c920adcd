//! The texts of forms that make use of v1model.

use super::control_texts::{ANY, InControl, Place};

pub const CONTROLS: &[InControl] = &[    InControl {
        statements: "        hash(meta.m1, HashAlgorithm.crc16, 16w#s, { meta.m0, hdr.base.k, 4w3 ++ meta.m0[3:0], meta.m2 }, 32w#d);
        hash(meta.m0, HashAlgorithm.crc32, 8w0, { hdr.base, hdr.base.k }, 16w251);
",
        ..ANY
    },
    InControl {
        statements: "        hash(meta.m1, HashAlgorithm.csum16, 16w0, { hdr.base.k, meta.m0, hdr.base.l, meta.flag, 7w#d }, 32w0x10000);
        hash(meta.array[2], HashAlgorithm.xor16, 8w#s, { hdr.base.l, meta.m1 }, 16w100);
",
        ..ANY
    },
    InControl {
        locals: "    counter(8, CounterType.packets_and_bytes) n#n;
    counter(8, CounterType.bytes) o#n;
    direct_counter(CounterType.bytes) d#n;
    action c#n(bit<8> v) {
        d#n.count();
        meta.m0 = v;
    }
    table t#n {
        key = {
            hdr.base.l : exact;
        }
        actions = {
            c#n;
            @defaultonly NoAction;
        }
        const entries = {
            #s : c#n(#d);
        }
        default_action = NoAction;
        counters = d#n;
    }
",
        statements: "        n#n.count((bit<32>) hdr.base.k[2:0]);
        o#n.count(#s);
        log_msg(\"m0 is {}\", { meta.m0 });
        log_msg(\"applied\");
        assert(true);
        t#n.apply();
",
        ..ANY
    },
    InControl {
        before: "control User#n(inout bit<8> v)(register<bit<8>> elements, bit<8> by = #s) {
    apply {
        bit<8> old;
        elements.read(old, 1);
        elements.write(1, old + by);
        v = v ^ old;
    }
}
",
        locals: "    register<bit<8>>(2) elements#n;
    User#n(elements#n) one#n;
    User#n(elements = elements#n, by = #d) two#n;
    register<bool>(4) flags#n;
",
        statements: "        one#n.apply(meta.m0);
        two#n.apply(v = hdr.base.l);
        flags#n.write((bit<32>) hdr.base.k[1:0], meta.flag);
        flags#n.read(meta.flag, 2);
",
        ..ANY
    },
    InControl {
        before: "type bit<8> mark#n;
@p4runtime_translation(\"marks\", string) type bit<8> named#n;
struct record#n {
    mark#n m;
    named#n n;
    bit<16> w;
    bool b;
    error e;
    level_t l;
    part_t p;
    base_t h;
    item_t[3] s;
    either_t u;
    tuple<bit<8>, bool> t;
}
",
        statements: "        if (hdr.base.k < #d) {
            digest<record#n>(1, { (mark#n) meta.m0, (named#n) hdr.base.k, meta.m1, meta.flag, meta.err, level_t.Low,
                { 1, meta.m2 }, hdr.base, hdr.items, hdr.either, { 3, false } });
            digest(2, { meta.m0, hdr.base.k });
        }
",
        ..ANY
    },
    InControl {
        locals: "    meter(4, MeterType.packets) m#n;
    direct_meter<bit<8>>(MeterType.bytes) d#n;
    action c#n() {
        d#n.read(meta.m0);
    }
    table t#n {
        key = {
            hdr.base.l : exact;
        }
        actions = {
            c#n;
            NoAction;
        }
        const entries = {
            #s : c#n();
        }
        meters = d#n;
    }
",
        statements: "        m#n.execute_meter<bit<8>>((bit<32>) hdr.base.k[1:0], meta.array[1]);
        t#n.apply();
        random(meta.m1, 16w5, 16w5);
",
        ..ANY
    },
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = v;
    }
    table t#n {
        key = {
            hdr.base.k : exact;
        }
        actions = {
            set#n;
            NoAction;
        }
        default_action = NoAction;
        implementation = action_profile(8);
    }
    table s#n {
        key = {
            hdr.base.k : exact;
            hdr.base.l : selector;
        }
        actions = {
            set#n;
            NoAction;
        }
        implementation = action_selector(HashAlgorithm.crc16, 8, 14);
    }
",
        statements: "        t#n.apply();
        if (s#n.apply().miss) {
            meta.m0 = meta.m0 + #s;
        }
",
        ..ANY
    },
    InControl {
        place: Place::Egress,
        statements: "        meta.m1 = meta.m1 + (bit<16>) std.packet_length + (bit<16>) std.egress_port;
        meta.m0 = meta.m0 ^ (bit<8>) std.instance_type;
        if (std.checksum_error == 1) {
            meta.m0 = #d;
        }
        hdr.seen.s0 = meta.m0;
        hdr.seen.s1 = meta.m1;
",
        ..ANY
    },
    InControl {
        place: Place::Ingress,
        statements: "        if (std.instance_type == 0 && hdr.base.k == #s) {
            meta.m0 = #d;
            resubmit_preserving_field_list(1);
        }
        if (std.instance_type == 0 && hdr.base.l == #s) {
            resubmit_preserving_field_list(2);
        }
        meta.m1 = meta.m1 + (bit<16>) std.instance_type;
",
        ..ANY
    },
    InControl {
        place: Place::Ingress,
        statements: "        if (hdr.base.k < 4) {
            clone(CloneType.I2E, #s);
        } else if (hdr.base.k == #s) {
            clone_preserving_field_list(CloneType.I2E, 5, 1);
        }
        meta.m1 = meta.m1 + 1;
",
        ..ANY
    },
    InControl {
        place: Place::Egress,
        statements: "        if (hdr.base.k < 4 && std.instance_type != 2) {
            clone_preserving_field_list(CloneType.E2E, 6, 2);
        } else if (hdr.base.l == 5) {
            hdr.base.l = 201;
            recirculate_preserving_field_list(1);
        }
        meta.m1 = meta.m1 + (bit<16>) std.egress_rid;
        if (std.instance_type == 2) {
            meta.m0 = 0;
        }
",
        ..ANY
    },
    // The older calls name the fields to keep.
    InControl {
        place: Place::Ingress,
        locals: "    action clone#n(bit<8> v) {
        meta.m0 = v;
        clone3(CloneType.I2E, 5, { meta.m0, meta.m2 });
    }
",
        statements: "        if (hdr.base.k == #s) {
            clone#n(#d);
        } else if (hdr.base.k[0:0] == 1) {
            clone3(CloneType.I2E, 6, meta.m1);
        } else if (hdr.base.k < 4) {
            clone3(CloneType.I2E, 5, meta);
        }
        if (std.instance_type == 0 && hdr.base.l == #s) {
            resubmit({ meta.m0, { meta.m1, std.packet_length } });
        } else if (std.instance_type == 0 && hdr.base.l[1:0] == 3) {
            resubmit(meta);
        }
        meta.m1 = meta.m1 + 3;
",
        ..ANY
    },
    InControl {
        place: Place::Egress,
        statements: "        if (hdr.base.l[0:0] == 1 && std.instance_type == 0) {
            clone3(CloneType.E2E, 6, { meta.m1 });
        } else if (hdr.base.k == #s) {
            clone3(CloneType.E2E, 5, { hdr.base.k });
        }
        if (hdr.base.l == #d) {
            hdr.base.l = #s;
            recirculate({ meta.m2, meta.m0 });
        } else if (hdr.base.l == 6) {
            hdr.base.l = 201;
            recirculate(meta);
        }
        meta.m0 = meta.m0 ^ (bit<8>) std.instance_type;
",
        ..ANY
    },
    // Arrays of objects, whose index is read before the arguments.
    InControl {
        locals: "    register<bit<8>>(2) elements#n[4];
    counter(4, CounterType.packets) counts#n[2];
",
        statements: "        elements#n[hdr.base.k[1:0]].read(meta.m0, (bit<32>) hdr.base.l[0:0]);
        elements#n[meta.m0[1:0]].write(0, meta.m0 + #s);
        elements#n[meta.m0[1:0]].read(meta.m0, 0);
        elements#n[3].write((bit<32>) meta.m0[0:0], hdr.base.k);
        counts#n[hdr.base.l[0:0]].count(#s);
",
        ..ANY
    },
    InControl {
        place: Place::Egress,
        statements: "        if (hdr.base.k == #s) {
            mark_to_drop(std);
        }
        if (hdr.base.l == #s) {
            truncate(32w20);
        }
",
        ..ANY
    },
    InControl {
        place: Place::Ingress,
        statements: "        if (std.parser_error != error.NoError || std.checksum_error == 1) {
            meta.m0 = meta.m0 + #s;
        }
        if (hdr.base.l == #s) {
            std.mcast_grp = 1;
        }
        meta.m1 = meta.m1 + (bit<16>) std.packet_length;
",
        ..ANY
    },
    InControl {
        locals: "    Checksum16() sum#n;
",
        statements: "        meta.m1 = sum#n.get({ hdr.base.k, hdr.base.l, meta.m1 });
        hash(meta.array[1], HashAlgorithm.identity, 8w#s, { meta.m0, hdr.base.k }, 16w#d);
        hash(meta.array[2], HashAlgorithm.identity, 8w0, { 56w#s, meta.m1, hdr.base }, 16w251);
        hash(meta.m1, HashAlgorithm.crc16_custom, 16w0, { meta.m0, hdr.base.k }, 32w0x10000);
        hash(meta.m0, HashAlgorithm.crc32_custom, 8w0, { meta.m1, hdr.base.l }, 16w256);
",
        ..ANY
    },
    // No time passes in a test.
    InControl {
        place: Place::Egress,
        statements: "        if ((bit<32>) std.ingress_global_timestamp != std.enq_timestamp || std.egress_global_timestamp > 1000) {
            hdr.seen.s0 = #d;
        }
        meta.m1 = meta.m1 + (bit<16>) std.deq_timedelta;
        hdr.seen.s1 = meta.m1;
",
        ..ANY
    },
    InControl {
        before: "extern Virtual#n {
    Virtual#n();
    abstract bit<8> turned(in bit<8> v, inout bit<16> w);
}
",
        locals: "    Virtual#n() virtual#n = {
        bit<8> turned(in bit<8> v, inout bit<16> w) {
            w = w + (bit<16>) v;
            if (v == #d) {
                return v ^ #s;
            }
            return v + #d;
        }
    };
",
        statements: "        meta.m0 = virtual#n.turned(meta.m0, meta.m1);
        hdr.base.l = virtual#n.turned(hdr.base.k, meta.m1);
",
        ..ANY
    },
    // Externs of the program's own: `custom.rs` and the evaluator know what they do.
    InControl {
        before: "struct pair#n_t {
    bit<8> x;
    bit<16> y;
}
header head#n_t {
    bit<8> p;
    bit<8> q;
}
extern Mixer#n {
    Mixer#n(bit<32> start);
    bit<16> mix(in bit<8> a, inout bit<16> b, out bit<8> c);
    bit<8> mix(in bit<8> a);
    bool odd();
    void mark(out head#n_t h);
}
extern bit<8> fold#n(in pair#n_t pair, in bit<100> wide);
extern void widen#n(inout bit<100> wide, in bool flip);
extern pair#n_t pair#n(in bit<8> a);
extern bit<8> number#n(in error e, in colour_t colour);
extern bit<8> sum#n(in head#n_t h);
extern head#n_t heads#n(in bit<8> a);
",
        locals: "    Mixer#n(#d) mixer#n;
    Mixer#n(32w#s) other#n;
    Mixer#n(#s) many#n[4];
    action mixes#n(bit<8> v) {
        meta.m1 = mixer#n.mix(v, meta.m1, meta.array[1]);
    }
    table t#n {
        key = {
            hdr.base.l : exact;
        }
        actions = {
            mixes#n;
            NoAction;
        }
        default_action = mixes#n(#d);
        const entries = {
            #s : mixes#n(#s);
            #d : NoAction();
        }
    }
",
        statements: "        t#n.apply();
        meta.m0 = other#n.mix(meta.m0);
        bit<100> wide#n = meta.m1 ++ 76w#d ++ hdr.base.k;
        widen#n(wide#n, mixer#n.odd());
        meta.array[0] = fold#n({ meta.m0, meta.m1 }, wide#n);
        pair#n_t made#n = pair#n(hdr.base.k);
        if (other#n.odd() && made#n.x != #d) {
            head#n_t head#n;
            other#n.mark(head#n);
            meta.array[3] = sum#n(heads#n(hdr.base.k)) ^ sum#n(head#n);
            if (head#n.isValid()) {
                meta.m0 = head#n.p ^ head#n.q;
            }
            meta.m1 = other#n.mix(made#n.x, made#n.y, meta.m0) + made#n.y;
        }
        meta.array[2] = number#n(meta.err, meta.colour);
        meta.m1 = many#n[meta.m0[1:0]].mix(meta.m0, meta.m1, meta.m0);
        meta.array[3] = many#n[hdr.base.k[1:0]].mix(many#n[hdr.base.l[1:0]].mix(meta.m0)) ^ many#n[2].mix(1);
",
        ..ANY
    },
];

/// Calls in the controls that verify and compute checksums. `hdr.seen.s1` shows `meta.m1`, a `bit<16>`.
pub const CHECKSUMS: &[&str] = &[
    "        verify_checksum(hdr.base.isValid(), { hdr.base.k, hdr.base.l, 16w#d }, meta.m1, HashAlgorithm.csum16);
",
    "        verify_checksum(meta.flag, { hdr.base, hdr.one }, meta.m1, HashAlgorithm.crc16);
",
    "        verify_checksum_with_payload(true, { hdr.base.k, hdr.base.l }, meta.m1, HashAlgorithm.csum16);
",
    "        update_checksum(hdr.base.isValid(), { hdr.base.k, hdr.base.l, hdr.seen.s0, hdr.one }, hdr.seen.s1, HashAlgorithm.csum16);
",
    "        update_checksum_with_payload(hdr.base.k > #d, { hdr.base.k, hdr.seen.s0 }, hdr.seen.s1, HashAlgorithm.csum16);
",
    "        update_checksum(true, { hdr.base.l, meta.m0 }, hdr.seen.s1, HashAlgorithm.xor16);
",
];
