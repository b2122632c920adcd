//! Draws the graph as SVG: a row per step from the entry, the hot path in a column; the width of an edge is its share of packets.

use super::explanation::{Explanation, NodeRow};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const BOX_WIDTH: f64 = 200.0;
const BOX_HEIGHT: f64 = 48.0;
const ACROSS: f64 = 270.0;
const DOWN: f64 = 86.0;
const MARGIN: f64 = 30.0;
const WIDEST_EDGE: f64 = 9.0;
/// Edges that pass other rows side by side are so far apart, and so many of them.
const APART: f64 = 20.0;
const BESIDE: usize = 5;

/// Column and row of each node.
type Places = BTreeMap<String, (usize, usize)>;

/// The drawing.
pub fn graph(explained: &Explanation) -> String {
    let places = places(&explained.nodes);
    let columns = places.values().map(|(column, _)| column + 1).max().unwrap_or(1);
    let rows = places.values().map(|(_, row)| row + 1).max().unwrap_or(1);
    let beside = BESIDE as f64 * APART;
    let (width, height) = (columns as f64 * ACROSS + 2.0 * MARGIN + beside, rows as f64 * DOWN + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n"
    );
    let mut labels = String::new();
    let mut passing = 0;
    for node in &explained.nodes {
        for (to, share) in &node.onward {
            let Some(to) = places.get(to).copied() else { continue };
            edge(&mut svg, &mut labels, (places[&node.name], to), (*share, node.is_on_path), &mut passing);
        }
    }
    explained.nodes.iter().for_each(|node| shape(&mut svg, node, places[&node.name]));
    // Last, so that no box and no edge covers them.
    svg.push_str(&labels);
    svg.push_str("</svg>\n");
    svg
}

/// Each node is one row below its lowest predecessor, in the column of its heaviest predecessor or the nearest free one. Nodes with a larger share choose
/// first. Back edges are left out.
fn places(nodes: &[NodeRow]) -> Places {
    let order: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let mut rows = vec![0usize; nodes.len()];
    let mut above: Vec<Option<(f64, usize)>> = vec![None; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for (to, share) in &node.onward {
            let Some(next) = order.get(to.as_str()).copied().filter(|next| *next > at) else { continue };
            rows[next] = rows[next].max(rows[at] + 1);
            if above[next].is_none_or(|(most, _)| *share > most) {
                above[next] = Some((*share, at));
            }
        }
    }
    let mut columns = vec![0usize; nodes.len()];
    for row in 0..=rows.iter().copied().max().unwrap_or(0) {
        let mut of_row: Vec<usize> = (0..nodes.len()).filter(|at| rows[*at] == row).collect();
        of_row.sort_by(|one, other| nodes[*other].share.total_cmp(&nodes[*one].share));
        let mut taken: Vec<usize> = Vec::new();
        for at in of_row {
            let wanted = above[at].map_or(0, |(_, from)| columns[from]);
            let free = (0..=nodes.len()).filter(|column| !taken.contains(column));
            columns[at] = free.min_by_key(|column| column.abs_diff(wanted)).unwrap_or(wanted);
            taken.push(columns[at]);
        }
    }
    let place = |(at, node): (usize, &NodeRow)| (node.name.clone(), (columns[at], rows[at]));
    nodes.iter().enumerate().map(place).collect()
}

fn centre((column, row): (usize, usize)) -> (f64, f64) {
    (MARGIN + column as f64 * ACROSS + BOX_WIDTH / 2.0, MARGIN + row as f64 * DOWN + BOX_HEIGHT / 2.0)
}

/// How far to the side an edge is drawn, so that it passes boxes between them and not behind them.
fn bend(from: (usize, usize), to: (usize, usize), passing: &mut usize) -> f64 {
    // The curve goes three quarters as far aside as the points that it is drawn by.
    const REACH: f64 = 0.75;
    if to.1 == from.1 + 1 {
        return 0.0;
    }
    *passing += 1;
    let aside = (*passing % BESIDE) as f64 * APART;
    let gap = if (from.0 + to.0).is_multiple_of(2) { ACROSS / 2.0 } else { 0.0 };
    let side = if to.1 <= from.1 { -1.0 } else { 1.0 };
    side * (gap + aside) / REACH
}

fn edge(
    svg: &mut String,
    labels: &mut String,
    (from, to): ((usize, usize), (usize, usize)),
    (share, is_on_path): (f64, bool),
    passing: &mut usize,
) {
    let ((x1, y1), (x2, y2)) = (centre(from), centre(to));
    let (y1, y2) = (y1 + BOX_HEIGHT / 2.0, y2 - BOX_HEIGHT / 2.0);
    let width = (share.min(1.0) * WIDEST_EDGE).max(0.8);
    let colour = if is_on_path { "#3b6ea5" } else { "#9aa5b1" };
    let (bend, middle) = (bend(from, to, passing), (y1 + y2) / 2.0);
    let _ = writeln!(
        svg,
        "<path d=\"M {x1:.0} {y1:.0} C {:.0} {middle:.0}, {:.0} {middle:.0}, {x2:.0} {y2:.0}\" fill=\"none\" stroke=\"{colour}\" \
         stroke-width=\"{width:.1}\" stroke-opacity=\"0.7\"/>",
        x1 + bend,
        x2 + bend
    );
    let (x, y) = ((x1 + x2) / 2.0 + 0.75 * bend, middle + 4.0);
    let (place, share) = (format!("x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\" font-size=\"12\""), percent(share));
    // The halo is an element of its own, below the text: not every converter knows `paint-order`.
    let _ = writeln!(
        labels,
        "<text {place} fill=\"#ffffff\" stroke=\"#ffffff\" stroke-width=\"4\">{share}</text>\
         <text {place} fill=\"#1f2933\">{share}</text>"
    );
}

/// Small shares keep a digit that is not zero.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

fn shape(svg: &mut String, node: &NodeRow, place: (usize, usize)) {
    let (x, y) = centre(place);
    let (left, top) = (x - BOX_WIDTH / 2.0, y - BOX_HEIGHT / 2.0);
    let fill = match node.kind {
        "table" => "#fde9c9",
        "state" => "#dfeee0",
        "buffer" => "#e6e0f0",
        _ => "#f2f4f7",
    };
    let border = if node.is_on_path { "#3b6ea5" } else { "#9aa5b1" };
    let place = if node.place.is_empty() { String::new() } else { format!(" at {}", node.place) };
    let _ = writeln!(
        svg,
        "<g><title>{} {}{place}</title><rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"{fill}\" \
         stroke=\"{border}\"/><text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
         <text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}, {}</text></g>",
        node.kind,
        escaped(&node.name),
        y - 5.0,
        escaped(&short(&node.name)),
        y + 14.0,
        percent(node.share),
        match node.measured {
            Some(measured) => format!("{:.1} → {measured:.1} cycles", node.predicted.cycles()),
            None => format!("{:.1} cycles", node.predicted.cycles()),
        }
    );
}

/// The end of a name that is too long for its box.
fn short(name: &str) -> String {
    const MOST: usize = 25;
    let count = name.chars().count();
    if count <= MOST {
        name.to_string()
    } else {
        format!("…{}", name.chars().skip(count - MOST + 1).collect::<String>())
    }
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
