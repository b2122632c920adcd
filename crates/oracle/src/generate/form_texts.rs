//! The texts of the forms.

/// Where a form can stand.
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
}

/// Functions `bit<8> form#n(in bit<8> x, ...)`, and their `inout` parameters beside: a name and a type of the program.
pub type FunctionForm = (&'static str, &'static [(&'static str, &'static str)]);

pub const FUNCTIONS: &[FunctionForm] = &[
    (
        "typedef bit<8> octet#n;
type bit<8> kind#n;
const kind#n FIRST#n = (kind#n) #d;
bit<8> form#n(in bit<8> x) {
    kind#n k = (kind#n) (x + #s);
    octet#n o = (octet#n) k;
    kind#n c = x > #d ? k : FIRST#n;
    return o ^ (bit<8>) c;
}
",
        &[],
    ),
    (
        "struct pair#n<T, S> {
    T a;
    S b;
}
T second#n<T>(in T x, in T y) {
    return y;
}
bit<8> form#n(in bit<8> x) {
    pair#n<bit<8>, bit<16>> p = { a = x + #s, b = #d };
    pair#n<bit<8>, bit<16>> q = { #d, 8w0 ++ x };
    pair#n<bit<8>, bit<16>> z = { a = x, ... };
    bool same = p == q || p == z;
    return second#n<bit<8>>(q.a, p.a) + second#n(x, (bit<8>) q.b) + (same ? 8w1 : z.a);
}
",
        &[],
    ),
    (
        "const int BIG#n = #d * 1000 - 7;
const bit<8> LOW#n = (bit<8>) (BIG#n % 256);
const bool ODD#n = BIG#n > 93000 && !(BIG#n == 99993) || BIG#n * 2 < 0;
bit<8> form#n(in bit<8> x) {
    const bit<8> own = LOW#n + 3;
    bit<16> y = (bit<16>) x + BIG#n[15:0];
    bit<8> z = ODD#n ? own : (bit<8>) (-BIG#n >> 3);
    bool low = x == BIG#n % 200;
    return y[11:4] ^ z ^ (low ? 8w1 : (bit<8>) ((BIG#n << 3) / 5));
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    bit<16> all = (bit<16>) base_t.minSizeInBits() + (bit<16>) one_t.maxSizeInBits() + (bit<16>) long_t.maxSizeInBytes();
    return x + all[7:0] + (bit<8>) base_t.minSizeInBytes();
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    return (x / 16) + (x % 8) + (x / 1) + (8w200 / #s) + (8w100 % #d);
}
",
        &[],
    ),
    (
        "enum bit<4> nibble#n { A = #s, B = 9, C = 10 }
bit<8> form#n(in bit<8> x) {
    nibble#n e = (nibble#n) x[3:0];
    level_t l = (level_t) x;
    bit<8> r = 0;
    switch (e) {
        nibble#n.A: { r = 1; }
        nibble#n.B:
        nibble#n.C: { r = (bit<8>) (bit<4>) e; }
        default: { r = 3; }
    }
    switch (x) {
        #d: { r = r + 1; }
        5: { r = r ^ 9; }
    }
    return r + (bit<8>) l + (e == nibble#n.B ? 8w4 : (bit<8>) level_t.Mid);
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    tuple<bit<8>, bool> t = { x, x[0:0] == 1 };
    tuple<bit<8>, bool> u = { #d, true };
    tuple<tuple<bit<8>, bool>, int<8>> v = { t, (int<8>) x };
    tuple<tuple<bit<8>, bool>, int<8>> w = { { #d, false }, -1 };
    bool same = t == u || v == w || t == { #d, x > 9 };
    u = x > #d ? t : u;
    return u[0] + (same ? v[0][0] : (bit<8>) v[1]);
}
",
        &[],
    ),
    (
        "struct low#n {
    bit<8> a;
    int<4> b;
    bool c;
}
struct high#n {
    low#n l;
    bit<16> d;
}
bit<8> form#n(in bit<8> x) {
    high#n h = { { x, -2, false }, 700 };
    high#n g = { l = { a = #d, b = (int<4>) x[3:0], c = x > 3 }, d = 8w1 ++ x };
    high#n z = ...;
    low#n m = x > #d ? h.l : g.l;
    if (h == g) {
        m.a = 1;
    }
    h = (high#n) { l = { a = x, b = 1, c = true }, d = 5 };
    g.l = h.l;
    return m.a + (bit<8>) (bit<4>) m.b + h.d[7:0] + g.l.a + z.l.a + (g == h ? 8w1 : 2);
}
",
        &[],
    ),
    (
        "bit<8> two#n(in bit<8> a, in bit<8> b = #d) {
    return a - b;
}
bit<8> form#n(in bit<8> x) {
    return two#n(x) + two#n(b = x, a = #s) + two#n(x + 1, 2);
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    bit<8> r = 0;
    bit<8> y = 3;
    for (int<8> i in -2 .. 1) {
        r = r + (bit<8>) i;
        if (x == r) {
            continue;
        }
        y = y + r;
    }
    for (bit<8> i in (x & 3) .. (x & 7)) {
        r = r ^ i;
        if (r == #d) {
            break;
        }
    }
    for (bit<8> i = x & 3, bit<8> j = 0; i != 5 && j < 9; i = i + 1, j += 2) {
        for (bit<4> k in 4w1 .. 4w2) {
            r = r + (bit<8>) k;
            if (j > 5) {
                break;
            }
        }
        if (i == #s) {
            return r;
        }
    }
    return r + y;
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    bit<8>[4] a = { #d, x, 3, 4 };
    bit<8>[4] b = a;
    bit<8> r = 0;
    a[x[1:0]] = #s;
    b[1] += a[x[2:1]];
    for (bit<8> e in b) {
        r = r + e;
    }
    return (r ^ a[x[3:2]]) + (a == b ? 8w1 : 0);
}
",
        &[],
    ),
    (
        "bit<8> form#n(in bit<8> x, inout long_t l) {
    long_t m = l;
    long_t o;
    if (m.isValid()) {
        m.n = x;
        o = m;
        l.data = m.data;
    }
    bool same = l == m;
    o = x > #d ? l : m;
    if (!l.isValid()) {
        return x;
    }
    return (same ? 8w1 : 2) + l.n + (o.isValid() ? o.n : 3);
}
",
        &[("l", "long_t")],
    ),
    (
        "bit<8> form#n(in bit<8> x, inout either_t u) {
    either_t v = u;
    either_t w;
    bool same = v == u && w != u;
    w.item.setValid();
    w.item.k = x;
    v = x > #d ? u : w;
    u = v;
    if (x[0:0] == 1) {
        w.one.setInvalid();
    }
    bool any = v.isValid();
    return (same ? 8w1 : 2) + (any ? 8w4 : 8) + (w.item.isValid() ? w.item.k : x);
}
",
        &[("u", "either_t")],
    ),
    (
        "bit<8> form#n(in bit<8> x, inout item_t[3] s) {
    item_t[3] t = s;
    bit<32> n = s.size;
    if (x > #d) {
        t.pop_front(1);
    } else {
        t.push_front(2);
    }
    bool same = t == s;
    t[x[1:0]] = s[1];
    s = x[0:0] == 1 ? t : s;
    return n[7:0] + (same ? 8w1 : 2);
}
",
        &[("s", "items")],
    ),
    (
        "bit<8> form#n(in bit<8> x) {
    item_t h = { k = x, ... };
    item_t g = {#};
    item_t e = x > #d ? h : g;
    bool same = h == g || e == h;
    return (e.isValid() ? e.k : #s) + (same ? 8w1 : 2);
}
",
        &[],
    ),
];

const ANY: InControl = InControl { place: Place::Any, before: "", locals: "", statements: "" };

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
    InControl {
        before: "control User#n(inout bit<8> v)(register<bit<8>> cells, bit<8> by = #s) {
    apply {
        bit<8> old;
        cells.read(old, 1);
        cells.write(1, old + by);
        v = v ^ old;
    }
}
",
        locals: "    register<bit<8>>(2) cells#n;
    User#n(cells#n) one#n;
    User#n(cells = cells#n, by = #d) two#n;
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
