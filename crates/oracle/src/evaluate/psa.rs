//! The Portable Switch Architecture, version 1.2: its packet paths (3), and what each begins and ends with (6).
//!
//! Where the specification leaves a value undefined, it is zero here and headers are invalid, as docs/language.md has it. Of several copies the
//! order is open, too: a packet goes on to egress at once, and what enters anew waits behind it, first come, first served.

use std::collections::VecDeque;
use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast;

use super::environment::Instance;
use super::machine::Machine;
use super::packages::{Package, Sent, integer, sent};
use super::value::Value;
use super::{Run, unsupported};

/// The port that leads back to ingress (4.1).
const RECIRCULATE: u32 = 0xffff_fffa;
/// Passes after which a packet is left out of the comparison; docs/language.md allows 64.
const PASSES: usize = 40;

/// The programmable blocks (3): parser, control and deparser of both pipelines.
pub struct PsaSwitch<'a> {
    ingress: [Rc<Instance<'a>>; 3],
    egress: [Rc<Instance<'a>>; 3],
}

/// Metadata that a deparser gave to a packet that enters anew.
enum Carried {
    None,
    Resubmit(Value),
    Recirculate(Value),
    Normal(Value),
    CloneI2e(Value),
    CloneE2e(Value),
}

impl Carried {
    /// The packet path that the parser gets (3, table of packet paths).
    fn ingress_path(&self) -> &'static str {
        match self {
            Carried::Resubmit(_) => "RESUBMIT",
            Carried::Recirculate(_) => "RECIRCULATE",
            _ => "NORMAL",
        }
    }
}

/// A packet that enters a pipeline.
pub(super) struct Entering {
    to_egress: bool,
    packet: Vec<bool>,
    port: u32,
    path: &'static str,
    instance: u32,
    class_of_service: Value,
    carried: Carried,
}

/// A packet for ingress; those for egress have an instance and a class, too.
fn arriving(packet: Vec<bool>, port: u32, carried: Carried) -> Entering {
    let path = carried.ingress_path();
    Entering { to_egress: false, packet, port, path, instance: 0, class_of_service: integer(0), carried }
}

impl<'a> Machine<'a> {
    pub(super) fn make_psa(&mut self, made: &'a ast::Instance) -> Run<()> {
        let [ingress, _, egress, _] = &made.arguments[..] else { return unsupported("a PSA_Switch of other parts") };
        let mut pipelines = Vec::new();
        for pipeline in [ingress, egress] {
            let parts = self.parts_of(self.package_arguments(&pipeline.value)?)?;
            pipelines.push(<[Rc<Instance<'a>>; 3]>::try_from(parts).or_else(|_| unsupported("a pipeline of three"))?);
        }
        let [ingress, egress] =
            <[[Rc<Instance<'a>>; 3]; 2]>::try_from(pipelines).or_else(|_| unsupported("two pipelines"))?;
        self.package = Package::Psa(PsaSwitch { ingress, egress });
        Ok(())
    }

    fn psa_parts(&self, of_egress: bool) -> Run<[Rc<Instance<'a>>; 3]> {
        match &self.package {
            Package::Psa(switch) => Ok(if of_egress { &switch.egress } else { &switch.ingress }.clone()),
            _ => unsupported("no PSA_Switch"),
        }
    }

    pub(super) fn through_psa(&mut self, port: u32, packet: Vec<bool>) -> Run<Vec<Sent>> {
        let mut waiting = VecDeque::from([arriving(packet, port, Carried::None)]);
        let mut left = Vec::new();
        let mut passes = 0;
        while let Some(next) = waiting.pop_front() {
            passes += 1;
            if passes > PASSES {
                self.note_undefined("a packet re-enters often");
                break;
            }
            self.slots.clear();
            if next.to_egress {
                left.extend(self.psa_egress(next, &mut waiting)?);
            } else if let Some(unicast) = self.psa_ingress(next, &mut waiting)? {
                self.slots.clear();
                left.extend(self.psa_egress(unicast, &mut waiting)?);
            }
        }
        Ok(left)
    }

    /// 6.1, 6.2: parser, control and deparser of ingress, then clone, drop, resubmit, multicast, unicast: of those behind the clone the first
    /// that fits counts.
    fn psa_ingress(&mut self, entering: Entering, waiting: &mut VecDeque<Entering>) -> Run<Option<Entering>> {
        let [parser, control, deparser] = self.psa_parts(false)?;
        let received = entering.packet.clone();
        self.take(entering.packet);
        let [headers, user] = [self.parameter_slot(&parser, 1)?, self.parameter_slot(&parser, 2)?];
        let parser_input = self.parameter_slot(&parser, 3)?;
        let [resubmitted, recirculated] = [self.parameter_slot(&parser, 4)?, self.parameter_slot(&parser, 5)?];
        let [input, output] = [self.parameter_slot(&control, 2)?, self.parameter_slot(&control, 3)?];
        match entering.carried {
            Carried::Resubmit(value) => self.slots[resubmitted] = value,
            Carried::Recirculate(value) => self.slots[recirculated] = value,
            _ => {}
        }
        for slot in [parser_input, input] {
            self.set_field(slot, "ingress_port", integer(entering.port));
            self.set_member(slot, "packet_path", entering.path);
        }
        // 6.1: whether the parser accepts or rejects, the control runs, and gets the error.
        if let Some(error) = self.run_on(&parser, &[headers, user, parser_input, resubmitted, recirculated])? {
            self.set_field(input, "parser_error", Value::Error(error));
        }
        // 6.2: the output begins with drop as true, all else as false or 0.
        self.set_field(output, "drop", Value::Bool(true));
        self.run_on(&control, &[headers, user, input, output])?;
        let (is_dropped, is_cloned) = (self.is_set(output, "drop"), self.is_set(output, "clone"));
        if is_dropped && !is_cloned {
            return Ok(None);
        }
        let [cloned, resubmit, normal] = [
            self.parameter_slot(&deparser, 1)?,
            self.parameter_slot(&deparser, 2)?,
            self.parameter_slot(&deparser, 3)?,
        ];
        let packet = self.deparse(&deparser, &[cloned, resubmit, normal, headers, user, output])?;
        if is_cloned {
            // 6.8: a clone of ingress has the bytes that came in, also of a packet that is dropped.
            let carried = Carried::CloneI2e(self.slots[cloned].clone());
            self.psa_clone(&received, output, ("CLONE_I2E", carried), waiting);
        }
        if is_dropped {
            return Ok(None);
        }
        if self.is_set(output, "resubmit") {
            // 6.9: the bytes and the port are those that came in.
            let carried = Carried::Resubmit(self.slots[resubmit].clone());
            waiting.push_back(arriving(received, entering.port, carried));
            return Ok(None);
        }
        let normal = self.slots[normal].clone();
        Ok(self.psa_to_egress(&packet, &normal, output, waiting))
    }

    /// 6.2: copies for the members of a group, or one packet for a port, which goes on at once.
    fn psa_to_egress(
        &mut self,
        packet: &[bool],
        normal: &Value,
        output: usize,
        waiting: &mut VecDeque<Entering>,
    ) -> Option<Entering> {
        let leaving = |path, (instance, port): (u32, u32), class_of_service: Value| Entering {
            to_egress: true,
            packet: packet.to_vec(),
            port,
            path,
            instance,
            class_of_service,
            carried: Carried::Normal(normal.clone()),
        };
        let class = self.field_value(output, "class_of_service");
        let group = self.field_number(output, "multicast_group");
        if group != 0 {
            // 6.2, 6.4: each copy has its port and instance, and the class of the packet.
            let members = self.buffer.members(group);
            waiting.extend(members.into_iter().map(|copy| leaving("NORMAL_MULTICAST", copy, class.clone())));
            return None;
        }
        Some(leaving("NORMAL_UNICAST", (0, self.field_number(output, "egress_port")), class))
    }

    /// 6.8: the copies that a clone session makes; none if it does not exist. Their class is the session's, which is 0.
    fn psa_clone(
        &mut self,
        packet: &[bool],
        output: usize,
        (path, carried): (&'static str, Carried),
        waiting: &mut VecDeque<Entering>,
    ) {
        let session: BigInt = Machine::big(&self.field_value(output, "clone_session_id"));
        for (instance, port) in self.buffer.copies(&session) {
            let carried = match &carried {
                Carried::CloneI2e(value) => Carried::CloneI2e(value.clone()),
                Carried::CloneE2e(value) => Carried::CloneE2e(value.clone()),
                _ => Carried::None,
            };
            let packet = packet.to_vec();
            let class_of_service = integer(0);
            waiting.push_back(Entering { to_egress: true, packet, port, path, instance, class_of_service, carried });
        }
    }

    /// 6.4, 6.5: egress parses what the deparser of ingress wrote; its end clones, drops, recirculates or sends, in this order.
    fn psa_egress(&mut self, entering: Entering, waiting: &mut VecDeque<Entering>) -> Run<Option<Sent>> {
        let [parser, control, deparser] = self.psa_parts(true)?;
        self.take(entering.packet);
        let [headers, user] = [self.parameter_slot(&parser, 1)?, self.parameter_slot(&parser, 2)?];
        let parser_input = self.parameter_slot(&parser, 3)?;
        let [normal, from_ingress, from_egress] =
            [self.parameter_slot(&parser, 4)?, self.parameter_slot(&parser, 5)?, self.parameter_slot(&parser, 6)?];
        let [input, output] = [self.parameter_slot(&control, 2)?, self.parameter_slot(&control, 3)?];
        match entering.carried {
            Carried::Normal(value) => self.slots[normal] = value,
            Carried::CloneI2e(value) => self.slots[from_ingress] = value,
            Carried::CloneE2e(value) => self.slots[from_egress] = value,
            _ => {}
        }
        for slot in [parser_input, input] {
            self.set_field(slot, "egress_port", integer(entering.port));
            self.set_member(slot, "packet_path", entering.path);
        }
        self.set_field(input, "instance", integer(entering.instance));
        self.set_field(input, "class_of_service", entering.class_of_service);
        if let Some(error) = self.run_on(&parser, &[headers, user, parser_input, normal, from_ingress, from_egress])? {
            self.set_field(input, "parser_error", Value::Error(error));
        }
        self.run_on(&control, &[headers, user, input, output])?;
        let deparser_input = self.parameter_slot(&deparser, 6)?;
        self.set_field(deparser_input, "egress_port", integer(entering.port));
        let [cloned, recirculated] = [self.parameter_slot(&deparser, 1)?, self.parameter_slot(&deparser, 2)?];
        let packet = self.deparse(&deparser, &[cloned, recirculated, headers, user, output, deparser_input])?;
        if self.is_set(output, "clone") {
            // 6.8: a clone of egress has the bytes that its deparser wrote.
            let carried = Carried::CloneE2e(self.slots[cloned].clone());
            self.psa_clone(&packet, output, ("CLONE_E2E", carried), waiting);
        }
        if self.is_set(output, "drop") {
            return Ok(None);
        }
        if entering.port == RECIRCULATE {
            let carried = Carried::Recirculate(self.slots[recirculated].clone());
            waiting.push_back(arriving(packet, RECIRCULATE, carried));
            return Ok(None);
        }
        Ok(Some(sent(entering.port, &packet)))
    }

    /// 6.2, 6.5: what a deparser asks of its input about the paths that the packet takes.
    pub(super) fn psa_question(&self, name: &str, passed: &[&Value]) -> Option<bool> {
        let field = |value: &Value, name: &str| match value {
            Value::Structure(structure) => structure.of.position(name).map(|at| structure.fields[at].clone()),
            _ => None,
        };
        let output = passed.first()?;
        let is_set = |name: &str| field(output, name) == Some(Value::Bool(true));
        match name {
            "psa_clone_i2e" | "psa_clone_e2e" => Some(is_set("clone")),
            "psa_resubmit" => Some(!is_set("drop") && is_set("resubmit")),
            "psa_normal" => Some(!is_set("drop") && !is_set("resubmit")),
            "psa_recirculate" => {
                let port = Machine::big(&field(passed.get(1)?, "egress_port")?);
                Some(!is_set("drop") && port == BigInt::from(RECIRCULATE))
            }
            _ => None,
        }
    }
}
