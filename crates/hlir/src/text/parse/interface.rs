//! Reads the controller's view of a program.

use super::Reader;
use super::cursor::Read;
use crate::interface::{
    Physical, SourceAction, SourceActionUse, SourceKey, SourceObject, SourceParameter, SourceTable,
};
use crate::text::print::usual_alias;
use crate::text::words::{MATCH_KINDS, OBJECT_KINDS, SCOPES, value_of};
use crate::verify::Site;
use crate::{Interface, Notes};

impl Reader {
    pub(super) fn interface(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        self.places.set(Site::Interface, self.since(start));
        self.expect("{")?;
        let mut interface = Interface::default();
        self.members(|reader| reader.source_object(&mut interface))?;
        self.program.interface = interface;
        Ok(())
    }

    fn source_object(&mut self, interface: &mut Interface) -> Read<()> {
        let start = self.at;
        let notes = self.notes();
        let word = self.word().unwrap_or("").to_string();
        match word.as_str() {
            "table" => {
                let number = interface.tables.len() as u32;
                let table = self.source_table(notes)?;
                self.places.set(Site::SourceTable(number), self.head_since(start));
                interface.tables.push(table);
            }
            "action" => interface.actions.push(self.source_action(notes)?),
            word => {
                let Some(kind) = value_of(OBJECT_KINDS, word) else {
                    return Err(self.fail("`table`, `action` or the kind of another object"));
                };
                let mut notes = notes;
                let (id, name, alias) = self.identity()?;
                self.origin(&mut notes);
                interface.objects.push(SourceObject { kind, id, name, alias, notes });
            }
        }
        Ok(())
    }

    /// Keyword, id, name and alias.
    fn identity(&mut self) -> Read<(u32, String, String)> {
        self.advance();
        let id = self.number("an id")?;
        let name = self.name("a name")?;
        let alias = if self.eat_word("alias") { self.name("an alias")? } else { usual_alias(&name).to_string() };
        Ok((id, name, alias))
    }

    fn source_table(&mut self, mut notes: Notes) -> Read<SourceTable> {
        let (id, name, alias) = self.identity()?;
        self.origin(&mut notes);
        self.expect("{")?;
        let (keys, actions) = (Vec::new(), Vec::new());
        let mut table = SourceTable {
            id,
            name,
            alias,
            keys,
            actions,
            size: None,
            entries_constant: false,
            physical: Physical::None,
            notes,
        };
        self.members(|reader| reader.source_member(&mut table))?;
        Ok(table)
    }

    fn source_member(&mut self, table: &mut SourceTable) -> Read<()> {
        let mut notes = self.notes();
        let scope = self.word().and_then(|word| value_of(SCOPES, word));
        if scope.is_some() {
            self.advance();
        }
        if self.eat_word("action") {
            let action = self.number("an action's id")?;
            self.origin(&mut notes);
            table.actions.push(SourceActionUse { action, scope: scope.unwrap_or_default(), notes });
        } else if self.eat_word("key") {
            let id = self.number("a key's id")?;
            let name = self.name("the key's name")?;
            self.expect(":")?;
            let width = self.number("a width in bits")?;
            let kind = self.one_of(MATCH_KINDS)?;
            self.origin(&mut notes);
            table.keys.push(SourceKey { id, name, width, kind, notes });
        } else if self.eat_word("size") {
            table.size = Some(self.number("a number of entries")?);
        } else if self.eat_word("const") {
            self.expect_word("entries")?;
            table.entries_constant = true;
        } else if self.eat_word("physical") {
            table.physical = Physical::Table(self.reference("a table", |names| &names.tables)?);
        } else if self.eat_word("unreachable") {
            table.physical = Physical::None;
        } else {
            return Err(self.fail("`key`, `action`, `size`, `const entries`, `physical` or `unreachable`"));
        }
        Ok(())
    }

    fn source_action(&mut self, mut notes: Notes) -> Read<SourceAction> {
        let (id, name, alias) = self.identity()?;
        self.origin(&mut notes);
        self.expect("{")?;
        let mut parameters = Vec::new();
        self.members(|reader| {
            let mut notes = reader.notes();
            reader.expect_word("parameter")?;
            let id = reader.number("a parameter's id")?;
            let name = reader.name("the parameter's name")?;
            reader.expect(":")?;
            let width = reader.number("a width in bits")?;
            reader.origin(&mut notes);
            parameters.push(SourceParameter { id, name, width, notes });
            Ok(())
        })?;
        Ok(SourceAction { id, name, alias, parameters, notes })
    }
}
