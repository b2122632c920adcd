//! How the packets at a lookup divide over its actions.
//!
//! Counted misses of a profile come first, then heuristics. A joint table is made of its sources: it is hit where both
//! are, and runs a hidden action as often as these run its two halves together. What a profile has counted at the
//! sources' nodes gives how often that is.

use super::branch_probabilities::{DROPS, Estimator, LookupOutcomes, MISSES, MISSES_LEARNED, MISSES_RULES, Outflow};
use super::facts::Facts;
use super::flow::Mass;
use crate::inputs::hints::{self, Hint};
use crate::inputs::occupancy::learns;
use hlir::join::node_of;
use hlir::table::action_bit;
use hlir::{Join, MatchKind, Next, NodeId, NodeKind, Program, Scope, Table, TableId};

/// A table's packets: by action the share that hits entries with it, and the share that misses.
struct Runs {
    hits: Vec<f64>,
    miss: f64,
}

/// Where the node of a lookup leads.
#[derive(Clone, Copy)]
struct Lookup<'p> {
    node: NodeId,
    table: TableId,
    next: &'p Next,
    exit: Option<NodeId>,
}

impl<'p> Lookup<'p> {
    fn at(program: &'p Program, node: NodeId) -> Option<Lookup<'p>> {
        let NodeKind::Apply { table, next, exit } = &program.nodes[node].kind else { return None };
        Some(Lookup { node, table: *table, next, exit: *exit })
    }

    /// Where packets go on that run this action for a hit, or for a miss.
    fn onward(&self, action: usize, is_hit: bool) -> NodeId {
        match self.next {
            Next::Hit { miss, .. } if !is_hit => *miss,
            Next::Always(_) | Next::Hit { .. } | Next::Actions { .. } => hlir::join::target(self.next, action as u32),
        }
    }
}

impl Runs {
    /// With misses counted at the default action.
    fn outcomes(&self, default: usize) -> LookupOutcomes {
        let mut actions = self.hits.clone();
        if let Some(share) = actions.get_mut(default) {
            *share += self.miss;
        }
        LookupOutcomes { hit: 1.0 - self.miss, actions }
    }
}

impl Estimator<'_, '_> {
    /// The outflows of a node that is a lookup; fills `outcomes`.
    pub(super) fn lookup(&self, node: NodeId, mass: &Mass, outcomes: &mut LookupOutcomes) -> Vec<Outflow> {
        let Some(lookup) = Lookup::at(self.program, node) else { return Vec::new() };
        let runs = self.runs(lookup, &mass.facts);
        *outcomes = runs.outcomes(self.default_of(lookup.table));
        self.ran(lookup, &runs, mass).into_iter().map(|(_, outflow)| outflow).collect()
    }

    fn default_of(&self, table: TableId) -> usize {
        self.inputs.occupancy.default_action(&self.program.tables[table])
    }

    /// The estimate, or what it becomes if as many packets go on along each edge as a profile has counted.
    fn runs(&self, lookup: Lookup, facts: &Facts) -> Runs {
        let runs = self.estimated(lookup, facts);
        if self.inputs.profile.is_none() {
            return runs;
        }
        let whole = Mass { share: 1.0, facts: facts.clone() };
        let (ran, mut outflows): (Vec<Option<usize>>, Vec<Outflow>) =
            self.ran(lookup, &runs, &whole).into_iter().unzip();
        self.apply_profile(&self.program.nodes[lookup.node], 1.0, &mut outflows);
        let mut counted = Runs { hits: vec![0.0; runs.hits.len()], miss: 0.0 };
        for (action, outflow) in ran.into_iter().zip(&outflows) {
            *action.map_or(&mut counted.miss, |action| &mut counted.hits[action]) += outflow.mass.share;
        }
        counted
    }

    /// Where the packets of each run go on: by hit action, `None` for misses.
    fn ran(&self, lookup: Lookup, runs: &Runs, mass: &Mass) -> Vec<(Option<usize>, Outflow)> {
        let table = &self.program.tables[lookup.table];
        let default = self.default_of(lookup.table);
        let hits = runs.hits.iter().enumerate().map(|(action, share)| (Some(action), *share));
        let mut all = Vec::new();
        for (run, share) in hits.chain([(None, runs.miss)]) {
            let action = run.unwrap_or(default);
            if share <= 0.0 || action >= table.actions.len() {
                continue;
            }
            let part = Mass { share: mass.share * share, facts: mass.facts.clone() };
            let onward = lookup.onward(action, run.is_some());
            let outflows = self.block(&table.actions[action].body, onward, lookup.exit, part);
            all.extend(outflows.into_iter().map(|outflow| (run, outflow)));
        }
        all
    }

    fn estimated(&self, lookup: Lookup, facts: &Facts) -> Runs {
        if let Some(join) = self.program.join_of(lookup.table) {
            return self.joint(join, facts);
        }
        let table = &self.program.tables[lookup.table];
        let content = self.inputs.occupancy.of(table);
        let drops = |action: usize, is_hit: bool| {
            let onward = lookup.onward(action, is_hit);
            self.drops.body_drops(&table.actions[action].body, onward, lookup.exit)
        };
        let default = self.default_of(lookup.table);
        let miss = self.miss_share(lookup.table, drops(default, false));
        let weight = |action: usize| match table.actions[action].scope {
            Scope::DefaultOnly => 0.0,
            Scope::Everywhere | Scope::TableOnly
                if content.actions != 0 && content.actions & action_bit(action) == 0 =>
            {
                0.0
            }
            // An action that may be in entries but is also the default is rare in entries.
            Scope::Everywhere | Scope::TableOnly if action == default && table.actions.len() > 1 => DROPS,
            Scope::Everywhere | Scope::TableOnly if drops(action, true) => DROPS,
            Scope::Everywhere | Scope::TableOnly => 1.0,
        };
        let mut hits: Vec<f64> = (0..table.actions.len()).map(weight).collect();
        let notes: Vec<Option<Hint>> = table.actions.iter().map(|action| hints::of(&action.notes)).collect();
        hints::distribute(&mut hits, &notes, 1.0 - miss);
        Runs { hits, miss }
    }

    /// What a joint table's packets do at its sources: what hits neither an action of `firsts` nor one of `seconds`, or
    /// the default action in their place, takes the slow path.
    fn joint(&self, join: &Join, facts: &Facts) -> Runs {
        let mut hits = vec![0.0; self.program.tables[join.table].actions.len()];
        if join.place.is_some() {
            return self.placed(join, facts);
        }
        let of_source = |table: TableId| {
            let lookup = node_of(self.program, table).and_then(|node| Lookup::at(self.program, node));
            lookup.map(|lookup| self.runs(lookup, facts))
        };
        if let Some((first, second)) = of_source(join.first).zip(of_source(join.second)) {
            let default = self.default_of(join.second) as u32;
            for (at, one) in join.firsts.iter().enumerate() {
                let share = first.hits[one.action as usize];
                for (other, action) in join.seconds.iter().enumerate() {
                    hits[join.action(at, other) as usize] = share * second.hits[*action as usize];
                }
                if let Some(missed) = join.missed.iter().position(|action| *action == default) {
                    hits[join.missed_action(at, missed) as usize] = share * second.miss;
                }
            }
        }
        let miss = (1.0 - hits.iter().sum::<f64>()).max(0.0);
        Runs { hits, miss }
    }

    /// What packets do at the table of a value join: as at the second table, but for misses whose default action has no
    /// part in it.
    fn placed(&self, join: &Join, facts: &Facts) -> Runs {
        let mut hits = vec![0.0; self.program.tables[join.table].actions.len()];
        let second = node_of(self.program, join.second).and_then(|node| Lookup::at(self.program, node));
        if let Some(second) = second.map(|lookup| self.runs(lookup, facts)) {
            for (at, action) in join.seconds.iter().enumerate() {
                hits[Join::placed_action(at) as usize] = second.hits[*action as usize];
            }
            let default = self.default_of(join.second) as u32;
            if let Some(missed) = join.missed.iter().position(|action| *action == default) {
                hits[join.placed_miss(missed) as usize] = second.miss;
            }
        }
        let miss = (1.0 - hits.iter().sum::<f64>()).max(0.0);
        Runs { hits, miss }
    }

    /// Misses of a table: what a profile has counted, else a heuristic.
    fn miss_share(&self, id: TableId, default_drops: bool) -> f64 {
        let table = &self.program.tables[id];
        if self.inputs.occupancy.of(table).is_known_to_miss() || table.keys.is_empty() {
            return 1.0;
        }
        let counted = self.inputs.profile.as_ref().and_then(|profile| profile.miss_share(&table.name));
        counted.unwrap_or_else(|| {
            let hits = 1.0 - expected_misses(table, default_drops);
            1.0 - hints::of(&table.notes).map_or(hits, |hint| hint.share(hits))
        })
    }
}

fn expected_misses(table: &Table, default_drops: bool) -> f64 {
    let rules = table.keys.iter().any(|key| !matches!(key.kind, MatchKind::Exact | MatchKind::Lpm));
    match (learns(table), default_drops, rules) {
        (true, _, _) => MISSES_LEARNED,
        (false, true, _) => DROPS,
        (false, false, true) => MISSES_RULES,
        (false, false, false) => MISSES,
    }
}
