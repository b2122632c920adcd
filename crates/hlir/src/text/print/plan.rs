//! Prints plans. What is as in [`Plan::default`] is left out.

use super::lines::{Lines, in_braces};
use crate::Plan;
use crate::plan::{
    Access, Alternative, Descriptor, Expectation, HotPath, JoinKind, Loop, Prefetch, Reason, StageLookup,
};
use crate::text::words::{ACCESS_MODES, DESCRIPTORS, HINTS, STRUCTURES, word_of, written};
use crate::text::{written_choice, written_placement};

pub(super) fn print(plan: &Plan) -> String {
    let mut lines = Lines::default();
    lines.block("plan", "", |lines| {
        header(lines, plan);
        plan.loops.iter().for_each(|lp| print_loop(lines, lp));
        for next in &plan.next_paths {
            let head = format!("next_path {}{}", nodes_of(&next.path), because(&next.path.reason));
            if next.loops.is_empty() {
                lines.add(head);
            } else {
                lines.block(&head, "", |lines| next.loops.iter().for_each(|lp| print_loop(lines, lp)));
            }
        }
        for join in &plan.joins {
            let never = if join.made { "" } else { "never " };
            let by = match join.kind {
                JoinKind::Table => "",
                JoinKind::Value => " by value",
            };
            let (first, second, reason) = (written(&join.first), written(&join.second), because(&join.reason));
            lines.add(format!("{never}join {first} with {second}{by}{reason}"));
        }
        for table in &plan.tables {
            let structure = word_of(STRUCTURES, &table.structure).unwrap_or_default();
            lines.add(format!("table {}: {structure}{}", written(&table.table), because(&table.reason)));
        }
        for joint in &plan.joints {
            let (table, primary, reason) = (written(&joint.secondary), written(&joint.primary), because(&joint.reason));
            lines.add(format!("joint {table} with {primary} bits {}{reason}", joint.bits));
        }
        for queue in &plan.queues {
            let (node, reason) = (written(&queue.node), because(&queue.reason));
            lines.add(format!("queue {node}: capacity {} timeout {}{reason}", queue.capacity, queue.timeout));
        }
        plan.expectations.iter().for_each(|expectation| lines.add(format!("expect {}", expected(expectation))));
        if plan.instrument.edges {
            lines.add("instrument edges");
        }
    });
    lines.text()
}

fn header(lines: &mut Lines, plan: &Plan) {
    if plan.descriptor != Descriptor::default() {
        lines.add(format!("descriptor {}", word_of(DESCRIPTORS, &plan.descriptor).unwrap_or_default()));
    }
    if plan.burst != 0 {
        lines.add(format!("burst {}", plan.burst));
    }
    if let Some(path) = &plan.hot_path {
        lines.add(format!("{}{}", print_path(path), because(&path.reason)));
    }
    if let Some(mode) = &plan.accesses {
        lines.add(format!("accesses {}", word_of(ACCESS_MODES, mode).unwrap_or_default()));
    }
}

fn print_loop(lines: &mut Lines, lp: &Loop) {
    let vector = if lp.vector == 1 { String::new() } else { format!(" vector {}", lp.vector) };
    let head = format!("loop {}: batch {} group {}{vector}", written(&lp.node), lp.batch, lp.group);
    let head = format!("{head}{}", because(&lp.reason));
    if lp.lookups.is_empty() && lp.prefetches.is_empty() {
        return lines.add(head);
    }
    lines.block(&head, "", |lines| {
        let lookup = |it: &StageLookup| format!("lookup {}{}", written(&it.table), because(&it.reason));
        lp.lookups.iter().for_each(|it| lines.add(lookup(it)));
        lp.prefetches.iter().for_each(|request| lines.add(prefetch(request)));
    });
}

/// The path as a plan has it, without its reason.
pub fn print_path(path: &HotPath) -> String {
    format!("hot_path {}", nodes_of(path))
}

fn nodes_of(path: &HotPath) -> String {
    let node = |(place, node): (usize, &String)| match path.actions.get(&place) {
        Some(action) => format!("{} runs {}", written(node), written(action)),
        None => written(node),
    };
    let nodes: Vec<String> = path.nodes.iter().enumerate().map(node).collect();
    in_braces(&nodes)
}

fn prefetch(request: &Prefetch) -> String {
    let access = match &request.access {
        Access::Packet => "packet".to_string(),
        Access::Table(table) => format!("table {}", written(table)),
    };
    let how = if request.placement.is_pipelined() { "interleaved" } else { "in" };
    let placement = written_placement(request.placement);
    let hint = word_of(HINTS, &request.hint).unwrap_or_default();
    let (distance, reason) = (request.distance, because(&request.reason));
    format!("prefetch {access} ahead {distance} {how} {placement} to {hint}{reason}")
}

fn expected(expectation: &Expectation) -> String {
    let percent = |tenths: &u64| format!("{}.{}", tenths / 10, tenths % 10);
    match expectation {
        Expectation::Entries { table, least, most } => format!("table {} entries {least} to {most}", written(table)),
        Expectation::Hits { table, tenths } => format!("table {} hits {}", written(table), percent(tenths)),
        Expectation::OnPath { tenths } => format!("hot_path share {}", percent(tenths)),
        Expectation::Pages { bytes } => format!("pages {bytes}"),
    }
}

fn because(reason: &Option<Reason>) -> String {
    let Some(Reason { cost, alternatives }) = reason else { return String::new() };
    let tenths = |cost: u64| format!("{}.{}", cost / 10, cost % 10);
    let other = |it: &Alternative| format!("{} {}", written(&written_choice(&it.choice)), tenths(it.cost));
    let others = alternatives.iter().map(other);
    let others: Vec<String> = others.collect();
    let against = if others.is_empty() { String::new() } else { format!(" against {}", others.join(", ")) };
    format!(" because {}{against}", tenths(*cost))
}
