//! Lookups before the first cut, such as a port's VLAN, whose result is a part of the stage's keys.
//!
//! Each packet gets the record number that its key finds, and the parameters that are read. The actions that
//! stay on the path run on these.

use super::bytes::Bits;
use super::run::{Record, Result, Run, State, UNKNOWN};
use super::{Number, Operator, Step, TableRead};
use crate::{Next, NodeId, Statement, TableId};

impl Run<'_> {
    /// The lookup of a node on the path, with its actions. Packets whose action does not continue at `next`
    /// exit.
    pub fn look_up(&mut self, place: usize, node: NodeId, table: TableId, outcomes: &Next, next: NodeId) -> Result<()> {
        let program = self.program;
        let declared = &program.tables[table];
        if declared.profile.is_some() {
            return Err("takes its actions from a profile");
        }
        let key = self.key(node)?.narrow().ok_or("looks up a key that does not have 1 to 32 bits")?;
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
        self.state = merged.ok_or("has no action that stays on the hot path")?;
        self.require(stays);
        Ok(())
    }

    /// A mask: packets that continue at `next` after an action that does not exit.
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

    /// A parameter of the running action.
    pub fn parameter(&mut self, parameter: usize, width: u32) -> Result<Bits> {
        // Parameters of the first cut's own actions are not known yet.
        let Record { place, action, number: of, .. } = self.record.ok_or(UNKNOWN)?;
        if !(1..=64).contains(&width) {
            return Err("takes a parameter that has not between 1 and 64 bits");
        }
        let parts = (0..width.div_ceil(32)).map(|part| {
            let what = TableRead::Parameter { action, parameter, part };
            let value = self.steps.read(Step::TableRead { place, what, of });
            // A record of another action may have any bits here, and the value may be part of a key.
            self.steps.fit(value, width - 32 * part)
        });
        Ok(Bits { width, parts: parts.collect() })
    }
}

/// Whether an action may exit its control.
fn exits(body: &[Statement]) -> bool {
    let mut exits = false;
    for statement in body {
        statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit));
    }
    exits
}
