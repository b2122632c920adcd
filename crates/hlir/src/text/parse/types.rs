//! Reads the types of a controller's view.

use super::Reader;
use super::cursor::Read;
use crate::Notes;
use crate::interface::{Definition, Member, SourceType, Translation, TypeSpec};
use crate::text::words::{NAMED_KINDS, alternatives, value_of};

const DEFINITIONS: &str = "`struct`, `header`, `union`, `enum`, `serializable`, `errors`, `new` or `translated`";

impl Reader {
    pub(super) fn source_type(&mut self, mut notes: Notes) -> Read<SourceType> {
        self.expect_word("type")?;
        let Some(word) = self.word().map(str::to_string) else { return Err(self.fail(DEFINITIONS)) };
        self.advance();
        let name = self.name("the name of a type")?;
        let members = |reader: &mut Reader, notes: &mut Notes| {
            reader.origin(notes);
            reader.expect("{")
        };
        let definition = match word.as_str() {
            "struct" | "header" => {
                members(self, &mut notes)?;
                let members = self.type_members(|reader| {
                    reader.expect(":")?;
                    reader.type_spec()
                })?;
                if word == "struct" { Definition::Struct(members) } else { Definition::Header(members) }
            }
            "union" => {
                members(self, &mut notes)?;
                Definition::Union(self.type_members(|reader| {
                    reader.expect(":")?;
                    reader.name("the name of a header type")
                })?)
            }
            "enum" | "errors" => {
                members(self, &mut notes)?;
                let members = self.type_members(|_| Ok(()))?;
                if word == "enum" { Definition::Enumeration(members) } else { Definition::Errors(members) }
            }
            "serializable" => {
                self.expect(":")?;
                let width = self.number("a width in bits")?;
                members(self, &mut notes)?;
                let members = self.type_members(|reader| {
                    reader.expect("=")?;
                    reader.value("a value")
                })?;
                Definition::Serializable(width, members)
            }
            "new" => {
                self.expect(":")?;
                Definition::New(self.type_spec()?)
            }
            "translated" => {
                self.expect(":")?;
                let uri = self.text("an address")?;
                self.expect_word("to")?;
                let to = match self.eat_word("string") {
                    true => Translation::Text,
                    false => Translation::Bits(self.number("a width in bits or `string`")?),
                };
                Definition::Translated { uri, to }
            }
            _ => {
                self.at -= 2;
                return Err(self.fail(DEFINITIONS));
            }
        };
        self.origin(&mut notes);
        Ok(SourceType { name, definition, notes })
    }

    fn type_members<T>(&mut self, behind: impl Fn(&mut Reader) -> Read<T>) -> Read<Vec<Member<T>>> {
        let mut list = Vec::new();
        self.members(|reader| {
            let mut notes = reader.notes();
            reader.expect_word("member")?;
            let name = reader.name("the member's name")?;
            let value = behind(reader)?;
            reader.origin(&mut notes);
            list.push(Member { name, value, notes });
            Ok(())
        })?;
        Ok(list)
    }

    pub(super) fn type_spec(&mut self) -> Read<TypeSpec> {
        if let Some(kind) = self.word().and_then(|word| value_of(NAMED_KINDS, word)) {
            self.advance();
            return Ok(TypeSpec::Named(kind, self.name("the name of a type")?));
        }
        if self.eat_word("bit") {
            return Ok(TypeSpec::Bits(self.number("a width in bits")?));
        }
        if self.eat_word("int") {
            return Ok(TypeSpec::Signed(self.number("a width in bits")?));
        }
        if self.eat_word("varbit") {
            return Ok(TypeSpec::Varbit(self.number("a width in bits")?));
        }
        if self.eat_word("bool") {
            return Ok(TypeSpec::Bool);
        }
        if self.eat_word("error") {
            return Ok(TypeSpec::Error);
        }
        if self.eat_word("tuple") {
            self.expect("{")?;
            self.deeper()?;
            let members = self.list("}", Reader::type_spec)?;
            self.depth -= 1;
            return Ok(TypeSpec::Tuple(members));
        }
        if self.eat_word("stack") {
            let size = self.number("a number of elements")?;
            self.expect_word("of")?;
            let kind = self.one_of(NAMED_KINDS)?;
            return Ok(TypeSpec::Stack(kind, self.name("the name of a type")?, size));
        }
        let named = alternatives(NAMED_KINDS);
        Err(self.fail(&format!("`bit`, `int`, `varbit`, `bool`, `error`, `tuple`, `stack`, {named}")))
    }
}
