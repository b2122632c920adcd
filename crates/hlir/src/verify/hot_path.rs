//! Checks of a plan's hot path: that it is a path of the program, and that its speculative lookups find what
//! lookups at commit would find.

use super::known_path::KnownPath;
use super::{PlanVerifier, Site, Verifier};
use crate::hot_path;
use crate::plan::{Access, HotPath, Loop, Placement, Prefetch, StageLookup};
use crate::text::written_placement;
use crate::{Action, NodeId, NodeKind, Plan, Scope};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Packets per group: the verdicts of a group are bits of one word.
const LARGEST_GROUP: u32 = 64;

impl<'p> Verifier<'p> {
    pub(super) fn path(&mut self, plan: &Plan, path: &HotPath, verifier: &PlanVerifier<'p>) {
        let before = self.errors.len();
        let known = verifier.known(path).or_else(|| {
            let nodes = self.hot_path(path, &verifier.nodes)?;
            Some(Rc::new(KnownPath::new(self.program, nodes)))
        });
        let Some(known) = known else { return };
        if self.errors.len() == before {
            verifier.remember(path, known.clone());
        }
        self.path_loops(plan, &known, &verifier.nodes);
        self.looked_up_ahead(plan, &known);
    }

    /// The path's nodes, if the program has all of them. Checks that they form a path, and that expected
    /// actions are possible.
    pub(super) fn hot_path(&mut self, path: &HotPath, named: &HashMap<&str, NodeId>) -> Option<Vec<NodeId>> {
        let found: Vec<Option<NodeId>> =
            path.nodes.iter().map(|name| self.has_node(Site::HotPath, name, named)).collect();
        let nodes = found.into_iter().collect::<Option<Vec<NodeId>>>()?;
        let name = |node: NodeId| format!("`{}`", self.program.nodes[node].name);
        let mut wrong = Vec::new();
        if nodes.first().copied() != self.program.entry {
            wrong.push("the hot path does not begin at the entry".to_string());
        }
        let mut seen = HashSet::new();
        wrong.extend(
            nodes
                .iter()
                .filter(|node| !seen.insert(**node))
                .map(|node| format!("the hot path visits {} twice", name(*node))),
        );
        for pair in nodes.windows(2) {
            if !super::onward(self.program, pair[0]).contains(&pair[1]) {
                wrong.push(format!("no edge leads from {} to {}", name(pair[0]), name(pair[1])));
            }
        }
        wrong.into_iter().for_each(|message| self.error(Site::HotPath, message));
        self.path_actions(path, &nodes);
        Some(nodes)
    }

    /// Expected actions must be actions of the tables looked up there, named by entries directly.
    fn path_actions(&mut self, path: &HotPath, nodes: &[NodeId]) {
        for (place, action) in &*path.actions {
            let node = &self.program.nodes[nodes[*place]].name;
            let Some(table) = hot_path::table_of(self.program, nodes[*place]) else {
                self.error(
                    Site::HotPath,
                    format!("`{node}` looks up no table with keys, whose entries could run `{action}`"),
                );
                continue;
            };
            let table = &self.program.tables[table];
            if table.profile.is_some() {
                let message =
                    format!("the action of `{}` comes from members of an action profile, not from entries", table.name);
                self.error(Site::HotPath, message);
                continue;
            }
            let may_run = |known: &&Action| known.scope != Scope::DefaultOnly;
            let known: Vec<&Action> = table.actions.iter().filter(may_run).collect();
            if known.iter().all(|known| known.name != *action) {
                let known: Vec<String> = known.iter().map(|known| format!("`{}`", known.name)).collect();
                let hint = format!("they can run {}", known.join(", "));
                self.report(Site::HotPath, format!("no entry of table `{}` can run `{action}`", table.name), &hint);
            }
        }
    }

    fn path_loops(&mut self, plan: &Plan, known: &KnownPath, named: &HashMap<&str, NodeId>) {
        for (index, lp) in plan.loops.iter().enumerate() {
            let site = Site::Loop(index as u32);
            let place = known.names.place(&lp.node);
            if let Some(queue) = plan.queues.iter().find(|queue| queue.node == lp.node) {
                // A queue cannot be on the path, whatever its loop is.
                if place.is_none() {
                    self.queue_loop(index as u32, lp, queue, named);
                }
                continue;
            }
            let Some(place) = place else {
                self.report_of_path(
                    site,
                    plan.hot_path.as_ref(),
                    format!("`{}` is not on the hot path", lp.node),
                    "with a hot path, loops begin at its nodes",
                );
                continue;
            };
            self.group_size(site, lp);
            self.stage_tables(plan, known, (index as u32, place));
        }
    }

    /// A stage looks up tables that are on the path from its node on, and prefetches lines of these.
    fn stage_tables(&mut self, plan: &Plan, known: &KnownPath, (number, place): (u32, usize)) {
        let lp = &plan.loops[number as usize];
        for (line, StageLookup { table, .. }) in lp.lookups.iter().enumerate() {
            if known.names.lookups(table).last().is_none_or(|last| *last < place) {
                let message = format!("table `{table}` is not looked up on the hot path from `{}` on", lp.node);
                self.report_of_path(Site::Lookup(number, line as u32), plan.hot_path.as_ref(), message, "");
            }
        }
        let named: HashSet<&str> = lp.lookups.iter().map(|lookup| lookup.table.as_str()).collect();
        for (line, request) in lp.prefetches.iter().enumerate() {
            let Access::Table(table) = &request.access else { continue };
            if !known.names.lookups(table).contains(&place) && !named.contains(table.as_str()) {
                let message =
                    format!("the loop at `{}` prefetches lines of `{table}`, which it does not look up", lp.node);
                let hint =
                    format!("write `lookup {}` in it as well, or remove the prefetch", crate::text::written(table));
                self.report(Site::Prefetch(number, line as u32), message, &hint);
            }
        }
    }

    /// Stages hand groups to each other, so all have one group size.
    fn same_group(&mut self, plan: &Plan, stages: &[hot_path::Stage]) {
        let Some(first) = stages.first().map(|stage| &plan.loops[stage.number]) else { return };
        for stage in stages {
            let lp = &plan.loops[stage.number];
            if lp.group != first.group {
                let message = format!(
                    "groups of {} packets at `{}`, and of {} at `{}`: a group goes through all stages of the hot path",
                    lp.group, lp.node, first.group, first.node
                );
                let hint = format!("write `group {}` here, or `group {}` there", first.group, lp.group);
                self.report(Site::Loop(stage.number as u32), message, &hint);
            }
        }
    }

    pub(super) fn group_size(&mut self, site: Site, lp: &Loop) {
        if lp.group > LARGEST_GROUP {
            let message = format!("a group has at most {LARGEST_GROUP} packets, not {}", lp.group);
            self.report(site, message, &format!("write at most `group {LARGEST_GROUP}`"));
        }
    }

    fn looked_up_ahead(&mut self, plan: &Plan, known: &KnownPath) {
        let stages = known.names.stages(plan);
        self.same_group(plan, &stages);
        let mut taken = HashSet::new();
        for stage in &stages {
            let site = Site::Loop(stage.number as u32);
            for &place in &stage.looked_up {
                taken.insert(place);
                self.look_up(site, plan.hot_path.as_ref(), known, (stage.place, place));
            }
        }
        self.pipelined(plan, &known.nodes, &stages);
        self.looked_up_once(plan, &stages);
        let last = stages.last().map_or(0, |stage| stage.place);
        // Lookups before the last stage are made speculatively as well.
        for place in (0..last).filter(|place| !taken.contains(place)) {
            self.look_up(Site::HotPath, plan.hot_path.as_ref(), known, (place, place));
        }
    }

    /// Pipelined prefetches belong to the first stage, whose keys are kept until commit, with the results of
    /// earlier lookups. A group's member is chosen again at commit, and its members may have changed by then.
    fn pipelined(&mut self, plan: &Plan, nodes: &[NodeId], stages: &[hot_path::Stage]) {
        for (number, stage) in stages.iter().enumerate() {
            let requests = &plan.loops[stage.number].prefetches;
            let Some(first) = requests.iter().position(|request| request.placement.is_pipelined()) else { continue };
            let site = |request: usize| Site::Prefetch(stage.number as u32, request as u32);
            self.all_pipelined(requests, requests[first].placement, site);
            if number > 0 {
                let hint = "prefetches of later lookups are `in own_loop`";
                self.report_of_path(
                    site(first),
                    plan.hot_path.as_ref(),
                    "only prefetches of the first loop can be one burst ahead",
                    hint,
                );
                continue;
            }
            let speculative = hot_path::speculative(self.program, nodes, stages);
            let inserting = speculative.into_iter().find(|place| hot_path::may_be_stale(self.program, nodes[*place]));
            if let Some(place) = inserting {
                let node = &self.program.nodes[nodes[place]].name;
                let message = format!("packets cannot be pipelined: others insert entries into the table of `{node}`");
                let hint = "write `in own_loop`";
                self.report_of_path(site(first), plan.hot_path.as_ref(), message, hint);
            }
            let selecting = nodes[..stage.place].iter().find(|node| self.selects(**node));
            if let Some(node) = selecting {
                let node = &self.program.nodes[*node].name;
                let message = format!("packets cannot be pipelined after `{node}`, which selects from a group");
                let hint = "write `in own_loop`, or begin the first loop there";
                self.report_of_path(site(first), plan.hot_path.as_ref(), message, hint);
            }
            for (at, request) in requests.iter().enumerate() {
                if request.placement.is_pipelined() && request.distance != 1 {
                    let message = format!("pipelined prefetches are one burst ahead, not {}", request.distance);
                    self.error(site(at), message);
                }
            }
        }
    }

    fn selects(&self, node: NodeId) -> bool {
        let NodeKind::Apply { table, .. } = &self.program.nodes[node].kind else { return false };
        self.program.selector(*table).is_some()
    }

    /// A stage makes all lookups in a table that it names: a later one neither names it nor prefetches its lines.
    fn looked_up_once(&mut self, plan: &Plan, stages: &[hot_path::Stage]) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for stage in stages {
            let lp = &plan.loops[stage.number];
            let number = stage.number as u32;
            for (line, StageLookup { table, .. }) in lp.lookups.iter().enumerate() {
                if let Some(earlier) = first.get(table.as_str()) {
                    let earlier = &plan.loops[*earlier].node;
                    let message = format!("`{table}` is looked up at `{}`, and earlier at `{earlier}`", lp.node);
                    let hint = format!("the lookup is made at `{earlier}`: remove one of the two lines");
                    self.report(Site::Lookup(number, line as u32), message, &hint);
                }
            }
            for (line, request) in lp.prefetches.iter().enumerate() {
                let Access::Table(table) = &request.access else { continue };
                if let Some(earlier) = first.get(table.as_str()) {
                    let earlier = &plan.loops[*earlier].node;
                    let message = format!(
                        "lines of `{table}` are prefetched at `{}`, but looked up earlier, at `{earlier}`",
                        lp.node
                    );
                    let hint = format!("prefetch them at `{earlier}`, or begin its lookup here");
                    self.report(Site::Prefetch(number, line as u32), message, &hint);
                }
            }
            for StageLookup { table, .. } in &lp.lookups {
                first.entry(table).or_insert(stage.number);
            }
        }
    }

    /// If a group is pipelined, all prefetches of its stage are.
    fn all_pipelined(&mut self, requests: &[Prefetch], pipelined: Placement, site: impl Fn(usize) -> Site) {
        for (number, request) in requests.iter().enumerate() {
            let Access::Table(table) = &request.access else { continue };
            if request.placement == Placement::OwnLoop {
                let pipelined = written_placement(pipelined);
                let message =
                    format!("lines of `{table}` are prefetched `in own_loop`, others `interleaved {pipelined}`");
                let hint = "either all prefetches of a stage are interleaved, or none";
                self.report(site(number), message, hint);
            }
        }
    }

    /// Whether the lookup at a position of the path can be made while the packet is at an earlier one.
    fn look_up(&mut self, site: Site, path: Option<&HotPath>, known: &KnownPath, (from, place): (usize, usize)) {
        // A side exit in between does not matter: such a packet looks up by itself.
        let Some(writer) = known.writers[place].filter(|last| *last >= from) else { return };
        let [name, writer] = [place, writer].map(|at| &self.program.nodes[known.nodes[at]].name);
        self.report_of_path(
            site,
            path,
            format!("the lookup at `{name}` cannot be made this early: `{writer}` may write its key"),
            &format!("begin a loop at `{name}`"),
        );
    }
}
