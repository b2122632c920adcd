//! The verifier: what each schedule keeps, however it was made. Whatever carries out a schedule relies on it.
//!
//! The rules, by the names that messages have:
//!
//! 1. `order`: operands precede uses, and in the commit phase all side exits precede the effects.
//! 2. `types`: operands have the types and widths that their operation needs, and conditions are booleans.
//! 3. `lookups`: a value uses results only of lookups that earlier stages make, or that its own stage makes at once.
//! 4. `bytes`: bits of the packet are within the bytes that the stage requires of a packet; those of the commit phase
//!    are within the bytes of the last stage.
//! 5. `stores`: stores of one packet do not overlap.
//! 6. `ends`: stores follow all other effects of a packet but its send: by then it is known whether it is dropped.
//! 7. `send`: packets are sent by a port of at most 16 bits; a commit phase ends with a send or drop of all that are left.
//! 8. `reads`: registers are read in stages alone, and commit takes all that it needs of them.
//! 9. `counters`: bulk drops count at indices that their counters have, and drop for a reason of the program.
//! 10. `keys`: a key has as many bits as the table's, 64 in each part but the last.
//! 11. `objects`: a lookup is the one of its node, and effects are about lookups and counters of these tables.

mod effects;
mod exclusive;
mod kinds;

use crate::text::order::{Line, Section, sections};
use crate::text::{Part, Places, Site};
use crate::value::{Found, Operation, Value};
use crate::{BulkDrop, Lookup, Schedule};
use hlir::diagnostic::Diagnostic;
use hlir::{NodeId, NodeKind, Program, TableId};

/// A rule, by its place in the list above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Order,
    Types,
    Lookups,
    Bytes,
    Stores,
    Ends,
    Send,
    Reads,
    Counters,
    Keys,
    Objects,
}

impl Rule {
    pub const ALL: [Rule; 11] = [
        Rule::Order,
        Rule::Types,
        Rule::Lookups,
        Rule::Bytes,
        Rule::Stores,
        Rule::Ends,
        Rule::Send,
        Rule::Reads,
        Rule::Counters,
        Rule::Keys,
        Rule::Objects,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Order => "order",
            Rule::Types => "types",
            Rule::Lookups => "lookups",
            Rule::Bytes => "bytes",
            Rule::Stores => "stores",
            Rule::Ends => "ends",
            Rule::Send => "send",
            Rule::Reads => "reads",
            Rule::Counters => "counters",
            Rule::Keys => "keys",
            Rule::Objects => "objects",
        }
    }
}

/// The rules that a schedule breaks. Errors point into its text if it was read from one.
pub fn verify(program: &Program, schedule: &Schedule, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, schedule, places, errors: Vec::new() };
    verifier.values();
    // Which part needs a value is open where operands have no order.
    if verifier.errors.is_empty() {
        sections(schedule).iter().for_each(|section| verifier.section(section));
    }
    for (number, stage) in schedule.stages.iter().enumerate() {
        for (exit, taken) in stage.exits.iter().enumerate() {
            let site = Site::Exit(number, exit);
            verifier.is_condition(site, taken.when);
            taken.end.iter().for_each(|end| verifier.bulk_drop(site, end));
        }
    }
    schedule.lookups.iter().for_each(|lookup| verifier.lookup(lookup));
    schedule.commit.iter().for_each(|commit| verifier.commit(Part::Commit, commit));
    schedule.expected.iter().for_each(|commit| verifier.commit(Part::Expected, commit));
    verifier.errors
}

struct Verifier<'s> {
    program: &'s Program,
    schedule: &'s Schedule,
    places: &'s Places,
    errors: Vec<Diagnostic>,
}

impl Verifier<'_> {
    fn error(&mut self, rule: Rule, site: Site, message: impl Into<String>) {
        let error = Diagnostic::error(message).kind(rule.name());
        let span = self.places.get(site);
        self.errors.push(if span.is_none() { error } else { error.label(span, "") });
    }

    /// Rules of values by themselves.
    fn values(&mut self) {
        for number in 0..self.schedule.values.len() as u32 {
            let value = Value(number);
            let operation = self.schedule.values.of(value);
            if operation.operands().iter().any(|operand| *operand >= value) {
                self.error(Rule::Order, Site::Value(value), "an operand is computed after its use");
            } else if let Err(why) = kinds::fits(self.program, &self.schedule.values, value) {
                self.error(Rule::Types, Site::Value(value), why);
            }
        }
    }

    /// Rules of values in the part that needs them first.
    fn section(&mut self, section: &Section) {
        let stages = &self.schedule.stages;
        let (now, bytes, kept) = match section.part {
            Part::Stage(stage) => (stage, stages[stage].bytes, &stages[stage].reads[..]),
            Part::Commit | Part::Expected => (stages.len(), stages.last().map_or(0, |stage| stage.bytes), &[][..]),
        };
        for line in &section.lines {
            let Line::Value(value) = line else { continue };
            let site = Site::Value(*value);
            let operation = self.schedule.values.of(*value);
            let read = operation.bytes_read(self.schedule.values.width(*value));
            self.is_within(site, read.into_iter().map(|(_, end)| end).max().unwrap_or(0), bytes);
            match operation {
                Operation::Lookup { node, .. } => self.is_made(site, *node, (now, section.part)),
                Operation::Register { .. } if !kept.contains(value) => {
                    self.error(Rule::Reads, site, "reads a register, and no `keep` of this stage has the value");
                }
                Operation::Register { .. }
                | Operation::Constant(_)
                | Operation::Packet { .. }
                | Operation::Sum(_)
                | Operation::Length
                | Operation::Headroom
                | Operation::Port
                | Operation::Unary(..)
                | Operation::Binary(..)
                | Operation::Slice { .. }
                | Operation::Extend { .. }
                | Operation::Choose { .. }
                | Operation::FromBool(_)
                | Operation::Hash { .. } => {}
            }
        }
    }

    fn is_within(&mut self, site: Site, end: u32, bytes: u32) {
        if end > bytes {
            let message = format!("reads the packet up to byte {end}, and only {bytes} bytes must be there");
            self.error(Rule::Bytes, site, message);
        }
    }

    /// Whether a stage can use the lookup of a node; commit is behind all stages.
    fn is_made(&mut self, site: Site, node: NodeId, (now, part): (usize, Part)) {
        let name = &self.program.nodes[node].name;
        match self.schedule.lookups.iter().find(|lookup| lookup.node == node) {
            Some(Lookup { stage: Some(stage), .. }) if *stage >= now => {
                let message = format!("uses the lookup at `{name}`, which is made at the end of stage {stage}");
                self.error(Rule::Lookups, site, message);
            }
            Some(_) => {}
            None if self
                .schedule
                .commit_of(part)
                .is_some_and(|commit| commit.lookups.iter().any(|late| late.node == node)) => {}
            None if self.table_at(node).is_some_and(|table| self.program.tables[table].keys.is_empty()) => {}
            None => self.error(Rule::Lookups, site, format!("uses the lookup at `{name}`, which no stage makes")),
        }
    }

    fn table_at(&self, node: NodeId) -> Option<TableId> {
        let NodeKind::Apply { table, .. } = &self.program.nodes[node].kind else { return None };
        Some(*table)
    }

    fn is_condition(&mut self, site: Site, when: Value) {
        if self.schedule.values.kind(when) != hlir::Type::Bool {
            self.error(Rule::Types, site, "the condition is no boolean");
        }
    }

    fn lookup(&mut self, lookup: &Lookup) {
        self.key(Site::Lookup(lookup.node), (lookup.node, lookup.table), &lookup.key);
    }

    /// The key of a lookup.
    fn key(&mut self, site: Site, (node, id): (NodeId, TableId), key: &[Value]) {
        let table = &self.program.tables[id];
        if self.table_at(node) != Some(id) {
            let node = &self.program.nodes[node].name;
            return self.error(Rule::Objects, site, format!("the node `{node}` does not look up `{}`", table.name));
        }
        let of_table: u32 = self.program.key_fields(id).iter().map(|field| field.width).sum();
        let widths: Vec<u32> = key.iter().map(|limb| self.schedule.values.width(*limb)).collect();
        let expected: Vec<u32> = match of_table {
            0 => vec![0],
            bits => (0..bits).step_by(64).map(|low| (bits - low).min(64)).collect(),
        };
        if widths != expected {
            let shown = |widths: &[u32]| widths.iter().map(u32::to_string).collect::<Vec<_>>().join(" + ");
            let (found, needed) = (shown(&widths), shown(&expected));
            let message = format!("the key of `{}` has {needed} bits, and this one has {found}", table.name);
            self.error(Rule::Keys, site, message);
        }
    }

    fn bulk_drop(&mut self, site: Site, drop: &BulkDrop) {
        for at in &drop.counted {
            let counter = &self.program.counters[at.counter];
            if counter.table.is_some() || at.index >= counter.size {
                let message = format!("the counter `{}` has no index {}", counter.name, at.index);
                self.error(Rule::Counters, site, message);
            }
        }
        if !self.program.drop_reasons().contains(&drop.reason) {
            self.error(Rule::Counters, site, format!("the program drops nothing for the reason `{}`", drop.reason));
        }
    }
}

/// A parameter's width, if the node's table has it.
fn parameter_width(program: &Program, node: NodeId, what: Found) -> Option<u32> {
    let (NodeKind::Apply { table, .. }, Found::Parameter { action, parameter, .. }) = (&program.nodes[node].kind, what)
    else {
        return None;
    };
    Some(program.tables[*table].actions.get(action)?.parameters.get(parameter)?.width)
}
