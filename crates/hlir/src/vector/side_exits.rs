//! Packets that leave the path in its front, and what becomes of them. Most do so to be dropped: a router's checks end in a counter and a drop. Where nothing
//! else happens on the way, a set of packets needs no turns: counters get how many they are and how many bytes they have.

use super::bytes::loaded;
use super::run::Run;
use super::{Number, Operator, Step, VectorStage};
use crate::hot_path::Stage;
use crate::{Call, CounterId, Effect, Expression, Next, NodeId, NodeKind, Place, Program, Statement};

/// The front of a path for packets that have left it: steps of their own, as those of [`Lanes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExits {
    pub steps: Vec<Step>,
    pub rows: Vec<u32>,
    pub bytes: u32,
    /// In the order in which they leave: who is of several of these is of the first.
    pub kinds: Vec<SideExit>,
    /// What becomes of those who stay until the stage's look-up and find no entry, while the table has the default action that the program gave it.
    pub missed: Option<BulkDrop>,
}

/// Packets that leave by one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExit {
    pub mask: Number,
    /// What becomes of them, if it is nothing but this.
    pub end: Option<BulkDrop>,
}

/// Every packet is counted and dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkDrop {
    pub counted: Vec<CounterIndex>,
    pub reason: String,
}

/// A cell of a counter that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterIndex {
    pub counter: CounterId,
    pub index: u64,
}

impl SideExits {
    /// Whether some are dropped that leave; else it is only those who miss.
    pub fn any_exit(&self) -> bool {
        self.kinds.iter().any(|kind| kind.end.is_some())
    }

    /// Of the first stage of a path, for packets that have been in these lanes, and have as many bytes. None where all who leave it have to be run.
    pub fn of(program: &Program, path: &[NodeId], first: &Stage, lanes: &VectorStage) -> Option<SideExits> {
        let place = path[first.place];
        let front = |phase| super::run::front(program, path, first, phase).ok();
        let all = (0..4).filter_map(|phase| front(phase)?.side_exits(place, lanes));
        all.min_by_key(|side_exits| (!side_exits.any_exit(), 4 * side_exits.rows.len() + side_exits.steps.len()))
    }
}

/// While the front is run.
#[derive(Default)]
pub(super) struct ExitState {
    kinds: Vec<SideExit>,
    /// Cells that count every packet that comes as far.
    counted: Vec<CounterIndex>,
    /// Something was put off that is no such cell, or looked up: who leaves from here on has to be run.
    is_unknown: bool,
}

impl Run<'_> {
    fn side_exits(mut self, last: NodeId, lanes: &VectorStage) -> Option<SideExits> {
        let missed = self.missed(last);
        let mut kinds = self.exit_state.kinds;
        let results: Vec<Number> = kinds.iter().map(|kind| kind.mask).collect();
        let (mut steps, kept) = self.steps.needed(&results);
        kinds.iter_mut().for_each(|kind| kind.mask = kept[&kind.mask]);
        let (mut rows, mut bytes) = loaded(&steps, self.state.cursor, &lanes.rows);
        if bytes > lanes.bytes {
            (steps, rows, bytes, kinds) = (Vec::new(), Vec::new(), lanes.bytes, Vec::new());
        }
        let side_exits = SideExits { steps, rows, bytes, kinds, missed };
        (side_exits.any_exit() || side_exits.missed.is_some()).then_some(side_exits)
    }

    /// A mask: packets that leave by a way that ends in a drop.
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

    /// Packets of the mask leave the path, and go on at a node; none says that they have to be run.
    pub fn exit(&mut self, mask: Number, to: Option<NodeId>) {
        if self.steps.known(mask) == Some(0) {
            return;
        }
        let end = to.and_then(|to| self.end(to));
        self.exit_state.kinds.push(SideExit { mask, end });
    }

    /// A statement is put off until the packet's turn.
    pub fn defer(&mut self, statement: &Statement) {
        let all = self.steps.known(self.active) == Some(u32::MAX);
        let cell = self.cell(statement).filter(|_| all);
        match cell {
            Some(cell) => self.exit_state.counted.extend(cell),
            None => self.give_up(),
        }
    }

    /// Who leaves from here on has to be run.
    pub fn give_up(&mut self) {
        self.exit_state.is_unknown = true;
    }

    /// The cell that a statement counts packets in, if it is one and the same for all; Some(None) where the counter does not have it.
    fn cell(&mut self, statement: &Statement) -> Option<Option<CounterIndex>> {
        let Statement::Call(Call::Count { counter, index: Some(index) }) = statement else { return None };
        let index = self.bits(index).ok()?;
        let parts = index.parts.iter().map(|part| self.steps.known(*part)).collect::<Option<Vec<u32>>>()?;
        let is_narrow = parts.iter().skip(2).all(|part| *part == 0);
        let index = parts.iter().take(2).rev().fold(0, |index, part| index << 32 | u64::from(*part));
        let has = is_narrow && index < self.program.counters[*counter].size;
        Some(has.then_some(CounterIndex { counter: *counter, index }))
    }

    /// What becomes of packets that go on at a node, as the state is.
    fn end(&mut self, node: NodeId) -> Option<BulkDrop> {
        self.end_behind(&[], node)
    }

    /// What becomes of those who find no entry at a node.
    fn missed(&mut self, node: NodeId) -> Option<BulkDrop> {
        let program = self.program;
        let NodeKind::Apply { table, next, .. } = &program.nodes[node].kind else { return None };
        let table = &program.tables[*table];
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
        // What it is given may change with it.
        self.end_behind(&table.actions[default as usize].body, *to)
    }

    /// What becomes of packets that run statements and go on at a node.
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

    /// Why all packets are dropped that come to a node, and the cells that count them until then.
    fn follow(&mut self, from: NodeId, counted: &mut Vec<CounterIndex>) -> Option<String> {
        let program = self.program;
        let mut node = from;
        // Where the graph has circles, a packet may have gone around once.
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

    /// A truth that is the same for all packets.
    fn answer(&mut self, condition: &Expression) -> Option<bool> {
        let mask = self.mask(condition).ok()?;
        self.steps.known(mask).map(|mask| mask != 0)
    }

    fn assign(&mut self, place: Place, value: &Expression) {
        let value = self.bits(value).ok();
        self.assigned(place, value);
    }

    /// Statements that all packets go through. None where one does more than to assign and to count.
    fn all_through(&mut self, body: &[Statement], counted: &mut Vec<CounterIndex>) -> Option<()> {
        for statement in body {
            match statement {
                Statement::Assign { target, value } => self.assign(*target, value),
                Statement::If { condition, then, otherwise } => {
                    let body = if self.answer(condition)? { then } else { otherwise };
                    self.all_through(body, counted)?;
                }
                Statement::Scope { body, .. } => self.all_through(body, counted)?,
                Statement::Call(Call::Count { .. }) => counted.extend(self.cell(statement)?),
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
