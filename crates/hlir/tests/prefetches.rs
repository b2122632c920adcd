//! Lines are asked for once: of two requests for the same one only one would be made, whatever the other says.

use hlir::text::parse_file;

const L2FWD: &str = include_str!("programs/l2fwd.hlir");

fn request(table: &str, placement: &str) -> String {
    let ahead = if placement == "in own_loop" { 8 } else { 1 };
    format!("    prefetch table ingress.{table} line 0 ahead {ahead} {placement} to t0\n")
}

/// Each mistake of a plan whose loops have these requests, and the text that it points to.
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
fn a_loop_asks_once() {
    let twice = "the plan: the loop at `ingress.smac` asks twice for line 0 of `ingress.smac`";
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
    assert_eq!(messages, ["the plan: the loop at `ingress.smac` asks twice for packets"]);
}

/// The first loop makes the look-up, in whatever order the plan has them.
#[test]
fn a_path_asks_once() {
    let before = "the plan: lines of `ingress.dmac` are requested at `ingress.dmac`, and before at `ingress.smac`";
    let first = [request("smac", "in own_loop"), request("dmac", "in own_loop")];
    for placement in ["in own_loop", "in none"] {
        let again = [request("dmac", placement)];
        let expected = [(before.to_string(), again[0].trim().to_string())];
        assert_eq!(found(PATH, &[("smac", &first), ("dmac", &again)]), expected);
        assert_eq!(found(PATH, &[("dmac", &again), ("smac", &first)]), expected);
    }
    assert_eq!(found(PATH, &[("smac", &first), ("dmac", &[])]), [], "the look-up is made, and asked for once");
    assert_eq!(found(PATH, &[("smac", &first[..1]), ("dmac", &first[1..])]), []);
}

/// What is looked up on the way to the first loop is found before its packets wait; of later loops nobody waits.
#[test]
fn the_first_loop_alone_asks_a_burst_ahead() {
    let behind = [request("dmac", "interleaved commit")];
    assert_eq!(found(PATH, &[("dmac", &behind)]), [], "`ingress.smac` is looked up on the way");
    let message = "the plan: only the look-ups of a path's first loop can be requested a burst ahead";
    let expected = [(message.to_string(), behind[0].trim().to_string())];
    assert_eq!(found(PATH, &[("smac", &[]), ("dmac", &behind)]), expected);
}
