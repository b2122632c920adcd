//! Deparsers: the packet's front becomes the emitted headers.
//!
//! Where every way through the program leaves the emitted headers exactly as they were extracted, nothing is to be done, and no code is written.
//! Where this holds but for headers that no parser extracts, it is done only for packets that have one of these: a router's
//! packets for its host. Else the headers are listed and `walk_place` moves those that are not in place already.

use crate::body::{Body, Exit, Presence, join, storage_bytes};
use crate::c::{Expr, Stmt};
use crate::unit::{Unit, headers_used, number};
use hlir::{Bytes, Effect, FieldRef, HeaderId, NodeId, NodeKind, Place, Program, Statement};
use std::collections::{BTreeSet, HashMap};

/// The label after a deparser's statements.
pub const FINISH: &str = "deparser's end";

impl Body<'_, '_> {
    /// A whole deparser node.
    pub fn deparse(&mut self, statements: &[Statement], next: NodeId) {
        let adds = self.unit.only_adds(self.node, statements).and_then(|added| self.unit.has_any(&added));
        let Some(adds) = adds else {
            self.emit_all(statements, next, self.unit.stays_in_place(self.node, statements));
            return self.deparsed(next);
        };
        let (moves, behind) = self.branch(|body| body.emit_all(statements, next, false));
        let stays = self.nested(|body| body.detach(next));
        join(&mut self.present, &behind);
        let condition = Expr::call("__builtin_expect", [adds, Expr::word(0)]);
        self.push(match stays.is_empty() {
            true => Stmt::when(condition, moves),
            false => Stmt::If { condition, then: moves, otherwise: stays },
        });
        self.deparsed(next);
    }

    fn deparsed(&mut self, next: NodeId) {
        self.push(Stmt::set(Expr::name("state->cursor"), Expr::word(0)));
        self.go(next);
    }

    /// The statements, then the packet's new front.
    fn emit_all(&mut self, statements: &[Statement], next: NodeId, in_place: bool) {
        let is_bounded = !emits_in_loop(statements);
        let odd = |header: &HeaderId| !self.program().headers[*header].fixed_bits().is_multiple_of(8);
        let bits = emitted(statements).iter().any(odd);
        self.emitting = match (in_place, writes_after_emit(statements)) {
            (true, _) => Emitting::Nothing,
            (false, _) if bits => Emitting::Bits { is_bounded },
            (false, _) if !is_bounded => Emitting::Bytes,
            (false, false) => Emitting::Pieces,
            (false, true) => Emitting::Snapshots,
        };
        let most = emitted(statements).len() as u32;
        let listed = self.emitting != Emitting::Nothing && most > 0;
        let bytes = if is_bounded { emitted_bytes(self.unit, statements) } else { MOST_BYTES };
        if listed {
            self.open_pieces(most, bytes);
        }
        self.exit = Exit::Finish;
        let whole = [Statement::Scope { label: FINISH.to_string(), body: statements.to_vec() }];
        self.statements(&whole);
        self.detach(next);
        match (self.emitting, listed) {
            (Emitting::Nothing, _) => {}
            (_, true) => self.place_pieces(bytes),
            (_, false) => {
                self.push(Stmt::declare("struct packet", "packet", Expr::name("state->packet")));
                self.push(Stmt::call("packet_trim", [Expr::name("&packet"), Expr::name("state->cursor")]));
                self.push(Stmt::set(Expr::name("state->packet"), Expr::name("packet")));
            }
        }
    }

    fn open_pieces(&mut self, most: u32, bytes: u32) {
        let pieces = format!("pieces[{}]", if self.emitting.is_one_piece() { 1 } else { most });
        self.push(Stmt::Declare { of: "struct piece".to_string(), name: pieces, value: None });
        self.push(Stmt::declare("uint32_t", "piece_count", Expr::word(0)));
        if self.emitting == Emitting::Pieces {
            return;
        }
        // A string of bits may be stored a word beyond its end.
        self.push(Stmt::Declare { of: "uint8_t".to_string(), name: format!("snapshot[{}]", bytes + 8), value: None });
        if let Emitting::Bits { .. } = self.emitting {
            let begun = Expr::call("hash_begin", [Expr::name("snapshot")]);
            self.push(Stmt::declare("struct hash_input", "snapshot_bits", begun));
        } else {
            self.push(Stmt::declare("uint32_t", "snapshot_bytes", Expr::word(0)));
        }
    }

    /// Adds a header's fields to the string of bits that the packet will begin with.
    fn emit_bits(&mut self, header: HeaderId, is_bounded: bool) {
        let valid = self.header_valid(header);
        let before = self.present.clone();
        let code = self.nested(|body| {
            if !is_bounded {
                let held = Expr::call("hash_bytes", [Expr::name("&snapshot_bits")]);
                body.fits(held, Expr::word(storage_bytes(body.program(), header)));
            }
            body.present[number(header)] = Presence::Present;
            for field in 0..body.program().headers[header].fields.len() {
                body.hash_field(Expr::name("&snapshot_bits"), FieldRef { header, field: field as u32 });
            }
        });
        self.present = before;
        self.push(Stmt::when(valid, code));
    }

    /// Drops a packet whose front would become longer than any packet.
    fn fits(&mut self, held: Expr, bytes: Expr) {
        let over = Expr::binary(">", Expr::binary("+", held, bytes), Expr::word(MOST_BYTES));
        let failed = self.nested(|body| body.drop_packet("no headroom"));
        self.push(Stmt::when(over, failed));
    }

    fn place_pieces(&mut self, bytes: u32) {
        if self.emitting.is_one_piece() {
            let count = match self.emitting {
                Emitting::Bits { .. } => {
                    Expr::cast("uint32_t", Expr::call("hash_bytes", [Expr::name("&snapshot_bits")]))
                }
                Emitting::Nothing | Emitting::Pieces | Emitting::Snapshots | Emitting::Bytes => {
                    Expr::name("snapshot_bytes")
                }
            };
            let piece = Expr::cast("struct piece", Expr::List(vec![Expr::name("snapshot"), count]));
            self.push(Stmt::set(Expr::name("pieces[piece_count++]"), piece));
        }
        self.push(Stmt::Declare { of: "uint8_t".to_string(), name: format!("buffer[{bytes}]"), value: None });
        self.push(Stmt::declare("struct packet", "packet", Expr::name("state->packet")));
        let arguments = ["run->worker", "&packet", "state->cursor", "pieces", "piece_count", "buffer"].map(Expr::name);
        let failed = self.nested(|body| body.drop_packet("no headroom"));
        self.push(Stmt::when(Expr::unary("!", Expr::call("walk_place", arguments)), failed));
        self.push(Stmt::set(Expr::name("state->packet"), Expr::name("packet")));
    }

    pub fn emit_header(&mut self, header: HeaderId) {
        match self.emitting {
            Emitting::Nothing => return,
            Emitting::Bits { is_bounded } => return self.emit_bits(header, is_bounded),
            Emitting::Pieces | Emitting::Snapshots | Emitting::Bytes => {}
        }
        let declared = &self.program().headers[header];
        let mut bytes = Expr::word(declared.fixed_bits() / 8);
        if declared.varbit().is_some() {
            bytes = Expr::binary("+", bytes, Expr::binary("/", self.header_bits(header), Expr::word(8)));
        }
        let valid = self.header_valid(header);
        let code = self.nested(|body| {
            let source = body.header(header);
            let copied = || [Expr::name("snapshot + snapshot_bytes"), source.clone(), bytes.clone()];
            if body.emitting == Emitting::Bytes {
                body.fits(Expr::name("snapshot_bytes"), bytes.clone());
                body.push(Stmt::call("memcpy", copied()));
            } else {
                let kept = body.emitting == Emitting::Snapshots;
                let source = if kept { Expr::call("memcpy", copied()) } else { source.clone() };
                let piece = Expr::cast("struct piece", Expr::List(vec![source, bytes.clone()]));
                body.push(Stmt::set(Expr::name("pieces[piece_count++]"), piece));
            }
            if body.emitting != Emitting::Pieces {
                body.push(Stmt::Assign(Expr::name("snapshot_bytes"), "+=", bytes.clone()));
            }
        });
        self.push(Stmt::when(valid, code));
    }

    /// Headers that are used from `next` on take their bytes along: those of the packet are its own from here on.
    fn detach(&mut self, next: NodeId) {
        for header in used_behind(self.program(), next) {
            if self.present[number(header)] == Presence::Absent {
                continue;
            }
            let size = storage_bytes(self.program(), header);
            let (pointer, scratch) = (self.header(header), self.header_scratch(header));
            let elsewhere = Expr::binary("!=", pointer.clone(), scratch.clone());
            let there = Expr::binary("!=", pointer.clone(), Expr::name("NULL"));
            let mut bytes = Expr::word(size);
            let declared = &self.program().headers[header];
            if declared.varbit().is_some() {
                let fixed = Expr::word(declared.fixed_bits().div_ceil(8));
                bytes = Expr::binary("+", fixed, Expr::binary("/", self.header_bits(header), Expr::word(8)));
            }
            let copy = Stmt::set(pointer.clone(), Expr::call("memcpy", [scratch, pointer, bytes]));
            self.push(Stmt::when(Expr::binary("&&", there, elsewhere), vec![copy]));
        }
    }

    /// Truncates the packet. A header keeps its fields, also those beyond the cut.
    pub fn truncate(&mut self, bytes: &hlir::Expression) {
        let bytes = self.amount(bytes);
        self.detach(self.node);
        let whole = Expr::name("state->packet");
        let cut = Expr::call("walk_truncate", [Expr::name("run->worker"), whole.clone(), bytes]);
        self.push(Stmt::set(whole, cut));
        let (cursor, length) =
            (Expr::name("state->cursor"), Expr::call("packet_length", [Expr::name("&state->packet")]));
        let beyond = Expr::binary(">", cursor.clone(), length.clone());
        self.push(Stmt::when(beyond, vec![Stmt::set(cursor, length)]));
    }
}

impl Unit<'_> {
    /// Whether a deparser has nothing to write.
    pub fn stays_in_place(&self, deparser: NodeId, statements: &[Statement]) -> bool {
        self.added_headers(deparser, statements).is_some_and(|added| added.is_empty())
    }

    /// The headers without which a deparser has nothing to write: no parser extracts them. None if it may have to
    /// write all the same.
    fn added_headers(&self, deparser: NodeId, statements: &[Statement]) -> Option<Vec<HeaderId>> {
        let extracted = extracted(self.program, &self.facts.order);
        let (list, added): (Vec<HeaderId>, Vec<HeaderId>) =
            emitted(statements).into_iter().partition(|header| extracted.contains(header));
        let lie_there = list.iter().all(|header| !self.facts.unaliased.contains(header));
        (lie_there && in_place(self.program, &self.facts.order, deparser, (statements, &list))).then_some(added)
    }

    /// The same where the deparser only emits: none, if it always or never has nothing to write.
    pub fn only_adds(&self, deparser: NodeId, statements: &[Statement]) -> Option<Vec<HeaderId>> {
        let added = self.added_headers(deparser, statements)?;
        (!added.is_empty() && statements.iter().all(is_emit)).then_some(added)
    }

    /// Whether the packet has one of these headers.
    pub fn has_any(&self, headers: &[HeaderId]) -> Option<Expr> {
        let valid = |header: &HeaderId| Expr::Name(format!("state->{}", self.header_member_name(*header, "_valid")));
        headers.iter().map(valid).reduce(|left, right| Expr::binary("||", left, right))
    }
}

/// The headers that parsers extract.
fn extracted(program: &Program, order: &[NodeId]) -> BTreeSet<HeaderId> {
    let mut headers = BTreeSet::new();
    for statement in order.iter().flat_map(|node| program.nodes[*node].kind.body()) {
        statement.walk(&mut |inner| {
            if let Statement::Extract { header, .. } = inner {
                headers.insert(*header);
            }
        });
    }
    headers
}

fn is_emit(statement: &Statement) -> bool {
    matches!(statement, Statement::Emit(_))
}

/// What `emit` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emitting {
    Nothing,
    /// The header's place.
    Pieces,
    /// The header's bytes as they are now: the deparser changes some later on.
    Snapshots,
    /// The same behind those of all headers before: a loop emits any number of them.
    Bytes,
    /// The header's fields, since headers do not fill whole bytes: together they do, with zeros at the end.
    Bits {
        is_bounded: bool,
    },
}

impl Emitting {
    /// Whether everything that is emitted is put together before it is placed.
    fn is_one_piece(self) -> bool {
        matches!(self, Emitting::Bytes | Emitting::Bits { .. })
    }
}

/// Bytes of the longest packet.
const MOST_BYTES: u32 = 0xffff;

/// Whether the number of headers that can be emitted is not known from the code.
fn emits_in_loop(statements: &[Statement]) -> bool {
    let emits = |statement: &Statement| matches!(statement, Statement::Loop { body, .. } if !emitted(body).is_empty());
    let mut found = false;
    for statement in statements {
        statement.walk(&mut |statement| found |= emits(statement));
    }
    found
}

fn emitted(statements: &[Statement]) -> Vec<HeaderId> {
    let mut headers = Vec::new();
    for statement in statements {
        statement.walk(&mut |statement| {
            if let Statement::Emit(header) = statement {
                headers.push(*header);
            }
        });
    }
    headers
}

fn emitted_bytes(unit: &Unit, statements: &[Statement]) -> u32 {
    emitted(statements).into_iter().map(|header| storage_bytes(unit.program, header)).sum::<u32>().max(1)
}

/// Whether a statement writes the storage or the validity of a header.
fn writes_header(statement: &Statement) -> bool {
    if let Statement::Call(call) = statement {
        return hlir::effects::call_places(call).iter().any(|place| matches!(place, Place::Field(_)));
    }
    matches!(
        statement,
        Statement::Assign { target: Place::Field(_), .. }
            | Statement::SetValid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
    )
}

fn writes_after_emit(statements: &[Statement]) -> bool {
    let (mut emitted, mut writes) = (false, false);
    for statement in statements {
        statement.walk(&mut |statement| {
            emitted |= matches!(statement, Statement::Emit(_));
            writes |= emitted && writes_header(statement);
        });
    }
    writes
}

/// Headers whose storage is used by nodes from `start` on, until the packet re-enters.
fn used_behind(program: &Program, start: NodeId) -> BTreeSet<HeaderId> {
    let mut used = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut left = vec![start];
    while let Some(node) = left.pop() {
        if !seen.insert(number(node)) {
            continue;
        }
        storage_used(program, node, &mut used);
        left.extend(same_packet(program, node));
    }
    used
}

/// The nodes where the packet, or a copy with its headers, goes on.
pub fn same_packet(program: &Program, node: NodeId) -> Vec<NodeId> {
    let NodeKind::Buffer { rules, otherwise } = &program.nodes[node].kind else {
        let mut next = program.nodes[node].successors();
        next.extend(program.nodes[node].parser().map(|parser| program.parsers[parser].reject));
        return next;
    };
    let target = |effect: &Effect| match effect {
        Effect::Replicate { copy, .. }
        | Effect::Clone { copy, .. }
        | Effect::Resubmit { copy }
        | Effect::Recirculate { copy } => (copy.bytes == Bytes::Current).then_some(copy.to),
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } | Effect::Punt { .. } => effect.target(),
    };
    rules.iter().filter_map(|rule| target(&rule.effect)).chain(*otherwise).collect()
}

fn storage_used(program: &Program, node: NodeId, used: &mut BTreeSet<HeaderId>) {
    let mut expressions = Vec::new();
    let mut bodies: Vec<&[Statement]> = vec![program.nodes[node].kind.body()];
    match &program.nodes[node].kind {
        NodeKind::State { select, .. } => expressions.extend(select.keys.iter()),
        NodeKind::Branch { condition, .. } => expressions.push(condition),
        NodeKind::Apply { table, .. } => {
            let table = &program.tables[*table];
            expressions.extend(table.keys.iter().map(|key| &key.value).chain(&table.selector));
            bodies.extend(table.actions.iter().map(|action| action.body.as_slice()));
        }
        NodeKind::Buffer { rules, .. } => rules.iter().for_each(|rule| {
            expressions.push(&rule.condition);
            expressions.extend(rule.effect.expressions());
            used.extend(effect_places(&rule.effect).filter_map(|place| match place {
                Place::Field(field) => Some(field.header),
                Place::Variable(_) => None,
            }));
        }),
        NodeKind::Block { .. } | NodeKind::Deparse { .. } => {}
    }
    expressions.into_iter().for_each(|value| crate::unit::headers_read(value, used));
    for statement in bodies.into_iter().flatten() {
        statement.walk(&mut |statement| {
            headers_used(statement, used);
            if let Statement::Emit(header) = statement {
                used.insert(*header);
            }
            // Also where it is only written: its bytes are the packet's by then.
            if let Statement::CopyHeader { to, from } = statement {
                used.extend([*to, *from]);
            }
        });
    }
}

/// What an effect sets in the packet that goes on.
pub fn effect_places(effect: &Effect) -> impl Iterator<Item = Place> {
    let set = match effect {
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Punt { .. } => &[],
        Effect::Unicast { set, .. } => set.as_slice(),
        Effect::Replicate { copy, .. }
        | Effect::Clone { copy, .. }
        | Effect::Resubmit { copy }
        | Effect::Recirculate { copy } => copy.set.as_slice(),
    };
    set.iter().map(|(place, _)| *place)
}

/// What is known of a packet's front before a deparser: headers that it emits were extracted in its order,
/// and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Front {
    /// Emitted headers before this position may have been extracted, none from it on.
    Ordered {
        next: usize,
        /// Something else has been taken off the front as well.
        foreign: bool,
    },
    /// The front is not simply the emitted headers.
    Other,
}

impl Front {
    fn join(self, other: Front) -> Front {
        match (self, other) {
            (Front::Ordered { next: a, foreign: x }, Front::Ordered { next: b, foreign: y }) => {
                Front::Ordered { next: a.max(b), foreign: x || y }
            }
            _ => Front::Other,
        }
    }

    fn after(self, statement: &Statement, emitted: &[HeaderId]) -> Front {
        let Front::Ordered { next, foreign } = self else { return self };
        let position = |header: &HeaderId| emitted.iter().position(|known| known == header);
        if let Statement::Extract { header, .. } = statement {
            return match position(header) {
                Some(at) if at >= next => Front::Ordered { next: at + 1, foreign },
                Some(_) => Front::Other,
                None => Front::Ordered { next, foreign: true },
            };
        }
        if matches!(statement, Statement::Advance(_)) {
            return Front::Ordered { next, foreign: true };
        }
        if changes_front(statement, &|header| position(&header).is_some()) { Front::Other } else { self }
    }
}

/// Whether these headers, which `deparser` emits, are always where they belong already.
fn in_place(
    program: &Program,
    order: &[NodeId],
    deparser: NodeId,
    (statements, list): (&[Statement], &[HeaderId]),
) -> bool {
    let distinct: BTreeSet<HeaderId> = list.iter().copied().collect();
    if distinct.len() != list.len()
        || !always_emits(statements)
        || writes_after_emit(statements)
        || any_changes_front(statements, &distinct)
    {
        return false;
    }
    let mut fronts: HashMap<usize, Front> = HashMap::new();
    let begins = Front::Ordered { next: 0, foreign: false };
    let mut left: Vec<(NodeId, Front)> = order.first().map(|entry| (*entry, begins)).into_iter().collect();
    while let Some((node, front)) = left.pop() {
        let known = fronts.get(&number(node)).copied();
        let joined = known.map_or(front, |known| known.join(front));
        if known == Some(joined) {
            continue;
        }
        fronts.insert(number(node), joined);
        let ends = front_behind(program, node, joined, list);
        left.extend(same_packet(program, node).into_iter().map(|to| (to, ends)));
        left.extend(
            program.nodes[node].successors().into_iter().filter(|_| is_buffer(program, node)).map(|to| (to, begins)),
        );
    }
    matches!(fronts.get(&number(deparser)), Some(Front::Ordered { foreign: false, .. }))
}

/// Whether every `emit` of a deparser always runs: a header that is not emitted would stay in place.
fn always_emits(statements: &[Statement]) -> bool {
    let mut always = true;
    for statement in statements {
        statement.walk(&mut |statement| {
            always &= !matches!(
                statement,
                Statement::If { .. } | Statement::Loop { .. } | Statement::Leave(_) | Statement::Exit
            );
        });
    }
    always
}

fn is_buffer(program: &Program, node: NodeId) -> bool {
    matches!(program.nodes[node].kind, NodeKind::Buffer { .. })
}

/// Whether a statement makes one of these headers other than it was extracted, or cuts the packet.
fn changes_front(statement: &Statement, concerned: &dyn Fn(HeaderId) -> bool) -> bool {
    match statement {
        Statement::SetValid(header) | Statement::SetInvalid(header) | Statement::CopyHeader { to: header, .. } => {
            concerned(*header)
        }
        Statement::CopyVarbit { to, .. } => concerned(to.header),
        Statement::Truncate(_) => true,
        Statement::Assign { .. }
        | Statement::If { .. }
        | Statement::Scope { .. }
        | Statement::Loop { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Extract { .. }
        | Statement::Advance(_)
        | Statement::Lookahead { .. }
        | Statement::Verify { .. }
        | Statement::Emit(_)
        | Statement::Call(_) => false,
    }
}

fn any_changes_front(statements: &[Statement], headers: &BTreeSet<HeaderId>) -> bool {
    let mut found = false;
    for statement in statements {
        statement.walk(&mut |statement| found |= changes_front(statement, &|header| headers.contains(&header)));
    }
    found
}

/// The front after a node. A failure may leave a state early, which means that less was extracted.
fn front_behind(program: &Program, node: NodeId, before: Front, emitted: &[HeaderId]) -> Front {
    let mut bodies: Vec<&[Statement]> = vec![program.nodes[node].kind.body()];
    if let NodeKind::Apply { table, .. } = &program.nodes[node].kind {
        bodies.extend(program.tables[*table].actions.iter().map(|action| action.body.as_slice()));
    }
    let mut front = before;
    for statement in bodies.into_iter().flatten() {
        statement.walk(&mut |statement| front = front.after(statement, emitted));
    }
    if let NodeKind::Deparse { .. } = &program.nodes[node].kind {
        // What another deparser has put in front is a packet of its own; headers of this one among it would come twice.
        front = match front {
            Front::Ordered { next: 0, .. } => Front::Ordered { next: 0, foreign: false },
            Front::Ordered { .. } | Front::Other => Front::Other,
        };
    }
    front
}
