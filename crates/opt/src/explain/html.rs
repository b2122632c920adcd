//! An explanation as one page of HTML: totals, the graph, decisions, nodes.

use super::draw::{escaped, graph};
use super::{Decision, Explanation, NodeRow, Total};
use std::fmt::Write as _;

const STYLE: &str = "body{font-family:sans-serif;margin:2em;color:#222}table{border-collapse:collapse;margin:1em 0}\
td,th{padding:.25em .7em;border-bottom:1px solid #ddd;text-align:left}td.n,th.n{text-align:right}\
.path{background:#eaf1f8}.graph{overflow:auto;border:1px solid #ddd}";

pub fn html(explained: &Explanation) -> String {
    let name = escaped(&explained.program);
    let mut page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>{name}</title><style>{STYLE}</style></head><body>\n"
    );
    let _ = writeln!(
        page,
        "<h1>{name}</h1><p>Planned for {}; traffic {}.</p>",
        escaped(&explained.machine),
        explained.traffic
    );
    totals(&mut page, explained);
    let _ = writeln!(page, "<h2>Where packets go</h2><div class=\"graph\">{}</div>", graph(explained));
    page.push_str(
        "<h2>Decisions</h2><table><tr><th>what</th><th>chosen</th><th class=\"n\">cycles</th><th>against</th></tr>\n",
    );
    explained.decisions.iter().for_each(|decision| decided(&mut page, decision));
    page.push_str("</table><h2>Nodes</h2><table><tr><th>node</th><th>kind</th><th>source</th><th class=\"n\">share</th><th class=\"n\">issue</th>");
    page.push_str("<th class=\"n\">memory</th><th class=\"n\">jumps</th><th class=\"n\">predicted</th><th class=\"n\">measured</th></tr>\n");
    explained.nodes.iter().for_each(|node| row(&mut page, node));
    page.push_str("</table></body></html>\n");
    page
}

fn totals(page: &mut String, explained: &Explanation) {
    page.push_str(
        "<table><tr><th>cycles a packet</th><th class=\"n\">predicted</th><th class=\"n\">measured</th></tr>\n",
    );
    let mut line = |what: &str, total: &Total| {
        let measured = total.measured.map_or(String::new(), |cycles| format!("{cycles:.1}"));
        let _ = writeln!(
            page,
            "<tr><td>{what}</td><td class=\"n\">{:.1}</td><td class=\"n\">{measured}</td></tr>",
            total.predicted
        );
    };
    line("under this plan", &explained.planned);
    line("packet by packet", &explained.plain);
    line("of these, the port", &Total { predicted: explained.floor, measured: None });
    line("of these, stages", &Total { predicted: explained.staging, measured: None });
    let _ = writeln!(page, "</table><p>A packet is {:.1} µs in the switch.</p>", explained.latency_ns / 1000.0);
}

fn decided(page: &mut String, decision: &Decision) {
    let (cost, others) = match &decision.reason {
        Some(reason) => {
            let others = reason.alternatives.iter();
            let others = others.map(|(name, cost)| format!("{} {:.1}", escaped(name), *cost as f64 / 10.0));
            (format!("{:.1}", reason.cost as f64 / 10.0), others.collect::<Vec<String>>().join(", "))
        }
        None => (String::new(), String::new()),
    };
    let (what, chosen) = (escaped(&decision.what), escaped(&decision.chosen));
    let _ = writeln!(page, "<tr><td>{what}</td><td>{chosen}</td><td class=\"n\">{cost}</td><td>{others}</td></tr>");
}

fn row(page: &mut String, node: &NodeRow) {
    let class = if node.is_on_path { " class=\"path\"" } else { "" };
    let measured = node.measured.map_or(String::new(), |cycles| format!("{cycles:.1}"));
    let predicted = &node.predicted;
    let _ = writeln!(
        page,
        "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.1} %</td><td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td>\
         <td class=\"n\">{:.1}</td><td class=\"n\">{:.1}</td><td class=\"n\">{measured}</td></tr>",
        escaped(&node.name),
        node.kind,
        escaped(&node.place),
        node.share * 100.0,
        predicted.issue,
        predicted.memory,
        predicted.mispredicted,
        predicted.cycles()
    );
}
