//! A line has at most one prefetch.

use hlir::text::parse_file;

const L2FWD: &str = include_str!("../programs/l2fwd.hlir");

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
    for (one, other) in
        [("interleaved commit", "interleaved keys"), ("in none", "interleaved commit"), ("in own_loop", "in none")]
    {
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
    let before = "the plan: lines of `ingress.dmac` are prefetched at `ingress.dmac`, and earlier at `ingress.smac`";
    let first = [request("smac", "in own_loop"), request("dmac", "in own_loop")];
    for placement in ["in own_loop", "in none"] {
        let again = [request("dmac", placement)];
        let expected = [(before.to_string(), again[0].trim().to_string())];
        assert_eq!(found(PATH, &[("smac", &first), ("dmac", &again)]), expected);
        assert_eq!(found(PATH, &[("dmac", &again), ("smac", &first)]), expected);
    }
    assert_eq!(found(PATH, &[("smac", &first), ("dmac", &[])]), [], "the lookup is made, and prefetched once");
    assert_eq!(found(PATH, &[("smac", &first[..1]), ("dmac", &first[1..])]), []);
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
