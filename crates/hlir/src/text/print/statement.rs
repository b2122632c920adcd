//! Prints statements, a line each; what encloses others has a line for its end as well.

use super::Printer;
use super::lines::{Lines, in_braces};
use crate::text::algorithm_word;
use crate::text::names::{get, number};
use crate::text::words::{between, written};
use crate::{Algorithm, Argument, Call, Expression, HashInput, Parameter, Place, Statement, Type};

impl Printer<'_> {
    /// A statement in the body of an action with these parameters (none elsewhere), without a line break at its end.
    pub fn statement(&self, statement: &Statement, parameters: &[Parameter]) -> String {
        let mut lines = Lines::default();
        self.statement_lines(&mut lines, statement, parameters);
        lines.text().trim_end().to_string()
    }

    pub(super) fn statements(&self, lines: &mut Lines, body: &[Statement], parameters: &[Parameter]) {
        body.iter().for_each(|statement| self.statement_lines(lines, statement, parameters));
    }

    fn statement_lines(&self, lines: &mut Lines, statement: &Statement, parameters: &[Parameter]) {
        let value = |expression: &Expression| self.expression(expression, parameters);
        let line = match statement {
            Statement::Assign { target, value } => self.assignment(*target, value, parameters),
            Statement::SetValid(header) => format!("validate {}", self.header(*header)),
            Statement::SetInvalid(header) => format!("invalidate {}", self.header(*header)),
            Statement::CopyHeader { to, from } => format!("copy {} = {}", self.header(*to), self.header(*from)),
            Statement::CopyVarbit { to, from } => {
                format!("copy {} = {}", self.field(*to, parameters), self.field(*from, parameters))
            }
            Statement::If { condition, then, otherwise } => {
                return self.conditional(lines, condition, then, otherwise, parameters);
            }
            Statement::Scope { label, body } => return self.labelled(lines, "scope", label, body, parameters),
            Statement::Loop { label, body } => return self.labelled(lines, "loop", label, body, parameters),
            Statement::Leave(label) => format!("leave {}", written(label)),
            Statement::Exit => "exit".to_string(),
            Statement::Extract { header, varbit } => {
                let varbit = varbit.as_ref().map_or(String::new(), |length| format!(" varbit {}", value(length)));
                format!("extract {}{varbit}", self.header(*header))
            }
            Statement::Advance(bits) => format!("advance {}", value(bits)),
            Statement::Lookahead { into, offset } => {
                let offset = if *offset == 0 { String::new() } else { format!(" at {offset}") };
                format!("lookahead {}{offset}", self.variable(*into, parameters))
            }
            Statement::Verify { condition, error } => format!("verify {} else {}", value(condition), value(error)),
            Statement::Emit(header) => format!("emit {}", self.header(*header)),
            Statement::Truncate(bytes) => format!("truncate {}", value(bytes)),
            Statement::Call(call) => match self.hashing(call, parameters) {
                Some((head, inputs, tail)) => return lines.filled(&head, &inputs, &tail),
                None => self.call(call, parameters),
            },
        };
        lines.add(line);
    }

    pub(super) fn assignment(&self, target: Place, value: &Expression, parameters: &[Parameter]) -> String {
        let width = match target {
            Place::Variable(variable) => match get(&self.program.variables, variable).map(|found| found.kind) {
                Some(Type::Bits(width)) => Some(width),
                Some(Type::Bool) | None => None,
            },
            Place::Field(field) => {
                let header = get(&self.program.headers, field.header);
                header.and_then(|header| header.fields.get(field.field as usize)).map(|field| field.width)
            }
        };
        format!("{} = {}", self.place(target, parameters), self.expression_as(value, parameters, width))
    }

    fn conditional(
        &self,
        lines: &mut Lines,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
        parameters: &[Parameter],
    ) {
        let (mut condition, mut then, mut otherwise) = (condition, then, otherwise);
        let mut head = String::new();
        loop {
            head += &format!("if {}", self.expression(condition, parameters));
            if otherwise.is_empty() && lines_end(head.as_str()) {
                return lines.braces(&head, "", |lines| self.statements(lines, then, parameters));
            }
            lines.add(format!("{head} {{"));
            lines.indented(|lines| self.statements(lines, then, parameters));
            head = "} else ".to_string();
            match otherwise {
                [] => return lines.add("}"),
                [Statement::If { condition: next, then: next_then, otherwise: next_otherwise }] => {
                    (condition, then, otherwise) = (next, next_then, next_otherwise);
                }
                _ => {
                    lines.add("} else {");
                    lines.indented(|lines| self.statements(lines, otherwise, parameters));
                    return lines.add("}");
                }
            }
        }
    }

    fn labelled(&self, lines: &mut Lines, word: &str, label: &str, body: &[Statement], parameters: &[Parameter]) {
        lines.braces(&format!("{word} {}", written(label)), "", |lines| self.statements(lines, body, parameters));
    }

    fn call(&self, call: &Call, parameters: &[Parameter]) -> String {
        let value = |expression: &Expression| self.expression(expression, parameters);
        let place = |place: &Place| self.place(*place, parameters);
        let list = |values: &[Expression]| values.iter().map(value).collect::<Vec<_>>().join(", ");
        let clause = |word: &str, operand: &Option<Expression>| {
            operand.as_ref().map_or(String::new(), |operand| format!(" {word} {}", value(operand)))
        };
        let into = |target: &Option<Place>| target.as_ref().map_or(String::new(), |it| format!(" into {}", place(it)));
        match call {
            Call::Count { counter, index } => format!("count {}{}", self.counter_name(*counter), clause("at", index)),
            Call::ReadRegister { register, index, into } => {
                format!("read {} at {} into {}", self.register_name(*register), value(index), place(into))
            }
            Call::WriteRegister { register, index, value: written } => {
                format!("write {} at {} = {}", self.register_name(*register), value(index), value(written))
            }
            Call::ExecuteMeter { meter, index, colour, into } => {
                let name = self.refer(&self.program.meters, *meter, &self.names.meters, |meter| &meter.name);
                format!("meter {name}{}{} into {}", clause("at", index), clause("colour", colour), place(into))
            }
            Call::Hash { .. } | Call::AddChecksum { .. } => {
                let Some((head, inputs, tail)) = self.hashing(call, parameters) else { return String::new() };
                format!("{head} {} {tail}", in_braces(&inputs))
            }
            Call::Random { low, high, into } => format!("random {}..{} into {}", value(low), value(high), place(into)),
            Call::SendDigest { digest, values } => {
                let name = self.refer(&self.program.digests, *digest, &self.names.digests, |digest| &digest.name);
                format!("digest {name}({})", list(values))
            }
            Call::Log { format, arguments } => format!("log {}({})", between(format, '"'), list(arguments)),
            Call::Assert { condition, text } => format!("assert {} else {}", value(condition), between(text, '"')),
            Call::AddEntry { table, action, arguments, expiry, into: target } => {
                let action = self.action_name(*table, *action);
                let table = self.table_name(*table);
                let (expire, into) = (clause("expire", expiry), into(target));
                format!("insert {table} => {action}({}){expire}{into}", list(arguments))
            }
            Call::RestartTimer { expiry } => format!("restart_timer{}", clause("expire", expiry)),
            Call::Custom { object, function, arguments, into: target } => {
                let arguments: Vec<String> =
                    arguments.iter().map(|argument| self.argument(argument, parameters)).collect();
                let object = self.refer(&self.program.externs, *object, &self.names.externs, |custom| &custom.name);
                format!("call {object} {}({}){}", written(function), arguments.join(", "), into(target))
            }
        }
    }

    fn argument(&self, argument: &Argument, parameters: &[Parameter]) -> String {
        match argument {
            Argument::In(value) => format!("in {}", self.expression(value, parameters)),
            Argument::Out(place) => format!("out {}", self.place(*place, parameters)),
            Argument::InOut(place) => format!("inout {}", self.place(*place, parameters)),
            Argument::Payload => "payload".to_string(),
        }
    }

    fn algorithm(&self, algorithm: Algorithm) -> String {
        let word = algorithm_word(algorithm);
        match algorithm.crc() {
            Some(crc) => format!("{word} {}", self.refer(&self.program.crcs, crc, &self.names.crcs, |crc| &crc.name)),
            None => word.to_string(),
        }
    }

    /// A hash or checksum in parts, for its inputs may need several lines.
    fn hashing(&self, call: &Call, parameters: &[Parameter]) -> Option<(String, Vec<String>, String)> {
        let (head, data, into) = if let Call::Hash { algorithm, data, into } = call {
            (format!("hash {}", self.algorithm(*algorithm)), data, into)
        } else if let Call::AddChecksum { sum, data, subtract } = call {
            (format!("checksum {}", if *subtract { "subtract" } else { "add" }), data, sum)
        } else {
            return None;
        };
        let input = |input: &HashInput| match input {
            HashInput::Bits(value) => self.expression(value, parameters),
            HashInput::Field(field) => format!("field {}", self.field(*field, parameters)),
            HashInput::Payload => "payload".to_string(),
        };
        Some((head, data.iter().map(input).collect(), format!("into {}", self.place(*into, parameters))))
    }

    pub(super) fn counter_name(&self, id: crate::CounterId) -> String {
        self.refer(&self.program.counters, id, &self.names.counters, |counter| &counter.name)
    }

    pub(super) fn register_name(&self, id: crate::RegisterId) -> String {
        self.refer(&self.program.registers, id, &self.names.registers, |register| &register.name)
    }

    /// An action of a table by its name, or by number where the name does not lead back to it.
    pub(super) fn action_name(&self, table: crate::TableId, action: u32) -> String {
        let found = get(&self.program.tables, table).and_then(|table| table.actions.get(action as usize));
        let names = self.names.actions.get(number(table) as usize);
        match found.zip(names) {
            Some((found, names)) if names.get(&found.name) == Some(action) => written(&found.name),
            _ => format!("#{action}"),
        }
    }
}

/// Whether `head` begins a statement rather than going on with `} else`.
fn lines_end(head: &str) -> bool {
    !head.starts_with('}')
}
