//! Look-ups on the way to the first stage: a port's VLAN, say, which is a part of the stage's keys.
//!
//! Each packet gets the number of the record that its key finds, and what is read of the record; the actions with which it stays on the path are run on that.

use super::run::{Record, Result, Run, State, UNKNOWN};
use super::{Number, Operator, Step, TableRead};
use crate::{Next, NodeId, Statement, TableId};

impl Run<'_> {
    /// The look-up of a node at a place of the path, and its actions. Who runs one that ends elsewhere than at `next` leaves.
    pub fn look_up(&mut self, place: usize, node: NodeId, table: TableId, outcomes: &Next, next: NodeId) -> Result<()> {
        let program = self.program;
        let declared = &program.tables[table];
        if declared.profile.is_some() {
            return Err("takes its actions from a profile");
        }
        let key = self.key(node)?.narrow().ok_or("looks up a key that has not between 1 and 32 bits")?;
        let mut read = |what, of| self.steps.read(Step::TableRead { place, what, of });
        let found = read(TableRead::Found, key);
        let record = read(TableRead::Record, found);
        let runs = read(TableRead::Action, record);
        self.found.push((place, found));
        self.give_up();
        let (before, all) = (self.state.clone(), self.active);
        let mut stays = self.steps.mask(false);
        let mut merged: Option<State> = None;
        for (action, body) in declared.actions.iter().map(|action| &action.body).enumerate() {
            let continues = self.continues(outcomes, action, found, next);
            if exits(body) || self.steps.known(continues) == Some(0) {
                continue;
            }
            let number = self.steps.constant(action as u32);
            let is_run = self.steps.operate(Operator::Equal, runs, number);
            self.active = self.steps.operate(Operator::And, all, is_run);
            self.record = Some(Record { table, place, action, number: record });
            self.state = before.clone();
            let done = self.statements(body);
            (self.record, self.active) = (None, all);
            done?;
            if let Some(others) = merged {
                let taken = std::mem::replace(&mut self.state, others);
                self.merge(is_run, taken)?;
            }
            merged = Some(self.state.clone());
            let remains = self.steps.operate(Operator::And, is_run, continues);
            stays = self.steps.operate(Operator::Or, stays, remains);
        }
        self.state = merged.ok_or("has no action that stays on the path")?;
        self.require(stays);
        Ok(())
    }

    /// A mask: packets that go on to `next` behind an action that comes to its end.
    fn continues(&mut self, outcomes: &Next, action: usize, found: Number, next: NodeId) -> Number {
        match outcomes {
            Next::Always(to) => self.steps.mask(*to == next),
            Next::Hit { hit, miss } if hit == miss => self.steps.mask(*hit == next),
            Next::Hit { hit, miss } => {
                let none = self.steps.constant(0);
                match (*hit == next, *miss == next) {
                    (true, _) => self.steps.operate(Operator::NotEqual, found, none),
                    (false, true) => self.steps.operate(Operator::Equal, found, none),
                    (false, false) => self.steps.mask(false),
                }
            }
            Next::Actions { cases, otherwise } => {
                let to = cases.iter().find(|(case, _)| *case as usize == action).map_or(otherwise, |(_, to)| to);
                self.steps.mask(*to == next)
            }
        }
    }

    /// A parameter of the action that is run.
    pub fn parameter(&mut self, parameter: usize, width: u32) -> Result<Number> {
        // What the first cut's own actions are given is not known ahead of it.
        let Record { place, action, number: of, .. } = self.record.ok_or(UNKNOWN)?;
        if !(1..=32).contains(&width) {
            return Err("takes a parameter that has not between 1 and 32 bits");
        }
        let value = self.steps.read(Step::TableRead { place, what: TableRead::Parameter { action, parameter }, of });
        // Of a record with another action it may have any bits, and yet be a part of a key.
        Ok(self.steps.fit(value, width))
    }
}

/// Whether an action may end the control that it is run in.
fn exits(body: &[Statement]) -> bool {
    let mut exits = false;
    for statement in body {
        statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit));
    }
    exits
}
