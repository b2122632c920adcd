//! Each rule of the verifier, broken in the text of the page's example, is reported with its name and place.

use crate::page::{block, example};
use hlir::diagnostic::Diagnostic;
use hlir::source::SourceMap;
use schedule::text::parse;
use schedule::verify::{Rule, verify};

/// A change of the text that breaks a rule, and what the line begins with that is reported.
const BROKEN: [(Rule, &str, &str, &str); 32] = [
    (Rule::Order, "    %0 = %hdr.order.version != 2\n", "", "exit when %0"),
    (Rule::Order, "  commit {\n", "  commit {\n    miss hosts at hosts\n    exit when true\n", "exit when true"),
    (Rule::Types, "%7 = %5 || %6", "%7 = %5 || %send_port", "%7 ="),
    (Rule::Types, "%hdr.order.version != 2", "%hdr.order.version != 300", "%0 ="),
    (Rule::Types, "exit when %0 at", "exit when %hdr.order.version at", "exit when %hdr"),
    (Rule::Types, "hops at packet[6..7] =", "hops at packet[6..8] =", "store hdr.order.hops"),
    (
        Rule::Lookups,
        "    exit when %0",
        "    %x = number at hosts\n    %y = %x == 0\n    exit when %y at kind\n    exit when %0",
        "%x =",
    ),
    (Rule::Lookups, "    lookup hosts in hosts, place 4, key %hdr.order.host\n", "", "%"),
    (Rule::Bytes, "stage 0, 8 bytes", "stage 0, 3 bytes", "%hdr.order.host"),
    (Rule::Bytes, "stage 0, 8 bytes", "stage 0, 6 bytes", "%hdr.order.hops"),
    (
        Rule::Stores,
        "    send %",
        "    store hdr.order.hops at packet.bits[52..60] = 1 at deparser\n    send %",
        "store hdr.order.hops at packet.bits",
    ),
    (Rule::Order, "    count sessions", "    exit at session when %3\n    count sessions", "exit at session"),
    (
        Rule::Bytes,
        "    store hdr.order.hops",
        "    begin 4 bytes earlier at queue\n    store hdr.order.hops",
        "begin 4",
    ),
    (Rule::Bytes, "    store hdr.order.hops", "    begin 9 bytes later at queue\n    store hdr.order.hops", "begin 9"),
    (Rule::Ends, "    count sessions", "    begin 1 bytes later at queue\n    count sessions", "count sessions"),
    (Rule::Ends, "    send %", "    count sessions(16w1) at session\n    send %", "count sessions(16w1)"),
    (Rule::Send, "send %8 at departure\n", "send %8 at departure when %7\n", "send %8"),
    (
        Rule::Send,
        "  commit expected {\n",
        "  commit expected {\n    send 32w70000 at departure when false\n",
        "send 32w70000",
    ),
    (Rule::Reads, "    keep %meta.least\n", "", "%meta.least ="),
    (
        Rule::Reads,
        "  commit {\n",
        "  commit {\n    %late = register least(8w0)\n    count sessions(%late) at session\n",
        "%late =",
    ),
    (Rule::Counters, "counting wrong(1)", "counting wrong(2)", "exit when %0"),
    (Rule::Counters, "drop \"refused\" counting", "drop \"unknown\" counting", "exit when %0"),
    (Rule::Keys, "key %hdr.order.host\n", "key %hdr.order.version\n", "lookup hosts"),
    (Rule::Keys, "key %hdr.order.host\n", "key %hdr.order.host, 8w0\n", "lookup hosts"),
    (Rule::Objects, "lookup hosts in", "lookup kind in", "lookup kind"),
    (
        Rule::Lookups,
        "  commit {\n",
        "  commit {\n    lookup hosts in hosts, key 16w1\n",
        "lookup hosts in hosts, key 16w1",
    ),
    (Rule::Keys, "  commit {\n", "  commit {\n    lookup hosts in hosts, key 8w1\n", "lookup hosts in hosts, key 8w1"),
    (Rule::Objects, "    count sessions(", "    made hosts at hosts\n    count sessions(", "made hosts"),
    (Rule::Objects, "    count sessions(", "    restart queue at hosts\n    count sessions(", "restart queue"),
    (Rule::Types, "    count sessions(", "    write least(1w0) = 9w1 at hosts\n    count sessions(", "write least"),
    (
        Rule::Types,
        "    %6 = %send_port == 511\n",
        "    %6 = %send_port == 511\n    %h = hash crc32(%send_port)\n    count sessions(%h) at session\n",
        "%h =",
    ),
    (Rule::Objects, "count direct hosts.found of", "count direct wrong of", "count direct wrong"),
];

/// What is wrong with a text.
fn mistakes(text: &str) -> Vec<Diagnostic> {
    let (program, _) = example();
    match parse(&program, text) {
        Ok(read) => verify(&program, &read.schedule, &read.places),
        Err(errors) => errors,
    }
}

#[test]
fn each_rule_is_reported_with_its_name_and_place() {
    let text = block("schedule");
    assert_eq!(mistakes(&text), []);
    let mut missed = Vec::new();
    for (rule, from, to, line) in BROKEN {
        assert!(text.contains(from), "the example has no `{from}`");
        let broken = text.replacen(from, to, 1);
        let found = mistakes(&broken);
        let map = SourceMap::new("orders", &broken);
        let is_reported = |error: &Diagnostic| {
            let place = map.line_at(error.span().start).1.trim();
            error.class() == Some(rule.name()) && !error.span().is_none() && place.starts_with(line)
        };
        if !found.iter().any(is_reported) {
            let shown: String = found.iter().map(|error| error.render(&map)).collect();
            missed.push(format!("`{}` by `{to}`: {shown}", rule.name()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn each_rule_has_a_text_that_breaks_it() {
    for rule in Rule::ALL {
        assert!(BROKEN.iter().any(|(broken, ..)| *broken == rule), "nothing breaks `{}`", rule.name());
    }
}
