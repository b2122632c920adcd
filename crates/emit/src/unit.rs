//! What is being emitted: the program, its plan, its names, and the facts about it that decide which parts the C file has.
//!
//! Facts are about what a program *can* do, found by walking it once: a program that never makes copies has no queue for them.

use crate::header_aliasing::unaliased;
use crate::names::Names;
use hlir::effects::call_places;
use hlir::{
    Call, Effect, Expression, HashInput, HeaderId, Node, NodeId, NodeKind, Notes, Place, Plan, Program, ResolvedPlan,
    Statement, TableId, VariableId,
};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The number of a thing in its arena.
pub fn number<T>(id: la_arena::Idx<T>) -> usize {
    id.into_raw().into_u32() as usize
}

pub struct Unit<'a> {
    pub program: &'a Program,
    pub plan: ResolvedPlan,
    pub names: Names,
    pub facts: Facts,
    pub drops: Vec<String>,
    /// Fields that some node reads or writes; each gets a function.
    pub accesses: RefCell<BTreeSet<crate::field::Access>>,
}

#[derive(Default)]
pub struct Facts {
    /// Nodes that a packet can reach, in the order of the file: what comes first runs first.
    pub order: Vec<NodeId>,
    pub edges: Vec<(NodeId, NodeId)>,
    /// Tables that some reachable node looks up.
    pub tables: BTreeSet<usize>,
    /// Nodes where a packet begins that did not come from a port: copies, packets that enter again, resumed ones.
    pub starts: BTreeSet<usize>,
    /// Variables that some reachable node reads or writes.
    pub variables: BTreeSet<usize>,
    /// Draws random numbers.
    pub random: bool,
    /// Packets or copies of them enter again after the burst.
    pub pending: bool,
    /// Makes copies for the members of groups or sessions, which a budget limits.
    pub multiplies: bool,
    /// Makes copies for multicast groups.
    pub replicates: bool,
    /// Goes back to the bytes that came in, where they have been changed.
    pub original: bool,
    pub punts: bool,
    /// Parsers whose states form a cycle, by number.
    pub cyclic: BTreeSet<usize>,
    /// Fields that some reachable node assigns, and headers whose bytes are in a checksum after that.
    pub written: BTreeSet<(usize, u32)>,
    pub summed: BTreeSet<usize>,
    /// The place in `order` of the last node that reads bytes of headers.
    pub last_read: Option<usize>,
    /// A node reads bytes of headers: the one that is being walked.
    reads: bool,
    /// Headers that do not alias the packet, so that writes to them are invisible before a deparser.
    pub unaliased: BTreeSet<HeaderId>,
}

impl<'a> Unit<'a> {
    pub fn new(program: &'a Program, plan: &'a Plan, entry: NodeId) -> Unit<'a> {
        let facts = Facts::new(program, entry);
        let mut unit = Unit {
            program,
            plan: ResolvedPlan::of(program, plan),
            names: Names::new(program),
            facts,
            drops: program.drop_reasons(),
            accesses: RefCell::default(),
        };
        unit.facts.original = unit.needs_original();
        unit
    }

    pub fn node(&self, node: NodeId) -> &'a Node {
        &self.program.nodes[node]
    }

    pub fn node_name(&self, node: NodeId) -> &str {
        &self.names.nodes[number(node)]
    }

    pub fn place_name(&self, node: NodeId) -> &str {
        &self.names.places[number(node)]
    }

    pub fn table_name(&self, table: TableId) -> &str {
        &self.names.tables[number(table)]
    }

    pub fn header_name(&self, header: HeaderId) -> &str {
        &self.names.headers[number(header)]
    }

    /// A member of `struct state` that is named after a header.
    pub fn header_member_name(&self, header: HeaderId, part: &str) -> String {
        self.names.of_header(number(header), part)
    }

    pub fn variable_name(&self, variable: VariableId) -> &str {
        &self.names.variables[number(variable)]
    }

    /// The position of a node among those that packets reach, in the order of the file.
    pub fn position(&self, node: NodeId) -> usize {
        self.facts.order.iter().position(|known| *known == node).expect("only nodes that packets reach are written")
    }

    /// Whether packets wait at a node, whose parts loops call by name.
    pub fn is_called(&self, node: NodeId) -> bool {
        self.batched() || self.plan.queues.iter().any(|queue| queue.node == node)
    }

    pub fn own(&self) -> bool {
        self.plan.descriptor == hlir::plan::Descriptor::Own
    }

    /// Whether packets may read header bytes after they looked this table up.
    pub fn reads_after(&self, table: TableId) -> bool {
        let looks_up = |node: &NodeId| matches!(&self.program.nodes[*node].kind, NodeKind::Apply { table: applied, .. } if *applied == table);
        self.facts.order.iter().position(looks_up) < self.facts.last_read
    }

    /// The number of an edge among all that packets can take.
    pub fn edge_number(&self, from: NodeId, to: NodeId) -> u32 {
        let position = self.facts.edges.iter().position(|edge| *edge == (from, to));
        position.expect("edges are collected from all nodes") as u32
    }

    /// The number under which drops for `reason` are counted.
    pub fn drop_number(&self, reason: &str) -> u32 {
        let position = self.drops.iter().position(|known| known == reason);
        position.expect("`Program::drop_reasons` lists every reason") as u32
    }
}

/// `router.p4:41`, or nothing.
pub fn origin(notes: &Notes) -> Option<String> {
    let origin = notes.origin.as_ref()?;
    let file = origin.file.rsplit('/').next().unwrap_or(&origin.file);
    Some(format!("{file}:{}", origin.line))
}

impl Facts {
    fn new(program: &Program, entry: NodeId) -> Facts {
        let mut facts = Facts { order: order(program, entry), ..Facts::default() };
        for (place, &node) in facts.order.clone().iter().enumerate() {
            facts.reads = false;
            if let Some(parser) = program.nodes[node].parser() {
                facts.variables.insert(number(program.parsers[parser].error));
            }
            match &program.nodes[node].kind {
                NodeKind::Apply { table, .. } => facts.table(program, *table),
                NodeKind::Buffer { rules, .. } => {
                    for rule in rules {
                        facts.expression(&rule.condition);
                        facts.effect(&rule.effect);
                    }
                }
                NodeKind::State { body, select, .. } => {
                    facts.statements(body);
                    select.keys.iter().for_each(|key| facts.expression(key));
                }
                NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => facts.statements(body),
                NodeKind::Branch { condition, .. } => facts.expression(condition),
            }
            if facts.reads {
                facts.last_read = Some(place);
            }
        }
        for &node in &facts.order {
            let mut targets = flow(program, node);
            targets.reverse();
            for to in targets {
                if !facts.edges.contains(&(node, to)) {
                    facts.edges.push((node, to));
                }
            }
        }
        for (id, _) in program.parsers.iter() {
            if cyclic(program, &facts.order, id) {
                facts.cyclic.insert(number(id));
            }
        }
        facts.unaliased = unaliased(program, &facts.order);
        facts
    }

    fn table(&mut self, program: &Program, table: TableId) {
        self.tables.insert(number(table));
        for key in &program.tables[table].keys {
            self.expression(&key.value);
        }
        program.tables[table].selector.iter().for_each(|input| self.expression(input));
        for action in &program.tables[table].actions {
            self.statements(&action.body);
        }
        for (_, meter) in program.meters.iter().filter(|(_, meter)| meter.table == Some(table)) {
            meter.automatic.iter().for_each(|place| self.place(*place));
        }
    }

    fn expression(&mut self, value: &Expression) {
        value.walk(&mut |value| {
            if let Expression::Variable(variable) = value {
                self.variables.insert(number(*variable));
            }
            self.reads |= matches!(value, Expression::Field(_));
        });
    }

    fn place(&mut self, place: Place) {
        match place {
            Place::Variable(variable) => self.variables.insert(number(variable)),
            Place::Field(field) => self.written.insert((number(field.header), field.field)),
        };
    }

    fn summed(&mut self, call: &Call) {
        let (Call::Hash { data, .. } | Call::AddChecksum { data, .. }) = call else { return };
        for input in data {
            if let HashInput::Field(field) = input {
                let header = number(field.header);
                if self.written.iter().any(|(written, _)| *written == header) {
                    self.summed.insert(header);
                }
                self.reads = true;
            }
        }
    }

    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            statement.walk(&mut |statement| {
                expressions(statement, &mut |value| self.expression(value));
                if let Statement::Assign { target, .. } = statement {
                    self.place(*target);
                }
                if let Statement::Lookahead { into, .. } = statement {
                    self.place(Place::Variable(*into));
                }
                if let Statement::Call(call) = statement {
                    self.summed(call);
                    call_places(call).into_iter().for_each(|place| self.place(place));
                    self.random |= matches!(call, Call::Random { .. });
                }
            });
        }
    }

    fn effect(&mut self, effect: &Effect) {
        for value in effect.expressions() {
            self.expression(value);
        }
        for (place, _) in effect.assignments() {
            self.place(*place);
        }
        self.multiplies |= effect.multiplies();
        match effect {
            Effect::Replicate { copy, .. } => {
                self.replicates = true;
                self.starts.insert(number(copy.to));
            }
            Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => {
                self.pending = true;
                self.starts.insert(number(copy.to));
            }
            Effect::Punt { resume, .. } => {
                self.punts = true;
                self.starts.insert(number(*resume));
            }
            Effect::Drop { .. } | Effect::Send { .. } | Effect::Unicast { .. } => {}
        }
    }
}

/// Reachable nodes in reverse postorder, so that edges lead forward wherever they can.
fn order(program: &Program, entry: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; program.nodes.len()];
    let mut postorder = Vec::new();
    let mut stack = vec![(entry, 0usize)];
    seen[number(entry)] = true;
    while let Some((node, next)) = stack.pop() {
        let targets = flow(program, node);
        match targets.get(next) {
            None => postorder.push(node),
            Some(&target) => {
                stack.push((node, next + 1));
                if !seen[number(target)] {
                    seen[number(target)] = true;
                    stack.push((target, 0));
                }
            }
        }
    }
    postorder.reverse();
    postorder
}

/// Every successor, a parser's `reject` included. The last ones come first in the file, so the common one is
/// last.
fn flow(program: &Program, node: NodeId) -> Vec<NodeId> {
    let mut targets = program.nodes[node].successors();
    targets.reverse();
    if let Some(parser) = program.nodes[node].parser() {
        targets.insert(0, program.parsers[parser].reject);
    }
    targets
}

fn cyclic(program: &Program, reachable: &[NodeId], parser: hlir::ParserId) -> bool {
    let position = |node: NodeId| reachable.iter().position(|known| *known == node);
    program.states(parser).any(|state| {
        let from = position(state);
        let successors = program.nodes[state].successors();
        let inner = successors.into_iter().filter(|to| program.nodes[*to].parser() == Some(parser));
        inner.into_iter().any(|to| from.is_some() && position(to) <= from)
    })
}

/// Calls `visit` with every expression of a statement itself, not of the statements within it.
pub fn expressions<'s>(statement: &'s Statement, visit: &mut impl FnMut(&'s Expression)) {
    match statement {
        Statement::Assign { value, .. } => visit(value),
        Statement::If { condition, .. } => visit(condition),
        Statement::Advance(bits) => visit(bits),
        Statement::Truncate(bytes) => visit(bytes),
        Statement::Extract { varbit, .. } => varbit.iter().for_each(visit),
        Statement::Verify { condition, error } => {
            visit(condition);
            visit(error);
        }
        Statement::Call(call) => call_expressions(call, visit),
        Statement::SetValid(_)
        | Statement::SetInvalid(_)
        | Statement::CopyHeader { .. }
        | Statement::CopyVarbit { .. }
        | Statement::Scope { .. }
        | Statement::Loop { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Lookahead { .. }
        | Statement::Emit(_) => {}
    }
}

fn call_expressions<'s>(call: &'s Call, visit: &mut impl FnMut(&'s Expression)) {
    let inputs = |data: &'s [HashInput], visit: &mut dyn FnMut(&'s Expression)| {
        for input in data {
            if let HashInput::Bits(value) = input {
                visit(value);
            }
        }
    };
    match call {
        Call::Count { index, .. } => index.iter().for_each(visit),
        Call::ReadRegister { index, .. } => visit(index),
        Call::WriteRegister { index, value, .. } => {
            visit(index);
            visit(value);
        }
        Call::ExecuteMeter { index, colour, .. } => index.iter().chain(colour).for_each(visit),
        Call::Hash { data, .. } | Call::AddChecksum { data, .. } => inputs(data, visit),
        Call::Random { low, high, .. } => {
            visit(low);
            visit(high);
        }
        Call::SendDigest { values, .. } => values.iter().for_each(visit),
        Call::Log { arguments, .. } => arguments.iter().for_each(visit),
        Call::Assert { condition, .. } => visit(condition),
        Call::AddEntry { arguments, expiry, .. } => arguments.iter().chain(expiry).for_each(visit),
        Call::RestartTimer { expiry } => expiry.iter().for_each(visit),
        Call::Custom { arguments, .. } => {
            for argument in arguments {
                if let hlir::Argument::In(value) = argument {
                    visit(value);
                }
            }
        }
    }
}

/// Headers whose storage an expression reads; `isValid` reads none.
pub fn headers_read(value: &Expression, found: &mut BTreeSet<HeaderId>) {
    value.walk(&mut |value| {
        if let Expression::Field(field) | Expression::VarbitLength(field) = value {
            found.insert(field.header);
        }
        if let Expression::VarbitEqual(left, right) = value {
            found.extend([left.header, right.header]);
        }
    });
}

/// Headers whose storage a statement itself reads or writes, except by extraction and `setValid`.
pub fn headers_used(statement: &Statement, found: &mut BTreeSet<HeaderId>) {
    expressions(statement, &mut |value| headers_read(value, found));
    let mut place = |place: &Place| {
        if let Place::Field(field) = place {
            found.insert(field.header);
        }
    };
    if let Statement::Assign { target, .. } = statement {
        place(target);
    }
    if let Statement::Call(call) = statement {
        call_places(call).iter().for_each(&mut place);
    }
    if let Statement::CopyVarbit { to, from } = statement {
        found.extend([to.header, from.header]);
    }
    if let Statement::Call(Call::Hash { data, .. } | Call::AddChecksum { data, .. }) = statement {
        found.extend(
            data.iter().filter_map(|input| if let HashInput::Field(field) = input { Some(field.header) } else { None }),
        );
    }
}
