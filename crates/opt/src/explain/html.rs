//! An explanation as one self-contained HTML page: totals, graph, decisions, nodes.

use super::draw::{escaped, graph};
use super::{COSTS, Decision, Explanation, NodeRow, SAVED, Total};
use hlir::text::written_choice;
use std::fmt::Write as _;

const STYLE: &str = "\
body{font-family:system-ui,sans-serif;margin:2.5em auto;max-width:1180px;padding:0 1.5em;color:#1f2933;line-height:1.45}\
h1{margin:0 0 .2em}h2{margin:2em 0 .5em;font-size:1.15em;border-bottom:2px solid #3b6ea5;padding-bottom:.2em}\
p.note{margin:.15em 0;color:#52606d;font-size:.92em}\
.cards{display:flex;flex-wrap:wrap;gap:1em;margin:1.5em 0}\
.card{border:1px solid #d5dbe1;border-radius:8px;padding:.7em 1.1em;min-width:11em}\
.card b{display:block;font-size:1.5em;font-weight:600}.card small{color:#52606d}\
table{border-collapse:collapse;width:100%;font-size:.92em}\
td,th{padding:.28em .6em;border-bottom:1px solid #e4e7eb;text-align:left;vertical-align:middle}th{color:#52606d;font-weight:600}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
tr.path td:first-child{border-left:4px solid #3b6ea5}tr.sum td{border-top:2px solid #9aa5b1;font-weight:600}tr.beside{color:#52606d}\
.bar{height:7px;border-radius:2px;margin:2px 0;min-width:1px}.predicted{background:#3b6ea5}.measured{background:#e08e2b}\
@media(max-width:860px){body{margin:1em auto;padding:0 .7em}table{font-size:.8em}td,th{padding:.2em .3em}td.bars,th.bars,td.part,th.part{display:none}}\
.key{display:inline-block;width:1.6em;margin:0 .4em 0 1em;vertical-align:middle}\
.graph{border:1px solid #d5dbe1;border-radius:8px;text-align:center}.graph svg{max-width:100%;height:auto}";
/// Pixels of the longest bar.
const BAR: f64 = 190.0;

pub fn html(explained: &Explanation) -> String {
    let name = escaped(&explained.program);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title><style>{STYLE}</style></head><body>\n"
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
    page.push_str("<h2>What a packet costs</h2>");
    nodes(&mut page, explained);
    let _ = writeln!(
        page,
        "<h2>Where packets go</h2><p class=\"note\">A box has its node's share of packets and cycles per packet, an edge the share of packets that take \
         it.</p><div class=\"graph\">{}</div>",
        graph(explained)
    );
    let _ = writeln!(page, "<h2>Decisions</h2><p class=\"note\">{COSTS}</p>");
    page.push_str("<table><tr><th>what</th><th>chosen</th><th class=\"n\">cycles</th><th>against</th></tr>\n");
    explained.decisions.iter().for_each(|decision| decision_row(&mut page, decision));
    page.push_str("</table>");
    page.push_str(
        "<h2>Expectations</h2><table><tr><th>expected</th><th>from</th><th>with other entries</th><th>false by</th></tr>\n",
    );
    for expected in &explained.expectations {
        let [fact, origin, broken_by] =
            [expected.what.as_str(), expected.origin, expected.broken_by.as_str()].map(escaped);
        let other =
            expected.other.map(|other| format!("{:+.1} with {}", other.cycles, other.entries)).unwrap_or_default();
        let _ = writeln!(page, "<tr><td>{fact}</td><td>{origin}</td><td>{other}</td><td>{broken_by}</td></tr>");
    }
    page.push_str("</table></body></html>\n");
    page
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
    page.push_str("</div>\n");
}

/// A row per node, then the port and the stages, then the total.
fn nodes(page: &mut String, explained: &Explanation) {
    let is_measured = explained.floor.measured.is_some();
    page.push_str("<p class=\"note\">Cycles for each packet that comes from a port.<span class=\"key bar predicted\"></span>predicted");
    if is_measured {
        page.push_str("<span class=\"key bar measured\"></span>measured");
    }
    page.push_str(
        "</p><table><tr><th>node</th><th>kind</th><th>source</th><th class=\"n\">share</th><th class=\"n part\">issue</th>",
    );
    page.push_str("<th class=\"n part\">memory</th><th class=\"n part\">branches</th><th class=\"n\">predicted</th>");
    page.push_str(if is_measured {
        "<th class=\"n\">measured</th><th class=\"bars\"></th></tr>\n"
    } else {
        "<th class=\"bars\"></th></tr>\n"
    });
    let others = [&explained.floor, &explained.staging];
    let all = explained.nodes.iter().flat_map(|node| [Some(node.predicted.cycles()), node.measured]);
    let all = all.chain(others.into_iter().flat_map(|total| [Some(total.predicted), total.measured]));
    let scale = BAR / all.flatten().fold(1.0, f64::max);
    explained.nodes.iter().for_each(|node| row(page, node, scale, is_measured));
    let mut beside = |class: &str, about: &str, total: &Total, scale: f64| {
        let _ = write!(
            page,
            "<tr class=\"{class}\"><td>{about}</td><td></td><td></td><td></td><td class=\"part\"></td><td class=\"part\"></td><td class=\"part\"></td>"
        );
        compared(page, total, scale, is_measured);
    };
    beside("beside", "stages: loops, spills and side exits, less what they save the nodes", &explained.staging, scale);
    beside("beside", "port, and the switch around the program", &explained.floor, scale);
    beside("sum", "total", &explained.planned, 0.0);
    page.push_str("</table>\n");
    if explained.staging.predicted < 0.0 {
        let _ = writeln!(page, "<p class=\"note\">{SAVED}</p>");
    }
    if explained.nodes.iter().any(|node| node.is_on_path) {
        page.push_str("<p class=\"note\">Nodes with a blue edge are on the hot path, which runs in stages.</p>\n");
    }
}

/// The last columns of a row.
fn compared(page: &mut String, total: &Total, scale: f64, is_measured: bool) {
    let _ = write!(page, "<td class=\"n\">{:.1}</td>", total.predicted);
    if is_measured {
        let _ = write!(page, "<td class=\"n\">{:.1}</td>", total.measured.unwrap_or_default());
    }
    page.push_str("<td class=\"bars\">");
    let bars = [("predicted", Some(total.predicted)), ("measured", total.measured)];
    for (class, cycles) in bars.into_iter().filter_map(|(class, cycles)| Some((class, cycles?))) {
        if scale > 0.0 {
            let _ = write!(page, "<div class=\"bar {class}\" style=\"width:{:.0}px\"></div>", cycles.max(0.0) * scale);
        }
    }
    page.push_str("</td></tr>\n");
}

fn decision_row(page: &mut String, decision: &Decision) {
    let (cost, others) = match &decision.reason {
        Some(reason) => {
            let others = reason.alternatives.iter();
            let others =
                others.map(|it| format!("{} {:.1}", escaped(&written_choice(&it.choice)), it.cost as f64 / 10.0));
            (format!("{:.1}", reason.cost as f64 / 10.0), others.collect::<Vec<String>>().join(", "))
        }
        None => (String::new(), String::new()),
    };
    let (what, chosen) = (escaped(&decision.what), escaped(&decision.chosen));
    let _ = writeln!(page, "<tr><td>{what}</td><td>{chosen}</td><td class=\"n\">{cost}</td><td>{others}</td></tr>");
}

fn row(page: &mut String, node: &NodeRow, scale: f64, is_measured: bool) {
    let class = if node.is_on_path { " class=\"path\"" } else { "" };
    let predicted = &node.predicted;
    let _ = write!(
        page,
        "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.1} %</td><td class=\"n part\">{:.1}</td><td class=\"n part\">{:.1}</td>\
         <td class=\"n part\">{:.1}</td>",
        escaped(&node.name),
        node.kind,
        escaped(&node.place),
        node.share * 100.0,
        predicted.issue,
        predicted.memory,
        predicted.mispredicted,
    );
    compared(page, &Total { predicted: predicted.cycles(), measured: node.measured }, scale, is_measured);
}
