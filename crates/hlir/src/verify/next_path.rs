//! Checks of a plan with several hot paths: each next path by itself, and that its packets may commit before others of
//! their group.

use super::{Site, Verifier};
use crate::effects::is_unordered;
use crate::plan::{Access, Loop, StagedPath};
use crate::{NodeId, Plan};
use std::collections::BTreeSet;

impl Verifier<'_> {
    pub(super) fn next_paths(&mut self, plan: &Plan) {
        self.next_paths_by_themselves(plan);
        if plan.next_paths.is_empty() {
            return;
        }
        let site = Site::NextPath(0);
        if plan.hot_path.is_none() || plan.loops.is_empty() {
            let hint = "write a `hot_path` with a `loop`";
            return self.report(site, "a next path without stages of a hot path before it", hint);
        }
        if !plan.queues.is_empty() {
            let hint = "remove the `queue`, or the `next_path`";
            self.report(site, "packets that leave the hot path wait in a queue, and take no other path", hint);
        }
        if let Some(node) = self.first_ordered() {
            let message = format!("packets of another path would overtake others at `{node}`, where order is seen");
            self.report(site, message, "remove the `next_path`: packets that leave the hot path keep their order");
        }
        let first = plan.loops[0].group;
        for (number, next) in plan.next_paths.iter().enumerate() {
            self.stages_of(Site::NextPath(number as u32), next, first);
        }
    }

    /// Each next path as if it were the only one.
    pub(super) fn next_paths_by_themselves(&mut self, plan: &Plan) {
        for number in 0..plan.next_paths.len() {
            let places = self.places.of_next_path(number);
            let of_path = super::verify_plan_at(self.program, &plan.of_next_path(number), &places);
            // What is wrong with the rest of the plan was reported with the first path.
            let known: BTreeSet<&str> = self.errors.iter().map(|error| error.message()).collect();
            let new: Vec<_> = of_path.into_iter().filter(|error| !known.contains(error.message())).collect();
            self.errors.extend(new);
        }
    }

    /// The stages of a next path run within the commit phase of the first one, for packets of one of its groups.
    fn stages_of(&mut self, site: Site, next: &StagedPath, group: u32) {
        if next.loops.is_empty() {
            return self.report(site, "the path has no stage", "write a `loop` in braces behind it");
        }
        let other = |lp: &&Loop| lp.group != group;
        if let Some(lp) = next.loops.iter().find(other) {
            let message = format!("groups of {} packets at `{}`, and of {group} on the hot path", lp.group, lp.node);
            self.report(site, message, &format!("write `group {group}`: a path takes what leaves a group"));
        }
        let prefetches = || next.loops.iter().flat_map(|lp| &lp.prefetches);
        if prefetches().any(|prefetch| prefetch.access == Access::Packet) {
            self.report(site, "packets of a next path were read before", "remove `prefetch packet`");
        }
        if prefetches().any(|prefetch| prefetch.placement.is_pipelined()) {
            self.report(site, "prefetches of a next path cannot be interleaved", "write `in own_loop`");
        }
    }

    /// The first node at which the order of packets can be observed.
    fn first_ordered(&self) -> Option<&str> {
        let mut left: Vec<NodeId> = self.program.entry.into_iter().collect();
        let mut seen: BTreeSet<NodeId> = left.iter().copied().collect();
        let mut ordered: Vec<NodeId> = Vec::new();
        while let Some(node) = left.pop() {
            if !is_unordered(self.program, node) {
                ordered.push(node);
            }
            left.extend(super::onward(self.program, node).into_iter().filter(|next| seen.insert(*next)));
        }
        ordered.into_iter().min().map(|node| self.program.nodes[node].name.as_str())
    }
}
