//! Places in a program that something can be wrong with, and where the text has them.

use crate::source::Span;
use crate::text::{get, number};
use crate::{HeaderId, NodeId, ParserId, Program, TableId, VariableId};
use std::collections::HashMap;

/// A part of a program, or of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Site {
    Program,
    Budget,
    Header(HeaderId),
    Variable(VariableId),
    Counter(u32),
    Meter(u32),
    Register(u32),
    Crc(u32),
    Digest(u32),
    ValueSet(u32),
    Profile(u32),
    Extern(u32),
    Parser(ParserId),
    Table(TableId),
    Key(TableId, u32),
    Action(TableId, u32),
    Entry(TableId, u32),
    Default(TableId),
    Node(NodeId),
    /// A case of a parser state's `select`.
    Case(NodeId, u32),
    /// A rule of a buffering manager.
    Rule(NodeId, u32),
    /// A statement, by its number in the order of [`crate::Statement::walk`].
    Statement(Body, u32),
    /// The recipe of a joint table.
    Join(u32),
    /// What the program takes for granted.
    Assumption(u32),
    /// How lookups are counted that became code.
    LookupSum(u32),
    Interface,
    SourceTable(u32),
    Plan,
    Descriptor,
    Burst,
    HotPath,
    Accesses,
    Loop(u32),
    /// What a stage looks up: the number of the loop, and of the line in it.
    Lookup(u32, u32),
    /// What a loop prefetches: the number of the loop, and of the request in it.
    Prefetch(u32, u32),
    NextPath(u32),
    TablePlan(u32),
    Joint(u32),
    JoinChoice(u32),
    Queue(u32),
    Instrument,
    Expectation(u32),
}

/// What a list of statements belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    Node(NodeId),
    Action(TableId, u32),
}

/// Where the text of a program has its parts. A program that comes from no text has none.
#[derive(Clone, Debug, Default)]
pub struct Places {
    parts: HashMap<Site, Span>,
    /// The parts of each next path of a plan: as if it were the hot path of a plan.
    next_paths: Vec<Places>,
}

impl Places {
    pub fn set(&mut self, site: Site, span: Span) {
        self.parts.insert(site, span);
    }

    /// The place of a part; none for a part without a place of its own, such as what a text leaves out.
    pub fn get(&self, site: Site) -> Span {
        self.parts.get(&site).copied().unwrap_or(Span::NONE)
    }

    /// The places of the next path's parts, after those of the paths before.
    pub fn add_next_path(&mut self, places: Places) {
        self.next_paths.push(places);
    }

    /// The places of a next path's parts; none without a text of it.
    pub fn of_next_path(&self, number: usize) -> Places {
        self.next_paths.get(number).cloned().unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether the text has this part.
    pub fn has(&self, site: Site) -> bool {
        self.parts.contains_key(&site)
    }
}

impl Site {
    /// The part in words, as `node `ingress.x``; nothing where the message itself has it.
    pub(crate) fn describe(self, program: &Program) -> String {
        let table =
            |id: TableId| format!("table {}", name(get(&program.tables, id).map(|table| &table.name), number(id)));
        let node = |id: NodeId| format!("node {}", name(get(&program.nodes, id).map(|node| &node.name), number(id)));
        let action = |id: TableId, index: u32| {
            let found = get(&program.tables, id).and_then(|table| table.actions.get(index as usize));
            format!("action {} of {}", name(found.map(|action| &action.name), index), table(id))
        };
        match self {
            Site::Program => String::new(),
            Site::Budget => "the budget".to_string(),
            Site::Header(id) => format!("header {}", name(get(&program.headers, id).map(|it| &it.name), number(id))),
            Site::Variable(id) => {
                format!("variable {}", name(get(&program.variables, id).map(|it| &it.name), number(id)))
            }
            Site::Counter(index) => format!("counter {}", nth(program.counters.values(), index, |it| &it.name)),
            Site::Meter(index) => format!("meter {}", nth(program.meters.values(), index, |it| &it.name)),
            Site::Register(index) => format!("register {}", nth(program.registers.values(), index, |it| &it.name)),
            Site::Crc(index) => format!("CRC {}", nth(program.crcs.values(), index, |it| &it.name)),
            Site::Digest(index) => format!("digest {}", nth(program.digests.values(), index, |it| &it.name)),
            Site::ValueSet(index) => format!("value set {}", nth(program.value_sets.values(), index, |it| &it.name)),
            Site::Profile(index) => format!("profile {}", nth(program.profiles.values(), index, |it| &it.name)),
            Site::Extern(index) => format!("extern {}", nth(program.externs.values(), index, |it| &it.name)),
            Site::Parser(id) => format!("parser {}", name(get(&program.parsers, id).map(|it| &it.name), number(id))),
            Site::Table(id) | Site::Default(id) => table(id),
            Site::Key(id, index) => format!("key {} of {}", index + 1, table(id)),
            Site::Action(id, index) | Site::Statement(Body::Action(id, index), _) => action(id, index),
            Site::Entry(id, index) => format!("entry {} of {}", index + 1, table(id)),
            Site::Node(id) | Site::Case(id, _) | Site::Statement(Body::Node(id), _) => node(id),
            Site::Rule(id, index) => format!("rule {} of {}", index + 1, node(id)),
            Site::Join(index) => format!("join {}", index + 1),
            Site::Assumption(index) => format!("assumption {}", index + 1),
            Site::LookupSum(index) => format!("sum of lookups {}", index + 1),
            Site::Interface => "the interface".to_string(),
            Site::SourceTable(index) => {
                format!("interface table {}", nth(program.interface.tables.iter(), index, |it| &it.name))
            }
            Site::Plan
            | Site::Descriptor
            | Site::Burst
            | Site::HotPath
            | Site::Accesses
            | Site::Loop(_)
            | Site::Lookup(..)
            | Site::Prefetch(..)
            | Site::NextPath(_)
            | Site::TablePlan(_)
            | Site::Joint(_)
            | Site::JoinChoice(_)
            | Site::Queue(_)
            | Site::Instrument
            | Site::Expectation(_) => "the plan".to_string(),
        }
    }
}

fn nth<'p, T: 'p>(mut list: impl Iterator<Item = &'p T>, index: u32, of: impl Fn(&'p T) -> &'p String) -> String {
    name(list.nth(index as usize).map(of), index)
}

fn name(name: Option<&String>, number: u32) -> String {
    match name {
        Some(name) => format!("`{name}`"),
        None => format!("number {number}"),
    }
}
