//! Reads: each entity of a request is a filter, and what passes it is encoded at once.

mod elements;
mod others;
mod table;

use crate::encoded::{Answers, Encoded};
use crate::failure::{Failure, Outcome};
use crate::schema::Schema;
use crate::target::Switch;
use control::message::runtime::{self as message, entity::Entity};

pub use table::{check_default, idle_entry};

pub struct Reader<'a> {
    pub schema: &'a Schema,
    pub switch: &'a mut dyn Switch,
    answers: Answers,
}

impl<'a> Reader<'a> {
    pub fn new(schema: &'a Schema, switch: &'a mut dyn Switch) -> Reader<'a> {
        Reader { schema, switch, answers: Answers::default() }
    }

    /// All that passes the filters, and what became of each.
    pub fn batch(mut self, entities: &[message::Entity]) -> (Vec<Encoded>, Vec<Outcome>) {
        let outcomes = entities.iter().map(|entity| self.entity(entity)).collect();
        (self.answers.finish(), outcomes)
    }

    fn entity(&mut self, filter: &message::Entity) -> Outcome {
        match filter.entity.as_ref().ok_or_else(|| Failure::invalid("the entity is not set"))? {
            Entity::TableEntry(filter) => self.table_entries(filter),
            Entity::ActionProfileMember(filter) => self.members(filter),
            Entity::ActionProfileGroup(filter) => self.groups(filter),
            Entity::CounterEntry(filter) => self.counters(filter),
            Entity::DirectCounterEntry(filter) => self.direct_counters(filter),
            Entity::MeterEntry(filter) => self.meters(filter),
            Entity::DirectMeterEntry(filter) => self.direct_meters(filter),
            Entity::RegisterEntry(filter) => self.registers(filter),
            Entity::PacketReplicationEngineEntry(filter) => self.replication(filter),
            Entity::ValueSetEntry(filter) => self.value_sets(filter),
            Entity::DigestEntry(filter) => self.digests(filter),
            Entity::ExternEntry(_) => Err(Failure::unsupported("the switch has no externs with entries")),
        }
    }

    fn answer(&mut self, entity: Entity) {
        self.answers.push(&message::Entity { entity: Some(entity) });
    }
}

/// Every object, or the one with this id.
fn chosen(id: u32, wanted: u32) -> bool {
    wanted == 0 || id == wanted
}
