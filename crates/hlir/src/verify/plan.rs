//! Checks of plans: names exist in the program, and structures suit their tables.
//!
//! Whether batching preserves behaviour is checked in `batching`.

use super::{PlanVerifier, Site, Verifier};
use crate::plan::{Access, AccessMode, Expectation, Loop, Placement, Prefetch, StageLookup, Structure, TablePlan};
use crate::{MatchKind, NodeId, Plan, Table, Type};
use std::collections::{HashMap, HashSet};

impl<'p> Verifier<'p> {
    pub(super) fn plan(&mut self, plan: &Plan, known: &PlanVerifier<'p>) {
        let nodes = &known.nodes;
        self.parts(plan, known);
        if !plan.queues.is_empty() {
            self.queues(plan, nodes);
        }
        let combines = plan.accesses.is_some_and(|mode| mode != AccessMode::Base);
        if combines && (plan.hot_path.is_none() || plan.loops.is_empty()) {
            let hint = "remove `accesses`, or add a `hot_path` with a `loop`";
            self.report(Site::Accesses, "no stage combines its accesses: the plan has none", hint);
        }
        match &plan.hot_path {
            Some(path) => self.path(plan, path, known),
            None => {
                self.own_lookups(plan);
                self.batching(plan, nodes);
            }
        }
        self.next_paths(plan);
    }

    /// Checks that hold for a part of a plan while others are still to be planned.
    pub(super) fn pins(&mut self, plan: &Plan) {
        let known = PlanVerifier::new(self.program);
        let nodes = &known.nodes;
        self.parts(plan, &known);
        for (index, queue) in plan.queues.iter().enumerate() {
            self.pinned_queue(Site::Queue(index as u32), queue, nodes);
        }
        if let Some(path) = &plan.hot_path {
            self.hot_path(path, nodes);
        }
        self.next_paths_by_themselves(plan);
    }

    /// Each part by itself, except for queues and the path.
    fn parts(&mut self, plan: &Plan, known: &PlanVerifier) {
        let starts = plan.loops.iter().enumerate().map(|(index, lp)| (&lp.node, Site::Loop(index as u32)));
        self.unique("loops", starts);
        let tables = plan.tables.iter().enumerate().map(|(index, it)| (&it.table, Site::TablePlan(index as u32)));
        self.unique("planned tables", tables);
        let queues = plan.queues.iter().enumerate().map(|(index, queue)| (&queue.node, Site::Queue(index as u32)));
        self.unique("queues", queues);
        for (index, lp) in plan.loops.iter().enumerate() {
            self.plan_loop(index as u32, lp, known);
        }
        for (index, table) in plan.tables.iter().enumerate() {
            self.structure(Site::TablePlan(index as u32), table, known);
        }
        self.shares(plan);
        self.join_choices(plan);
        for (index, expectation) in plan.expectations.iter().enumerate() {
            self.expectation(Site::Expectation(index as u32), expectation, known);
        }
    }

    pub(super) fn has_node(&mut self, site: Site, name: &str, nodes: &HashMap<&str, NodeId>) -> Option<NodeId> {
        let found = nodes.get(name).copied();
        if found.is_none() {
            self.error(site, format!("the program has no node `{name}`"));
        }
        found
    }

    fn plan_loop(&mut self, number: u32, lp: &Loop, known: &PlanVerifier) {
        let site = Site::Loop(number);
        self.has_node(site, &lp.node, &known.nodes);
        if lp.group < 1 || lp.group > lp.batch {
            let Loop { batch, group, .. } = lp;
            self.error(
                site,
                format!("a group of {group} packets in a batch of {batch}: it must be at least 1, at most the batch"),
            );
        }
        if lp.vector < 1 {
            self.error(site, "a loop has at least 1 packet per vector");
        }
        self.loop_lookups(number, lp, known);
        let mut seen = HashSet::new();
        for (index, request) in lp.prefetches.iter().enumerate() {
            let site = Site::Prefetch(number, index as u32);
            self.plan_request(site, lp, request, known);
            if !seen.insert(&request.access) {
                let accessed = match &request.access {
                    Access::Packet => "packets".to_string(),
                    Access::Table(table) => format!("`{table}`"),
                };
                let hint = "only one of the two prefetches would be issued: remove the other";
                self.report(site, format!("the loop at `{}` prefetches {accessed} twice", lp.node), hint);
            }
        }
    }

    fn loop_lookups(&mut self, number: u32, lp: &Loop, known: &PlanVerifier) {
        let mut seen = HashSet::new();
        for (index, StageLookup { table, .. }) in lp.lookups.iter().enumerate() {
            let site = Site::Lookup(number, index as u32);
            if !known.tables.contains_key(table.as_str()) {
                self.error(site, format!("the program has no table `{table}`"));
            } else if !seen.insert(table) {
                let message = format!("the loop at `{}` looks up `{table}` twice", lp.node);
                self.report(site, message, "one line stands for all lookups of a table: remove the other");
            }
        }
    }

    fn expectation(&mut self, site: Site, expectation: &Expectation, known: &PlanVerifier) {
        let (table, tenths) = match expectation {
            Expectation::Entries { table, least, most } => {
                if least > most {
                    self.error(site, format!("from {least} to {most} entries: expected the smaller number first"));
                }
                (Some(table), 0)
            }
            Expectation::Hits { table, tenths } => (Some(table), *tenths),
            Expectation::OnPath { tenths } => (None, *tenths),
            Expectation::Pages { .. } => (None, 0),
        };
        if let Some(table) = table.filter(|table| !known.tables.contains_key(table.as_str())) {
            self.error(site, format!("the program has no table `{table}`"));
        }
        if tenths > 1000 {
            self.error(site, format!("a share of {}.{} %: expected at most 100.0", tenths / 10, tenths % 10));
        }
    }

    /// Without a hot path there are no stages: a loop makes the lookup of its own node.
    fn own_lookups(&mut self, plan: &Plan) {
        for (number, lp) in plan.loops.iter().enumerate().filter(|(_, lp)| !lp.lookups.is_empty()) {
            let message = format!("without a hot path, the loop at `{}` makes only the lookup of its node", lp.node);
            let hint = "remove `lookup`, or write a `hot_path`";
            self.report(Site::Lookup(number as u32, 0), message, hint);
        }
    }

    fn plan_request(&mut self, site: Site, lp: &Loop, request: &Prefetch, known: &PlanVerifier) {
        match &request.access {
            Access::Packet => {}
            Access::Table(table) => {
                if !known.tables.contains_key(table.as_str()) {
                    self.error(site, format!("the program has no table `{table}`"));
                }
            }
        }
        if request.placement == Placement::OwnLoop && request.distance != lp.group {
            let message = format!("prefetches `in own_loop` are one group ahead, not {}", request.distance);
            let hint = "all of a group is requested before the first of it is used";
            self.report(site, message, &format!("{hint}: write `ahead {}`, or choose another group", lp.group));
        }
    }

    /// Kinds and widths of a table's keys.
    pub(super) fn key_widths(&self, table: &Table) -> Vec<(MatchKind, u32)> {
        let mut kinds = super::Kinds::new(self.program, &[]);
        let mut width = |value| match kinds.of(value) {
            Some(Type::Bits(width)) => width,
            Some(Type::Bool) | None => 0,
        };
        table.keys.iter().map(|key| (key.kind, width(&key.value))).collect()
    }

    fn structure(&mut self, site: Site, planned: &TablePlan, known: &PlanVerifier) {
        let Some(id) = known.tables.get(planned.table.as_str()).copied() else {
            return self.error(site, format!("the program has no table `{}`", planned.table));
        };
        let table = &self.program.tables[id];
        let keys = self.key_widths(table);
        let in_code =
            (planned.structure == Structure::Code).then(|| crate::constant_entries::refusal(self.program, id, &keys));
        let held = self.program.held_of(id, keys);
        if let Some(needs) = planned.structure.misses(&held).or(in_code.flatten().map(str::to_string)) {
            let word = crate::text::written_structure(planned.structure);
            self.report(site, format!("`{word}` does not suit table `{}`", table.name), &format!("it needs {needs}"));
        } else if table.add_on_miss && !planned.structure.has_room(table.size) {
            let word = crate::text::written_structure(planned.structure);
            let message =
                format!("packets may insert more entries into table `{}` than `{word}` has room for", table.name);
            self.report(site, message, "they would see that one is refused: declare a smaller `size`, or name another");
        }
    }
}
