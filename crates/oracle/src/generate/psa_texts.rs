//! The texts of forms that make use of PSA.

use super::control_texts::{ANY, InControl, Place};

pub const CONTROLS: &[InControl] = &[
    InControl {
        locals: "    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc#n;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) long#n;
    Hash<bit<8>>(PSA_HashAlgorithm_t.CRC32) short#n;
",
        statements: "        meta.m1 = crc#n.get_hash({ meta.m0, hdr.base.k, meta.m1 });
        meta.array[1] = (bit<8>) long#n.get_hash(32w#d, { hdr.base, meta.m0 }, 32w#d);
        meta.m0 = short#n.get_hash(hdr.base.l);
",
        ..ANY
    },
    InControl {
        before: "struct hashed#n_t {
    bit<8> x;
    bit<16> y;
}
",
        locals: "    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) crc#n;
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) long#n;
",
        statements: "        bit<16> local#n = meta.m1 ^ #d;
        meta.m1 = crc#n.get_hash({ local#n, 8w#s, hdr.base.k, 16w#d });
        meta.m0 = long#n.get_hash((hashed#n_t) { y = meta.m1, x = hdr.base.l })[7:0];
        meta.array[1] = long#n.get_hash((hashed#n_t) { hdr.base.k, local#n })[15:8];
",
        ..ANY
    },
    InControl {
        locals: "    Hash<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum#n;
    Hash<bit<8>>(PSA_HashAlgorithm_t.IDENTITY) same#n;
",
        statements: "        meta.m1 = sum#n.get_hash(16w#s, { hdr.base.k, meta.m0, meta.m1 }, 16w#d);
        meta.array[2] = same#n.get_hash({ meta.m0, hdr.base.l }) ^ same#n.get_hash({ 56w#d, meta.m0, hdr.base.l });
        meta.m1 = meta.m1 ^ sum#n.get_hash<tuple<bit<8>, bit<8>>>({ hdr.base.k, meta.array[2] });
",
        ..ANY
    },
    InControl {
        locals: "    Register<bit<16>, bit<2>>(4, 16w#d) kept#n;
    Register<bool, bit<8>>(2) flags#n;
    Register<bit<8>, bit<32>>(8) elements#n;
",
        statements: "        meta.m1 = meta.m1 + kept#n.read(hdr.base.k[1:0]);
        kept#n.write(hdr.base.l[1:0], meta.m1);
        if (!flags#n.read(hdr.base.k & 1)) {
            flags#n.write(1, meta.flag);
        }
        elements#n.write((bit<32>) hdr.base.k[2:0], elements#n.read((bit<32>) hdr.base.l[2:0]) + #s);
        meta.array[0] = elements#n.read(#s);
",
        ..ANY
    },
    InControl {
        before: "struct element#n_t {
    bit<8> a;
    bool b;
    int<5> c;
    inner_t inner;
}
",
        locals: "    Register<element#n_t, bit<1>>(2) elements#n;
",
        statements: "        element#n_t element#n = elements#n.read(hdr.base.k[0:0]);
        if (!element#n.b || element#n.c < 0) {
            element#n = { meta.m0, hdr.base.k > #d, -#s, meta.inner };
            elements#n.write(hdr.base.l[0:0], element#n);
        } else {
            meta.other = element#n.inner;
        }
        meta.m0 = meta.m0 + element#n.a;
",
        ..ANY
    },
    InControl {
        locals: "    Counter<bit<32>, bit<8>>(200, PSA_CounterType_t.PACKETS_AND_BYTES) n#n;
    Counter<bit<32>, bit<3>>(8, PSA_CounterType_t.BYTES) o#n;
    DirectCounter<bit<48>>(PSA_CounterType_t.PACKETS) d#n;
    DirectMeter(PSA_MeterType_t.BYTES) e#n;
    Meter<bit<3>>(8, PSA_MeterType_t.PACKETS) m#n;
    Random<bit<16>>(#d, #d) r#n;
    Random<bit<8>>(5, 5) five#n;
    action c#n(bit<8> v) {
        d#n.count();
        meta.m0 = v;
        if (e#n.execute() == PSA_MeterColor_t.GREEN) {
            meta.m0 = meta.m0 + #s;
        }
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
        psa_direct_counter = d#n;
        psa_direct_meter = e#n;
    }
",
        statements: "        n#n.count(hdr.base.k);
        o#n.count(#s);
        assert(true);
        t#n.apply();
        PSA_MeterColor_t colour#n = m#n.execute(hdr.base.k[2:0]);
        if (colour#n == PSA_MeterColor_t.YELLOW || m#n.execute(#s, PSA_MeterColor_t.GREEN) == PSA_MeterColor_t.RED) {
            meta.m0 = #d;
        }
        meta.m1 = meta.m1 + (bit<16>) five#n.read();
",
        ..ANY
    },
    InControl {
        locals: "    ActionProfile(8) profile#n;
    ActionSelector(PSA_HashAlgorithm_t.CRC16, 8, 32w10) ways#n;
    action set#n(bit<8> v) {
        meta.m0 = v;
    }
    action add#n(bit<16> v) {
        meta.m1 = meta.m1 + v;
    }
    action none#n() {
        meta.m0 = #d;
    }
    table t#n {
        key = {
            hdr.base.k : exact;
        }
        actions = {
            set#n;
            add#n;
            NoAction;
        }
        default_action = NoAction;
        psa_implementation = profile#n;
    }
    table s#n {
        key = {
            hdr.base.k[0:0] : exact @name(\"low\");
            hdr.base.l : selector;
            meta.m1 : selector;
        }
        actions = {
            set#n;
            add#n;
            none#n;
        }
        default_action = none#n;
        psa_implementation = ways#n;
        psa_empty_group_action = none#n;
    }
",
        statements: "        switch (t#n.apply().action_run) {
            set#n: { meta.m1 = meta.m1 + 1; }
            NoAction: { meta.m1 = meta.m1 ^ #d; }
        }
        if (s#n.apply().miss) {
            meta.m0 = meta.m0 + #s;
        }
",
        lines: "member #c.profile#n 1 #c.set#n(v:#d)
member #c.profile#n 2 #c.add#n(v:#d)
add #c.t#n hdr.base.k:#s member=1
add #c.t#n hdr.base.k:0 member=2
member #c.ways#n 1 #c.set#n(v:#d)
member #c.ways#n 2 #c.add#n(v:#d)
member #c.ways#n 3 #c.set#n(v:#s)
group #c.ways#n 1 1 2 3
group #c.ways#n 2
add #c.s#n low:0 group=1
add #c.s#n low:1 group=2
",
        ..ANY
    },
    InControl {
        locals: "    action name#n(bit<8> v) {
        meta.m0 = v;
    }
    table errors#n {
        key = {
            std.parser_error : exact;
        }
        actions = {
            name#n;
        }
        default_action = name#n(#d);
        const entries = {
            error.NoError : name#n(#d);
            error.PacketTooShort : name#n(2);
            error.StackOutOfBounds : name#n(3);
            error.NoMatch : name#n(4);
        }
    }
",
        statements: "        errors#n.apply();
",
        ..ANY
    },
    InControl {
        place: Place::Ingress,
        locals: "    action go#n(PortId_t port) {
        send_to_port(ostd, port);
    }
    action spread#n(MulticastGroup_t group, ClassOfService_t class) {
        multicast(ostd, group);
        ostd.class_of_service = class;
    }
    action copy#n(CloneSessionId_t session) {
        ostd.clone = true;
        ostd.clone_session_id = session;
    }
    action stay#n() {
        ingress_drop(ostd);
    }
    table paths#n {
        key = {
            hdr.base.l : ternary;
            is_again : exact;
        }
        actions = {
            go#n;
            spread#n;
            copy#n;
            stay#n;
            NoAction;
        }
        default_action = NoAction;
        const entries = {
            (#s, false) : spread#n((MulticastGroup_t) 1, (ClassOfService_t) #s);
            (#s, false) : copy#n((CloneSessionId_t) #s);
            (#s, true) : stay#n();
            (1 &&& 3, false) : go#n(PSA_PORT_RECIRCULATE);
            (2 &&& 3, false) : go#n((PortId_t) #s);
        }
    }
",
        statements: "        paths#n.apply();
",
        ..ANY
    },
    InControl {
        place: Place::Ingress,
        statements: "        meta.m1 = meta.m1 + (bit<16>) (bit<32>) std.ingress_port;
        if (std.packet_path == PSA_PacketPath_t.RESUBMIT) {
            meta.m0 = meta.m0 + #d;
        } else if (std.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            meta.m0 = meta.m0 ^ #d;
        }
        if ((bit<64>) std.ingress_timestamp > 1000) {
            meta.m0 = #d;
        }
        if (ostd.drop || ostd.multicast_group == (MulticastGroup_t) 1) {
            meta.m1 = meta.m1 + (bit<16>) (bit<8>) ostd.class_of_service;
        }
",
        ..ANY
    },
    InControl {
        place: Place::Egress,
        statements: "        meta.m1 = meta.m1 + (bit<16>) std.instance;
        meta.m0 = meta.m0 ^ (bit<8>) std.class_of_service + (bit<8>) (bit<64>) std.egress_timestamp;
        switch (std.packet_path) {
            PSA_PacketPath_t.NORMAL_UNICAST: { meta.m0 = meta.m0 + 1; }
            PSA_PacketPath_t.NORMAL_MULTICAST: { meta.m0 = meta.m0 + 2; }
            PSA_PacketPath_t.CLONE_I2E: { meta.m0 = meta.m0 + 4; }
            default: { meta.m1 = meta.m1 + (bit<16>) (bit<32>) std.egress_port; }
        }
        hdr.seen.s0 = meta.m0;
        hdr.seen.s1 = meta.m1;
",
        ..ANY
    },
];
