//! Adding statements, and knowing what they wrote: so that a value is saved exactly where something later would change it.
//!
//! P4 evaluates from left to right and freezes what was evaluated. HLIR expressions read storage when they run. The log of writes shows
//! whether the two differ; where they do not, no temporary is made, and the result reads like the source.

use std::collections::HashSet;

use hlir::{Argument, Call};
use hlir::{Expression, FieldRef, HeaderId, NodeId, Place, Statement, VariableId};

use super::Lowering;
use super::arithmetic;
use super::graph::{Role, common_exit};
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};
use hlir::Notes;

/// Something that a statement wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    Variable(VariableId),
    Field(FieldRef),
    /// Validity and all fields.
    Header(HeaderId),
}

/// A moment in the lowering: values made at it can still be saved there.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    block: NodeId,
    at: usize,
    log: usize,
}

/// The first and the last block of something lowered aside.
pub type Region = (NodeId, NodeId);

/// What values read.
#[derive(Debug, Default)]
pub struct Reads {
    variables: HashSet<VariableId>,
    fields: HashSet<FieldRef>,
    headers: HashSet<HeaderId>,
}

impl Reads {
    pub fn of(value: &Value) -> Reads {
        let mut reads = Reads::default();
        value.each_expression(&mut |expression| reads.add(expression));
        reads.add_headers(value);
        reads
    }

    pub fn add(&mut self, expression: &Expression) {
        expression.walk(&mut |part| match part {
            Expression::Variable(variable) => {
                self.variables.insert(*variable);
            }
            Expression::Field(field) | Expression::VarbitLength(field) => {
                self.fields.insert(*field);
            }
            Expression::Valid(header) => {
                self.headers.insert(*header);
            }
            Expression::VarbitEqual(left, right) => {
                self.fields.extend([*left, *right]);
            }
            Expression::Bool(_)
            | Expression::Constant { .. }
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::Choose { .. }
            | Expression::FromBool(_) => {}
        });
    }

    /// Stored headers are read with all their fields.
    fn add_headers(&mut self, value: &Value) {
        match value {
            Value::Header { id, members } => {
                self.headers.insert(*id);
                for leaf in members.iter().flat_map(Storage::leaves) {
                    if let Leaf::Field(field) = leaf {
                        self.fields.insert(field);
                    }
                }
            }
            Value::Struct(parts) | Value::Union(parts) | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.add_headers(part));
            }
            Value::Made { fields, .. } => fields.iter().for_each(|part| self.add_headers(part)),
            Value::Varbit(_)
            | Value::Void
            | Value::Scalar(_)
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Object(_)
            | Value::DontCare => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.fields.is_empty() && self.headers.is_empty()
    }

    /// Whether it is asked if the header is valid.
    pub fn has_validity(&self, header: HeaderId) -> bool {
        self.headers.contains(&header)
    }

    pub fn conflicts(&self, touch: &Touch) -> bool {
        match touch {
            Touch::Variable(variable) => self.variables.contains(variable),
            Touch::Field(field) => self.fields.contains(field),
            Touch::Header(header) => {
                self.headers.contains(header) || self.fields.iter().any(|field| field.header == *header)
            }
        }
    }
}

impl<'a> Lowering<'a> {
    /// Adds a statement at lowering's position. What cannot run is not added.
    pub fn emit(&mut self, statement: Statement) {
        if !self.graph.is_open(self.current) {
            return;
        }
        self.log_writes(&statement);
        let closes = matches!(statement, Statement::Leave(_) | Statement::Exit);
        let block = self.graph.block_mut(self.current);
        block.body.push(statement);
        block.closed |= closes;
    }

    pub fn call(&mut self, call: Call) {
        self.emit(Statement::Call(call));
    }

    pub fn set_valid(&mut self, header: HeaderId) {
        self.emit(Statement::SetValid(header));
        self.invalidate_siblings(header);
    }

    /// Of a union, nothing is left then: it is invalid, whichever member it held.
    pub fn set_invalid(&mut self, header: HeaderId) {
        self.emit(Statement::SetInvalid(header));
        self.invalidate_siblings(header);
    }

    /// Setting one member of a union takes the others away.
    pub fn invalidate_siblings(&mut self, header: HeaderId) {
        for other in self.slots.siblings(header).to_vec() {
            self.emit(Statement::SetInvalid(other));
        }
    }

    fn log_place(&mut self, place: Place) {
        self.log.push(match place {
            Place::Variable(variable) => Touch::Variable(variable),
            Place::Field(field) => Touch::Field(field),
        });
    }

    fn log_writes(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { target, .. } => self.log_place(*target),
            Statement::SetValid(header) | Statement::SetInvalid(header) => self.log.push(Touch::Header(*header)),
            Statement::CopyHeader { to, .. } => self.log.push(Touch::Header(*to)),
            Statement::CopyVarbit { to, .. } => self.log.push(Touch::Field(*to)),
            Statement::Extract { header, .. } => self.log.push(Touch::Header(*header)),
            Statement::Lookahead { into, .. } => self.log.push(Touch::Variable(*into)),
            Statement::Call(call) => self.log_call(call),
            // What is inside these was logged when it was added there.
            Statement::If { .. } | Statement::Scope { .. } | Statement::Loop { .. } => {}
            Statement::Leave(_)
            | Statement::Exit
            | Statement::Advance(_)
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_) => {}
        }
    }

    fn log_call(&mut self, call: &Call) {
        match call {
            Call::ReadRegister { into, .. }
            | Call::ExecuteMeter { into, .. }
            | Call::Hash { into, .. }
            | Call::AddChecksum { sum: into, .. }
            | Call::Random { into, .. } => self.log_place(*into),
            Call::AddEntry { into, .. } => into.iter().for_each(|into| self.log_place(*into)),
            Call::Custom { arguments, into, .. } => {
                for argument in arguments {
                    if let Argument::Out(place) | Argument::InOut(place) = argument {
                        self.log_place(*place);
                    }
                }
                into.iter().for_each(|into| self.log_place(*into));
            }
            Call::Count { .. }
            | Call::WriteRegister { .. }
            | Call::SendDigest { .. }
            | Call::Log { .. }
            | Call::Assert { .. }
            | Call::RestartTimer { .. } => {}
        }
    }

    pub fn mark(&self) -> Mark {
        Mark { block: self.current, at: self.graph.block(self.current).body.len(), log: self.log.len() }
    }

    /// Whether the parser has made sure of a condition since.
    pub fn is_verified(&self, wanted: &Expression, since: Mark) -> bool {
        let body = &self.graph.block(self.current).body;
        let from = if since.block == self.current { since.at.min(body.len()) } else { 0 };
        body[from..].iter().any(|made| matches!(made, Statement::Verify { condition, .. } if condition == wanted))
    }

    /// Whether nothing was added since.
    pub fn is_here(&self, mark: Mark) -> bool {
        self.current == mark.block && self.graph.block(self.current).body.len() == mark.at
    }

    pub fn position(&self) -> usize {
        self.log.len()
    }

    /// Saves `value`, made at `mark`, if something it reads has been written since. Values of one evaluation are settled last to first.
    pub fn settle(&mut self, value: &mut Value, mark: Mark) {
        if self.log.len() == mark.log {
            return;
        }
        let reads = Reads::of(value);
        if !reads.is_empty() && self.log[mark.log..].iter().any(|touch| reads.conflicts(touch)) {
            *value = self.save_at(value.clone(), mark);
        }
    }

    /// Copies a value into storage of its own, at `mark`.
    fn save_at(&mut self, value: Value, mark: Mark) -> Value {
        let name = self.local_name("tmp");
        let storage = self.allocate_like(&value, &name);
        let statements = self.aside(|lowering| lowering.assign(&storage, value));
        self.graph.splice(mark.block, mark.at, statements);
        self.load(&storage)
    }

    /// Copies a value into storage of its own, here.
    pub fn save(&mut self, value: Value, hint: &str) -> Value {
        let name = self.local_name(hint);
        let storage = self.allocate_like(&value, &name);
        self.assign(&storage, value);
        self.load(&storage)
    }

    /// A value that may be written many times: itself if that is cheap, else a copy.
    pub fn atom(&mut self, value: Value, hint: &str) -> Value {
        if value.is_atom() { value } else { self.save(value, hint) }
    }

    /// The indices in a target, settled like a value.
    pub fn settle_target(&mut self, target: &mut Target, mark: Mark) {
        match target {
            Target::Choice { candidates, index, .. } => {
                candidates.iter_mut().for_each(|candidate| self.settle_target(candidate, mark));
                self.settle_expression(index, mark);
            }
            Target::Slice { base, .. } | Target::Copied { target: base, .. } => self.settle_target(base, mark),
            Target::PlusSlice { base, low, .. } => {
                self.settle_target(base, mark);
                self.settle_expression(low, mark);
            }
            Target::Storage(_) | Target::Nowhere(_) | Target::Discard => {}
        }
    }

    /// The value that an `inout` argument had at `mark`, saved there if it was written since.
    pub fn settle_input(&mut self, target: &mut Target, mark: Mark) {
        let since = self.log.len();
        if since == mark.log {
            return;
        }
        let mut value = Value::Void;
        let loading = self.aside(|lowering| value = lowering.load_target(target));
        let reads = Reads::of(&value);
        if reads.is_empty() || !self.log[mark.log..since].iter().any(|touch| reads.conflicts(touch)) {
            return;
        }
        let name = self.local_name("tmp");
        let storage = self.allocate_like(&value, &name);
        let saving = self.aside(|lowering| lowering.assign(&storage, value));
        self.graph.splice(mark.block, mark.at, loading.into_iter().chain(saving).collect());
        let value = self.load(&storage);
        *target = Target::Copied { target: Box::new(target.clone()), value };
    }

    /// Whether a value reads what one of these writes.
    pub fn is_touched(&self, value: &Value, touched: &[Touch]) -> bool {
        let reads = Reads::of(value);
        touched.iter().any(|touch| reads.conflicts(touch))
    }

    fn settle_expression(&mut self, expression: &mut Expression, mark: Mark) {
        let mut value = Value::Scalar(expression.clone());
        self.settle(&mut value, mark);
        if let Value::Scalar(settled) = value {
            *expression = settled;
        }
    }

    /// The statements that `lower` makes, taken out.
    pub fn aside(&mut self, lower: impl FnOnce(&mut Self)) -> Vec<Statement> {
        let block = self.graph.add("aside", Notes::default(), Role::Plain);
        let before = std::mem::replace(&mut self.current, block);
        lower(self);
        self.current = before;
        std::mem::take(&mut self.graph.block_mut(block).body)
    }

    /// `then` if `condition`, else `otherwise`: a statement where neither is cut, else edges of the graph.
    pub fn branch(
        &mut self,
        condition: Expression,
        line: &str,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        match arithmetic::boolean_of(&condition) {
            Some(true) => return then(self),
            Some(false) => return otherwise(self),
            None => {}
        }
        if !self.graph.is_open(self.current) {
            return;
        }
        let then = self.region(line, then);
        let otherwise = self.region(line, otherwise);
        self.branch_to(condition, line, then, otherwise);
    }

    /// The same with both sides lowered already.
    pub fn branch_to(&mut self, condition: Expression, line: &str, then: Region, otherwise: Region) {
        if !self.graph.is_open(self.current) {
            return;
        }
        if self.is_statement(&then) && self.is_statement(&otherwise) {
            self.absorb(condition, then.0, otherwise.0);
            return;
        }
        let name = self.node_name(&format!("if{line}"));
        let kind = super::graph::EndKind::Branch { condition, then: then.0, otherwise: otherwise.0 };
        self.graph.end(self.current, name, Notes::default(), kind);
        self.continue_after(line, &[then.1, otherwise.1]);
    }

    /// Adds more to the end of a region.
    pub fn extend_region(&mut self, region: &mut Region, lower: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.current, region.1);
        lower(self);
        region.1 = std::mem::replace(&mut self.current, before);
    }

    /// Whether nothing happens in a region.
    pub fn is_idle(&self, region: &Region) -> bool {
        self.is_statement(region) && self.graph.block(region.0).body.is_empty()
    }

    /// Lowers into a block of its own; its first and last block.
    pub fn region(&mut self, line: &str, lower: impl FnOnce(&mut Self)) -> Region {
        let first = self.add_block(&format!("block{line}"));
        let before = std::mem::replace(&mut self.current, first);
        lower(self);
        let last = std::mem::replace(&mut self.current, before);
        (first, last)
    }

    fn is_statement(&self, (first, last): &Region) -> bool {
        first == last && self.graph.block(*first).ending.is_none()
    }

    /// Goes on in a new block that all of these lead to.
    pub fn continue_after(&mut self, line: &str, blocks: &[NodeId]) {
        let join = self.add_block(&format!("after{line}"));
        let mut reached = false;
        for block in blocks {
            if self.graph.is_open(*block) {
                self.graph.goto(*block, join);
                reached = true;
            }
        }
        self.current = join;
        self.graph.block_mut(join).closed = !reached;
    }

    fn absorb(&mut self, condition: Expression, then: NodeId, otherwise: NodeId) {
        let exit = common_exit(self.graph.block(then).exit, self.graph.block(otherwise).exit);
        let closed = self.graph.block(then).closed && self.graph.block(otherwise).closed;
        let then = std::mem::take(&mut self.graph.block_mut(then).body);
        let otherwise = std::mem::take(&mut self.graph.block_mut(otherwise).body);
        let statement = match (then.is_empty(), otherwise.is_empty()) {
            (true, true) => return,
            (true, false) => {
                Statement::If { condition: arithmetic::not(condition), then: otherwise, otherwise: Vec::new() }
            }
            (false, _) => Statement::If { condition, then, otherwise },
        };
        let current = self.current;
        let block = self.graph.block_mut(current);
        block.body.push(statement);
        block.exit = common_exit(block.exit, exit);
        block.closed |= closed;
    }

    /// Lowers `body` so that `Leave(label)` in it goes on behind it.
    pub fn scope(&mut self, label: &str, body: impl FnOnce(&mut Self)) {
        let (first, last) = self.region("", body);
        assert_eq!(first, last, "what is lowered as a scope has no tables in it");
        let exit = self.graph.block(first).exit;
        let only_exits = self.graph.block(first).closed;
        let mut body = std::mem::take(&mut self.graph.block_mut(first).body);
        drop_last_leave(&mut body, label);
        let left = leaves(&body, label);
        let closed = only_exits && !left && matches!(body.last(), Some(Statement::Exit | Statement::Leave(_)));
        let current = self.current;
        if !self.graph.is_open(current) {
            return;
        }
        let block = self.graph.block_mut(current);
        if left {
            block.body.push(Statement::Scope { label: label.to_string(), body });
        } else {
            block.body.extend(body);
        }
        block.exit = common_exit(block.exit, exit);
        block.closed |= closed;
    }
}

pub fn leaves(body: &[Statement], label: &str) -> bool {
    let mut found = false;
    for statement in body {
        statement.walk(&mut |part| found |= matches!(part, Statement::Leave(left) if left == label));
    }
    found
}

/// A `leave` at the very end of its scope goes where control goes anyway.
fn drop_last_leave(body: &mut Vec<Statement>, label: &str) {
    match body.last_mut() {
        Some(Statement::Leave(left)) if left == label => {
            body.pop();
            drop_last_leave(body, label);
        }
        Some(Statement::If { then, otherwise, .. }) => {
            drop_last_leave(then, label);
            drop_last_leave(otherwise, label);
        }
        _ => {}
    }
}
