//! Tables: keys, actions, default actions and entries.

use super::calls;
use super::expressions::{field, hex};
use super::parser::assignment;
use super::writer::{Writer, Written, placed};
use hlir::build::arithmetic::ones;
use hlir::entry::EntryAction;
use hlir::{Action, ActionCall, Expression, Key, Match, MatchKind, ProfileId, Statement, Table, TableId};
use num_bigint::BigUint;
use serde_json::{Value, json};

/// Entries of a table that names no number, as in p4c.
const DEFAULT_SIZE: u64 = 1024;

/// A table without its successors, and what is computed before it.
pub struct Made {
    pub table: Value,
    pub before: Vec<Value>,
}

impl Writer<'_> {
    /// Adds an action: its id.
    pub(super) fn action(&mut self, name: &str, primitives: Vec<Value>, data: Vec<Value>) -> usize {
        let id = self.actions.len();
        self.actions.push(json!({ "name": name, "id": id, "runtime_data": data, "primitives": primitives }));
        id
    }

    fn table_action(&mut self, action: &Action) -> Written<usize> {
        self.origin = action.notes.origin.clone();
        self.parameters = action.parameters.iter().map(|parameter| parameter.width).collect();
        let primitives = self.primitives(&action.body)?;
        self.parameters.clear();
        let data = action.parameters.iter();
        let data = data.map(|parameter| json!({ "name": parameter.name, "bitwidth": parameter.width })).collect();
        Ok(self.action(&action.name, primitives, data))
    }

    pub(super) fn table(&mut self, id: TableId, number: usize) -> Written<Made> {
        let table = &self.program.tables[id];
        self.check_table(table)?;
        let ids = table.actions.iter().map(|action| self.table_action(action)).collect::<Written<Vec<_>>>()?;
        self.origin = table.notes.origin.clone();
        let mut before = Vec::new();
        let keys = table.keys.iter().map(|key| self.key(key, &mut before)).collect::<Written<Vec<_>>>()?;
        let counters = self.program.counters.values();
        let meter = self.program.meters.values().find(|meter| meter.table == Some(id));
        let names: Vec<&str> = table.actions.iter().map(|action| action.name.as_str()).collect();
        let mut made = json!({
            "name": table.name,
            "id": number,
            "key": keys,
            "match_type": match_type(table),
            "type": "simple",
            "max_size": size(table),
            "with_counters": counters.into_iter().any(|counter| counter.table == Some(id)),
            "support_timeout": table.idle_timeout.is_some(),
            "direct_meters": meter.map(|meter| meter.name.as_str()),
            "action_ids": ids,
            "actions": names,
        });
        let mut set = |name: &str, value: Value| {
            made.as_object_mut().expect("a table is an object").insert(name.to_string(), value);
        };
        match table.profile {
            Some(profile) => {
                let has_selector = self.program.profiles[profile].selector.is_some();
                set("type", json!(if has_selector { "indirect_ws" } else { "indirect" }));
                set("action_profile", json!(self.program.profiles[profile].name));
                // p4-utils looks for the name of older versions.
                set("act_prof_name", json!(self.program.profiles[profile].name));
            }
            None => set("default_entry", default_entry(table, &ids)),
        }
        if !table.entries.is_empty() {
            set("entries", self.entries(table, &ids)?);
        }
        Ok(Made { table: placed(made, &table.notes, last(&table.name)), before })
    }

    /// What tables have beyond BMv2's.
    fn check_table(&mut self, table: &Table) -> Written {
        self.origin = table.notes.origin.clone();
        let default = &table.actions[table.default.action as usize];
        let extras = [
            (table.add_on_miss, "whose misses add entries"),
            (table.punt_on_miss, "whose misses go to the controller"),
            (table.empty_group.is_some(), "with an action for empty groups"),
            (table.profile.is_some() && !default.body.is_empty(), "with an action profile and a default action"),
        ];
        match extras.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, what)) => self.unsayable(format!("the table `{}`, {what},", table.name)),
            None => Ok(()),
        }
    }

    fn key(&mut self, key: &Key, before: &mut Vec<Value>) -> Written<Value> {
        let place = self.lookup_place(&key.value, before)?;
        Ok(json!({ "match_type": kind(key.kind), "name": key.name, "target": place, "mask": null }))
    }

    /// Where a value that a table reads is: computed ones are put into a scalar before the table.
    fn lookup_place(&mut self, value: &Expression, before: &mut Vec<Value>) -> Written<[String; 2]> {
        if let Some(place) = self.plain(value) {
            return Ok(place);
        }
        let place = self.storage.temporary(value.type_in(self.program, &[]).width());
        before.push(assignment(&place, self.parameter(value)?));
        Ok(place)
    }

    /// What a selector hashes.
    pub(super) fn selector_inputs(&mut self, table: TableId, before: &mut Vec<Value>) -> Written<Vec<Value>> {
        let inputs = &self.program.tables[table].selector;
        inputs.iter().map(|input| Ok(field(&self.lookup_place(input, before)?))).collect()
    }

    pub(super) fn profile(&self, id: ProfileId, number: usize, inputs: &[Value]) -> Value {
        let profile = &self.program.profiles[id];
        let mut made = json!({ "name": profile.name, "id": number, "max_size": profile.size });
        if let (Some(selector), Some(object)) = (&profile.selector, made.as_object_mut()) {
            let selector = json!({ "algo": calls::algorithm(selector.algorithm), "input": inputs });
            object.insert("selector".to_string(), selector);
        }
        placed(made, &profile.notes, last(&profile.name))
    }

    fn entries(&mut self, table: &Table, ids: &[usize]) -> Written<Value> {
        // The smallest priority wins in BMv2, the largest one in HLIR.
        let most = table.entries.iter().map(|entry| entry.priority).max().unwrap_or(0);
        let mut described = Vec::new();
        for (at, entry) in table.entries.iter().enumerate() {
            let EntryAction::Call(call) = &entry.action else {
                return self.unsayable("an entry that names a member of an action profile");
            };
            let matches = table.keys.iter().zip(&entry.matches).map(|(key, given)| {
                let width = key.value.type_in(self.program, &[]).width();
                match_key(key.kind, given, width)
            });
            let priority = if table.has_priorities() { most - entry.priority + 1 } else { at as u32 + 1 };
            described.push(json!({
                "match_key": matches.collect::<Vec<_>>(),
                "action_entry": { "action_id": ids[call.action as usize], "action_data": data(call) },
                "priority": priority,
            }));
        }
        Ok(Value::Array(described))
    }

    /// A table that runs a body: p4c has such for statements between tables.
    pub(super) fn statements_table(&mut self, name: &str, number: usize, primitives: Vec<Value>) -> Value {
        let action = name.strip_prefix("tbl_").unwrap_or(name).to_string();
        let id = self.action(&action, primitives, Vec::new());
        json!({
            "name": name, "id": number, "key": [], "match_type": "exact", "type": "simple", "max_size": DEFAULT_SIZE,
            "with_counters": false, "support_timeout": false, "direct_meters": null, "action_ids": [id],
            "actions": [action],
            "default_entry": { "action_id": id, "action_const": true, "action_data": [], "action_entry_const": true },
        })
    }

    pub(super) fn body(&mut self, body: &[Statement]) -> Written<Vec<Value>> {
        self.parameters.clear();
        self.primitives(body)
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn data(call: &ActionCall) -> Vec<String> {
    call.arguments.iter().map(|value| format!("0x{value:x}")).collect()
}

fn default_entry(table: &Table, ids: &[usize]) -> Value {
    let call = &table.default;
    json!({
        "action_id": ids[call.action as usize],
        "action_const": table.default_constant,
        "action_data": data(call),
        "action_entry_const": table.default_constant,
    })
}

/// Entries that a table has room for. Without a declared number, those that it has if they are all; p4c writes that also where
/// a controller may add some, which BMv2 then refuses.
pub fn size(table: &Table) -> u64 {
    let own = table.entries.len() as u64;
    let all = if table.entries_constant && own > 0 { own } else { own.max(DEFAULT_SIZE) };
    table.capacity().unwrap_or(all)
}

/// BMv2 has no optional keys: p4c makes them ternary.
fn kind(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary | MatchKind::Optional => "ternary",
        MatchKind::Range => "range",
    }
}

/// The kind of a table is that of its most general key.
fn match_type(table: &Table) -> &'static str {
    let has = |wanted: &str| table.keys.iter().any(|key| kind(key.kind) == wanted);
    ["range", "ternary", "lpm"].into_iter().find(|kind| has(kind)).unwrap_or("exact")
}

fn match_key(of: MatchKind, given: &Match, width: u32) -> Value {
    let (zero, all) = (BigUint::ZERO, ones(width));
    let hex = |value: &BigUint| hex(value, width);
    match (of, given) {
        (MatchKind::Range, Match::Range { low, high }) => {
            json!({ "match_type": "range", "start": hex(low), "end": hex(high) })
        }
        (MatchKind::Range, Match::Exact(value)) => {
            json!({ "match_type": "range", "start": hex(value), "end": hex(value) })
        }
        (MatchKind::Range, _) => json!({ "match_type": "range", "start": hex(&zero), "end": hex(&all) }),
        (MatchKind::Lpm, Match::Lpm { value, prefix }) => {
            json!({ "match_type": "lpm", "key": hex(value), "prefix_length": prefix })
        }
        (MatchKind::Lpm, Match::Exact(value)) => {
            json!({ "match_type": "lpm", "key": hex(value), "prefix_length": width })
        }
        (MatchKind::Lpm, _) => json!({ "match_type": "lpm", "key": hex(&zero), "prefix_length": 0 }),
        (MatchKind::Exact, Match::Exact(value)) => json!({ "match_type": "exact", "key": hex(value) }),
        (_, Match::Exact(value)) => json!({ "match_type": "ternary", "key": hex(value), "mask": hex(&all) }),
        (_, Match::Ternary { value, mask }) => {
            json!({ "match_type": "ternary", "key": hex(value), "mask": hex(mask) })
        }
        (_, Match::Any | Match::Lpm { .. } | Match::Range { .. }) => {
            json!({ "match_type": "ternary", "key": hex(&zero), "mask": hex(&zero) })
        }
    }
}
