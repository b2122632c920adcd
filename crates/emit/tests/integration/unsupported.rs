//! What a plan has and the emitter does not carry out: each is refused at its place, with what is possible.

use hlir::source::SourceMap;
use hlir::text::parse_file;

const PROGRAM: &str = r#"
program switch for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
variable error: 32

register state.seen: 32 [16]

table sources {
  key hdr.ethernet.src: exact
  action known() {}
  default known()
}

table hosts {
  key hdr.ethernet.dst: exact
  action send(port: 9) { meta.port = port }
  default send(511)
}

parser parser { start start, accept sources, reject sources, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> sources

node sources: apply sources -> hosts

node hosts: apply hosts -> leave

node leave: buffer {
  when meta.port == 511: drop "no way"
  otherwise -> deparser
}

node deparser: deparse { emit hdr.ethernet } -> departure

node departure: buffer { send u32(meta.port) }

node lost: block {} -> leave
"#;

/// Packets of four kinds, each with a table. The third reads the clock where it misses, and the fourth always.
const KINDS: &str = r#"
program kinds for none

header hdr.ethernet: ethernet_t { dst: 48, src: 48, type: 16 }
variable meta.port: 9
variable error: 32

table firsts {
  key hdr.ethernet.dst: exact
  action send(port: 9) { meta.port = port }
  default send(7)
}

table seconds {
  key hdr.ethernet.dst: exact
  action send(port: 9) { meta.port = port }
  default send(7)
}

table thirds {
  key hdr.ethernet.dst: exact
  action send(port: 9) { meta.port = port }
  default send(7)
}

table fourths {
  key hdr.ethernet.dst: exact
  action send(port: 9) { meta.port = port }
  default send(7)
}

parser parser { start start, accept one, reject one, error error }

entry start

node start: state of parser { extract hdr.ethernet } -> one

node one: branch hdr.ethernet.type == 1 -> firsts else two

node two: branch hdr.ethernet.type == 2 -> seconds else three

node three: branch hdr.ethernet.type == 3 -> thirds else fourths

node firsts: apply firsts -> deparser

node seconds: apply seconds -> deparser

node thirds: apply thirds -> hit deparser, miss timed

node fourths: apply fourths -> timed

node timed: block { meta.port = in.clock[8:0] } -> deparser

node deparser: deparse { emit hdr.ethernet } -> departure

node departure: buffer { send u32(meta.port) }
"#;

/// What is refused of a plan, each with the text that it points at.
fn refused(plan: &str) -> Vec<(String, String)> {
    refused_of(PROGRAM, plan)
}

fn refused_of(program: &str, plan: &str) -> Vec<(String, String)> {
    let text = format!("{program}\nplan {{\n{plan}\n}}\n");
    let parsed = parse_file(&text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(parsed.verify(), [], "{plan}");
    let plan = parsed.plan.expect("there is one");
    let map = SourceMap::new("switch.hlir", &text);
    let errors = emit::refused(&parsed.program, &plan, &parsed.places);
    // What is refused in its place is refused when it is emitted, too.
    assert_eq!(emit::emit(&parsed.program, &plan).is_err(), !errors.is_empty());
    errors.iter().map(|error| (error.message().to_string(), map.snippet(error.span()).to_string())).collect()
}

#[track_caller]
fn refuses(plan: &str, message: &str, place: &str) {
    assert_eq!(refused(plan), [(format!("the plan: {message}"), place.to_string())]);
}

const PATH: &str = "hot_path { start, sources, hosts }\n";

/// A plan with this request in its only loop, which begins at `node`.
fn with_request(head: &str, node: &str, request: &str) -> String {
    format!("{head}loop {node}: batch 8 group 8 {{\n{request}\n}}")
}

#[test]
fn parts_that_the_emitter_has_not() {
    let lanes = "loop sources: batch 8 group 8 vector 4";
    refuses(lanes, "vectors of 4 packets are not supported", lanes);
    refuses("burst 513", "no port delivers 513 packets at once", "burst 513");
    assert_eq!(refused("burst 512"), []);
    assert_eq!(refused("instrument edges"), []);
    let lost = "loop lost: batch 8 group 8";
    refuses(lost, "a loop at `lost`, which no packet reaches", lost);
    assert_eq!(refused(&format!("burst 513\n{lanes}")).len(), 2, "all that can be found in one run");
}

#[test]
fn vector_code_where_it_is_impossible() {
    let of = |node: &str, lanes: u32| format!("loop {node}: batch 8 group 8 vector {lanes}");
    assert_eq!(refused(&format!("{PATH}{}", of("sources", 8))), []);
    let wide = of("sources", 16);
    refuses(&format!("{PATH}{wide}"), "a group of 8 packets is smaller than a vector of 16", &wide);
    let late = of("hosts", 8);
    let behind = format!("{PATH}loop sources: batch 8 group 8\n{late}");
    refuses(&behind, "nothing before `hosts` can be vector code", &late);
    let pathless = of("sources", 8);
    refuses(&pathless, "nothing before `sources` can be vector code", &pathless);
    let counted = of("sources", 8);
    let counting = format!("{PATH}{counted}\ninstrument edges");
    refuses(&counting, "vector code does not count keys", &counted);
    let looked_up = of("hosts", 8);
    let message = "the stage before `hosts` has no vector form: it looks up a key that does not have 1 to 32 bits";
    refuses(&format!("{PATH}{looked_up}"), message, &looked_up);
}

#[test]
fn requests_for_what_nothing_asks_for() {
    for head in ["", PATH] {
        let packet = "prefetch packet ahead 1 interleaved lookup to t0";
        let place = if head.is_empty() { "start" } else { "sources" };
        refuses(&with_request(head, place, packet), "prefetches of packets cannot be interleaved", packet);
    }
}

#[test]
fn requests_of_loops_without_a_path() {
    let own = "prefetch table sources ahead 8 in own_loop to t0";
    assert_eq!(refused(&with_request("", "sources", own)), []);
    let behind = "prefetch table sources ahead 1 interleaved lookup to t0";
    let message = "without a hot path, prefetches cannot be interleaved";
    refuses(&with_request("", "sources", behind), message, behind);
    let other = "prefetch table hosts ahead 8 in own_loop to t0";
    refuses(&with_request("", "sources", other), "`sources` does not look up `hosts`", other);
    let named = format!("lookup hosts\n{other}");
    assert_eq!(refused(&with_request(PATH, "sources", &named)), [], "a stage looks it up");
    let packet = "prefetch packet ahead 8 in own_loop to t0";
    assert_eq!(refused(&with_request("", "start", packet)), []);
    let message = "the loop at `sources` has a lookup and cannot prefetch packets";
    refuses(&with_request("", "sources", packet), message, packet);
}

#[test]
fn packets_are_requested_where_the_path_begins() {
    let packet = "prefetch packet ahead 8 in own_loop to t0";
    assert_eq!(refused(&with_request(PATH, "sources", packet)), []);
    let first = format!("{PATH}loop sources: batch 8 group 8\n");
    let message = "the loop at `hosts` is too late to prefetch packets";
    refuses(&with_request(&first, "hosts", packet), message, packet);
}

/// The plan of [`KINDS`] whose further path is this one.
fn refused_next(vector: u32, next: &str) -> Vec<(String, String)> {
    let first = format!("hot_path {{ start, one, firsts }}\nloop firsts: batch 64 group 64 vector {vector}");
    refused_of(KINDS, &format!("{first}\n{next}"))
}

#[test]
fn packets_of_several_paths_that_do_not_commit_as_sets() {
    let refused = |nodes: &str, stage: &str| refused_next(8, &format!("next_path {{ {nodes} }} {{ loop {stage} }}"));
    let refusal = |nodes: &str, rest: &str| {
        let message = format!("the plan: with a `next_path`, packets of each path commit as a set, but {rest}");
        [(message, format!("{{ {nodes} }}"))]
    };
    assert_eq!(refused("start, one, two, seconds", "seconds: batch 64 group 64"), []);
    let nodes = "start, one, two, three, thirds, deparser";
    let found = refused(nodes, "thirds: batch 64 group 64");
    assert_eq!(found, refusal(nodes, "some may leave it there"));
    let nodes = "start, one, two, three, fourths, timed";
    let found = refused(nodes, "fourths: batch 64 group 64");
    assert_eq!(found, refusal(nodes, "`timed` reads the clock"));
}

#[test]
fn vectors_of_several_paths_have_one_size() {
    let refused = |first: u32, next: u32| {
        let stage = format!("{{ loop seconds: batch 64 group 64 vector {next} }}");
        refused_next(first, &format!("next_path {{ start, one, two, seconds }} {stage}"))
    };
    for (first, next) in [(8, 8), (16, 16), (1, 8), (16, 1)] {
        assert_eq!(refused(first, next), [], "{first} {next}");
    }
    for (first, next) in [(8, 16), (16, 8)] {
        let message = format!("the plan: vectors of {next} packets on one path, and of {first} on another");
        assert_eq!(refused(first, next), [(message, "{ start, one, two, seconds }".to_string())]);
    }
}
