//! Prints the facts that a program takes for granted.

use super::Printer;
use super::lines::Lines;
use crate::Entry;
use crate::facts::{Assumption, Fact};
use crate::text::get;

impl Printer<'_> {
    pub(super) fn assumption(&self, lines: &mut Lines, assumption: &Assumption) {
        let Assumption { table: id, fact } = assumption;
        let (table, head) = (get(&self.program.tables, *id), format!("assume {}", self.table_name(*id)));
        let action = |action: u32| self.action_name(*id, action);
        let entry_block = |word: &str, entries: &[Entry], lines: &mut Lines| {
            lines.block(&format!("{head} {word}"), "", |lines| {
                self.entry_lines(*id, table, entries).iter().for_each(|line| lines.add(line));
            });
        };
        match fact {
            Fact::Empty => lines.add(format!("{head} empty")),
            Fact::Default(call) => lines.add(format!("{head} default {}", self.action_call(*id, table, call))),
            Fact::Entries(entries) => entry_block("entries", entries, lines),
            Fact::Leading(entries) => entry_block("leading", entries, lines),
            Fact::Actions(actions) => {
                let actions: Vec<String> = actions.iter().map(|number| action(*number)).collect();
                lines.add(format!("{head} actions {{ {} }}", actions.join(", ")));
            }
            Fact::Argument { action: of, parameter, value } => {
                lines.add(format!("{head} argument {} {parameter} = {value:#x}", action(*of)));
            }
            Fact::Any(key) => lines.add(format!("{head} any {key}")),
            Fact::Key { key, value } => lines.add(format!("{head} key {key} = {value:#x}")),
            Fact::Mask { key, mask } => lines.add(format!("{head} mask {key} = {mask:#x}")),
            Fact::Distinct => lines.add(format!("{head} distinct")),
            Fact::Unmetered => lines.add(format!("{head} unmetered")),
        }
    }
}
