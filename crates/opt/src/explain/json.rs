//! An explanation as JSON.

use super::expectations::Expected;
use super::explanation::{Decision, Explanation, NodeRow, Total};
use hlir::text::written_choice;

pub fn json(explained: &Explanation) -> String {
    let decisions: Vec<String> = explained.decisions.iter().map(decision).collect();
    let nodes: Vec<String> = explained.nodes.iter().map(node).collect();
    let expectations: Vec<String> = explained.expectations.iter().map(expected).collect();
    let notes: Vec<String> = explained.notes.iter().map(|note| string(note)).collect();
    format!(
        "{{\n\"program\": {}, \"machine\": {}, \"traffic\": {},\n\"cycles\": {}, \"plain\": {}, \"floor\": {}, \"staging\": {}, \
         \"latency_ns\": {:.1}, \"notes\": [{}],\n\"decisions\": [\n{}\n],\n\"expectations\": [\n{}\n],\n\"nodes\": [\n{}\n],\n\"plan\": {}\n}}\n",
        string(&explained.program),
        string(&explained.machine),
        string(explained.traffic),
        total(&explained.planned),
        total(&explained.plain),
        total(&explained.floor),
        total(&explained.staging),
        explained.latency_ns,
        notes.join(", "),
        decisions.join(",\n"),
        expectations.join(",\n"),
        nodes.join(",\n"),
        string(&explained.plan),
    )
}

fn expected(expected: &Expected) -> String {
    let (fact, broken_by) = (string(&expected.what), string(&expected.broken_by));
    let other =
        expected.other.map(|other| format!("{{\"entries\": {}, \"cycles\": {:.1}}}", other.entries, other.cycles));
    let (origin, other) = (string(expected.origin), other.unwrap_or_else(|| "null".to_string()));
    format!("  {{\"expected\": {fact}, \"origin\": {origin}, \"with\": {other}, \"false_by\": {broken_by}}}")
}

fn total(total: &Total) -> String {
    format!("{{\"predicted\": {:.2}, \"measured\": {}}}", total.predicted, optional(total.measured))
}

fn optional(number: Option<f64>) -> String {
    number.map_or("null".to_string(), |number| format!("{number:.2}"))
}

fn decision(decision: &Decision) -> String {
    let cost = decision.reason.as_ref().map(|reason| reason.cost as f64 / 10.0);
    let others = decision.reason.iter().flat_map(|reason| &reason.alternatives);
    let others: Vec<String> = others
        .map(|it| {
            let name = string(&written_choice(&it.choice));
            format!("{{\"name\": {name}, \"cycles\": {:.1}}}", it.cost as f64 / 10.0)
        })
        .collect();
    format!(
        "  {{\"what\": {}, \"chosen\": {}, \"cycles\": {}, \"alternatives\": [{}]}}",
        string(&decision.what),
        string(&decision.chosen),
        optional(cost),
        others.join(", ")
    )
}

fn node(node: &NodeRow) -> String {
    let edges = node.onward.iter().map(|(to, share)| format!("{{\"to\": {}, \"share\": {share:.5}}}", string(to)));
    format!(
        "  {{\"name\": {}, \"kind\": {}, \"place\": {}, \"share\": {:.5}, \"leaving\": {:.5}, \"on_path\": {}, \"issue\": {:.2}, \
         \"memory\": {:.2}, \"mispredicted\": {:.2}, \"measured\": {}, \"onward\": [{}]}}",
        string(&node.name),
        string(node.kind),
        string(&node.place),
        node.share,
        node.leaving,
        node.is_on_path,
        node.predicted.issue,
        node.predicted.memory,
        node.predicted.mispredicted,
        optional(node.measured),
        edges.collect::<Vec<String>>().join(", ")
    )
}

fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if u32::from(control) < 32 => quoted.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
