//! Reads statements. They need no separators; a semicolon between two is allowed.

use super::Reader;
use super::cursor::{Failed, Read};
use crate::text::lex::TokenKind;
use crate::text::names::{Storage, get};
use crate::text::words::{ALGORITHMS, CRC16_CUSTOM, CRC32_CUSTOM, alternatives};
use crate::verify::{Body, Site};
use crate::{Algorithm, Argument, Call, Expression, HashInput, Place, Statement, Type};

impl Reader {
    /// The statements of a node or an action, in braces.
    pub fn body(&mut self, body: Body) -> Read<Vec<Statement>> {
        self.body = Some(body);
        self.statements = 0;
        let statements = self.statements();
        self.body = None;
        statements
    }

    /// The algorithm of a hash. One whose parameters a controller sets is followed by the CRC that has them.
    fn algorithm(&mut self) -> Read<Algorithm> {
        if self.eat_word(CRC32_CUSTOM) {
            return Ok(Algorithm::Crc32Custom(self.reference("a CRC", |names| &names.crcs)?));
        }
        if self.eat_word(CRC16_CUSTOM) {
            return Ok(Algorithm::Crc16Custom(self.reference("a CRC", |names| &names.crcs)?));
        }
        let algorithm = self.word().and_then(crate::text::algorithm_of);
        let Some(algorithm) = algorithm else {
            return Err(self.fail(&format!("{}, `{CRC32_CUSTOM}` or `{CRC16_CUSTOM}`", alternatives(ALGORITHMS))));
        };
        self.advance();
        Ok(algorithm)
    }

    fn statements(&mut self) -> Read<Vec<Statement>> {
        self.deeper()?;
        self.expect("{")?;
        let mut statements = Vec::new();
        self.members(|reader| {
            statements.push(reader.statement()?);
            Ok(())
        })?;
        self.depth -= 1;
        Ok(statements)
    }

    fn statement(&mut self) -> Read<Statement> {
        let (start, number) = (self.at, self.statements);
        self.statements += 1;
        let statement = self.any_statement();
        if let Some(body) = self.body {
            self.places.set(Site::Statement(body, number), self.head_since(start));
        }
        statement
    }

    /// What has been taken since `start`, its first line only.
    pub fn head_since(&self, start: usize) -> crate::source::Span {
        let lines = self.tokens[start..self.at.max(start + 1).min(self.tokens.len())].iter().skip(1);
        let count = lines.take_while(|token| !token.first_of_line).count();
        self.tokens[start].span.to(self.tokens[start + count].span)
    }

    fn any_statement(&mut self) -> Read<Statement> {
        let is_assignment = self.peek_behind(1).kind == TokenKind::Symbol("=");
        let word = self.word().filter(|_| !is_assignment).map(str::to_string);
        if is_assignment || matches!(self.peek().kind, TokenKind::Ordinal(_)) {
            let (target, value) = self.assignment()?;
            return Ok(Statement::Assign { target, value });
        }
        let Some(word) = word else { return Err(self.fail("a statement")) };
        if !self.is_statement(&word) {
            let hint = "statements are PLACE = VALUE, if, scope, loop, leave, exit, validate, invalidate, copy, extract, advance, \
                        lookahead, verify, emit, truncate, count, read, write, meter, hash, checksum, random, digest, log, assert, \
                        insert, restart_timer, call";
            return Err(self.fail_with_hint("a statement", hint));
        }
        self.advance();
        match word.as_str() {
            "validate" => Ok(Statement::SetValid(self.header_name()?)),
            "invalidate" => Ok(Statement::SetInvalid(self.header_name()?)),
            "copy" => self.copy(),
            "if" => self.conditional(),
            "scope" => Ok(Statement::Scope { label: self.name("a label")?, body: self.statements()? }),
            "loop" => Ok(Statement::Loop { label: self.name("a label")?, body: self.statements()? }),
            "leave" => Ok(Statement::Leave(self.name("a label")?)),
            "exit" => Ok(Statement::Exit),
            "extract" => {
                let header = self.header_name()?;
                Ok(Statement::Extract { header, varbit: self.optional("varbit")? })
            }
            "advance" => Ok(Statement::Advance(self.expression(None)?)),
            "lookahead" => {
                let into = self.variable_name()?;
                let offset = if self.clause("at") { self.number("a number of bits")? } else { 0 };
                Ok(Statement::Lookahead { into, offset })
            }
            "verify" => {
                let condition = self.expression(None)?;
                self.expect_word("else")?;
                Ok(Statement::Verify { condition, error: self.expression(None)? })
            }
            "emit" => Ok(Statement::Emit(self.header_name()?)),
            "truncate" => Ok(Statement::Truncate(self.expression(None)?)),
            other => Ok(Statement::Call(self.call(other)?)),
        }
    }

    fn is_statement(&self, word: &str) -> bool {
        const WORDS: [&str; 27] = [
            "validate",
            "invalidate",
            "copy",
            "if",
            "scope",
            "loop",
            "leave",
            "exit",
            "extract",
            "advance",
            "lookahead",
            "verify",
            "emit",
            "truncate",
            "count",
            "read",
            "write",
            "meter",
            "hash",
            "checksum",
            "random",
            "digest",
            "log",
            "assert",
            "insert",
            "restart_timer",
            "call",
        ];
        WORDS.contains(&word)
    }

    /// `place = value`, where constants have the width of the place.
    pub fn assignment(&mut self) -> Read<(Place, Expression)> {
        let place = self.place()?;
        self.expect("=")?;
        let width = match place {
            Place::Variable(variable) => get(&self.program.variables, variable).and_then(|found| match found.kind {
                Type::Bits(width) => Some(width),
                Type::Bool => None,
            }),
            Place::Field(field) => self.field_width(field),
        };
        Ok((place, self.expression(width)?))
    }

    fn copy(&mut self) -> Read<Statement> {
        let span = self.peek().span;
        let to = self.any_storage("a header or varbit field")?;
        self.expect("=")?;
        let from = self.any_storage("a header or varbit field")?;
        match (to, from) {
            (Storage::Header(to), Storage::Header(from)) => Ok(Statement::CopyHeader { to, from }),
            (Storage::Field(to), Storage::Field(from)) => Ok(Statement::CopyVarbit { to, from }),
            (Storage::Header(_) | Storage::Field(_) | Storage::Variable(_), _) => {
                let hint = "variables are copied by `a = b`";
                Err(self.complain(span, "`copy` is for two headers, or for two varbit fields", hint))
            }
        }
    }

    /// A chain of `else if` is read without nesting, for it may be long.
    fn conditional(&mut self) -> Read<Statement> {
        let mut arms = Vec::new();
        let mut end = Vec::new();
        loop {
            if arms.len() > 500 {
                return Err(self.fail_with_hint("the end of this chain", "500 times `else if` are the limit"));
            }
            arms.push((self.expression(None)?, self.statements()?));
            if !self.clause("else") {
                break;
            }
            if !self.eat_word("if") {
                end = self.statements()?;
                break;
            }
            self.statements += 1;
        }
        for (condition, then) in arms.into_iter().rev() {
            end = vec![Statement::If { condition, then, otherwise: end }];
        }
        end.pop().ok_or(Failed)
    }

    fn optional(&mut self, word: &str) -> Read<Option<Expression>> {
        if self.clause(word) { self.expression(None).map(Some) } else { Ok(None) }
    }

    fn into(&mut self) -> Read<Place> {
        self.expect_word("into")?;
        self.place()
    }

    fn optional_into(&mut self) -> Read<Option<Place>> {
        if self.clause("into") { self.place().map(Some) } else { Ok(None) }
    }

    fn call(&mut self, word: &str) -> Read<Call> {
        match word {
            "count" => {
                let counter = self.reference("a counter", |names| &names.counters)?;
                Ok(Call::Count { counter, index: self.optional("at")? })
            }
            "read" => {
                let register = self.reference("a register", |names| &names.registers)?;
                self.expect_word("at")?;
                Ok(Call::ReadRegister { register, index: self.expression(None)?, into: self.into()? })
            }
            "write" => {
                let register = self.reference("a register", |names| &names.registers)?;
                self.expect_word("at")?;
                let index = self.expression(None)?;
                self.expect("=")?;
                Ok(Call::WriteRegister { register, index, value: self.expression(None)? })
            }
            "meter" => {
                let meter = self.reference("a meter", |names| &names.meters)?;
                let (index, colour) = (self.optional("at")?, self.optional("colour")?);
                Ok(Call::ExecuteMeter { meter, index, colour, into: self.into()? })
            }
            "hash" => {
                let algorithm = self.algorithm()?;
                Ok(Call::Hash { algorithm, data: self.hash_inputs()?, into: self.into()? })
            }
            "checksum" => {
                let subtract = self.is_word("subtract");
                if !subtract && !self.is_word("add") {
                    return Err(self.fail("`add` or `subtract`"));
                }
                self.advance();
                Ok(Call::AddChecksum { data: self.hash_inputs()?, sum: self.into()?, subtract })
            }
            "random" => {
                let low = self.expression(None)?;
                self.expect("..")?;
                Ok(Call::Random { low, high: self.expression(None)?, into: self.into()? })
            }
            "digest" => {
                let digest = self.reference("a digest", |names| &names.digests)?;
                self.expect("(")?;
                Ok(Call::SendDigest { digest, values: self.expressions(")")? })
            }
            _ => self.further_call(word),
        }
    }

    fn further_call(&mut self, word: &str) -> Read<Call> {
        match word {
            "log" => {
                let format = self.text("the text to log")?;
                self.expect("(")?;
                Ok(Call::Log { format, arguments: self.expressions(")")? })
            }
            "assert" => {
                let condition = self.expression(None)?;
                self.expect_word("else")?;
                Ok(Call::Assert { condition, text: self.text("a message for the stop")? })
            }
            "insert" => {
                let table = self.reference("a table", |names| &names.tables)?;
                self.expect("=>")?;
                let action = self.action(table)?;
                self.expect("(")?;
                let arguments = self.expressions(")")?;
                Ok(Call::AddEntry {
                    table,
                    action,
                    arguments,
                    expiry: self.optional("expire")?,
                    into: self.optional_into()?,
                })
            }
            "restart_timer" => Ok(Call::RestartTimer { expiry: self.optional("expire")? }),
            "call" => {
                let object = self.reference("an extern", |names| &names.externs)?;
                let function = self.name("a function in C")?;
                self.expect("(")?;
                let arguments = self.list(")", Reader::argument)?;
                Ok(Call::Custom { object, function, arguments, into: self.optional_into()? })
            }
            _ => Err(self.fail("a statement")),
        }
    }

    fn argument(&mut self) -> Read<Argument> {
        if self.eat_word("in") {
            Ok(Argument::In(self.expression(None)?))
        } else if self.eat_word("out") {
            Ok(Argument::Out(self.place()?))
        } else if self.eat_word("inout") {
            Ok(Argument::InOut(self.place()?))
        } else if self.eat_word("payload") {
            Ok(Argument::Payload)
        } else {
            Err(self.fail("`in`, `out`, `inout` or `payload`"))
        }
    }

    fn hash_inputs(&mut self) -> Read<Vec<HashInput>> {
        self.expect("{")?;
        self.list("}", |reader| {
            let field = reader.is_word("field")
                && matches!(reader.peek_behind(1).kind, TokenKind::Name { .. } | TokenKind::Ordinal(_));
            if field {
                reader.advance();
                return Ok(HashInput::Field(reader.field_name()?));
            }
            if reader.is_word("payload") {
                reader.advance();
                return Ok(HashInput::Payload);
            }
            Ok(HashInput::Bits(reader.expression(None)?))
        })
    }
}
