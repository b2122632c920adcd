//! What is known of a table: facts of the source, and those that come with the inputs.

use hlir::effects::learns;
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::{ActionCall, Entry, Match, MatchKind, NodeId, NodeKind, Program, Table, TableId};
use num_bigint::BigUint;
use std::collections::BTreeSet;

/// Facts of one table, by what they are about.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub is_empty: bool,
    pub default: Option<ActionCall>,
    pub entries: Option<Vec<Entry>>,
    pub leading: Option<Vec<Entry>>,
    pub actions: Option<Vec<u32>>,
    pub arguments: Vec<(u32, u32, BigUint)>,
    pub any: Vec<u32>,
    pub values: Vec<(u32, BigUint)>,
    pub masks: Vec<(u32, BigUint)>,
    pub is_distinct: bool,
    pub is_unmetered: bool,
}

impl Known {
    /// Facts of the source come first: what no write can change needs no other.
    pub fn of(program: &Program, id: TableId, facts: &[Assumption]) -> Known {
        let mut known = Known::default();
        let given = facts.iter().filter(|given| given.table == id).map(|given| given.fact.clone());
        of_source(&program.tables[id]).into_iter().chain(given).for_each(|fact| known.add(fact));
        if known.is_empty {
            known.actions = Some(Vec::new());
        }
        known
    }

    fn add(&mut self, fact: Fact) {
        match fact {
            Fact::Empty => self.is_empty = true,
            Fact::Default(call) => drop(self.default.get_or_insert(call)),
            Fact::Entries(entries) => drop(self.entries.get_or_insert(entries)),
            Fact::Leading(entries) => drop(self.leading.get_or_insert(entries)),
            Fact::Actions(actions) => drop(self.actions.get_or_insert(actions)),
            Fact::Argument { action, parameter, value } => self.arguments.push((action, parameter, value)),
            Fact::Any(key) => self.any.push(key),
            Fact::Key { key, value } => self.values.push((key, value)),
            Fact::Mask { key, mask } => self.masks.push((key, mask)),
            Fact::Distinct => self.is_distinct = true,
            Fact::Unmetered => self.is_unmetered = true,
        }
    }
}

/// The nodes that look a table up.
pub(super) fn lookups(program: &Program, id: TableId) -> Vec<NodeId> {
    let is_lookup = |kind: &NodeKind| matches!(kind, NodeKind::Apply { table, .. } if *table == id);
    program.nodes.iter().filter(|(_, node)| is_lookup(&node.kind)).map(|(node, _)| node).collect()
}

/// Whether a controller alone decides about what a table does.
pub(super) fn can_be_known(program: &Program, id: TableId) -> bool {
    let table = &program.tables[id];
    !table.punt_on_miss && !learns(program, id)
}

/// What follows from a table's source alone.
pub fn of_source(table: &Table) -> Vec<Fact> {
    let mut facts = Vec::new();
    if table.default_constant {
        facts.push(Fact::Default(table.default.clone()));
    }
    let can_be_written = !table.entries_constant && !table.keys.is_empty();
    if can_be_written || table.profile.is_some() || table.add_on_miss {
        return facts;
    }
    if table.entries.is_empty() {
        facts.push(Fact::Empty);
        return facts;
    }
    facts.extend(shared(table, &table.entries));
    facts
}

/// What entries have in common.
fn shared(table: &Table, entries: &[Entry]) -> Vec<Fact> {
    let mut facts = Vec::new();
    let call = |entry: &Entry| match &entry.action {
        EntryAction::Call(call) => Some(call.clone()),
        EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
    };
    if let Some(calls) = entries.iter().map(call).collect::<Option<Vec<ActionCall>>>() {
        let actions: BTreeSet<u32> = calls.iter().map(|call| call.action).collect();
        for action in &actions {
            let first = calls.iter().find(|call| call.action == *action).expect("it is one of these");
            let all = |parameter: usize| {
                let same = |call: &&ActionCall| call.arguments[parameter] == first.arguments[parameter];
                calls.iter().filter(|call| call.action == *action).all(|call| same(&call))
            };
            let same = (0u32..).zip(&first.arguments).filter(|(parameter, _)| all(*parameter as usize));
            facts.extend(same.map(|(parameter, value)| Fact::Argument {
                action: *action,
                parameter,
                value: value.clone(),
            }));
        }
        facts.push(Fact::Actions(actions.into_iter().collect()));
    }
    let is_any = |key: usize| entries.iter().all(|entry| is_neutral(table.keys[key].kind, &entry.matches[key]));
    facts.extend((0..table.keys.len()).filter(|key| is_any(*key)).map(|key| Fact::Any(key as u32)));
    for (key, first) in entries.first().into_iter().flat_map(|first| (0u32..).zip(&first.matches)) {
        let is_same = |entry: &Entry| entry.matches[key as usize] == *first;
        if let Match::Exact(value) = first
            && entries.iter().all(is_same)
        {
            facts.push(Fact::Key { key, value: value.clone() });
        }
    }
    facts
}

/// Whether a match is one that every value of the key has.
pub(super) fn is_neutral(kind: MatchKind, found: &Match) -> bool {
    match found {
        Match::Any => kind != MatchKind::Exact,
        Match::Ternary { mask, .. } => *mask == BigUint::ZERO,
        Match::Lpm { prefix, .. } => *prefix == 0,
        Match::Exact(_) | Match::Range { .. } => false,
    }
}
