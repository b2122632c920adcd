//! Counters, meters, registers, value sets, digests and field lists.

use super::expressions::field;
use super::writer::{Writer, Written, placed};
use hlir::{MatchKind, MeterUnit};
use serde_json::{Value, json};

impl Writer<'_> {
    pub(super) fn counters(&self) -> Written<Value> {
        let mut described = Vec::new();
        for (id, (_, counter)) in self.program.counters.iter().enumerate() {
            let made = match counter.table {
                Some(table) => {
                    let binding = &self.program.tables[table].name;
                    json!({ "name": counter.name, "id": id, "is_direct": true, "binding": binding })
                }
                None => json!({ "name": counter.name, "id": id, "is_direct": false, "size": counter.size }),
            };
            described.push(placed(made, &counter.notes, &counter.name));
        }
        Ok(Value::Array(described))
    }

    pub(super) fn meters(&mut self) -> Written<Value> {
        let mut described = Vec::new();
        for (id, (_, meter)) in self.program.meters.iter().enumerate() {
            let kind = match meter.unit {
                MeterUnit::Packets => "packets",
                MeterUnit::Bytes => "bytes",
            };
            let made = match (meter.table, meter.automatic) {
                (Some(table), Some(colour)) => {
                    let table = &self.program.tables[table];
                    json!({
                        "name": meter.name, "id": id, "is_direct": true, "rate_count": 2, "type": kind,
                        "size": super::tables::size(table), "binding": table.name,
                        "result_target": self.storage.place(colour),
                    })
                }
                (None, None) => json!({
                    "name": meter.name, "id": id, "is_direct": false, "rate_count": 2, "type": kind, "size": meter.size,
                }),
                // A direct meter of no table: no packet runs it.
                (None, Some(_)) => continue,
                (Some(_), None) => {
                    self.origin = meter.notes.origin.clone();
                    return self.unsayable(format!("the direct meter `{}`", meter.name));
                }
            };
            described.push(placed(made, &meter.notes, &meter.name));
        }
        Ok(Value::Array(described))
    }

    pub(super) fn registers(&self) -> Written<Value> {
        let described = self.program.registers.values().enumerate().map(|(id, register)| {
            let made =
                json!({ "name": register.name, "id": id, "size": register.size, "bitwidth": register.width.max(1) });
            placed(made, &register.notes, &register.name)
        });
        Ok(described.collect())
    }

    pub(super) fn value_sets(&mut self) -> Written<Value> {
        let mut described = Vec::new();
        for (id, (_, set)) in self.program.value_sets.iter().enumerate() {
            self.origin = set.notes.origin.clone();
            if set.fields.iter().any(|(_, _, kind)| *kind != MatchKind::Exact) {
                return self.unsayable(format!("the value set `{}`, whose fields are not all exact,", set.name));
            }
            let width: u32 = set.fields.iter().map(|(_, width, _)| width).sum();
            let made = json!({ "name": set.name, "id": id, "compressed_bitwidth": width, "max_size": set.size });
            described.push(placed(made, &set.notes, &set.name));
        }
        Ok(Value::Array(described))
    }

    pub(super) fn learn_lists(&mut self) -> Value {
        let mut lists = Vec::new();
        for (id, digest) in self.program.digests.iter() {
            let elements: Vec<Value> = match self.digests.get(&id) {
                Some(Some(values)) => {
                    let values = values.clone();
                    values.iter().filter_map(|value| Some(field(&self.plain(value)?))).collect()
                }
                Some(None) | None => self.digest_places(id).iter().map(field).collect(),
            };
            let made = json!({ "name": digest.name, "id": id.into_raw().into_u32() + 1, "elements": elements });
            lists.push(placed(made, &digest.notes, &digest.name));
        }
        Value::Array(lists)
    }

    pub(super) fn field_lists(&self) -> Value {
        let lists = self.requests.0.iter().enumerate().map(|(at, asked)| {
            let kept = asked.keeps.iter().map(|variable| field(self.storage.variable(*variable)));
            json!({ "name": format!("field_list{}", at + 1), "id": at + 1, "elements": kept.collect::<Vec<_>>() })
        });
        lists.collect()
    }
}
