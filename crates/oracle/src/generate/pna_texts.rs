//! The texts of forms that make use of PNA.

use super::control_texts::{ANY, InControl};

pub const CONTROLS: &[InControl] = &[
    InControl {
        locals: "    Hash<bit<16>>(PNA_HashAlgorithm_t.CRC16) crc#n;
    Hash<bit<32>>(PNA_HashAlgorithm_t.CRC32) long#n;
    Hash<bit<8>>(PNA_HashAlgorithm_t.IDENTITY) same#n;
",
        statements: "        meta.m1 = crc#n.get_hash({ meta.m0, hdr.base.k, meta.m1 });
        meta.array[1] = (bit<8>) long#n.get_hash(32w#d, { hdr.base, meta.m0 }, 32w#d);
        meta.m0 = same#n.get_hash({ hdr.base.l, meta.m0 }) ^ same#n.get_hash({ 48w#d, meta.m0, hdr.base.l });
        meta.array[3] = meta.array[3] ^ crc#n.get_hash({ arrived, 8w#s, 16w#d })[7:0];
",
        ..ANY
    },
    InControl {
        locals: "    Register<bit<16>, bit<2>>(4, 16w#d) kept#n;
    Counter<bit<32>, bit<8>>(200, PNA_CounterType_t.PACKETS_AND_BYTES) n#n;
    DirectCounter<bit<48>>(PNA_CounterType_t.PACKETS) d#n;
    Meter<bit<3>>(8, PNA_MeterType_t.PACKETS) m#n;
    Random<bit<8>>(5, 5) five#n;
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
            NoAction;
        }
        const entries = {
            #s : c#n(#d);
        }
        default_action = NoAction;
        pna_direct_counter = d#n;
    }
",
        statements: "        meta.m1 = meta.m1 + kept#n.read(hdr.base.k[1:0]);
        kept#n.write(hdr.base.l[1:0], meta.m1);
        n#n.count(hdr.base.k);
        t#n.apply();
        if (m#n.execute(hdr.base.k[2:0]) == PNA_MeterColor_t.GREEN) {
            meta.m1 = meta.m1 + (bit<16>) five#n.read();
        }
",
        ..ANY
    },
    InControl {
        statements: "        meta.m1 = meta.m1 + SelectByDirection<bit<16>>(std.direction, (bit<16>) hdr.base.k, (bit<16>) hdr.base.l);
        meta.m0 = meta.m0 + (bit<8>) std.pass;
        meta.m1 = meta.m1 ^ (bit<16>) (bit<32>) std.input_port;
        if (std.direction == PNA_Direction_t.HOST_TO_NET || std.loopedback) {
            meta.m0 = #d;
        }
        if (std.parser_error != error.NoError) {
            meta.m0 = meta.m0 + #s;
        }
",
        ..ANY
    },
    InControl {
        statements: "        if (hdr.base.k == #s) {
            mirror_packet((MirrorSlotId_t) 1, (MirrorSessionId_t) #s);
            mirror_packet((MirrorSlotId_t) 3, (MirrorSessionId_t) 2);
            if (meta.flag) {
                mirror_packet((MirrorSlotId_t) 1, (MirrorSessionId_t) #s);
            }
        }
",
        ..ANY
    },
    InControl {
        locals: "    action go#n(PortId_t port) {
        send_to_port(port);
    }
    action stay#n() {
        drop_packet();
    }
    action twice#n() {
        recirculate();
    }
    table paths#n {
        key = {
            hdr.base.l : ternary;
            is_again : exact;
        }
        actions = {
            go#n;
            stay#n;
            twice#n;
            NoAction;
        }
        default_action = NoAction;
        const entries = {
            (#s, false) : twice#n();
            (#s, true) : stay#n();
            (#s, false) : go#n((PortId_t) #s);
        }
    }
",
        statements: "        paths#n.apply();
",
        ..ANY
    },
    InControl {
        before: "struct learnt#n_t {
    bit<8> v;
    bit<16> w;
}
",
        locals: "    action known#n(bit<8> v, bit<16> w) {
        meta.m0 = v;
        meta.m1 = meta.m1 + w;
        restart_expire_timer();
        set_entry_expire_time((ExpireTimeProfileId_t) #s);
        set_entry_expire_time_if(meta.flag, (ExpireTimeProfileId_t) 1);
        update_expire_info(true, meta.flag, (ExpireTimeProfileId_t) 2);
    }
    action missed#n() {
        bool done = add_entry(\"known#n\", (learnt#n_t) { hdr.base.k, meta.m1 }, (ExpireTimeProfileId_t) #s);
        meta.m0 = meta.m0 + (done ? 8w1 : 8w#d);
    }
    table flows#n {
        key = {
            hdr.base.l : exact;
            meta.flag : exact;
        }
        actions = {
            @defaultonly missed#n;
            @tableonly known#n;
        }
        default_action = missed#n;
        add_on_miss = true;
        pna_idle_timeout = PNA_IdleTimeout_t.AUTO_DELETE;
    }
",
        statements: "        flows#n.apply();
        if (hdr.base.k == #s) {
            meta.m1 = meta.m1 + (bit<16>) (bit<32>) allocate_flow_id();
        }
",
        ..ANY
    },
];
