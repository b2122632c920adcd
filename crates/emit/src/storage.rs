//! What a packet carries while it is in the switch, as structs: pointers and scalars in `struct state`, bytes in `struct scratch`.
//!
//! `struct state` is a local variable of the plain program whose address goes nowhere, so its members become registers. What needs an address (wide
//! numbers, headers that the program made) is in `struct scratch`, which lies in the worker's memory.

use crate::body::{limbs, storage_bytes, word_type};
use crate::c::{Expr, Item, Member, Stmt, Struct};
use crate::unit::{Unit, number};
use hlir::{Bytes, Effect, NodeId, NodeKind, Program, Statement, Type};
use std::collections::BTreeSet;

/// Names that occur in code, for leaving out what does not.
pub type Words = BTreeSet<String>;

/// Adds every word of the items' code.
pub fn words(items: &[Item], found: &mut Words) {
    let text = crate::c::print(items);
    found.extend(text.split(|character: char| !character.is_alphanumeric() && character != '_').map(str::to_string));
}

impl Unit<'_> {
    /// Numbers of the variables that are kept, narrow or wide ones.
    pub fn kept_variables(&self, wide: impl Fn(u32) -> bool) -> Vec<usize> {
        let all = self.program.variables.iter();
        let kept =
            all.filter(|(id, variable)| self.facts.variables.contains(&number(*id)) && wide(variable.kind.width()));
        kept.map(|(id, _)| number(id)).collect()
    }

    /// Numbers of the headers that code mentions.
    pub fn kept_headers(&self, used: &Words) -> Vec<usize> {
        let mentioned =
            |index: &usize| ["", "_valid", "_bits"].iter().any(|part| self.mentions_header(used, *index, part));
        (0..self.names.headers.len()).filter(mentioned).collect()
    }

    pub fn mentions_header(&self, used: &Words, index: usize, part: &str) -> bool {
        used.contains(&self.names.word_of_header(index, part))
    }

    /// `struct scratch`, `struct state`, and what copies need.
    pub fn storage_items(&self, used: &Words) -> Vec<Item> {
        let comment = |text: &str| Item::Comment(text.to_string());
        let mut items = vec![
            comment("Data that needs an address: headers outside the packet, wide numbers, bytes as received."),
            Item::Struct(self.scratch(used)),
            Item::Blank,
            comment("The state of a packet. Headers are pointers into the packet, or into scratch."),
            Item::Struct(self.state(used)),
            Item::Blank,
        ];
        if self.copies() {
            items.push(Item::Comment("A copy, or a packet that will re-enter.".to_string()));
            items.push(Item::Struct(Struct {
                name: "copy".to_string(),
                members: vec![
                    Member::plain("struct copy *", "next", ""),
                    Member::plain("enum node", "at", ""),
                    Member::plain("struct state", "state", ""),
                    Member::plain("struct scratch", "scratch", ""),
                ],
            }));
            items.push(Item::Blank);
        }
        items
    }

    /// Whether packets are copied, or enter again.
    pub fn copies(&self) -> bool {
        self.facts.pending || self.facts.replicates
    }

    fn scratch(&self, used: &Words) -> Struct {
        let mut members = Vec::new();
        for index in self.kept_headers(used) {
            let header =
                self.program.headers.iter().nth(index).map(|(id, _)| id).expect("kept headers are of the program");
            let size = storage_bytes(self.program, header).max(1);
            self.header_bytes(&mut members, index, size, "");
        }
        for index in self.kept_variables(|width| width > 64) {
            let width = self.variable_kind(index).width();
            members.push(Member::plain("uint64_t", format!("{}[{}]", self.names.variables[index], limbs(width)), ""));
        }
        if self.facts.original {
            members.push(Member::plain(
                "uint8_t",
                format!("original[{}]", self.original_bytes()),
                "the packet's front as it came in",
            ));
        }
        if members.is_empty() {
            members.push(Member::plain("uint8_t", "unused", ""));
        }
        Struct { name: "scratch".to_string(), members }
    }

    pub fn state(&self, used: &Words) -> Struct {
        let mut members = vec![
            Member::plain("struct packet", "packet", ""),
            Member::plain("struct scratch *", "scratch", ""),
            Member::plain("uint32_t", "cursor", "bytes that the parser has consumed"),
            Member::plain("uint32_t", "port", "ingress"),
        ];
        if self.facts.random {
            members.push(Member::plain("uint64_t", "number", "of the packet"));
            members.push(Member::plain("uint64_t", "draws", "random numbers so far"));
            members.push(Member::plain("uint64_t", "copies", "made of it so far"));
        }
        if self.facts.pending {
            members.push(Member::plain("uint32_t", "generation", "how often it has re-entered"));
        }
        if self.facts.multiplies {
            members.push(Member::plain(
                "uint32_t *",
                "budget",
                "remaining copy budget, shared with its copies; NULL before any",
            ));
        }
        if self.facts.original {
            members.push(Member::plain("const uint8_t *", "original", "its first byte when it entered"));
            members.push(Member::plain("uint32_t", "original_length", ""));
        }
        for parser in &self.facts.cyclic {
            members.push(Member::plain("uint32_t", &self.names.parsers[*parser], "visited so far"));
        }
        for index in self.kept_headers(used) {
            self.header_member(&mut members, "uint8_t *", index, "", "");
            if self.mentions_header(used, index, "_bits") {
                self.header_member(&mut members, "uint32_t", index, "_bits", "");
            }
        }
        for index in self.kept_headers(used) {
            if self.mentions_header(used, index, "_valid") {
                self.header_member(&mut members, "bool", index, "_valid", "");
            }
        }
        for index in self.kept_variables(|width| width <= 64) {
            let of = match self.variable_kind(index) {
                Type::Bool => "bool",
                Type::Bits(width) => word_type(width),
            };
            members.push(Member::plain(of, &self.names.variables[index], ""));
        }
        Struct { name: "state".to_string(), members }
    }

    fn variable_kind(&self, index: usize) -> Type {
        self.program.variables.values().nth(index).expect("kept variables are of the program").kind
    }

    /// Statements that take wide variables to zero, where a packet begins.
    pub fn zero_wide(&self) -> Vec<Stmt> {
        let kept = self.kept_variables(|width| width > 64).into_iter();
        kept.map(|index| {
            let place = Expr::Name(format!("state->scratch->{}", self.names.variables[index]));
            Stmt::call("wide_zero", [place, Expr::word(self.variable_kind(index).width())])
        })
        .collect()
    }

    /// Bytes of a packet's front that a program may change in place: what its parsers can take. All of them, where that has no bound or the end may change.
    pub fn original_bytes(&self) -> u32 {
        let mut bytes = 0u32;
        if !self.facts.cyclic.is_empty() || self.changes_payload() || self.copies_what_was_cut() {
            return 0xffff;
        }
        for &node in &self.facts.order {
            if let NodeKind::State { body, .. } = &self.node(node).kind {
                let mut dynamic = false;
                for statement in body {
                    statement.walk(&mut |statement| {
                        dynamic |= matches!(statement, Statement::Advance(_) | Statement::Loop { .. });
                        if let Statement::Extract { header, .. } = statement {
                            bytes += storage_bytes(self.program, *header);
                        }
                    });
                }
                if dynamic {
                    return 0xffff;
                }
            }
        }
        bytes.clamp(1, 0xffff)
    }

    /// Whether a packet that was cut may be copied as it came in: what was cut off has gone back to the pool by then.
    fn copies_what_was_cut(&self) -> bool {
        goes_back(self.program, self.facts.order.iter().copied().filter(|node| self.cuts(*node)).collect())
    }

    fn cuts(&self, node: NodeId) -> bool {
        let kind = &self.node(node).kind;
        let actions = match kind {
            NodeKind::Apply { table, .. } => self.program.tables[*table].actions.as_slice(),
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => &[],
        };
        let mut cuts = false;
        for statement in kind.body().iter().chain(actions.iter().flat_map(|action| &action.body)) {
            statement.walk(&mut |statement| cuts |= matches!(statement, Statement::Truncate(_)));
        }
        cuts
    }
}

/// Whether a packet that is at one of these nodes may go back to the bytes that came in, before it enters again.
pub fn goes_back(program: &Program, from: Vec<NodeId>) -> bool {
    let mut reached = from;
    let mut at = 0;
    while let Some(&node) = reached.get(at) {
        let mut copies = program.nodes[node].effects().filter_map(Effect::copy);
        if copies.any(|copy| copy.bytes == Bytes::Original) {
            return true;
        }
        let new: BTreeSet<NodeId> = stays(program, node).into_iter().filter(|next| !reached.contains(next)).collect();
        reached.extend(new);
        at += 1;
    }
    false
}

/// Where a packet or a copy of it goes on that has not entered again: what it was when it did is still the same.
fn stays(program: &Program, node: NodeId) -> Vec<NodeId> {
    let own = program.nodes[node].own_successors();
    let rejected = program.nodes[node].parser().map(|parser| program.parsers[parser].reject);
    let others = program.nodes[node].effects().filter_map(|effect| match effect {
        Effect::Replicate { copy, .. } => Some(copy.to),
        Effect::Punt { resume, .. } => Some(*resume),
        Effect::Drop { .. }
        | Effect::Send { .. }
        | Effect::Unicast { .. }
        | Effect::Clone { .. }
        | Effect::Resubmit { .. }
        | Effect::Recirculate { .. } => None,
    });
    own.into_iter().chain(rejected).chain(others).collect()
}
