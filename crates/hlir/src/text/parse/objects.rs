//! Reads what precedes the tables: the program's own line, storage, stateful objects, parsers.

use super::Reader;
use super::cursor::Read;
use crate::Field;
use crate::text::lex::TokenKind;
use crate::text::names::id;
use crate::text::print::{CORE_ERRORS, base_name};
use crate::text::words::{ALGORITHMS, COUNTER_UNITS, MATCH_KINDS, METER_UNITS};
use crate::verify::Site;
use crate::{
    Budget, Counter, Crc, Digest, Expression, Extern, ExternObject, Header, Meter, Notes, Parser, Profile, Register,
    Selector, TableId, Type, ValueSet, Variable,
};
use num_bigint::BigUint;

impl Reader {
    pub(super) fn program_line(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        if self.has_program {
            return Err(self.fail("no second program"));
        }
        self.has_program = true;
        self.program.name = self.name("the program's name")?;
        self.expect_word("for")?;
        self.program.architecture = self.name("an architecture")?;
        self.places.set(Site::Program, self.since(start));
        self.program.errors = CORE_ERRORS.map(str::to_string).to_vec();
        Ok(())
    }

    /// Leaves the notes of an item that can have none unread, as an error.
    pub(super) fn no_notes(&mut self) -> Read<()> {
        if matches!(self.peek().kind, TokenKind::Docs(_) | TokenKind::Annotation(_)) {
            return Err(self.fail_with_hint("a declaration that can have notes", "write comments with `//`"));
        }
        Ok(())
    }

    /// `source "PATH"`: what origins name by its base name, or the first one not at all.
    pub(super) fn source(&mut self) -> Read<()> {
        self.no_notes()?;
        self.advance();
        let path = self.text("a path, as a string")?;
        self.main_source.get_or_insert_with(|| path.clone());
        self.sources.insert(base_name(&path).to_string(), path);
        self.ended()
    }

    pub(super) fn budget(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        self.expect_word("reentries")?;
        let reentries = self.number("a number of re-entries")?;
        self.expect_word("copies")?;
        let copies = self.number("a number of copies")?;
        self.expect_word("states")?;
        let states = self.number("a number of states")?;
        self.expect_word("iterations")?;
        let iterations = self.number("a number of iterations")?;
        self.program.budget = Budget { reentries, copies, states, iterations };
        self.places.set(Site::Budget, self.since(start));
        Ok(())
    }

    /// `errors { … }` adds to those of core.p4; `errors only { … }` replaces them.
    pub(super) fn error_names(&mut self) -> Read<()> {
        self.no_notes()?;
        self.advance();
        let only = self.eat_word("only");
        self.expect("{")?;
        let names = self.list("}", |reader| reader.name("the name of an error"))?;
        if only {
            self.program.errors.clear();
        }
        self.program.errors.extend(names);
        Ok(())
    }

    pub(super) fn header(&mut self) -> Read<()> {
        let start = self.at;
        let mut notes = self.notes();
        self.advance();
        let name = self.name("the header's name")?;
        self.expect(":")?;
        let type_name = self.name("the name of the header's type")?;
        self.expect("{")?;
        let fields = self.list("}", |reader| {
            let name = reader.name("a field")?;
            reader.expect(":")?;
            let varbit = reader.eat_word("varbit");
            Ok(Field { name, width: reader.number("a width in bits")?, varbit })
        })?;
        self.origin(&mut notes);
        let header = self.program.headers.alloc(Header { name, type_name, fields, notes });
        self.places.set(Site::Header(header), self.head_since(start));
        self.ended()
    }

    /// Storage is read before all else, and so has to look itself whether something follows.
    fn ended(&mut self) -> Read<()> {
        if self.is_end() { Ok(()) } else { Err(self.fail("the end of this declaration")) }
    }

    pub(super) fn variable(&mut self) -> Read<()> {
        let start = self.at;
        let mut notes = self.notes();
        self.advance();
        let name = self.name("the variable's name")?;
        self.expect(":")?;
        let kind =
            if self.eat_word("bool") { Type::Bool } else { Type::Bits(self.number("a width in bits, or `bool`")?) };
        self.origin(&mut notes);
        let variable = self.program.variables.alloc(Variable { name, kind, notes });
        self.places.set(Site::Variable(variable), self.head_since(start));
        self.ended()
    }

    /// Notes, keyword and name, with which most items begin.
    pub(super) fn beginning(&mut self, what: &str) -> Read<(Notes, String)> {
        let notes = self.notes();
        self.advance();
        Ok((notes, self.name(what)?))
    }

    pub(super) fn crc(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the CRC's name")?;
        self.expect(":")?;
        let width = self.number("a width in bits")?;
        self.origin(&mut notes);
        self.places.set(Site::Crc(self.program.crcs.len() as u32), self.head_since(start));
        self.program.crcs.alloc(Crc { name, width, notes });
        Ok(())
    }

    pub(super) fn digest(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the digest's name")?;
        self.expect("{")?;
        let fields = self.list("}", |reader| {
            let name = reader.name("a field")?;
            reader.expect(":")?;
            Ok((name, reader.number("a width in bits")?))
        })?;
        self.origin(&mut notes);
        self.places.set(Site::Digest(self.program.digests.len() as u32), self.head_since(start));
        self.program.digests.alloc(Digest { name, fields, notes });
        Ok(())
    }

    pub(super) fn register(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the register's name")?;
        self.expect(":")?;
        let width = self.number("a width in bits")?;
        let size = self.size()?;
        let initial = if self.eat("=") { self.value("an initial value")? } else { BigUint::ZERO };
        self.origin(&mut notes);
        self.places.set(Site::Register(self.program.registers.len() as u32), self.head_since(start));
        self.program.registers.alloc(Register { name, size, width, initial, notes });
        Ok(())
    }

    /// `[1024]`
    fn size(&mut self) -> Read<u64> {
        self.expect("[")?;
        let size = self.number("a size")?;
        self.expect("]")?;
        Ok(size)
    }

    /// `[1024]` of an indirect counter or meter, or `of TABLE` of a direct one.
    fn indices(&mut self) -> Read<(u64, Option<TableId>)> {
        let size = if self.is_symbol("[") { Some(self.size()?) } else { None };
        let table = if self.eat_word("of") { Some(self.reference("a table", |names| &names.tables)?) } else { None };
        if size.is_none() && table.is_none() {
            return Err(self.fail("`[SIZE]` or `of TABLE`"));
        }
        Ok((size.unwrap_or(0), table))
    }

    pub(super) fn counter(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the counter's name")?;
        self.expect(":")?;
        let unit = self.one_of(COUNTER_UNITS)?;
        let (size, table) = self.indices()?;
        let automatic = self.eat_word("automatic");
        self.origin(&mut notes);
        self.places.set(Site::Counter(self.program.counters.len() as u32), self.head_since(start));
        self.program.counters.alloc(Counter { name, size, table, unit, automatic, notes });
        Ok(())
    }

    pub(super) fn meter(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the meter's name")?;
        self.expect(":")?;
        let unit = self.one_of(METER_UNITS)?;
        let (size, table) = self.indices()?;
        let automatic = if self.eat_word("into") { Some(self.place()?) } else { None };
        self.origin(&mut notes);
        self.places.set(Site::Meter(self.program.meters.len() as u32), self.head_since(start));
        self.program.meters.alloc(Meter { name, size, table, unit, automatic, notes });
        Ok(())
    }

    pub(super) fn value_set(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the value set's name")?;
        let size = self.size()?;
        self.expect("{")?;
        let fields = self.list("}", |reader| {
            let name = reader.name("a field")?;
            reader.expect(":")?;
            Ok((name, reader.number("a width in bits")?, reader.one_of(MATCH_KINDS)?))
        })?;
        self.origin(&mut notes);
        self.places.set(Site::ValueSet(self.program.value_sets.len() as u32), self.head_since(start));
        self.program.value_sets.alloc(ValueSet { name, size, fields, notes });
        Ok(())
    }

    pub(super) fn profile(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the profile's name")?;
        let size = self.size()?;
        let selector = if self.eat_word("selector") {
            let algorithm = self.one_of(ALGORITHMS)?;
            self.expect_word("width")?;
            let width = self.number("a width in bits")?;
            self.expect_word("largest_group")?;
            Some(Selector { algorithm, width, largest_group: self.number("a number of members")? })
        } else {
            None
        };
        self.origin(&mut notes);
        self.places.set(Site::Profile(self.program.profiles.len() as u32), self.head_since(start));
        self.program.profiles.alloc(Profile { name, size, selector, notes });
        Ok(())
    }

    /// `extern NAME: TYPE(32w5, …)`, an object, or `extern NAME`, a function.
    pub(super) fn custom_extern(&mut self) -> Read<()> {
        let start = self.at;
        let (mut notes, name) = self.beginning("the extern's name")?;
        let object = if self.eat(":") {
            let of_type = self.name("the name of the extern's type")?;
            self.expect("(")?;
            let arguments = self.list(")", |reader| {
                let Expression::Constant { value, width } = reader.expression(None)? else {
                    return Err(reader.fail("a constant"));
                };
                Ok((value, width))
            })?;
            Some(ExternObject { of_type, arguments })
        } else {
            None
        };
        self.origin(&mut notes);
        self.places.set(Site::Extern(self.program.externs.len() as u32), self.head_since(start));
        self.program.externs.alloc(Extern { name, object, notes });
        Ok(())
    }

    /// `parser NAME { start NODE, accept NODE, reject NODE, error VARIABLE }`
    pub(super) fn parser(&mut self) -> Read<()> {
        self.no_notes()?;
        let start_token = self.at;
        let (_, name) = self.beginning("the parser's name")?;
        self.expect("{")?;
        let mut edges = [id(0); 3];
        for (word, edge) in ["start", "accept", "reject"].into_iter().zip(&mut edges) {
            self.expect_word(word)?;
            *edge = self.node_reference()?;
            self.eat(",");
        }
        self.expect_word("error")?;
        let error = self.variable_name()?;
        self.eat(",");
        self.expect("}")?;
        let [start, accept, reject] = edges;
        let parser = self.program.parsers.alloc(Parser { name, start, accept, reject, error });
        self.places.set(Site::Parser(parser), self.head_since(start_token));
        Ok(())
    }

    pub(super) fn entry(&mut self) -> Read<()> {
        self.no_notes()?;
        self.advance();
        if self.program.entry.is_some() {
            return Err(self.fail("no second entry"));
        }
        self.program.entry = Some(self.node_reference()?);
        Ok(())
    }

    pub(super) fn node_reference(&mut self) -> Read<crate::NodeId> {
        self.reference("a node", |names| &names.nodes)
    }
}
