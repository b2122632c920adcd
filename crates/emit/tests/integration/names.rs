//! Names of a program that are others with something behind them, as the emitter makes names: the C compiles, whatever is beside what.

use crate::compilers::{COMPILERS, plans};
use hlir::plan::Plan;
use hlir::{Program, text::Parsed};

/// What is made of the name of a table.
#[rustfmt::skip]
const OF_TABLE: [&str; 15] = [
    "lookups", "misses", "records", "key", "hash", "lines", "address", "array", "second", "group", "record", "fields", "actions", "send_parameters", "found",
];

/// What is made of the name of a node, and what a loop or a queue there has.
#[rustfmt::skip]
const OF_NODE: [&str; 26] = [
    "ahead", "key_ahead", "act", "act_ahead", "act_rewritten", "find", "found_by", "found_by_lanes", "record_of", "record_of_lanes", "action_of",
    "action_of_lanes", "data_0_0_of", "data_0_0_of_lanes", "data_1_1_of", "next_rewrites", "send_rewrites", "copy1", "copy2", "copy", "onward", "loop",
    "list", "count", "run", "put",
];

fn read(text: &str) -> Parsed {
    hlir::text::parse_file(text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:?}"))
}

/// Blocks named after a node with each of these behind it, one after the other; the first and the last of them lead from and to these.
fn blocks(node: &str, to: &str) -> (String, String) {
    let names: Vec<String> = OF_NODE.iter().map(|part| format!("{node}_{part}")).collect();
    let next = names.iter().skip(1).map(String::as_str).chain([to]);
    let lines: Vec<String> =
        names.iter().zip(next).map(|(name, to)| format!("node {name}: block {{}} -> {to}\n")).collect();
    (names[0].clone(), lines.concat())
}

/// A table of each of these names, looked up one after the other.
fn tables(names: &[String], to: &str) -> String {
    let next = names.iter().skip(1).map(String::as_str).chain([to]);
    let each = |(name, to): (&String, &str)| {
        format!(
            "table {name} {{
  key hdr.e.dst: exact
  action send(port: 9, path: 8, i: 8, records: 8, packet_length: 16, e_dst: 48, e_copy: 16) {{
    meta.port = port
    hdr.e.src = e_dst + hdr.e.dst
    meta.sum = u16(path) + u16(i) + u16(records) + packet_length + e_copy
  }}
  action send_x(port: 9) {{ meta.port = port }}
  action selector_group(port: 9) {{ meta.port = port }}
  default send_x(511)
}}
node {name}: apply {name} -> {to}
"
        )
    };
    names.iter().zip(next).map(each).collect()
}

/// A switch whose tables, nodes, headers and variables all have names that are made of others.
fn switch() -> (String, Vec<String>) {
    let mut names: Vec<String> = vec!["u_misses".to_string(), "u".to_string(), "t".to_string()];
    names.extend(OF_TABLE.iter().map(|part| format!("t_{part}")));
    let (first, blocks) = blocks("t", "copies");
    let tables = tables(&names, &first);
    let text = format!(
        "program switch for none
header hdr.e_valid: e_t {{ dst: 48, src: 48, type: 16 }}
header hdr.e: e_t {{ dst: 48, src: 48, type: 16 }}
header hdr_e_bits: e_t {{ dst: 48, src: 48, type: 16 }}
variable hdr_e_place: 48
variable meta.port: 9
variable meta.sum: 16
variable original_length: 16
variable unused: 80
variable p_states: 16
variable error: 32
value_set t_lookups_2 [4] {{ type: 16 exact }}
value_set t_misses [4] {{ type: 16 exact }}
parser p {{ start start, accept u_misses, reject u_misses, error error }}
entry start
node start: state of p {{
  extract hdr.e
}} -> more
node more: state of p {{
  extract hdr.e_valid
  extract hdr_e_bits
  hdr_e_place = hdr.e.dst ^ hdr_e_bits.dst ^ hdr.e_valid.dst
  original_length = 16w3
  p_states = 16w2
  unused = 80w7
}} -> u_misses
{tables}{blocks}node copies: buffer {{
  when meta.sum == 3: replicate u32(meta.sum) original keep all -> start
  when meta.sum == 4: clone u32(meta.sum) original keep {{ meta.port }} -> start
  when meta.sum == 5: punt \"odd\" -> copies_copy1
  otherwise -> copies_copy1
}}
node copies_copy1: block {{ meta.sum = original_length + p_states + unused[15:0] + hdr_e_place[15:0] }} -> AT_T
node AT_T: block {{}} -> ENDED
node ENDED: block {{}} -> departure
node departure: buffer {{
  when meta.port == 511: drop \"no way\"
  send u32(meta.port)
}}
"
    );
    (text, names)
}

/// All lookups in the first stage of a hot path, and prefetches with every interleaving.
fn staged(names: &[String]) -> String {
    let placements = ["interleaved commit", "interleaved keys", "interleaved lookup"];
    let request =
        |(name, placement)| format!("    lookup {name}\n    prefetch table {name} ahead 1 {placement} to t0\n");
    let requests: String = names.iter().zip(placements.into_iter().cycle()).map(request).collect();
    format!(
        "plan {{
  burst 64
  hot_path {{ start, more, {} }}
  loop {}: batch 32 group 32 {{
{requests}  }}
}}",
        names.join(", "),
        names[0]
    )
}

fn compile(title: &str, program: &Program, plan: &Plan) {
    COMPILERS.compile(&format!("names_{title}"), program, plan);
}

#[test]
fn names_may_be_other_names_with_derived_suffixes() {
    let (text, names) = switch();
    let program = read(&text).program;
    for (title, plan) in plans(&program) {
        compile(title, &program, &plan);
    }
    let staged = read(&format!("{text}{}", staged(&names)));
    compile("staged", &staged.program, &staged.plan.expect("it has a plan"));
}

/// Identifiers derived from a node with a queue, from a lookup before the cut of vector code, and from vector code that computes an action's results.
#[test]
fn nodes_may_have_the_names_derived_from_other_nodes() {
    let before_cut = concat!(
        include_str!("../../../cli/tests/plans/lookup_before_cut.hlir"),
        include_str!("../../../cli/tests/plans/lookup_before_cut.plan")
    );
    let (first, more) = blocks("kinds", "deparser");
    let before_cut = before_cut
        .replace("node hosts: apply hosts -> deparser", &format!("node hosts: apply hosts -> {first}\n{more}"));
    let queued = concat!(
        include_str!("../../../cli/tests/plans/queues.hlir"),
        include_str!("../../../cli/tests/plans/queues.plan")
    );
    let queued = ["table ", "apply "].iter().fold(queued.to_string(), |queued, before| {
        queued.replace(&format!("{before}hosts"), &format!("{before}queue_slow"))
    });
    let (first, more) = blocks("side.hosts", "number");
    let queued = queued
        .replace(" slow", " slow_record")
        .replace(" hosts", " side.hosts")
        .replace("apply queue_slow -> number", &format!("apply queue_slow -> {first}\n{more}"));
    for (title, text) in [("before_cut", before_cut), ("queued", queued)] {
        let parsed = read(&text);
        compile(title, &parsed.program, &parsed.plan.expect("it has a plan"));
    }
}
