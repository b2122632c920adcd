//! Packets that re-enter the switch: clones, resubmitted and recirculated ones, as docs/language.md has them.
//!
//! They begin with metadata of zero, but for the fields of a list, which keep what they hold at the end of the control.

use std::rc::Rc;

use num_bigint::BigInt;
use p4::ast::{DeclarationKind, Expression, ExpressionKind, walk};

use super::environment::Env;
use super::machine::Machine;
use super::packages::{Package, Sent};
use super::place::{Place, Step};
use super::v1model::State;
use super::value::{Shape, StructureType, Type, Value};
use super::{Run, unsupported};

/// Re-entries after which a packet is left out of the comparison; docs/language.md allows 64.
const RE_ENTRIES: usize = 40;
const CLONE_OF_INGRESS: u32 = 1;
const CLONE_OF_EGRESS: u32 = 2;
const RECIRCULATED: u32 = 4;
const RESUBMITTED: u32 = 6;

/// A clone that a control has requested: of its calls the last one counts.
pub struct Cloned {
    session: BigInt,
    list: Option<List>,
}

/// What a call keeps of the metadata.
pub enum List {
    /// The fields to which `@field_list` gives this number.
    Numbered(BigInt),
    /// The fields that an argument names, by their positions.
    Named(Vec<(Holder, usize)>),
}

/// The structures whose fields can be kept.
#[derive(Clone, Copy)]
pub enum Holder {
    Metadata,
    Standard,
}

impl Holder {
    fn slot(self, state: State) -> usize {
        match self {
            Holder::Metadata => state.metadata,
            Holder::Standard => state.standard,
        }
    }
}

/// Fields of the metadata and what they keep.
type Kept = Vec<(Holder, usize, Value)>;

pub enum Waiting {
    /// Through parser and ingress again.
    Again { packet: Vec<bool>, kept: Kept, instance_type: u32 },
    /// A clone of what came in: through the parser to egress.
    Received { packet: Vec<bool>, kept: Kept, port: u32 },
    /// A clone of what leaves egress, with its headers and its payload.
    Leaving { headers: Value, packet: Vec<bool>, cursor: usize, length: Value, kept: Kept, port: u32 },
}

impl<'a> Machine<'a> {
    /// A call of another kind than fits the control has no effect.
    pub(super) fn request_clone(&mut self, kind: &str, session: &BigInt, list: Option<List>) {
        if (kind == "E2E") == self.in_egress {
            self.cloned = Some(Cloned { session: session.clone(), list });
        }
    }

    /// A session that does not exist makes no clone.
    fn clone_port(&self, cloned: &Cloned) -> Run<Option<u32>> {
        self.buffer.session_port(&cloned.session)
    }

    pub(super) fn clone_received(&mut self, cloned: &Cloned, state: State) -> Run<()> {
        let Some(port) = self.clone_port(cloned)? else { return Ok(()) };
        let kept = self.kept(cloned.list.as_ref(), state)?;
        self.wait(Waiting::Received { packet: self.packet.clone(), kept, port });
        Ok(())
    }

    pub(super) fn clone_sent(&mut self, cloned: &Cloned, state: State) -> Run<()> {
        let Some(port) = self.clone_port(cloned)? else { return Ok(()) };
        if self.truncated.is_some() {
            self.note_undefined("a clone of a packet that is truncated");
        }
        let kept = self.kept(cloned.list.as_ref(), state)?;
        let length = self.standard("packet_length")?;
        let headers = self.slots[state.headers].clone();
        let (packet, cursor) = (self.packet.clone(), self.cursor);
        self.wait(Waiting::Leaving { headers, packet, cursor, length: Value::Integer(length.into()), kept, port });
        Ok(())
    }

    /// The bytes that came in are parsed again.
    pub(super) fn resubmit(&mut self, list: &List, state: State) -> Run<()> {
        let kept = self.kept(Some(list), state)?;
        self.wait(Waiting::Again { packet: self.packet.clone(), kept, instance_type: RESUBMITTED });
        Ok(())
    }

    /// The bytes that the deparser wrote are parsed.
    pub(super) fn recirculate(&mut self, list: &List, state: State, packet: Vec<bool>) -> Run<()> {
        if self.truncated.is_some() {
            self.note_undefined("a recirculated packet that is truncated");
        }
        let kept = self.kept(Some(list), state)?;
        self.wait(Waiting::Again { packet, kept, instance_type: RECIRCULATED });
        Ok(())
    }

    fn wait(&mut self, waiting: Waiting) {
        if let Package::V1Switch(switch) = &mut self.package {
            switch.waiting.push_back(waiting);
            switch.entered += 1;
        }
    }

    pub(super) fn next_waiting(&mut self) -> Run<Option<Waiting>> {
        let Package::V1Switch(switch) = &mut self.package else { return Ok(None) };
        if switch.entered > RE_ENTRIES {
            switch.waiting.clear();
            self.note_undefined("a packet re-enters often");
        }
        let Package::V1Switch(switch) = &mut self.package else { return Ok(None) };
        let next = switch.waiting.pop_front();
        if next.is_none() {
            switch.entered = 0;
        }
        Ok(next)
    }

    /// As in simple_switch, of the standard metadata all is zero, too: it no longer has the ingress port.
    pub(super) fn re_enter(&mut self, waiting: Waiting) -> Run<Vec<Sent>> {
        match waiting {
            Waiting::Again { packet, kept, instance_type } => {
                self.take(packet);
                let state = self.fresh_state(0)?;
                self.keep(kept, state);
                self.set_standard("instance_type", Value::Integer(instance_type.into()))?;
                self.through_ingress(state)
            }
            // As in simple_switch, the parser sees the port by which the packet came in. Behind it, nothing is left of the metadata that the parser
            // writes, nor of its error.
            Waiting::Received { packet, kept, port } => {
                self.take(packet);
                let arrived = if let Package::V1Switch(switch) = &self.package { switch.arrived } else { 0 };
                let parsed = self.fresh_state(arrived)?;
                self.parse(parsed)?;
                let state = State { headers: parsed.headers, ..self.fresh_state(0)? };
                self.keep(kept, state);
                self.set_standard("instance_type", Value::Integer(CLONE_OF_INGRESS.into()))?;
                Ok(self.leave(port, state)?.into_iter().collect())
            }
            Waiting::Leaving { headers, packet, cursor, length, kept, port } => {
                self.take(packet);
                self.cursor = cursor;
                let state = self.fresh_state(0)?;
                self.slots[state.headers] = headers;
                self.keep(kept, state);
                self.set_standard("packet_length", length)?;
                self.set_standard("instance_type", Value::Integer(CLONE_OF_EGRESS.into()))?;
                Ok(self.leave(port, state)?.into_iter().collect())
            }
        }
    }

    fn keep(&mut self, kept: Kept, state: State) {
        for (holder, at, value) in kept {
            self.write(&Place { slot: holder.slot(state), steps: vec![Step::Field(at)] }, value);
        }
    }

    /// What the last argument of a call keeps: a number, or fields in the older calls.
    pub(super) fn kept_by(&mut self, call: &str, argument: &'a Expression, env: &Env<'a>) -> Run<List> {
        if call.contains("preserving") {
            return Ok(List::Numbered(self.number(argument, env)?));
        }
        self.named_fields(argument, env)
    }

    /// The older calls name the fields to keep: `clone3(type, session, { meta.a, meta.b })`, `resubmit(meta)`.
    fn named_fields(&mut self, argument: &'a Expression, env: &Env<'a>) -> Run<List> {
        let mut parts = Vec::new();
        walk::expressions(argument, &mut |part| parts.push(part));
        let mut fields = Vec::new();
        for (holder, of) in self.holders() {
            for part in &parts {
                match &part.kind {
                    ExpressionKind::Member { base, member } if self.is_of(base, &of, env)? => {
                        fields.extend(of.position(member.as_str()).map(|at| (holder, at)));
                    }
                    ExpressionKind::Path(_) if std::ptr::eq(*part, argument) && self.is_of(part, &of, env)? => {
                        fields.extend((0..of.fields.len()).map(|at| (holder, at)));
                    }
                    _ => {}
                }
            }
        }
        Ok(List::Named(fields))
    }

    fn is_of(&mut self, expression: &'a Expression, of: &StructureType, env: &Env<'a>) -> Run<bool> {
        Ok(matches!(self.type_of(expression, env)?, Type::Structure(found) if found.name == of.name))
    }

    /// User metadata and standard metadata.
    fn holders(&self) -> Vec<(Holder, Rc<StructureType>)> {
        let Package::V1Switch(switch) = &self.package else { return Vec::new() };
        let held = [(Holder::Metadata, &switch.metadata), (Holder::Standard, &switch.standard)];
        let structure = |(holder, of): (Holder, &Type)| match of {
            Type::Structure(of) => Some((holder, of.clone())),
            _ => None,
        };
        held.into_iter().filter_map(structure).collect()
    }

    /// The fields of a list, and what they hold.
    fn kept(&mut self, list: Option<&List>, state: State) -> Run<Kept> {
        match list {
            None => Ok(Vec::new()),
            Some(List::Named(fields)) => Ok(self.kept_named(fields, state)),
            Some(List::Numbered(list)) => self.kept_numbered(list, state),
        }
    }

    /// A packet has the headers that its parser finds, also in its metadata (docs/language.md).
    fn kept_named(&self, fields: &[(Holder, usize)], state: State) -> Kept {
        let kept = |(holder, at): &(Holder, usize)| {
            let Value::Structure(held) = &self.slots[holder.slot(state)] else { return None };
            let is_header = matches!(&held.fields[*at], Value::Structure(of) if of.of.shape != Shape::Struct);
            (!is_header).then(|| (*holder, *at, held.fields[*at].clone()))
        };
        fields.iter().filter_map(kept).collect()
    }

    fn kept_numbered(&mut self, list: &BigInt, state: State) -> Run<Kept> {
        let Value::Structure(held) = self.slots[state.metadata].clone() else { return unsupported("no metadata") };
        let of = held.of.clone();
        let declared = self.globals.get(&*of.name).and_then(|all| all.first().copied());
        let Some(DeclarationKind::Structure(structure)) = declared.map(|declared| &declared.kind) else {
            return Ok(Vec::new());
        };
        let mut kept = Vec::new();
        for (at, field) in structure.fields.iter().enumerate() {
            let lists = field.attributes.annotations.iter().filter(|one| one.name.as_str() == "field_list");
            for number in lists.flat_map(|one| one.expressions()) {
                if self.number(number, &None)? == *list {
                    kept.push((Holder::Metadata, at, held.fields[at].clone()));
                }
            }
        }
        Ok(kept)
    }
}
