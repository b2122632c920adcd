//! Reads the controller's view of a program.

use super::Reader;
use super::cursor::Read;
use crate::interface::{Detail, ObjectKind, Physical, SizeSemantics, SourceKey, SourceObject, SourceSelector};
use crate::interface::{SourceAction, SourceActionUse, SourceDefault, SourceParameter, SourceTable};
use crate::text::print::default_alias;
use crate::text::words::{COUNTER_UNITS, MATCH_KINDS, METER_UNITS, OBJECT_KINDS, SCOPES, value_of};
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
        self.members(|reader| reader.source_member(&mut interface))?;
        self.program.interface = interface;
        Ok(())
    }

    fn source_member(&mut self, interface: &mut Interface) -> Read<()> {
        let start = self.at;
        let mut notes = self.notes();
        let word = self.word().unwrap_or("").to_string();
        match word.as_str() {
            "package" => {
                self.advance();
                self.origin(&mut notes);
                interface.package = notes;
            }
            "externs" if notes == Notes::default() => {
                self.advance();
                interface.externs = true;
            }
            "table" => {
                let number = interface.tables.len() as u32;
                let table = self.source_table(notes)?;
                self.places.set(Site::SourceTable(number), self.head_since(start));
                interface.tables.push(table);
            }
            "action" => interface.actions.push(self.source_action(notes)?),
            "type" => interface.types.push(self.source_type(notes)?),
            "unapplied" => {
                self.advance();
                interface.unapplied.push(self.name("the name of a table")?);
            }
            word => {
                let Some(kind) = value_of(OBJECT_KINDS, word) else {
                    return Err(self.fail(
                        "`package`, `externs`, `table`, `action`, `type`, `unapplied` or the kind of another object",
                    ));
                };
                interface.objects.push(self.source_object(kind, notes)?);
            }
        }
        Ok(())
    }

    fn source_object(&mut self, kind: ObjectKind, mut notes: Notes) -> Read<SourceObject> {
        let (id, name, alias) = self.identity()?;
        if kind != ObjectKind::ControllerHeader {
            self.expect(":")?;
        }
        let detail = match kind {
            ObjectKind::ValueSet => {
                let size = self.in_brackets()?.0;
                self.origin(&mut notes);
                self.expect("{")?;
                let mut keys = Vec::new();
                self.members(|reader| {
                    let notes = reader.notes();
                    keys.push(reader.source_key(notes)?);
                    Ok(())
                })?;
                Detail::ValueSet { size, keys }
            }
            ObjectKind::ControllerHeader => {
                self.origin(&mut notes);
                Detail::ControllerHeader { fields: self.source_parameters()? }
            }
            ObjectKind::ActionProfile => self.source_profile()?,
            ObjectKind::Counter => {
                let unit = self.one_of(COUNTER_UNITS)?;
                let (size, index) = self.in_brackets()?;
                Detail::Counter { unit, size, index }
            }
            ObjectKind::DirectCounter => {
                Detail::DirectCounter { unit: self.one_of(COUNTER_UNITS)?, table: self.of_table()? }
            }
            ObjectKind::Meter => {
                let unit = self.one_of(METER_UNITS)?;
                let (size, index) = self.in_brackets()?;
                Detail::Meter { unit, size, index }
            }
            ObjectKind::DirectMeter => Detail::DirectMeter { unit: self.one_of(METER_UNITS)?, table: self.of_table()? },
            ObjectKind::Register => {
                let element = self.type_spec()?;
                let (size, index) = self.in_brackets()?;
                Detail::Register { element, size, index }
            }
            ObjectKind::Digest => Detail::Digest { record: self.type_spec()? },
        };
        self.origin(&mut notes);
        Ok(SourceObject { id, name, alias, detail, notes })
    }

    /// `[1024 type port_t]`: a size, and the type of the index.
    fn in_brackets(&mut self) -> Read<(u64, Option<String>)> {
        self.expect("[")?;
        let size = self.number("a size")?;
        let index = self.type_name()?;
        self.expect("]")?;
        Ok((size, index))
    }

    fn of_table(&mut self) -> Read<u32> {
        self.expect_word("of")?;
        self.number("a table's id")
    }

    fn source_profile(&mut self) -> Read<Detail> {
        let (size, _) = self.in_brackets()?;
        let mut selector = None;
        if self.eat_word("selector") {
            self.expect_word("largest_group")?;
            let largest_group = self.number("a number of members")?;
            let semantics = self.size_semantics("of")?;
            selector = Some(SourceSelector { largest_group, semantics });
        }
        self.expect_word("of")?;
        self.expect("{")?;
        let tables = self.list("}", |reader| reader.number("a table's id"))?;
        Ok(Detail::ActionProfile { tables, size, selector })
    }

    /// `sum_of_weights`, `sum_of_members 8` or nothing, before the word or symbol `end`.
    pub(super) fn size_semantics(&mut self, end: &str) -> Read<Option<SizeSemantics>> {
        if self.eat_word("sum_of_weights") {
            return Ok(Some(SizeSemantics::SumOfWeights));
        }
        if !self.eat_word("sum_of_members") {
            return Ok(None);
        }
        let weight = if self.is_word(end) || self.is_symbol(end) { None } else { Some(self.number("a weight")?) };
        Ok(Some(SizeSemantics::SumOfMembers(weight)))
    }

    /// ` type NAME`, where the program has declared the type.
    fn type_name(&mut self) -> Read<Option<String>> {
        // A member that begins with the word is on a line of its own.
        if self.peek().first_of_line || !self.eat_word("type") {
            return Ok(None);
        }
        self.name("the name of a type").map(Some)
    }

    /// Keyword, id, name and alias.
    fn identity(&mut self) -> Read<(u32, String, String)> {
        self.advance();
        let id = self.number("an id")?;
        let name = self.name("a name")?;
        let alias = if self.eat_word("alias") { self.name("an alias")? } else { default_alias(&name).to_string() };
        Ok((id, name, alias))
    }

    fn source_table(&mut self, mut notes: Notes) -> Read<SourceTable> {
        let (id, name, alias) = self.identity()?;
        self.origin(&mut notes);
        self.expect("{")?;
        let mut table = SourceTable {
            id,
            name,
            alias,
            keys: Vec::new(),
            actions: Vec::new(),
            default: None,
            profile: None,
            direct: Vec::new(),
            size: None,
            idle_timeout: false,
            entries_constant: false,
            entries_initial: false,
            physical: Physical::None,
            notes,
        };
        self.members(|reader| reader.table_member(&mut table))?;
        Ok(table)
    }

    fn table_member(&mut self, table: &mut SourceTable) -> Read<()> {
        let mut notes = self.notes();
        let scope = self.word().and_then(|word| value_of(SCOPES, word));
        if scope.is_some() {
            self.advance();
        }
        if self.eat_word("action") {
            let action = self.number("an action's id")?;
            self.origin(&mut notes);
            table.actions.push(SourceActionUse { action, scope: scope.unwrap_or_default(), notes });
        } else if self.is_word("key") {
            table.keys.push(self.source_key(notes)?);
        } else if self.eat_word("size") {
            table.size = Some(self.number("a number of entries")?);
        } else if self.eat_word("default") {
            table.default = Some(self.source_default(false)?);
        } else if self.eat_word("profile") {
            table.profile = Some(self.number("a profile's id")?);
        } else if self.eat_word("direct") {
            table.direct.push(self.number("an object's id")?);
        } else if self.eat_word("idle_timeout") {
            table.idle_timeout = true;
        } else if self.eat_word("initial") {
            self.expect_word("entries")?;
            table.entries_initial = true;
        } else if self.eat_word("const") {
            if self.eat_word("default") {
                table.default = Some(self.source_default(true)?);
                return Ok(());
            }
            table.entries_initial = !self.eat_word("no");
            self.expect_word("entries")?;
            table.entries_constant = true;
        } else if self.eat_word("physical") {
            table.physical = Physical::Table(self.reference("a table", |names| &names.tables)?);
        } else if self.eat_word("unreachable") {
            table.physical = Physical::None;
        } else {
            return Err(self.fail("`key`, `action`, `default`, `size`, `entries`, `physical` or another property"));
        }
        Ok(())
    }

    fn source_default(&mut self, constant: bool) -> Read<SourceDefault> {
        let action = self.number("an action's id")?;
        self.expect("(")?;
        let arguments = self.list(")", |reader| reader.value("a value"))?;
        Ok(SourceDefault { action, arguments, constant })
    }

    fn source_key(&mut self, mut notes: Notes) -> Read<SourceKey> {
        self.expect_word("key")?;
        let id = self.number("a key's id")?;
        let name = self.name("the key's name")?;
        self.expect(":")?;
        let width = self.number("a width in bits")?;
        let kind = self.one_of(MATCH_KINDS)?;
        let type_name = self.type_name()?;
        self.origin(&mut notes);
        Ok(SourceKey { id, name, width, kind, type_name, notes })
    }

    fn source_action(&mut self, mut notes: Notes) -> Read<SourceAction> {
        let (id, name, alias) = self.identity()?;
        self.origin(&mut notes);
        let parameters = self.source_parameters()?;
        Ok(SourceAction { id, name, alias, parameters, notes })
    }

    fn source_parameters(&mut self) -> Read<Vec<SourceParameter>> {
        self.expect("{")?;
        let mut parameters = Vec::new();
        self.members(|reader| {
            let mut notes = reader.notes();
            reader.expect_word("parameter")?;
            let id = reader.number("a parameter's id")?;
            let name = reader.name("the parameter's name")?;
            reader.expect(":")?;
            let width = reader.number("a width in bits")?;
            let type_name = reader.type_name()?;
            reader.origin(&mut notes);
            parameters.push(SourceParameter { id, name, width, type_name, notes });
            Ok(())
        })?;
        Ok(parameters)
    }
}
