//! Bars in groups, as SVG: legible at half its width, and the same bytes for the same numbers.

use std::fmt::Write as _;

/// What a bar shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Best,
    Ours,
    BestPeer,
    Peer,
}

pub struct Bar {
    pub name: String,
    pub cycles: f64,
    pub look: Look,
    /// Written above the bar.
    pub note: Option<String>,
}

pub struct Group {
    pub name: String,
    pub bars: Vec<Bar>,
}

pub struct Panel {
    pub title: String,
    pub groups: Vec<Group>,
    /// Lines below.
    pub notes: Vec<String>,
    /// Longer bars are cut here, and labelled with their length.
    pub cut: f64,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 350.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 80.0;
/// Below the bars, without notes.
const BELOW: f64 = 34.0;
const NOTE: f64 = 20.0;
/// Of a character of the notes' size, on average.
const CHARACTER: f64 = 7.4;
/// Lines across.
const LINES: f64 = 4.0;

impl Look {
    fn colour(self) -> &'static str {
        match self {
            Look::Best => "#0b57d0",
            Look::Ours => "#a9c7fa",
            Look::BestPeer => "#5f6368",
            Look::Peer => "#bdc1c6",
        }
    }
}

impl Bar {
    pub fn of(name: &str, cycles: f64, look: Look) -> Bar {
        Bar { name: name.to_string(), cycles, look, note: None }
    }
}

/// What the colours mean.
pub type Key = [(Look, &'static str)];

/// All panels, and the key to their colours.
pub fn picture(panels: &[Panel], columns: usize, key: &Key) -> String {
    let legend = 40.0;
    let heights: Vec<f64> = panels.chunks(columns).map(|row| row.iter().map(height).fold(0.0, f64::max)).collect();
    let columns = columns.min(panels.len()).max(1);
    let (width, height) = (WIDTH * columns as f64, legend + heights.iter().sum::<f64>());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"15\" fill=\"#202124\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    draw_key(panels, key, &mut svg);
    let mut top = legend;
    for (row, height) in panels.chunks(columns).zip(heights) {
        for (column, panel) in row.iter().enumerate() {
            let _ = writeln!(svg, "<g transform=\"translate({:.0} {top:.0})\">", WIDTH * column as f64);
            draw(panel, &mut svg);
            svg.push_str("</g>\n");
        }
        top += height;
    }
    svg.push_str("</svg>\n");
    svg
}

/// The colours that there are.
fn draw_key(panels: &[Panel], key: &Key, svg: &mut String) {
    let bars = || panels.iter().flat_map(|panel| &panel.groups).flat_map(|group| &group.bars);
    let mut left = LEFT;
    for (look, meaning) in key.iter().filter(|(look, _)| bars().any(|bar| bar.look == *look)) {
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.0}\" y=\"16\" width=\"16\" height=\"16\" fill=\"{}\"/><text x=\"{:.0}\" y=\"29\">{meaning}</text>",
            look.colour(),
            left + 22.0
        );
        left += 40.0 + 8.2 * meaning.len() as f64;
    }
}

fn lines_of(panel: &Panel) -> Vec<String> {
    panel.notes.iter().flat_map(|note| wrapped(note)).collect()
}

fn height(panel: &Panel) -> f64 {
    HEIGHT + NOTE * lines_of(panel).len() as f64 + 14.0
}

/// Lines that fit below the bars.
fn wrapped(text: &str) -> Vec<String> {
    let most = ((WIDTH - LEFT - 10.0) / CHARACTER) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.len() + 1 + word.len() <= most) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_string()),
        }
    }
    lines
}

fn draw(panel: &Panel, svg: &mut String) {
    let longest = panel.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.cycles).fold(1.0, f64::max);
    let limit = longest.min(panel.cut);
    let step = step(limit);
    let top = (limit / step).ceil() * step;
    let (bottom, across) = (HEIGHT - BELOW, WIDTH - LEFT - 14.0);
    let y = |cycles: f64| bottom - (bottom - TOP) * cycles / top;
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT:.0}\" y=\"28\" font-size=\"18\" font-weight=\"bold\">{}</text>",
        escaped(&panel.title)
    );
    let mut line = 0.0;
    while line <= top + step / 2.0 {
        let (at, right) = (y(line), LEFT + across);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT:.0} {at:.1}H{right:.0}\" stroke=\"#dadce0\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{line:.0}</text>",
            LEFT - 8.0,
            at + 5.0
        );
        line += step;
    }
    let slot = across / panel.groups.len().max(1) as f64;
    for (number, group) in panel.groups.iter().enumerate() {
        let left = LEFT + slot * number as f64;
        let numbered = panel.groups.iter().all(|group| group.bars.len() <= 3);
        draw_group(group, (left, slot), (limit, &y, numbered), svg);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"16\">{}</text>",
            left + slot / 2.0,
            bottom + 22.0,
            escaped(&group.name)
        );
    }
    for (number, line) in lines_of(panel).iter().enumerate() {
        let at = HEIGHT + 12.0 + NOTE * number as f64;
        let _ = writeln!(svg, "<text x=\"{LEFT:.0}\" y=\"{at:.0}\" fill=\"#5f6368\">{}</text>", escaped(line));
    }
}

/// The bars of a group; where they are few, each bears its number.
fn draw_group(
    group: &Group,
    (left, slot): (f64, f64),
    (limit, y, numbered): (f64, &dyn Fn(f64) -> f64, bool),
    svg: &mut String,
) {
    let width = (slot * 0.88 / group.bars.len().max(1) as f64).min(46.0);
    let begin = left + (slot - width * group.bars.len() as f64) / 2.0;
    for (number, bar) in group.bars.iter().enumerate() {
        let (x, is_cut) = (begin + width * number as f64, bar.cycles > limit);
        let (from, to) = (y(bar.cycles.min(limit)), y(0.0));
        let middle = x + width / 2.0;
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{from:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{}: {:.1} cycles</title></rect>",
            x + 1.0,
            width - 2.0,
            to - from,
            bar.look.colour(),
            escaped(&bar.name),
            bar.cycles
        );
        if is_cut {
            // No wider than the bar, so that labels of neighbours do not touch.
            let (break_at, size) = (from + 12.0, width.min(14.0));
            let (across, above) = (middle + size * 0.35, from - 4.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {break_at:.1}l{width:.1} -6\" stroke=\"#ffffff\" stroke-width=\"4\"/>\
                 <text x=\"{across:.1}\" y=\"{above:.1}\" font-size=\"{size:.0}\" transform=\"rotate(-90 {across:.1} {above:.1})\">{:.0}</text>",
                bar.cycles
            );
        }
        if numbered {
            let ink = if matches!(bar.look, Look::Best | Look::BestPeer) { "#ffffff" } else { "#202124" };
            let _ = writeln!(
                svg,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{:.0}</text>",
                to - 6.0,
                bar.cycles
            );
        }
    }
    // Last, so that no bar covers it.
    for (number, bar) in group.bars.iter().enumerate() {
        let Some(note) = &bar.note else { continue };
        let (middle, above) = (begin + width * (number as f64 + 0.5), y(bar.cycles.min(limit)) - 7.0);
        let place =
            format!("x=\"{middle:.1}\" y=\"{above:.1}\" text-anchor=\"middle\" font-size=\"17\" font-weight=\"bold\"");
        // The halo is an element of its own, below the text: not every converter knows `paint-order`.
        let _ = writeln!(
            svg,
            "<text {place} fill=\"#ffffff\" stroke=\"#ffffff\" stroke-width=\"4\">{note}</text>\
             <text {place} fill=\"{}\">{note}</text>",
            bar.look.colour()
        );
    }
}

/// 1, 2 or 5 of a power of ten: some lines across.
fn step(limit: f64) -> f64 {
    let rough = limit / LINES;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= rough).unwrap_or(rough)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_at_round_numbers() {
        assert_eq!([3.0, 40.0, 47.0, 130.0].map(step), [1.0, 10.0, 20.0, 50.0]);
    }

    #[test]
    fn bars_that_are_cut_say_how_long_they_are() {
        let best = Bar { note: Some("+12 %".to_string()), ..Bar::of("best", 20.0, Look::Best) };
        let bars = vec![best, Bar::of("a<b", 900.0, Look::Peer)];
        let panel =
            Panel { title: "t".into(), groups: vec![Group { name: "g".into(), bars }], notes: vec![], cut: 50.0 };
        let svg = picture(&[panel], 1, &[(Look::Best, "ours"), (Look::Ours, "other plans"), (Look::Peer, "theirs")]);
        assert!(
            svg.contains(">900</text>") && svg.contains("a&lt;b: 900.0 cycles") && svg.contains("#0b57d0"),
            "{svg}"
        );
        assert!(svg.contains(">+12 %</text><text ") && !svg.contains("paint-order"), "a halo, then the text: {svg}");
        assert!(svg.contains(">ours<") && !svg.contains("other plans"), "the key has what there is");
    }
}
