//! The Portable NIC Architecture, draft 0.7: parser, pre-control, main control and deparser between the network and the hosts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast;

use super::environment::Instance;
use super::machine::Machine;
use super::packages::{Package, Sent, integer, sent};
use super::value::Value;
use super::{Run, unsupported};

/// Passes after which a packet is left out of the comparison: `pass` has three bits.
const PASSES: u32 = 7;

/// The blocks of the package: main parser, pre-control, main control, deparser.
pub struct Nic<'a> {
    parts: [Rc<Instance<'a>>; 4],
    /// Where the main control sends the packet, as far as it has run.
    pub(super) fate: Fate,
    /// The session named last for each slot.
    pub(super) mirrored: BTreeMap<BigInt, BigInt>,
    /// Ports that belong to a host, given by the register `direction` (docs/language.md).
    hosts: BTreeSet<u32>,
    /// The next number that `allocate_flow_id` gives.
    pub(super) flows: u32,
}

/// `send_to_port`, `drop_packet` and `recirculate`: the last call counts. None of them is port 0 (docs/language.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Send(u32),
    Drop,
    Recirculate,
}

impl<'a> Machine<'a> {
    pub(super) fn make_pna(&mut self, made: &'a ast::Instance) -> Run<()> {
        let parts = self.parts_of(&made.arguments)?;
        let parts = <[Rc<Instance<'a>>; 4]>::try_from(parts).or_else(|_| unsupported("a PNA_NIC of four parts"))?;
        self.package = Package::Pna(Nic {
            parts,
            fate: Fate::Send(0),
            mirrored: BTreeMap::new(),
            hosts: BTreeSet::new(),
            flows: 0,
        });
        Ok(())
    }

    pub(super) fn nic(&mut self) -> Run<&mut Nic<'a>> {
        match &mut self.package {
            Package::Pna(nic) => Ok(nic),
            _ => unsupported("no PNA_NIC"),
        }
    }

    pub fn set_direction(&mut self, port: u32, is_host: bool) -> Run<()> {
        let hosts = &mut self.nic()?.hosts;
        if is_host {
            hosts.insert(port)
        } else {
            hosts.remove(&port)
        };
        Ok(())
    }

    pub(super) fn through_pna(&mut self, port: u32, packet: Vec<bool>) -> Run<Vec<Sent>> {
        let mut waiting = VecDeque::from([(0, packet)]);
        let mut left = Vec::new();
        while let Some((pass, packet)) = waiting.pop_front() {
            if pass > PASSES {
                self.note_undefined("a packet recirculates often");
                break;
            }
            self.slots.clear();
            self.take(packet);
            let (packet, fate) = self.pna_pass(port, pass)?;
            let mirrored = std::mem::take(&mut self.nic()?.mirrored);
            for session in mirrored.values() {
                left.extend(self.buffer.copies(session).into_iter().map(|(_, port)| sent(port, &packet)));
            }
            match fate {
                Fate::Send(port) => left.push(sent(port, &packet)),
                Fate::Drop => {}
                Fate::Recirculate => waiting.push_back((pass + 1, packet)),
            }
        }
        Ok(left)
    }

    /// One pass through the pipeline: the bytes that the deparser wrote, and what becomes of them.
    fn pna_pass(&mut self, port: u32, pass: u32) -> Run<(Vec<bool>, Fate)> {
        let nic = self.nic()?;
        (nic.fate, nic.mirrored) = (Fate::Send(0), BTreeMap::new());
        // A port is one of the network unless the control plane has changed it.
        let direction = if nic.hosts.contains(&port) { "HOST_TO_NET" } else { "NET_TO_HOST" };
        let [parser, pre_control, control, deparser] = nic.parts.clone();
        let [headers, user] = [self.parameter_slot(&parser, 1)?, self.parameter_slot(&parser, 2)?];
        let parser_input = self.parameter_slot(&parser, 3)?;
        let [before_input, before_output] =
            [self.parameter_slot(&pre_control, 2)?, self.parameter_slot(&pre_control, 3)?];
        let [input, output] = [self.parameter_slot(&control, 2)?, self.parameter_slot(&control, 3)?];
        for slot in [parser_input, before_input, input] {
            self.set_field(slot, "input_port", integer(port));
            self.set_field(slot, "pass", integer(pass));
            self.set_member(slot, "direction", direction);
        }
        if let Some(error) = self.run_on(&parser, &[headers, user, parser_input])? {
            self.set_field(before_input, "parser_error", Value::Error(error.clone()));
            self.set_field(input, "parser_error", Value::Error(error));
        }
        self.run_on(&pre_control, &[headers, user, before_input, before_output])?;
        self.run_on(&control, &[headers, user, input, output])?;
        let packet = self.deparse(&deparser, &[headers, user, output])?;
        Ok((packet, self.nic()?.fate))
    }
}
