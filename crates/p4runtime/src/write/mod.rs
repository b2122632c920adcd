//! Writes: each update of a batch becomes updates of the store, or changes of elements.
//!
//! An update is applied as a whole or not at all: what it has done so far is taken back when a later part fails. A batch with rollback
//! keeps that record for all of its updates.

mod elements;
mod group;
mod one_shot;
mod profile;
mod replication;
mod sets;
mod table;

pub use elements::{find, indices};
pub use table::entry_key;

use crate::failure::{Failure, Outcome};
use crate::port::Ports;
use crate::schema::Schema;
use crate::target::Switch;
use control::message::runtime::{self as message, entity::Entity, update::Type, write_request::Atomicity};
use control::plane::{CounterValue, DataPlane, Element};
use control::{Inverse, Refusal, Update};
use hlir::{CounterId, RegisterId};
use num_bigint::BigUint;
use tonic::Code;

/// What takes a part of an update back.
enum Undo {
    Update(Inverse),
    Counter(CounterId, Element, CounterValue),
    Register(RegisterId, u64, BigUint),
}

pub struct Writer<'a> {
    pub schema: &'a Schema,
    pub switch: &'a mut dyn Switch,
    pub ports: Ports<'a>,
    undo: Vec<Undo>,
    /// Whether updates that are done may be taken back.
    rolls_back: bool,
}

impl<'a> Writer<'a> {
    pub fn new(schema: &'a Schema, switch: &'a mut dyn Switch, ports: Ports<'a>) -> Writer<'a> {
        Writer { schema, switch, ports, undo: Vec::new(), rolls_back: false }
    }

    /// Applies a batch. Returns the result of each update, or why the batch cannot have this atomicity.
    pub fn batch(&mut self, updates: &[message::Update], atomicity: Atomicity) -> Outcome<Vec<Outcome>> {
        match atomicity {
            Atomicity::ContinueOnError => Ok(self.one_by_one(updates)),
            Atomicity::RollbackOnError => Ok(self.all_or_none(updates)),
            Atomicity::DataplaneAtomic => {
                if !self.switch.hold() {
                    return Err(Failure::unsupported("this switch cannot hide a batch from packets until it is whole"));
                }
                let outcomes = self.all_or_none(updates);
                self.switch.release();
                Ok(outcomes)
            }
        }
    }

    /// New entries that bring nothing but an action are written together.
    fn one_by_one(&mut self, updates: &[message::Update]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(updates.len());
        while let Some(next) = updates.get(outcomes.len()) {
            let insertions = self.leading_insertions(&updates[outcomes.len()..]);
            if insertions.is_empty() {
                outcomes.push(self.update(next));
                self.undo.clear();
            } else {
                let written = self.plane().write_all(&insertions);
                outcomes.extend(written.into_iter().map(|outcome| outcome.map(drop).map_err(Failure::from)));
            }
        }
        outcomes
    }

    fn all_or_none(&mut self, updates: &[message::Update]) -> Vec<Outcome> {
        self.rolls_back = true;
        for (at, update) in updates.iter().enumerate() {
            let Err(failure) = self.update(update) else { continue };
            self.take_back(0);
            let aborted = |what: &str| Err(Failure::new(Code::Aborted, what));
            let outcome = |number: usize| match number.cmp(&at) {
                std::cmp::Ordering::Less => aborted("taken back, since a later update failed"),
                std::cmp::Ordering::Equal => Err(failure.clone()),
                std::cmp::Ordering::Greater => aborted("not attempted, since an earlier update failed"),
            };
            return (0..updates.len()).map(outcome).collect();
        }
        self.undo.clear();
        vec![Ok(()); updates.len()]
    }

    fn update(&mut self, update: &message::Update) -> Outcome {
        let done = self.undo.len();
        let outcome = self.dispatch(update);
        if outcome.is_err() {
            self.take_back(done);
        }
        outcome
    }

    fn dispatch(&mut self, update: &message::Update) -> Outcome {
        let kind = match Type::try_from(update.r#type) {
            Ok(Type::Unspecified) | Err(_) => return Err(Failure::invalid("the update has no type")),
            Ok(kind) => kind,
        };
        let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
        match entity.ok_or_else(|| Failure::invalid("the update has no entity"))? {
            Entity::TableEntry(entry) => self.table_entry(kind, entry),
            Entity::ActionProfileMember(member) => self.member(kind, member),
            Entity::ActionProfileGroup(group) => self.group(kind, group),
            Entity::CounterEntry(entry) => self.counter(kind, entry),
            Entity::DirectCounterEntry(entry) => self.direct_counter(kind, entry),
            Entity::MeterEntry(entry) => self.meter(kind, entry),
            Entity::DirectMeterEntry(entry) => self.direct_meter(kind, entry),
            Entity::RegisterEntry(entry) => self.register(kind, entry),
            Entity::PacketReplicationEngineEntry(entry) => self.replication(kind, entry),
            Entity::ValueSetEntry(entry) => self.value_set(kind, entry),
            Entity::DigestEntry(entry) => self.digest(kind, entry),
            Entity::ExternEntry(_) => Err(Failure::unsupported("the switch has no externs with entries")),
        }
    }

    fn plane(&mut self) -> &mut dyn DataPlane {
        self.switch.plane()
    }

    /// Checks an update, keeps it and applies it.
    fn apply(&mut self, update: &Update) -> Outcome {
        let inverse = self.plane().write(update)?;
        self.undo.extend(inverse.map(Undo::Update));
        Ok(())
    }

    /// Takes back what was done since the record had this length, the last first.
    fn take_back(&mut self, done: usize) {
        while self.undo.len() > done {
            let Some(last) = self.undo.pop() else { return };
            // What was there before fits again; only entries that packets have changed meanwhile may not.
            let plane = self.switch.plane();
            let _: Result<(), Refusal> = match last {
                Undo::Update(update) => plane.take_back(&update),
                Undo::Counter(counter, element, value) => plane.write_counter(counter, &element, value),
                Undo::Register(register, index, value) => plane.write_register(register, index, &value),
            };
        }
    }
}

/// For entities that are always there: only MODIFY suits them.
fn only_modify(kind: Type, what: &str) -> Outcome {
    match kind {
        Type::Modify => Ok(()),
        Type::Insert | Type::Delete | Type::Unspecified => {
            Err(Failure::invalid(format!("{what} can only be modified")))
        }
    }
}

/// Whether an object that is there (or not) suits the update.
fn check_presence(kind: Type, is_there: bool, what: &str, id: u32) -> Outcome {
    match (kind, is_there) {
        (Type::Insert, true) => Err(Failure::new(Code::AlreadyExists, format!("there is a {what} {id} already"))),
        (Type::Modify | Type::Delete, false) => Err(Failure::missing(format!("there is no {what} {id}"))),
        (Type::Insert | Type::Modify | Type::Delete | Type::Unspecified, _) => Ok(()),
    }
}
