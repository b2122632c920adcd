//! The path of a packet in few bytes: steps by the numbers of what the program declares, and their values.
//!
//! A trace shows many packets, and making names and messages of a step takes several times what the step itself takes. So steps are written as they are made,
//! the names are sent once, and the reader of a trace makes the messages.
//!
//! A step begins with a byte, which is the number of its message in `TraceStep`. Numbers are in LEB128: 7 bits a byte, the lowest first. A value has its
//! bytes, the highest first and without leading zeros (of zero one), behind their number.

use crate::pattern::Pattern;
use crate::storage::number;
use crate::tables::{Invocation, StoredEntry};
use control::message::switch::trace_names::{Action, Fields, Table};
use control::message::switch::trace_step::{Apply, Copy, Enter, Extract, Hit, Send, Step};
use control::message::switch::{TraceNames, TraceValue};
use hlir::value::Bits;
use hlir::{FieldRef, HeaderId, NodeId, Place, Program, TableId};
use num_bigint::BigUint;

const ENTER: u8 = 1;
const NODE: u8 = 2;
const EXTRACT: u8 = 3;
const SET: u8 = 4;
const APPLY: u8 = 5;
const ERROR: u8 = 6;
const COPY: u8 = 7;
const PUNT: u8 = 8;
const DROP: u8 = 9;
const SEND: u8 = 10;
/// [`SET`] of a field, by header and field.
const SET_FIELD: u8 = 11;

const MISS: u8 = 0;
const HIT: u8 = 1;

const MASKED: u8 = 0;
const RANGE: u8 = 1;

/// The names that steps are shown with.
pub fn names(program: &Program) -> TraceNames {
    let texts = |found: &mut dyn Iterator<Item = &String>| found.cloned().collect::<Vec<String>>();
    let action = |action: &hlir::Action| Action {
        name: action.name.clone(),
        parameters: texts(&mut action.parameters.iter().map(|parameter| &parameter.name)),
    };
    let table = |table: &hlir::Table| Table {
        name: table.name.clone(),
        keys: texts(&mut table.keys.iter().map(|key| &key.name)),
        actions: table.actions.iter().map(action).collect(),
    };
    let header = |header: &hlir::Header| Fields {
        header: header.name.clone(),
        fields: texts(&mut header.fields.iter().map(|field| &field.name)),
    };
    TraceNames {
        nodes: texts(&mut program.nodes.values().map(|node| &node.name)),
        headers: program.headers.values().map(header).collect(),
        variables: texts(&mut program.variables.values().map(|variable| &variable.name)),
        tables: program.tables.values().map(table).collect(),
        errors: program.errors.clone(),
        drop_reasons: program.drop_reasons(),
    }
}

fn put_number(path: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        path.push(number as u8 | 0x80);
        number >>= 7;
    }
    path.push(number as u8);
}

fn put_value(path: &mut Vec<u8>, bits: &Bits) {
    match bits {
        Bits::Word(word) => match u64::try_from(*word) {
            Ok(word) => put_word(path, word),
            Err(_) => {
                let bytes = word.to_be_bytes();
                let bytes = &bytes[(word.leading_zeros() / u8::BITS) as usize..];
                path.push(bytes.len() as u8);
                path.extend_from_slice(bytes);
            }
        },
        Bits::Wide(wide) => {
            let bytes = wide.to_bytes_be();
            put_number(path, bytes.len() as u64);
            path.extend_from_slice(&bytes);
        }
    }
}

/// A value of most fields. As many bytes are written as it has at most, and those behind its own taken away.
fn put_word(path: &mut Vec<u8>, word: u64) {
    const BYTES: usize = size_of::<u64>();
    let unused = (word.leading_zeros() / u8::BITS).min(u64::BITS / u8::BITS - 1);
    let mut written = [0; 1 + BYTES];
    written[0] = (BYTES - unused as usize) as u8;
    written[1..].copy_from_slice(&(word << (unused * u8::BITS)).to_be_bytes());
    path.extend_from_slice(&written);
    path.truncate(path.len() - unused as usize);
}

/// A path as it is written, step by step.
#[derive(Default)]
pub(crate) struct Writer {
    path: Vec<u8>,
    steps: usize,
    has_dropped: bool,
}

impl Writer {
    pub fn steps(&self) -> usize {
        self.steps
    }

    pub fn has_dropped(&self) -> bool {
        self.has_dropped
    }

    /// The path, which begins anew.
    pub fn take(&mut self) -> Vec<u8> {
        let path = std::mem::take(&mut self.path);
        *self = Writer { path: Vec::with_capacity(path.len()), ..Writer::default() };
        path
    }

    /// Forgets the steps. Their room stays.
    pub fn clear(&mut self) {
        self.path.clear();
        (self.steps, self.has_dropped) = (0, false);
    }

    fn step<const COUNT: usize>(&mut self, step: u8, numbers: [u64; COUNT]) {
        self.steps += 1;
        match numbers[..] {
            // Most have few variables.
            [number @ ..0x80] => self.path.extend_from_slice(&[step, number as u8]),
            _ => {
                self.path.push(step);
                numbers.iter().for_each(|number| put_number(&mut self.path, *number));
            }
        }
    }

    fn value(&mut self, bits: &Bits) {
        put_value(&mut self.path, bits);
    }

    pub fn enter(&mut self, port: u32, bytes: usize, again: bool) {
        self.step(ENTER, [port.into(), bytes as u64, again.into()]);
    }

    pub fn node(&mut self, node: NodeId) {
        self.step(NODE, [number(node) as u64]);
    }

    /// The values of all fields follow.
    pub fn extract(&mut self, header: HeaderId) {
        self.step(EXTRACT, [number(header) as u64]);
    }

    pub fn field(&mut self, bits: &Bits) {
        self.value(bits);
    }

    pub fn set(&mut self, place: Place, bits: &Bits) {
        match place {
            Place::Variable(variable) => self.step(SET, [number(variable) as u64]),
            Place::Field(FieldRef { header, field }) => self.step(SET_FIELD, [number(header) as u64, field.into()]),
        }
        self.value(bits);
    }

    pub fn apply(&mut self, table: TableId, key: &[Bits], entry: Option<&StoredEntry>, invocation: &Invocation) {
        self.step(APPLY, [number(table) as u64]);
        key.iter().for_each(|value| self.value(value));
        self.hit(entry);
        put_number(&mut self.path, invocation.action.into());
        put_number(&mut self.path, invocation.arguments.len() as u64);
        invocation.arguments.iter().for_each(|value| self.value(&value.bits));
    }

    fn hit(&mut self, entry: Option<&StoredEntry>) {
        let Some(entry) = entry else { return self.path.push(MISS) };
        self.path.push(HIT);
        put_number(&mut self.path, entry.priority.into());
        put_number(&mut self.path, entry.patterns().len() as u64);
        for pattern in entry.patterns() {
            let (kind, values) = match pattern {
                Pattern::Masked { value, mask } => (MASKED, [value, mask]),
                Pattern::Range { low, high } => (RANGE, [low, high]),
            };
            self.path.push(kind);
            values.iter().for_each(|value| self.value(value));
        }
    }

    pub fn error(&mut self, code: &Bits) {
        self.step(ERROR, [code.to_u64()]);
    }

    pub fn copy(&mut self, port: u32, instance: u32) {
        self.step(COPY, [port, instance].map(u64::from));
    }

    pub fn punt(&mut self, reason: &str) {
        self.step(PUNT, [reason.len() as u64]);
        self.path.extend_from_slice(reason.as_bytes());
    }

    pub fn drop(&mut self, reason: usize) {
        self.step(DROP, [reason as u64]);
        self.has_dropped = true;
    }

    pub fn send(&mut self, port: u32, bytes: usize) {
        self.step(SEND, [port.into(), bytes as u64]);
    }
}

/// What is left of a path.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn index(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.index()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn named(&mut self, name: impl Into<String>) -> Option<TraceValue> {
        Some(TraceValue { name: name.into(), value: self.bytes()?.to_vec() })
    }

    fn pattern(&mut self) -> Option<String> {
        let separator = match self.byte()? {
            MASKED => "&&&",
            RANGE => "..",
            _ => return None,
        };
        let [one, other] = [self.bytes()?, self.bytes()?].map(BigUint::from_bytes_be);
        Some(format!("{one:#x}{separator}{other:#x}"))
    }

    fn apply(&mut self, names: &TraceNames) -> Option<Apply> {
        let table = names.tables.get(self.index()?)?;
        let key = table.keys.iter().map(|name| self.named(name)).collect::<Option<_>>()?;
        let hit = if self.byte()? == MISS { None } else { Some(self.hit()?) };
        let action = table.actions.get(self.index()?)?;
        let count = self.index()?.min(action.parameters.len());
        let data = action.parameters[..count].iter().map(|name| self.named(name)).collect::<Option<_>>()?;
        Some(Apply { table: table.name.clone(), key, hit, action: action.name.clone(), data })
    }

    fn hit(&mut self) -> Option<Hit> {
        let priority = self.small()?;
        let count = self.index()?;
        let matches = (0..count).map(|_| self.pattern()).collect::<Option<_>>()?;
        Some(Hit { matches, priority })
    }

    fn step(&mut self, names: &TraceNames) -> Option<Step> {
        Some(match self.byte()? {
            ENTER => Step::Enter(Enter { port: self.small()?, bytes: self.number()?, again: self.number()? != 0 }),
            NODE => Step::Node(names.nodes.get(self.index()?)?.clone()),
            EXTRACT => {
                let Fields { header, fields } = names.headers.get(self.index()?)?;
                let fields = fields.iter().map(|name| self.named(name)).collect::<Option<_>>()?;
                Step::Extract(Extract { header: header.clone(), fields })
            }
            SET => {
                let name = names.variables.get(self.index()?)?;
                Step::Set(self.named(name)?)
            }
            SET_FIELD => {
                let header = names.headers.get(self.index()?)?;
                let name = format!("{}.{}", header.header, header.fields.get(self.index()?)?);
                Step::Set(self.named(name)?)
            }
            APPLY => Step::Apply(self.apply(names)?),
            ERROR => {
                let code = self.number()?;
                let name = usize::try_from(code).ok().and_then(|number| names.errors.get(number));
                Step::Error(name.cloned().unwrap_or_else(|| code.to_string()))
            }
            COPY => Step::Copy(Copy { port: self.small()?, instance: self.small()? }),
            PUNT => Step::Punt(String::from_utf8(self.bytes()?.to_vec()).ok()?),
            DROP => Step::Drop(names.drop_reasons.get(self.index()?)?.clone()),
            SEND => Step::Send(Send { port: self.small()?, bytes: self.number()?, packet: Vec::new() }),
            _ => return None,
        })
    }
}

/// The steps of a path, without the bytes of packets that were sent; none if it is not one with these names.
pub fn steps(names: &TraceNames, path: &[u8]) -> Option<Vec<Step>> {
    let (mut reader, mut steps) = (Reader(path), Vec::new());
    while !reader.0.is_empty() {
        steps.push(reader.step(names)?);
    }
    Some(steps)
}
