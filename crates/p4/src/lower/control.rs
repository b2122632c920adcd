//! Controls, and how control flow leaves what is inlined: `return`, `exit`, and the copies that both owe.

use std::rc::Rc;

use hlir::source::Span;
use hlir::{NodeId, Notes, Statement};

use super::call::{Body, Passing, Room};
use super::graph::{Role, common_exit};
use super::objects::{Block, Object, ObjectId};
use super::scope::Binding;
use super::storage::Storage;
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{Argument, Declaration, DeclarationId, DeclarationKind, Expression};
use crate::check::Call;

/// Something being inlined.
#[derive(Debug)]
pub struct Frame {
    pub kind: FrameKind,
    pub copies_out: Vec<(Target, Storage)>,
    pub result: Option<Storage>,
    pub loops: Vec<LoopFrame>,
}

#[derive(Debug)]
pub enum FrameKind {
    /// Statements of one node: `return` leaves the scope of this label.
    Inline { label: String },
    /// Blocks of the graph: `return` goes to `back`, `exit` to a block that does the copies of this frame and those around it.
    Graph { back: NodeId, exit: Option<NodeId> },
    /// A loop inside blocks of the graph: `return` sets the flag and leaves the loop.
    Detour { label: String, flag: Storage },
    /// The body of a table's action, or of a node that `exit` ends.
    Boundary,
}

#[derive(Clone, Debug)]
pub struct LoopFrame {
    pub on_break: Jump,
    pub on_continue: Jump,
}

#[derive(Clone, Debug)]
pub enum Jump {
    Leave(String),
    Goto(NodeId),
}

impl Frame {
    pub fn new(kind: FrameKind) -> Frame {
        Frame { kind, copies_out: Vec::new(), result: None, loops: Vec::new() }
    }
}

impl<'a> Lowering<'a> {
    /// Continues at the target of a jump.
    pub fn jump(&mut self, jump: &Jump) {
        match jump {
            Jump::Leave(label) => self.emit(Statement::Leave(label.clone())),
            Jump::Goto(to) => {
                if self.graph.is_open(self.current) {
                    self.graph.goto(self.current, *to);
                }
            }
        }
    }

    pub fn return_statement(&mut self, value: Option<Value>) {
        let Some(frame) = self.frames.last() else { return };
        if let (Some(result), Some(value)) = (frame.result.clone(), value) {
            self.assign(&result, value);
        }
        let Some(frame) = self.frames.last() else { return };
        let (jump, flag) = match &frame.kind {
            FrameKind::Inline { label } => (Jump::Leave(label.clone()), None),
            FrameKind::Graph { back, .. } => (Jump::Goto(*back), None),
            FrameKind::Detour { label, flag } => (Jump::Leave(label.clone()), Some(flag.clone())),
            FrameKind::Boundary => return,
        };
        if let Some(flag) = flag {
            self.assign(&flag, Value::boolean(true));
        }
        self.jump(&jump);
    }

    /// `exit`: the copies of everything inlined here, then the end of the node; copies owed further out are done where its edge leads.
    pub fn exit_statement(&mut self) {
        for at in (0..self.frames.len()).rev() {
            match &self.frames[at].kind {
                FrameKind::Inline { .. } => {
                    let copies = self.frames[at].copies_out.clone();
                    self.copy_out(&copies);
                }
                FrameKind::Graph { .. } => {
                    let target = self.exit_target(at);
                    self.emit(Statement::Exit);
                    let block = self.graph.block_mut(self.current);
                    block.exit = common_exit(block.exit, Some(target));
                    return;
                }
                FrameKind::Detour { .. } => {}
                FrameKind::Boundary => break,
            }
        }
        self.emit(Statement::Exit);
    }

    /// Where `exit` leads from blocks of the innermost control that has them.
    pub fn exit_edge(&mut self) -> Option<NodeId> {
        let at = self.frames.iter().rposition(|frame| matches!(frame.kind, FrameKind::Graph { .. }))?;
        Some(self.exit_target(at))
    }

    fn exit_target(&mut self, at: usize) -> NodeId {
        let FrameKind::Graph { back, exit } = &self.frames[at].kind else {
            return self.current;
        };
        if let Some(exit) = exit {
            return *exit;
        }
        if at == 0 {
            return *back;
        }
        let outer = self.exit_target(at - 1);
        let copies = self.frames[at].copies_out.clone();
        let target = if copies.is_empty() {
            outer
        } else {
            let block = self.add_block("exit");
            let before = std::mem::replace(&mut self.current, block);
            self.copy_out(&copies);
            self.graph.goto(self.current, outer);
            self.current = before;
            block
        };
        if let FrameKind::Graph { exit, .. } = &mut self.frames[at].kind {
            *exit = Some(target);
        }
        target
    }

    /// `instance.apply(...)`
    pub fn apply_object(
        &mut self,
        object: ObjectId,
        expression: &'a Expression,
        call: &Call,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let span = expression.span;
        let Object::Block(block) = self.object(object) else {
            return Err(self.internal(span, "the application of this"));
        };
        let passed = self.pass(call, arguments)?;
        let call = self.specialised(call);
        let applied = (block.declaration, block.name.clone());
        let own = self.own_parameters.get(&applied).cloned().unwrap_or_default();
        let passing =
            self.bind(&call, passed, &Room { own, object: Some(object), ..Room::called(&block.name, Body::Unknown) });
        let declared = self.checked.node(block.declaration).declaration();
        let is_parser = matches!(declared.map(|found| &found.kind), Some(DeclarationKind::Parser(_)));
        // A constructor parameter is of a control type: its parameters are those of the type, in the same order.
        let parameters = self.checked.parameters(block.declaration);
        let bindings: Vec<Binding> = passing.bindings.into_iter().map(|(_, binding)| binding).collect();
        let copies_out = passing.copies_out;
        let times = *self.objects.applied.entry(object).and_modify(|times| *times += 1).or_insert(1);
        if self.control_cuts(block.declaration) {
            self.note_differences(object, applied, &bindings);
        }
        for (parameter, binding) in parameters.iter().zip(&bindings) {
            block.scope.bind(parameter.id, binding.clone());
        }
        self.nested(span, |lowering| {
            if is_parser {
                lowering.apply_parser(&block, copies_out, span)
            } else {
                lowering.inline_control(&block, copies_out, times > 1)
            }
        })?;
        Ok(Value::Void)
    }

    /// Tables are lowered once, for all applications of the control that they are in: where a parameter is bound to something else than at the
    /// first application, it needs storage of its own, and the program is lowered again.
    fn note_differences(&mut self, object: ObjectId, applied: (DeclarationId, String), bindings: &[Binding]) {
        let first = self.objects.bound.entry(object).or_insert_with(|| bindings.to_vec());
        let differing = first.iter().zip(bindings).enumerate().filter(|(_, (first, here))| first != here);
        let differing: Vec<usize> = differing.map(|(at, _)| at).collect();
        if !differing.is_empty() {
            self.differing_parameters.entry(applied).or_default().extend(differing);
        }
    }

    /// A call with the types that it has here.
    pub fn specialised(&self, call: &Call) -> Call {
        let mut call = call.clone();
        for binding in &mut call.bindings {
            binding.of_type = self.substituted(&binding.of_type);
        }
        call
    }

    fn inline_control(&mut self, block: &Rc<Block>, copies: Vec<(Target, Storage)>, again: bool) -> Lowered<()> {
        let Some(Declaration { kind: DeclarationKind::Control(control), name, .. }) =
            self.checked.node(block.declaration).declaration()
        else {
            return Err(self.internal(Span::NONE, "the application of something that is no control"));
        };
        let Some(body) = &control.apply else {
            return Err(self.internal(name.span, "the application of a control without a body"));
        };
        let (scope, path) = (block.scope.clone(), block.name.clone());
        let repeated = self.repeated;
        self.repeated |= again;
        let result = if self.control_cuts(block.declaration) {
            let back = self.add_block("after");
            let kind = FrameKind::Graph { back, exit: None };
            // An `exit` before this one owes other copies, and a block has one edge for all that are in it.
            if self.graph.block(self.current).exit.is_some() && self.graph.is_open(self.current) {
                let inside = self.add_block("apply");
                self.graph.goto(self.current, inside);
                self.current = inside;
            }
            self.frames.push(Frame { kind, copies_out: copies.clone(), result: None, loops: Vec::new() });
            self.in_scope(scope, |lowering| {
                lowering.in_control(&path, |lowering| {
                    lowering.initialise(&control.locals);
                    lowering.statements(&body.statements);
                });
            });
            self.frames.pop();
            if self.graph.is_open(self.current) {
                self.graph.goto(self.current, back);
            }
            self.current = back;
            self.copy_out(&copies);
            Ok(())
        } else {
            self.in_scope(scope.clone(), |lowering| {
                lowering.in_path(&path, |lowering| lowering.initialise(&control.locals));
            });
            let passing = Passing { bindings: Vec::new(), copies_out: copies };
            let outer = std::mem::take(&mut self.path);
            let around = std::mem::replace(&mut self.prefix, path.clone());
            let result = self.inline(&path, scope, passing, body, &crate::types::Type::Void);
            self.path = outer;
            self.prefix = around;
            result.map(|_| ())
        };
        self.repeated = repeated;
        result
    }

    /// Gives the local variables of a parser or control their values: they have them each time it is applied. Checksums begin anew, too.
    pub fn initialise(&mut self, locals: &'a [Declaration]) {
        for declaration in locals {
            if let (true, Some(Binding::Value(Value::Object(object)))) =
                (self.repeated, self.scope.lookup(declaration.id))
                && let Object::Extern(instance) = self.object(object)
            {
                self.clear_checksum(&instance);
            }
            let DeclarationKind::Variable(variable) = &declaration.kind else { continue };
            let Some(Binding::Target(Target::Storage(storage))) = self.scope.lookup(declaration.id) else { continue };
            match &variable.value {
                Some(value) => {
                    let value = self.expression(value);
                    if let Some(value) = self.report(value) {
                        self.assign(&storage, value);
                    }
                }
                None if self.repeated => self.clear(&storage),
                None => {}
            }
        }
    }

    /// Lowers a control that the architecture runs; it begins in a new block and ends in `next`.
    pub fn top_control(
        &mut self,
        object: ObjectId,
        bindings: Vec<Binding>,
        next: NodeId,
        role: Role,
    ) -> Lowered<NodeId> {
        let Object::Block(block) = self.object(object) else {
            return Err(self.internal(Span::NONE, "a package argument that is no control"));
        };
        let Some(Declaration { kind: DeclarationKind::Control(control), span, .. }) =
            self.checked.node(block.declaration).declaration()
        else {
            return Err(self.internal(Span::NONE, "a package argument that is no control"));
        };
        let Some(body) = &control.apply else { return Err(self.internal(*span, "a control without a body")) };
        for (parameter, binding) in control.parameters.iter().zip(bindings) {
            block.scope.bind(parameter.id, binding);
        }
        let cut = self.control_cuts(block.declaration);
        if cut && role == Role::Deparse {
            return Err(self.table_in_deparser(block.declaration, *span));
        }
        let entry_name = if role == Role::Deparse { block.name.clone() } else { format!("{}.start", block.name) };
        let entry = self.graph.add(entry_name, self.notes_of(block.declaration), role);
        let before = std::mem::replace(&mut self.current, entry);
        let kind = match role {
            Role::Deparse => FrameKind::Boundary,
            Role::Plain | Role::State(_) => FrameKind::Graph { back: next, exit: Some(next) },
        };
        self.frames.push(Frame::new(kind));
        let label = self.names.label(&block.name);
        self.in_scope(block.scope.clone(), |lowering| {
            lowering.in_control(&block.name, |lowering| {
                lowering.initialise(&control.locals);
                if cut {
                    lowering.statements(&body.statements);
                } else {
                    lowering.frames.push(Frame::new(FrameKind::Inline { label: label.clone() }));
                    lowering.scope(&label, |lowering| lowering.statements(&body.statements));
                    lowering.frames.pop();
                }
            });
        });
        self.frames.pop();
        let last = std::mem::replace(&mut self.current, before);
        self.graph.block_mut(last).closed = false;
        self.graph.goto(last, next);
        Ok(entry)
    }

    /// Lowers `then` or `otherwise` by a flag of the compiler's own.
    pub fn when(&mut self, flag: &Storage, then: impl FnOnce(&mut Self)) {
        let condition = self.read(flag);
        if arithmetic::boolean_of(&condition) != Some(false) {
            self.branch(condition, "", then, |_| {});
        }
    }

    pub fn plain_block(&mut self, name: &str) -> NodeId {
        self.graph.add(name, Notes::default(), Role::Plain)
    }
}
