//! Chooses the burst size, and cuts the hot path into stages at lookups that are likely to stall.
//!
//! The burst has the minimum predicted cost per packet, divided by the expansion of replicated packets. Each
//! lookup stays unstaged, joins an earlier stage, or begins a stage of its own, whichever is cheapest given
//! the lookups before it. This greedy cut competes with one stage for all lookups, which may pay where no
//! single lookup does. On a path without lookups, one stage may pay all the same: what most packets do is then a few
//! stores, for a whole group. A stage's batch is the burst: packets that took a side exit keep their slots.

use super::{Planner, Scheduler, WORTH, constraints, reason, scheduled};
use crate::inputs::Cuts;
use crate::model::Model;
use hlir::plan::{Choice, Loop, StageLookup};
use hlir::{NodeId, Plan};

/// The first is taken unless another is cheaper.
pub const BURSTS: [u32; 3] = [64, 32, 128];
/// Relative gain required of a longer burst: its effects beyond its packets are not in the model. [`WORTH`]
/// is enough for a shorter one.
const LONGER_WORTH: f64 = 0.05;
/// Relative gain required of stages, and the additional gain for the share of packets that take a side exit before
/// the last cut. The model sees what these cost too low: with 100,000 entries each, ndn took 1.16 and ids_router
/// 1.27 times as long in stages as packet by packet, where gains of 7 % and 20 % were predicted (Zen 4).
const LEAST_WORTH: f64 = 0.05;
const WORTH_OF_EXITS: f64 = 0.5;
/// The same for packets that take a next path, less the share of the time that packets wait for memory: that is what stages
/// gain for certain. With 1,000 routes, dualstack took 1.1 and 1.3 times as long with two paths as packet by packet, where
/// gains of 15 % and 22 % were predicted for 30 % and 50 % of such packets, and the tutorials' basic_tunnel 1.1 times,
/// where 25 % were for 50 %; with 20,000 routes dualstack took 0.8 times as long, as predicted (Zen 4).
const WORTH_OF_NEXT: f64 = 0.6;
/// Relative gain required of stages for each variable and header that is not in registers; and at most. What
/// stages cost then is the least certain part of the model: PINS (107 variables and headers), freeRtr's router
/// (148) and DASH (87) took 2 to 4 times as long in stages as packet by packet, where the model saw a gain of a
/// twentieth. So where plans are close, packet by packet wins.
const WORTH_OF_STATE: f64 = 0.002;
const WORTH_OF_STATE_MOST: f64 = 0.25;
/// Number of lookups up to which a common stage is tried, beginning at each of them.
const MOST_TOGETHER: usize = 12;
/// Number of lookups, the first ones, at which a greedy cut begins.
const MOST_FIRSTS: usize = 4;
/// Number of stages, the last ones, that a lookup may join.
const MOST_JOINED: usize = 4;
/// Number of nodes, the last that packets leave the path at, behind which a stage without lookups is tried.
const MOST_ENDS: usize = 3;
/// Packets per group: the verdicts of a group are bits of one word.
pub const LARGEST_GROUP: u32 = 64;

pub fn allocate(planner: &Planner, plan: &mut Plan) {
    let has_next = planner.has("next_paths");
    scheduled(&planner.model, plan, |scheduler, plan| compare(scheduler, plan, has_next));
}

/// `has_next`: packets that leave the hot path may have another one, which a later pass plans.
fn compare(scheduler: &Scheduler, plan: &mut Plan, has_next: bool) {
    let model = scheduler.model;
    let (program, inputs) = (model.program, model.inputs);
    let pinned = &inputs.constraints;
    let expansion = (model.traffic.expansion(program) - 0.01).ceil().max(1.0) as u32;
    let most = if inputs.ports.most_burst == 0 { u32::MAX } else { inputs.ports.most_burst };
    let mut bursts: Vec<u32> = BURSTS.iter().map(|burst| (burst / expansion).clamp(1, most)).collect();
    bursts.dedup();
    let stages = constraints::stages(inputs);
    if pinned.burst > 0 {
        bursts = vec![pinned.burst];
    } else if let Some(first) = stages.first().or(constraints::next_stage(inputs)) {
        bursts = vec![first.batch.max(1)];
    }
    let plain = plan.clone().packet_by_packet();
    let mut best: Option<(f64, Plan)> = None;
    for burst in bursts {
        let begun = Plan { burst, loops: stages.clone(), ..plan.clone() };
        let mut cut = if stages.is_empty() { best_cut(scheduler, begun) } else { cut(scheduler, begun, 0) };
        if cut.loops.is_empty() && !needs_no_stages(pinned) {
            cut = minimum_cost_stage(scheduler, cut);
        }
        let cycles = scheduler.cycles(&cut);
        let limit = f64::from(inputs.ports.latency_ns);
        if limit > 0.0 && model.latency_ns(&cut, cycles) > limit && best.is_some() {
            continue;
        }
        let worth = |other: &Plan| if burst > other.burst { LONGER_WORTH } else { WORTH };
        if best.as_ref().is_none_or(|(least, other)| cycles < least * (1.0 - worth(other))) {
            best = Some((cycles, cut));
        }
    }
    let Some((cycles, mut chosen)) = best else { return };
    let plain = scheduler.cycles(&Plan { burst: chosen.burst, ..plain });
    let pays = |cycles: f64, plan: &Plan| !plan.loops.is_empty() && cycles < plain * (1.0 - stages_worth(model, plan));
    let mut is_worth_it = pays(cycles, &chosen);
    if !is_worth_it && has_next && super::next_paths::are_possible(scheduler) {
        // Stages may pay only if packets that leave the path have another one.
        let first =
            if chosen.loops.is_empty() { minimum_cost_stage(scheduler, chosen.clone()) } else { chosen.clone() };
        let mut with = first.clone();
        super::next_paths::add(scheduler, &mut with);
        is_worth_it = !with.next_paths.is_empty() && pays(scheduler.cycles(&with), &with);
        if is_worth_it {
            chosen = first;
        }
    }
    if !is_worth_it && inputs.cuts == Cuts::Possible {
        let staged =
            if chosen.loops.is_empty() { minimum_cost_stage(scheduler, chosen.clone()) } else { chosen.clone() };
        is_worth_it = model.commits_by_schedule(&staged);
        chosen = if is_worth_it { staged } else { chosen };
    }
    if !is_worth_it && pinned.hot_path.is_none() && stages.is_empty() && needs_no_stages(pinned) {
        chosen = chosen.packet_by_packet();
    } else if let Some(path) = &mut chosen.hot_path {
        path.reason = reason(cycles, [(Choice::PacketByPacket, plain)]);
    }
    super::vector::make_scalar(&mut chosen, inputs);
    *plan = chosen;
}

/// Whether nothing is given that is beside stages only.
fn needs_no_stages(pinned: &Plan) -> bool {
    pinned.queues.is_empty() && pinned.next_paths.is_empty()
}

/// Relative gain required of the stages of this plan.
fn stages_worth(model: &Model, plan: &Plan) -> f64 {
    let state = (model.members_in_memory() * WORTH_OF_STATE).min(WORTH_OF_STATE_MOST);
    let (first, all) = (model.share_in_stages(plan), model.share_in_paths(plan));
    let next = if all > first { (WORTH_OF_NEXT * (all - first) - waits(model, plan)).max(0.0) } else { 0.0 };
    LEAST_WORTH + state + WORTH_OF_EXITS * (1.0 - all) + next
}

/// The share of its time that a packet waits for memory without stages.
fn waits(model: &Model, plan: &Plan) -> f64 {
    let predicted = model.predict(&plan.clone().packet_by_packet());
    predicted.nodes.iter().map(|node| node.memory).sum::<f64>() / predicted.cycles()
}

/// The greedy cut of minimum cost, or the one with a common stage if that is cheaper. Greedy cuts begin at each of the first
/// lookups: those before stay unstaged, and a first stage that is vector code then has the checks behind them, too.
fn best_cut(scheduler: &Scheduler, plan: Plan) -> Plan {
    let cost = |plan: &Plan| super::prefetch::minimum_cost(scheduler, plan);
    let lookups = lookups(scheduler.model, &plan);
    if lookups.is_empty() {
        return without_lookups(scheduler, &plan).unwrap_or(plan);
    }
    let firsts = if lookups.len() > MOST_TOGETHER { 0 } else { lookups.len() };
    let later = (1..firsts.min(MOST_FIRSTS)).map(|first| cut(scheduler, plan.clone(), first));
    let ones = (0..firsts).filter_map(|first| one_stage(scheduler, &plan, &lookups[first..]));
    let others = later.chain(ones).map(|other| (cost(&other), other)).min_by(|(a, _), (b, _)| a.total_cmp(b));
    let cut = cut(scheduler, plan.clone(), 0);
    match others {
        Some((cycles, other)) if cycles < cost(&cut) * (1.0 - WORTH) => other,
        _ => cut,
    }
}

/// The plan of a path without lookups with the stage of minimum cost: behind one of the last nodes at which packets leave
/// the path. Paths with lookups have none of these, since the commit phase would make the lookups packet by packet: the
/// tutorials' qos took 33 cycles so, where the plain program takes 21 (Zen 4).
fn without_lookups(scheduler: &Scheduler, plan: &Plan) -> Option<Plan> {
    let model = scheduler.model;
    let path = model.path(plan)?;
    let is_left = |place: &usize| model.program.nodes[path[*place]].successors().len() > 1;
    let ends = (0..path.len().saturating_sub(1)).filter(is_left).map(|place| place + 1);
    let plans = ends.rev().map(|place| {
        let mut one = plan.clone();
        one.loops.push(Loop { lookups: Vec::new(), ..stage(model, path[place], "", plan) });
        super::vector::candidate(scheduler, one)
    });
    let legal = plans.filter(|one| scheduler.is_legal(one)).take(MOST_ENDS);
    legal.map(|one| (scheduler.cycles(&one), one)).min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, one)| one)
}

/// The plan with the one stage of minimum cost, for plans that must have one: a queue needs stages.
fn minimum_cost_stage(scheduler: &Scheduler, plan: Plan) -> Plan {
    let model = scheduler.model;
    let ones = lookups(model, &plan).into_iter().map(|(node, name)| {
        let mut one = plan.clone();
        one.loops.push(stage(model, node, &name, &plan));
        super::vector::candidate(scheduler, one)
    });
    let legal = ones.filter(|one| scheduler.is_legal(one));
    let costs = legal.map(|one| (super::prefetch::minimum_cost(scheduler, &one), one));
    costs.min_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(plan, |(_, one)| one)
}

/// Lookups on the hot path, each with its table's name.
fn lookups(model: &Model, plan: &Plan) -> Vec<(NodeId, String)> {
    let Some(path) = model.path(plan) else { return Vec::new() };
    let look_up = |node: NodeId| {
        hlir::hot_path::table_of(model.program, node).map(|table| (node, model.program.tables[table].name.clone()))
    };
    path.iter().copied().filter_map(look_up).collect()
}

/// A common stage at the first of these lookups, without the lookups that cost less unstaged. None if fewer
/// than two remain.
fn one_stage(scheduler: &Scheduler, plan: &Plan, lookups: &[(NodeId, String)]) -> Option<Plan> {
    let mut plan = plan.clone();
    for (node, name) in lookups {
        let mut with = plan.clone();
        match with.loops.first_mut() {
            None => {
                with.loops.push(stage(scheduler.model, *node, name, &plan));
                with = super::vector::candidate(scheduler, with);
            }
            Some(first) => first.lookups.push(lookup_in(name)),
        }
        if scheduler.is_legal(&with) {
            plan = with;
        }
    }
    let mut cycles = super::prefetch::minimum_cost(scheduler, &plan);
    let staged = plan.loops.first()?.lookups.len();
    for number in (1..staged).rev() {
        let mut without = plan.clone();
        without.loops[0].lookups.remove(number);
        let unstaged = super::prefetch::minimum_cost(scheduler, &without);
        if unstaged < cycles {
            (cycles, plan) = (unstaged, without);
        } else {
            plan.loops[0].lookups[number].reason = reason(cycles, [(Choice::Unstaged, unstaged)]);
        }
    }
    (plan.loops[0].lookups.len() > 1).then_some(plan)
}

/// What becomes of a lookup on the hot path.
enum Cut {
    Unstaged,
    Joined(usize),
    Own,
}

/// Cuts the hot path greedily, for lookups that no stage of the plan makes already, from one of them on. Each is decided with
/// the best placement of its own prefetch, beside those decided before; the plan has none of them, for the pass `prefetch`
/// places all.
fn cut(scheduler: &Scheduler, mut plan: Plan, first: usize) -> Plan {
    let model = scheduler.model;
    let fixed = plan.loops.len();
    let staged_nodes = staged_nodes(model, &plan);
    for (node, name) in lookups(model, &plan).iter().filter(|(node, _)| !staged_nodes.contains(node)).skip(first) {
        let mut options: Vec<(Cut, Plan)> = vec![(Cut::Unstaged, plan.clone())];
        for number in plan.loops.len().saturating_sub(MOST_JOINED).max(fixed)..plan.loops.len() {
            let mut joined = plan.clone();
            joined.loops[number].lookups.push(lookup_in(name));
            options.push((Cut::Joined(number), joined));
        }
        let mut own = plan.clone();
        own.loops.push(stage(model, *node, name, &plan));
        if plan.loops.is_empty() {
            own = super::vector::candidate(scheduler, own);
        }
        options.push((Cut::Own, own));
        plan = minimum_cost(scheduler, options);
    }
    plan.loops[fixed..].iter_mut().for_each(|stage| stage.prefetches.clear());
    plan
}

/// The nodes whose lookups the plan's stages make.
fn staged_nodes(model: &Model, plan: &Plan) -> Vec<NodeId> {
    let Some(path) = model.path(plan) else { return Vec::new() };
    let stages = path.names.stages(plan);
    stages.iter().flat_map(|stage| &stage.looked_up).map(|place| path[*place]).collect()
}

/// One more stage, with the group size of the others.
fn stage(model: &Model, node: NodeId, table: &str, plan: &Plan) -> Loop {
    Loop {
        node: model.program.nodes[node].name.clone(),
        batch: plan.burst,
        group: plan.loops.first().map_or(plan.burst.min(LARGEST_GROUP), |first| first.group),
        vector: 1,
        lookups: vec![lookup_in(table)],
        prefetches: Vec::new(),
        reason: None,
    }
}

/// A staged lookup; the pass `prefetch` decides where its line is prefetched.
fn lookup_in(table: &str) -> StageLookup {
    StageLookup { table: table.to_string(), reason: None }
}

/// The option of minimum cost among the legal ones, each with its best prefetches.
fn minimum_cost(scheduler: &Scheduler, options: Vec<(Cut, Plan)>) -> Plan {
    let mut costs: Vec<(Choice, f64)> = Vec::new();
    let mut best: Option<(f64, Cut, Plan)> = None;
    for (cut, mut plan) in options {
        let is_plain = matches!(cut, Cut::Unstaged);
        let cycles = match &cut {
            Cut::Unstaged => scheduler.cycles(&plan),
            Cut::Joined(number) => super::prefetch::place_last(scheduler, &mut plan, *number),
            Cut::Own => {
                let number = plan.loops.len() - 1;
                super::prefetch::place_last(scheduler, &mut plan, number)
            }
        };
        let least = best.as_ref().map_or(f64::INFINITY, |(least, _, _)| *least);
        let is_better = cycles < least * if is_plain { 1.0 } else { 1.0 - WORTH };
        // Legality is checked last, since the verifier walks the whole graph.
        if !is_plain && (is_better || costs.len() < 2) && !scheduler.is_legal(&plan) {
            continue;
        }
        let choice = match &cut {
            Cut::Unstaged => Choice::Unstaged,
            Cut::Joined(number) => Choice::WithStage(plan.loops[*number].node.clone()),
            Cut::Own => Choice::Stage,
        };
        costs.push((choice, cycles));
        if is_better {
            best = Some((cycles, cut, plan));
        }
    }
    let (cycles, cut, mut plan) = best.expect("an unstaged lookup is always legal");
    let others = |choice: Choice| costs.iter().filter(move |(other, _)| *other != choice).cloned();
    match cut {
        Cut::Unstaged => {}
        Cut::Joined(number) => {
            let choice = Choice::WithStage(plan.loops[number].node.clone());
            if let Some(lookup) = plan.loops[number].lookups.last_mut() {
                lookup.reason = reason(cycles, others(choice));
            }
        }
        Cut::Own => {
            if let Some(stage) = plan.loops.last_mut() {
                stage.reason = reason(cycles, others(Choice::Stage));
            }
        }
    }
    plan
}
