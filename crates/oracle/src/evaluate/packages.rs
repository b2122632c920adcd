//! What an architecture's package is made of, and how its parsers and controls run on the slots of a packet.

use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{self, Argument, DeclarationKind, Direction, Expression, ExpressionKind, Parameter, TypeKind};

use super::call::{Arguments, Passed};
use super::checksum::bytes_of;
use super::environment::{Binding, Instance};
use super::machine::Machine;
use super::place::{Place, Step};
use super::pna::Nic;
use super::psa::PsaSwitch;
use super::v1model::Switch;
use super::value::{Type, Value};
use super::{Run, Stop, unsupported};

/// The package that `main` instantiates.
pub enum Package<'a> {
    None,
    V1Switch(Switch<'a>),
    Psa(PsaSwitch<'a>),
    Pna(Nic<'a>),
}

/// A packet that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub port: u32,
    pub bytes: Vec<u8>,
}

impl<'a> Machine<'a> {
    pub(super) fn make_package(&mut self) -> Run<()> {
        let main = self.globals.get("main").and_then(|all| all.first().copied());
        let Some(DeclarationKind::Instance(made)) = main.map(|main| &main.kind) else {
            return unsupported("a program without main");
        };
        match class_name(&made.of_type) {
            "PSA_Switch" => self.make_psa(made),
            "PNA_NIC" => self.make_pna(made),
            _ => self.make_v1switch(made),
        }
    }

    /// What becomes of a packet and of its copies, in the order in which they are made.
    pub fn process(&mut self, port: u32, bytes: &[u8]) -> Run<Vec<Sent>> {
        self.start_counting();
        self.slots.clear();
        let packet = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
        match self.package {
            Package::None => unsupported("no package"),
            Package::V1Switch(_) => self.through_v1switch(port, packet),
            Package::Psa(_) => self.through_psa(port, packet),
            Package::Pna(_) => self.through_pna(port, packet),
        }
    }

    /// The instances that are passed to a package, `P()` or the name of one.
    pub(super) fn parts_of(&mut self, arguments: &'a [Argument]) -> Run<Vec<Rc<Instance<'a>>>> {
        let part = |argument: &'a Argument| self.instance_of(&argument.value, &None, part_name(&argument.value));
        arguments.iter().map(part).collect()
    }

    /// The arguments of a package that is an argument: `IngressPipeline(...)`, or the name of one declared before.
    pub(super) fn package_arguments(&self, expression: &'a Expression) -> Run<&'a [Argument]> {
        match &expression.kind {
            ExpressionKind::Call { arguments, .. } => Ok(arguments),
            ExpressionKind::Path(path) => {
                let declared = self.globals.get(path.name.as_str()).and_then(|all| all.first().copied());
                match declared.map(|declared| &declared.kind) {
                    Some(DeclarationKind::Instance(made)) => Ok(&made.arguments),
                    _ => unsupported(format!("package {path}")),
                }
            }
            _ => unsupported(format!("package {expression}")),
        }
    }

    fn parameters_of(part: &Instance<'a>) -> Run<&'a [Parameter]> {
        match &part.declaration.kind {
            DeclarationKind::Control(control) => Ok(&control.parameters),
            DeclarationKind::Parser(parser) => Ok(&parser.parameters),
            _ => unsupported("a part that is neither parser nor control"),
        }
    }

    /// A slot for a parameter of a part, with the value that a variable begins with.
    pub(super) fn parameter_slot(&mut self, part: &Rc<Instance<'a>>, at: usize) -> Run<usize> {
        let parameters = Self::parameters_of(part)?;
        let Some(parameter) = parameters.get(at) else { return unsupported(format!("{} without {at}", part.path)) };
        let of = self.resolve(&parameter.of_type, &part.env)?;
        Ok(self.new_slot(Value::initial(&of)))
    }

    /// Runs a part on slots: one for each parameter but the packet, in order. `exit` ends this part only (12.5). What a parser reports as its
    /// error is returned.
    pub(super) fn run_on(&mut self, part: &Rc<Instance<'a>>, slots: &[usize]) -> Run<Option<Rc<str>>> {
        let arguments = self.part_arguments(part, slots)?;
        match self.run_instance(part, arguments) {
            Err(Stop::Error(error)) if matches!(part.declaration.kind, DeclarationKind::Parser(_)) => Ok(Some(error)),
            Err(Stop::Error(error)) => unsupported(format!("error {error} outside of the parser")),
            Ok(_) | Err(Stop::Exit) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn part_arguments(&mut self, part: &Rc<Instance<'a>>, slots: &[usize]) -> Run<Arguments<'a>> {
        let mut slots = slots.iter().copied();
        let mut arguments = Vec::new();
        for parameter in Self::parameters_of(part)? {
            let passed = match self.resolve(&parameter.of_type, &part.env)? {
                Type::Object(name) if &*name == "packet_in" => Passed::Object(Binding::PacketIn),
                Type::Object(name) if &*name == "packet_out" => Passed::Object(Binding::PacketOut),
                _ => {
                    let Some(slot) = slots.next() else { return unsupported("too many parameters") };
                    let place = Place { slot, steps: Vec::new() };
                    match parameter.direction {
                        Direction::Out => Passed::Out(place),
                        Direction::InOut => Passed::InOut(place, self.slots[slot].clone()),
                        Direction::None | Direction::In => Passed::Value(self.slots[slot].clone()),
                    }
                }
            };
            arguments.push((parameter, passed));
        }
        Ok(arguments)
    }

    /// Runs a deparser, and returns what it appends with the part of the packet that no parser took.
    pub(super) fn deparse(&mut self, deparser: &Rc<Instance<'a>>, slots: &[usize]) -> Run<Vec<bool>> {
        self.output.clear();
        self.run_on(deparser, slots)?;
        let mut bits = std::mem::take(&mut self.output);
        bits.extend(&self.packet[self.cursor..]);
        if bits.len().is_multiple_of(8) { Ok(bits) } else { unsupported("a packet that is not whole bytes") }
    }

    fn field_place(&self, slot: usize, field: &str) -> Option<Place> {
        match &self.slots[slot] {
            Value::Structure(structure) => {
                structure.of.position(field).map(|at| Place { slot, steps: vec![Step::Field(at)] })
            }
            _ => None,
        }
    }

    /// Sets a field of an architecture's metadata; a structure without it is unchanged.
    pub(super) fn set_field(&mut self, slot: usize, field: &str, value: Value) {
        if let Some(place) = self.field_place(slot, field) {
            self.write(&place, value);
        }
    }

    /// Sets a field to a member of its enumeration.
    pub(super) fn set_member(&mut self, slot: usize, field: &str, member: &str) {
        if let Some(place) = self.field_place(slot, field)
            && let Type::Enum(of) = self.peek(&place).type_of()
        {
            self.write(&place, Value::Enum(of, member.into()));
        }
    }

    pub(super) fn field_value(&self, slot: usize, field: &str) -> Value {
        self.field_place(slot, field).map_or(Value::Void, |place| self.peek(&place))
    }

    pub(super) fn is_set(&self, slot: usize, field: &str) -> bool {
        self.field_value(slot, field) == Value::Bool(true)
    }

    pub(super) fn field_number(&self, slot: usize, field: &str) -> u32 {
        let number = Machine::big(&self.field_value(slot, field));
        u32::try_from(&number).unwrap_or(u32::MAX)
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

fn class_name(of: &ast::Type) -> &str {
    match &of.kind {
        TypeKind::Named(path) | TypeKind::Specialized { base: path, .. } => path.name.as_str(),
        _ => "",
    }
}

/// What the objects of a part are named after: its type, or its instance.
pub fn part_name(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Call { callee, .. } => callee.to_string(),
        _ => expression.to_string(),
    }
}

/// A number for a field; the field's type gives the width.
pub fn integer(number: u32) -> Value {
    Value::Integer(BigInt::from(number))
}

pub fn sent(port: u32, packet: &[bool]) -> Sent {
    Sent { port, bytes: bytes_of(packet) }
}
