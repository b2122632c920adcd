//! What a program does with the standard metadata, found before it is lowered: multicast, drops in egress, field lists.

use std::collections::BTreeSet;

use hlir::build::Known;
use hlir::build::v1model::Request;
use hlir::{Notes, Type};
use serde_json::Value;

use crate::instances::Leaf;
use crate::json::Read;
use crate::reader::Reader;

/// What the buffering managers need to know of the program.
pub struct Uses {
    pub egress_drops: bool,
}

/// The standard metadata that `simple_switch` requires.
const REQUIRED: [&str; 3] = ["ingress_port", "egress_spec", "egress_port"];

/// Instances whose fields the switch knows, beside those that `field_aliases` names.
const STANDARD: [&str; 3] = ["standard_metadata", "intrinsic_metadata", "queueing_metadata"];

impl Reader<'_> {
    /// Finds the fields that the switch reads and writes: those of the standard metadata, and aliases of them.
    pub fn find_standard_metadata(&mut self) -> Read<()> {
        for instance in &self.storage.instances {
            if instance.header.is_some() {
                continue;
            }
            for field in &instance.fields {
                let Leaf::Slot(slot) = field.leaf else { continue };
                self.metadata.slots.push(slot);
                if STANDARD.contains(&instance.name.as_str()) {
                    let known = Known { slot, of_type: Type::Bits(field.width) };
                    self.metadata.standard.insert(field.name.clone(), known);
                }
            }
        }
        for at in self.root.list("field_aliases")? {
            let [alias, field] = at.tuple()?;
            let member = self.member(&field)?;
            let Leaf::Slot(slot) = member.leaf else {
                return Err(field.error("an alias of metadata must be a field of metadata"));
            };
            if let Some((_, name)) = alias.text()?.split_once('.') {
                let known = Known { slot, of_type: Type::Bits(member.width) };
                self.metadata.standard.insert(name.to_string(), known);
            }
        }
        for name in REQUIRED {
            if !self.metadata.standard.contains_key(name) {
                let message = format!("the program has no field `standard_metadata.{name}`");
                let hint = "programs for `simple_switch` are read; those of other targets (`psa_switch`, `simple_router`) are not";
                return Err(self.root.error(message).hint(hint));
            }
        }
        Ok(())
    }

    /// Looks for the uses of fields by which packets are sent.
    pub fn read_uses(&mut self) -> Uses {
        let groups = self.names_of("mcast_grp");
        let specs = self.names_of("egress_spec");
        let actions = self.root.get("actions").map_or(&Value::Null, |actions| actions.value);
        self.metadata.uses_multicast = mentions(actions, &groups);
        Uses { egress_drops: self.egress_drops(&specs) }
    }

    /// The names, as in `["header", "field"]`, of a field of the standard metadata.
    fn names_of(&self, name: &str) -> BTreeSet<(String, String)> {
        let Some(known) = self.metadata.standard.get(name) else { return BTreeSet::new() };
        let instances = self.storage.instances.iter();
        let fields = instances.flat_map(|instance| instance.fields.iter().map(move |field| (instance, field)));
        let same = fields.filter(|(_, field)| field.leaf == Leaf::Slot(known.slot));
        same.map(|(instance, field)| (instance.name.clone(), field.name.clone())).collect()
    }

    /// Whether an action or a condition of egress has to do with dropping.
    fn egress_drops(&self, specs: &BTreeSet<(String, String)>) -> bool {
        let pipelines = self.root.list("pipelines").unwrap_or_default();
        let Some(egress) = pipelines.into_iter().find(|at| at.name().is_ok_and(|name| name == "egress")) else {
            return false;
        };
        let of_tables = egress.list("tables").unwrap_or_default().into_iter().flat_map(|table| {
            let ids = table.list("action_ids").unwrap_or_default();
            ids.into_iter().filter_map(|id| id.number().ok()).collect::<Vec<_>>()
        });
        let calls = egress.list("action_calls").unwrap_or_default();
        let of_calls = calls.iter().filter_map(|call| call.get("action_id")?.number().ok());
        let actions: BTreeSet<u64> = of_tables.chain(of_calls).collect();
        mentions(egress.value, specs)
            || actions.iter().filter_map(|id| self.actions.get(id)).any(|action| {
                let primitives = action.at.list("primitives").unwrap_or_default();
                primitives.iter().any(|primitive| {
                    let op = primitive.get("op").and_then(|op| op.value.as_str());
                    matches!(op, Some("mark_to_drop" | "drop")) || mentions(primitive.value, specs)
                })
            })
    }

    /// Whether requests of this kind name different field lists, so that the list must be noted with each.
    pub fn has_several_lists(&self, request: Request) -> bool {
        let (ops, argument): (&[&str], usize) = match request {
            Request::CloneIngress => (&["clone_ingress_pkt_to_egress"], 1),
            Request::CloneEgress => (&["clone_egress_pkt_to_egress"], 1),
            Request::Resubmit => (&["resubmit"], 0),
            Request::Recirculate => (&["recirculate"], 0),
        };
        let mut lists = BTreeSet::new();
        for action in self.actions.values() {
            for primitive in action.at.list("primitives").unwrap_or_default() {
                let is_one = primitive.get("op").and_then(|op| op.value.as_str()).is_some_and(|op| ops.contains(&op));
                let parameters = primitive.list("parameters").unwrap_or_default();
                if is_one && let Some(list) = parameters.get(argument) {
                    lists.insert(list.get("value").map(|value| value.value.to_string()));
                }
            }
        }
        lists.len() > 1
    }

    /// Reads the field lists that copies of packets keep.
    pub fn read_field_lists(&mut self) -> Read<()> {
        for at in self.root.list("field_lists")? {
            let number = at.field("id")?.small()?;
            let mut kept = Vec::new();
            for element in at.field("elements")?.items()? {
                if element.kind()? != "field" {
                    continue;
                }
                let field = element.content()?;
                let Leaf::Slot(slot) = self.member(&field)?.leaf else {
                    return Err(field.error("a field list keeps metadata; this is a field of a header"));
                };
                kept.push(slot);
            }
            self.metadata.lists.insert(number, kept);
        }
        Ok(())
    }

    /// A variable of the architecture's own.
    pub fn hidden(&mut self, name: &str, of_type: Type) -> hlir::VariableId {
        let slot = match self.metadata.hidden.get(name) {
            Some(known) => known.slot,
            None => {
                let slot = self.builder.slots.add(&format!("v1model.{name}"), of_type, Notes::default());
                self.metadata.hidden.insert(name.to_string(), Known { slot, of_type });
                slot
            }
        };
        self.builder.variable(slot)
    }
}

/// Whether a part of the JSON names one of these fields.
fn mentions(value: &Value, fields: &BTreeSet<(String, String)>) -> bool {
    match value {
        Value::Array(items) => {
            let pair = match &items[..] {
                [Value::String(header), Value::String(field)] => Some((header.clone(), field.clone())),
                _ => None,
            };
            pair.is_some_and(|pair| fields.contains(&pair)) || items.iter().any(|item| mentions(item, fields))
        }
        Value::Object(members) => mentions_member(members, fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn mentions_member(members: &serde_json::Map<String, Value>, fields: &BTreeSet<(String, String)>) -> bool {
    members.values().any(|member| mentions(member, fields))
}
