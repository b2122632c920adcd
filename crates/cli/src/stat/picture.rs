//! Reports as a picture: a terminal in SVG that shows one after the other, for pages about a switch.

use std::fmt::Write as _;

/// Of a character, with the fonts below at this size.
const WIDTH: f64 = 7.83;
const SIZE: f64 = 13.0;
const LINE: f64 = 17.0;
const MARGIN: f64 = 14.0;
/// The bar above the text.
const TOP: f64 = 30.0;
const FONTS: &str = "'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace";

/// The reports of a command, each for so many seconds, and again from the first one. A single report does not change.
pub fn recording(command: &str, reports: &[String], seconds: f64) -> String {
    let lines = || reports.iter().flat_map(|report| report.lines()).chain([command]);
    let columns = lines().map(|line| line.chars().count()).max().unwrap_or(0) + "$ ".len();
    let rows = reports.iter().map(|report| report.lines().count()).max().unwrap_or(0) + 2;
    let (width, height) = (2.0 * MARGIN + WIDTH * columns as f64, TOP + 2.0 * MARGIN + LINE * rows as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"{FONTS}\" font-size=\"{SIZE:.0}\" fill=\"#e8eaed\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#202124\"/>\n"
    );
    for (at, colour) in [(20.0, "#ee675c"), (38.0, "#fcc934"), (56.0, "#5bb974")] {
        let _ = writeln!(svg, "<circle cx=\"{at:.0}\" cy=\"{:.0}\" r=\"5.5\" fill=\"{colour}\"/>", TOP / 2.0 + 2.0);
    }
    svg.push_str(&style(reports.len(), seconds));
    line(&mut svg, 0, &format!("$ {command}"), "prompt");
    for (number, report) in reports.iter().enumerate() {
        let _ = writeln!(svg, "<g class=\"report\" style=\"animation-delay: {:.3}s\">", number as f64 * seconds);
        let above = |at: usize| at.checked_sub(1).and_then(|at| report.lines().nth(at)).unwrap_or_default();
        for (at, text) in report.lines().enumerate() {
            // The first line of a table has the names of its columns.
            let class = if at > 0 && above(at).is_empty() { "head" } else { "row" };
            line(&mut svg, at + 2, text, class);
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// The reports are visible one after the other. Without animation, only the first is.
fn style(reports: usize, seconds: f64) -> String {
    let rules = ".prompt { fill: #8ab4f8 } .head { fill: #81c995 }";
    if reports < 2 {
        return format!("<style>{rules}</style>\n");
    }
    let (all, share) = (reports as f64 * seconds, 100.0 / reports as f64);
    format!(
        "<style>{rules} .report {{ visibility: hidden; animation: turn {all:.3}s step-end infinite }} \
         .report:nth-of-type(1) {{ visibility: visible }} \
         @keyframes turn {{ 0% {{ visibility: visible }} {share:.3}% {{ visibility: hidden }} }}</style>\n"
    )
}

fn line(svg: &mut String, row: usize, text: &str, class: &str) {
    if text.is_empty() {
        return;
    }
    let (x, y) = (MARGIN, TOP + MARGIN + LINE * row as f64);
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.0}\" y=\"{y:.0}\" xml:space=\"preserve\">{escaped}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_has_a_turn_for_each_report() {
        let reports = ["in 1\n\nport  in\n1  <2>\n", "in 2\n"].map(str::to_string);
        let svg = recording("bacus stat", &reports, 0.5);
        assert_eq!(svg.matches("<g class=\"report\"").count(), 2);
        assert!(svg.contains("animation: turn 1.000s") && svg.contains("animation-delay: 0.500s"), "{svg}");
        assert!(svg.contains("class=\"head\" x=\"14\" y=\"112\" xml:space=\"preserve\">port  in<"), "{svg}");
        assert!(svg.contains(">1  &lt;2&gt;<") && svg.contains(">$ bacus stat<"), "{svg}");
        assert!(!recording("bacus stat", &reports[..1], 1.0).contains("animation:"));
    }
}
