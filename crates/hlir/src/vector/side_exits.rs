//! Side exits before the first cut, and their outcome. Most exits are drops: a router's checks end in a
//! counter and a drop. If nothing else happens on this path, a set of packets is dropped in bulk: counters are
//! increased by the number of packets and bytes.

use super::bytes::loaded;
use super::run::Run;
use super::{Number, Operator, Step, VectorStage};
use crate::hot_path::Stage;
use crate::{Call, CounterId, DEFAULT_INDEX, Effect, Expression, Next, NodeId, NodeKind, Place, Program, Statement};

/// The first stage for packets that exited: vector steps of their own, as in [`VectorStage`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExits {
    pub steps: Vec<Step>,
    pub rows: Vec<u32>,
    pub bytes: u32,
    /// In the order of the exits: the first match wins.
    pub kinds: Vec<SideExit>,
    /// The outcome of misses at the stage's lookup, while the table has its original default action.
    pub missed: Option<BulkDrop>,
}

/// The packets of one exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExit {
    pub mask: Number,
    /// Their outcome, if it is a bulk drop.
    pub end: Option<BulkDrop>,
}

/// All packets are counted and dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkDrop {
    pub counted: Vec<CounterIndex>,
    pub reason: String,
}

/// An index of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterIndex {
    pub counter: CounterId,
    pub index: u64,
}

impl SideExits {
    /// Whether some exit is a bulk drop; otherwise only misses are.
    pub fn any_exit(&self) -> bool {
        self.kinds.iter().any(|kind| kind.end.is_some())
    }

    /// The side exits of a path's first stage, for packets with the bytes that its vector code needs. None if
    /// all exits must run.
    pub fn of(program: &Program, path: &[NodeId], first: &Stage, lanes: &VectorStage) -> Option<SideExits> {
        let place = path[first.place];
        let front = |phase| super::run::front(program, path, first, phase).ok();
        let all = (0..4).filter_map(|phase| front(phase)?.side_exits(place, lanes));
        all.min_by_key(|side_exits| (!side_exits.any_exit(), 4 * side_exits.rows.len() + side_exits.steps.len()))
    }
}

/// The exits seen so far.
#[derive(Default)]
pub(super) struct ExitState {
    kinds: Vec<SideExit>,
    /// Counter indices that all packets have counted so far.
    counted: Vec<CounterIndex>,
    /// Something other than a uniform count was deferred or looked up: later exits must run.
    is_unknown: bool,
}

impl Run<'_> {
    fn side_exits(mut self, last: NodeId, lanes: &VectorStage) -> Option<SideExits> {
        let (missed, taken) = (self.missed(last), self.taken());
        let mut kinds = self.exit_state.kinds;
        let results: Vec<Number> = kinds.iter().map(|kind| kind.mask).collect();
        let (mut steps, kept) = self.steps.needed(&results);
        kinds.iter_mut().for_each(|kind| kind.mask = kept[&kind.mask]);
        let (mut rows, mut bytes) = loaded(&steps, taken, &lanes.rows);
        if bytes > lanes.bytes {
            (steps, rows, bytes, kinds) = (Vec::new(), Vec::new(), lanes.bytes, Vec::new());
        }
        let side_exits = SideExits { steps, rows, bytes, kinds, missed };
        (side_exits.any_exit() || side_exits.missed.is_some()).then_some(side_exits)
    }

    /// A mask: packets whose exit is a bulk drop.
    pub fn drops(&mut self) -> Number {
        let kinds: Vec<(Number, bool)> =
            self.exit_state.kinds.iter().map(|kind| (kind.mask, kind.end.is_some())).collect();
        if kinds.iter().all(|(_, ends)| *ends) {
            return self.exits;
        }
        let (mut drops, mut open) = (self.steps.mask(false), self.steps.mask(true));
        for (mask, ends) in kinds {
            if ends {
                let first = self.steps.operate(Operator::And, open, mask);
                drops = self.steps.operate(Operator::Or, drops, first);
            } else {
                let others = self.steps.not(mask);
                open = self.steps.operate(Operator::And, open, others);
            }
        }
        drops
    }

    /// Packets of the mask exit to a node; with `None`, they must run.
    pub fn exit(&mut self, mask: Number, to: Option<NodeId>) {
        if self.steps.known(mask) == Some(0) {
            return;
        }
        let end = to.and_then(|to| self.end(to));
        self.exit_state.kinds.push(SideExit { mask, end });
    }

    /// Packets of the mask run statements, and exit to a node.
    pub fn exit_behind(&mut self, mask: Number, body: &[Statement], to: NodeId) {
        if self.steps.known(mask) == Some(0) {
            return;
        }
        let end = self.end_behind(body, to);
        self.exit_state.kinds.push(SideExit { mask, end });
    }

    /// Defers a statement to the commit phase.
    pub fn defer(&mut self, statement: &Statement) {
        let all = self.steps.known(self.active) == Some(u32::MAX);
        let index = self.counter_index(statement).filter(|_| all);
        match index {
            Some(index) => self.exit_state.counted.extend(index),
            None => self.give_up(),
        }
    }

    /// Later exits must run.
    pub fn give_up(&mut self) {
        self.exit_state.is_unknown = true;
    }

    /// The uniform counter index of a counting statement; Some(None) if the index is out of range.
    fn counter_index(&mut self, statement: &Statement) -> Option<Option<CounterIndex>> {
        let Statement::Call(Call::Count { counter, index: Some(index) }) = statement else { return None };
        let index = self.bits(index).ok()?;
        let parts = index.parts.iter().map(|part| self.steps.known(*part)).collect::<Option<Vec<u32>>>()?;
        let is_narrow = parts.iter().skip(2).all(|part| *part == 0);
        let index = parts.iter().take(2).rev().fold(0, |index, part| index << 32 | u64::from(*part));
        let has = is_narrow && index < self.program.counters[*counter].size;
        Some(has.then_some(CounterIndex { counter: *counter, index }))
    }

    /// The outcome of packets that continue at a node with the current state.
    fn end(&mut self, node: NodeId) -> Option<BulkDrop> {
        self.end_behind(&[], node)
    }

    /// The outcome of misses at a node.
    fn missed(&mut self, node: NodeId) -> Option<BulkDrop> {
        let program = self.program;
        let NodeKind::Apply { table: id, next, .. } = &program.nodes[node].kind else { return None };
        let table = &program.tables[*id];
        // A direct meter has the tokens of each packet, and sets a colour that later nodes may read.
        if program.meters.values().any(|meter| meter.table == Some(*id)) {
            return None;
        }
        if table.keys.is_empty() || table.profile.is_some() || table.add_on_miss || table.punt_on_miss {
            return None;
        }
        let default = table.default.action;
        let to = match next {
            Next::Always(to) | Next::Hit { miss: to, .. } => to,
            Next::Actions { cases, otherwise } => {
                cases.iter().find(|(case, _)| *case == default).map_or(otherwise, |(_, to)| to)
            }
        };
        // The control plane can change the default action's arguments, so these are unknown.
        let mut missed = self.end_behind(&table.actions[default as usize].body, *to)?;
        let automatic = program.counters.iter().filter(|(_, counter)| counter.table == Some(*id) && counter.automatic);
        missed.counted.extend(automatic.map(|(counter, _)| CounterIndex { counter, index: DEFAULT_INDEX }));
        Some(missed)
    }

    /// The outcome of packets that run statements and continue at a node.
    fn end_behind(&mut self, body: &[Statement], node: NodeId) -> Option<BulkDrop> {
        if self.exit_state.is_unknown {
            return None;
        }
        let mut counted = self.exit_state.counted.clone();
        let before = self.state.clone();
        let through = self.all_through(body, &mut counted);
        let reason = through.and_then(|()| self.follow(node, &mut counted));
        self.state = before;
        Some(BulkDrop { counted, reason: reason? })
    }

    /// The reason why all packets at a node are dropped, and the counter indices on the path.
    fn follow(&mut self, from: NodeId, counted: &mut Vec<CounterIndex>) -> Option<String> {
        let program = self.program;
        let mut node = from;
        // The bound covers one round of a cycle in the graph.
        for _ in 0..program.nodes.len() {
            node = match &program.nodes[node].kind {
                NodeKind::Block { body, next, .. } => {
                    self.all_through(body, counted)?;
                    *next
                }
                NodeKind::Branch { condition, then, otherwise } => match self.answer(condition)? {
                    true => *then,
                    false => *otherwise,
                },
                NodeKind::Buffer { rules, otherwise } => {
                    let mut taken = None;
                    for rule in rules {
                        if self.answer(&rule.condition)? {
                            taken = Some(&rule.effect);
                            break;
                        }
                    }
                    match taken {
                        Some(Effect::Drop { reason }) => return Some(reason.clone()),
                        Some(Effect::Unicast { set, to }) => {
                            set.iter().for_each(|(place, value)| self.assign(*place, value));
                            *to
                        }
                        Some(_) => return None,
                        None => (*otherwise)?,
                    }
                }
                NodeKind::State { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => return None,
            };
        }
        None
    }

    /// The value of a uniform condition.
    fn answer(&mut self, condition: &Expression) -> Option<bool> {
        let mask = self.mask(condition).ok()?;
        self.steps.known(mask).map(|mask| mask != 0)
    }

    fn assign(&mut self, place: Place, value: &Expression) {
        let value = self.bits(value).ok();
        self.assigned(place, value);
    }

    /// Executes statements for all packets. None if one does more than assign and count.
    fn all_through(&mut self, body: &[Statement], counted: &mut Vec<CounterIndex>) -> Option<()> {
        for statement in body {
            match statement {
                Statement::Assign { target, value } => self.assign(*target, value),
                Statement::If { condition, then, otherwise } => {
                    let body = if self.answer(condition)? { then } else { otherwise };
                    self.all_through(body, counted)?;
                }
                Statement::Scope { body, .. } => self.all_through(body, counted)?,
                Statement::Call(Call::Count { .. }) => counted.extend(self.counter_index(statement)?),
                Statement::Call(_)
                | Statement::Loop { .. }
                | Statement::Leave(_)
                | Statement::Exit
                | Statement::Verify { .. }
                | Statement::Extract { .. }
                | Statement::Lookahead { .. }
                | Statement::Advance(_)
                | Statement::SetValid(_)
                | Statement::SetInvalid(_)
                | Statement::CopyHeader { .. }
                | Statement::CopyVarbit { .. }
                | Statement::Emit(_)
                | Statement::Truncate(_) => return None,
            }
        }
        Some(())
    }
}
