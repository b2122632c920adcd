//! Draws the graph as SVG: a row per step from the entry; the width of an edge is its share of packets.

use super::{Explanation, NodeRow};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const BOX_WIDTH: f64 = 190.0;
const BOX_HEIGHT: f64 = 44.0;
const ACROSS: f64 = 220.0;
const DOWN: f64 = 84.0;
const MARGIN: f64 = 30.0;
const WIDEST_EDGE: f64 = 9.0;

/// Column and row of each node.
type Places = BTreeMap<String, (usize, usize)>;

/// The drawing.
pub fn graph(explained: &Explanation) -> String {
    let places = places(&explained.nodes);
    let columns = places.values().map(|(column, _)| column + 1).max().unwrap_or(1);
    let rows = places.values().map(|(_, row)| row + 1).max().unwrap_or(1);
    let (width, height) = (columns as f64 * ACROSS + 2.0 * MARGIN, rows as f64 * DOWN + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n"
    );
    for node in &explained.nodes {
        for (to, share) in &node.onward {
            edge(&mut svg, places[&node.name], places.get(to).copied(), *share, node.is_on_path);
        }
    }
    explained.nodes.iter().for_each(|node| shape(&mut svg, node, places[&node.name]));
    svg.push_str("</svg>\n");
    svg
}

/// Each node is one row below its lowest predecessor, and rows fill from the left. Back edges are left out.
fn places(nodes: &[NodeRow]) -> Places {
    let order: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    let mut rows = vec![0usize; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for (to, _) in &node.onward {
            if let Some(next) = order.get(to.as_str()).copied().filter(|next| *next > at) {
                rows[next] = rows[next].max(rows[at] + 1);
            }
        }
    }
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let place = |(node, row): (&NodeRow, usize)| {
        let column = taken.entry(row).or_default();
        *column += 1;
        (node.name.clone(), (*column - 1, row))
    };
    nodes.iter().zip(rows).map(place).collect()
}

fn centre((column, row): (usize, usize)) -> (f64, f64) {
    (MARGIN + column as f64 * ACROSS + BOX_WIDTH / 2.0, MARGIN + row as f64 * DOWN + BOX_HEIGHT / 2.0)
}

fn edge(svg: &mut String, from: (usize, usize), to: Option<(usize, usize)>, share: f64, is_on_path: bool) {
    let Some(to) = to else { return };
    let ((x1, y1), (x2, y2)) = (centre(from), centre(to));
    let (y1, y2) = (y1 + BOX_HEIGHT / 2.0, y2 - BOX_HEIGHT / 2.0);
    let width = (share.min(1.0) * WIDEST_EDGE).max(0.8);
    let colour = if is_on_path { "#3b6ea5" } else { "#9aa5b1" };
    // Long edges bend around the boxes between.
    let bend = if to.1 > from.1 + 1 || to.1 <= from.1 { ACROSS * 0.45 } else { 0.0 };
    let middle = (y1 + y2) / 2.0;
    let _ = writeln!(
        svg,
        "<path d=\"M {x1:.0} {y1:.0} C {:.0} {middle:.0}, {:.0} {middle:.0}, {x2:.0} {y2:.0}\" fill=\"none\" stroke=\"{colour}\" \
         stroke-width=\"{width:.1}\" stroke-opacity=\"0.7\"/>",
        x1 + bend,
        x2 + bend
    );
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
    let opacity = 0.35 + 0.65 * node.share.min(1.0);
    let _ = writeln!(
        svg,
        "<g opacity=\"{opacity:.2}\"><rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"{fill}\" \
         stroke=\"{border}\"/><text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
         <text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{:.1} %, {}</text></g>",
        y - 4.0,
        escaped(&short(&node.name)),
        y + 12.0,
        node.share * 100.0,
        match node.measured {
            Some(measured) => format!("{:.1} → {measured:.1} cycles", node.predicted.cycles()),
            None => format!("{:.1} cycles", node.predicted.cycles()),
        }
    );
}

/// The end of a name that is too long for its box.
fn short(name: &str) -> String {
    const MOST: usize = 28;
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
