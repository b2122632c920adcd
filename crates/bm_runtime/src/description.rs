//! The program as BMv2's clients read it from the switch: names, types of matches, widths. JSON in the form that they know.
//!
//! It is no program that BMv2 could run: parsers, the bodies of actions and the order of tables are not in it.

use hlir::{CounterUnit, MatchKind, MeterUnit, Program, Table, TableId};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The description of a program.
pub fn of(program: &Program) -> Value {
    let mut headers = Headers::default();
    let actions = Actions::of(program);
    let tables: Vec<Value> =
        program.tables.iter().map(|(id, table)| table_of(program, id, table, &actions, &mut headers)).collect();
    let profiles = program.profiles.iter().enumerate().map(|(at, (_, profile))| {
        let mut described = json!({ "name": profile.name, "id": at, "max_size": profile.size });
        if let (Some(selector), Some(object)) = (&profile.selector, described.as_object_mut()) {
            let algorithm = format!("{:?}", selector.algorithm).to_lowercase();
            object.insert("selector".to_string(), json!({ "algo": algorithm, "input": [] }));
        }
        described
    });
    let ingress = json!({
        "name": "ingress",
        "id": 0,
        "tables": tables,
        "action_profiles": profiles.collect::<Vec<_>>(),
        "conditionals": [],
    });
    json!({
        "__meta__": { "version": [2, 23], "compiler": "bacus", "is_description": true },
        "program": program.name,
        "header_types": headers.types(),
        "headers": headers.instances(),
        "actions": actions.described,
        "pipelines": [ingress],
        "counter_arrays": counters(program),
        "meter_arrays": meters(program),
        "register_arrays": registers(program),
        "calculations": calculations(program),
        "learn_lists": digests(program),
        "parse_vsets": value_sets(program),
    })
}

/// The calculations whose parameters can be set.
fn calculations(program: &Program) -> Vec<Value> {
    let crcs = program.crcs.values().enumerate();
    let described = crcs.map(
        |(id, crc)| json!({ "name": crc.name, "id": id, "algo": format!("crc{}_custom", crc.width), "input": [] }),
    );
    described.collect()
}

/// All actions of all tables, each once.
struct Actions {
    ids: BTreeMap<String, usize>,
    described: Vec<Value>,
}

impl Actions {
    fn of(program: &Program) -> Actions {
        let mut actions = Actions { ids: BTreeMap::new(), described: Vec::new() };
        for action in program.tables.iter().flat_map(|(_, table)| &table.actions) {
            if actions.ids.contains_key(&action.name) {
                continue;
            }
            let id = actions.described.len();
            let parameters = action.parameters.iter();
            let parameters = parameters.map(|known| json!({ "name": known.name, "bitwidth": known.width }));
            let data: Vec<Value> = parameters.collect();
            actions.described.push(json!({ "name": action.name, "id": id, "runtime_data": data, "primitives": [] }));
            actions.ids.insert(action.name.clone(), id);
        }
        actions
    }
}

/// Header instances with the fields that keys name, since clients look up the widths of keys there.
#[derive(Default)]
struct Headers(BTreeMap<String, BTreeMap<String, u32>>);

impl Headers {
    /// A key's name as an instance and a field of it: `hdr.ipv4.dst` is `dst` of `ipv4`.
    fn target(&mut self, name: &str, width: u32) -> [String; 2] {
        if let Some(header) = name.strip_suffix(".isValid()").or_else(|| name.strip_suffix(".$valid$")) {
            let instance = without_first(header).to_string();
            self.0.entry(instance.clone()).or_default();
            return [instance, "$valid$".to_string()];
        }
        let (instance, field) = match without_first(name).rsplit_once('.') {
            Some((instance, field)) => (instance.to_string(), field.to_string()),
            None => name.rsplit_once('.').map_or(("scalars".to_string(), name.to_string()), |(instance, field)| {
                (instance.to_string(), field.to_string())
            }),
        };
        self.0.entry(instance.clone()).or_default().insert(field.clone(), width);
        [instance, field]
    }

    fn types(&self) -> Vec<Value> {
        let described = self.0.iter().enumerate().map(|(id, (name, fields))| {
            let fields: Vec<Value> = fields.iter().map(|(field, width)| json!([field, width, false])).collect();
            json!({ "name": format!("{name}_t"), "id": id, "fields": fields })
        });
        described.collect()
    }

    fn instances(&self) -> Vec<Value> {
        let described =
            self.0.keys().enumerate().map(
                |(id, name)| json!({ "name": name, "id": id, "header_type": format!("{name}_t"), "metadata": false }),
            );
        described.collect()
    }
}

fn without_first(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, rest)| rest)
}

/// BMv2 has no optional matches: to it they are ternary.
fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary | MatchKind::Optional => "ternary",
        MatchKind::Range => "range",
    }
}

/// The kind of a whole table: that of its most general key.
pub fn table_kind(kinds: impl Iterator<Item = MatchKind>) -> &'static str {
    let rank = |kind: &MatchKind| match kind {
        MatchKind::Exact => 0,
        MatchKind::Lpm => 1,
        MatchKind::Ternary | MatchKind::Optional => 2,
        MatchKind::Range => 3,
    };
    kind_name(kinds.max_by_key(rank).unwrap_or(MatchKind::Exact))
}

fn table_of(program: &Program, id: TableId, table: &Table, actions: &Actions, headers: &mut Headers) -> Value {
    let kinds = program.key_kinds(id);
    let keys = table.keys.iter().zip(&kinds).map(|(key, (kind, width))| {
        json!({
            "match_type": kind_name(*kind),
            "name": key.name,
            "target": headers.target(&key.name, *width),
            "mask": Value::Null,
        })
    });
    let keys: Vec<Value> = keys.collect();
    let has_objects = program.counters.iter().any(|(_, counter)| counter.table == Some(id));
    let names: Vec<&str> = table.actions.iter().map(|action| action.name.as_str()).collect();
    let mut described = json!({
        "name": table.name,
        "id": id.into_raw().into_u32(),
        "key": keys,
        "match_type": table_kind(kinds.iter().map(|(kind, _)| *kind)),
        "type": "simple",
        "max_size": table.size.unwrap_or(1024),
        "with_counters": has_objects,
        "support_timeout": table.idle_timeout.is_some(),
        "direct_meters": Value::Null,
        "action_ids": names.iter().filter_map(|name| actions.ids.get(*name)).collect::<Vec<_>>(),
        "actions": names,
        "next_tables": Map::new(),
    });
    if let (Some(profile), Some(object)) = (table.profile, described.as_object_mut()) {
        let profile = &program.profiles[profile];
        let kind = if profile.selector.is_some() { "indirect_ws" } else { "indirect" };
        object.insert("type".to_string(), json!(kind));
        // The second name is that of older JSON, which p4-utils reads.
        for key in ["action_profile", "act_prof_name"] {
            object.insert(key.to_string(), json!(profile.name));
        }
    }
    described
}

fn bound(described: &mut Value, program: &Program, table: Option<TableId>, size: u64) {
    let Some(object) = described.as_object_mut() else { return };
    object.insert("is_direct".to_string(), json!(table.is_some()));
    match table {
        Some(table) => object.insert("binding".to_string(), json!(program.tables[table].name)),
        None => object.insert("size".to_string(), json!(size)),
    };
}

fn counters(program: &Program) -> Vec<Value> {
    let described = program.counters.iter().enumerate().map(|(id, (_, counter))| {
        let unit = match counter.unit {
            CounterUnit::Packets => "packets",
            CounterUnit::Bytes => "bytes",
            CounterUnit::Both => "packets_and_bytes",
        };
        let mut described = json!({ "name": counter.name, "id": id, "type": unit });
        bound(&mut described, program, counter.table, counter.size);
        described
    });
    described.collect()
}

fn meters(program: &Program) -> Vec<Value> {
    let described = program.meters.iter().enumerate().map(|(id, (_, meter))| {
        let unit = match meter.unit {
            MeterUnit::Packets => "packets",
            MeterUnit::Bytes => "bytes",
        };
        let mut described = json!({ "name": meter.name, "id": id, "rate_count": 2, "type": unit });
        bound(&mut described, program, meter.table, meter.size);
        described
    });
    described.collect()
}

fn registers(program: &Program) -> Vec<Value> {
    let described = program.registers.iter().enumerate().map(|(id, (_, register))| {
        json!({ "name": register.name, "id": id, "bitwidth": register.width, "size": register.size })
    });
    described.collect()
}

fn digests(program: &Program) -> Vec<Value> {
    let described = program.digests.iter().enumerate().map(|(id, (_, digest))| {
        let fields: Vec<&str> = digest.fields.iter().map(|(name, _)| name.as_str()).collect();
        json!({ "name": digest.name, "id": id + 1, "fields": fields })
    });
    described.collect()
}

fn value_sets(program: &Program) -> Vec<Value> {
    let described = program.value_sets.iter().enumerate().map(|(id, (_, set))| {
        let bits: u32 = set.fields.iter().map(|(_, width, _)| *width).sum();
        json!({ "name": set.name, "id": id, "compressed_bitwidth": bits, "max_size": set.size })
    });
    described.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_fields_of_instances() {
        let mut headers = Headers::default();
        let cases = [
            ("hdr.ipv4.dst", ["ipv4", "dst"]),
            ("standard_metadata.ingress_port", ["standard_metadata", "ingress_port"]),
            ("hdr.ipv4.isValid()", ["ipv4", "$valid$"]),
            ("hash", ["scalars", "hash"]),
            ("hdr.stack[0].label", ["stack[0]", "label"]),
        ];
        for (name, target) in cases {
            assert_eq!(headers.target(name, 8), target, "{name}");
        }
    }

    #[test]
    fn the_most_general_key_is_the_kind_of_a_table() {
        let kind = |kinds: &[MatchKind]| table_kind(kinds.iter().copied());
        assert_eq!(kind(&[]), "exact");
        assert_eq!(kind(&[MatchKind::Lpm, MatchKind::Exact]), "lpm");
        assert_eq!(kind(&[MatchKind::Optional, MatchKind::Lpm]), "ternary");
        assert_eq!(kind(&[MatchKind::Range, MatchKind::Ternary]), "range");
    }
}
