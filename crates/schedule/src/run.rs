//! Symbolic execution of a hot path, for a packet that stays on it.

use crate::exits::ExitState;
use crate::known::Known;
use crate::state::State;
use crate::value::Value;
use crate::values::Values;
use crate::{Effect, LateLookup, Lookup, Obstacle, Schedule, SideExit, Stage};
use hlir::effects::never_speculable;
use hlir::hot_path::table_of;
use hlir::plan::AccessMode;
use hlir::resolved::{ResolvedPath, ResolvedPlan, ResolvedStage, StagedLookup};
use hlir::statement::Label;
use hlir::{HeaderId, NodeId, NodeKind, ParserId, Program, TableId};
use std::collections::{BTreeMap, BTreeSet};

pub type Result<T> = std::result::Result<T, &'static str>;

/// Packets that go on at a node; none: they must run as in the plain program.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub when: Value,
    pub to: Option<NodeId>,
    /// Their state, if others have different headers.
    pub state: Option<State>,
}

impl Outcome {
    pub fn new(when: Value, to: Option<NodeId>) -> Outcome {
        Outcome { when, to, state: None }
    }
}

impl Schedule {
    pub fn of(program: &Program, path: &ResolvedPath) -> std::result::Result<Schedule, Obstacle> {
        Run::new(program, path).path(None)
    }

    /// The schedule of a path with one stage, up to a position, that makes the lookups at these positions.
    pub fn of_first(
        program: &Program,
        nodes: &[NodeId],
        actions: &BTreeMap<usize, usize>,
        place: usize,
        looked_up: &[usize],
    ) -> std::result::Result<Schedule, Obstacle> {
        Schedule::of(program, &first_stage(program, nodes, actions, place, looked_up))
    }

    /// The same stage without the commit phase behind it, which may be the longest part of a schedule by far.
    pub fn of_first_alone(
        program: &Program,
        nodes: &[NodeId],
        place: usize,
        looked_up: &[usize],
    ) -> std::result::Result<Schedule, Obstacle> {
        let path = first_stage(program, nodes, &BTreeMap::new(), place, looked_up);
        Run::new(program, &path).path(Some("is not scheduled"))
    }

    /// The schedule of a plan's hot path; none without one.
    pub fn of_plan(program: &Program, plan: &ResolvedPlan) -> Option<std::result::Result<Schedule, Obstacle>> {
        let path = plan.path.as_ref()?;
        let beside = match () {
            () if !plan.queues.is_empty() => Some("leads to a queue"),
            () if !program.externs.is_empty() => Some("leads to user externs"),
            () if plan.instrument.edges => Some("counts edges"),
            () => None,
        };
        Some(Run::new(program, path).path(beside))
    }
}

/// A path with one stage, up to a position.
fn first_stage(
    program: &Program,
    nodes: &[NodeId],
    actions: &BTreeMap<usize, usize>,
    place: usize,
    looked_up: &[usize],
) -> ResolvedPath {
    let staged = looked_up.iter().filter_map(|place| {
        let table = table_of(program, nodes[*place])?;
        Some(StagedLookup { place: *place, table, prefetch: None })
    });
    let stage = ResolvedStage { place, lookups: staged.collect() };
    path_of(nodes, actions.clone(), vec![stage])
}

/// A path with these stages. How its code is laid out does not matter.
fn path_of(nodes: &[NodeId], actions: BTreeMap<usize, usize>, stages: Vec<ResolvedStage>) -> ResolvedPath {
    ResolvedPath {
        nodes: nodes.to_vec(),
        actions,
        stages,
        speculative: Vec::new(),
        group: 1,
        vector: 1,
        packets: None,
        accesses: AccessMode::Base,
    }
}

/// How far stages of a path may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The last position of a node at which a stage can end.
    pub place: usize,
    /// The first position of a node that reads a register: commit must be scheduled if a stage ends behind it.
    pub reads: Option<usize>,
}

/// The action that runs.
#[derive(Clone, Copy)]
pub struct Running {
    /// The node that has looked it up.
    pub lookup: NodeId,
    pub table: TableId,
    pub action: usize,
    /// As in [`Operation::Lookup`](crate::value::Operation::Lookup).
    pub hash: Option<Value>,
}

impl Reach {
    pub fn of(program: &Program, nodes: &[NodeId]) -> Reach {
        let path = path_of(nodes, BTreeMap::new(), Vec::new());
        Run::new(program, &path).reach()
    }
}

/// How packets that come to a node are separated.
#[derive(Clone, Default)]
pub struct Separation {
    /// What is known of those that run it now.
    pub known: Known,
    /// How often packets may still be separated at this node.
    pub left: usize,
    /// By what those that run it now have to be separated.
    pub by: Option<Value>,
}

pub struct Run<'p> {
    pub program: &'p Program,
    pub path: &'p ResolvedPath,
    pub values: Values,
    pub state: State,
    /// Packets for which the current statement runs.
    pub active: Value,
    /// Packets that have not left the current node, scope or action early.
    pub live: Value,
    /// Packets that left scopes, by label.
    pub left: Vec<(Label, Value)>,
    /// Packets that took `exit` in the current node, and the state of each that did so at its own place.
    pub exited: Value,
    pub exited_with: Vec<(Value, State)>,
    pub effects: Vec<Effect>,
    /// Lookups of the commit phase.
    pub late: Vec<LateLookup>,
    /// Packets that take a side exit at commit in an arm of a statement, or off the path; and those that do so since an
    /// action of a lookup has no schedule.
    pub leaving: Value,
    pub barred: Value,
    /// How packets of one arrival are separated at a node where some get other headers, or what they do has no schedule. None: they
    /// are not.
    pub separation: Option<Separation>,
    /// Values that a region may have made when it comes to a node.
    pub most_values: usize,
    pub node: NodeId,
    pub running: Option<Running>,
    /// Side exits of the current stage.
    pub exits: Vec<SideExit>,
    /// What becomes of packets that exit.
    pub exit_state: ExitState,
    /// Where `exit` leads in the current node, if that is a side exit.
    pub exit_to: Option<NodeId>,
    pub reads: Vec<Value>,
    /// Whether the node runs before its turn.
    pub is_speculative: bool,
    pub lookups: Vec<Lookup>,
    /// Visited states by parser.
    states: BTreeMap<ParserId, u32>,
    /// The end of all bytes that the parser looked ahead to.
    pub ahead: u32,
    /// First bytes of headers that the path extracts.
    pub extracted: BTreeMap<HeaderId, u32>,
    /// What keeps the commit phase from being scheduled.
    pub deferred: Option<Obstacle>,
}

impl<'p> Run<'p> {
    pub fn new(program: &'p Program, path: &'p ResolvedPath) -> Run<'p> {
        let mut values = Values::default();
        let (yes, no) = (values.bool(true), values.bool(false));
        Run {
            program,
            path,
            values,
            state: State::new(),
            active: yes,
            live: yes,
            left: Vec::new(),
            exited: no,
            exited_with: Vec::new(),
            effects: Vec::new(),
            late: Vec::new(),
            leaving: no,
            barred: no,
            separation: None,
            most_values: 0,
            node: path.nodes[0],
            running: None,
            exits: Vec::new(),
            exit_state: ExitState::default(),
            exit_to: None,
            reads: Vec::new(),
            is_speculative: true,
            lookups: Vec::new(),
            states: BTreeMap::new(),
            ahead: 0,
            extracted: BTreeMap::new(),
            deferred: None,
        }
    }

    /// `beside`: what else keeps commit from being scheduled.
    fn path(mut self, beside: Option<&'static str>) -> std::result::Result<Schedule, Obstacle> {
        let at = |place: usize, does: &'static str| Obstacle { node: self.path.nodes[place], does: does.into() };
        let last = self.path.stages.last().expect("a resolved path has a stage").place;
        let mut stages = Vec::new();
        for place in 0..=last {
            while let Some(cut) = self.path.stages.get(stages.len()).filter(|cut| cut.place == place) {
                for lookup in &cut.lookups {
                    self.staged(lookup.place, Some(stages.len())).map_err(|does| at(lookup.place, does))?;
                }
                let bytes = self.state.cursor.max(self.ahead);
                let exits = std::mem::take(&mut self.exits);
                stages.push(Stage { bytes, exits, reads: std::mem::take(&mut self.reads) });
            }
            if place < last {
                self.step(place).map_err(|does| at(place, does))?;
            }
        }
        let mut fitting = BTreeSet::new();
        for stage in &stages {
            self.values.stage_in_words(stage, &self.lookups, &mut fitting)?;
        }
        let commit = match beside {
            Some(does) => Err(at(last, does)),
            None => self.committed(&stages, self.path.nodes[last]),
        };
        if let (Err(obstacle), true) = (&commit, stages.iter().any(|stage| !stage.reads.is_empty())) {
            // The nodes of the plain program would read again, and may find another value.
            return Err(Obstacle {
                does: format!("reads a register before, and {}", obstacle.does).into(),
                ..*obstacle
            });
        }
        self.lookups.sort_by_key(|lookup| lookup.place);
        let (commit, expected) =
            commit.map_or_else(|obstacle| (Err(obstacle), None), |(commit, expected)| (Ok(commit), expected));
        let Run { values, extracted: headers, lookups, .. } = self;
        Ok(Schedule { values, headers, stages, lookups, commit, expected })
    }

    fn reach(mut self) -> Reach {
        let (mut reads, mut fitting) = (None, BTreeSet::new());
        for place in 0..self.path.nodes.len() {
            let is_last = place + 1 == self.path.nodes.len();
            let before = self.lookups.len();
            if is_last || self.step(place).is_err() {
                return Reach { place, reads };
            }
            let exits = std::mem::take(&mut self.exits);
            let stage = Stage { bytes: 0, exits, reads: std::mem::take(&mut self.reads) };
            if self.values.stage_in_words(&stage, &self.lookups[before..], &mut fitting).is_err() {
                return Reach { place, reads };
            }
            if !stage.reads.is_empty() {
                reads.get_or_insert(place);
            }
        }
        Reach { place: 0, reads }
    }

    /// Notes a lookup and its key.
    pub fn staged(&mut self, place: usize, stage: Option<usize>) -> Result<()> {
        let node = self.path.nodes[place];
        let table = table_of(self.program, node).ok_or("looks up a table without keys")?;
        let key = self.key(table)?;
        self.lookups.push(Lookup { place, node, table, key, stage });
        Ok(())
    }

    /// A node of the path before the last cut: packets that do not go on at the next one exit.
    fn step(&mut self, place: usize) -> Result<()> {
        let (node, next) = (self.path.nodes[place], self.path.nodes[place + 1]);
        if never_speculable(self.program, node) {
            return Err("has a result that may differ in the commit phase");
        }
        self.exit_to = match &self.program.nodes[node].kind {
            NodeKind::Block { exit, .. } => exit.filter(|to| *to != next),
            NodeKind::State { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Apply { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => None,
        };
        let is_found = self.lookups.iter().any(|lookup| lookup.place == place);
        if table_of(self.program, node).is_some() && !is_found {
            self.staged(place, None)?;
        }
        let outcomes = self.visit(node)?;
        let mut stays = self.values.bool(false);
        for Outcome { when, to, state } in outcomes {
            if state.is_some() {
                return Err("changes which headers the packet has");
            }
            if to == Some(next) {
                stays = self.values.or(stays, when);
            } else {
                self.exit(when, to);
            }
        }
        if self.values.holds(stays) == Some(false) {
            return Err("is a side exit for every packet");
        }
        Ok(())
    }

    /// Packets that took `exit`: behind the stages, those of different places stay apart.
    pub fn exited_to(&mut self, exit: Option<NodeId>) -> Vec<Outcome> {
        let apart = std::mem::take(&mut self.exited_with);
        if self.is_speculative {
            return vec![Outcome::new(self.exited, exit)];
        }
        apart.into_iter().map(|(when, state)| Outcome { when, to: exit, state: Some(state) }).collect()
    }

    /// Runs a node on the current state. Packets that took `exit` are among the outcomes, unless they took a side
    /// exit already.
    pub fn visit(&mut self, node: NodeId) -> Result<Vec<Outcome>> {
        self.node = node;
        (self.live, self.exited) = (self.values.bool(true), self.values.bool(false));
        self.left.clear();
        self.exited_with.clear();
        let program = self.program;
        let yes = self.values.bool(true);
        let kind = &program.nodes[node].kind;
        if self.state.has_moved && !matches!(kind, NodeKind::Buffer { .. }) {
            return Err("goes on with a packet whose headers moved");
        }
        match kind {
            NodeKind::State { parser, body, select } => {
                if !self.is_speculative {
                    return Err("parses after a lookup");
                }
                let states = self.states.entry(*parser).or_default();
                *states += 1;
                if *states > program.budget.states {
                    return Err("comes when the parser's budget is used up");
                }
                self.statements(body)?;
                self.select(select)
            }
            NodeKind::Block { body, next, exit } => {
                self.statements(body)?;
                let mut outcomes = vec![Outcome::new(self.live, Some(*next))];
                if self.exit_to.is_none() {
                    outcomes.extend(self.exited_to(*exit));
                }
                Ok(outcomes)
            }
            NodeKind::Branch { condition, then, otherwise } => {
                if then == otherwise {
                    return Ok(vec![Outcome::new(yes, Some(*then))]);
                }
                let when = self.value(condition)?;
                let not = self.values.not(when);
                Ok(vec![Outcome::new(when, Some(*then)), Outcome::new(not, Some(*otherwise))])
            }
            NodeKind::Apply { table, next, exit } => self.look_up(node, *table, next, *exit),
            NodeKind::Deparse { body, next } if !self.is_speculative => {
                self.deparse(body)?;
                Ok(vec![Outcome::new(yes, Some(*next))])
            }
            NodeKind::Buffer { rules, otherwise } => self.buffer(rules, *otherwise),
            NodeKind::Deparse { .. } => Err("ends the packet's path through the program"),
        }
    }
}
