//! Figures of the experiments, as data and as SVG: bars over categories, or curves over numbers; in light and dark, and readable at 360 pixels.
//!
//! What is measured has full colours. What was predicted before it is dashed (curves) or outlined (bars), and what the paper has is grey.

use super::axis::{doublings, powers, steps};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Bars,
    Curves,
    /// Points, and the diagonal.
    Scatter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Measured,
    Predicted,
    Paper,
    /// Events, as vertical lines; of curves only, and `y` has no meaning.
    Moment,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    pub name: String,
    pub role: Role,
    /// Series of one colour: what is measured and what was predicted for it.
    pub colour: usize,
    /// Of bars, `x` is the number of the category.
    pub points: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub title: String,
    pub kind: Kind,
    pub x: String,
    pub y: String,
    /// Of bars; empty for curves.
    pub categories: Vec<String>,
    pub log_x: bool,
    pub log_y: bool,
    pub series: Vec<Series>,
}

const WIDTH: f64 = 440.0;
const LEFT: f64 = 44.0;
const RIGHT: f64 = 10.0;
const PLOT: f64 = 220.0;
const LEGEND_LINE: f64 = 17.0;
/// Of the heading: its title, and what the vertical axis has.
const HEADING_LINE: f64 = 15.0;
/// Of a character of the legend, on average; and of the title.
const CHARACTER: f64 = 6.3;
const BOLD_CHARACTER: f64 = 7.4;
/// The smallest size of a category's name: smaller ones cannot be read on a phone.
const SMALLEST: f64 = 9.0;
/// Names of categories that do not fit beside each other are at this angle, so long per character.
const STEEP_DEGREES: f64 = 60.0;
const STEEP_CHARACTER: f64 = 5.2;

/// Colours in light and in dark, with the same meaning everywhere.
pub const STYLE: &str = "\
.figure{--ink:#202124;--faint:#5f6368;--grid:#dadce0;--paper:#9aa0a6;--c0:#0b57d0;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#0e7490;--c5:#a16207;\
--c6:#be185d;--c7:#475569;font-family:sans-serif}\
@media(prefers-color-scheme:dark){.figure{--ink:#e8eaed;--faint:#9aa0a6;--grid:#3c4043;--paper:#80868b;--c0:#8ab4f8;--c1:#fb923c;--c2:#4ade80;--c3:#c084fc;\
--c4:#22d3ee;--c5:#facc15;--c6:#f472b6;--c7:#94a3b8}}";

impl Figure {
    /// Bars over categories.
    pub fn bars(title: &str, y: &str, categories: Vec<String>) -> Figure {
        Figure {
            title: title.to_string(),
            kind: Kind::Bars,
            x: String::new(),
            y: y.to_string(),
            categories,
            log_x: false,
            log_y: false,
            series: Vec::new(),
        }
    }

    /// Curves over a logarithmic axis.
    pub fn curves(title: &str, x: &str, y: &str) -> Figure {
        Figure { kind: Kind::Curves, x: x.to_string(), log_x: true, ..Figure::bars(title, y, Vec::new()) }
    }

    /// Adds a series, if it has points.
    pub fn add(&mut self, name: &str, role: Role, colour: usize, points: Vec<(f64, f64)>) {
        if !points.is_empty() {
            self.series.push(Series { name: name.to_string(), role, colour, points });
        }
    }

    /// As a file of its own: with a background, and the colours of the reader's scheme.
    pub fn file(&self) -> String {
        let background = "svg{background:#fff}@media(prefers-color-scheme:dark){svg{background:#202124}}";
        let (begin, rest) = self.begin();
        format!("{begin}<style>{STYLE}{background}</style>\n{rest}")
    }

    /// As a part of a page that has the styles.
    pub fn inline(&self) -> String {
        let (begin, rest) = self.begin();
        begin + &rest
    }

    fn begin(&self) -> (String, String) {
        let legend = self.legend();
        let below = if self.x.is_empty() { self.names_height() } else { 40.0 };
        let bottom = self.top() + PLOT;
        let height = bottom + below + LEGEND_LINE * legend.0 as f64 + 6.0;
        let begin = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{:.0}\" font-size=\"11\" \
             role=\"img\" aria-label=\"{}\">\n",
            WIDTH * 1.6,
            escaped(&self.title)
        );
        let mut svg = String::new();
        let (title, y) = self.heading();
        for (number, line) in title.iter().chain(&y).enumerate() {
            let look = if number < title.len() {
                "font-size=\"13\" font-weight=\"bold\" fill=\"var(--ink)\""
            } else {
                "fill=\"var(--faint)\""
            };
            let at = 16.0 + HEADING_LINE * number as f64;
            let _ = writeln!(svg, "<text x=\"{LEFT:.0}\" y=\"{at:.0}\" {look}>{}</text>", escaped(line));
        }
        match self.kind {
            Kind::Bars => self.draw_bars(&mut svg),
            Kind::Curves | Kind::Scatter => self.draw_curves(&mut svg),
        }
        if !self.x.is_empty() {
            let (middle, at) = (f64::midpoint(LEFT, WIDTH - RIGHT), bottom + 32.0);
            let label = escaped(&self.x);
            let _ = writeln!(
                svg,
                "<text x=\"{middle:.0}\" y=\"{at:.0}\" text-anchor=\"middle\" fill=\"var(--faint)\">{label}</text>"
            );
        }
        let _ = writeln!(svg, "<g transform=\"translate(0 {:.0})\">{}</g>\n</svg>", bottom + below, legend.1);
        (begin, svg)
    }

    /// Lines of the title, and of what the vertical axis has.
    fn heading(&self) -> (Vec<String>, Vec<String>) {
        let width = WIDTH - LEFT - RIGHT;
        (wrapped(&self.title, (width / BOLD_CHARACTER) as usize), wrapped(&self.y, (width / CHARACTER) as usize))
    }

    /// The upper end of the plot.
    fn top(&self) -> f64 {
        let (title, y) = self.heading();
        10.0 + HEADING_LINE * (title.len() + y.len()) as f64
    }

    /// Lines of the legend, and what it looks like.
    fn legend(&self) -> (usize, String) {
        let (mut svg, mut left, mut line) = (String::new(), LEFT, 1usize);
        let is_drawn = |series: &&Series| series.role != Role::Predicted;
        let mut entries: Vec<(String, String)> = Vec::new();
        for series in self.series.iter().filter(is_drawn) {
            let name =
                if series.role == Role::Paper { format!("{} (paper)", series.name) } else { series.name.clone() };
            let colour = colour(series);
            entries.push((name, format!("fill=\"{colour}\"")));
        }
        if self.series.iter().any(|series| series.role == Role::Predicted) {
            let how = if self.kind == Kind::Bars { "outlined: predicted before" } else { "dashed: predicted before" };
            let stroke = "fill=\"none\" stroke=\"var(--ink)\" stroke-dasharray=\"3 2\"".to_string();
            entries.push((how.to_string(), stroke));
        }
        for (name, look) in entries {
            let width = 18.0 + CHARACTER * name.chars().count() as f64 + 10.0;
            if left > LEFT && left + width > WIDTH - RIGHT {
                (left, line) = (LEFT, line + 1);
            }
            let at = LEGEND_LINE * line as f64;
            let _ = write!(
                svg,
                "<rect x=\"{left:.0}\" y=\"{:.0}\" width=\"11\" height=\"11\" {look}/><text x=\"{:.0}\" y=\"{:.0}\" fill=\"var(--ink)\">{}</text>",
                at - 12.0,
                left + 16.0,
                at - 2.0,
                escaped(&name)
            );
            left += width;
        }
        (line, svg)
    }

    fn extent(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = self.series.iter().flat_map(|series| &series.points).map(of).filter(|value| value.is_finite());
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }

    /// The vertical axis with its lines; gives the place of a value.
    fn vertical(&self, svg: &mut String) -> impl Fn(f64) -> f64 + use<> {
        let (low, high) = self.extent(|point| point.1);
        let (log, bottom) = (self.log_y && low > 0.0, self.top() + PLOT);
        let ticks = if log { powers(low, high) } else { steps((low.min(0.0), high.max(1e-9)), 4) };
        let (least, most) = (ticks[0], ticks[ticks.len() - 1]);
        let scale = move |value: f64| if log { value.max(least).ln() } else { value };
        let y = move |value: f64| {
            let part = (scale(value) - scale(least)) / (scale(most) - scale(least)).max(1e-12);
            bottom - PLOT * part.clamp(0.0, 1.0)
        };
        for tick in ticks {
            let at = y(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT:.0} {at:.1}H{:.0}\" stroke=\"var(--grid)\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"var(--faint)\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 5.0,
                at + 4.0,
                short(tick)
            );
        }
        y
    }

    /// Values that both axes have.
    fn diagonal(&self) -> (f64, f64) {
        let ((left, right), (low, high)) = (self.extent(|point| point.0), self.extent(|point| point.1));
        (left.max(low), right.min(high))
    }

    fn draw_bars(&self, svg: &mut String) {
        let y = self.vertical(svg);
        let slot = self.slot();
        // What was predicted is drawn around what is measured.
        let solid: Vec<&Series> = self.series.iter().filter(|series| series.role != Role::Predicted).collect();
        let width = (slot * 0.86 / solid.len().max(1) as f64).min(34.0);
        for (category, name) in self.categories.iter().enumerate() {
            let left = LEFT + slot * category as f64;
            let begin = left + (slot - width * solid.len() as f64) / 2.0;
            for (number, series) in solid.iter().enumerate() {
                let of = |series: &Series| {
                    series.points.iter().find(|point| point.0 as usize == category).map(|point| point.1)
                };
                let x = begin + width * number as f64;
                if let Some(value) = of(series) {
                    let fill = format!("fill=\"{}\"", colour(series));
                    bar(
                        svg,
                        (x + 0.5, width - 1.0),
                        (&y, value),
                        &fill,
                        &format!("{}, {name}: {}", series.name, short(value)),
                    );
                }
                let is_its = |other: &&Series| {
                    other.role == Role::Predicted && other.colour == series.colour && series.role == Role::Measured
                };
                if let Some(value) = self.series.iter().find(is_its).and_then(of) {
                    let look = "fill=\"none\" stroke=\"var(--ink)\" stroke-width=\"1.2\" stroke-dasharray=\"3 2\"";
                    bar(
                        svg,
                        (x + 0.5, width - 1.0),
                        (&y, value),
                        look,
                        &format!("{}, {name}: {} predicted", series.name, short(value)),
                    );
                }
            }
        }
        self.names(svg, slot);
    }

    /// The size of the categories' names, each in a line for every part; none if they do not fit beside each other.
    fn name_size(&self, slot: f64) -> Option<f64> {
        let parts = self.categories.iter().flat_map(|name| name.split(", "));
        let longest = parts.map(|part| part.chars().count()).max().unwrap_or(0).max(1);
        Some((slot / (0.6 * longest as f64)).min(11.0)).filter(|size| *size >= SMALLEST)
    }

    fn slot(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.categories.len().max(1) as f64
    }

    /// The room below the plot that the categories' names take.
    fn names_height(&self) -> f64 {
        let longest = self.categories.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let lines = self.categories.iter().map(|name| name.split(", ").count()).max().unwrap_or(1);
        match self.name_size(self.slot()) {
            Some(_) => 14.0 + 12.0 * lines as f64,
            None => 18.0 + STEEP_CHARACTER * longest as f64 * STEEP_DEGREES.to_radians().sin(),
        }
    }

    fn names(&self, svg: &mut String, slot: f64) {
        let size = self.name_size(slot);
        for (category, name) in self.categories.iter().enumerate() {
            let (x, y) = (LEFT + slot * (category as f64 + 0.5), self.top() + PLOT + 16.0);
            let Some(size) = size else {
                let (x, y) = (x + 3.0, y - 4.0);
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"end\" font-size=\"{SMALLEST}\" fill=\"var(--ink)\" \
                     transform=\"rotate(-{STEEP_DEGREES} {x:.1} {y:.0})\">{}</text>",
                    escaped(name)
                );
                continue;
            };
            for (line, part) in name.split(", ").enumerate() {
                let y = y + 12.0 * line as f64;
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"middle\" font-size=\"{size:.1}\" fill=\"var(--ink)\">{}</text>",
                    escaped(part)
                );
            }
        }
    }

    /// An upright line for each.
    fn draw_moments(&self, svg: &mut String, series: &Series, x: &dyn Fn(f64) -> f64) {
        let (top, stroke) = (self.top(), colour(series));
        for (at, _) in &series.points {
            let title = format!("{} at {}", escaped(&series.name), short(*at));
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {top:.1}v{PLOT:.0}\" stroke=\"{stroke}\" stroke-dasharray=\"2 2\"><title>{title}</title></path>",
                x(*at)
            );
        }
    }

    fn draw_curves(&self, svg: &mut String) {
        let y = self.vertical(svg);
        let (low, high) = self.extent(|point| point.0);
        let log = self.log_x && low > 0.0;
        let scale = move |value: f64| if log { value.max(1e-9).ln() } else { value };
        let x = move |value: f64| {
            LEFT + 6.0
                + (WIDTH - LEFT - RIGHT - 16.0) * (scale(value) - scale(low)) / (scale(high) - scale(low)).max(1e-12)
        };
        let ticks = match (log, self.kind) {
            (false, _) => steps((low, high), 6),
            // Both axes have the same unit.
            (true, Kind::Scatter) => powers(low, high),
            (true, Kind::Bars | Kind::Curves) => doublings(low, high),
        };
        for tick in ticks.into_iter().filter(|tick| *tick >= low * 0.999 && *tick <= high * 1.001) {
            let at = x(tick);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"var(--faint)\">{}</text>",
                self.top() + PLOT + 15.0,
                short(tick)
            );
        }
        if self.kind == Kind::Scatter {
            let (from, to) = self.diagonal();
            let ends = [x(from), y(from), x(to), y(to)].map(|place| format!("{place:.1}"));
            let _ =
                writeln!(svg, "<path d=\"M{} {}L{} {}\" stroke=\"var(--faint)\"/>", ends[0], ends[1], ends[2], ends[3]);
        }
        for series in &self.series {
            if series.role == Role::Moment {
                self.draw_moments(svg, series, &x);
                continue;
            }
            let points: Vec<String> = series.points.iter().map(|(a, b)| format!("{:.1} {:.1}", x(*a), y(*b))).collect();
            let (stroke, dash) =
                (colour(series), if series.role == Role::Predicted { " stroke-dasharray=\"4 3\"" } else { "" });
            if self.kind == Kind::Curves {
                let _ = writeln!(
                    svg,
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.6\"{dash}/>",
                    points.join("L")
                );
            }
            for (at, value) in series.points.iter().filter(|_| series.role != Role::Predicted) {
                let title = format!("{}: {} at {}", escaped(&series.name), short(*value), short(*at));
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{stroke}\"><title>{title}</title></circle>",
                    x(*at),
                    y(*value)
                );
            }
        }
    }
}

fn bar(svg: &mut String, (x, width): (f64, f64), (y, value): (&dyn Fn(f64) -> f64, f64), look: &str, title: &str) {
    let (from, to) = (y(value.max(0.0)), y(value.min(0.0)));
    let _ = writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{from:.1}\" width=\"{width:.1}\" height=\"{:.1}\" {look}><title>{}</title></rect>",
        (to - from).max(0.5),
        escaped(title)
    );
}

fn colour(series: &Series) -> String {
    match series.role {
        Role::Paper => "var(--paper)".to_string(),
        Role::Measured | Role::Predicted | Role::Moment => format!("var(--c{})", series.colour % 8),
    }
}

/// A text in lines of so many characters, as far as its words allow.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_string()),
        }
    }
    lines
}

/// `65536` as `64K`, `0.123` as `0.12`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    let is_round = |unit: f64| size >= unit && (value / unit).fract().abs() < 1e-9;
    match size {
        _ if is_round(1_048_576.0) => format!("{:.0}M", value / 1_048_576.0),
        _ if is_round(1024.0) => format!("{:.0}K", value / 1024.0),
        _ if size >= 1e6 => format!("{:.3}M", value / 1e6).replace(".000M", "M"),
        _ if size >= 100.0 || value.fract().abs() < 1e-9 => format!("{value:.0}"),
        _ if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_have_a_unit() {
        assert_eq!([65_536.0, 138.0, 7.25, 1e7].map(short), ["64K", "138", "7.25", "10M"]);
    }

    #[test]
    fn bars_have_what_was_predicted_around_what_is_measured() {
        let mut figure = Figure::bars("gains <", "%", vec!["l2fwd".into(), "ndn".into()]);
        figure.add("COP", Role::Paper, 0, vec![(0.0, 138.0)]);
        figure.add("bacus", Role::Measured, 0, vec![(0.0, 200.0), (1.0, -5.0)]);
        figure.add("bacus", Role::Predicted, 0, vec![(0.0, 180.0)]);
        figure.add("none", Role::Measured, 1, Vec::new());
        let svg = figure.file();
        assert_eq!((svg.matches("<rect x").count(), figure.series.len()), (3 + 1 + 3, 3), "{svg}");
        assert!(svg.contains("gains &lt;") && svg.contains("COP (paper)") && svg.contains("outlined"), "{svg}");
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn moments_are_upright_lines_of_the_whole_plot() {
        let mut figure = Figure::curves("exchange", "seconds", "ns");
        figure.add("a packet", Role::Measured, 0, vec![(1.0, 200.0), (9.0, 100.0)]);
        figure.add("loaded", Role::Moment, 2, vec![(5.0, 0.0)]);
        let svg = figure.file();
        assert_eq!((svg.matches("v220\"").count(), svg.matches("<circle").count()), (1, 2), "{svg}");
        assert!(svg.contains("loaded at 5") && svg.contains(">loaded<"), "{svg}");
    }

    /// No text is longer than the figure is wide, and names of categories that are many do not lie on one another.
    #[test]
    fn long_headings_are_wrapped_and_many_names_are_steep() {
        let y = "% more packets a second, by the share of prefixes whose paths can be compressed";
        let few = Figure::bars("Path compression", y, vec!["l2fwd, 16M".into(), "ipv4fwd, 600K".into()]);
        let svg = few.inline();
        assert!(!svg.contains(y) && svg.contains("can be compressed</text>"), "{svg}");
        assert!(svg.contains(">l2fwd</text>") && svg.contains(">16M</text>") && !svg.contains("rotate("), "{svg}");
        let many: Vec<String> = (0..16).map(|number| format!("chatserver{number}, 4K")).collect();
        let svg = Figure::bars("Ablation", "times", many).inline();
        assert_eq!(svg.matches("rotate(-60 ").count(), 16, "{svg}");
    }
}
