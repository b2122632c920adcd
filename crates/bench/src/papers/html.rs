//! The report: all results on one page that needs nothing else, in light and dark, for wide screens, phones and paper.

use super::figure::{STYLE, escaped, short};
use super::outcome::{Finding, Outcome};
use std::fmt::Write as _;

const PAGE: &str = "\
:root{color-scheme:light dark;--back:#fff;--ink:#202124;--faint:#5f6368;--line:#dadce0;--lost:#b3261e;--card:#f8f9fa}\
@media(prefers-color-scheme:dark){:root{--back:#202124;--ink:#e8eaed;--faint:#9aa0a6;--line:#3c4043;--lost:#f28b82;--card:#292a2d}}\
body{margin:0 auto;max-width:1080px;padding:16px;font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--ink)}\
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem;font-size:1.25rem}h3{font-size:1.05rem}\
a{color:inherit}code{font-size:.9em;overflow-wrap:anywhere}.faint{color:var(--faint)}.lost{color:var(--lost)}\
.figures{display:flex;flex-wrap:wrap;gap:16px;align-items:start}.figures svg{width:100%;max-width:520px;height:auto;background:var(--card);border-radius:8px}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.88rem;width:100%}\
th,td{text-align:left;padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}\
td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 12px;font-size:.9rem}dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}\
summary{cursor:pointer;margin:.6rem 0}td.date{white-space:nowrap}.unit{display:none}\
@media(max-width:480px){body{padding:10px}th,td{padding:3px 4px}table{font-size:.8rem}dl{grid-template-columns:1fr}dd{margin-bottom:4px}\
td.apart,th.apart{display:none}.unit{display:inline}}\
@media print{h2,h3,h2+p{break-after:avoid}svg,tr,dl,li{break-inside:avoid}.figures{break-inside:avoid}.figures svg{max-width:330px}details{display:none}}";

/// An experiment that has no result, and what it would show.
pub struct Missing {
    pub name: String,
    pub shows: String,
}

/// The page.
pub fn page(outcomes: &[Outcome], missing: &[Missing]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>bacus: experiments of the papers</title>\n<style>{STYLE}{PAGE}</style>\n</head>\n<body>\n<h1>Experiments of the papers</h1>\n"
    );
    overview(&mut html, outcomes, missing);
    losses(&mut html, outcomes);
    outcomes.iter().for_each(|outcome| section(&mut html, outcome));
    html.push_str("</body>\n</html>\n");
    html
}

fn anchor(outcome: &Outcome) -> String {
    let of_name = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("{}-{}", outcome.machine, outcome.experiment).chars().map(of_name).collect()
}

fn overview(html: &mut String, outcomes: &[Outcome], missing: &[Missing]) {
    let quiet = outcomes.iter().filter(|outcome| outcome.load.is_quiet()).count();
    let _ = writeln!(
        html,
        "<p>bacus compiles P4 programs into software switches. Each section repeats an experiment of a paper: the paper's number, what the model predicted \
         before, and what was measured. {} of {} were measured on a quiet machine.</p>\n<div class=\"wide\"><table>\n\
         <thead><tr><th>experiment</th><th>answers</th><th>machine</th><th class=\"apart\">date</th><th class=\"number\">worse</th></tr></thead>",
        quiet,
        outcomes.len()
    );
    for outcome in outcomes {
        let compared = outcome.findings.iter().filter(|finding| finding.paper.is_some()).count();
        let lost = outcome.findings.iter().filter(|finding| finding.is_lost()).count();
        let _ = writeln!(
            html,
            "<tr><td><a href=\"#{}\">{}</a></td><td>{}</td><td>{}{}</td><td class=\"date apart\">{}</td><td class=\"number{}\">{}</td></tr>",
            anchor(outcome),
            escaped(&outcome.experiment),
            escaped(&outcome.source),
            escaped(&outcome.machine),
            if outcome.load.is_quiet() { "" } else { " (busy)" },
            outcome.date.get(..10).unwrap_or(&outcome.date),
            if lost > 0 { " lost" } else { "" },
            if compared > 0 { format!("{lost} of {compared}") } else { "–".to_string() }
        );
    }
    html.push_str("</table></div>\n");
    if missing.is_empty() {
        return;
    }
    html.push_str("<div class=\"faint\"><p>Not measured, each by <code>bacus bench --experiment NAME</code>:</p><ul>");
    for Missing { name, shows } in missing {
        let _ = write!(html, "<li>{}: {}</li>", escaped(name), escaped(shows));
    }
    html.push_str("</ul></div>\n");
}

/// All numbers that are less good than a paper's.
fn losses(html: &mut String, outcomes: &[Outcome]) {
    let lost = |outcome: &Outcome| {
        outcome.findings.iter().filter(|finding| finding.is_lost()).cloned().collect::<Vec<Finding>>()
    };
    html.push_str("<h2>What we lose</h2>\n");
    if outcomes.iter().all(|outcome| lost(outcome).is_empty()) {
        html.push_str("<p>No number here is worse than the paper's.</p>\n");
        return;
    }
    html.push_str("<p>Numbers that are more than 3 % worse than the paper's.</p>\n");
    for outcome in outcomes.iter().filter(|outcome| !lost(outcome).is_empty()) {
        let _ = writeln!(html, "<h3>{} on {}</h3>", escaped(&outcome.experiment), escaped(&outcome.machine));
        findings(html, &lost(outcome));
    }
}

fn findings(html: &mut String, findings: &[Finding]) {
    let cell = |value: Option<f64>| value.map_or("–".to_string(), short);
    html.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>case</th><th class=\"number\">paper</th><th class=\"number\">predicted</th>\
         <th class=\"number\">measured</th><th class=\"apart\">unit</th></tr></thead>\n",
    );
    for finding in findings {
        // A phone has the unit below the case, not in a column.
        let unit = escaped(&finding.unit);
        let _ = writeln!(
            html,
            "<tr><td>{}<br><span class=\"faint\">{}<span class=\"unit\">; {unit}</span></span></td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number{}\">{}</td><td class=\"apart\">{unit}</td></tr>",
            escaped(&finding.case),
            escaped(&finding.what),
            cell(finding.paper),
            cell(finding.predicted),
            if finding.is_lost() { " lost" } else { "" },
            short(finding.measured)
        );
    }
    html.push_str("</table></div>\n");
}

fn section(html: &mut String, outcome: &Outcome) {
    let _ = writeln!(
        html,
        "<h2 id=\"{}\">{}: {}</h2>\n<p class=\"faint\">{}</p>\n<div class=\"figures\">",
        anchor(outcome),
        escaped(&outcome.experiment),
        escaped(&outcome.shows),
        escaped(&outcome.source)
    );
    outcome.figures.iter().for_each(|figure| html.push_str(&figure.inline()));
    html.push_str("</div>\n<dl>\n");
    for (name, value) in [
        ("machine", format!("{} ({})", outcome.machine, outcome.processor)),
        ("load", outcome.load.words()),
        ("compiler", outcome.compiler.clone()),
        ("date", outcome.date.clone()),
    ] {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escaped(&value));
    }
    let _ = writeln!(html, "<dt>command</dt><dd><code>{}</code></dd>\n</dl>", escaped(&outcome.command));
    findings(html, &outcome.findings);
    if !outcome.notes.is_empty() {
        let notes: Vec<String> = outcome.notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
        let _ = writeln!(html, "<ul class=\"faint\">{}</ul>", notes.concat());
    }
    records(html, outcome);
}

/// All rows that were measured, folded.
fn records(html: &mut String, outcome: &Outcome) {
    if outcome.records.is_empty() {
        return;
    }
    let columns = ["program", "entries", "variant", "burst", "cycles", "committed", "spread"];
    let heads: Vec<String> =
        columns.iter().map(|column| format!("<th>{}</th>", column.replace("committed", "predicted"))).collect();
    let _ = writeln!(
        html,
        "<details><summary>{} rows</summary><div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>",
        outcome.records.len(),
        heads.concat()
    );
    for record in &outcome.records {
        let cell = |column: &&str| match record.get(*column) {
            Some(serde_json::Value::String(text)) => format!("<td>{}</td>", escaped(text)),
            Some(value) if value.is_number() => format!("<td class=\"number\">{value}</td>"),
            Some(_) | None => "<td></td>".to_string(),
        };
        let _ = writeln!(html, "<tr>{}</tr>", columns.iter().map(cell).collect::<String>());
    }
    html.push_str("</table></div></details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::figure::{Figure, Role};
    use crate::papers::outcome::{Better, Load};

    fn outcome(experiment: &str, measured: f64) -> Outcome {
        let mut figure = Figure::bars("gains", "%", vec!["l2fwd".into()]);
        figure.add("bacus", Role::Measured, 0, vec![(0.0, measured)]);
        let finding = Finding {
            case: "l2fwd <256>".into(),
            what: "B+S+P".into(),
            unit: "%".into(),
            paper: Some(138.0),
            predicted: Some(150.0),
            measured,
            better: Better::More,
        };
        Outcome {
            experiment: experiment.into(),
            shows: "gains".into(),
            source: "COP, figure 2".into(),
            machine: "lab".into(),
            processor: "cpu".into(),
            compiler: "gcc".into(),
            command: "bacus bench --experiment gains".into(),
            date: "2026-11-29T20:00:00Z".into(),
            load: Load { other_cpus: Some(1.0) },
            findings: vec![finding],
            figures: vec![figure],
            notes: vec!["a note".into()],
            records: vec![serde_json::json!({"program": "l2fwd", "cycles": 20.5})],
        }
    }

    #[test]
    fn a_page_needs_nothing_else_and_names_what_is_lost() {
        let missing = [Missing { name: "cores".into(), shows: "scaling".into() }];
        let html = page(&[outcome("gains", 100.0), outcome("join", 200.0)], &missing);
        let (_, rest) = html.split_once("What we lose").expect("a section of losses");
        let (lost, sections) = rest.split_once("<h2 id=").expect("sections behind it");
        assert!(lost.contains("gains on lab") && !lost.contains("join on lab"), "{lost}");
        assert!(
            sections.contains("l2fwd &lt;256&gt;") && sections.contains("bacus bench --experiment gains"),
            "{sections}"
        );
        assert!(
            html.contains("0 of 2 were measured on a quiet machine")
                && html.contains("Not measured")
                && html.contains("<li>cores: scaling</li>"),
            "{html}"
        );
        assert!(
            !html.contains("http://")
                || html.matches("http").count() == html.matches("http://www.w3.org/2000/svg").count()
        );
    }
}
