//! Side exits, and their outcome. Most exits are drops: a router's checks end in a counter and a drop. If nothing
//! else happens to a packet, a set of them is dropped in bulk: counters are increased by the number of packets and
//! bytes.

use crate::run::Run;
use crate::value::Value;
use crate::{BulkDrop, CounterIndex, SideExit};
use hlir::{Call, CounterId, Effect, Expression, NodeId, NodeKind, Place, Statement};

/// What packets have done up to here that an exit must do, too.
#[derive(Clone, Debug, Default)]
pub struct ExitState {
    /// Counter indices that all packets have counted.
    pub counted: Vec<CounterIndex>,
    /// Something other than a uniform count was deferred or looked up: later exits must run.
    is_unknown: bool,
}

impl Run<'_> {
    /// Packets exit to a node; with `None`, they must run.
    pub fn exit(&mut self, when: Value, to: Option<NodeId>) {
        if self.values.holds(when) != Some(false) {
            let end = to.and_then(|to| self.end_behind(&[], to));
            self.exits.push(SideExit { when, node: self.node, end });
        }
    }

    /// Later exits must run.
    pub fn give_up(&mut self) {
        self.exit_state.is_unknown = true;
    }

    /// The index of a counter, if it is the same for all packets; Some(None) if it is out of range.
    pub fn uniform_index(&mut self, counter: CounterId, index: Value) -> Option<Option<CounterIndex>> {
        let index = self.values.known(index)?.to_u64();
        let has = index < self.program.counters[counter].size;
        Some(has.then_some(CounterIndex { counter, index }))
    }

    /// The outcome of packets that run statements and continue at a node.
    pub fn end_behind(&mut self, body: &[Statement], node: NodeId) -> Option<BulkDrop> {
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

    /// The reason why all packets at a node are dropped, and the counter indices on the way.
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
                            for (place, value) in set {
                                self.assign(*place, value)?;
                            }
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
        let condition = self.value(condition).ok()?;
        self.values.holds(condition)
    }

    fn assign(&mut self, place: Place, value: &Expression) -> Option<()> {
        let value = self.value(value).ok()?;
        match place {
            Place::Variable(variable) => drop(self.state.variables.insert(variable, value)),
            Place::Field(field) => drop(self.state.fields.insert(field, value)),
        }
        Some(())
    }

    /// Executes statements for all packets. None if one does more than assign and count.
    fn all_through(&mut self, body: &[Statement], counted: &mut Vec<CounterIndex>) -> Option<()> {
        for statement in body {
            match statement {
                Statement::Assign { target, value } => self.assign(*target, value)?,
                Statement::If { condition, then, otherwise } => {
                    let body = if self.answer(condition)? { then } else { otherwise };
                    self.all_through(body, counted)?;
                }
                Statement::Scope { body, .. } => self.all_through(body, counted)?,
                Statement::Call(Call::Count { counter, index: Some(index) }) => {
                    let index = self.value(index).ok()?;
                    counted.extend(self.uniform_index(*counter, index)?);
                }
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
