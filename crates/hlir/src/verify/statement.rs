//! Checks of statements: where each is allowed, and the widths of what it works on.

use super::kinds::shown;
use super::{Body, Kinds, Site, Verifier};
use crate::text::{get, number};
use crate::{
    Algorithm, Argument, Call, Expression, FieldRef, HashInput, Header, ParserId, Statement, Table, TableId, Type,
};

/// What contains a list of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    State(ParserId),
    Block,
    Deparse,
    Action { table: TableId, action: u32 },
}

struct Walk<'v, 'p, 'w> {
    verifier: &'v mut Verifier<'p>,
    body: Body,
    surroundings: Surroundings,
    parameters: &'w [u32],
    labels: Vec<&'w str>,
    count: u32,
}

impl Verifier<'_> {
    pub(super) fn statements(&mut self, body: Body, surroundings: Surroundings, widths: &[u32], list: &[Statement]) {
        let labels = Vec::new();
        Walk { verifier: self, body, surroundings, parameters: widths, labels, count: 0 }.list(list);
    }
}

impl<'p, 'w> Walk<'_, 'p, 'w> {
    fn list(&mut self, statements: &'w [Statement]) {
        for statement in statements {
            let site = Site::Statement(self.body, self.count);
            self.count += 1;
            self.statement(site, statement);
        }
    }

    fn error(&mut self, site: Site, message: impl AsRef<str>) {
        self.verifier.error(site, message);
    }

    fn judge<T>(&mut self, site: Site, judge: impl FnOnce(&mut Kinds<'p, '_>) -> T) -> T {
        self.verifier.judge(site, self.parameters, judge)
    }

    fn statement(&mut self, site: Site, statement: &'w Statement) {
        match statement {
            Statement::Assign { target, value } => self.judge(site, |kinds| kinds.assignable(*target, value)),
            Statement::SetValid(header) | Statement::SetInvalid(header) => {
                self.judge(site, |kinds| kinds.header(*header));
            }
            Statement::CopyHeader { to, from } => {
                let (to, from) = self.judge(site, |kinds| (kinds.header(*to), kinds.header(*from)));
                if to.zip(from).is_some_and(|(to, from)| !have_same_fields(to, from)) {
                    self.error(site, "the two headers have different fields");
                }
            }
            Statement::CopyVarbit { to, from } => self.judge(site, |kinds| copy_varbit(kinds, *to, *from)),
            Statement::If { condition, then, otherwise } => {
                self.judge(site, |kinds| kinds.boolean(condition, "a condition"));
                self.list(then);
                self.list(otherwise);
            }
            Statement::Scope { label, body } | Statement::Loop { label, body } => {
                if self.labels.contains(&label.as_str()) {
                    self.error(site, format!("label `{label}` names what encloses it already"));
                }
                self.labels.push(label);
                self.list(body);
                self.labels.pop();
            }
            Statement::Leave(label) => {
                if !self.labels.contains(&label.as_str()) {
                    self.error(site, format!("no scope or loop around it is labelled `{label}`"));
                }
            }
            Statement::Exit => {
                if matches!(self.surroundings, Surroundings::State(_)) {
                    self.error(site, "`exit` is not allowed in a parser state");
                }
            }
            Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. } => {
                self.parsing(site, statement);
            }
            Statement::Emit(header) => {
                if self.surroundings != Surroundings::Deparse {
                    self.error(site, "`emit` is allowed in deparser nodes only");
                }
                let header = self.judge(site, |kinds| kinds.header(*header));
                self.whole_bytes(site, header);
            }
            Statement::Truncate(bytes) => self.judge(site, |kinds| kinds.exactly(bytes, 32, "the length")),
            Statement::Call(call) => self.call(site, call),
        }
    }

    fn parsing(&mut self, site: Site, statement: &Statement) {
        let Surroundings::State(parser) = self.surroundings else {
            return self
                .error(site, "`extract`, `advance`, `lookahead` and `verify` are allowed in parser states only");
        };
        match statement {
            Statement::Extract { header, varbit } => {
                let header = self.judge(site, |kinds| {
                    varbit.as_ref().and_then(|length| kinds.bits(length, "the length of a varbit field"));
                    kinds.header(*header)
                });
                self.whole_bytes(site, header);
                match (header.and_then(Header::varbit), varbit) {
                    (Some(_), None) => self.error(site, "the header has a varbit field: `varbit LENGTH` is missing"),
                    (None, Some(_)) if header.is_some() => self.error(site, "the header has no varbit field"),
                    (Some(_), Some(_)) | (None, _) => {}
                }
            }
            Statement::Advance(bits) => self.judge(site, |kinds| kinds.exactly(bits, 32, "the number of bits")),
            Statement::Lookahead { into, .. } => {
                self.judge(site, |kinds| kinds.bits_place(crate::Place::Variable(*into), "what is looked at"));
            }
            Statement::Verify { condition, error } => {
                let error_kind = get(&self.verifier.program.parsers, parser)
                    .and_then(|parser| get(&self.verifier.program.variables, parser.error))
                    .map(|variable| variable.kind);
                self.judge(site, |kinds| {
                    kinds.boolean(condition, "a condition");
                    match error_kind {
                        Some(Type::Bits(width)) => kinds.exactly(error, width, "the error, as its parser's variable,"),
                        Some(Type::Bool) | None => {}
                    }
                });
            }
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::If { .. }
            | Statement::Scope { .. }
            | Statement::Loop { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {}
        }
    }

    fn whole_bytes(&mut self, site: Site, header: Option<&Header>) {
        let bits = header.map_or(0, |header| {
            header.fields.iter().filter(|field| !field.varbit).map(|field| u64::from(field.width)).sum::<u64>()
        });
        if !bits.is_multiple_of(8) {
            self.error(site, format!("the header has {bits} bits, which are no whole bytes"));
        }
    }

    fn call(&mut self, site: Site, call: &Call) {
        match call {
            Call::Count { .. } | Call::ReadRegister { .. } | Call::WriteRegister { .. } | Call::ExecuteMeter { .. } => {
                self.indices(site, call);
            }
            Call::Hash { algorithm, data, into } => {
                self.crc(site, *algorithm);
                self.judge(site, |kinds| {
                    hash_inputs(kinds, data);
                    kinds.bits_place(*into, "a hash");
                });
            }
            Call::AddChecksum { sum, data, .. } => self.judge(site, |kinds| {
                hash_inputs(kinds, data);
                if kinds.bits_place(*sum, "a checksum").is_some_and(|width| width != 16) {
                    kinds.wrong("a checksum has 16 bits");
                }
            }),
            Call::Random { low, high, into } => self.judge(site, |kinds| {
                if let Some(width) = kinds.bits_place(*into, "a random number") {
                    kinds.exactly(low, width, "the lowest number");
                    kinds.exactly(high, width, "the highest number");
                }
            }),
            Call::SendDigest { digest, values } => self.digest(site, *digest, values),
            Call::Log { arguments, .. } => arguments.iter().for_each(|value| {
                self.judge(site, |kinds| kinds.of(value));
            }),
            Call::Assert { condition, .. } => {
                self.judge(site, |kinds| kinds.boolean(condition, "what is asserted"));
            }
            Call::AddEntry { .. } => self.add_entry(site, call),
            Call::RestartTimer { expiry } => {
                if !matches!(self.surroundings, Surroundings::Action { .. }) {
                    self.error(site, "`restart_timer` is allowed in actions only: it is about the entry that was hit");
                }
                self.judge(site, |kinds| expiry.as_ref().and_then(|expiry| kinds.bits(expiry, "an expiry")));
            }
            Call::Custom { object, function, arguments, into } => {
                if get(&self.verifier.program.externs, *object).is_none() {
                    self.error(site, format!("there is no extern number {}", number(*object)));
                }
                self.verifier.c_name(site, function);
                self.judge(site, |kinds| {
                    for argument in arguments {
                        match argument {
                            Argument::In(value) => kinds.of(value),
                            Argument::Out(place) | Argument::InOut(place) => kinds.place(*place),
                            Argument::Payload => None,
                        };
                    }
                    into.and_then(|into| kinds.place(into));
                });
            }
        }
    }

    /// Calls that work on one index of an object.
    fn indices(&mut self, site: Site, call: &Call) {
        match call {
            Call::Count { counter, index } => {
                let found = get(&self.verifier.program.counters, *counter).map(|counter| counter.table);
                self.index(site, found, index.as_ref(), ("counter", number(*counter)));
            }
            Call::ReadRegister { register, index, into } => {
                self.judge(site, |kinds| kinds.bits(index, "an index"));
                let Some(width) = self.register_width(site, *register) else { return };
                self.judge(site, |kinds| {
                    if let Some(into) =
                        kinds.bits_place(*into, "what a register is read into").filter(|it| *it != width)
                    {
                        kinds.wrong(format!("a register of {width} bits is read into {}", shown(Type::Bits(into))));
                    }
                });
            }
            Call::WriteRegister { register, index, value } => {
                self.judge(site, |kinds| kinds.bits(index, "an index"));
                let Some(width) = self.register_width(site, *register) else { return };
                self.judge(site, |kinds| kinds.exactly(value, width, "what is written to the register"));
            }
            Call::ExecuteMeter { meter, index, colour, into } => {
                let found = get(&self.verifier.program.meters, *meter).map(|meter| meter.table);
                self.index(site, found, index.as_ref(), ("meter", number(*meter)));
                self.judge(site, |kinds| {
                    colour.as_ref().and_then(|colour| kinds.bits(colour, "a colour"));
                    kinds.bits_place(*into, "a colour")
                });
            }
            Call::Hash { .. }
            | Call::AddChecksum { .. }
            | Call::Random { .. }
            | Call::SendDigest { .. }
            | Call::Log { .. }
            | Call::Assert { .. }
            | Call::AddEntry { .. }
            | Call::RestartTimer { .. }
            | Call::Custom { .. } => {}
        }
    }

    /// A counter or meter: with an index if it is indirect, else in an action of its table.
    fn index(&mut self, site: Site, table: Option<Option<TableId>>, index: Option<&Expression>, what: (&str, u32)) {
        let (kind, id) = what;
        self.judge(site, |kinds| index.and_then(|index| kinds.bits(index, "an index")));
        let here = match self.surroundings {
            Surroundings::Action { table, .. } => Some(table),
            Surroundings::State(_) | Surroundings::Block | Surroundings::Deparse => None,
        };
        match (table, index) {
            (None, _) => self.error(site, format!("there is no {kind} number {id}")),
            (Some(None), None) => self.error(site, format!("the {kind} is not direct: `at INDEX` is missing")),
            // A hidden action of a joint table has the counter index of the source's entry.
            (Some(Some(table)), Some(_))
                if here.is_some_and(|here| self.verifier.program.joins_over(table).contains(&here)) => {}
            (Some(Some(_)), Some(_)) => self.error(site, format!("the {kind} is direct, and takes no index")),
            (Some(Some(table)), None) if here != Some(table) => {
                self.error(site, format!("a direct {kind} is used in actions of its table only"));
            }
            (Some(Some(_)), None) | (Some(None), Some(_)) => {}
        }
    }

    fn register_width(&mut self, site: Site, register: crate::RegisterId) -> Option<u32> {
        let found = get(&self.verifier.program.registers, register).map(|register| register.width);
        if found.is_none() {
            self.error(site, format!("there is no register number {}", number(register)));
        }
        found
    }

    fn crc(&mut self, site: Site, algorithm: Algorithm) {
        let Some(crc) = algorithm.crc() else { return };
        match get(&self.verifier.program.crcs, crc).map(|crc| crc.width) {
            None => self.error(site, format!("there is no CRC number {}", number(crc))),
            Some(width) if width != algorithm.width() => {
                let name = &self.verifier.program.crcs[crc].name;
                self.error(site, format!("CRC `{name}` has {width} bits, and the hash {}", algorithm.width()));
            }
            Some(_) => {}
        }
    }

    fn digest(&mut self, site: Site, digest: crate::DigestId, values: &[Expression]) {
        let Some(found) = get(&self.verifier.program.digests, digest) else {
            return self.error(site, format!("there is no digest number {}", number(digest)));
        };
        let (wanted, given) = (found.fields.len(), values.len());
        if wanted != given {
            self.error(site, format!("digest `{}` has {wanted} fields, and is given {given}", found.name));
        }
        for ((name, width), value) in found.fields.iter().zip(values) {
            self.judge(site, |kinds| kinds.exactly(value, *width, &format!("field `{name}`")));
        }
    }

    fn add_entry(&mut self, site: Site, call: &Call) {
        let Call::AddEntry { table, action, arguments, expiry, into } = call else { return };
        let found: Option<&Table> = get(&self.verifier.program.tables, *table);
        let Some(found) = found else {
            return self.error(site, format!("there is no table number {}", number(*table)));
        };
        let default = Surroundings::Action { table: *table, action: found.default.action };
        if self.surroundings != default || !found.add_on_miss {
            let message = format!(
                "`insert` into `{}` is allowed in its default action only, and needs `add_on_miss`",
                found.name
            );
            self.error(site, message);
        }
        let Some(action) = found.actions.get(*action as usize) else {
            return self.error(site, format!("the table has no action number {action}"));
        };
        let (wanted, given) = (action.parameters.len(), arguments.len());
        if wanted != given {
            self.error(site, format!("action `{}` takes {wanted} arguments, and is given {given}", action.name));
        }
        for (parameter, value) in action.parameters.iter().zip(arguments) {
            self.judge(site, |kinds| kinds.exactly(value, parameter.width, &format!("argument `{}`", parameter.name)));
        }
        self.judge(site, |kinds| {
            expiry.as_ref().and_then(|expiry| kinds.bits(expiry, "an expiry"));
            if into.and_then(|into| kinds.place(into)).is_some_and(|kind| kind != Type::Bool) {
                kinds.wrong("whether the insertion failed is a boolean");
            }
        });
    }
}

fn have_same_fields(to: &Header, from: &Header) -> bool {
    let shape = |header: &Header| header.fields.iter().map(|field| (field.width, field.varbit)).collect::<Vec<_>>();
    shape(to) == shape(from)
}

fn copy_varbit(kinds: &mut Kinds, to: FieldRef, from: FieldRef) {
    let (to, from) = (kinds.varbit(to), kinds.varbit(from));
    if to.zip(from).is_some_and(|(to, from)| to.width != from.width) {
        kinds.wrong("the two varbit fields have different largest widths");
    }
}

fn hash_inputs(kinds: &mut Kinds, data: &[HashInput]) {
    for input in data {
        match input {
            HashInput::Bits(value) => {
                kinds.bits(value, "what is hashed");
            }
            HashInput::Field(field) => {
                kinds.field(*field);
            }
            HashInput::Payload => {}
        }
    }
}
