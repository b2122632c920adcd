//! The first stage as vector code: which packets stay, and with which keys.

use crate::router::{FRONT, ROUTER, action_of, found_by, part_of, record_of, routed, seal, steps, with_schedule};
use schedule::Lanes;

/// The vector code of a program's path through these nodes, cut at the last one.
fn lanes_of(program: &str, path: &str) -> Result<Lanes, String> {
    with_schedule(program, path, |program, schedule| {
        let schedule =
            schedule.map_err(|obstacle| format!("{} {}", program.nodes[obstacle.node].name, obstacle.does))?;
        schedule.lanes(&[]).map_err(str::to_string)
    })
}

/// The result in one SIMD lane: whether the packet may exit, and the first key.
fn computed(lanes: &Lanes, packet: &[u8]) -> (bool, u128) {
    let values = steps(&lanes.steps, &lanes.rows, packet);
    let leaves = values[lanes.exits as usize];
    assert!([0, u32::MAX].contains(&leaves), "a mask is all ones or zero");
    let parts = lanes.keys[0].1.iter().rev();
    (leaves != 0, parts.fold(0, |key, part| key << 32 | u128::from(values[*part as usize])))
}

#[test]
fn a_router_s_checks() {
    let lanes = lanes_of(ROUTER, FRONT).expect("a router's checks can be made in lanes");
    assert_eq!((lanes.rows.as_slice(), lanes.bytes), (&[10, 18][..], 34), "two loads have all that is read");
    assert_eq!(computed(&lanes, &routed()), (false, 0xc633_64fe));
    type Change = fn(&mut [u8]);
    let broken: [(&str, Change); 8] = [
        ("another protocol", |packet| packet[13] = 6),
        ("another version", |packet| packet[14] = 0x65),
        ("options", |packet| packet[14] = 0x46),
        ("a length below the header's", |packet| packet[17] = 19),
        ("a length above the packet's", |packet| packet[17] = 47),
        ("no time left", |packet| packet[22] = 0),
        ("the last hop", |packet| packet[22] = 1),
        ("another checksum", |_| {}),
    ];
    for (what, change) in broken {
        let mut packet = routed();
        change(&mut packet);
        seal(&mut packet);
        if what == "another checksum" {
            packet[25] ^= 1;
        }
        assert!(computed(&lanes, &packet).0, "{what}");
    }
    let mut packet = routed();
    packet[22] = 2;
    seal(&mut packet);
    assert!(!computed(&lanes, &packet).0, "one hop is left");
}

/// For any header bytes, vector code accepts exactly the checksums that a scalar loop accepts.
#[test]
fn checksums() {
    let lanes = lanes_of(ROUTER, FRONT).expect("a router's checks can be made in lanes");
    let mut seed = 1u32;
    for _ in 0..2000 {
        let mut packet = routed();
        for at in (18..34).filter(|at| ![22, 24, 25].contains(at)) {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            packet[at] = if seed >> 30 == 0 { 0xff } else { (seed >> 16) as u8 };
        }
        seal(&mut packet);
        let key = u32::from_be_bytes(packet[30..34].try_into().expect("four bytes"));
        assert_eq!(computed(&lanes, &packet), (false, key.into()), "{packet:02x?}");
        packet[24] = packet[24].wrapping_add(1);
        assert!(computed(&lanes, &packet).0, "{packet:02x?}");
    }
}

/// A key of several words.
#[test]
fn an_address_of_48_bits() {
    let program = include_str!("../../../hlir/tests/programs/l2fwd.hlir");
    let parsed = hlir::text::parse_file(program).expect("the program is HLIR");
    let names: Vec<&str> = parsed.program.nodes.values().map(|node| node.name.as_str()).collect();
    let lanes = lanes_of(
        program,
        &names[..names.iter().position(|name| name.ends_with("smac")).expect("a table") + 1].join(", "),
    );
    let lanes = lanes.expect("a bridge has no checks");
    let packet: Vec<u8> = (1..=60).collect();
    assert_eq!(computed(&lanes, &packet), (false, 0x0708_090a_0b0c));
}

/// A program that looks up one value, after one header.
fn looks_up(value: &str) -> Result<Lanes, String> {
    let program = format!(
        "program operations for v1model

header h: h_t {{ a: 8, b: 24, c: 4, d: 44, e: 128 }}
variable v: 20
variable error: 32

table t {{
  key {value}: exact as value
  action none() {{}}
  default none()
}}

parser p {{ start p.start, accept set, reject set, error error }}

entry p.start

node p.start: state of p {{ extract h }} -> set
node set: block {{
  if h.a == 1 {{
    v = h.b[23:4]
  }} else {{
    v = 7
  }}
}} -> all
node all: apply t -> gone
node gone: buffer {{ drop \"gone\" }}
"
    );
    lanes_of(&program, "p.start, set, all")
}

#[test]
fn operations() {
    type Value = fn([u128; 5]) -> u128;
    let values: [(&str, Value); 24] = [
        ("h.a", |[a, ..]| a),
        ("h.b", |[_, b, ..]| b),
        ("h.d", |[_, _, _, d, _]| d),
        ("h.e", |[.., e]| e),
        ("h.e[90:27]", |[.., e]| (e >> 27) & u128::from(u64::MAX)),
        ("h.c ++ h.a ++ h.b", |[a, b, c, ..]| c << 32 | a << 24 | b),
        ("h.d ++ h.e[79:0]", |[_, _, _, d, e]| d << 80 | e & ((1 << 80) - 1)),
        ("h.a + 250", |[a, ..]| (a + 250) & 0xff),
        ("h.a - 250", |[a, ..]| a.wrapping_sub(250) & 0xff),
        ("h.b * 3", |[_, b, ..]| (b * 3) & 0xff_ffff),
        ("-h.b", |[_, b, ..]| b.wrapping_neg() & 0xff_ffff),
        ("~h.d", |[_, _, _, d, _]| !d & ((1 << 44) - 1)),
        ("h.d & 44w0xff00ff00ff0", |[_, _, _, d, _]| d & 0xff0_0ff0_0ff0),
        ("h.e | 1", |[.., e]| e | 1),
        ("h.e ^ h.e", |_| 0),
        ("h.b << 8w5", |[_, b, ..]| (b << 5) & 0xff_ffff),
        ("h.b >> 8w24", |_| 0),
        ("h.e >> 8w70", |[.., e]| e >> 70),
        ("u60(h.a) << 8w40", |[a, ..]| a << 40),
        ("v", |[a, b, ..]| if a == 1 { b >> 4 } else { 7 }),
        ("v == 7 ? h.a : h.b[7:0]", |[a, b, ..]| if a != 1 || b >> 4 == 7 { a } else { b & 0xff }),
        ("h.d == 5 || h.a < 128 && h.e != 9 ? 1w1 : 1w0", |[a, _, _, d, e]| u128::from(d == 5 || a < 128 && e != 9)),
        ("(h.a >= h.b[7:0]) == (h.c > 3) ? 1w1 : 1w0", |[a, b, c, ..]| u128::from((a >= b & 0xff) == (c > 3))),
        ("h.a <= 127 && !(h.b == 0) ? h.c : 4w0", |[a, b, c, ..]| if a <= 127 && b != 0 { c } else { 0 }),
    ];
    for (text, value) in values {
        let lanes = looks_up(text).unwrap_or_else(|obstacle| panic!("{text}: {obstacle}"));
        let mut seed = 7u32;
        for round in 0..200 {
            let packet: Vec<u8> = (0..64)
                .map(|at| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if at == 0 && round % 2 == 0 { 1 } else { (seed >> 24) as u8 }
                })
                .collect();
            let bits = |from: u32, width: u32| {
                (from..from + width)
                    .fold(0u128, |number, bit| number << 1 | u128::from(packet[bit as usize / 8] >> (7 - bit % 8) & 1))
            };
            let fields = [bits(0, 8), bits(8, 24), bits(32, 4), bits(36, 44), bits(80, 128)];
            assert_eq!(computed(&lanes, &packet), (false, value(fields)), "{text} of {fields:x?}");
        }
    }
}

#[test]
fn obstacles() {
    for (text, obstacle) in [
        ("h.e + 1", "all computes with numbers of more than 64 bits"),
        ("h.a / 3", "divides, saturates or shifts a sign"),
        ("h.a << h.c", "shifts by what is not a constant"),
        ("h.d < 5 ? 1w1 : 1w0", "orders numbers of more than 32 bits"),
        ("in.clock", "all reads the clock"),
    ] {
        assert_eq!(looks_up(text).err().as_deref(), Some(obstacle), "{text}");
    }
}

/// An exit that goes where the block goes on is no side exit.
#[test]
fn exits_to_the_next_node() {
    let lanes = asks("-> set", "block { if h.a < 3 { exit }  v = 1 } -> all exit all").expect("packets stay");
    for a in 0..6 {
        assert_eq!(computed(&lanes, &[a; 32]), (false, a.into()), "{a}");
    }
}

/// A parser reads bits behind its cursor, and the packet must have them.
#[test]
fn parsers_look_ahead() {
    for (lookahead, last, value) in [("lookahead v", 4, 5), ("lookahead v at 20", 7, 0x50)] {
        let select = "select v {\n  5 -> set\n  otherwise -> gone\n}";
        let parse = format!("extract h  {lookahead}");
        let lanes = asks_behind(&parse, select, "block {} -> all").unwrap_or_else(|obstacle| panic!("{obstacle}"));
        assert!(lanes.bytes > last as u32, "{lookahead}: {} bytes", lanes.bytes);
        let mut packet = [0; 32];
        assert!(computed(&lanes, &packet).0, "{lookahead}");
        packet[last] = value;
        assert!(!computed(&lanes, &packet).0, "{lookahead}");
    }
}

/// A program with a test before a lookup of `h.a`.
fn asks(select: &str, body: &str) -> Result<Lanes, String> {
    asks_behind("extract h", select, body)
}

/// The same with a parser of these statements.
fn asks_behind(parse: &str, select: &str, body: &str) -> Result<Lanes, String> {
    let program = format!(
        "program questions for v1model

header h: h_t {{ a: 8, b: 8, c: 16 }}
header other: h_t {{ a: 8, b: 8, c: 16 }}
variable v: 8
variable error: 32

table t {{
  key h.a: exact
  action none() {{}}
  default none()
}}

parser p {{ start p.start, accept set, reject gone, error error }}

entry p.start

node p.start: state of p {{ {parse} }} {select}
node set: {body}
node all: apply t -> gone
node gone: buffer {{ drop \"gone\" }}
"
    );
    lanes_of(&program, "p.start, set, all")
}

/// The result of each test, against its meaning.
#[test]
fn questions() {
    type Stays = fn(u8, u8) -> bool;
    const ALL: &str = "block {} -> all";
    let cases: [(&str, &str, Stays); 12] = [
        ("select h.a {\n  5 -> set\n  otherwise -> gone\n}", ALL, |a, _| a == 5),
        ("select h.a {\n  5 -> gone\n  otherwise -> set\n}", ALL, |a, _| a != 5),
        ("select h.a {\n  4..6 -> gone\n  0..9 -> set\n  otherwise -> gone\n}", ALL, |a, _| {
            a <= 9 && !(4..=6).contains(&a)
        }),
        ("select h.a {\n  1 &&& 3 -> set\n  2 &&& 2 -> gone\n  otherwise -> set\n}", ALL, |a, _| {
            a & 3 == 1 || a & 2 == 0
        }),
        ("select h.a, h.b {\n  1, 2 -> gone\n  1, _ -> set\n  otherwise -> gone\n}", ALL, |a, b| a == 1 && b != 2),
        ("-> set", "branch h.a == 1 || valid(other) && other.b == 3 -> all else gone", |a, _| a == 1),
        (
            "-> set",
            "block {
  if h.a < 3 {
    v = 1
    if h.b < 3 { v = 2 }
  }
  if v == 2 { truncate 32w9 }
} -> all",
            |a, b| !(a < 3 && b < 3),
        ),
        (
            "-> set",
            "block {
  if h.a < 3 {
    if h.b == 1 { truncate 32w9 } else { v = 1 }
  } else {
    if h.b == 2 { truncate 32w9 }
  }
} -> all",
            |a, b| if a < 3 { b != 1 } else { b != 2 },
        ),
        ("-> set", "block { if h.a < 3 { v = 1  exit }  if h.b == 2 { exit } } -> all exit gone", |a, b| {
            a >= 3 && b != 2
        }),
        ("-> set", "block { if h.a < 3 { v = 1 } else { exit }  if v == 1 { v = 2 } } -> all exit gone", |a, _| a < 3),
        (
            "-> set",
            "block { if h.a < 3 { if h.b == 1 { exit } } else { if h.b == 2 { exit } } } -> all exit gone",
            |a, b| {
                if a < 3 { b != 1 } else { b != 2 }
            },
        ),
        ("-> set", "block { if h.a < 3 { v = 1  exit }  if v == 1 { truncate 32w9 } } -> all exit gone", |a, _| a >= 3),
    ];
    for (select, body, stays) in cases {
        let lanes = asks(select, body).unwrap_or_else(|obstacle| panic!("{select} {body}: {obstacle}"));
        for (a, b) in (0..12).flat_map(|a| (0..6).map(move |b| (a, b))) {
            let mut packet = [0; 32];
            (packet[0], packet[1]) = (a, b);
            assert_eq!(computed(&lanes, &packet), (!stays(a, b), a.into()), "{select} {body}: {a} {b}");
        }
    }
}

/// If no packet can stay, or the path does not follow the block, there is no vector code.
#[test]
fn side_exits_of_every_kind() {
    let looping = "block { if h.a == 1 { loop l { exit } } } -> gone exit all";
    assert_eq!(asks("-> set", looping).map(drop), Err("set is a side exit for every packet".to_string()));
    let lanes = asks("-> set", "block { h.a = 1 } -> all").expect("packets stay");
    assert_eq!(computed(&lanes, &[7; 32]), (false, 1), "the key is what is written");
    // What nothing reads from there on is written in the commit phase.
    let lanes = asks("-> set", "block { h.c = 1 } -> all").expect("packets stay");
    assert_eq!(computed(&lanes, &[7; 32]), (false, 7));
}

/// A program that looks up `h.a` before a lookup of `v` and `h.b`.
fn looks_up_twice(actions: [&str; 3], next: &str) -> Result<Lanes, String> {
    let [zero, one, two] = actions;
    let program = format!(
        "program way for v1model

header h: h_t {{ a: 8, b: 8, c: 16, d: 48 }}
variable v: 8
variable error: 32

table first {{
  key h.a: exact
  action zero(x: 8, y: 8) {{ {zero} }}
  action one(x: 8) {{ {one} }}
  action two() {{ {two} }}
  default zero(0, 1)
}}

table t {{
  key v: exact
  key h.b: exact
  action none() {{}}
  default none()
}}

parser p {{ start p.start, accept way, reject gone, error error }}

entry p.start

node p.start: state of p {{ extract h }} -> way
node way: apply first -> {next}
node all: apply t -> gone
node gone: buffer {{ drop \"gone\" }}
"
    );
    lanes_of(&program, "p.start, way, all")
}

/// Which packets stay after a lookup, and with which variable, depends on the action of the key's record.
#[test]
fn lookups_before_the_cut() {
    type Outcome = fn(u32, u32) -> Option<u32>;
    let set = ["v = y", "v = x + 1", ""];
    let exits = ["v = y", "exit", "v = 9"];
    // The second key reads h.b as the action writes it; the packet's bytes change in the commit phase.
    let writes = ["v = y", "h.b = 1", "v = 9"];
    let defers = ["v = y", "h.c = 1", "v = 9"];
    let cases: [([&str; 3], &str, Outcome); 7] = [
        (set, "all", |record, action| Some(if action == 2 { 0 } else { 10 * record + 1 })),
        (set, "hit all, miss gone", |record, action| {
            (record != 9).then_some(if action == 2 { 0 } else { 10 * record + 1 })
        }),
        (set, "hit gone, miss all", |record, _| (record == 9).then_some(91)),
        (set, "{ one -> gone, otherwise -> all }", |record, action| match action {
            1 => None,
            2 => Some(0),
            _ => Some(10 * record + 1),
        }),
        (exits, "all exit gone", |record, action| match action {
            1 => None,
            2 => Some(9),
            _ => Some(10 * record + 1),
        }),
        (writes, "all", |record, action| match action {
            1 => Some(0),
            2 => Some(9),
            _ => Some(10 * record + 1),
        }),
        (defers, "all", |record, action| match action {
            1 => Some(0),
            2 => Some(9),
            _ => Some(10 * record + 1),
        }),
    ];
    for (actions, next, outcome) in cases {
        let lanes = looks_up_twice(actions, next).unwrap_or_else(|obstacle| panic!("{actions:?} {next}: {obstacle}"));
        assert_eq!(lanes.found.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [1]);
        for key in 0..16u8 {
            let mut packet = [0x77; 32];
            packet[0] = key;
            let found = found_by(key.into());
            let expected = outcome(record_of(found), action_of(record_of(found)));
            let (leaves, made) = computed(&lanes, &packet);
            assert!(made < 1 << 16, "keys keep to their width, those of side exits too: {made:x}");
            assert_eq!(leaves, expected.is_none(), "{actions:?} {next}: {key}");
            if let Some(variable) = expected {
                let is_written = actions[1] == "h.b = 1" && action_of(record_of(found)) == 1;
                let second = if is_written { 1 } else { 0x77 };
                assert_eq!(made, u128::from(variable) << 8 | second, "{actions:?} {next}: {key}");
            }
            assert_eq!(steps(&lanes.steps, &lanes.rows, &packet)[lanes.found[0].1 as usize], found);
        }
    }
}

/// A parameter of more than 32 bits is read in two parts.
#[test]
fn wide_parameters() {
    let lanes = looks_up_wide(48, "d").expect("packets stay");
    for key in 0..16u8 {
        let mut packet = [0; 32];
        packet[0] = key;
        let record = record_of(found_by(key.into()));
        let value = u64::from(part_of(record, 0, 0, 1) as u16) << 32 | u64::from(part_of(record, 0, 0, 0));
        let equals = action_of(record) == 0;
        packet[4..10].copy_from_slice(&value.to_be_bytes()[2..]);
        assert_eq!(computed(&lanes, &packet).0, !equals, "{key}");
        packet[4] ^= 1;
        assert!(computed(&lanes, &packet).0, "{key}");
    }
    let obstacle = looks_up_wide(80, "e").err();
    assert_eq!(obstacle.as_deref(), Some("takes a parameter of more than 64 bits"));
}

/// A program whose packets stay if the parameter that a lookup finds equals a field.
fn looks_up_wide(width: u32, field: &str) -> Result<Lanes, String> {
    let program = format!(
        "program way for v1model

header h: h_t {{ a: 8, b: 8, c: 16, d: 48, e: 80 }}
variable v: {width}
variable error: 32

table first {{
  key h.a: exact
  action set(x: {width}) {{ v = x }}
  action gone() {{ exit }}
  default gone()
}}

table t {{
  key h.b: exact
  action none() {{}}
  default none()
}}

parser p {{ start p.start, accept way, reject gone, error error }}

entry p.start

node p.start: state of p {{ extract h }} -> way
node way: apply first -> same exit gone
node same: branch v == h.{field} -> all else gone
node all: apply t -> gone
node gone: buffer {{ drop \"gone\" }}
"
    );
    lanes_of(&program, "p.start, way, same, all")
}

#[test]
fn lookups_without_a_vector_form() {
    for (actions, next, obstacle) in [
        (["v = y", "exit", "v = 9"], "hit gone, miss gone", "way is a side exit for every packet"),
        (["v = x / 3", "", ""], "all", "divides, saturates or shifts a sign"),
    ] {
        assert_eq!(looks_up_twice(actions, next).err().as_deref(), Some(obstacle), "{actions:?} {next}");
    }
}
