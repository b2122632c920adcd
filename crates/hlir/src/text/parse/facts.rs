//! Reads the facts that a program takes for granted.

use super::Reader;
use super::cursor::Read;
use crate::facts::{Assumption, Fact};
use crate::verify::Site;
use crate::{Entry, TableId};

impl Reader {
    /// `assume TABLE FACT`, behind its tables.
    pub(super) fn assumption(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        let table = self.reference("a table", |names| &names.tables)?;
        let fact = if self.eat_word("empty") {
            Fact::Empty
        } else if self.eat_word("default") {
            Fact::Default(self.action_call(table)?)
        } else if self.eat_word("entries") {
            Fact::Entries(self.entries_of(table)?)
        } else if self.eat_word("leading") {
            Fact::Leading(self.entries_of(table)?)
        } else if self.eat_word("actions") {
            self.expect("{")?;
            Fact::Actions(self.list("}", |reader| reader.action(table))?)
        } else if self.eat_word("argument") {
            let action = self.action(table)?;
            let parameter = self.number("the number of a parameter")?;
            self.expect("=")?;
            Fact::Argument { action, parameter, value: self.value("an argument")? }
        } else if self.eat_word("any") {
            Fact::Any(self.number("the number of a key")?)
        } else if self.eat_word("key") {
            let key = self.number("the number of a key")?;
            self.expect("=")?;
            Fact::Key { key, value: self.value("a value of the key")? }
        } else if self.eat_word("mask") {
            let key = self.number("the number of a key")?;
            self.expect("=")?;
            Fact::Mask { key, mask: self.value("a mask of the key")? }
        } else if self.eat_word("distinct") {
            Fact::Distinct
        } else if self.eat_word("unmetered") {
            Fact::Unmetered
        } else {
            return Err(self.fail(
                "`empty`, `default`, `entries`, `leading`, `actions`, `argument`, `any`, `key`, `mask`, `distinct` or \
                 `unmetered`",
            ));
        };
        self.places.set(Site::Assumption(self.program.assumptions.len() as u32), self.since(start));
        self.program.assumptions.push(Assumption { table, fact });
        Ok(())
    }

    /// `{ ENTRIES }`
    fn entries_of(&mut self, table: TableId) -> Read<Vec<Entry>> {
        let mut entries = Vec::new();
        self.expect("{")?;
        self.members(|reader| reader.table_entry(table).map(|entry| entries.push(entry)))?;
        Ok(entries)
    }
}
