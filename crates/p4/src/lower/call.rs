//! Calls: arguments are evaluated from left to right, copied in, and copied back afterwards, unless passing the thing itself cannot be distinguished
//! from copying it. Functions, actions and methods with a body are inlined.

use std::collections::BTreeSet;
use std::rc::Rc;

use hlir::Notes;
use hlir::source::Span;

use super::aliasing::Extent;
use super::control::{Frame, FrameKind};
use super::effects::{Mark, Touch};
use super::objects::{Object, ObjectId};
use super::reads_back::{has_loose_fields, reads_back};
use super::scope::{Binding, Scope};
use super::storage::Storage;
use super::value::{Target, Value};
use super::{Lowered, Lowering, walk};
use crate::ast::walk::block_expressions;
use crate::ast::{
    Argument, Block, Declaration, DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind, StatementKind,
};
use crate::check::{Call, Callee, Source};
use crate::types::Type;

/// An argument, evaluated.
#[derive(Clone, Debug)]
pub enum Passed {
    Value(Value),
    Target(Target),
    /// Nothing was given.
    Nothing,
}

impl Passed {
    fn storages(&self) -> Vec<Storage> {
        if let Passed::Target(target) = self { target.storages() } else { Vec::new() }
    }
}

/// What parameters are bound to, and what is copied back when the call ends, in this order.
#[derive(Debug, Default)]
pub struct Passing {
    pub bindings: Vec<(DeclarationId, Binding)>,
    pub copies_out: Vec<(Target, Storage)>,
}

/// What a callee does with its parameters.
#[derive(Debug, Default)]
pub enum Body<'r> {
    /// Of a function or an action.
    Known(&'r Block),
    /// C has copies of its own.
    Foreign,
    #[default]
    Unknown,
}

/// What is called, as far as passing arguments to it depends on that.
#[derive(Debug, Default)]
pub struct Room<'r> {
    pub name: &'r str,
    pub body: Body<'r>,
    /// What the callee reaches by other names than its parameters.
    pub reached: &'r [Storage],
    /// Parameters, by number, that have storage of their own, the same at each application of `object`.
    pub own: BTreeSet<usize>,
    pub object: Option<ObjectId>,
}

impl<'r> Room<'r> {
    pub fn called(name: &'r str, body: Body<'r>) -> Room<'r> {
        Room { name, body, ..Room::default() }
    }
}

impl<'a> Lowering<'a> {
    pub fn call_expression(&mut self, expression: &'a Expression) -> Lowered<Value> {
        let ExpressionKind::Call { callee, arguments, .. } = &expression.kind else {
            return Err(self.internal(expression.span, "a call"));
        };
        let Some(call) = self.checked.call(expression).cloned() else {
            return Err(self.internal(expression.span, "a call that was not resolved"));
        };
        let span = expression.span;
        match &call.callee {
            Callee::Function(function) => match self.checked.node(*function).declaration() {
                Some(Declaration { kind: DeclarationKind::Function(found), name, .. }) => match &found.body {
                    Some(body) => self.function_call(&call, arguments, name.as_str(), body),
                    None => self.extern_function(expression, &call, arguments, name.as_str()),
                },
                _ => Err(self.internal(span, "a call of no function")),
            },
            Callee::Action(action) => {
                self.action_call(*action, &call, arguments)?;
                Ok(Value::Void)
            }
            Callee::Method { .. } => self.method_call(expression, &call, callee, arguments),
            Callee::Constructor { .. } => {
                let name = self.instance_name.clone();
                self.construct(&call, arguments, &name, span, None)
            }
            Callee::ApplyTable(table) => {
                if !self.apply_fixed(expression, *table)? {
                    self.apply_table_plainly(expression)?;
                }
                Ok(Value::Void)
            }
            Callee::Apply { .. } => {
                let object = self.receiver_object(expression)?;
                self.apply_object(object, expression, &call, arguments)
            }
            Callee::ApplyDirect { object } => {
                let object = self.direct_instance(expression, object)?;
                self.apply_object(object, expression, &call, arguments)
            }
            Callee::Builtin(builtin) => self.builtin_call(expression, *builtin, callee, arguments),
        }
    }

    /// The object that a method or `apply` is called on.
    pub fn receiver_object(&mut self, call: &'a Expression) -> Lowered<ObjectId> {
        let Some(base) = walk::receiver(call) else { return Err(self.internal(call.span, "a call without receiver")) };
        match self.expression(base)? {
            Value::Object(object) => Ok(object),
            _ => Err(self.internal(base.span, "a call on something that is no instance")),
        }
    }

    /// `T.apply(...)` has an instance of its own.
    fn direct_instance(&mut self, expression: &'a Expression, object: &Type) -> Lowered<ObjectId> {
        let key = (expression.id, self.path.clone());
        if let Some(known) = self.direct.get(&key) {
            return Ok(*known);
        }
        let object = self.substituted(object);
        let (Type::Parser(nominal) | Type::Control(nominal)) = &object else {
            return Err(self.internal(expression.span, "a direct application of this"));
        };
        // The instance has the type's own name: `@name` of a type names no instance.
        let name = Self::qualified(&self.path.clone(), self.checked.node(nominal.declaration).name().as_str());
        let block = self.construct_block(nominal, Vec::new(), &name)?;
        let id = self.objects.add(Object::Block(Rc::new(block)));
        self.direct.insert(key, id);
        Ok(id)
    }

    /// Evaluates arguments in the order written; the result is in the order of the parameters.
    pub fn pass(&mut self, call: &Call, arguments: &'a [Argument]) -> Lowered<Vec<Passed>> {
        let mut passed: Vec<(Passed, Option<Mark>)> = call.bindings.iter().map(|_| (Passed::Nothing, None)).collect();
        let mut order = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let Some(index) = call.bindings.iter().position(
                |binding| matches!(binding.source, Source::Argument(given) | Source::DontCare(given) if given == at),
            ) else {
                continue;
            };
            let value = match call.bindings[index].direction {
                Direction::In | Direction::None => Passed::Value(self.expression(&argument.value)?),
                Direction::Out | Direction::InOut => Passed::Target(self.target(&argument.value)?),
            };
            passed[index] = (value, Some(self.mark()));
            order.push(index);
        }
        for index in order.into_iter().rev() {
            let (value, Some(mark)) = &mut passed[index] else { continue };
            match value {
                Passed::Value(value) => self.settle(value, *mark),
                Passed::Target(target) => {
                    // What is saved later at a mark precedes what is there: no value may be made of an index that is saved behind it.
                    if call.bindings[index].direction == Direction::InOut {
                        self.settle_input(target, *mark);
                    }
                    self.settle_target(target, *mark);
                }
                Passed::Nothing => {}
            }
        }
        for (binding, (value, _)) in call.bindings.iter().zip(&mut passed) {
            if binding.source == Source::Default
                && let Some(default) = self.checked.parameter(binding.parameter).and_then(|p| p.default.as_ref())
            {
                *value = Passed::Value(self.expression(default)?);
            }
        }
        Ok(passed.into_iter().map(|(value, _)| value).collect())
    }

    /// Copies arguments in, from left to right, and returns what is copied back, in the same order (P4_16 6.8). A parameter is the argument itself
    /// where that cannot be distinguished from a copy.
    pub fn bind(&mut self, call: &Call, passed: Vec<Passed>, room: &Room) -> Passing {
        let storages: Vec<Vec<Storage>> = passed.iter().map(Passed::storages).collect();
        let extents: Vec<Extent> = storages.iter().map(|storages| self.extent(storages)).collect();
        let reached = self.extent(room.reached);
        let mut touched: Vec<Touch> = Vec::new();
        storages.iter().flatten().chain(room.reached).for_each(|storage| self.touches_of(storage, &mut touched));
        let is_aliased = |at: usize| {
            let others = extents.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, extent)| extent);
            others.chain([&reached]).any(|other| extents[at].overlaps(other))
        };
        let mut bound: Vec<Option<Binding>> = passed.iter().map(|_| None).collect();
        let mut copies_out = Vec::new();
        let (mut fresh, mut members) = (Vec::new(), Vec::new());
        let mut passed: Vec<Option<Passed>> = passed.into_iter().map(Some).collect();
        for at in argument_order(call) {
            let binding = &call.bindings[at];
            let own = room.own.contains(&at);
            bound[at] = Some(match passed[at].take().unwrap_or(Passed::Nothing) {
                Passed::Value(value @ Value::Object(_)) => Binding::Value(value),
                Passed::Value(value) if own => {
                    let storage = self.parameter_storage(call, at, room);
                    self.assign(&storage, value);
                    Binding::Target(Target::Storage(storage))
                }
                Passed::Value(value) => Binding::Value(self.frozen(value, at, call, &touched)),
                Passed::Target(Target::Storage(storage))
                    if !own && !is_aliased(at) && !self.may_lose_writes(&storage, binding, room) =>
                {
                    members.push(storage.clone());
                    if binding.direction == Direction::Out {
                        fresh.push(storage.clone());
                    }
                    Binding::Target(Target::Storage(storage))
                }
                Passed::Target(mut target) => {
                    self.save_indices(&mut target, &touched);
                    let storage = self.parameter_storage(call, at, room);
                    if binding.direction == Direction::InOut {
                        let value = self.load_target(&target);
                        self.assign(&storage, value);
                    } else if own || self.repeated {
                        fresh.push(storage.clone());
                    }
                    copies_out.push((target, storage.clone()));
                    Binding::Target(Target::Storage(storage))
                }
                Passed::Nothing => {
                    let storage = self.parameter_storage(call, at, room);
                    if own || self.repeated {
                        fresh.push(storage.clone());
                    }
                    Binding::Target(Target::Storage(storage))
                }
            });
        }
        // Only now, since arguments may read what an `out` parameter is to be.
        fresh.iter().for_each(|storage| self.clear(storage));
        members.iter().for_each(|storage| self.invalidate_others(storage));
        let ids = call.bindings.iter().map(|binding| binding.parameter);
        let bindings = ids.zip(bound).filter_map(|(id, binding)| Some((id, binding?))).collect();
        Passing { bindings, copies_out }
    }

    /// Whether the callee would read other values than it has written, were its parameter the argument itself.
    fn may_lose_writes(&self, storage: &Storage, binding: &crate::check::Binding, room: &Room) -> bool {
        let reads_back = match room.body {
            Body::Known(body) => reads_back(self.checked, body, binding.parameter),
            Body::Foreign => false,
            Body::Unknown => true,
        };
        reads_back && has_loose_fields(storage)
    }

    /// A member of a union is assigned to when the call ends, so that no other one is valid then, whatever the callee does (P4_16 8.20). The callee
    /// does not see the others.
    fn invalidate_others(&mut self, storage: &Storage) {
        let headers = storage.headers();
        for header in &headers {
            for other in self.slots.siblings(*header).to_vec() {
                if !headers.contains(&other) {
                    self.emit(hlir::Statement::SetInvalid(other));
                }
            }
        }
    }

    /// A value that stays what it is while the callee runs, and is cheap to use many times.
    fn frozen(&mut self, value: Value, at: usize, call: &Call, touched: &[Touch]) -> Value {
        if self.is_touched(&value, touched) || !value.is_atom() {
            let parameter = self.checked.node(call.bindings[at].parameter).name().to_string();
            return self.save(value, &parameter);
        }
        value
    }

    /// Storage of a parameter's own.
    fn parameter_storage(&mut self, call: &Call, at: usize, room: &Room) -> Storage {
        let key = room.object.filter(|_| room.own.contains(&at)).map(|object| (object, at));
        if let Some(known) = key.and_then(|key| self.objects.parameters.get(&key)) {
            return known.clone();
        }
        let binding = &call.bindings[at];
        let name = format!("{}.{}", room.name, self.checked.node(binding.parameter).name());
        let of_type = self.substituted(&binding.of_type);
        let storage = self.allocate(&of_type, &name, &Notes::default());
        if let Some(key) = key {
            self.objects.parameters.insert(key, storage.clone());
        }
        storage
    }

    /// Writes back what a call has copied in.
    pub fn copy_out(&mut self, copies: &[(Target, Storage)]) {
        for (target, storage) in copies {
            let value = self.load(storage);
            self.store(target, value);
        }
    }

    fn function_call(&mut self, call: &Call, arguments: &'a [Argument], name: &str, body: &'a Block) -> Lowered<Value> {
        let passed = self.pass(call, arguments)?;
        let types = call.type_arguments.map(|of_type| self.substituted(of_type));
        let local = self.local_name(name);
        let passing = self.bind(call, passed, &Room::called(&local, Body::Known(body)));
        let scope = Scope::inside(&self.globals, types);
        let result = self.substituted(&call.result);
        self.inline(name, scope, passing, body, &result)
    }

    /// A direct call of an action: `in` what the caller gives, nothing from a table.
    pub fn action_call(&mut self, action: DeclarationId, call: &Call, arguments: &'a [Argument]) -> Lowered<()> {
        let passed = self.pass(call, arguments)?;
        self.note_called_action(action);
        self.run_action(action, call, passed)
    }

    pub fn run_action(&mut self, action: DeclarationId, call: &Call, passed: Vec<Passed>) -> Lowered<()> {
        let Some(Declaration { kind: DeclarationKind::Action { body, .. }, name, .. }) =
            self.checked.node(action).declaration()
        else {
            return Err(self.internal(Span::NONE, "an action that is none"));
        };
        let reached = if call.bindings.is_empty() { Vec::new() } else { self.reached(body) };
        let local = self.local_name(name.as_str());
        let passing = self.bind(call, passed, &Room { reached: &reached, ..Room::called(&local, Body::Known(body)) });
        let scope = Scope::inside(&self.scope, Default::default());
        self.inline(name.as_str(), scope, passing, body, &Type::Void)?;
        Ok(())
    }

    /// What the body of an action reaches of the control around it.
    fn reached(&mut self, body: &'a Block) -> Vec<Storage> {
        let mut roots: Vec<&'a Expression> = Vec::new();
        let mut pending = vec![body];
        let mut seen = Vec::new();
        while let Some(block) = pending.pop() {
            block_expressions(block, &mut |expression| {
                roots.push(expression);
                let Some(Callee::Action(called)) = self.checked.call(expression).map(|call| &call.callee) else {
                    return;
                };
                if seen.contains(called) {
                    return;
                }
                seen.push(*called);
                if let Some(Declaration { kind: DeclarationKind::Action { body, .. }, .. }) =
                    self.checked.node(*called).declaration()
                {
                    pending.push(body);
                }
            });
        }
        let mut inner: Vec<Span> = Vec::new();
        let mut reached = Vec::new();
        for expression in roots {
            // Only the whole of a path counts: of `hdr.ipv4.ttl`, not also `hdr`.
            if inner.contains(&expression.span) {
                continue;
            }
            if let ExpressionKind::Member { base, .. } = &expression.kind
                && matches!(base.kind, ExpressionKind::Member { .. } | ExpressionKind::Path(_))
            {
                match self.static_place(expression) {
                    Some(storage) => {
                        let mut part = &**base;
                        inner.push(part.span);
                        while let ExpressionKind::Member { base, .. } = &part.kind {
                            part = base;
                            inner.push(part.span);
                        }
                        reached.push(storage);
                    }
                    None => continue,
                }
            } else if let Some(storage) = self.static_place(expression) {
                reached.push(storage);
            }
        }
        reached
    }

    /// The storage that a path of names denotes, without evaluating anything.
    fn static_place(&self, expression: &Expression) -> Option<Storage> {
        use crate::check::Reference;
        match &expression.kind {
            ExpressionKind::Path(_) => {
                let Reference::Declaration(id) = self.checked.reference(expression) else { return None };
                match self.scope.lookup(*id)? {
                    Binding::Target(Target::Storage(storage)) => Some(storage),
                    Binding::Target(_) | Binding::Value(_) => None,
                }
            }
            ExpressionKind::Member { base, .. } => {
                let Reference::Field(field) = self.checked.reference(expression) else { return None };
                Some(self.static_place(base)?.member(self.field_index(*field)))
            }
            _ => None,
        }
    }

    /// Lowers a body where it is called.
    pub fn inline(
        &mut self,
        name: &str,
        scope: Rc<Scope>,
        passing: Passing,
        body: &'a Block,
        result_type: &Type,
    ) -> Lowered<Value> {
        for (parameter, binding) in passing.bindings {
            scope.bind(parameter, binding);
        }
        let path = self.local_name(name);
        let label = self.names.label(name);
        let direct = only_return(body);
        let result = match (direct, result_type) {
            (Some(_), _) | (_, Type::Void) => None,
            _ => Some(self.allocate(result_type, &format!("{path}.result"), &Notes::default())),
        };
        let frame = Frame {
            kind: FrameKind::Inline { label: label.clone() },
            copies_out: passing.copies_out.clone(),
            result: result.clone(),
            loops: Vec::new(),
        };
        self.frames.push(frame);
        let mut value = Ok(Value::Void);
        let lowered = self.nested(body.span, |lowering| {
            lowering.in_scope(scope, |lowering| {
                lowering.in_path(&path, |lowering| {
                    lowering.scope(&label, |lowering| match direct {
                        Some(returned) => {
                            lowering.statements(&body.statements[..body.statements.len() - 1]);
                            value = lowering.expression(returned);
                        }
                        None => lowering.statements(&body.statements),
                    });
                });
            });
            Ok(())
        });
        self.frames.pop();
        lowered?;
        let mut value = match (value?, result) {
            (_, Some(result)) => self.load(&result),
            (value, None) => value,
        };
        let mark = self.mark();
        self.copy_out(&passing.copies_out);
        self.settle(&mut value, mark);
        Ok(value)
    }
}

/// The value of a body whose only `return` is its last statement.
fn only_return(body: &Block) -> Option<&Expression> {
    let (last, before) = body.statements.split_last()?;
    let StatementKind::Return(Some(value)) = &last.kind else { return None };
    let earlier = before.iter().any(|statement| walk::contains(statement, &walk::is_return));
    if earlier { None } else { Some(value) }
}

/// Parameters by number, those with arguments first, in the order in which these are written.
pub fn argument_order(call: &Call) -> Vec<usize> {
    let mut order: Vec<usize> = (0..call.bindings.len()).collect();
    order.sort_by_key(|at| match call.bindings[*at].source {
        Source::Argument(given) | Source::DontCare(given) => given,
        Source::Default | Source::Omitted | Source::ControlPlane => usize::MAX,
    });
    order
}
