//! Parser value sets. The protocol writes a set as a whole: one member more or less is the whole set, read and written.

use super::input::Input;
use super::write::{entity, update};
use super::{Session, mistake};
use crate::failure::Failure;
use crate::field::{self, Field};
use crate::names::{self, Named as _};
use crate::output::{Cell, Report};
use control::message::config::ValueSet;
use control::message::runtime::{ValueSetEntry, ValueSetMember, entity::Entity, update::Type};
use serde_json::Value as Json;
use stf::{Line, Mistake};

impl Session {
    pub fn value_sets(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        let verb = input.one_of(&["set", "add", "delete"]);
        let mut line = input.line()?;
        let Some(verb) = verb else {
            let sets = &names.info.value_sets;
            let one =
                if line.goes_on() { Some(names::find(&line.name("a value set")?, "value set", sets)?) } else { None };
            line.finish()?;
            let mut report = Report::new(&["set", "member"]);
            for set in sets.iter().filter(|set| one.is_none_or(|one| one.id() == set.id())) {
                let fields = names.keys(&set.r#match);
                for member in self.set_members(set)? {
                    let json = json_member(&fields, &member);
                    report.row(vec![set.name().into(), Cell::shown(show_member(&fields, &member), json)]);
                }
            }
            self.print(&report);
            return Ok(());
        };
        let set = names::find(&line.name("a value set")?, "value set", &names.info.value_sets)?;
        let mut fields = names.keys(&set.r#match);
        if let [field] = fields.as_mut_slice() {
            // A set of plain values: messages name the set.
            field.name = set.name();
        }
        let place = line.place();
        let mut given = Vec::new();
        while line.goes_on() {
            given.push(self.set_member(&fields, &mut line)?);
        }
        let mut members = if verb.text == "set" { Vec::new() } else { self.set_members(set)? };
        for member in given {
            match verb.text.as_str() {
                "delete" if !members.contains(&member) => {
                    return mistake(
                        place,
                        format!("value set `{}` has no member {}", set.name(), show_member(&fields, &member)),
                    );
                }
                "delete" => members.retain(|known| *known != member),
                _ => members.push(member),
            }
        }
        let written = ValueSetEntry { value_set_id: set.id(), members };
        self.write_one(format!("value set {}", set.name()), update(Type::Modify, Entity::ValueSetEntry(written)))
    }

    pub(super) fn set_members(&mut self, set: &ValueSet) -> Result<Vec<ValueSetMember>, Failure> {
        let filter = ValueSetEntry { value_set_id: set.id(), members: Vec::new() };
        let found = self.client.read(vec![entity(Entity::ValueSetEntry(filter))])?;
        let members = found.into_iter().filter_map(|found| {
            if let Entity::ValueSetEntry(entry) = found.entity? { Some(entry.members) } else { None }
        });
        Ok(members.flatten().collect())
    }

    /// A value for each field, between commas.
    fn set_member(&mut self, fields: &[Field], line: &mut Line) -> Result<ValueSetMember, Mistake> {
        let mut member = ValueSetMember::default();
        for (at, field) in fields.iter().enumerate() {
            if at > 0 {
                line.mark(",")?;
            }
            member.r#match.extend(field.encode_match(&field::given(line)?, &mut self.warnings)?);
        }
        Ok(member)
    }
}

/// The value of a set with one field; else an object.
fn json_member(fields: &[Field], member: &ValueSetMember) -> Json {
    let found = |field: &Field| member.r#match.iter().find(|found| found.field_id == field.id);
    match fields {
        [field] => field.json_match(found(field)),
        fields => fields.iter().map(|field| (field.name.to_string(), field.json_match(found(field)))).collect(),
    }
}

pub fn show_member(fields: &[Field], member: &ValueSetMember) -> String {
    let values =
        fields.iter().map(|field| field.show_match(member.r#match.iter().find(|found| found.field_id == field.id)));
    values.collect::<Vec<_>>().join(",")
}
