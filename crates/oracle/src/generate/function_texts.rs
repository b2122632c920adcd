//! The texts of forms that are functions.

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
        "bit<8> turn#n(inout bit<8>[4] a, inout bit<8> i) {
    a[i[1:0]] = a[0] + 5;
    i = a[1];
    return i;
}
bit<8> form#n(in bit<8> x) {
    bit<8>[4] a = { #d, x, 3, 4 };
    bit<8>[4] b = a;
    bit<8> r = 0;
    a[x[1:0]] = #s;
    b[1] += a[x[2:1]];
    for (bit<8> e in b) {
        r = r + e;
    }
    bit<8> i = x;
    r = r ^ a[turn#n(a, i)[1:0]];
    r[7:4] = i[turn#n(a, i)[1:0]+:4];
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
        "bit<8> shift#n(inout item_t[3] s) {
    bit<8> k = s[1].isValid() ? s[1].k : #s;
    s.pop_front(1);
    return k & 3;
}
bit<8> form#n(in bit<8> x, inout item_t[3] s) {
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
    bool there = s[shift#n(s)].isValid();
    return n[7:0] + (same ? 8w1 : 2) + (there ? 8w4 : 8);
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
    (
        "struct part#n {
    bit<4> a;
    int<4> b;
}
header with#n {
    part#n one;
    bit<8> k;
    part#n two;
}
bit<8> form#n(in bit<8> x) {
    with#n h = { { 3, (int<4>) x[3:0] }, x, { a = x[7:4], b = -#s } };
    with#n g;
    with#n[2] s;
    g.setValid();
    g.one = h.two;
    g.k = #d;
    s[x[0:0]] = h;
    bool same = h == g || s[0] == h;
    h = x > #d ? g : h;
    part#n p = h.one;
    return h.k + (bit<8>) p.a + (bit<8>) (bit<4>) h.two.b + (same ? 8w1 : 2);
}
",
        &[],
    ),
    (
        "struct whole#n {
    bit<8>[3] a;
    tuple<bit<8>, bool> t;
    item_t h;
    either_t u;
    level_t l;
}
bit<8> form#n(in bit<8> x) {
    whole#n w = ...;
    whole#n v = { { x, ... }, { x, true }, { k = x, ... }, {#}, level_t.Mid };
    bit<8>[3] a = { x, ... };
    bool same = v == w;
    w = x > #d ? v : w;
    w.a[x[1:0]] = #d;
    return w.a[1] + v.t[0] + a[0] + (w.h.isValid() ? w.h.k : #s) + (same ? 8w1 : 2) + (w.u.isValid() ? 8w4 : 0);
}
",
        &[],
    ),
];
