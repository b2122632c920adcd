//! The parser. A state of the JSON has no `if` in it: states with one are split.

use super::code::primitive;
use super::expressions::{as_number, field, hex};
use super::sets;
use super::storage::is_boolean;
use super::writer::{Writer, Written, placed};
use hlir::build::arithmetic::ones;
use hlir::{Expression, KeySet, Node, NodeId, NodeKind, Select, Statement};
use num_bigint::BigUint;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Where a part of a state leads.
#[derive(Clone)]
enum After<'p> {
    Select(&'p Select),
    State(String),
}

/// States while they are written.
#[derive(Default)]
struct States {
    names: HashMap<NodeId, String>,
    taken: HashSet<String>,
    written: Vec<Value>,
    /// Where `leave` of a scope leads.
    scopes: Vec<(String, String)>,
}

impl States {
    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 0;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// The name of a state; null where the parser ends.
    fn next(&self, to: NodeId) -> Value {
        self.names.get(&to).map_or(Value::Null, |name| json!(name))
    }

    fn finish(&mut self, name: &str, ops: Vec<Value>, keys: Vec<Value>, transitions: Vec<Value>) {
        let id = self.written.len();
        self.written.push(json!({
            "name": name, "id": id, "parser_ops": ops, "transition_key": keys, "transitions": transitions,
        }));
    }
}

fn op(name: &str, parameters: Vec<Value>) -> Value {
    json!({ "op": name, "parameters": parameters })
}

fn otherwise(to: Value) -> Value {
    json!({ "type": "default", "value": null, "mask": null, "next_state": to })
}

impl<'p> Writer<'p> {
    pub(super) fn parser(&mut self, entry: NodeId) -> Written<Value> {
        let mut states = States::default();
        for (id, node) in self.program.nodes.iter().filter(|(_, node)| node.parser().is_some()) {
            // `start` of `MyParser.start`.
            let short = node.name.split_once('.').map_or(node.name.as_str(), |(_, rest)| rest);
            let name = states.unique(short);
            states.names.insert(id, name);
        }
        let first = self.first_state(entry);
        let names = states.names.clone();
        for (id, node) in self.program.nodes.iter() {
            let NodeKind::State { body, select, .. } = &node.kind else { continue };
            self.origin = node.notes.origin.clone();
            self.state(&names[&id], body, &After::Select(select), &mut states)?;
        }
        let parsers = self.program.parsers.values().next();
        let notes = parsers.map(|parser| self.node(parser.start).notes.clone()).unwrap_or_default();
        let init = first.map_or(Value::Null, |id| states.next(id));
        if init.is_null() {
            self.origin = notes.origin.clone();
            return self.unsayable("a program without a parser");
        }
        let made = json!({ "name": "parser", "id": 0, "init_state": init, "parse_states": states.written });
        Ok(placed(made, &notes, "parser"))
    }

    /// The state where packets enter.
    fn first_state(&self, entry: NodeId) -> Option<NodeId> {
        let mut at = entry;
        loop {
            match &self.node(at).kind {
                NodeKind::State { .. } => return Some(at),
                NodeKind::Block { next, .. } => at = *next,
                _ => return None,
            }
        }
    }

    /// Writes a state with these statements, and those that it is split into.
    fn state(&mut self, name: &str, body: &'p [Statement], after: &After<'p>, states: &mut States) -> Written {
        let mut ops = Vec::new();
        for (at, statement) in body.iter().enumerate() {
            let rest = &body[at + 1..];
            match statement {
                Statement::If { condition, then, otherwise: other } => {
                    let behind = self.rest(name, rest, after, states)?;
                    let place = self.storage.temporary(1);
                    let value = json!({ "type": "expression", "value": as_number(self.condition(condition)?) });
                    ops.push(op("set", vec![field(&place), value]));
                    let first = self.part(name, then, &behind, states)?;
                    let second = self.part(name, other, &behind, states)?;
                    let is = json!({ "type": "hexstr", "value": "0x01", "mask": null, "next_state": first });
                    states.finish(name, ops, vec![field(&place)], vec![is, otherwise(second)]);
                    return Ok(());
                }
                Statement::Scope { label, body } | Statement::Loop { label, body } => {
                    let behind = self.rest(name, rest, after, states)?;
                    let inner = states.unique(name);
                    let again = match statement {
                        Statement::Loop { .. } => After::State(inner.clone()),
                        _ => behind.clone(),
                    };
                    let behind_name = self.name_of(name, &behind, states)?;
                    states.scopes.push((label.clone(), behind_name));
                    self.state(&inner, body, &again, states)?;
                    states.scopes.pop();
                    states.finish(name, ops, Vec::new(), vec![otherwise(json!(inner))]);
                    return Ok(());
                }
                Statement::Leave(label) => {
                    let known = states.scopes.iter().rev().find(|(known, _)| known == label);
                    let to = known.map_or(Value::Null, |(_, to)| json!(to));
                    states.finish(name, ops, Vec::new(), vec![otherwise(to)]);
                    return Ok(());
                }
                statement => self.parser_op(statement, &mut ops)?,
            }
        }
        match after {
            After::State(to) => states.finish(name, ops, Vec::new(), vec![otherwise(json!(to))]),
            After::Select(select) => self.select(name, ops, select, states)?,
        }
        Ok(())
    }

    /// What follows a statement that splits its state: a state of its own, unless nothing does.
    fn rest(
        &mut self,
        name: &str,
        rest: &'p [Statement],
        after: &After<'p>,
        states: &mut States,
    ) -> Written<After<'p>> {
        if let (true, After::State(_)) = (rest.is_empty(), after) {
            return Ok(after.clone());
        }
        let behind = states.unique(name);
        self.state(&behind, rest, after, states)?;
        Ok(After::State(behind))
    }

    fn name_of(&mut self, name: &str, after: &After<'p>, states: &mut States) -> Written<String> {
        match after {
            After::State(known) => Ok(known.clone()),
            After::Select(_) => {
                let behind = states.unique(name);
                self.state(&behind, &[], after, states)?;
                Ok(behind)
            }
        }
    }

    /// A branch: where it begins.
    fn part(&mut self, name: &str, body: &'p [Statement], after: &After<'p>, states: &mut States) -> Written<Value> {
        if let (true, After::State(behind)) = (body.is_empty(), after) {
            return Ok(json!(behind));
        }
        let part = states.unique(name);
        self.state(&part, body, after, states)?;
        Ok(json!(part))
    }

    fn parser_op(&mut self, statement: &Statement, ops: &mut Vec<Value>) -> Written {
        match statement {
            Statement::Extract { header, varbit } => {
                let header = json!({ "type": "regular", "value": self.storage.header(*header) });
                match varbit {
                    None => ops.push(op("extract", vec![header])),
                    Some(length) => {
                        let length = json!({ "type": "expression", "value": self.data(length)? });
                        ops.push(op("extract_VL", vec![header, length]));
                    }
                }
            }
            Statement::Advance(bits) => ops.push(op("advance", vec![self.parameter(bits)?])),
            Statement::Lookahead { into, offset } => {
                let width = self.program.variables[*into].kind.width();
                let bits = json!({ "type": "lookahead", "value": [offset, width] });
                ops.push(op("set", vec![field(self.storage.variable(*into)), bits]));
            }
            Statement::Verify { condition, error } => {
                ops.push(op("verify", vec![self.condition(condition)?, self.data(error)?]));
            }
            Statement::Assign { target, value } => {
                let of = match is_boolean(self.program, *target) {
                    true => json!({ "type": "expression", "value": self.data(value)? }),
                    false => self.parameter(value)?,
                };
                ops.push(op("set", vec![field(&self.storage.place(*target)), of]));
            }
            statement => {
                let made = self.primitives(std::slice::from_ref(statement))?;
                ops.extend(made.into_iter().map(|made| op("primitive", vec![made])));
            }
        }
        Ok(())
    }

    /// Ends a state by a choice.
    fn select(&mut self, name: &str, mut ops: Vec<Value>, select: &Select, states: &mut States) -> Written {
        let (mut keys, mut widths) = (Vec::new(), Vec::new());
        for key in &select.keys {
            let width = key.type_in(self.program, &[]).width();
            keys.push(field(&self.key_place(key, width, &mut ops)?));
            widths.push(width);
        }
        let full = widths.iter().fold(BigUint::ZERO, |all, width| (all << (width.div_ceil(8) * 8)) | ones(*width));
        let bits: u32 = widths.iter().map(|width| width.div_ceil(8) * 8).sum();
        let mut transitions = Vec::new();
        for case in &select.cases {
            let to = states.next(case.to);
            let Some(values) = sets::of_case(&case.sets, &widths) else {
                let [KeySet::Set(set)] = &case.sets[..] else {
                    return self.unsayable("a value set beside other keys");
                };
                let name = &self.program.value_sets[*set].name;
                transitions.push(json!({ "type": "parse_vset", "value": name, "mask": null, "next_state": to }));
                continue;
            };
            for (value, mask) in values {
                let mask = if mask == full { Value::Null } else { json!(hex(&mask, bits)) };
                let value = hex(&value, bits);
                transitions.push(json!({ "type": "hexstr", "value": value, "mask": mask, "next_state": to }));
            }
        }
        transitions.extend(select.otherwise.map(|to| otherwise(states.next(to))));
        states.finish(name, ops, keys, transitions);
        Ok(())
    }

    /// Where a key is: computed ones are put into a scalar.
    fn key_place(&mut self, key: &Expression, width: u32, ops: &mut Vec<Value>) -> Written<[String; 2]> {
        if let Some(place) = self.plain(key).filter(|place| place[1] != "$valid$") {
            return Ok(place);
        }
        let place = self.storage.temporary(width);
        let value = json!({ "type": "expression", "value": self.data(key)? });
        ops.push(op("set", vec![field(&place), value]));
        Ok(place)
    }

    pub(super) fn deparser(&mut self) -> Written<Value> {
        let found = self.program.nodes.values().find_map(|node| match &node.kind {
            NodeKind::Deparse { body, .. } => Some((node, body)),
            _ => None,
        });
        let Some((node, body)) = found else { return self.unsayable("a program without a deparser") };
        self.origin = node.notes.origin.clone();
        let first = body.iter().position(|statement| matches!(statement, Statement::Emit(_))).unwrap_or(body.len());
        let (before, emits) = body.split_at(first);
        let mut order = Vec::new();
        for statement in emits {
            match statement {
                Statement::Emit(header) => order.push(json!(self.storage.header(*header))),
                _ => return self.unsayable("a statement between the `emit`s of the deparser"),
            }
        }
        let primitives = self.primitives(before)?;
        let made = json!({ "name": "deparser", "id": 0, "order": order, "primitives": primitives });
        Ok(placed(made, &node.notes, last(node)))
    }
}

/// The last part of a node's name.
pub fn last(node: &Node) -> &str {
    node.name.rsplit('.').next().unwrap_or(&node.name)
}

/// An assignment of a computed value to a scalar, in an action.
pub fn assignment(place: &[String; 2], value: Value) -> Value {
    primitive("assign", vec![field(place), value])
}
