//! Symbolic execution of a hot path, for a packet that stays on it.

use crate::exits::ExitState;
use crate::region::Region;
use crate::state::State;
use crate::value::{Operation, Value};
use crate::values::Values;
use crate::{Commit, Effect, Lookup, Obstacle, Schedule, SideExit, Stage};
use hlir::effects::never_speculable;
use hlir::hot_path::{has_lasting_outcome, may_be_stale, table_of};
use hlir::resolved::ResolvedPath;
use hlir::statement::Label;
use hlir::{NodeId, NodeKind, ParserId, Program, TableId};
use std::collections::BTreeMap;

pub type Result<T> = std::result::Result<T, &'static str>;

/// Packets that go on at a node; none: they must run as in the plain program.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub when: Value,
    pub to: Option<NodeId>,
}

impl Schedule {
    pub fn of(program: &Program, path: &ResolvedPath) -> std::result::Result<Schedule, Obstacle> {
        Run::new(program, path).path()
    }
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
    /// Packets that took `exit` in the current node.
    pub exited: Value,
    pub effects: Vec<Effect>,
    pub node: NodeId,
    /// The action that runs, and where it was looked up.
    pub running: Option<(NodeId, TableId, usize)>,
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
            effects: Vec::new(),
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
        }
    }

    pub fn path(mut self) -> std::result::Result<Schedule, Obstacle> {
        let at = |place: usize, does| Obstacle { node: self.path.nodes[place], does };
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
        let region =
            Region::of(self.program, self.path.nodes[last]).ok_or(at(last, "leads to a cycle of the graph"))?;
        let headers = self.state.headers.clone();
        let mut commit = self.region(&region)?;
        self.decided_again(&stages, &mut commit);
        self.lookups.sort_by_key(|lookup| lookup.place);
        let expected = self.expected(&commit);
        Ok(Schedule { values: self.values, headers, stages, lookups: self.lookups, commit, expected })
    }

    /// Exits that a lookup decides whose default action may be another one by commit.
    fn decided_again(&mut self, stages: &[Stage], commit: &mut Commit) {
        for exit in stages.iter().flat_map(|stage| &stage.exits) {
            let needed = self.values.needed([exit.when]);
            let may_change = needed.iter().any(|value| {
                let Operation::Lookup { node, .. } = self.values.of(*value) else { return false };
                !has_lasting_outcome(self.program, *node)
            });
            if may_change {
                commit.exits = self.values.or(commit.exits, exit.when);
            }
        }
    }

    /// Notes a lookup and its key.
    pub fn staged(&mut self, place: usize, stage: Option<usize>) -> Result<()> {
        let node = self.path.nodes[place];
        let table = table_of(self.program, node).ok_or("looks up a table without keys")?;
        if may_be_stale(self.program, node) {
            return Err("looks up a table that packets insert into");
        }
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
        for Outcome { when, to } in outcomes {
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

    /// Runs a node on the current state. Packets that took `exit` are among the outcomes, unless they took a side
    /// exit already.
    pub fn visit(&mut self, node: NodeId) -> Result<Vec<Outcome>> {
        self.node = node;
        (self.live, self.exited) = (self.values.bool(true), self.values.bool(false));
        self.left.clear();
        let program = self.program;
        let yes = self.values.bool(true);
        match &program.nodes[node].kind {
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
                let mut outcomes = vec![Outcome { when: self.live, to: Some(*next) }];
                if self.exit_to.is_none() {
                    outcomes.push(Outcome { when: self.exited, to: *exit });
                }
                Ok(outcomes)
            }
            NodeKind::Branch { condition, then, otherwise } => {
                if then == otherwise {
                    return Ok(vec![Outcome { when: yes, to: Some(*then) }]);
                }
                let when = self.value(condition)?;
                let not = self.values.not(when);
                Ok(vec![Outcome { when, to: Some(*then) }, Outcome { when: not, to: Some(*otherwise) }])
            }
            NodeKind::Apply { table, next, exit } => self.look_up(node, *table, next, *exit),
            NodeKind::Deparse { body, next } if !self.is_speculative => {
                self.deparse(body)?;
                Ok(vec![Outcome { when: yes, to: Some(*next) }])
            }
            NodeKind::Buffer { rules, otherwise } if !self.is_speculative => self.buffer(rules, *otherwise),
            NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => Err("ends the packet's path through the program"),
        }
    }
}
