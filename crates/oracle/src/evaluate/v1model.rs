//! The architecture v1model: parser, checksums, ingress, buffer, egress, checksums, deparser, as docs/language.md has it.
//!
//! A parser that rejects does not drop. `egress_spec` begins as zero; 511 drops, at the end of ingress and of egress.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{DeclarationKind, Expression, Parameter};

use super::call::{Arguments, Passed};
use super::checksum::bytes_of;
use super::environment::{Binding, Instance};
use super::externs::DROP_PORT;
use super::machine::Machine;
use super::place::{Place, Step};
use super::value::{Shape, Type, Value};
use super::{Run, Stop, unsupported};

/// The parts of `V1Switch`, and what they work on.
pub struct Switch<'a> {
    parts: Vec<Rc<Instance<'a>>>,
    headers: Type,
    metadata: Type,
    standard: Type,
    /// The members of multicast groups: replica and port.
    pub groups: BTreeMap<u32, Vec<(u32, u32)>>,
}

/// A packet that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub port: u32,
    pub bytes: Vec<u8>,
}

/// The cells of a packet.
#[derive(Clone, Copy)]
struct State {
    headers: usize,
    metadata: usize,
    standard: usize,
}

const PARTS: usize = 6;
/// The `instance_type` of a packet that was resubmitted.
const RESUBMITTED: u32 = 6;

impl<'a> Machine<'a> {
    pub(super) fn make_switch(&mut self) -> Run<()> {
        let main = self.globals.get("main").and_then(|all| all.first().copied());
        let Some(DeclarationKind::Instance(made)) = main.map(|main| &main.kind) else {
            return unsupported("a program without main");
        };
        if made.arguments.len() != PARTS {
            return unsupported("a package other than V1Switch");
        }
        let mut parts = Vec::new();
        for argument in &made.arguments {
            let path = part_name(&argument.value);
            parts.push(self.instance_of(&argument.value, &None, path)?);
        }
        let DeclarationKind::Parser(parser) = &parts[0].declaration.kind else {
            return unsupported("a package other than V1Switch");
        };
        if parser.parameters.len() != 4 {
            return unsupported("a package other than V1Switch");
        }
        let env = parts[0].env.clone();
        let types = parser.parameters[1..]
            .iter()
            .map(|parameter| self.resolve(&parameter.of_type, &env))
            .collect::<Run<Vec<_>>>()?;
        let [headers, metadata, standard] = <[Type; 3]>::try_from(types).or_else(|_| unsupported("three types"))?;
        self.switch = Some(Switch { parts, headers, metadata, standard, groups: BTreeMap::new() });
        Ok(())
    }

    fn part(&self, index: usize) -> Run<Rc<Instance<'a>>> {
        match &self.switch {
            Some(switch) => Ok(switch.parts[index].clone()),
            None => unsupported("no switch"),
        }
    }

    /// What becomes of a packet.
    pub fn process(&mut self, port: u32, bytes: &[u8]) -> Run<Vec<Sent>> {
        self.start_counting();
        self.cells.clear();
        self.packet = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
        self.cursor = 0;
        self.truncated = None;
        self.resubmitted = None;
        let mut state = self.fresh_state(port, bytes.len())?;
        loop {
            self.step()?;
            self.run_part(0, state)?;
            self.run_part(1, state)?;
            self.run_part(2, state)?;
            let Some(list) = self.resubmitted.take() else { return self.behind_ingress(state) };
            state = self.resubmit(&list, state, (port, bytes.len()))?;
        }
    }

    /// docs/language.md: the bytes that came in are parsed again; of the metadata only the fields of the list are kept.
    fn resubmit(&mut self, list: &BigInt, before: State, (port, length): (u32, usize)) -> Run<State> {
        let kept = self.listed(list)?;
        let Value::Structure(old) = self.cells[before.metadata].clone() else { return unsupported("no metadata") };
        self.cursor = 0;
        self.truncated = None;
        let state = self.fresh_state(port, length)?;
        for at in kept {
            let place = Place { cell: state.metadata, steps: vec![Step::Field(at)] };
            self.write(&place, old.fields[at].clone());
        }
        // As in simple_switch, of the standard metadata, too: it no longer says where the packet came in.
        self.set_standard("ingress_port", Value::Integer(BigInt::ZERO))?;
        self.set_standard("instance_type", Value::Integer(BigInt::from(RESUBMITTED)))?;
        Ok(state)
    }

    /// The fields of the metadata that `@field_list` gives to a list.
    fn listed(&mut self, list: &BigInt) -> Run<Vec<usize>> {
        let Some(Switch { metadata: Type::Structure(of), .. }) = &self.switch else { return Ok(Vec::new()) };
        let declared = self.globals.get(&*of.name).and_then(|all| all.first().copied());
        let Some(DeclarationKind::Structure(structure)) = declared.map(|declared| &declared.kind) else {
            return Ok(Vec::new());
        };
        let mut kept = Vec::new();
        for (at, field) in structure.fields.iter().enumerate() {
            let lists = field.attributes.annotations.iter().filter(|one| one.name.as_str() == "field_list");
            for number in lists.flat_map(|one| one.expressions()) {
                if self.number(number, &None)? == *list {
                    kept.push(at);
                }
            }
        }
        Ok(kept)
    }

    fn behind_ingress(&mut self, state: State) -> Run<Vec<Sent>> {
        let group = self.standard("mcast_grp")?;
        let spec = self.standard("egress_spec")?;
        if group != 0 {
            return self.replicate(group, state);
        }
        if spec == DROP_PORT {
            return Ok(Vec::new());
        }
        self.set_standard("instance_type", Value::Integer(BigInt::ZERO))?;
        Ok(self.leave(spec, state)?.into_iter().collect())
    }

    fn replicate(&mut self, group: u32, state: State) -> Run<Vec<Sent>> {
        let members = self.switch.as_ref().and_then(|switch| switch.groups.get(&group).cloned()).unwrap_or_default();
        let before = self.cells.clone();
        let truncated = self.truncated;
        let mut sent = Vec::new();
        for (replica, port) in members {
            self.cells = before.clone();
            self.truncated = truncated;
            self.set_standard("instance_type", Value::Integer(BigInt::from(5)))?;
            self.set_standard("egress_rid", Value::Integer(replica.into()))?;
            sent.extend(self.leave(port, state)?);
        }
        Ok(sent)
    }

    fn fresh_state(&mut self, port: u32, length: usize) -> Run<State> {
        let Some(switch) = &self.switch else { return unsupported("no switch") };
        let values = [&switch.headers, &switch.metadata, &switch.standard].map(Value::initial);
        let [headers, metadata, standard] = values.map(|value| self.new_cell(value));
        self.std_cell = Some(standard);
        self.set_standard("ingress_port", Value::Integer(port.into()))?;
        self.set_standard("packet_length", Value::Integer(length.into()))?;
        Ok(State { headers, metadata, standard })
    }

    /// Egress and what follows; nothing if egress drops.
    fn leave(&mut self, port: u32, state: State) -> Run<Option<Sent>> {
        self.set_standard("egress_port", Value::Integer(port.into()))?;
        self.set_standard("egress_spec", Value::Integer(BigInt::ZERO))?;
        self.run_part(3, state)?;
        if self.standard("egress_spec")? == DROP_PORT {
            return Ok(None);
        }
        self.run_part(4, state)?;
        self.output.clear();
        self.run_part(5, state)?;
        let mut bits = std::mem::take(&mut self.output);
        bits.extend(&self.packet[self.cursor..]);
        if !bits.len().is_multiple_of(8) {
            return unsupported("a packet that is not whole bytes");
        }
        let mut bytes = bytes_of(&bits);
        if let Some(length) = self.truncated {
            bytes.truncate(length);
        }
        Ok(Some(Sent { port, bytes }))
    }

    /// Runs a part of the switch on the packet's cells. `exit` ends that part only (12.5); an error ends the parser.
    fn run_part(&mut self, index: usize, state: State) -> Run<()> {
        let part = self.part(index)?;
        let arguments = self.part_arguments(&part, state)?;
        match self.run_instance(&part, arguments) {
            Err(Stop::Error(error)) if index == 0 => self.set_standard("parser_error", Value::Error(error)),
            Err(Stop::Error(error)) => unsupported(format!("error {error} outside of the parser")),
            Ok(_) | Err(Stop::Exit) => Ok(()),
            Err(other) => Err(other),
        }
    }

    fn part_arguments(&mut self, part: &Rc<Instance<'a>>, state: State) -> Run<Arguments<'a>> {
        let parameters: &'a [Parameter] = match &part.declaration.kind {
            DeclarationKind::Control(control) => &control.parameters,
            DeclarationKind::Parser(parser) => &parser.parameters,
            _ => return unsupported("a part of the switch that is neither parser nor control"),
        };
        let mut cells = [state.headers, state.metadata, state.standard].into_iter();
        let mut arguments = Vec::new();
        for parameter in parameters {
            let passed = match self.resolve(&parameter.of_type, &part.env)? {
                Type::Object(name) if &*name == "packet_in" => Passed::Object(Binding::PacketIn),
                Type::Object(name) if &*name == "packet_out" => Passed::Object(Binding::PacketOut),
                _ => {
                    let Some(cell) = cells.next() else { return unsupported("too many parameters") };
                    let place = Place { cell, steps: Vec::new() };
                    match parameter.direction {
                        p4::ast::Direction::Out => Passed::Out(place),
                        p4::ast::Direction::InOut => Passed::InOut(place, self.cells[cell].clone()),
                        p4::ast::Direction::None | p4::ast::Direction::In => Passed::Value(self.cells[cell].clone()),
                    }
                }
            };
            arguments.push((parameter, passed));
        }
        Ok(arguments)
    }

    fn standard_place(&self, field: &str) -> Run<Place> {
        let Some(cell) = self.std_cell else { return unsupported("no standard metadata") };
        match &self.cells[cell] {
            Value::Structure(structure) if structure.of.shape == Shape::Struct => match structure.of.position(field) {
                Some(at) => Ok(Place { cell, steps: vec![Step::Field(at)] }),
                None => unsupported(format!("standard metadata without {field}")),
            },
            _ => unsupported("no standard metadata"),
        }
    }

    fn standard(&mut self, field: &str) -> Run<u32> {
        let place = self.standard_place(field)?;
        let number = Machine::big(&self.peek(&place));
        u32::try_from(&number).or_else(|_| unsupported(format!("{field} is {number}")))
    }

    pub(super) fn set_standard(&mut self, field: &str, value: Value) -> Run<()> {
        let place = self.standard_place(field)?;
        self.write(&place, value);
        Ok(())
    }

    pub fn set_group(&mut self, group: u32, members: Vec<(u32, u32)>) {
        if let Some(switch) = &mut self.switch {
            switch.groups.insert(group, members);
        }
    }

    /// The table that an STF name means: the name itself, or the only one that ends with it.
    pub fn table_named(&mut self, name: &str) -> Run<&mut super::table::Table<'a>> {
        let exact = self.tables.iter().position(|table| table.name == name);
        let found = exact.or_else(|| self.tables.iter().position(|table| table.name.ends_with(name)));
        match found {
            Some(index) => Ok(&mut self.tables[index]),
            None => unsupported(format!("no table {name}")),
        }
    }

    pub fn fill_value_set(&mut self, name: &str, members: Vec<Value>) -> Run<()> {
        match self.value_sets.iter_mut().find(|(known, _)| known == name || known.ends_with(&format!(".{name}"))) {
            Some((_, set)) => {
                *set = members;
                Ok(())
            }
            None => unsupported(format!("no value set {name}")),
        }
    }
}

/// What the objects of a part are named after: its type, or its instance.
fn part_name(expression: &Expression) -> String {
    match &expression.kind {
        p4::ast::ExpressionKind::Call { callee, .. } => callee.to_string(),
        _ => expression.to_string(),
    }
}
