//! Random statements, each only where it is allowed.

use super::Generator;
use super::expression::Around;
use hlir::{Algorithm, Argument, Call, HashInput, Place, Statement, TableId, Type};

const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::Crc32,
    Algorithm::Crc16,
    Algorithm::Identity,
    Algorithm::InternetChecksum,
    Algorithm::Xor16,
    Algorithm::Target,
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    State,
    Block,
    Deparse,
    /// In the action of this number of a table.
    Action(TableId, usize),
}

impl Generator<'_> {
    /// One whose parameters can be set, now and then.
    fn algorithm(&mut self) -> Algorithm {
        let crc = self.index(self.program.crcs.len()).filter(|_| self.below(2) == 0);
        let width = |crc| self.program.crcs.iter().find(|(id, _)| *id == crc).map_or(32, |(_, crc)| crc.width);
        match crc.map(|crc| (crc, width(crc))) {
            Some((crc, 16)) => Algorithm::Crc16Custom(crc),
            Some((crc, _)) => Algorithm::Crc32Custom(crc),
            None => self.pick(&ALGORITHMS),
        }
    }

    pub fn statements(&mut self, kind: Kind, around: Around, labels: &[String], depth: u32) -> Vec<Statement> {
        self.several(4, |it| it.statement(kind, around, labels, depth))
    }

    fn statement(&mut self, kind: Kind, around: Around, labels: &[String], depth: u32) -> Statement {
        match self.below(16) {
            0..=3 => self.assignment(around),
            4 | 5 if depth > 0 => {
                let condition = self.expression(Type::Bool, around, 2);
                let then = self.statements(kind, around, labels, depth - 1);
                Statement::If { condition, then, otherwise: self.statements(kind, around, labels, depth - 1) }
            }
            6 if depth > 0 => {
                let label = self.name();
                let inner: Vec<String> = labels.iter().cloned().chain([label.clone()]).collect();
                let body = self.statements(kind, around, &inner, depth - 1);
                if self.once_in(2) { Statement::Loop { label, body } } else { Statement::Scope { label, body } }
            }
            7 if !labels.is_empty() => Statement::Leave(self.pick(labels)),
            8 => self.on_headers(around),
            9 if kind != Kind::State || self.breaks_rule() => Statement::Exit,
            10 if kind == Kind::State || self.breaks_rule() => self.parsing(around),
            11 if kind == Kind::Deparse || self.breaks_rule() => {
                self.header().map_or(Statement::Truncate(self.bits(32, around, 2)), Statement::Emit)
            }
            12 => Statement::Truncate(self.expression(Type::Bits(32), around, 2)),
            _ => match self.call(kind, around) {
                Some(call) => Statement::Call(call),
                None => self.assignment(around),
            },
        }
    }

    fn assignment(&mut self, around: Around) -> Statement {
        let (target, kind) = self.any_place();
        Statement::Assign { target, value: self.expression(kind, around, 3) }
    }

    fn on_headers(&mut self, around: Around) -> Statement {
        let Some(header) = self.header() else { return self.assignment(around) };
        match (self.below(4), self.varbit()) {
            (0, _) => Statement::SetValid(header),
            (1, _) => Statement::SetInvalid(header),
            (2, Some(field)) => Statement::CopyVarbit { to: field, from: field },
            _ => Statement::CopyHeader { to: header, from: header },
        }
    }

    fn parsing(&mut self, around: Around) -> Statement {
        match (self.below(4), self.header()) {
            (0, Some(header)) => {
                let number = header.into_raw().into_u32() as usize;
                let has_varbit = self.program.headers.values().nth(number).is_some_and(|it| it.varbit().is_some());
                let varbit = if has_varbit { Some(self.bits(32, around, 2)) } else { None };
                Statement::Extract { header, varbit }
            }
            (1, _) => Statement::Advance(self.expression(Type::Bits(32), around, 2)),
            (2, _) => match self.bits_place() {
                (Place::Variable(into), _) => Statement::Lookahead { into, offset: self.number() },
                (Place::Field(_), _) => self.assignment(around),
            },
            _ => {
                let condition = self.expression(Type::Bool, around, 2);
                Statement::Verify { condition, error: self.expression(Type::Bits(32), around, 1) }
            }
        }
    }

    fn hash_inputs(&mut self, around: Around) -> Vec<HashInput> {
        self.several(3, |it| match (it.below(3), it.place_of(Type::Bits(8))) {
            (0, Some(Place::Field(field))) => HashInput::Field(field),
            (1, _) => HashInput::Payload,
            _ => {
                let width = it.width();
                HashInput::Bits(it.expression(Type::Bits(width), around, 2))
            }
        })
    }

    fn call(&mut self, kind: Kind, around: Around) -> Option<Call> {
        Some(match self.below(13) {
            0 => self.count(kind, around)?,
            1 => {
                let register = self.index(self.program.registers.len())?;
                let width = self.program.registers.values().nth(register.into_raw().into_u32() as usize)?.width;
                let index = self.bits(32, around, 2);
                match self.place_of(Type::Bits(width)) {
                    Some(into) => Call::ReadRegister { register, index, into },
                    None => Call::WriteRegister { register, index, value: self.bits(width, around, 2) },
                }
            }
            2 => self.meter(kind, around)?,
            3 => {
                let into = self.bits_place().0;
                Call::Hash { algorithm: self.algorithm(), data: self.hash_inputs(around), into }
            }
            4 => {
                let sum = self.place_of(Type::Bits(16))?;
                Call::AddChecksum { sum, data: self.hash_inputs(around), subtract: self.once_in(2) }
            }
            5 => {
                let (into, width) = self.bits_place();
                let low = self.bits(width, around, 2);
                Call::Random { low, high: self.bits(width, around, 2), into }
            }
            6 => {
                let digest = self.index(self.program.digests.len())?;
                let fields = self.program.digests.values().nth(digest.into_raw().into_u32() as usize)?.fields.clone();
                let values = fields.iter().map(|(_, width)| self.bits(*width, around, 2)).collect();
                Call::SendDigest { digest, values }
            }
            7 => {
                let arguments = self.several(3, |it| it.boolean(around, 2));
                Call::Log { format: self.text(), arguments }
            }
            8 => Call::Assert { condition: self.boolean(around, 2), text: self.text() },
            9 => self.add_entry(kind, around)?,
            10 if matches!(kind, Kind::Action(_, _)) => {
                Call::RestartTimer { expiry: self.some(|it| it.bits(8, around, 1)) }
            }
            _ => self.custom(around)?,
        })
    }

    fn count(&mut self, kind: Kind, around: Around) -> Option<Call> {
        let counter = self.index(self.program.counters.len())?;
        let table = self.program.counters.values().nth(counter.into_raw().into_u32() as usize)?.table;
        let direct = table.is_some_and(|table| matches!(kind, Kind::Action(here, _) if here == table));
        match table {
            Some(_) if !direct => None,
            Some(_) => Some(Call::Count { counter, index: None }),
            None => Some(Call::Count { counter, index: Some(self.bits(16, around, 2)) }),
        }
    }

    fn meter(&mut self, kind: Kind, around: Around) -> Option<Call> {
        let meter = self.index(self.program.meters.len())?;
        let table = self.program.meters.values().nth(meter.into_raw().into_u32() as usize)?.table;
        let index = match table {
            Some(table) if !matches!(kind, Kind::Action(here, _) if here == table) => return None,
            Some(_) => None,
            None => Some(self.bits(32, around, 2)),
        };
        let colour = self.some(|it| it.bits(2, around, 1));
        Some(Call::ExecuteMeter { meter, index, colour, into: self.bits_place().0 })
    }

    /// Tables are filled in order: this is called for the default action, number 0, once number 1 is known.
    fn add_entry(&mut self, kind: Kind, around: Around) -> Option<Call> {
        let Kind::Action(table, 0) = kind else { return None };
        let found = self.program.tables.iter().find(|(id, _)| *id == table)?.1;
        if !found.add_on_miss {
            return None;
        }
        let parameters = found.actions.get(1)?.parameters.clone();
        let arguments = parameters.iter().map(|it| self.bits(it.width, around, 2)).collect();
        let expiry = self.some(|it| it.bits(8, around, 1));
        Some(Call::AddEntry { table, action: 1, arguments, expiry, into: self.place_of(Type::Bool) })
    }

    fn custom(&mut self, around: Around) -> Option<Call> {
        let object = self.index(self.program.externs.len())?;
        let arguments = self.several(3, |it| match it.below(4) {
            0 => Argument::Payload,
            3 => Argument::In(it.boolean(around, 2)),
            1 => Argument::Out(it.any_place().0),
            _ => Argument::InOut(it.any_place().0),
        });
        let into = self.some(|it| it.any_place().0);
        Some(Call::Custom { object, function: self.pick(&["seal", "Cipher_open"]).to_string(), arguments, into })
    }
}
