//! An explanation on one screen, however large the program is.

use super::explanation::{Explanation, Group, NOTHING, SAVED, Total};
use super::text::decided;
use std::fmt::Write as _;

/// Rows of each part.
const NODES: usize = 10;
const TABLES: usize = 8;
const DECISIONS: usize = 6;

pub fn summary(explained: &Explanation) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{} on {}, traffic {}", explained.program, explained.machine, explained.traffic);
    explained.notes.iter().for_each(|note| text.push_str(&format!("{note}\n")));
    let _ = writeln!(text, "\n{}", totals(explained));
    text.push_str("\nassumptions of the prediction\n");
    explained.assumptions().iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    nodes(&mut text, explained);
    tables(&mut text, explained);
    text.push_str("\ndecisions\n");
    let is_general = |group: Group| matches!(group, Group::Plan | Group::Join | Group::Stage);
    let general = explained.decisions.iter().filter(|decision| is_general(decision.group));
    let shown: Vec<_> = general.clone().take(DECISIONS).collect();
    let wide = shown.iter().map(|decision| decision.what.chars().count()).max().unwrap_or(0);
    shown.iter().for_each(|decision| text.push_str(&decided(decision, wide)));
    rest(&mut text, general.count().saturating_sub(shown.len()), "decisions");
    text
}

/// What is left out. Its cycles are given where they add up.
fn rest(text: &mut String, count: usize, what: &str) {
    if count > 0 {
        let _ = writeln!(text, "  {count} more {what}: --all");
    }
}

fn totals(explained: &Explanation) -> String {
    let one = |total: &Total| match total.measured {
        Some(measured) => format!("{:.1} predicted, {measured:.1} measured", total.predicted),
        None => format!("{:.1} predicted", total.predicted),
    };
    format!(
        "cycles per packet: {}; the plain program {}\nof these the port {}, stages {}; {:.1} us in the switch{}",
        one(&explained.planned),
        one(&explained.plain),
        one(&explained.floor),
        one(&explained.staging),
        explained.latency_ns / 1000.0,
        if explained.staging.predicted < 0.0 { format!("\n{SAVED}") } else { String::new() }
    )
}

fn nodes(text: &mut String, explained: &Explanation) {
    let nodes = explained.by_cost();
    let shown: Vec<_> = nodes.iter().filter(|node| node.cycles() >= NOTHING).take(NODES).collect();
    let (wide, wide_place) =
        (widest(shown.iter().map(|node| &node.name)), widest(shown.iter().map(|node| &node.place)));
    let is_measured = shown.iter().any(|node| node.measured.is_some());
    let _ = writeln!(
        text,
        "\nmost expensive nodes, {} of {}\n  {:wide$}  {:wide_place$} {:>8} {:>8} {:>8} {:>8} {:>8}{}",
        shown.len(),
        nodes.len(),
        "",
        "",
        "share",
        "issue",
        "memory",
        "branches",
        "cycles",
        if is_measured { "  measured" } else { "" }
    );
    for node in &shown {
        let _ = write!(
            text,
            "  {:wide$}  {:wide_place$} {:>6.1} % {:>8.1} {:>8.1} {:>8.1} {:>8.1}",
            node.name,
            node.place,
            node.share * 100.0,
            node.predicted.issue,
            node.predicted.memory,
            node.predicted.mispredicted,
            node.predicted.cycles()
        );
        text.push_str(&node.measured.map_or("\n".to_string(), |measured| format!(" {measured:>9.1}\n")));
    }
    let left: f64 = nodes.iter().skip(shown.len()).map(|node| node.cycles()).sum();
    rest(text, nodes.len() - shown.len(), &format!("nodes, {left:.1} cycles in all"));
}

fn tables(text: &mut String, explained: &Explanation) {
    let tables = &explained.tables;
    if tables.is_empty() {
        return;
    }
    let shown: Vec<_> = tables.iter().filter(|table| table.cycles >= NOTHING).take(TABLES).collect();
    let _ = writeln!(text, "\nmost expensive tables, {} of {}", shown.len(), tables.len());
    let (wide, structure) =
        (widest(shown.iter().map(|table| &table.name)), widest(shown.iter().map(|it| &it.structure)));
    for table in &shown {
        let next = table.next.as_ref().map(|(name, more)| format!("  ({name} {more:+.1})"));
        let _ = writeln!(
            text,
            "  {:wide$}  {:structure$} {:>6.1} cycles  {:>5.1} % of packets, {} entries {}{}",
            table.name,
            table.structure,
            table.cycles,
            table.lookups * 100.0,
            table.entries,
            table.origin,
            next.unwrap_or_default()
        );
    }
    let left: f64 = tables.iter().skip(shown.len()).map(|table| table.cycles).sum();
    rest(text, tables.len() - shown.len(), &format!("tables, {left:.1} cycles in all"));
}

fn widest<'t>(texts: impl Iterator<Item = &'t String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}
