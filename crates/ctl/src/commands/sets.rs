//! Parser value sets. The protocol writes a set as a whole: one member more or less is the whole set, read and written.

use super::input::Input;
use super::write::{entity, update};
use super::{Session, mistake};
use crate::failure::Failure;
use crate::field::{self, Field};
use crate::names::{self, Named as _};
use crate::output::Report;
use control::message::config::ValueSet;
use control::message::runtime::{ValueSetEntry, ValueSetMember, entity::Entity, update::Type};
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
                    report.row(vec![set.name().into(), show_member(&fields, &member).into()]);
                }
            }
            self.print(&report);
            return Ok(());
        };
        let set = names::find(&line.name("a value set")?, "value set", &names.info.value_sets)?;
        let fields = names.keys(&set.r#match);
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

    fn set_members(&mut self, set: &ValueSet) -> Result<Vec<ValueSetMember>, Failure> {
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

fn show_member(fields: &[Field], member: &ValueSetMember) -> String {
    let values =
        fields.iter().map(|field| field.show_match(member.r#match.iter().find(|found| found.field_id == field.id)));
    values.collect::<Vec<_>>().join(",")
}
