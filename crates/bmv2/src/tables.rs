//! Tables: keys, actions, default actions and entries.

use hlir::build::arithmetic;
use hlir::entry::EntryAction;
use hlir::interface::SourceTable;
use hlir::{
    Action as TableAction, ActionCall, Binary, Entry, Expression, IdleTimeout, Key, Match, MatchKind, Scope, Table,
    TableId,
};
use num_bigint::BigUint;

use crate::data::Data;
use crate::expressions::UNLIMITED;
use crate::json::{At, Read};
use crate::pipelines::notes;
use crate::reader::Action;
use crate::reader::Reader;
use std::sync::Arc;

impl Action<'_> {
    /// The name by which the `next_tables` of a table know the action.
    pub fn name_in<'j>(&self, table: &At<'j>) -> &'j str {
        let actions = table.value.get("actions").and_then(|actions| actions.as_array());
        let names = actions.into_iter().flatten().filter_map(|name| name.as_str());
        names.into_iter().find(|name| *name == self.name).unwrap_or_default()
    }
}

impl<'j> Reader<'j> {
    /// The action of a table that p4c made of statements or of a call: without keys, and with a constant default action. Tables of the source that are
    /// like this stay tables, for the controller: they are named in the P4Info, or have a dot in their name.
    pub fn dummy_action(&mut self, at: &At<'j>) -> Read<Option<Action<'j>>> {
        let is_known = match self.interface {
            Some(interface) => interface.tables.iter().any(|table| at.name().is_ok_and(|name| table.name == name)),
            None => at.name()?.contains('.') || !at.name()?.starts_with("tbl_"),
        };
        let Some(default) = at.get("default_entry") else { return Ok(None) };
        let is_constant = default.flag("action_const")? && default.list("action_data")?.is_empty();
        let is_plain = at.list("key")?.is_empty()
            && at.list("entries")?.is_empty()
            && at.get("action_profile").is_none()
            && !at.flag("with_counters")?
            && at.get("direct_meters").is_none();
        if is_known || !is_constant || !is_plain {
            return Ok(None);
        }
        let action = self.action(&default.field("action_id")?)?;
        Ok(action.parameters.is_empty().then_some(action))
    }

    pub fn read_table(&mut self, at: &At<'j>) -> Read<TableId> {
        let own = at.name()?;
        let name = self.builder.names.table(own);
        let source = self.interface.and_then(|interface| interface.tables.iter().find(|table| table.name == own));
        if let Some(kind) = at.get("type")
            && !["simple", "indirect", "indirect_ws"].contains(&kind.text()?)
        {
            return Err(kind.error(format!("{} is no type of table", kind.value)));
        }
        let keys = self.keys(at, source)?;
        let (mut actions, ids) = self.table_actions(at)?;
        let (default, default_constant) = self.default_entry(at, source, &mut actions, &ids)?;
        let profile = self.table_profile(at)?;
        let selector = self.selector(at)?;
        let made = Table {
            name,
            keys,
            actions,
            default,
            default_constant,
            size: at.get("max_size").map(|size| size.number()).transpose()?,
            entries: Arc::default(),
            // In BMv2 they are constant. Only P4Info names entries that a controller may change.
            entries_constant: at.get("entries").is_some() && source.is_none_or(|table| table.entries_constant),
            profile,
            selector,
            empty_group: None,
            idle_timeout: at.flag("support_timeout")?.then_some(IdleTimeout::Notify),
            add_on_miss: false,
            punt_on_miss: false,
            notes: notes(at),
        };
        let id = self.builder.program.tables.alloc(made);
        self.entries(id, at, &ids)?;
        self.bind_objects(id, at)?;
        Ok(id)
    }

    fn keys(&mut self, at: &At<'j>, source: Option<&SourceTable>) -> Read<Vec<Key>> {
        let mut keys = Vec::new();
        for (number, key) in at.list("key")?.into_iter().enumerate() {
            let target = key.field("target")?;
            let kind = key.field("match_type")?;
            let data = match kind.text()? {
                "valid" => self.valid_key(&target)?,
                _ => self.key_data(&target)?,
            };
            let given = match kind.text()? {
                "exact" | "valid" => MatchKind::Exact,
                "lpm" => MatchKind::Lpm,
                "ternary" => MatchKind::Ternary,
                "range" => MatchKind::Range,
                "optional" => MatchKind::Optional,
                other => return Err(kind.error(format!("`{other}` is no match kind of `simple_switch`"))),
            };
            // BMv2 matches optional keys as ternary ones; only the P4Info distinguishes them.
            let known = source.and_then(|table| table.keys.get(number)).map(|key| key.kind);
            let is_optional = given == MatchKind::Ternary && known == Some(MatchKind::Optional);
            let exact = data.exact().ok_or_else(|| target.error(UNLIMITED))?;
            let mut value = exact.value;
            if let Some(mask) = key.get("mask") {
                let mask = mask.bits()? & arithmetic::ones(exact.width);
                value = arithmetic::binary(Binary::And, value, Expression::constant(mask, exact.width));
            }
            let name = match (key.get("name"), target.items()) {
                (Some(name), _) => name.text()?.to_string(),
                (None, Ok(parts)) => parts.iter().filter_map(|part| part.value.as_str()).collect::<Vec<_>>().join("."),
                (None, Err(_)) => target.text()?.to_string(),
            };
            let kind = if is_optional { MatchKind::Optional } else { given };
            keys.push(Key { name, value, kind, notes: notes(&key) });
        }
        Ok(keys)
    }

    fn valid_key(&mut self, target: &At<'_>) -> Read<Data> {
        let name = target.items().ok().and_then(|parts| parts.first().cloned()).unwrap_or(target.clone());
        let instance = self.instance_named(&name)?;
        Ok(Data::of_boolean(self.valid(instance)))
    }

    /// A field, or the validity of a header or a union.
    fn key_data(&mut self, target: &At<'_>) -> Read<Data> {
        self.field_value(target)
    }

    /// The actions of a table, and their ids.
    fn table_actions(&mut self, at: &At<'j>) -> Read<(Vec<TableAction>, Vec<u64>)> {
        let (mut actions, mut ids) = (Vec::new(), Vec::new());
        for id in at.field("action_ids")?.items()? {
            let action = self.action(&id)?;
            let body = self.action_body(&action)?;
            ids.push(id.number()?);
            actions.push(TableAction {
                name: action.name,
                parameters: action.parameters,
                body,
                scope: Scope::Everywhere,
                notes: notes(&action.at),
            });
        }
        Ok((actions, ids))
    }

    /// What runs on a miss, and whether it is constant. p4c leaves it out for tables with an action profile: then it is that of the P4Info, if it has
    /// one. Without a default action nothing runs.
    fn default_entry(
        &mut self,
        at: &At<'j>,
        source: Option<&SourceTable>,
        actions: &mut Vec<TableAction>,
        ids: &[u64],
    ) -> Read<(ActionCall, bool)> {
        if let Some(default) = at.get("default_entry") {
            let constant = default.flag("action_entry_const")? || default.flag("action_const")?;
            return Ok((action_call(&default, actions, ids)?, constant));
        }
        let default = source.and_then(|table| table.default.as_ref());
        if let Some((default, interface)) = default.zip(self.interface) {
            let name = interface.actions.iter().find(|action| action.id == default.action).map(|action| &action.name);
            let known = actions.iter().position(|action| Some(&action.name) == name);
            if let Some(action) = known.filter(|known| actions[*known].parameters.len() == default.arguments.len()) {
                let call = ActionCall { action: action as u32, arguments: default.arguments.clone() };
                return Ok((call, default.constant));
            }
        }
        let nothing = |action: &TableAction| action.parameters.is_empty() && action.body.is_empty();
        let known = actions.iter().position(|action| nothing(action) && action.name == "NoAction");
        let action = known.unwrap_or_else(|| {
            let (name, scope) = ("NoAction".to_string(), Scope::DefaultOnly);
            let (parameters, body) = (Vec::new(), Vec::new());
            actions.push(TableAction { name, parameters, body, scope, notes: hlir::Notes::default() });
            actions.len() - 1
        });
        Ok((ActionCall { action: action as u32, arguments: Vec::new() }, false))
    }

    fn entries(&mut self, id: TableId, at: &At<'j>, ids: &[u64]) -> Read<()> {
        let mut read = Vec::new();
        let table = &self.builder.program.tables[id];
        for entry in at.list("entries")? {
            let keys = entry.field("match_key")?.items()?;
            if keys.len() != table.keys.len() {
                return Err(entry.field("match_key")?.error(format!("the table has {} keys", table.keys.len())));
            }
            let mut matches = Vec::new();
            for (key, of) in keys.iter().zip(&table.keys) {
                let width = of.value.type_in(&self.builder.program, &[]).width();
                matches.push(key_match(key, of.kind, width)?);
            }
            let call = action_call(&entry.field("action_entry")?, &table.actions, ids)?;
            let priority = entry.get("priority").map_or(Ok(0), |priority| priority.small())?;
            read.push((matches, priority, call));
        }
        // The smallest priority wins in BMv2, the largest one in HLIR.
        let most = read.iter().map(|(_, priority, _)| *priority).max().unwrap_or(0);
        let ordered = table.has_priorities();
        let made = read.into_iter().map(|(matches, priority, call)| {
            let priority = if ordered { most - priority + 1 } else { 0 };
            Entry { matches, priority, action: EntryAction::Call(call), constant: false }
        });
        self.builder.program.tables[id].entries = Arc::new(made.collect());
        Ok(())
    }

    fn table_profile(&self, at: &At<'_>) -> Read<Option<hlir::ProfileId>> {
        let Some(name) = at.get("action_profile") else { return Ok(None) };
        let found = self.profiles.get(name.text()?).copied();
        found.map(Some).ok_or_else(|| name.error(format!("no action profile is called {}", name.value)))
    }

    /// What the selector of a table's profile hashes.
    fn selector(&mut self, at: &At<'j>) -> Read<Vec<Expression>> {
        let Some(name) = at.get("action_profile") else { return Ok(Vec::new()) };
        for pipeline in self.root.field("pipelines")?.items()? {
            for profile in pipeline.list("action_profiles")? {
                if profile.name()? != name.text()? {
                    continue;
                }
                let Some(selector) = profile.get("selector") else { return Ok(Vec::new()) };
                let mut inputs = Vec::new();
                for input in selector.field("input")?.items()? {
                    inputs.push(self.data(&input)?.exact().ok_or_else(|| input.error(UNLIMITED))?.value);
                }
                return Ok(inputs);
            }
        }
        Ok(Vec::new())
    }

    /// Connects the direct counters and meters of a table.
    fn bind_objects(&mut self, id: TableId, at: &At<'j>) -> Read<()> {
        let own = at.name()?;
        let mut is_counted = false;
        for counter in self.root.list("counter_arrays")? {
            if counter.get("binding").is_some_and(|binding| binding.value.as_str() == Some(own)) {
                let counter = self.counters[counter.name()?];
                self.builder.program.counters[counter].table = Some(id);
                is_counted = true;
            }
        }
        if at.flag("with_counters")? && !is_counted {
            let name = self.builder.names.object(&format!("{own}.counters"));
            let (unit, notes) = (hlir::CounterUnit::Both, hlir::Notes::default());
            let counter = hlir::Counter { name, size: 0, table: Some(id), unit, automatic: true, notes };
            self.builder.program.counters.alloc(counter);
        }
        if let Some(name) = at.get("direct_meters") {
            let meter = self.meters.get(name.text()?).copied();
            let meter = meter.ok_or_else(|| name.error(format!("no meter is called {}", name.value)))?;
            self.builder.program.meters[meter].table = Some(id);
        }
        Ok(())
    }
}

/// An action of the table with its data.
fn action_call(at: &At<'_>, actions: &[TableAction], ids: &[u64]) -> Read<ActionCall> {
    let id = at.field("action_id")?;
    let number = id.number()?;
    let found = ids.iter().position(|known| *known == number);
    let action = found.ok_or_else(|| id.error(format!("the table has no action with the id {number}")))?;
    let data = at.list("action_data")?;
    let parameters = &actions[action].parameters;
    if data.len() != parameters.len() {
        return Err(at.error(format!("action `{}` has {} parameters", actions[action].name, parameters.len())));
    }
    let arguments = data.iter().zip(parameters).map(|(value, parameter)| fitting(value, parameter.width));
    Ok(ActionCall { action: action as u32, arguments: arguments.collect::<Read<_>>()? })
}

/// A number that has at most so many bits.
fn fitting(at: &At<'_>, width: u32) -> Read<BigUint> {
    let value = at.bits()?;
    if value.bits() > u64::from(width) {
        Err(at.error(format!("this number has at most {width} bits")))
    } else {
        Ok(value)
    }
}

fn key_match(at: &At<'_>, kind: MatchKind, width: u32) -> Read<Match> {
    let all = arithmetic::ones(width);
    let given = at.field("match_type")?;
    let value = |name: &'static str| fitting(&at.field(name)?, width);
    let ternary = |value: BigUint, mask: BigUint| match kind {
        _ if mask == BigUint::ZERO => Match::Any,
        MatchKind::Optional if mask == all => Match::Exact(value),
        _ => Match::Ternary { value: value & &mask, mask },
    };
    Ok(match (given.text()?, kind) {
        ("valid", _) => Match::Exact(BigUint::from(u8::from(at.field("key")?.boolean()?))),
        ("exact", MatchKind::Exact | MatchKind::Optional) => Match::Exact(value("key")?),
        ("lpm", MatchKind::Lpm) => {
            let prefix = at.field("prefix_length")?.small()?;
            if prefix > width {
                return Err(at.error(format!("a prefix has at most {width} bits")));
            }
            let mask = &all ^ arithmetic::ones(width - prefix);
            if prefix == 0 { Match::Any } else { Match::Lpm { value: value("key")? & mask, prefix } }
        }
        ("ternary" | "optional", MatchKind::Ternary | MatchKind::Optional) => ternary(value("key")?, value("mask")?),
        ("range", MatchKind::Range) => Match::Range { low: value("start")?, high: value("end")? },
        (other, _) => return Err(given.error(format!("`{other}` is not the match kind of this key"))),
    })
}
