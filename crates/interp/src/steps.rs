//! The path of a packet as data: what it extracted, which entries it hit, what changed, and how it ended.
//!
//! Steps are noted by ids and values; messages with names and texts are made of them when they are taken. A trace looks at many packets and shows
//! few: of others, [`crate::Switch::watch`] ends the notes, and the packet itself where it leaves nothing behind, as soon as it is known.

use crate::packet::Packet;
use crate::pattern::Pattern;
use crate::state::State;
use crate::storage::{Layout, Storage, number};
use crate::tables::{Invocation, StoredEntry};
use control::message::switch::TraceValue;
use control::message::switch::trace_step::{Apply, Copy, Enter, Extract, Hit, Send, Step};
use hlir::value::Bits;
use hlir::{Call, FieldRef, HeaderId, NodeId, Place, Program, Statement, TableId, VariableId};
use num_bigint::BigUint;
use std::rc::Rc;

/// A step by ids. The values of those that have some are in [`Notes::values`], in the order of the steps.
pub(crate) enum Noted<'p> {
    Enter {
        port: u32,
        bytes: usize,
        again: bool,
    },
    Node(NodeId),
    /// With the value of each field.
    Extract(HeaderId),
    /// With the value.
    Set(Place),
    /// With the value of each key.
    Apply {
        table: TableId,
        entry: Option<usize>,
        invocation: Rc<Invocation>,
    },
    /// With its code.
    Error,
    Copy {
        port: u32,
        instance: u32,
    },
    Punt(&'p str),
    Drop(usize),
    Send {
        port: u32,
        bytes: usize,
    },
}

/// Whether the steps of a packet are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interest {
    /// It depends on how the packet ends.
    #[default]
    Open,
    Yes,
    No,
}

/// What a packet has when its first parser has ended.
pub struct Parsed<'n> {
    storage: &'n Storage,
    layout: &'n Layout,
    pub port: u32,
    pub bytes: usize,
}

/// Decides about a packet when its first parser has ended.
pub(crate) type Watch<'p> = Box<dyn Fn(&Parsed<'_>) -> Interest + 'p>;

/// What is noted while steps are asked for.
#[derive(Default)]
pub(crate) struct Notes<'p> {
    are_wanted: bool,
    steps: Vec<Noted<'p>>,
    values: Vec<Bits>,
    /// Whether a state of a parser was visited, and whether that parser has ended.
    has_begun: bool,
    has_ended: bool,
    interest: Interest,
    watch: Option<Watch<'p>>,
    places: Places,
    /// Kept where a packet's end decides.
    parsed: Option<(Storage, u32, usize)>,
}

impl<'p> Notes<'p> {
    /// For all packets, or for those that a function wants.
    pub fn wanted(program: &Program, watch: Option<Watch<'p>>) -> Notes<'p> {
        Notes { are_wanted: true, watch, places: Places::of(program), ..Notes::default() }
    }

    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// Steps so far.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Notes a step with its values.
    pub fn note(&mut self, step: Noted<'p>, values: impl IntoIterator<Item = Bits>) {
        if self.are_wanted && self.interest != Interest::No {
            self.steps.push(step);
            self.values.extend(values);
        }
    }

    /// Notes that a packet is at a node; its first parser has ended where that is none of a parser. Gives whether the packet may be of interest.
    pub fn arrive(&mut self, node: NodeId, is_of_parser: bool, packet: &Packet, layout: &Layout) -> Interest {
        self.note(Noted::Node(node), []);
        if !self.are_wanted || self.has_ended || is_of_parser || !self.has_begun {
            self.has_begun |= is_of_parser;
            return self.interest;
        }
        self.has_ended = true;
        let (storage, port, bytes) = (&packet.storage, packet.port, packet.bytes.len());
        if let Some(watch) = &self.watch {
            self.interest = watch(&Parsed { storage, layout, port, bytes });
            match self.interest {
                Interest::Yes => {}
                Interest::No => self.empty(),
                Interest::Open => self.parsed = Some((storage.clone(), port, bytes)),
            }
        }
        self.interest
    }

    fn empty(&mut self) {
        self.steps.clear();
        self.values.clear();
    }

    /// What the first packet had at the end of its parser, where its end decides.
    pub fn parsed<'n>(&'n self, layout: &'n Layout) -> Option<Parsed<'n>> {
        let (storage, port, bytes) = self.parsed.as_ref()?;
        Some(Parsed { storage, layout, port: *port, bytes: *bytes })
    }

    pub fn has_dropped(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Noted::Drop(_)))
    }

    /// The steps as messages, without the bytes of packets that were sent.
    pub fn named(&self, program: &'p Program, state: &State<'p>) -> Vec<Step> {
        let mut values = self.values.iter();
        let names = Names { program, state, places: &self.places };
        self.steps.iter().map(|step| names.step(step, &mut values)).collect()
    }

    /// For the next packet. The room stays.
    pub fn clear(&mut self) {
        self.empty();
        self.parsed = None;
        (self.has_begun, self.has_ended, self.interest) = (false, false, Interest::Open);
    }
}

impl Parsed<'_> {
    /// None where the header is invalid.
    pub fn field(&self, field: FieldRef) -> Option<BigUint> {
        self.has_header(field.header).then(|| self.storage.field(self.layout, field).bits.to_big())
    }

    pub fn variable(&self, variable: VariableId) -> BigUint {
        self.storage.variable(self.layout, variable).bits.to_big()
    }

    pub fn has_header(&self, header: HeaderId) -> bool {
        self.storage.is_valid(header)
    }
}

/// Names that the program has in parts.
#[derive(Default)]
struct Places {
    /// Of the fields of each header, behind its own.
    fields: Vec<Vec<String>>,
    drop_reasons: Vec<String>,
}

impl Places {
    fn of(program: &Program) -> Places {
        let headers = program.headers.values();
        let fields =
            headers.map(|header| header.fields.iter().map(|field| format!("{}.{}", header.name, field.name)).collect());
        Places { fields: fields.collect(), drop_reasons: program.drop_reasons() }
    }

    fn name(&self, program: &Program, place: Place) -> String {
        match place {
            Place::Variable(variable) => program.variables[variable].name.clone(),
            Place::Field(FieldRef { header, field }) => self.fields[number(header)][field as usize].clone(),
        }
    }
}

/// What steps are named by.
#[derive(Clone, Copy)]
struct Names<'n, 'p> {
    program: &'p Program,
    state: &'n State<'p>,
    places: &'n Places,
}

impl<'p> Names<'_, 'p> {
    fn step<'v>(self, step: &Noted<'p>, values: &mut impl Iterator<Item = &'v Bits>) -> Step {
        let program = self.program;
        match step {
            Noted::Enter { port, bytes, again } => {
                Step::Enter(Enter { port: *port, bytes: *bytes as u64, again: *again })
            }
            Noted::Node(node) => Step::Node(program.nodes[*node].name.clone()),
            Noted::Extract(header) => {
                let declared = &program.headers[*header];
                let fields = declared.fields.iter().zip(values).map(|(field, bits)| valued(field.name.clone(), bits));
                Step::Extract(Extract { header: declared.name.clone(), fields: fields.collect() })
            }
            Noted::Set(place) => {
                let value = values.next().map(big_endian).unwrap_or_default();
                Step::Set(TraceValue { name: self.places.name(program, *place), value })
            }
            Noted::Apply { table, entry, invocation } => Step::Apply(self.applied(*table, *entry, invocation, values)),
            Noted::Error => {
                let code = values.next().map_or(0, Bits::to_u64);
                let name = usize::try_from(code).ok().and_then(|number| program.errors.get(number));
                Step::Error(name.cloned().unwrap_or_else(|| code.to_string()))
            }
            Noted::Copy { port, instance } => Step::Copy(Copy { port: *port, instance: *instance }),
            Noted::Punt(reason) => Step::Punt(reason.to_string()),
            Noted::Drop(reason) => Step::Drop(self.places.drop_reasons[*reason].clone()),
            Noted::Send { port, bytes } => Step::Send(Send { port: *port, bytes: *bytes as u64, packet: Vec::new() }),
        }
    }

    fn applied<'v>(
        self,
        id: TableId,
        entry: Option<usize>,
        invocation: &Invocation,
        values: &mut impl Iterator<Item = &'v Bits>,
    ) -> Apply {
        let table = &self.program.tables[id];
        let action = &table.actions[invocation.action as usize];
        let data = action.parameters.iter().zip(&invocation.arguments);
        Apply {
            table: table.name.clone(),
            key: table.keys.iter().zip(values).map(|(key, bits)| valued(key.name.clone(), bits)).collect(),
            hit: entry.map(|entry| hit(self.state.table(id).entry(entry))),
            action: action.name.clone(),
            data: data.map(|(parameter, value)| valued(parameter.name.clone(), &value.bits)).collect(),
        }
    }
}

fn valued(name: String, bits: &Bits) -> TraceValue {
    TraceValue { name, value: big_endian(bits) }
}

/// The bytes of a number, the highest first, without leading zeros; of zero one byte.
fn big_endian(bits: &Bits) -> Vec<u8> {
    match bits {
        Bits::Word(word) => {
            let zeros = (word.leading_zeros() / u8::BITS) as usize;
            word.to_be_bytes()[zeros.min(size_of::<u128>() - 1)..].to_vec()
        }
        Bits::Wide(wide) => wide.to_bytes_be(),
    }
}

fn hit(entry: &StoredEntry) -> Hit {
    let written = |pattern: &Pattern| match pattern {
        Pattern::Masked { value, mask } => format!("{}&&&{}", hexadecimal(value), hexadecimal(mask)),
        Pattern::Range { low, high } => format!("{}..{}", hexadecimal(low), hexadecimal(high)),
    };
    Hit { matches: entry.patterns().iter().map(written).collect(), priority: entry.priority }
}

fn hexadecimal(bits: &Bits) -> String {
    match bits {
        Bits::Word(word) => format!("{word:#x}"),
        Bits::Wide(wide) => format!("{wide:#x}"),
    }
}

/// Whether packets of the program can change what later ones find, meters apart: these do so only with rates.
pub(crate) fn has_memory(program: &Program) -> bool {
    let mut found = false;
    let mut look = |body: &[Statement]| {
        body.iter().for_each(|statement| statement.walk(&mut |inner| found |= remembers(inner)));
    };
    program.nodes.values().for_each(|node| look(node.kind.body()));
    program.tables.values().flat_map(|table| &table.actions).for_each(|action| look(&action.body));
    found
}

fn remembers(statement: &Statement) -> bool {
    let Statement::Call(call) = statement else { return false };
    match call {
        Call::WriteRegister { .. } | Call::AddEntry { .. } | Call::RestartTimer { .. } | Call::Custom { .. } => true,
        Call::Count { .. }
        | Call::ReadRegister { .. }
        | Call::ExecuteMeter { .. }
        | Call::Hash { .. }
        | Call::AddChecksum { .. }
        | Call::Random { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        // It ends the run: no later packet finds anything.
        | Call::Assert { .. } => false,
    }
}
