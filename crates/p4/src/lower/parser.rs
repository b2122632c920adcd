//! Parsers: a state of the source becomes a state of the graph; parsers applied within are inlined, state by state.

use std::collections::HashMap;
use std::rc::Rc;

use hlir::source::Span;
use hlir::{Expression as Hlir, NodeId, Notes, Parser, ParserId, Statement, VariableId};

use super::control::{Frame, FrameKind};
use super::effects::Mark;
use super::graph::Role;
use super::objects::{Block, Object, ObjectId};
use super::scope::Binding;
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{
    Argument, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, Name, ParserBody, State,
    Transition,
};
use crate::check::{Call, Node, Property, Reference};
use crate::types::Type;

/// The parser that is being lowered.
#[derive(Clone, Debug)]
pub struct Context {
    pub id: ParserId,
    pub reject: NodeId,
    /// What is copied out where an error leaves a parser that is applied here, while a flag is set while it runs; inner ones come first.
    pub owed: Vec<(Storage, Vec<(Target, Storage)>)>,
}

/// States given a block, and those still to be lowered.
struct States<'a> {
    blocks: HashMap<DeclarationId, NodeId>,
    pending: Vec<(&'a State, NodeId)>,
    accept: NodeId,
}

impl<'a> Lowering<'a> {
    /// Lowers a parser that the architecture runs. Its errors go to `error`.
    pub fn top_parser(
        &mut self,
        object: ObjectId,
        bindings: Vec<Binding>,
        (accept, reject): (NodeId, NodeId),
        error: VariableId,
    ) -> Lowered<NodeId> {
        let Object::Block(block) = self.object(object) else {
            return Err(self.internal(Span::NONE, "a package argument that is no parser"));
        };
        for (parameter, binding) in self.checked.parameters(block.declaration).iter().zip(bindings) {
            block.scope.bind(parameter.id, binding);
        }
        let name = block.name.clone();
        let failed = self.plain_block(&format!("{name}.failed"));
        let id = self.program.parsers.alloc(Parser { name, start: accept, accept, reject: failed, error });
        self.graph.reject_to(id, failed);
        self.parser = Some(Context { id, reject: failed, owed: Vec::new() });
        self.frames.push(Frame::new(FrameKind::Boundary));
        let entry = self.add_block("begin");
        self.graph.block_mut(entry).name = format!("{}.begin", block.name);
        let before = std::mem::replace(&mut self.current, entry);
        let result = self.parser_body(&block, accept);
        let owed = self.parser.take().map(|parser| parser.owed).unwrap_or_default();
        self.current = failed;
        for (inside, copies) in &owed {
            self.when(inside, |lowering| lowering.copy_out(copies));
        }
        let last = std::mem::replace(&mut self.current, before);
        self.graph.goto(last, reject);
        self.frames.pop();
        result?;
        self.program.parsers[id].start = entry;
        Ok(entry)
    }

    /// `p.apply(...)` in a state.
    pub fn apply_parser(&mut self, block: &Rc<Block>, copies: Vec<(Target, Storage)>, span: Span) -> Lowered<()> {
        if self.parser.is_none() {
            return Err(self.unsupported(span, "a parser applied outside of a parser is"));
        }
        let after = self.add_block(&format!("after{}", self.line_of(span)));
        if copies.is_empty() {
            self.parser_body(block, after)?;
            self.current = after;
            return Ok(());
        }
        let inside = self.scratch(&format!("inside{}", self.line_of(span)), hlir::Type::Bool);
        self.assign(&inside, Value::boolean(true));
        self.parser_body(block, after)?;
        self.current = after;
        self.assign(&inside, Value::boolean(false));
        self.copy_out(&copies);
        if let Some(parser) = &mut self.parser {
            parser.owed.push((inside, copies));
        }
        Ok(())
    }

    /// Lowers the states of a parser from lowering's position on; those that accept go to `accept`.
    fn parser_body(&mut self, block: &Rc<Block>, accept: NodeId) -> Lowered<()> {
        let Node::Declaration(Declaration { kind: DeclarationKind::Parser(parser), span, .. }) =
            self.checked.node(block.declaration)
        else {
            return Err(self.internal(Span::NONE, "a parser without a declaration"));
        };
        let Some(ParserBody { locals, states }) = &parser.body else {
            return Err(self.internal(*span, "a parser without a body"));
        };
        let Some(start) = states.iter().find(|state| state.name.as_str() == "start") else {
            return Err(self.internal(*span, "a parser without a start state"));
        };
        let mut known = States { blocks: HashMap::new(), pending: Vec::new(), accept };
        let scope = block.scope.clone();
        self.in_scope(scope, |lowering| {
            lowering.in_path(&block.name, |lowering| {
                lowering.initialise(locals);
                let first = lowering.state_block(start, &mut known);
                let current = lowering.current;
                lowering.graph.goto(current, first);
                while let Some((state, block)) = known.pending.pop() {
                    lowering.current = block;
                    lowering.state(state, &mut known);
                }
            });
        });
        Ok(())
    }

    fn state_block(&mut self, state: &'a State, known: &mut States<'a>) -> NodeId {
        if let Some(block) = known.blocks.get(&state.id) {
            return *block;
        }
        let Some(parser) = &self.parser else { return known.accept };
        let role = Role::State(parser.id);
        let name = Self::qualified(&self.path, &self.external_name(state.id));
        let block = self.graph.add(name, self.notes(state.span, &state.attributes), role);
        known.blocks.insert(state.id, block);
        known.pending.push((state, block));
        block
    }

    fn state(&mut self, state: &'a State, known: &mut States<'a>) {
        let repeated = std::mem::replace(&mut self.repeated, true);
        self.statements(&state.statements);
        let result = match &state.transition {
            None => {
                self.go_to_reject();
                Ok(())
            }
            Some(Transition::Direct(name)) => {
                let target = self.named_state(name, known);
                let current = self.current;
                self.graph.goto(current, target);
                Ok(())
            }
            Some(Transition::Select { subjects, cases, .. }) => {
                self.select(subjects, cases, &mut |lowering, name| lowering.named_state(name, known))
            }
        };
        self.report(result);
        self.repeated = repeated;
    }

    fn go_to_reject(&mut self) {
        let Some(reject) = self.parser.as_ref().map(|parser| parser.reject) else { return };
        let current = self.current;
        self.graph.goto(current, reject);
    }

    fn named_state(&mut self, name: &'a Name, known: &mut States<'a>) -> NodeId {
        if let Some(declared) = self.checked.named(name)
            && let Node::State { state, .. } = self.checked.node(declared)
        {
            return self.state_block(state, known);
        }
        match &self.parser {
            Some(parser) if name.as_str() == "reject" => parser.reject,
            _ => known.accept,
        }
    }

    /// A method of `packet_in` or `packet_out`.
    pub fn packet_call(
        &mut self,
        expression: &'a Expression,
        method: &str,
        call: &Call,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        match method {
            "extract" => self.extract(expression, call, arguments),
            "lookahead" => {
                let of_type = self.substituted(&call.result);
                let mut offset = 0;
                self.lookahead(&of_type, expression.span, &mut offset)
            }
            "advance" => {
                if let [bits] = arguments {
                    let bits = self.scalar(&bits.value)?;
                    self.emit(Statement::Advance(bits));
                }
                Ok(Value::Void)
            }
            "length" => Ok(Value::Scalar(Hlir::Intrinsic(hlir::Intrinsic::PacketLength))),
            "emit" => {
                for argument in arguments {
                    let value = self.expression(&argument.value)?;
                    if !self.emit_value(value) {
                        return Err(self.part_of_byte(expression.span));
                    }
                }
                Ok(Value::Void)
            }
            _ => Err(self.unsupported(expression.span, format!("the packet method `{method}` is"))),
        }
    }

    fn extract(&mut self, expression: &'a Expression, call: &Call, arguments: &'a [Argument]) -> Lowered<Value> {
        let Some(first) = call.bindings.first() else { return Ok(Value::Void) };
        let argument = self.checked.argument(first, arguments);
        let before = self.mark();
        let mut passed = self.pass(call, arguments)?.into_iter();
        let target = match passed.next() {
            Some(super::call::Passed::Target(Target::Discard)) | None => {
                let of_type = self.substituted(&first.of_type);
                let name = self.local_name("ignored");
                Target::Storage(self.allocate(&of_type, &name, &Notes::default()))
            }
            Some(super::call::Passed::Target(Target::Nowhere(_))) => {
                self.stack_out_of_bounds(Hlir::Bool(false));
                return Ok(Value::Void);
            }
            Some(super::call::Passed::Target(target)) => target,
            Some(_) => return Err(self.internal(expression.span, "this extraction")),
        };
        let varbit = match passed.next() {
            Some(super::call::Passed::Value(Value::Scalar(bits))) => Some(bits),
            _ => None,
        };
        self.verify_element(&target, before);
        let (mut failed, mut part_of_byte) = (false, false);
        self.each_choice(&target, &mut |lowering, chosen| match chosen {
            Target::Storage(Storage::Header { id, .. }) => {
                if !lowering.program.headers[*id].fixed_bits().is_multiple_of(8) {
                    part_of_byte = true;
                    return;
                }
                // With a length, but without a varbit field, a header is extracted as it is.
                let has_varbit = lowering.program.headers[*id].varbit().is_some();
                let varbit = match (&varbit, has_varbit) {
                    (Some(bits), true) => Some(bits.clone()),
                    (None, true) => Some(Hlir::constant(0u32, 32)),
                    (_, false) => None,
                };
                lowering.emit(Statement::Extract { header: *id, varbit });
                lowering.invalidate_siblings(*id);
            }
            _ => failed = true,
        });
        if failed {
            return Err(self.unsupported(expression.span, "the extraction of something that is no header is"));
        }
        if part_of_byte {
            return Err(self.part_of_byte(expression.span));
        }
        if let Some(argument) = argument {
            self.advance_stack(argument)?;
        }
        Ok(Value::Void)
    }

    /// Extracting to an element that the stack does not have is an error, as it is for `next` (P4_16 8.18), where that was checked since `before`.
    fn verify_element(&mut self, target: &Target, before: Mark) {
        let Target::Choice { candidates, index, index_width } = target else { return };
        if let Some(first) = candidates.first() {
            self.verify_element(first, before);
        }
        let every = *index_width < 32 && candidates.len() as u64 >= 1u64 << index_width;
        let count = Hlir::constant(candidates.len() as u32, *index_width);
        let within = arithmetic::binary(hlir::Binary::Less, index.clone(), count);
        if !every && !self.is_verified(&within, before) {
            self.stack_out_of_bounds(within);
        }
    }

    /// Extracting to `stack.next` moves the stack on.
    fn advance_stack(&mut self, argument: &'a Expression) -> Lowered<()> {
        let ExpressionKind::Member { base, .. } = &argument.kind else { return Ok(()) };
        if *self.checked.reference(argument) != Reference::Property(Property::Next) {
            // `stack.next.member`: of a stack of unions.
            return self.advance_stack(base);
        }
        let Some(place) = self.place_of(base)? else { return Ok(()) };
        let next = place.map(&|storage| match storage {
            Storage::Stack { next, .. } => Storage::Scalar { leaf: Leaf::Slot(*next), of_type: hlir::Type::Bits(32) },
            other => other.clone(),
        });
        if let Value::Scalar(before) = self.load_target(&next) {
            let one = Hlir::constant(1u32, 32);
            self.store(&next, Value::Scalar(arithmetic::binary(hlir::Binary::Add, before, one)));
        }
        Ok(())
    }

    /// Reads a value of a type from the bits behind the cursor, from `offset` on.
    fn lookahead(&mut self, of_type: &Type, span: Span, offset: &mut u32) -> Lowered<Value> {
        if let Some(scalar) = self.scalar_type(of_type) {
            let width = scalar.width();
            let name = format!("lookahead{}", self.line_of(span));
            let storage = self.scratch(&name, hlir::Type::Bits(width));
            if let Storage::Scalar { leaf: Leaf::Slot(slot), .. } = storage {
                let into = self.variable(slot);
                self.emit(Statement::Lookahead { into, offset: *offset });
            }
            *offset += width;
            let read = self.read(&storage);
            return Ok(Value::Scalar(if scalar == hlir::Type::Bool { arithmetic::to_bool(read) } else { read }));
        }
        let count = if let Type::Stack { size, .. } = of_type { *size as usize } else { 0 };
        let types = self.part_types(of_type, count);
        if types.is_empty() || matches!(of_type, Type::Union(_) | Type::Varbit { .. }) {
            return Err(self.unsupported(span, format!("a `lookahead` of {of_type} is")));
        }
        let mut parts = Vec::new();
        for part in &types {
            parts.push(self.lookahead(part, span, offset)?);
        }
        Ok(self.assembled(of_type, parts))
    }

    /// Emits all headers of a value; whether all of them are whole bytes.
    fn emit_value(&mut self, value: Value) -> bool {
        match value {
            Value::Header { id, .. } => {
                self.emit(Statement::Emit(id));
                self.program.headers[id].fixed_bits().is_multiple_of(8)
            }
            Value::Struct(parts) | Value::Union(parts) | Value::Stack { elements: parts, .. } => {
                parts.into_iter().all(|part| self.emit_value(part))
            }
            made @ Value::Made { .. } => {
                let saved = self.save(made, "emitted");
                self.emit_value(saved)
            }
            Value::Void
            | Value::Scalar(_)
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Varbit(_)
            | Value::Object(_)
            | Value::DontCare => true,
        }
    }
}
