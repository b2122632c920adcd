//! Draws the graph as SVG: a row per step from the entry, the hot path in a column; the width of an edge is its share of packets.
//! The page's style has the colours.

use super::explanation::{Explanation, NodeRow};
use super::layout::{BOX_HEIGHT, BOX_WIDTH, DOWN, Edge, Layout};
use std::fmt::Write as _;

const WIDEST_EDGE: f64 = 9.0;
/// The space between two rows.
const SPACE: f64 = DOWN - BOX_HEIGHT;
/// Control points of an edge back up: it turns within the space between two rows.
const TURN: f64 = SPACE * 0.75;
/// Of a label, with the space around it.
const LABEL: (f64, f64) = (40.0, 15.0);

/// The drawing of the nodes that packets reach.
pub fn graph(explained: &Explanation) -> String {
    let nodes: Vec<&NodeRow> = explained.nodes.iter().filter(|node| node.share > 0.0).collect();
    if nodes.is_empty() {
        return String::new();
    }
    let layout = Layout::new(&nodes);
    let (width, height) = layout.size();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n"
    );
    // Heavy edges are drawn over light ones, and their labels choose first.
    let mut edges: Vec<&Edge> = layout.edges.iter().collect();
    edges.sort_by(|one, other| other.share.total_cmp(&one.share));
    edges.iter().rev().for_each(|edge| line(&mut svg, &layout, edge));
    nodes.iter().for_each(|node| shape(&mut svg, node, layout.centre(layout.places[&node.name])));
    // Last, so that no edge covers them.
    let mut placed = Vec::new();
    edges.iter().for_each(|edge| label(&mut svg, &layout, edge, &mut placed));
    svg.push_str("</svg>\n");
    svg
}

/// Where an edge leaves its node, and where it comes in.
fn ends(layout: &Layout, edge: &Edge) -> ((f64, f64), (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (layout.centre(edge.from), layout.centre(edge.to));
    ((x1, y1 + BOX_HEIGHT / 2.0), (x2, y2 - BOX_HEIGHT / 2.0))
}

fn line(svg: &mut String, layout: &Layout, edge: &Edge) {
    let ((x1, y1), (x2, y2)) = ends(layout, edge);
    let curve = |(x1, y1): (f64, f64), (x2, y2): (f64, f64)| {
        let middle = f64::midpoint(y1, y2);
        format!("C {x1:.0} {middle:.0}, {x2:.0} {middle:.0}, {x2:.0} {y2:.0}")
    };
    let path = match layout.lane(edge) {
        None => curve((x1, y1), (x2, y2)),
        Some(lane) if edge.to.1 > edge.from.1 => {
            let (from, to) = (y1 + SPACE, y2 - SPACE);
            format!("{} L {lane:.0} {to:.0} {}", curve((x1, y1), (lane, from)), curve((lane, to), (x2, y2)))
        }
        Some(lane) => {
            let (below, above) = (y1 + TURN, y2 - TURN);
            format!(
                "C {x1:.0} {below:.0}, {lane:.0} {below:.0}, {lane:.0} {y1:.0} L {lane:.0} {y2:.0} \
                 C {lane:.0} {above:.0}, {x2:.0} {above:.0}, {x2:.0} {y2:.0}"
            )
        }
    };
    let width = (edge.share.min(1.0) * WIDEST_EDGE).max(0.8);
    let class = if edge.is_on_path { "edge hot" } else { "edge" };
    let _ = writeln!(
        svg,
        "<path class=\"{class}\" d=\"M {x1:.0} {y1:.0} {path}\" stroke-width=\"{width:.1}\"><title>{}</title></path>",
        percent(edge.share)
    );
}

/// The share of an edge, at the first place along it that has no other label, else where there is the most room.
fn label(svg: &mut String, layout: &Layout, edge: &Edge, placed: &mut Vec<(f64, f64)>) {
    let ((x1, y1), (x2, y2)) = ends(layout, edge);
    let places: Vec<(f64, f64)> = match layout.lane(edge) {
        // Points of the curve, which are where its parameter is.
        None => [0.5, 0.42, 0.58, 0.36, 0.64].map(|part| on_curve((x1, y1), (x2, y2), part)).to_vec(),
        Some(lane) => {
            let (top, bottom) = if y2 > y1 { (y1 + SPACE, y2 - SPACE) } else { (y2, y1) };
            let steps = ((bottom - top) / LABEL.1) as usize;
            let all = (0..=steps).map(|step| (lane, top + LABEL.1 * step as f64 + 4.0));
            all.collect()
        }
    };
    // How far it is to the nearest label, in labels; from 1 on, they do not touch.
    let room = |(x, y): &(f64, f64)| {
        let apart = |other: &(f64, f64)| ((x - other.0).abs() / LABEL.0).max((y - other.1).abs() / LABEL.1);
        placed.iter().map(apart).fold(1.0, f64::min)
    };
    let free = places.iter().find(|place| room(place) >= 1.0);
    let widest = || places.iter().max_by(|one, other| room(one).total_cmp(&room(other)));
    let Some((x, y)) = free.or_else(widest).copied() else { return };
    placed.push((x, y));
    let (place, share) = (format!("x=\"{x:.0}\" y=\"{y:.0}\" font-size=\"12\""), percent(edge.share));
    // The halo is an element of its own, below the text: not every converter knows `paint-order`.
    let _ = writeln!(svg, "<text class=\"halo\" {place}>{share}</text><text {place}>{share}</text>");
}

/// A point of the curve between two rows, and half a line of text lower.
fn on_curve((x1, y1): (f64, f64), (x2, y2): (f64, f64), part: f64) -> (f64, f64) {
    let rest = 1.0 - part;
    let (near, far) = (rest * rest * (rest + 3.0 * part), part * part * (part + 3.0 * rest));
    let straight = y1 * rest.powi(3) + y2 * part.powi(3) + 3.0 * rest * part * f64::midpoint(y1, y2);
    (x1 * near + x2 * far, straight + 4.0)
}

/// Small shares keep a digit that is not zero.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

fn shape(svg: &mut String, node: &NodeRow, (x, y): (f64, f64)) {
    let (left, top) = (x - BOX_WIDTH / 2.0, y - BOX_HEIGHT / 2.0);
    let hot = if node.is_on_path { " hot" } else { "" };
    let place = if node.place.is_empty() { String::new() } else { format!(" at {}", node.place) };
    let _ = writeln!(
        svg,
        "<g class=\"{}{hot}\"><title>{} {}{place}</title><rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\"/>\
         <text x=\"{x:.0}\" y=\"{:.0}\" font-weight=\"bold\">{}</text>\
         <text x=\"{x:.0}\" y=\"{:.0}\">{}, {}</text></g>",
        node.kind,
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

/// The end of a name that is too long for its box, from the begin of a word.
fn short(name: &str) -> String {
    const MOST: usize = 26;
    let count = name.chars().count();
    if count <= MOST {
        return name.to_string();
    }
    let end: String = name.chars().skip(count - MOST + 1).collect();
    let word = end.find(['.', '_']).filter(|at| *at < MOST / 2).map_or(end.as_str(), |at| &end[at + 1..]);
    format!("…{word}")
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
