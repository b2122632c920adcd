//! Loops: statements where nothing in them cuts the graph, else unrolled (`unroll.rs`).

use hlir::source::Span;
use hlir::{Binary, Expression as Hlir, Statement as Made, Type as HlirType};

use super::control::{Frame, FrameKind, Jump, LoopFrame};
use super::graph::common_exit;
use super::scope::Binding;
use super::storage::Storage;
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic, walk};
use crate::ast::walk::{expressions, statement_expressions};
use crate::ast::{Collection, DeclarationId, Expression, ExpressionKind, For, ForIn, Statement, StatementKind};
use crate::check::Reference;

impl<'a> Lowering<'a> {
    pub fn for_loop(&mut self, span: Span, parts: &'a For) -> Lowered<()> {
        let header = parts.update.iter().chain(&parts.initial);
        if self.cuts(&parts.body) || header.clone().any(|part| self.cuts(part)) || self.cuts_in(&parts.condition) {
            return self.unrolled_for(span, parts);
        }
        self.statements(&parts.initial);
        let mut failure = None;
        self.loop_statement("for", span, |lowering, label, next| {
            match lowering.scalar(&parts.condition) {
                Ok(condition) => lowering.leave_unless(condition, label),
                Err(diagnostic) => failure = Some(diagnostic),
            }
            lowering.scope(next, |lowering| lowering.statements(std::slice::from_ref(&parts.body)));
            lowering.statements(&parts.update);
        });
        failure.map_or(Ok(()), Err)
    }

    fn leave_unless(&mut self, condition: Hlir, label: &str) {
        let label = label.to_string();
        self.branch(condition, "", |_| {}, |lowering| lowering.emit(Made::Leave(label)));
    }

    /// A loop whose body `lower` makes, given the labels that `break` and `continue` leave.
    fn loop_statement(&mut self, hint: &str, span: Span, lower: impl FnOnce(&mut Self, &str, &str)) {
        let label = self.names.label(&format!("{hint}{}", self.line_of(span)));
        let next = self.names.label(&format!("next{}", self.line_of(span)));
        self.detour(span, &label, |lowering| {
            let frame = LoopFrame { on_break: Jump::Leave(label.clone()), on_continue: Jump::Leave(next.clone()) };
            lowering.enter_loop(frame);
            let repeated = std::mem::replace(&mut lowering.repeated, true);
            let (first, last) = lowering.region("", |lowering| lower(lowering, &label, &next));
            lowering.repeated = repeated;
            lowering.leave_loop();
            assert_eq!(first, last, "a loop that is cut is unrolled");
            let body = std::mem::take(&mut lowering.graph.block_mut(first).body);
            let exit = lowering.graph.block(first).exit;
            let current = lowering.current;
            if lowering.graph.is_open(current) {
                let block = lowering.graph.block_mut(current);
                block.body.push(Made::Loop { label: label.clone(), body });
                block.exit = common_exit(block.exit, exit);
            }
        });
    }

    /// Lowers a loop that is a statement. Where it is among blocks of the graph, a `return` in it sets a flag, leaves `label`, and goes on from there.
    fn detour(&mut self, span: Span, label: &str, lower: impl FnOnce(&mut Self)) {
        let in_graph = self.frames.last().is_some_and(|frame| matches!(frame.kind, FrameKind::Graph { .. }));
        if !in_graph {
            return lower(self);
        }
        let flag = self.scratch(&format!("returned{}", self.line_of(span)), HlirType::Bool);
        self.frames.push(Frame::new(FrameKind::Detour { label: label.to_string(), flag: flag.clone() }));
        lower(self);
        self.frames.pop();
        self.after_detour(&flag);
    }

    /// A `return` inside the loop goes on here.
    fn after_detour(&mut self, flag: &Storage) {
        let Storage::Scalar { leaf: super::storage::Leaf::Slot(slot), .. } = flag else { return };
        if self.slots.variable(*slot).is_some() {
            self.when(flag, |lowering| lowering.return_statement(None));
        }
    }

    pub fn enter_loop(&mut self, frame: LoopFrame) {
        if let Some(innermost) = self.frames.last_mut() {
            innermost.loops.push(frame);
        } else {
            let mut outermost = Frame::new(FrameKind::Boundary);
            outermost.loops.push(frame);
            self.frames.push(outermost);
        }
    }

    pub fn leave_loop(&mut self) {
        if let Some(innermost) = self.frames.last_mut() {
            innermost.loops.pop();
        }
    }

    pub fn for_in_loop(&mut self, span: Span, parts: &'a ForIn) -> Lowered<()> {
        let cut = self.cuts(&parts.body);
        let variable = &parts.variable;
        let of_type = self.substituted(self.checked.declared_type(variable.id));
        let name = self.local_name(variable.name.as_str());
        let notes = self.notes_of(variable.id);
        let storage = self.allocate(&of_type, &name, &notes);
        self.scope.bind(variable.id, Binding::Target(Target::Storage(storage.clone())));
        match &parts.collection {
            Collection::Range { low, high } => {
                let mut bounds = self.expressions([low, high])?.into_iter();
                let (low, high) = (bounds.next(), bounds.next());
                let (Some(Value::Scalar(low)), Some(Value::Scalar(high))) = (low, high) else {
                    return Err(self.internal(span, "a range of this"));
                };
                let (width, signed) = self.number_type(&of_type);
                // The body runs once for each value, whatever it does to the variable: then something else counts.
                let written = self.may_write(&parts.body, variable.id);
                if cut {
                    let stored = written.then_some(&storage);
                    if let (Some((low, _)), Some((high, _))) =
                        (arithmetic::constant_of(&low), arithmetic::constant_of(&high))
                    {
                        let number = |bits| arithmetic::number_of(bits, width, signed);
                        return self.unrolled_range(span, parts, stored, (number(low), number(high)), width);
                    }
                    return self.unrolled_run_time_range(span, parts, &storage, (low, high), (width, signed));
                }
                let counter =
                    if written { self.allocate(&of_type, &format!("{name}.at"), &notes) } else { storage.clone() };
                self.range_loop(span, parts, (&storage, &counter), (low, high), (width, signed));
                Ok(())
            }
            Collection::Expression(collection) => {
                let value = self.expression(collection)?;
                let value = if is_known(&value) { value } else { self.save(value, "collection") };
                let (Value::Struct(elements) | Value::Stack { elements, .. }) = value else {
                    return Err(self.internal(span, "a loop over this"));
                };
                self.element_loop(span, parts, &storage, elements, cut)
            }
        }
    }

    fn range_loop(
        &mut self,
        span: Span,
        parts: &'a ForIn,
        (variable, counter): (&Storage, &Storage),
        (low, high): (Hlir, Hlir),
        (width, signed): (u32, bool),
    ) {
        let Value::Scalar(high) = self.save_unless_constant(high) else { return };
        let not_empty = arithmetic::binary(
            if signed { Binary::LessEqualSigned } else { Binary::LessEqual },
            low.clone(),
            high.clone(),
        );
        self.assign(counter, Value::Scalar(low));
        self.branch(
            not_empty,
            &self.line_of(span),
            |lowering| {
                lowering.loop_statement("for", span, |lowering, label, next| {
                    if variable != counter {
                        let at = lowering.read(counter);
                        lowering.assign(variable, Value::Scalar(at));
                    }
                    lowering.scope(next, |lowering| lowering.statements(std::slice::from_ref(&parts.body)));
                    let at = lowering.read(counter);
                    lowering.leave_unless(arithmetic::binary(Binary::NotEqual, at.clone(), high), label);
                    let one = Hlir::constant(1u32, width);
                    lowering.assign(counter, Value::Scalar(arithmetic::binary(Binary::Add, at, one)));
                });
            },
            |_| {},
        );
    }

    /// Whether a statement assigns to a variable, or gives it to something that might.
    pub fn may_write(&self, body: &'a Statement, variable: DeclarationId) -> bool {
        let is_it = |value: &Expression| self.is_variable(value, variable);
        let assigns = |kind: &StatementKind| matches!(kind, StatementKind::Assign { target, .. } if is_it(target));
        let mut given = false;
        statement_expressions(body, &mut |expression| {
            if let ExpressionKind::Call { arguments, .. } = &expression.kind {
                given |= arguments.iter().any(|argument| is_it(&argument.value));
            }
        });
        given || walk::contains(body, &assigns)
    }

    /// Whether a call in an expression is given a variable, and might change it.
    pub fn may_change(&self, expression: &'a Expression, variable: DeclarationId) -> bool {
        let mut given = false;
        expressions(expression, &mut |part| {
            if let ExpressionKind::Call { arguments, .. } = &part.kind {
                given |= arguments.iter().any(|argument| self.is_variable(&argument.value, variable));
            }
        });
        given
    }

    /// Whether an expression is a variable, or a slice of it.
    fn is_variable(&self, expression: &Expression, variable: DeclarationId) -> bool {
        let mut root = expression;
        while let ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } = &root.kind {
            root = base;
        }
        *self.checked.reference(root) == Reference::Declaration(variable)
    }

    fn save_unless_constant(&mut self, value: Hlir) -> Value {
        match value {
            Hlir::Constant { .. } => Value::Scalar(value),
            value => self.save(Value::Scalar(value), "end"),
        }
    }

    fn element_loop(
        &mut self,
        span: Span,
        parts: &'a ForIn,
        variable: &Storage,
        elements: Vec<Value>,
        cut: bool,
    ) -> Lowered<()> {
        if cut {
            return self.unrolled_elements(span, parts, variable, elements);
        }
        let label = self.names.label(&format!("for{}", self.line_of(span)));
        let next = self.names.label(&format!("next{}", self.line_of(span)));
        self.detour(span, &label, |lowering| {
            let (on_break, on_continue) = (Jump::Leave(label.clone()), Jump::Leave(next.clone()));
            lowering.enter_loop(LoopFrame { on_break, on_continue });
            let repeated = std::mem::replace(&mut lowering.repeated, true);
            lowering.scope(&label, |lowering| {
                for element in elements {
                    lowering.assign(variable, element);
                    lowering.scope(&next, |lowering| lowering.statements(std::slice::from_ref(&parts.body)));
                }
            });
            lowering.repeated = repeated;
            lowering.leave_loop();
        });
        Ok(())
    }
}

/// Whether a value reads nothing.
pub fn is_known(value: &Value) -> bool {
    super::effects::Reads::of(value).is_empty() && value.is_atom() && {
        let mut known = true;
        value.each_expression(&mut |part| known &= matches!(part, Hlir::Constant { .. } | Hlir::Bool(_)));
        known
    }
}
