//! Which writes to headers wait for the commit phase, and which registers are read once for both phases.

use hlir::effects::{deferrable_writes, kept_registers};
use hlir::text::parse_file;

/// The fields that the block `first` may write later, of a program whose packets go from there to a lookup of `hdr.a`, and on to `then`.
fn deferrable(first: &str, action: &str, then: &str) -> Vec<String> {
    deferrable_at("first", first, action, then)
}

/// The same of any node.
fn deferrable_at(node: &str, first: &str, action: &str, then: &str) -> Vec<String> {
    let text = format!(
        r#"
program deferral for none

header hdr: h_t {{ a: 8, b: 8, c: 16 }}
header other: other_t {{ a: 8, b: 8 }}
variable v: 8
variable error: 32

table t {{
  key hdr.a: exact
  action run(p: 8) {{ {action} }}
  default run(1)
}}

parser parser {{ start start, accept first, reject first, error error }}

entry start

node start: state of parser {{
  extract hdr
  extract other
}} -> first

node first: block {{
  {first}
}} -> lookup

node lookup: apply t -> then

{then}

node deparser: deparse {{
  emit hdr
  emit other
}} -> departure

node departure: buffer {{ send 32w1 }}
"#
    );
    let parsed = parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    assert_eq!(parsed.verify(), [], "{text}");
    let program = &parsed.program;
    let node = program.nodes.iter().find(|(_, other)| other.name == node).expect("it is there").0;
    let name = |field: hlir::FieldRef| {
        let header = &program.headers[field.header];
        format!("{}.{}", header.name, header.fields[field.field as usize].name)
    };
    deferrable_writes(program, node).into_iter().map(name).collect()
}

const BLOCK: &str = "node then: block {} -> deparser";

#[test]
fn what_nothing_reads_again_is_deferred() {
    assert_eq!(deferrable("hdr.b = hdr.b - 1", "v = p", BLOCK), ["hdr.b"]);
    assert_eq!(deferrable("if v == 1 { hdr.b = 1 }\nother.b = hdr.a", "v = p", BLOCK), ["hdr.b", "other.b"]);
    assert_eq!(deferrable("hdr.b = 1\nhdr.b = hdr.b + 1", "other.a = p", BLOCK), ["hdr.b"]);
}

#[test]
fn what_is_read_again_is_not() {
    assert!(deferrable("hdr.a = 1", "v = p", BLOCK).is_empty(), "by a key");
    assert!(deferrable("hdr.b = 1\nv = hdr.b", "v = p", BLOCK).is_empty(), "in the block");
    assert!(deferrable("hdr.b = 1\nhdr.b = hdr.b + hdr.c[7:0]\nhdr.c = 1", "v = p", BLOCK) == ["hdr.b"], "beside");
    assert!(deferrable("hdr.b = 1", "v = hdr.b", BLOCK).is_empty(), "by an action");
    let branch = "node then: branch hdr.b == 1 -> deparser else departure";
    assert!(deferrable("hdr.b = 1", "v = p", branch).is_empty(), "by a branch");
    let again = "node then: block {} -> again

parser two { start again, accept deparser, reject deparser, error error }

node again: state of two { advance 32w8 } -> deparser";
    assert!(deferrable("hdr.b = 1", "v = p", again).is_empty(), "by a parser");
}

/// Stores of an action may contain bytes beside its fields.
#[test]
fn headers_that_later_actions_write_stay_in_order() {
    assert_eq!(deferrable("hdr.b = 1\nother.b = 2", "hdr.c = 3", BLOCK), ["other.b"]);
}

#[test]
fn actions_write_later_what_nothing_reads_again() {
    let at_lookup = |action: &str, then: &str| deferrable_at("lookup", "v = 1", action, then);
    assert_eq!(at_lookup("hdr.a = p\nv = hdr.b", BLOCK), ["hdr.a"], "the key was read before");
    assert!(at_lookup("hdr.b = p\nv = hdr.b", BLOCK).is_empty(), "in the action");
    let branch = "node then: branch hdr.b == 1 -> deparser else departure";
    assert!(at_lookup("hdr.b = p", branch).is_empty(), "by a branch");
}

/// The registers that the block `first` reads once, of a program with this statement in its action.
fn kept(first: &str, action: &str) -> Vec<String> {
    let text = format!(
        r#"
program kept for none

header hdr: h_t {{ a: 8 }}
variable v: 8
variable w: 8
register sides: 8 [4]

table t {{
  key v: exact
  action run() {{ {action} }}
  default run()
}}

entry first

node first: block {{
  {first}
}} -> lookup

node lookup: apply t -> behind

node behind: block {{ read sides at 32w0 into w }} -> departure

node departure: buffer {{ send 32w1 }}
"#
    );
    let parsed = parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    assert_eq!(parsed.verify(), [], "{text}");
    let program = &parsed.program;
    let node = |name: &str| program.nodes.iter().find(|(_, node)| node.name == name).expect("it is there").0;
    assert!(kept_registers(program, node("behind")).is_empty(), "behind a lookup, commit reads again");
    let name = |register: hlir::RegisterId| program.registers[register].name.clone();
    kept_registers(program, node("first")).into_iter().map(name).collect()
}

#[test]
fn registers_that_no_packet_writes_are_read_once() {
    assert_eq!(kept("read sides at 32w1 into v\nif v == 1 { w = v }", "w = 1"), ["sides"]);
    assert!(kept("read sides at 32w1 into v", "write sides at 32w1 = 8w2").is_empty(), "written by an action");
    assert!(kept("read sides at 32w1 into v\nwrite sides at 32w1 = v", "w = 1").is_empty(), "written there");
    assert!(kept("read sides at 32w1 into v\nvalidate hdr", "w = 1").is_empty(), "with a side effect");
    assert!(kept("read sides at 32w1 into hdr.a", "w = 1").is_empty(), "into a header");
}
