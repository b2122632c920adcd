//! The architecture v1model: parser, checksums, ingress, buffer, egress, checksums, deparser, as docs/language.md has it.
//!
//! A parser that rejects does not drop. `egress_spec` begins as zero; the largest port drops, at the end of ingress and of egress.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{DeclarationKind, Expression, Parameter};

use super::call::{Arguments, Passed};
use super::checksum::bytes_of;
use super::environment::{Binding, Instance};
use super::externs::drop_port;
use super::machine::Machine;
use super::place::{Place, Step};
use super::reentry::Waiting;
use super::value::{Shape, Type, Value};
use super::{Run, Stop, unsupported};

/// The parts of `V1Switch`, and what they work on.
pub struct Switch<'a> {
    parts: Vec<Rc<Instance<'a>>>,
    headers: Type,
    pub(super) metadata: Type,
    standard: Type,
    /// The members of multicast groups: replica and port.
    pub groups: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Nodes of multicast groups, by number: a replica and its ports.
    pub nodes: Vec<(u32, Vec<u32>)>,
    /// The ports of mirror sessions.
    pub sessions: BTreeMap<BigInt, u32>,
    /// Packets that re-enter.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) entered: usize,
    /// The port by which the packet came in at first.
    pub(super) arrived: u32,
}

/// A packet that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub port: u32,
    pub bytes: Vec<u8>,
}

/// The cells of a packet.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub headers: usize,
    pub metadata: usize,
    pub standard: usize,
}

const PARTS: usize = 6;
/// The `instance_type` of a member of a multicast group.
const REPLICA: u32 = 5;

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
        let (groups, sessions) = (BTreeMap::new(), BTreeMap::new());
        let (nodes, waiting, entered, arrived) = (Vec::new(), VecDeque::new(), 0, 0);
        self.switch =
            Some(Switch { parts, headers, metadata, standard, groups, nodes, sessions, waiting, entered, arrived });
        Ok(())
    }

    fn part(&self, index: usize) -> Run<Rc<Instance<'a>>> {
        match &self.switch {
            Some(switch) => Ok(switch.parts[index].clone()),
            None => unsupported("no switch"),
        }
    }

    /// What becomes of a packet and of its copies, in the order in which they are made.
    pub fn process(&mut self, port: u32, bytes: &[u8]) -> Run<Vec<Sent>> {
        self.start_counting();
        self.cells.clear();
        let packet = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
        self.take(packet);
        if let Some(switch) = &mut self.switch {
            switch.arrived = port;
        }
        let state = self.fresh_state(port)?;
        let mut sent = self.through_ingress(state)?;
        while let Some(next) = self.next_waiting()? {
            sent.extend(self.re_enter(next)?);
        }
        Ok(sent)
    }

    /// Begins with a packet.
    pub(super) fn take(&mut self, packet: Vec<bool>) {
        self.packet = packet;
        self.cursor = 0;
        self.truncated = None;
    }

    /// docs/language.md, at the end of ingress: clone, resubmit, replicas, drop, send.
    pub(super) fn through_ingress(&mut self, state: State) -> Run<Vec<Sent>> {
        self.in_egress = false;
        (self.resubmitted, self.cloned) = (None, None);
        self.parse(state)?;
        self.run_part(1, state)?;
        self.run_part(2, state)?;
        if let Some(cloned) = self.cloned.take() {
            self.clone_received(&cloned, state)?;
        }
        if let Some(list) = self.resubmitted.take() {
            self.resubmit(&list, state)?;
            return Ok(Vec::new());
        }
        let group = self.standard("mcast_grp")?;
        let spec = self.standard("egress_spec")?;
        if group != 0 {
            return self.replicate(group, state);
        }
        if self.is_dropped()? {
            return Ok(Vec::new());
        }
        self.set_standard("instance_type", Value::Integer(BigInt::ZERO))?;
        Ok(self.leave(spec, state)?.into_iter().collect())
    }

    pub(super) fn parse(&mut self, state: State) -> Run<()> {
        self.run_part(0, state)
    }

    fn replicate(&mut self, group: u32, state: State) -> Run<Vec<Sent>> {
        let members = self.switch.as_ref().and_then(|switch| switch.groups.get(&group).cloned()).unwrap_or_default();
        let before = self.cells.clone();
        let truncated = self.truncated;
        let mut sent = Vec::new();
        for (replica, port) in members {
            self.cells = before.clone();
            self.truncated = truncated;
            self.set_standard("instance_type", Value::Integer(BigInt::from(REPLICA)))?;
            self.set_standard("egress_rid", Value::Integer(replica.into()))?;
            sent.extend(self.leave(port, state)?);
        }
        Ok(sent)
    }

    pub(super) fn fresh_state(&mut self, port: u32) -> Run<State> {
        let length = self.packet.len() / 8;
        let Some(switch) = &self.switch else { return unsupported("no switch") };
        let values = [&switch.headers, &switch.metadata, &switch.standard].map(Value::initial);
        let [headers, metadata, standard] = values.map(|value| self.new_cell(value));
        self.std_cell = Some(standard);
        self.set_standard("ingress_port", Value::Integer(port.into()))?;
        self.set_standard("packet_length", Value::Integer(length.into()))?;
        Ok(State { headers, metadata, standard })
    }

    /// Egress and what follows: clone, drop, deparser, recirculate, send. Nothing if egress drops.
    pub(super) fn leave(&mut self, port: u32, state: State) -> Run<Option<Sent>> {
        self.in_egress = true;
        (self.recirculated, self.cloned) = (None, None);
        self.set_standard("egress_port", Value::Integer(port.into()))?;
        self.set_standard("egress_spec", Value::Integer(BigInt::ZERO))?;
        self.run_part(3, state)?;
        if let Some(cloned) = self.cloned.take() {
            self.clone_sent(&cloned, state)?;
        }
        let recirculated = self.recirculated.take();
        if self.is_dropped()? {
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
        if let Some(list) = recirculated {
            self.recirculate(&list, state, bits)?;
            return Ok(None);
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

    fn is_dropped(&self) -> Run<bool> {
        let spec = self.peek(&self.standard_place("egress_spec")?);
        Ok(Machine::big(&spec) == drop_port(&spec.type_of()))
    }

    pub(super) fn standard(&mut self, field: &str) -> Run<u32> {
        let place = self.standard_place(field)?;
        let number = Machine::big(&self.peek(&place));
        u32::try_from(&number).or_else(|_| unsupported(format!("{field} is {number}")))
    }

    pub(super) fn set_standard(&mut self, field: &str, value: Value) -> Run<()> {
        let place = self.standard_place(field)?;
        self.write(&place, value);
        Ok(())
    }

    pub fn add_session(&mut self, session: BigInt, port: u32) {
        if let Some(switch) = &mut self.switch {
            switch.sessions.insert(session, port);
        }
    }

    pub fn add_node(&mut self, replica: u32, ports: Vec<u32>) {
        if let Some(switch) = &mut self.switch {
            switch.nodes.push((replica, ports));
        }
    }

    pub fn add_to_group(&mut self, group: u32, node: usize) -> Run<()> {
        let Some(switch) = &mut self.switch else { return Ok(()) };
        let Some((replica, ports)) = switch.nodes.get(node) else { return unsupported(format!("node {node}")) };
        let members = ports.iter().map(|port| (*replica, *port));
        switch.groups.entry(group).or_default().extend(members);
        Ok(())
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
