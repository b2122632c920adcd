//! An explanation as one self-contained HTML page: totals and assumptions, nodes and tables with the most expensive
//! ones first, decisions, and the graph. Its script sorts and filters the rows.

use super::draw::{escaped, graph};
use super::expectations::Expected;
use super::explanation::{COSTS, Decision, Explanation, Group, NOTHING, NodeRow, SAVED, Total};
use super::tables::TableRow;
use hlir::text::written_choice;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const FILTER: &str = "<p class=\"filter\"><input id=\"filter\" type=\"search\" placeholder=\"filter rows\" aria-label=\"filter rows\"> \
                      <label><input id=\"all\" type=\"checkbox\"> also rows that cost nothing, and pairs that are not joined</label></p>\n\
                      <noscript><style>tr.minor{display:table-row!important}.filter{display:none}</style></noscript>";

pub fn html(explained: &Explanation) -> String {
    let name = escaped(&explained.program);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{name}</title><style>{STYLE}</style></head><body>\n"
    );
    let _ = writeln!(
        page,
        "<h1>{name}</h1><p class=\"note\">Planned for {}; traffic {}.</p>",
        escaped(&explained.machine),
        explained.traffic
    );
    for note in &explained.notes {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escaped(note));
    }
    cards(&mut page, explained);
    page.push_str(FILTER);
    page.push_str("<h2>Nodes</h2>");
    nodes(&mut page, explained);
    tables(&mut page, explained);
    decisions(&mut page, explained);
    expectations(&mut page, explained);
    let idle = explained.nodes.iter().filter(|node| node.share == 0.0).count();
    let left_out = if idle > 0 { format!(" Nodes without traffic are left out: {idle}.") } else { String::new() };
    let _ = writeln!(
        page,
        "<h2>Where packets go</h2><p class=\"note\">A box has its node's share of packets and cycles per packet, an edge the share of packets that take \
         it.{left_out}</p><div class=\"graph\">{}</div>",
        graph(explained)
    );
    let _ = writeln!(page, "<script>{SCRIPT}</script></body></html>");
    page
}

/// The beginning of a table. A column has its name and its class; those of numbers begin with their largest when sorted.
/// The rows come sorted by the column `sorted`, if by any.
fn head(page: &mut String, columns: &[(&str, &str)], sorted: Option<&str>) {
    page.push_str("<table class=\"sorted\"><thead><tr>");
    for (name, class) in columns {
        let sort = if sorted == Some(name) { " aria-sort=\"descending\"" } else { "" };
        let _ = write!(page, "<th class=\"{class}\" scope=\"col\"{sort}><button>{name}</button></th>");
    }
    page.push_str("</tr></thead><tbody>\n");
}

/// A cell of a number, which sorts by its value.
fn number(page: &mut String, class: &str, value: f64, unit: &str) {
    let _ = write!(page, "<td class=\"n {class}\" data-value=\"{value}\">{value:.1}{unit}</td>");
}

/// A name with its bars below, in percent of the longest one. So they are in view however narrow the window is. A narrow
/// window has the position in the source here, too.
fn named(page: &mut String, (name, at): (&str, &str), bars: &[(&str, Option<f64>)], longest: f64) {
    // A narrow window breaks a name behind its dots and underscores.
    let broken = escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>");
    let _ = write!(page, "<td class=\"name\">{broken}");
    if !at.is_empty() {
        let _ = write!(page, "<small class=\"at\">{}</small>", place(at));
    }
    for (class, cycles) in bars.iter().filter_map(|(class, cycles)| Some((class, (*cycles)?))) {
        let width = cycles.max(0.0) / longest * 100.0;
        let _ = write!(page, "<div class=\"bar {class}\" style=\"width:{width:.1}%\"></div>");
    }
    page.push_str("</td>");
}

/// The totals. A measured value is the large number, if there is one.
fn cards(page: &mut String, explained: &Explanation) {
    page.push_str("<div class=\"cards\">");
    let mut card = |about: &str, number: String, below: String| {
        let _ = write!(page, "<div class=\"card\"><small>{about}</small><b>{number}</b><small>{below}</small></div>");
    };
    let mut cycles = |about: &str, total: &Total| match total.measured {
        Some(measured) => {
            let error = (total.predicted / measured - 1.0) * 100.0;
            card(about, format!("{measured:.1}"), format!("{:.1} predicted ({error:+.0} %)", total.predicted));
        }
        None => card(about, format!("{:.1}", total.predicted), "predicted".to_string()),
    };
    cycles("cycles per packet, this plan", &explained.planned);
    cycles("the plain program", &explained.plain);
    let gain = |of: fn(&Total) -> Option<f64>| Some(of(&explained.plain)? / of(&explained.planned)?);
    let predicted = gain(|total| Some(total.predicted)).unwrap_or(1.0);
    match gain(|total| total.measured) {
        Some(measured) => card("the plan's gain", format!("{measured:.2}×"), format!("{predicted:.2}× predicted")),
        None => card("the plan's gain", format!("{predicted:.2}×"), "predicted".to_string()),
    }
    card("in the switch", format!("{:.1} µs", explained.latency_ns / 1000.0), "predicted".to_string());
    page.push_str("<div class=\"card wide\"><small>assumptions of the prediction</small><ul>");
    explained.assumptions().iter().for_each(|line| page.push_str(&format!("<li>{}</li>", escaped(line))));
    page.push_str("</ul></div></div>\n");
}

/// A row per node, then the port and the stages, then the total.
fn nodes(page: &mut String, explained: &Explanation) {
    let is_measured = explained.floor.measured.is_some();
    page.push_str("<p class=\"note\">Cycles for each packet that comes from a port.<span class=\"key bar predicted\"></span>predicted");
    if is_measured {
        page.push_str("<span class=\"key bar measured\"></span>measured");
    }
    page.push_str("</p>");
    if explained.nodes.iter().any(|node| node.share > 1.0005) {
        page.push_str(
            "<p class=\"note\">Shares above 100 % are of nodes that copies of packets pass, or packets twice.</p>",
        );
    }
    let mut columns = vec![
        ("node", "name"),
        ("source", "part"),
        ("kind", "part"),
        ("share", "n"),
        ("issue", "n part"),
        ("memory", "n part"),
        ("branches", "n part"),
        ("predicted", "n"),
    ];
    if is_measured {
        columns.push(("measured", "n"));
    }
    head(page, &columns, Some(if is_measured { "measured" } else { "predicted" }));
    let others = [&explained.floor, &explained.staging];
    let all = explained.nodes.iter().flat_map(|node| [Some(node.predicted.cycles()), node.measured]);
    let all = all.chain(others.into_iter().flat_map(|total| [Some(total.predicted), total.measured]));
    let longest = all.flatten().fold(1.0, f64::max);
    explained.by_cost().into_iter().for_each(|node| row(page, node, longest, is_measured));
    page.push_str("</tbody><tfoot>\n");
    let mut beside = |class: &str, about: &str, total: &Total, longest: f64| {
        let _ = write!(page, "<tr class=\"{class}\">");
        let bars = [("predicted", Some(total.predicted)), ("measured", total.measured)];
        named(page, (about, ""), if longest > 0.0 { &bars } else { &[] }, longest);
        page.push_str("<td class=\"part\"></td><td class=\"part\"></td><td></td><td class=\"part\"></td><td class=\"part\"></td><td class=\"part\"></td>");
        compared(page, total, is_measured);
    };
    beside(
        "beside",
        "stages: loops, spills and side exits, less what they save the nodes",
        &explained.staging,
        longest,
    );
    beside("beside", "port, and the switch around the program", &explained.floor, longest);
    beside("sum", "total", &explained.planned, 0.0);
    page.push_str("</tfoot></table>\n");
    if explained.staging.predicted < 0.0 {
        let _ = writeln!(page, "<p class=\"note\">{SAVED}</p>");
    }
    if explained.nodes.iter().any(|node| node.is_on_path) {
        page.push_str("<p class=\"note\">Nodes with a blue edge are on the hot path, which runs in stages.</p>\n");
    }
}

/// The last columns of a row.
fn compared(page: &mut String, total: &Total, is_measured: bool) {
    number(page, "", total.predicted, "");
    if is_measured {
        number(page, "", total.measured.unwrap_or_default(), "");
    }
    page.push_str("</tr>\n");
}

fn row(page: &mut String, node: &NodeRow, longest: f64, is_measured: bool) {
    let predicted = &node.predicted;
    let is_minor = node.share == 0.0 || predicted.cycles().max(node.measured.unwrap_or(0.0)) < NOTHING;
    let path = if node.is_on_path { "path" } else { "" };
    let _ = write!(page, "<tr class=\"{path}{}\">", if is_minor { " minor" } else { "" });
    named(
        page,
        (&node.name, &node.place),
        &[("predicted", Some(predicted.cycles())), ("measured", node.measured)],
        longest,
    );
    let _ = write!(page, "<td class=\"place part\">{}</td><td class=\"part\">{}</td>", place(&node.place), node.kind);
    number(page, "", node.share * 100.0, " %");
    number(page, "part", predicted.issue, "");
    number(page, "part", predicted.memory, "");
    number(page, "part", predicted.mispredicted, "");
    compared(page, &Total { predicted: predicted.cycles(), measured: node.measured }, is_measured);
}

fn place(place: &str) -> String {
    escaped(place).replace(':', "<wbr>:")
}

fn tables(page: &mut String, explained: &Explanation) {
    if explained.tables.is_empty() {
        return;
    }
    page.push_str("<h2>Tables</h2>");
    let columns = [
        ("table", "name"),
        ("source", "part"),
        ("structure", ""),
        ("next best", "part"),
        ("lookups", "n"),
        ("entries", "n"),
        ("from", "part"),
        ("cycles", "n"),
    ];
    head(page, &columns, Some("cycles"));
    let longest = explained.tables.iter().map(|table| table.cycles).fold(1.0, f64::max);
    explained.tables.iter().for_each(|table| table_row(page, table, longest));
    page.push_str("</tbody></table>\n");
}

fn table_row(page: &mut String, table: &TableRow, longest: f64) {
    let class = if table.cycles < NOTHING { "minor" } else { "" };
    let _ = write!(page, "<tr class=\"{class}\">");
    named(page, (&table.name, &table.place), &[("predicted", Some(table.cycles))], longest);
    let next = table.next.as_ref().map(|(name, more)| format!("{name} {more:+.1}")).unwrap_or_default();
    let _ = write!(
        page,
        "<td class=\"place part\">{}</td><td>{}</td><td class=\"part\">{}</td>",
        place(&table.place),
        escaped(&table.structure),
        escaped(&next)
    );
    number(page, "", table.lookups * 100.0, " %");
    let (entries, origin) = (table.entries, table.origin);
    let _ = write!(page, "<td class=\"n\" data-value=\"{entries}\">{entries}</td><td class=\"part\">{origin}</td>");
    number(page, "", table.cycles, "");
    page.push_str("</tr>\n");
}

fn decisions(page: &mut String, explained: &Explanation) {
    let _ = writeln!(page, "<h2>Decisions</h2><p class=\"note\">{COSTS}</p>");
    head(page, &[("what", "name"), ("chosen", ""), ("cycles", "n"), ("against", "part")], None);
    // Counters and pairs that are not joined are many, and choose nothing: last.
    let mut decisions: Vec<&Decision> = explained.decisions.iter().collect();
    decisions.sort_by_key(|decision| match decision.group {
        Group::Plan | Group::Join | Group::Stage => 0,
        Group::Structure => 1,
        Group::State => 2,
        Group::NotJoined => 3,
    });
    decisions.into_iter().for_each(|decision| decision_row(page, decision));
    page.push_str("</tbody></table>\n");
}

fn decision_row(page: &mut String, decision: &Decision) {
    let (cost, others) = match &decision.reason {
        Some(reason) => {
            let others = reason.alternatives.iter();
            let others =
                others.map(|it| format!("{} {:.1}", escaped(&written_choice(&it.choice)), it.cost as f64 / 10.0));
            (Some(reason.cost as f64 / 10.0), others.collect::<Vec<String>>().join(", "))
        }
        None => (None, String::new()),
    };
    let costs_nothing = decision.group == Group::Structure && cost.is_some_and(|cycles| cycles < NOTHING);
    let class = if costs_nothing || decision.group == Group::NotJoined { "minor" } else { "" };
    let (what, chosen) = (escaped(&decision.what), escaped(&decision.chosen));
    let _ = write!(page, "<tr class=\"{class}\"><td class=\"name\">{what}</td><td>{chosen}</td>");
    match cost {
        Some(cycles) => number(page, "", cycles, ""),
        None => page.push_str("<td class=\"n\"></td>"),
    }
    let _ = writeln!(page, "<td class=\"part\">{others}</td></tr>");
}

fn expectations(page: &mut String, explained: &Explanation) {
    page.push_str("<h2>Expectations</h2>");
    let columns = [("expected", "name"), ("from", ""), ("with other entries", "n"), ("false by", "part")];
    head(page, &columns, Some("with other entries"));
    explained.expectations.iter().for_each(|expected| expectation_row(page, expected));
    page.push_str("</tbody></table>\n");
}

fn expectation_row(page: &mut String, expected: &Expected) {
    let [fact, origin, broken_by] = [expected.what.as_str(), expected.origin, expected.broken_by.as_str()].map(escaped);
    let change = expected.other.map(|other| other.cycles);
    let class = if change.is_some_and(|cycles| cycles.abs() < NOTHING) { "minor" } else { "" };
    let other = expected.other.map(|other| format!("{:+.1} with {}", other.cycles, other.entries)).unwrap_or_default();
    let _ = writeln!(
        page,
        "<tr class=\"{class}\"><td class=\"name\">{fact}</td><td>{origin}</td><td class=\"n\" data-value=\"{}\">{other}</td>\
         <td class=\"part\">{broken_by}</td></tr>",
        change.unwrap_or_default().abs()
    );
}
