//! The path of a packet as data: what it extracted, which entries it hit, what changed, and how it ended.
//!
//! Steps are written as a path in bytes, of which messages are made where they are wanted ([`crate::path`]). A trace looks at many packets and shows few: of
//! others, [`crate::Switch::watch`] ends the notes, and the packet itself where it leaves nothing behind, as soon as it is known.

use crate::packet::Packet;
use crate::path::{self, Writer};
use crate::storage::{Layout, Storage};
use control::message::switch::TraceNames;
use control::message::switch::trace_step::Step;
use hlir::{Call, FieldRef, HeaderId, NodeId, Program, Statement, VariableId};
use num_bigint::BigUint;

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
    path: Writer,
    /// Whether a state of a parser was visited, and whether that parser has ended.
    has_begun: bool,
    has_ended: bool,
    interest: Interest,
    watch: Option<Watch<'p>>,
    names: TraceNames,
    /// Kept where a packet's end decides.
    parsed: Option<(Storage, u32, usize)>,
}

impl<'p> Notes<'p> {
    /// For all packets, or for those that a function wants.
    pub fn wanted(program: &Program, watch: Option<Watch<'p>>) -> Notes<'p> {
        Notes { are_wanted: true, watch, names: path::names(program), ..Notes::default() }
    }

    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// Steps so far.
    pub fn len(&self) -> usize {
        self.path.steps()
    }

    /// Where the next step is written, if it is wanted.
    #[inline]
    pub fn wanted_path(&mut self) -> Option<&mut Writer> {
        (self.are_wanted && self.interest != Interest::No).then_some(&mut self.path)
    }

    /// Notes that a packet is at a node; its first parser has ended where that is none of a parser. Gives whether the packet may be of interest.
    pub fn arrive(&mut self, node: NodeId, is_of_parser: bool, packet: &Packet, layout: &Layout) -> Interest {
        self.wanted_path().into_iter().for_each(|path| path.node(node));
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
                Interest::No => self.path.clear(),
                Interest::Open => self.parsed = Some((storage.clone(), port, bytes)),
            }
        }
        self.interest
    }

    /// What the first packet had at the end of its parser, where its end decides.
    pub fn parsed<'n>(&'n self, layout: &'n Layout) -> Option<Parsed<'n>> {
        let (storage, port, bytes) = self.parsed.as_ref()?;
        Some(Parsed { storage, layout, port: *port, bytes: *bytes })
    }

    pub fn has_dropped(&self) -> bool {
        self.path.has_dropped()
    }

    /// The steps in few bytes, without those of packets that were sent. For the next packet, all begins anew.
    pub fn take_path(&mut self) -> Vec<u8> {
        let path = self.path.take();
        self.clear();
        path
    }

    /// The steps of a path.
    pub fn named(&self, path: &[u8]) -> Vec<Step> {
        path::steps(&self.names, path).expect("it was made with these names")
    }

    pub fn names(&self) -> &TraceNames {
        &self.names
    }

    /// For the next packet. The room stays.
    pub fn clear(&mut self) {
        self.path.clear();
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
