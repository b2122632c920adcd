//! The texts of forms in controls.

/// The places where a form is allowed.
#[derive(Clone, Copy)]
pub enum Place {
    Any,
    Ingress,
    Egress,
}

pub struct InControl {
    pub place: Place,
    pub before: &'static str,
    pub locals: &'static str,
    pub statements: &'static str,
    /// What the control plane adds: lines of STF, in which `#c` is the control.
    pub lines: &'static str,
}

pub const ANY: InControl = InControl { place: Place::Any, before: "", locals: "", statements: "", lines: "" };

pub const CONTROLS: &[InControl] = &[
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = meta.m0 + v;
    }
    table t#n {
        key = {
            meta.m0 : ternary;
            hdr.base.k : range;
        }
        actions = {
            set#n;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 16;
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            priority = 30: (0 &&& 1, 0 .. 100) : set#n(1);
            (_, 5 .. 255) : set#n(2);
            priority = #s: (#d, _) : set#n(#d);
            (1 &&& 3, _) : set#n(4);
        }
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = meta.m0 ^ v;
    }
    table t#n {
        key = {
            meta.m1 : ternary;
            meta.flag : exact;
        }
        actions = {
            @tableonly set#n;
            NoAction;
        }
        const entries = {
            (0 &&& 3, true) : set#n(1) @priority(#s);
            (1 &&& 1, true) : set#n(2) @priority(3 + #s * 2);
            (_, true) : set#n(#d) @priority(9);
            (_, false) : set#n(#s) @priority(1);
        }
    }
",
        statements: "        if (t#n.apply().hit) {
            meta.m1 = meta.m1 + #s;
        }
",
        ..ANY
    },
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = meta.m0 - v;
    }
    table t#n {
        key = {
            hdr.base.k : optional;
            hdr.base.l : lpm;
            meta.colour : exact;
            (level_t) hdr.base.k : exact @name(\"level#n\");
        }
        actions = {
            set#n;
        }
        default_action = set#n(v = #d);
        largest_priority_wins = true;
        entries = {
            (#s, 0 &&& 0xf8, colour_t.Red, level_t.Low) : set#n(1);
            (_, #s, colour_t.Red, level_t.Mid) : set#n(2);
            (_, _, colour_t.Red, level_t.High) : set#n(#d);
            (4, _, colour_t.Red, level_t.Mid) : set#n(v = #s);
        }
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    InControl {
        before: "struct data#n {
    bit<8> a;
    int<4> b;
    bool c;
}
",
        locals: "    action put#n(data#n v, bit<8> w) {
        if (v.c) {
            meta.m0 = v.a + w;
        } else {
            meta.m0 = (bit<8>) (bit<4>) v.b;
        }
    }
    table t#n {
        key = {
            hdr.base.k : exact;
        }
        actions = {
            put#n;
            NoAction;
        }
        default_action = put#n({ #d, -3, false }, 9);
        const entries = {
            1 : put#n({ #d, 2, true }, #s);
            2 : put#n({ a = 3, b = -1, c = false }, 5);
            (3) : NoAction();
        }
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    InControl {
        locals: "    action inc#n() {
        meta.m0 = meta.m0 + #s;
    }
    table t#n {
        key = {
            meta.m0[1:0] : exact @name(\"low#n\");
        }
        actions = {
            inc#n;
            NoAction;
        }
        const entries = {
            0 : inc#n();
            1 : inc#n();
            2 : NoAction();
        }
        default_action = NoAction;
    }
",
        statements: "        for (bit<8> i = 0; i < 3 && t#n.apply().hit; i = i + 1) {
            meta.m1 = meta.m1 + 1;
        }
        for (bit<8> i = 0; !(i > 2 || t#n.apply().miss); i = i + 1) {
            meta.m1 = meta.m1 ^ #d;
            if (meta.m0 == #d) {
                continue;
            }
            meta.m1 = meta.m1 + 5;
        }
",
        ..ANY
    },
    InControl {
        locals: "    action inc#n() {
        meta.m0 = meta.m0 + #s;
    }
    table t#n {
        key = {
            meta.m0[1:0] : exact @name(\"low#n\");
        }
        actions = {
            inc#n;
            NoAction;
        }
        const entries = {
            0 : inc#n();
            3 : inc#n();
        }
        default_action = NoAction;
    }
",
        statements: "        for (bit<8> i in 0 .. (hdr.base.k & 3)) {
            t#n.apply();
            if (meta.m0 == #d) {
                break;
            }
            meta.m1 = meta.m1 + (bit<16>) i;
        }
        for (bit<8> i = hdr.base.l & 3; i != #s; i += 1) {
            if (!t#n.apply().hit || i > 5) {
                break;
            }
        }
",
        ..ANY
    },
    InControl {
        before: "control Direct#n(inout bit<8> v, in bit<8> w) {
    const bit<8> by = #s;
    apply {
        v = v + by;
        if (v == w) {
            exit;
        }
    }
}
",
        statements: "        Direct#n.apply(meta.m0, #d);
",
        ..ANY
    },
    // Two controls that may exit, one behind the other: each owes copies of its own. Parameters of which the arguments are invalid.
    InControl {
        before: "header own#n_t { bit<8> a; bit<8> b; }
bit<8> wrote#n(out bit<8> v) { v = #s; return v; }
control Counts#n(inout bit<8> v, in bit<8> w) {
    apply { v = v + 1; if (v == w) { exit; } }
}
control Leaves#n(inout bit<8> alone, inout headers_t all) {
    action go() { exit; }
    table t {
        key = { all.base.l : exact; }
        actions = { go; NoAction; }
        const default_action = NoAction();
        const entries = { #d : go(); }
    }
    apply {
        all.base.l = all.base.l + 1;
        alone = #s;
        if (all.base.l < 128) { go(); }
        t.apply();
        alone = alone ^ all.base.l;
    }
}
",
        locals: "    Leaves#n() leaves#n;
",
        statements: "        own#n_t h#n;
        h#n = { wrote#n(h#n.a), wrote#n(h#n.b) + 1 };
        meta.m0 = meta.m0 + h#n.a ^ h#n.b;
        Counts#n.apply(meta.m0, #d);
        leaves#n.apply(hdr.base.k, hdr);
        Counts#n.apply(hdr.base.l, #s);
",
        ..ANY
    },
    InControl {
        locals: "    const bit<8> OWN#n = #d;
    action h#n() {
        meta.m0 = meta.m0 ^ OWN#n;
    }
    @hidden table t#n {
        actions = {
            h#n;
        }
        const default_action = h#n();
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    InControl {
        locals: "    @id(#n) @brief(\"adds\") @note[1, \"a\", true] action noted#n(@id(2) bit<8> v) {
        meta.m0 = meta.m0 + v;
    }
    @name(\"odd.t#n\") @note[key = 5, text = \"b\"] @unread(a + 1) table t#n {
        key = {
            hdr.base.l : ternary @name(\"key#n\");
        }
        actions = {
            @defaultonly @note(\"c\") noted#n;
            NoAction;
        }
        const default_action = noted#n(#d);
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    InControl {
        before: "control Stops#n(inout bit<8> v, in bit<8> k) {
    action stop#n(bit<8> by) {
        v = v + by;
        exit;
    }
    table t#n {
        key = {
            k : exact;
        }
        actions = {
            stop#n;
            NoAction;
        }
        const entries = {
            #s : stop#n(#d);
            0 : NoAction();
        }
    }
    apply {
        v = v + 1;
        t#n.apply();
        v = v ^ #d;
    }
}
control Around#n(inout bit<8> v, out bit<8> w) {
    Stops#n() inner;
    apply {
        w = v + 1;
        inner.apply(w, v);
        v = v + w;
    }
}
",
        locals: "    Around#n() around#n;
",
        statements: "        meta.m0 = hdr.base.k;
        around#n.apply(meta.m0, meta.array[3]);
",
        ..ANY
    },
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = meta.m0 + v;
    }
    table t#n {
        key = {
            hdr.base.k[3:0] : exact;
            hdr.base.l & 0x0f : ternary;
            hdr.steady[1].k : lpm;
            meta.array[2] : range;
            hdr.one.isValid() : exact;
        }
        actions = {
            set#n;
            NoAction;
        }
        const entries = {
            (#s, _, 0 &&& 0x80, 0 .. 8, true) : set#n(#d);
            (#s, 1 &&& 1, _, _, false) : set#n(#s);
            (#s, 0 &&& 9, _, _, false) : set#n(#s);
        }
    }
",
        statements: "        t#n.apply();
",
        ..ANY
    },
    // Without a default action a miss runs NoAction, which the table does not list.
    InControl {
        locals: "    action set#n(bit<8> v) {
        meta.m0 = v;
    }
    table t#n {
        key = {
            hdr.steady[0b1].k : exact;
            hdr.base.l[2:0] : ternary @name(\"low#n\");
        }
        actions = {
            set#n;
        }
        const entries = {
            (#s, _) : set#n(#d);
            (#d, 0 &&& 1) : set#n(#s);
        }
    }
",
        statements: "        if (t#n.apply().miss) {
            meta.m1 = meta.m1 + #d;
        }
",
        ..ANY
    },
];
