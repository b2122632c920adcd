//! The architecture v1model: parser, checksums, ingress, buffer, egress, checksums, deparser, as docs/language.md has it.
//!
//! A parser that rejects does not drop. `egress_spec` begins as zero; the largest port drops, at the end of ingress and of egress.

use std::collections::VecDeque;
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{self, DeclarationKind};

use super::checksum::bytes_of;
use super::environment::Instance;
use super::externs::drop_port;
use super::machine::Machine;
use super::packages::{Package, Sent, part_name};
use super::place::{Place, Step};
use super::reentry::Waiting;
use super::value::{Shape, Type, Value};
use super::{Run, unsupported};

/// The parts of `V1Switch`, and what they work on.
pub struct Switch<'a> {
    parts: Vec<Rc<Instance<'a>>>,
    headers: Type,
    pub(super) metadata: Type,
    pub(super) standard: Type,
    /// Packets that re-enter.
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) entered: usize,
    /// The port by which the packet came in at first.
    pub(super) arrived: u32,
}

/// The slots of a packet.
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
    pub(super) fn make_v1switch(&mut self, made: &'a ast::Instance) -> Run<()> {
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
        let (waiting, entered, arrived) = (VecDeque::new(), 0, 0);
        self.package = Package::V1Switch(Switch { parts, headers, metadata, standard, waiting, entered, arrived });
        Ok(())
    }

    fn part(&self, index: usize) -> Run<Rc<Instance<'a>>> {
        match &self.package {
            Package::V1Switch(switch) => Ok(switch.parts[index].clone()),
            _ => unsupported("no V1Switch"),
        }
    }

    pub(super) fn through_v1switch(&mut self, port: u32, packet: Vec<bool>) -> Run<Vec<Sent>> {
        self.take(packet);
        if let Package::V1Switch(switch) = &mut self.package {
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
        let members = self.buffer.members(group);
        let before = self.slots.clone();
        let truncated = self.truncated;
        let mut sent = Vec::new();
        for (replica, port) in members {
            self.slots = before.clone();
            self.truncated = truncated;
            self.set_standard("instance_type", Value::Integer(BigInt::from(REPLICA)))?;
            self.set_standard("egress_rid", Value::Integer(replica.into()))?;
            sent.extend(self.leave(port, state)?);
        }
        Ok(sent)
    }

    pub(super) fn fresh_state(&mut self, port: u32) -> Run<State> {
        let length = self.packet.len() / 8;
        let Package::V1Switch(switch) = &self.package else { return unsupported("no V1Switch") };
        let values = [&switch.headers, &switch.metadata, &switch.standard].map(Value::initial);
        let [headers, metadata, standard] = values.map(|value| self.new_slot(value));
        self.std_slot = Some(standard);
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

    /// Runs a part of the switch on the packet's slots.
    fn run_part(&mut self, index: usize, state: State) -> Run<()> {
        let part = self.part(index)?;
        match self.run_on(&part, &[state.headers, state.metadata, state.standard])? {
            Some(error) => self.set_standard("parser_error", Value::Error(error)),
            None => Ok(()),
        }
    }

    fn standard_place(&self, field: &str) -> Run<Place> {
        let Some(slot) = self.std_slot else { return unsupported("no standard metadata") };
        match &self.slots[slot] {
            Value::Structure(structure) if structure.of.shape == Shape::Struct => match structure.of.position(field) {
                Some(at) => Ok(Place { slot, steps: vec![Step::Field(at)] }),
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
}
