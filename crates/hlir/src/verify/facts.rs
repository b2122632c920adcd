//! Checks of facts that a program takes for granted: they are about what its tables have.

use super::{Site, Verifier};
use crate::Table;
use crate::facts::{Assumption, Fact};
use crate::text::{get, number};
use num_bigint::BigUint;

impl Verifier<'_> {
    pub(super) fn assumptions(&mut self) {
        for (index, assumption) in (0u32..).zip(&self.program.assumptions) {
            let site = Site::Assumption(index);
            match get(&self.program.tables, assumption.table) {
                Some(table) => self.assumption(site, table, assumption),
                None => self.error(site, format!("there is no table number {}", number(assumption.table))),
            }
        }
    }

    fn assumption(&mut self, site: Site, table: &Table, Assumption { fact, .. }: &Assumption) {
        match fact {
            Fact::Empty | Fact::Distinct | Fact::Unmetered => {}
            Fact::Default(call) => self.action_call(site, table, call),
            Fact::Entries(entries) | Fact::Leading(entries) => {
                let widths: Vec<_> = table.keys.iter().map(|key| self.judge_key(site, &key.value)).collect();
                entries.iter().for_each(|entry| self.entry(site, table, entry, &widths));
            }
            Fact::Actions(actions) => {
                for action in actions.iter().filter(|action| **action as usize >= table.actions.len()) {
                    self.error(site, format!("the table has no action number {action}"));
                }
            }
            Fact::Argument { action, parameter, value } => {
                let declared = table.actions.get(*action as usize);
                let declared = declared.and_then(|action| action.parameters.get(*parameter as usize));
                if declared.is_none_or(|declared| value.bits() > u64::from(declared.width)) {
                    self.error(site, format!("action number {action} has no parameter {parameter} that holds {value}"));
                }
            }
            Fact::Any(key) if *key as usize >= table.keys.len() => {
                self.error(site, format!("the table has no key number {key}"));
            }
            Fact::Any(_) => {}
            Fact::Key { key, value } => self.fits_key(site, table, *key, ("value", value)),
            Fact::Mask { key, mask } => {
                self.fits_key(site, table, *key, ("mask", mask));
                if *mask == BigUint::ZERO {
                    self.error(site, format!("a mask of no bits: write `any {key}`"));
                }
            }
        }
    }

    /// Whether a key has room for a value or a mask.
    fn fits_key(&mut self, site: Site, table: &Table, key: u32, (what, number): (&str, &BigUint)) {
        let Some(declared) = table.keys.get(key as usize) else {
            return self.error(site, format!("the table has no key number {key}"));
        };
        let width = self.judge_key(site, &declared.value);
        if width.is_some_and(|width| number.bits() > u64::from(width)) {
            self.error(site, format!("key number {key} cannot have the {what} {number}"));
        }
    }
}
