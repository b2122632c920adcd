//! Counts lookups that became code where few packets pass.
//!
//! [`specialise`](super::specialise) counts each of them where it was. But packets are conserved: as many come to a node
//! as leave it. So the counts of most places follow from those of others, and a spanning tree of the graph needs none
//! (Knuth and Stevenson 1973; Ball and Larus 1994). The tree takes the edges that most packets take, so the hot path
//! counts nothing but the packets that are received.

mod conservation;

use super::dead::{redirect, remove_empty};
use super::join::graph::unique;
use super::specialise::tally;
use crate::Inputs;
use crate::analyze::traffic::Traffic;
use conservation::{Conservation, Count, Source};
use hlir::lookup_sums::RECEIVED;
use hlir::{Call, CounterId, Expression, LookupSum, Node, NodeId, NodeKind, Notes, Program, Statement};
use std::collections::{BTreeMap, BTreeSet};

/// The blocks that count at an index, once for each time.
type Sites = BTreeMap<u32, Vec<NodeId>>;

pub fn place(program: &mut Program, inputs: &Inputs) {
    let is_naive = |sum: &LookupSum| sum.added.len() == 1 && sum.subtracted.is_empty() && sum.added[0] != RECEIVED;
    let Some(counter) = program.lookup_sums.first().map(|sum| sum.counter) else { return };
    if program.entry.is_none() || !program.joins.is_empty() || !program.lookup_sums.iter().all(is_naive) {
        return;
    }
    let sites = sites(program, counter);
    let traffic = Traffic::estimate(program, inputs);
    let conservation = Conservation::of(program, &traffic, &sites);
    let Some(sums) = conservation.sums(&sites, &traffic) else { return };
    apply(program, counter, &sums);
    remove_empty(program);
}

/// The blocks that count at each index, for those at which nothing else counts.
fn sites(program: &Program, counter: CounterId) -> Sites {
    let (mut sites, mut all) = (Sites::new(), BTreeMap::<u32, usize>::new());
    for (id, node) in program.nodes.iter() {
        let mut body = node.kind.body().to_vec();
        hlir::visit::calls(&mut body, &mut |call| {
            if let Some(index) = index_of(call, counter) {
                *all.entry(index).or_default() += 1;
            }
        });
        let NodeKind::Block { body, .. } = &node.kind else { continue };
        for statement in body {
            let mut exits = false;
            statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit));
            if exits {
                break;
            }
            if let Statement::Call(call) = statement
                && let Some(index) = index_of(call, counter)
            {
                sites.entry(index).or_default().push(id);
            }
        }
    }
    sites.retain(|index, places| all.get(index) == Some(&places.len()));
    sites
}

fn index_of(call: &Call, counter: CounterId) -> Option<u32> {
    let Call::Count { counter: of, index: Some(Expression::Constant { value, .. }) } = call else { return None };
    if *of == counter { u32::try_from(value).ok() } else { None }
}

/// Replaces counts by others, and each sum by what it is of these.
fn apply(program: &mut Program, counter: CounterId, sums: &BTreeMap<u32, Vec<(Count, bool)>>) {
    // Indices that still count where they did.
    let kept: Vec<u32> =
        program.lookup_sums.iter().map(|sum| sum.added[0]).filter(|at| !sums.contains_key(at)).collect();
    let counts: BTreeSet<&Count> = sums.values().flatten().map(|(count, _)| count).collect();
    let mut indices = BTreeMap::new();
    let moved: BTreeMap<u32, u32> = kept.into_iter().zip(RECEIVED + 1..).collect();
    let mut next = RECEIVED + 1 + moved.len() as u32;
    renumber(program, counter, &moved);
    for count in counts {
        match count {
            Count::Received => drop(indices.insert(*count, RECEIVED)),
            Count::Edge { from, to, is_alone } => {
                indices.insert(*count, next);
                count_edge(program, (*from, *to, *is_alone), tally::at(counter, next));
                next += 1;
            }
        }
    }
    for sum in &mut program.lookup_sums {
        let before = sum.added[0];
        let Some(terms) = sums.get(&before) else {
            sum.added = vec![moved[&before]];
            continue;
        };
        let of = |wanted: bool| {
            let mut found: Vec<u32> =
                terms.iter().filter(|(_, is_added)| *is_added == wanted).map(|(count, _)| indices[count]).collect();
            found.sort_unstable();
            found
        };
        (sum.added, sum.subtracted) = (of(true), of(false));
    }
    program.counters[counter].size = u64::from(next);
}

/// Removes counts of the counter, but for those that have a new index.
fn renumber(program: &mut Program, counter: CounterId, moved: &BTreeMap<u32, u32>) {
    crate::visit::bodies(program, &mut |body| renumber_body(body, counter, moved));
}

fn renumber_body(body: &mut Vec<Statement>, counter: CounterId, moved: &BTreeMap<u32, u32>) {
    let index = |statement: &Statement| {
        if let Statement::Call(call) = statement { index_of(call, counter) } else { None }
    };
    body.retain(|statement| index(statement).is_none_or(|index| moved.contains_key(&index)));
    for statement in body {
        match index(statement) {
            Some(index) => *statement = tally::at(counter, moved[&index]),
            None => hlir::visit::nested(statement, &mut |body| renumber_body(body, counter, moved)),
        }
    }
}

/// Lets the packets of an edge be counted: in the block that it leads from or to, or in a block between.
fn count_edge(program: &mut Program, (from, to, is_alone): (Source, NodeId, bool), count: Statement) {
    if is_alone && let NodeKind::Block { body, .. } = &mut program.nodes[to].kind {
        body.insert(0, count);
        return;
    }
    // A loop may end a packet, which then does not take the edge.
    if let Source::Node(node) = from
        && !conservation::may_end(program, &program.nodes[node])
        && let NodeKind::Block { body, exit: None, .. } = &mut program.nodes[node].kind
    {
        body.insert(0, count);
        return;
    }
    let names: Vec<String> = program.nodes.values().map(|node| node.name.clone()).collect();
    let of = match from {
        Source::Node(node) => &program.nodes[node].name,
        Source::Parser(parser) => &program.parsers[parser].name,
    };
    let name = unique(format!("{of}.counted"), &names);
    // Hints of how many packets go there remain with the edge.
    let notes = Notes { annotations: program.nodes[to].notes.annotations.clone(), ..Notes::default() };
    let kind = NodeKind::Block { body: vec![count], next: to, exit: None };
    let between = program.nodes.alloc(Node { name, kind, notes });
    let onward = |node: NodeId| if node == to { between } else { node };
    match from {
        Source::Node(node) => redirect(&mut program.nodes[node].kind, &onward),
        Source::Parser(parser) => {
            for (id, node) in program.nodes.iter_mut() {
                if id != between && node.parser() == Some(parser) {
                    redirect(&mut node.kind, &onward);
                }
            }
            let parser = &mut program.parsers[parser];
            (parser.accept, parser.reject) = (onward(parser.accept), onward(parser.reject));
        }
    }
}
