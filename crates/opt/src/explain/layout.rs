//! Where the drawing of the graph has its nodes, and the lanes of edges that pass rows.
//!
//! Between two columns, and beside the outer ones, is a gutter. An edge to the next row is drawn in the space between
//! the two rows. Any other edge goes to a lane in a gutter, along it, and back: it crosses no node.

use super::explanation::NodeRow;
use std::collections::BTreeMap;

pub const BOX_WIDTH: f64 = 216.0;
pub const BOX_HEIGHT: f64 = 48.0;
/// From row to row.
pub const DOWN: f64 = 88.0;
const MARGIN: f64 = 24.0;
/// From lane to lane; a gutter has at least two of these.
const LANE: f64 = 26.0;

/// Column and row.
pub type Place = (usize, usize);

/// An edge between two nodes that are drawn.
pub struct Edge {
    pub from: Place,
    pub to: Place,
    /// Of the packets that come from a port.
    pub share: f64,
    pub is_on_path: bool,
    /// Gutter and lane; none to the next row.
    lane: Option<(usize, usize)>,
}

pub struct Layout {
    pub places: BTreeMap<String, Place>,
    pub edges: Vec<Edge>,
    /// Left ends of the gutters, and the right end of the last.
    gutters: Vec<f64>,
    rows: usize,
}

impl Layout {
    /// Each node is one row below its lowest predecessor, in the column of its heaviest predecessor or the nearest free
    /// one. Nodes with a larger share choose first.
    pub fn new(nodes: &[&NodeRow]) -> Layout {
        let (places, columns, rows) = places(nodes);
        let mut edges: Vec<Edge> = nodes.iter().flat_map(|node| edges(node, &places)).collect();
        // Short edges first: they take the lanes nearest to the nodes.
        let span = |edge: &Edge| edge.from.1.abs_diff(edge.to.1);
        edges.sort_by(|one, other| span(one).cmp(&span(other)).then(other.share.total_cmp(&one.share)));
        let lanes = lanes(&mut edges, columns + 1);
        let mut gutters = vec![MARGIN];
        for count in lanes {
            let width = LANE * (count + 1).max(2) as f64;
            gutters.push(gutters[gutters.len() - 1] + width + BOX_WIDTH);
        }
        Layout { places, edges, gutters, rows }
    }

    pub fn size(&self) -> (f64, f64) {
        let right = self.gutters[self.gutters.len() - 1] - BOX_WIDTH;
        (right + MARGIN, (self.rows - 1) as f64 * DOWN + BOX_HEIGHT + 2.0 * MARGIN)
    }

    pub fn centre(&self, (column, row): Place) -> (f64, f64) {
        (self.gutters[column + 1] - BOX_WIDTH / 2.0, MARGIN + row as f64 * DOWN + BOX_HEIGHT / 2.0)
    }

    /// The place of an edge's lane from left to right; none to the next row.
    pub fn lane(&self, edge: &Edge) -> Option<f64> {
        let (gutter, lane) = edge.lane?;
        let inwards = LANE * (lane + 1) as f64;
        // The first gutter is left of all nodes: its lanes begin at its right.
        Some(if gutter == 0 { self.gutters[1] - BOX_WIDTH - inwards } else { self.gutters[gutter] + inwards })
    }
}

fn edges(node: &NodeRow, places: &BTreeMap<String, Place>) -> Vec<Edge> {
    let from = places[&node.name];
    let edge = |(to, share): &(String, f64)| {
        Some(Edge { from, to: *places.get(to)?, share: *share, is_on_path: node.is_on_path, lane: None })
    };
    node.onward.iter().filter_map(edge).collect()
}

/// Places, and the numbers of columns and rows. Back edges count for nothing.
fn places(nodes: &[&NodeRow]) -> (BTreeMap<String, Place>, usize, usize) {
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
    let count = rows.iter().copied().max().unwrap_or(0) + 1;
    for row in 0..count {
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
    let place = |(at, node): (usize, &&NodeRow)| (node.name.clone(), (columns[at], rows[at]));
    let places = nodes.iter().enumerate().map(place).collect();
    (places, columns.iter().copied().max().unwrap_or(0) + 1, count)
}

/// Gives a lane to each edge that is not to the next row, so that no two share a piece of one. Returns the number of
/// lanes of each gutter.
fn lanes(edges: &mut [Edge], gutters: usize) -> Vec<usize> {
    // The rows that each lane is used beside.
    let mut taken: Vec<Vec<Vec<(usize, usize)>>> = vec![Vec::new(); gutters];
    for edge in edges.iter_mut().filter(|edge| edge.to.1 != edge.from.1 + 1) {
        let is_back = edge.to.1 <= edge.from.1;
        let gutter = if is_back {
            0
        } else if edge.to.0 < edge.from.0 {
            edge.from.0
        } else {
            edge.from.0 + 1
        };
        let rows = if is_back { (edge.to.1, edge.from.1 + 1) } else { (edge.from.1, edge.to.1) };
        let of_gutter = &mut taken[gutter];
        let is_free = |lane: &Vec<(usize, usize)>| lane.iter().all(|used| used.1 <= rows.0 || rows.1 <= used.0);
        let lane = of_gutter.iter().position(is_free).unwrap_or_else(|| {
            of_gutter.push(Vec::new());
            of_gutter.len() - 1
        });
        of_gutter[lane].push(rows);
        edge.lane = Some((gutter, lane));
    }
    taken.iter().map(Vec::len).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NodeCost;

    fn node(name: &str, onward: &[(&str, f64)]) -> NodeRow {
        NodeRow {
            id: hlir::NodeId::from_raw(la_arena::RawIdx::from_u32(0)),
            name: name.into(),
            kind: "block",
            place: String::new(),
            share: 1.0,
            predicted: NodeCost::default(),
            measured: None,
            is_on_path: false,
            onward: onward.iter().map(|(to, share)| (to.to_string(), *share)).collect(),
            leaving: 0.0,
        }
    }

    /// Edges that pass rows have lanes beside the nodes, each its own where two are side by side; nothing is drawn
    /// outside.
    #[test]
    fn edges_pass_nodes_in_lanes_of_their_own() {
        let nodes = [
            node("a", &[("b", 0.5), ("d", 0.3), ("e", 0.2)]),
            node("b", &[("c", 0.5)]),
            node("c", &[("d", 0.4), ("a", 0.1)]),
            node("d", &[("e", 0.7)]),
            node("e", &[]),
        ];
        let layout = Layout::new(&nodes.iter().collect::<Vec<&NodeRow>>());
        let mut used: Vec<f64> = layout.edges.iter().filter_map(|edge| layout.lane(edge)).collect();
        used.sort_by(f64::total_cmp);
        assert_eq!(used.len(), 3, "two that skip rows, and one back");
        assert!(used.windows(2).all(|two| two[1] - two[0] >= LANE), "{used:?}");
        let (width, _) = layout.size();
        let (x, _) = layout.centre((0, 0));
        for lane in &used {
            assert!((lane - x).abs() > BOX_WIDTH / 2.0 && *lane > 0.0 && *lane < width, "{lane} {x} {width}");
        }
        assert_eq!(layout.edges.iter().filter(|edge| layout.lane(edge).is_none()).count(), 4);
    }
}
