//! Registers, checksums in steps and deferred writes as vector code.

use crate::router::{action_of, element_of, found_by, part_of, record_of, steps, with_schedule};
use schedule::Lanes;

/// The first stage of a program with these declarations, whose block `set` has this body, and which looks up `v`.
fn stage(declared: &str, body: &str) -> Result<Lanes, String> {
    let program = format!(
        "program state for none

header h: h_t {{ a: 16, b: 32, c: 16 }}
variable error: 32
{declared}
table t {{
  key v: exact
  action none() {{}}
  default none()
}}

parser p {{ start start, accept set, reject set, error error }}

entry start

node start: state of p {{ extract h }} -> set
node set: block {{ {body} }} -> all
node all: apply t -> gone
node gone: buffer {{ send 32w1 }}
"
    );
    first_stage(&program, "start, set, all")
}

fn first_stage(program: &str, path: &str) -> Result<Lanes, String> {
    with_schedule(program, path, |_, schedule| {
        schedule.map_err(|obstacle| obstacle.does.to_string())?.lanes(&[]).map_err(str::to_string)
    })
}

/// In one SIMD lane: whether the packet may exit, its key of at most 32 bits, and the values that are kept.
fn computed(lanes: &Lanes, packet: &[u8]) -> (bool, u32, Vec<u32>) {
    let values = steps(&lanes.steps, &lanes.rows, packet);
    let kept = lanes.reads.iter().map(|(_, number)| values[*number as usize]).collect();
    (values[lanes.exits as usize] != 0, values[lanes.keys[0].1[0] as usize], kept)
}

fn packet(words: [u16; 4]) -> Vec<u8> {
    words.into_iter().flat_map(u16::to_be_bytes).chain([0; 24]).collect()
}

/// A register that no packet writes is read where its index is, and its value kept. Beyond its end nothing is read.
#[test]
fn registers_are_kept() {
    let declared = "register elements: 4 [6]\nvariable v: 4\nvariable w: 4\n";
    let body = "v = 3\nread elements at u32(h.a) into v\nread elements at 32w2 into w";
    let lanes = stage(declared, body).expect("registers have a vector form");
    assert_eq!(lanes.reads.len(), 2);
    for index in 0..9 {
        let expected = if index < 6 { element_of(index) & 0xf } else { 3 };
        let of_two = element_of(2) & 0xf;
        let (leaves, key, reads) = computed(&lanes, &packet([index as u16, 0, 0, 0]));
        assert_eq!((leaves, key, reads[1]), (false, expected, of_two));
        assert!(index >= 6 || reads[0] == expected, "what is read beyond the end does not count");
    }
}

/// Where a condition keeps a packet from reading, the variable stays as it was.
#[test]
fn registers_are_read_under_conditions() {
    let declared = "register elements: 4 [6]\nvariable v: 4\n";
    let lanes = stage(declared, "if h.b == 1 { read elements at u32(h.a) into v }").expect("it has a vector form");
    let key = |words| computed(&lanes, &packet(words)).1;
    assert_eq!((key([2, 0, 1, 0]), key([2, 0, 2, 0])), (element_of(2) & 0xf, 0));
}

#[test]
fn registers_without_a_vector_form() {
    let refused = |declared: &str, body: &str| stage(declared, body).expect_err("it has no vector form");
    let wide = "register elements: 40 [6]\nvariable v: 40\n";
    assert_eq!(refused(wide, "read elements at u32(h.a) into v"), "reads a register of more than 32 bits");
}

#[test]
fn checksums_in_steps() {
    let body = "checksum add { field h.a, field h.b } into v\nchecksum subtract { field h.c, h.a } into v";
    let lanes = stage("variable v: 16\n", body).expect("sums have a vector form");
    let fold = |mut sum: u32| {
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum
    };
    let mut seed = 1u32;
    let mut draw = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Often the numbers at which sums carry.
        if seed >> 30 == 0 {
            0xffff
        } else if seed >> 30 == 1 {
            0
        } else {
            (seed >> 14) as u16
        }
    };
    for _ in 0..2000 {
        let words = [draw(), draw(), draw(), draw()];
        let [a, high, low, c] = words.map(u32::from);
        let expected = fold(fold(a + high + low) + (0xffff - c) + (0xffff - a));
        assert_eq!(computed(&lanes, &packet(words)), (false, expected, Vec::new()), "{words:x?}");
    }
}

/// An action of a lookup before the cut may write a header that nothing reads: the commit phase does it.
#[test]
fn lookups_before_the_cut_may_defer_writes() {
    let action = |name: &str| format!("  action {name}(x: 8) {{\n    h.b = x\n    v = x\n  }}\n");
    let program = format!(
        "program defers for none

header h: h_t {{ a: 8, b: 8 }}
variable v: 8
variable error: 32

table first {{
  key h.a: exact
{}{}{}  default one(0)
}}

table t {{
  key v: exact
  action none() {{}}
  default none()
}}

parser p {{ start start, accept first, reject first, error error }}

entry start

node start: state of p {{ extract h }} -> first
node first: apply first -> all
node all: apply t -> gone
node gone: buffer {{ drop \"gone\" }}
",
        action("one"),
        action("two"),
        action("three")
    );
    let lanes = first_stage(&program, "start, first, all").expect("it has a vector form");
    for key in 0..20 {
        let record = record_of(found_by(key));
        let expected = part_of(record, action_of(record) as usize, 0, 0) & 0xff;
        let bytes: Vec<u8> = [key as u8, 0].into_iter().chain([0; 30]).collect();
        assert_eq!(computed(&lanes, &bytes), (false, expected, Vec::new()), "{key}");
    }
}
