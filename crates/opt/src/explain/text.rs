//! An explanation as text.

use super::explanation::{COSTS, Decision, Explanation};
use super::summary::summary;
use hlir::text::written_choice;
use std::fmt::Write as _;

/// Alternatives shown per decision.
const SHOWN: usize = 4;

pub fn text(explained: &Explanation) -> String {
    let mut text = summary(explained);
    let _ = writeln!(text, "\ndecisions, with predicted cycles for each packet\n{COSTS}");
    let wide = explained.decisions.iter().map(|decision| decision.what.chars().count()).max().unwrap_or(0);
    explained.decisions.iter().for_each(|decision| text.push_str(&decided(decision, wide)));
    text.push_str(&expectations(explained));
    text.push_str(&nodes(explained));
    text
}

/// The line of a decision.
pub fn decided(decision: &Decision, wide: usize) -> String {
    let mut text = format!("  {:wide$}  {}", decision.what, decision.chosen);
    if let Some(reason) = &decision.reason {
        let _ = write!(text, "  {}", cycles(reason.cost));
        let others = reason.alternatives.iter().take(SHOWN);
        let others: Vec<String> =
            others.map(|it| format!("{} {}", written_choice(&it.choice), cycles(it.cost))).collect();
        if !others.is_empty() {
            let _ = write!(text, "  (against {})", others.join(", "));
        }
    }
    text.push('\n');
    text
}

fn expectations(explained: &Explanation) -> String {
    if explained.expectations.is_empty() {
        return String::new();
    }
    let mut text = String::from("\nexpectations of the plan, and what makes each false\n");
    let wide = explained.expectations.iter().map(|expected| expected.what.chars().count()).max().unwrap_or(0);
    for expected in &explained.expectations {
        let other = expected.other.map(|other| format!("; {:+.1} with {}", other.cycles, other.entries));
        let (fact, origin, other) = (&expected.what, expected.origin, other.unwrap_or_default());
        let _ = writeln!(text, "  {fact:wide$}  {origin}{other}; false by {}", expected.broken_by);
    }
    text
}

fn cycles(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn nodes(explained: &Explanation) -> String {
    let is_measured = explained.nodes.iter().any(|node| node.measured.is_some());
    let wide = explained.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
    let mut text = String::from("\nnodes, with cycles for each packet that comes from a port");
    text.push('\n');
    let _ =
        write!(text, "  {:wide$} {:>8} {:>8} {:>8} {:>8} {:>8}", "", "share", "issue", "memory", "branches", "total");
    text.push_str(if is_measured { "  measured\n" } else { "\n" });
    for node in &explained.nodes {
        let predicted = &node.predicted;
        let _ = write!(
            text,
            "{} {:wide$} {:>6.1} % {:>8.1} {:>8.1} {:>8.1} {:>8.1}",
            if node.is_on_path { "*" } else { " " },
            node.name,
            node.share * 100.0,
            predicted.issue,
            predicted.memory,
            predicted.mispredicted,
            predicted.cycles()
        );
        if let Some(measured) = node.measured {
            let _ = write!(text, " {measured:>9.1}");
        }
        let edges: Vec<String> = node.onward.iter().map(|(to, share)| format!("{to} {:.1} %", share * 100.0)).collect();
        let _ =
            writeln!(text, "  -> {}", if edges.is_empty() { "sent or dropped".to_string() } else { edges.join(", ") });
    }
    if explained.nodes.iter().any(|node| node.is_on_path) {
        text.push_str("* on the hot path, which runs in stages\n");
    }
    text
}
