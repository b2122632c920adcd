//! A line has at most one prefetch.

use hlir::text::parse_file;

const L2FWD: &str = include_str!("../programs/l2fwd.hlir");

fn lookup(table: &str) -> String {
    format!("    lookup ingress.{table}\n")
}

fn request(table: &str, placement: &str) -> String {
    let ahead = if placement == "in own_loop" { 8 } else { 1 };
    format!("    prefetch table ingress.{table} ahead {ahead} {placement} to t0\n")
}

/// Each error of a plan whose loops have these prefetches, and the text that it points to.
fn found(path: &str, loops: &[(&str, &[String])]) -> Vec<(String, String)> {
    let each = |(node, requests): &(&str, &[String])| {
        format!("  loop ingress.{node}: batch 8 group 8 {{\n{}  }}\n", requests.concat())
    };
    let loops: String = loops.iter().map(each).collect();
    let text = format!("{L2FWD}\nplan {{\n{path}{loops}}}\n");
    let errors = parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}")).verify();
    let pointed = |span: hlir::source::Span| text[span.start as usize..span.end as usize].to_string();
    errors.iter().map(|error| (error.message().to_string(), pointed(error.span()))).collect()
}

const PATH: &str = "  hot_path { arrival, parser.start, ingress.smac, ingress.dmac }\n";

#[test]
fn a_loop_prefetches_a_line_once() {
    let twice = "the plan: the loop at `ingress.smac` prefetches `ingress.smac` twice";
    for (one, other) in [("interleaved commit", "interleaved keys"), ("in own_loop", "in own_loop")] {
        let requests = [request("smac", one), request("smac", other)];
        let second = requests[1].trim().to_string();
        assert_eq!(found(PATH, &[("smac", &requests)]), [(twice.to_string(), second)]);
    }
    let both = [request("smac", "in own_loop"), request("smac", "in own_loop")];
    assert_eq!(found("", &[("smac", &both)]).len(), 1, "without a path as well");
    let packet = "    prefetch packet ahead 8 in own_loop to t0\n".to_string();
    let packets = [packet.clone(), packet];
    let messages: Vec<String> = found(PATH, &[("smac", &packets)]).into_iter().map(|(message, _)| message).collect();
    assert_eq!(messages, ["the plan: the loop at `ingress.smac` prefetches packets twice"]);
}

/// The first loop makes the lookup, in whatever order the plan has the loops.
#[test]
fn a_hot_path_prefetches_a_line_once() {
    let prefetched =
        "the plan: lines of `ingress.dmac` are prefetched at `ingress.dmac`, but looked up earlier, at `ingress.smac`";
    let looked_up = "the plan: `ingress.dmac` is looked up at `ingress.dmac`, and earlier at `ingress.smac`";
    let first = [lookup("dmac"), request("smac", "in own_loop"), request("dmac", "in own_loop")];
    for (again, message) in [(request("dmac", "in own_loop"), prefetched), (lookup("dmac"), looked_up)] {
        let again = [again];
        let expected = [(message.to_string(), again[0].trim().to_string())];
        assert_eq!(found(PATH, &[("smac", &first), ("dmac", &again)]), expected);
        assert_eq!(found(PATH, &[("dmac", &again), ("smac", &first)]), expected);
    }
    assert_eq!(found(PATH, &[("smac", &first), ("dmac", &[])]), [], "the lookup is made, and prefetched once");
    assert_eq!(found(PATH, &[("smac", &first[1..2]), ("dmac", &first[2..])]), []);
}

/// A prefetch makes no lookup, and a loop without a path no other one than its own.
#[test]
fn what_is_prefetched_is_looked_up() {
    let alone = [request("dmac", "in own_loop")];
    let message = "the plan: the loop at `ingress.smac` prefetches lines of `ingress.dmac`, which it does not look up";
    assert_eq!(found(PATH, &[("smac", &alone)]), [(message.to_string(), alone[0].trim().to_string())]);
    let twice = [lookup("dmac"), lookup("dmac")];
    let message = "the plan: the loop at `ingress.smac` looks up `ingress.dmac` twice";
    assert_eq!(found(PATH, &[("smac", &twice)]), [(message.to_string(), twice[1].trim().to_string())]);
    let message = "the plan: table `ingress.smac` is not looked up on the hot path from `ingress.dmac` on";
    let back = [lookup("smac")];
    assert_eq!(found(PATH, &[("dmac", &back)]), [(message.to_string(), back[0].trim().to_string())]);
    let message = "the plan: without a hot path, the loop at `ingress.smac` makes only the lookup of its node";
    let other = [lookup("dmac")];
    assert_eq!(found("", &[("smac", &other)]), [(message.to_string(), other[0].trim().to_string())]);
}

/// Lookups before the first cut are made before packets are pipelined. Later loops are not pipelined.
#[test]
fn only_the_first_loop_is_pipelined() {
    let behind = [request("dmac", "interleaved commit")];
    assert_eq!(found(PATH, &[("dmac", &behind)]), [], "`ingress.smac` is looked up on the path");
    let message = "the plan: only prefetches of the first loop can be one burst ahead";
    let expected = [(message.to_string(), behind[0].trim().to_string())];
    assert_eq!(found(PATH, &[("smac", &[]), ("dmac", &behind)]), expected);
}
