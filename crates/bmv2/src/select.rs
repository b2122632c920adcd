//! Transitions of parser states: keys, values with masks, value sets.

use hlir::build::arithmetic;
use hlir::build::graph::EndKind;
use hlir::{Case, Expression, KeySet, MatchKind, NodeId, Notes, Select, ValueSet};
use num_bigint::BigUint;

use crate::expressions::UNLIMITED;
use crate::json::{At, Read};
use crate::parser::States;
use crate::reader::Reader;

/// A key of a transition: its value, its width, and its name for the control plane.
struct Key {
    value: Expression,
    width: u32,
    name: String,
}

impl<'j> Reader<'j> {
    /// Ends a state by its transitions.
    pub fn select(&mut self, at: &At<'j>, states: &States, block: NodeId) -> Read<()> {
        let mut keys = Vec::new();
        for key in at.list("transition_key")? {
            keys.push(self.transition_key(&key)?);
        }
        let (mut cases, mut otherwise) = (Vec::new(), None);
        for transition in at.list("transitions")? {
            let to = self.state(states, transition.get("next_state").as_ref())?;
            match transition.kind()? {
                "default" | "hexstr" | "parse_vset" if otherwise.is_some() => {} // Nothing behind the default is reached.
                "default" => otherwise = Some(to),
                "hexstr" => cases.push(Case { sets: key_sets(&transition, &keys)?, to }),
                "parse_vset" => {
                    let set = self.value_set(&transition, &keys)?;
                    cases.push(Case { sets: vec![KeySet::Set(set)], to });
                }
                other => return Err(transition.error(format!("`{other}` is no kind of transition"))),
            }
        }
        match otherwise {
            Some(to) if cases.is_empty() => self.builder.graph.goto(block, to),
            _ => {
                let keys = keys.into_iter().map(|key| key.value).collect();
                let select = Select { keys, cases, otherwise };
                self.builder.graph.end(block, "", Notes::default(), EndKind::Select(select));
            }
        }
        Ok(())
    }

    fn transition_key(&mut self, at: &At<'_>) -> Read<Key> {
        let data = if at.kind()? == "lookahead" { self.lookahead(at)? } else { self.data(at)? };
        let exact = data.exact().ok_or_else(|| at.error(UNLIMITED))?;
        let name = at.content()?.items().ok().and_then(|parts| parts.last()?.value.as_str());
        Ok(Key { value: exact.value, width: exact.width, name: name.unwrap_or("value").to_string() })
    }

    /// The value set of a transition, which is made when the first state uses it: its keys are those of that state.
    fn value_set(&mut self, at: &At<'j>, keys: &[Key]) -> Read<hlir::ValueSetId> {
        let name = at.content()?;
        if let Some(mask) = at.get("mask") {
            return Err(mask.error("a value set with a mask is not supported"));
        }
        if let Some(known) = self.value_sets.get(name.text()?) {
            return Ok(*known);
        }
        let sets = self.root.list("parse_vsets")?;
        let Some(set) = sets.iter().find(|set| set.name().is_ok_and(|known| Some(known) == name.value.as_str())) else {
            return Err(name.error(format!("no value set is called {}", name.value)));
        };
        let size = set.get("max_size").map_or(Ok(1024), |size| size.number())?;
        let fields = keys.iter().map(|key| (key.name.clone(), key.width, MatchKind::Exact)).collect();
        let unique = self.builder.names.object(name.text()?);
        let made = ValueSet { name: unique, size, fields, notes: Notes::default() };
        let id = self.builder.program.value_sets.alloc(made);
        self.value_sets.insert(name.text()?.to_string(), id);
        Ok(id)
    }
}

/// The sets of a transition's value: fields of whole bytes, one behind the other.
fn key_sets(at: &At<'_>, keys: &[Key]) -> Read<Vec<KeySet>> {
    let value = at.content()?.bits()?;
    let mask = at.get("mask").map(|mask| mask.bits()).transpose()?;
    let mut low = 0;
    let mut sets = Vec::new();
    for key in keys.iter().rev() {
        let bytes = key.width.div_ceil(8) * 8;
        let all = arithmetic::ones(key.width);
        let part = |number: &BigUint| (number >> low) & &all;
        let (value, mask) = (part(&value), mask.as_ref().map_or(all.clone(), part));
        sets.push(if mask == all {
            KeySet::Value(value)
        } else if mask == BigUint::ZERO {
            KeySet::Any
        } else {
            KeySet::Mask { value: &value & &mask, mask }
        });
        low += bytes;
    }
    sets.reverse();
    Ok(sets)
}
