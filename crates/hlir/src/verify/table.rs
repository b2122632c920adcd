//! Checks of tables: keys, actions, default action and entries.

use super::statement::Surroundings;
use super::{Body, Site, Verifier};
use crate::entry::EntryAction;
use crate::text::get;
use crate::{ActionCall, Entry, Expression, Match, MatchKind, Scope, Table, TableId};
use num_bigint::BigUint;

impl Verifier<'_> {
    pub(super) fn table(&mut self, id: TableId, table: &Table) {
        let site = Site::Table(id);
        let key = |verifier: &mut Self, index: usize| {
            verifier.judge_key(Site::Key(id, index as u32), &table.keys[index].value)
        };
        let widths: Vec<Option<u32>> = (0..table.keys.len()).map(|index| key(self, index)).collect();
        let names = table.actions.iter().enumerate();
        let names: Vec<_> = names.map(|(index, action)| (&action.name, Site::Action(id, index as u32))).collect();
        self.unique(&format!("actions of table `{}`", table.name), names.into_iter());
        for index in 0..table.actions.len() {
            self.action(id, table, index);
        }
        self.action_call(Site::Default(id), table, &table.default);
        let default = table.actions.get(table.default.action as usize);
        if default.is_some_and(|action| action.scope == Scope::TableOnly) {
            self.error(Site::Default(id), "the default action is `table_only`");
        }
        self.profile_of(site, table);
        if table.add_on_miss && table.keys.iter().any(|key| key.kind != MatchKind::Exact) {
            self.error(site, "`add_on_miss` is for tables whose keys are all exact");
        }
        for (index, entry) in table.entries.iter().enumerate() {
            self.entry(Site::Entry(id, index as u32), table, entry, &widths);
        }
    }

    /// The width of a key, if it is right.
    pub(super) fn judge_key(&mut self, site: Site, value: &Expression) -> Option<u32> {
        self.judge(site, &[], |kinds| kinds.bits(value, "a key"))
    }

    fn action(&mut self, id: TableId, table: &Table, index: usize) {
        let (site, action) = (Site::Action(id, index as u32), &table.actions[index]);
        let names = action.parameters.iter().map(|parameter| (&parameter.name, site));
        self.unique(&format!("parameters of action `{}`", action.name), names);
        action.parameters.iter().for_each(|parameter| self.width(site, parameter.width));
        let parameters = table.parameter_widths(index);
        let body = Body::Action(id, index as u32);
        self.statements(body, Surroundings::Action { table: id, action: index as u32 }, &parameters, &action.body);
    }

    fn profile_of(&mut self, site: Site, table: &Table) {
        let profile = table.profile.map(|id| get(&self.program.profiles, id));
        if let Some(None) = profile {
            self.error(site, "its action profile does not exist");
        }
        let has_selector = profile.flatten().is_some_and(|profile| profile.selector.is_some());
        if !table.selector.is_empty() && !has_selector {
            self.error(site, "it has selector inputs, but no profile with a selector");
        }
        if let Some(call) = &table.empty_group {
            if !has_selector {
                self.error(site, "it has an action for empty groups, but no profile with a selector");
            }
            self.action_call(site, table, call);
        }
        for value in &table.selector {
            self.judge(site, &[], |kinds| kinds.of(value));
        }
    }

    pub(super) fn action_call(&mut self, site: Site, table: &Table, call: &ActionCall) {
        let Some(action) = table.actions.get(call.action as usize) else {
            return self.error(site, format!("the table has no action number {}", call.action));
        };
        let (wanted, given) = (action.parameters.len(), call.arguments.len());
        if wanted != given {
            self.error(site, format!("action `{}` takes {wanted} arguments, and is given {given}", action.name));
        }
        for (parameter, value) in action.parameters.iter().zip(&call.arguments) {
            if value.bits() > u64::from(parameter.width) {
                let message =
                    format!("argument {value:#x} does not fit the {} bits of `{}`", parameter.width, parameter.name);
                self.error(site, message);
            }
        }
    }

    pub(super) fn entry(&mut self, site: Site, table: &Table, entry: &Entry, widths: &[Option<u32>]) {
        let (wanted, given) = (table.keys.len(), entry.matches.len());
        if wanted != given {
            self.error(site, format!("the table has {wanted} keys, and the entry {given} values"));
        }
        for ((key, found), width) in table.keys.iter().zip(&entry.matches).zip(widths) {
            if let Some(width) = width {
                self.matches(site, key.kind, found, *width);
            }
        }
        if entry.priority != 0 && !table.has_priorities() {
            self.report(site, "the table has no priorities", "only ternary, range and optional keys give it some");
        }
        match &entry.action {
            EntryAction::Call(call) => {
                self.action_call(site, table, call);
                let action = table.actions.get(call.action as usize);
                if action.is_some_and(|action| action.scope == Scope::DefaultOnly) {
                    self.error(site, "its action is `default_only`");
                }
            }
            EntryAction::Member(_) if table.profile.is_none() => self.error(site, "the table has no action profile"),
            EntryAction::Member(member) => self.made_later(site, &format!("member {member}")),
            EntryAction::Group(_) | EntryAction::Set(_) if !self.has_selector(table) => {
                self.error(site, "the table has no action selector");
            }
            EntryAction::Group(group) => self.made_later(site, &format!("group {group}")),
            EntryAction::Set(_) => self.error(site, "only the control plane writes sets of actions"),
        }
    }

    fn has_selector(&self, table: &Table) -> bool {
        let profile = table.profile.and_then(|id| get(&self.program.profiles, id));
        profile.is_some_and(|profile| profile.selector.is_some())
    }

    /// The entry is there when the switch starts, and a profile is empty then.
    fn made_later(&mut self, site: Site, missing: &str) {
        let hint = "name the action itself; or let the control plane, which makes members and groups, write the entry after them";
        self.report(site, format!("there is no {missing} when the program starts"), hint);
    }

    fn matches(&mut self, site: Site, kind: MatchKind, found: &Match, width: u32) {
        let fits = |value: &BigUint| value.bits() <= u64::from(width);
        let (allowed, right) = match (kind, found) {
            (_, Match::Any) => (kind != MatchKind::Exact, true),
            (MatchKind::Exact | MatchKind::Optional, Match::Exact(value)) => (true, fits(value)),
            (MatchKind::Lpm, Match::Lpm { value, prefix }) => {
                let free = u64::from(width.saturating_sub(*prefix));
                (true, *prefix <= width && fits(value) && value.trailing_zeros().is_none_or(|zeros| zeros >= free))
            }
            (MatchKind::Ternary, Match::Ternary { value, mask }) => (true, fits(value) && fits(mask)),
            (MatchKind::Range, Match::Range { low, high }) => (true, low <= high && fits(high)),
            (
                MatchKind::Exact | MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range | MatchKind::Optional,
                Match::Exact(_) | Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. },
            ) => (false, true),
        };
        if !allowed {
            let hint = "exact: 5; lpm: 0x0a000000/8; ternary: 5 &&& 7; range: 1..5; optional: 5; any but exact: _";
            self.report(site, "a value does not have the form of its key's kind", hint);
        } else if !right {
            self.error(site, format!("a value does not fit its key of {width} bits"));
        }
    }
}
