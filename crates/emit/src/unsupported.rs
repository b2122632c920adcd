//! Decisions of plans that this emitter does not implement: rejected by name and position, with an
//! alternative.
//!
//! Otherwise users would measure a program that does not follow their plan. Two things are ignored: a batch
//! that is smaller than the burst, since all of a burst goes through a stage, and a second prefetch of the
//! same table in one loop.

use crate::path::Scheduled;
use crate::unit::Unit;
use hlir::diagnostic::Diagnostic;
use hlir::hot_path;
use hlir::plan::{Access, Loop, Placement, Prefetch};
use hlir::resolved::ResolvedPath;
use hlir::verify::{Places, Site};
use hlir::{NodeId, Plan};
use schedule::Obstacle;

/// Largest burst of ports (`runtime/port/memory.h`, `runtime/port/dpdk.h`).
const LARGEST_BURST: u32 = 512;

/// All unsupported decisions, in the order in which plans are printed.
pub fn of(unit: &Unit, plan: &Plan, places: &Places) -> Vec<Diagnostic> {
    let mut refused = Refused { unit, plan, places, found: Vec::new() };
    refused.burst();
    refused.path();
    refused.parts();
    let mut found = refused.found;
    if plan.next_paths.is_empty() || !found.is_empty() {
        return found;
    }
    let entry = unit.facts.order[0];
    let next: Vec<Plan> = (0..plan.next_paths.len()).map(|number| plan.of_next_path(number)).collect();
    let units: Vec<Unit> = next.iter().map(|plan| Unit::new(unit.program, plan, entry)).collect();
    let own: Vec<Places> = (0..next.len()).map(|number| places.of_next_path(number)).collect();
    let next = || units.iter().zip(&next).zip(&own);
    for ((unit, plan), places) in next() {
        let mut refused = Refused { unit, plan, places, found: Vec::new() };
        refused.path();
        found.extend(refused.found);
    }
    if !found.is_empty() {
        return found;
    }
    let units_of_paths = || std::iter::once(unit).chain(units.iter());
    let has_vectors = |unit: &&Unit| unit.plan.path.as_ref().is_some_and(|path| path.vector > 1);
    let vectorised = units_of_paths().find(has_vectors).unwrap_or(unit);
    for ((unit_of, plan), places) in std::iter::once(((unit, plan), places)).chain(next()) {
        let mut refused = Refused { unit: unit_of, plan, places, found: Vec::new() };
        refused.commits_as_sets();
        refused.same_vectors(vectorised);
        found.extend(refused.found);
    }
    found
}

struct Refused<'u> {
    unit: &'u Unit<'u>,
    plan: &'u Plan,
    places: &'u Places,
    found: Vec<Diagnostic>,
}

impl Refused<'_> {
    fn report(&mut self, site: Site, message: impl AsRef<str>, hint: &str) {
        let error = Diagnostic::error(format!("the plan: {}", message.as_ref()));
        let span = self.places.get(site);
        let error = if span.is_none() { error } else { error.label(span, "") };
        self.found.push(if hint.is_empty() { error } else { error.hint(hint) });
    }

    fn burst(&mut self) {
        let burst = self.unit.plan.burst;
        if burst > LARGEST_BURST {
            let hint = if self.places.has(Site::Burst) {
                format!("write at most `burst {LARGEST_BURST}`")
            } else {
                format!("write at most `batch {LARGEST_BURST}`, or a `burst`: without one, the batch is the burst")
            };
            self.report(Site::Burst, format!("no port delivers {burst} packets at once"), &hint);
        }
    }

    fn path(&mut self) {
        self.stages();
        for (number, lp) in self.plan.loops.iter().enumerate() {
            self.packet_loop(number as u32, lp);
        }
    }

    /// Where there are several paths, the packets of each commit as a set.
    fn commits_as_sets(&mut self) {
        let Ok(scheduled) = Scheduled::of(self.unit, &self.unit.plan) else { return };
        let hint = "remove the `next_path`, or choose another path";
        if let Err(Obstacle { node, does }) = &scheduled.schedule.commit {
            let name = &self.unit.node(*node).name;
            let message = format!("with a `next_path`, packets of each path commit as a set, but `{name}` {does}");
            self.report(Site::HotPath, message, hint);
        } else if scheduled.may_exit() {
            let message = "with a `next_path`, packets of each path commit as a set, but some may leave it there";
            self.report(Site::HotPath, message, hint);
        }
    }

    /// All vectors of a pipeline have as many packets.
    fn same_vectors(&mut self, first: &Unit) {
        let vector = |unit: &Unit| unit.plan.path.as_ref().map_or(1, |path| path.vector);
        let [own, other] = [self.unit, first].map(vector);
        if own > 1 && other > 1 && own != other {
            let message = format!("vectors of {own} packets on one path, and of {other} on another");
            self.report(Site::HotPath, message, &format!("write `vector {other}`, or remove it"));
        }
    }

    /// Each stage of the hot path must have a schedule.
    fn stages(&mut self) {
        if self.unit.plan.path.is_none() {
            return;
        }
        let Err(Obstacle { node, does }) = Scheduled::of(self.unit, &self.unit.plan) else { return };
        let message = format!("the stages of the hot path cannot be scheduled: `{}` {does}", self.unit.node(node).name);
        self.report(Site::HotPath, message, "let the stages end before that node, or remove the `hot_path`");
    }

    fn packet_loop(&mut self, number: u32, lp: &Loop) {
        let site = Site::Loop(number);
        if !self.is_reached(&lp.node) {
            return self.report(site, format!("a loop at `{}`, which no packet reaches", lp.node), "");
        }
        if lp.vector > 1 {
            self.lanes(site, lp);
        }
        for (index, request) in lp.prefetches.iter().enumerate() {
            self.request(Site::Prefetch(number, index as u32), lp, request);
        }
    }

    /// Only the first stage of the hot path can be vector code, if all of it can.
    fn lanes(&mut self, site: Site, lp: &Loop) {
        if ![8, 16].contains(&lp.vector) {
            let message = format!("vectors of {} packets are not supported", lp.vector);
            return self.report(site, message, "write `vector 8` or `vector 16`, or remove it");
        }
        if lp.vector > lp.group {
            let message = format!("a group of {} packets is smaller than a vector of {}", lp.group, lp.vector);
            return self.report(site, message, "write a larger group, or a smaller vector");
        }
        if self.unit.plan.path.as_ref().is_none_or(|path| self.first_node(path) != lp.node) {
            let hint = "remove `vector`, or write it at the first loop on the hot path";
            return self.report(site, format!("nothing before `{}` can be vector code", lp.node), hint);
        }
        if self.unit.plan.instrument.edges {
            return self.report(site, "vector code does not count keys", "remove `vector` or `edges`");
        }
        if let Ok(Scheduled { lanes: Some(Err(does)), .. }) = Scheduled::of(self.unit, &self.unit.plan) {
            let message = format!("the stage before `{}` has no vector form: it {does}", lp.node);
            self.report(site, message, "remove `vector`: the stage then runs packet by packet");
        }
    }

    /// The node at which the first stage ends.
    fn first_node(&self, path: &ResolvedPath) -> &str {
        &self.unit.node(path.nodes[path.stages[0].place]).name
    }

    fn request(&mut self, site: Site, lp: &Loop, request: &Prefetch) {
        match &request.access {
            Access::Table(table) => self.table_request(site, lp, table, request.placement),
            Access::Packet => self.packet_request(site, lp, request.placement),
        }
    }

    fn table_request(&mut self, site: Site, lp: &Loop, table: &str, placement: Placement) {
        if self.plan.hot_path.is_some() {
            return;
        }
        let own = self.node(&lp.node).and_then(|node| hot_path::table_of(self.unit.program, node));
        if own.is_none_or(|own| self.unit.program.tables[own].name != table) {
            let hint = "without a hot path, a loop prefetches lines of its own node's table";
            self.report(site, format!("`{}` does not look up `{table}`", lp.node), hint);
        } else if placement.is_pipelined() {
            let hint = "write `in own_loop`, or give the plan a `hot_path`";
            self.report(site, "without a hot path, prefetches cannot be interleaved", hint);
        }
    }

    /// Packets are prefetched before anything reads them: at the beginning of the path, or before a loop
    /// whose node has no lookup.
    fn packet_request(&mut self, site: Site, lp: &Loop, placement: Placement) {
        if placement.is_pipelined() {
            let hint = "write `in own_loop`";
            return self.report(site, "prefetches of packets cannot be interleaved", hint);
        }
        let node = self.node(&lp.node);
        match self.unit.plan.path.as_ref().map(|path| self.first_node(path)) {
            Some(first) if first != lp.node => {
                let hint = format!("prefetch them in the first loop, at `{first}`");
                self.report(site, format!("the loop at `{}` is too late to prefetch packets", lp.node), &hint);
            }
            None if node.is_some_and(|node| hot_path::table_of(self.unit.program, node).is_some()) => {
                let hint = "prefetch them in a loop that begins at a node without a lookup";
                self.report(site, format!("the loop at `{}` has a lookup and cannot prefetch packets", lp.node), hint);
            }
            Some(_) | None => {}
        }
    }

    fn parts(&mut self) {
        for (number, queue) in self.plan.queues.iter().enumerate() {
            let site = Site::Queue(number as u32);
            if !self.is_reached(&queue.node) {
                self.report(site, format!("a queue at `{}`, which no packet reaches", queue.node), "");
            } else if self.unit.plan.path.is_none() {
                self.report(site, "a queue without stages of a hot path is not supported", "");
            }
        }
    }

    fn node(&self, name: &str) -> Option<NodeId> {
        self.unit.facts.order.iter().copied().find(|node| self.unit.node(*node).name == name)
    }

    fn is_reached(&self, name: &str) -> bool {
        self.node(name).is_some()
    }
}
