//! Tables: keys, actions and properties become one `Table`; each `apply` becomes a node that looks it up.

use std::rc::Rc;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Action, ActionCall, Key, MatchKind, Next, NodeId, Notes, Parameter, Scope as ActionScope, Table, TableId};
use num_bigint::BigUint;

use super::architecture::{Architecture, InTable};
use super::control::{Frame, FrameKind};
use super::effects::Touch;
use super::graph::{self, EndKind};
use super::notes::name_annotation;
use super::objects::{Object, ObjectId, TableInstance};
use super::storage::Storage;
use super::value::Value;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{
    self, ActionReference, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, KeyElement,
    Property, PropertyValue,
};
use crate::check::{Call, Callee, Reference, Source};
use crate::evaluate::Value as Known;
use crate::types::Type;
use std::sync::Arc;

/// A table of the program.
#[derive(Debug)]
pub struct LoweredTable {
    pub id: TableId,
    /// The declarations of its actions, by number.
    pub actions: Vec<DeclarationId>,
    pub writes: Vec<Touch>,
    pub exits: bool,
    /// Where the keys are put before each lookup, if evaluating them has effects.
    pub keys: Option<Vec<Storage>>,
}

impl<'a> Lowering<'a> {
    /// `t.apply()` as a statement.
    pub fn apply_table_plainly(&mut self, call: &'a Expression) -> Lowered<()> {
        let table = self.prepare_table(call)?;
        let after = self.add_block(&format!("after{}", self.line_of(call.span)));
        self.end_in_table(&table, Next::Always(after), call.span)?;
        self.current = after;
        Ok(())
    }

    /// `t.apply()` for whether it hits: the blocks where it did and where it did not.
    pub fn apply_for_hit(&mut self, call: &'a Expression) -> Lowered<(NodeId, NodeId)> {
        let table = self.prepare_table(call)?;
        let line = self.line_of(call.span);
        let hit = self.add_block(&format!("hit{line}"));
        let miss = self.add_block(&format!("miss{line}"));
        self.end_in_table(&table, Next::Hit { hit, miss }, call.span)?;
        Ok((hit, miss))
    }

    /// Ends the block in the lookup.
    pub fn end_in_table(&mut self, table: &LoweredTable, next: Next, span: Span) -> Lowered<()> {
        self.log.extend(table.writes.iter().copied());
        let punts = self.program.tables[table.id].punt_on_miss && self.graph.is_open(self.current);
        let next = if punts { self.punt_misses(table.id, next, span)? } else { next };
        let exit = if table.exits { self.exit_edge() } else { None };
        let name = self.program.tables[table.id].name.clone();
        let kind = EndKind::Apply { table: table.id, next, exit };
        let notes = self.plain_notes(span);
        if self.graph.is_open(self.current) {
            self.graph.end(self.current, name, notes, kind);
        }
        Ok(())
    }

    /// The table that an `apply` is about, with its keys evaluated where that has effects.
    pub fn prepare_table(&mut self, call: &'a Expression) -> Lowered<Rc<LoweredTable>> {
        if self.parser.is_some() || self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Boundary)) {
            return Err(self.unsupported(call.span, "a table applied here is"));
        }
        let object = self.receiver_object(call)?;
        let Object::Table(instance) = self.object(object) else {
            return Err(self.internal(call.span, "the application of something that is no table"));
        };
        let Some(Declaration { kind: DeclarationKind::Table(table), .. }) =
            self.checked.node(instance.declaration).declaration()
        else {
            return Err(self.internal(call.span, "a table without a declaration"));
        };
        let keys: &'a [KeyElement] = match table.find("key").map(|property| &property.value) {
            Some(PropertyValue::Keys(keys)) => keys,
            _ => &[],
        };
        if let Some(known) = self.objects.tables.get(&object).cloned() {
            if let Some(places) = &known.keys {
                let values = self.in_scope(instance.scope.clone(), |lowering| lowering.key_values(keys))?;
                for (place, value) in places.iter().zip(values) {
                    self.assign(place, value);
                }
            }
            return Ok(known);
        }
        let lowered = self.nested(call.span, |lowering| {
            lowering.in_scope(instance.scope.clone(), |lowering| lowering.lower_table(object, &instance, table, keys))
        })?;
        let lowered = Rc::new(lowered);
        self.objects.tables.insert(object, lowered.clone());
        Ok(lowered)
    }

    /// Keys as bits.
    fn key_values(&mut self, keys: &'a [KeyElement]) -> Lowered<Vec<Value>> {
        let values = self.expressions(keys.iter().map(|key| &key.expression))?;
        let mut bits = Vec::new();
        for (key, value) in keys.iter().zip(values) {
            let Some(value) = self.as_bits(value) else {
                return Err(self.unsupported(key.span, "a key of this type is"));
            };
            bits.push(Value::Scalar(value));
        }
        Ok(bits)
    }

    /// A scalar as bits.
    pub fn as_bits(&mut self, value: Value) -> Option<hlir::Expression> {
        match value {
            Value::Scalar(value) if self.expression_type(&value) == hlir::Type::Bool => {
                Some(arithmetic::from_bool(value))
            }
            Value::Scalar(value) => Some(value),
            _ => None,
        }
    }

    fn lower_table(
        &mut self,
        object: ObjectId,
        instance: &TableInstance,
        table: &'a ast::Table,
        keys: &'a [KeyElement],
    ) -> Lowered<LoweredTable> {
        let before = self.mark();
        let mut values = self.key_values(keys)?;
        let mut places = None;
        if !self.is_here(before) {
            let hoisted: Vec<Storage> = values
                .iter()
                .map(|value| {
                    let name = format!("{}.key", instance.name);
                    let storage = self.allocate_like(value, &name);
                    self.assign(&storage, value.clone());
                    storage
                })
                .collect();
            values = hoisted.iter().map(|storage| self.load(storage)).collect();
            places = Some(hoisted);
        }
        let notes = self.notes_of(instance.declaration);
        let name = self.names.table(&instance.name);
        self.check_table_name(&name, instance);
        let made = Table {
            name,
            keys: Vec::new(),
            actions: Vec::new(),
            default: ActionCall { action: 0, arguments: Vec::new() },
            default_constant: false,
            size: None,
            entries: Arc::default(),
            entries_constant: false,
            profile: None,
            selector: Vec::new(),
            empty_group: None,
            idle_timeout: None,
            add_on_miss: false,
            punt_on_miss: false,
            notes,
        };
        let id = self.program.tables.alloc(made);
        for (key, value) in keys.iter().zip(values) {
            let Value::Scalar(value) = value else { continue };
            self.add_key(id, key, value)?;
        }
        let written = self.position();
        let actions = self.lower_actions(id, instance.declaration, table)?;
        let writes = self.log[written..].to_vec();
        self.lower_default(id, &actions, table)?;
        self.lower_properties(id, table)?;
        self.lower_entries(id, &actions, table, keys)?;
        self.table_property_externs(id, object, table)?;
        if self.program.selector(id).is_none() {
            self.program.tables[id].selector.clear();
        } else {
            self.lower_empty_group(id, &actions, table)?;
        }
        let exits = self.program.tables[id].actions.iter().any(|action| graph::has_exit(&action.body));
        let actions = actions.into_iter().map(|(action, _)| action).collect();
        Ok(LoweredTable { id, actions, writes, exits, keys: places })
    }

    fn add_key(&mut self, table: TableId, key: &'a KeyElement, value: hlir::Expression) -> Lowered<()> {
        let kind = match key.match_kind.as_str() {
            "exact" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            "selector" => {
                self.program.tables[table].selector.push(value);
                return Ok(());
            }
            other => return Err(self.unknown_kind(key, other)),
        };
        let name = name_annotation(&key.annotations).unwrap_or_else(|| self.key_name(&key.expression));
        let notes = Notes {
            origin: self.origin(key.span),
            annotations: self.annotations(&key.annotations),
            docs: String::new(),
        };
        let of_type = self.substituted(self.checked.used_type(&key.expression));
        self.facts.keys.entry(table).or_default().push(of_type);
        self.program.tables[table].keys.push(Key { name, value, kind, notes });
        Ok(())
    }

    /// A match kind that the program declares itself, or that is of another architecture.
    fn unknown_kind(&self, key: &KeyElement, kind: &str) -> Diagnostic {
        Diagnostic::error(format!("a table of {} cannot match by `{kind}`", self.program.architecture))
            .kind("unsupported")
            .label(key.match_kind.span, "it is not defined which values this matches")
            .hint("the match kinds are exact, lpm, ternary, range, optional and, with a profile, selector")
    }

    /// The name of a key as p4c derives it from its expression.
    fn key_name(&self, expression: &Expression) -> String {
        match &expression.kind {
            ExpressionKind::Path(path) => path.name.to_string(),
            ExpressionKind::Member { base, member } => match self.checked.reference(expression) {
                Reference::Field(field) => Self::qualified(&self.key_name(base), &self.external_name(*field)),
                _ => format!("{}.{member}", self.key_name(base)),
            },
            ExpressionKind::Integer(number) => {
                let value = match self.checked.constant(expression) {
                    Some(Known::Integer(value)) => value,
                    _ => &number.value,
                };
                match number.base {
                    ast::IntegerBase::Hexadecimal => format!("0x{value:x}"),
                    ast::IntegerBase::Octal => format!("0o{value:o}"),
                    ast::IntegerBase::Binary => format!("0b{value:b}"),
                    ast::IntegerBase::Decimal => value.to_string(),
                }
            }
            ExpressionKind::Index { base, index } => format!("{}[{}]", self.key_name(base), self.key_name(index)),
            ExpressionKind::Slice { base, high, low } => {
                format!("{}[{}:{}]", self.key_name(base), self.key_name(high), self.key_name(low))
            }
            ExpressionKind::Binary { operator: ast::BinaryOperator::BitAnd, left, right } => {
                format!("{} & {}", self.key_name(left), self.key_name(right))
            }
            ExpressionKind::Call { callee, .. } => match &callee.kind {
                ExpressionKind::Member { base, member } if member.as_str() == "isValid" => {
                    format!("{}.$valid$", self.key_name(base))
                }
                _ => self.sources.snippet(expression.span).to_string(),
            },
            _ => self.sources.snippet(expression.span).to_string(),
        }
    }

    fn lower_actions(
        &mut self,
        id: TableId,
        declaration: DeclarationId,
        table: &'a ast::Table,
    ) -> Lowered<Vec<(DeclarationId, Call)>> {
        let references: &'a [ActionReference] = match table.find("actions").map(|property| &property.value) {
            Some(PropertyValue::Actions(references)) => references,
            _ => &[],
        };
        let mut actions = Vec::new();
        for reference in references {
            let Some(mut call) = self.checked.call(&reference.action).cloned() else {
                return Err(self.internal(reference.span, "an action of a table"));
            };
            // What has a default value is action data as well: the controller may give another.
            for binding in call.bindings.iter_mut().filter(|binding| binding.direction == ast::Direction::None) {
                if binding.source == Source::Default {
                    binding.source = Source::ControlPlane;
                }
            }
            let Callee::Action(action) = call.callee else {
                return Err(self.internal(reference.span, "an action of a table"));
            };
            let here = InTable { table: id, declaration, action };
            let outer = self.in_table.replace(here);
            let made = self.lower_action(action, &call, reference);
            self.in_table = outer;
            let made = made?;
            self.program.tables[id].actions.push(made);
            let annotations = self.annotations(&reference.annotations);
            let notes = Notes { annotations, ..Notes::default() };
            self.facts.uses.entry(id).or_default().push(notes);
            actions.push((action, call));
        }
        let listed: Vec<DeclarationId> = actions.iter().map(|(action, _)| *action).collect();
        self.check_listed_names(id, declaration, &listed);
        Ok(actions)
    }

    /// The control plane's name of an action seen from a table.
    pub fn action_name(&self, action: DeclarationId) -> String {
        let name = self.external_name(action);
        let is_global = self.checked.program.declarations.iter().any(|found| found.id == action);
        if is_global {
            return name.trim_start_matches('.').to_string();
        }
        Self::qualified(&self.prefix, &name)
    }

    fn lower_action(&mut self, action: DeclarationId, call: &Call, reference: &'a ActionReference) -> Lowered<Action> {
        let name = self.action_name(action);
        let (arguments, span): (&'a [ast::Argument], Span) = match &reference.action.kind {
            ExpressionKind::Call { arguments, .. } => (arguments, reference.span),
            _ => (&[], reference.span),
        };
        let mut parameters = Vec::new();
        let mut given = Vec::new();
        for binding in &call.bindings {
            let from_entry = binding.source == Source::ControlPlane;
            given.push(from_entry.then(|| {
                let of_type = self.substituted(&binding.of_type);
                let name = self.external_name(binding.parameter);
                let notes = self.notes_of(binding.parameter);
                self.entry_parameter(&of_type, &name, &notes, &mut parameters)
            }));
        }
        let (parameters, types): (Vec<Parameter>, Vec<Type>) = parameters.into_iter().unzip();
        if let Some(here) = &self.in_table {
            let number = self.program.tables[here.table].actions.len() as u32;
            self.facts.action_types.insert((here.table, number), types);
        }
        let widths = parameters.iter().map(|parameter| parameter.width).collect();
        let before = std::mem::replace(&mut self.parameter_widths, widths);
        let mut result = Ok(());
        self.frames.push(Frame::new(FrameKind::Boundary));
        let repeated = std::mem::replace(&mut self.repeated, true);
        let body = self.aside(|lowering| {
            result = lowering.pass(call, arguments).and_then(|mut passed| {
                for (passed, given) in passed.iter_mut().zip(given) {
                    if let Some(value) = given {
                        *passed = super::call::Passed::Value(value);
                    }
                }
                lowering.run_action(action, call, passed)
            });
        });
        self.repeated = repeated;
        self.frames.pop();
        self.parameter_widths = before;
        result.map_err(|diagnostic| diagnostic.label(span, "in this action"))?;
        let scope = match (
            reference.annotations.iter().any(|annotation| annotation.name.as_str() == "defaultonly"),
            reference.annotations.iter().any(|annotation| annotation.name.as_str() == "tableonly"),
        ) {
            (true, _) => ActionScope::DefaultOnly,
            (false, true) => ActionScope::TableOnly,
            (false, false) => ActionScope::Everywhere,
        };
        Ok(Action { name, parameters, body, scope, notes: self.notes_of(action) })
    }

    /// A parameter that the entry supplies; a struct is one parameter for each of its fields.
    fn entry_parameter(
        &mut self,
        of_type: &Type,
        name: &str,
        notes: &Notes,
        into: &mut Vec<(Parameter, Type)>,
    ) -> Value {
        if let Some(scalar) = self.scalar_type(of_type) {
            let number = into.len() as u32;
            let made = Parameter { name: name.to_string(), width: scalar.width(), notes: notes.clone() };
            into.push((made, of_type.clone()));
            let read = hlir::Expression::Parameter(number);
            return Value::Scalar(if scalar == hlir::Type::Bool { arithmetic::to_bool(read) } else { read });
        }
        let count = if let Type::Stack { size, .. } = of_type { *size as usize } else { 0 };
        let types = self.part_types(of_type, count);
        let fields = self.checked.fields_of(of_type);
        let parts = types.iter().enumerate().map(|(at, part)| {
            let field = fields.get(at).map_or_else(|| at.to_string(), |field| field.name.to_string());
            self.entry_parameter(part, &format!("{name}.{field}"), notes, into)
        });
        let parts = parts.collect();
        self.assembled(of_type, parts)
    }

    fn lower_default(&mut self, id: TableId, actions: &[(DeclarationId, Call)], table: &'a ast::Table) -> Lowered<()> {
        let Some(Property { value: PropertyValue::Expression(expression), is_constant, .. }) =
            table.find("default_action")
        else {
            self.program.tables[id].default.action = self.no_action(id, actions);
            return Ok(());
        };
        self.program.tables[id].default_constant = *is_constant;
        self.program.tables[id].default = self.entry_call(actions, expression)?;
        Ok(())
    }

    /// A table without a default action does nothing on a miss.
    fn no_action(&mut self, id: TableId, actions: &[(DeclarationId, Call)]) -> u32 {
        let found = actions.iter().position(|(action, _)| self.checked.node(*action).name().as_str() == "NoAction");
        if let Some(found) = found {
            return found as u32;
        }
        let annotation = hlir::notes::Annotation { name: "defaultonly".to_string(), body: Default::default() };
        let used = Notes { annotations: vec![annotation], ..Notes::default() };
        self.facts.uses.entry(id).or_default().push(used);
        let notes = self.no_action_declaration().map(|declared| self.notes_of(declared)).unwrap_or_default();
        let name = "NoAction".to_string();
        let scope = ActionScope::DefaultOnly;
        let actions = &mut self.program.tables[id].actions;
        actions.push(Action { name, parameters: Vec::new(), body: Vec::new(), scope, notes });
        actions.len() as u32 - 1
    }

    /// What an entry does whose group has no members. PSA and PNA do nothing where the table has no action for it; for v1model it is a miss.
    fn lower_empty_group(
        &mut self,
        id: TableId,
        actions: &[(DeclarationId, Call)],
        table: &'a ast::Table,
    ) -> Lowered<()> {
        let named = ["psa_empty_group_action", "pna_empty_group_action"];
        let call = match named.iter().find_map(|name| expression_property(table, name)) {
            Some(expression) => self.entry_call(actions, expression)?,
            None if matches!(self.architecture.kind, Architecture::Psa | Architecture::Pna) => {
                let known = self.program.tables[id].actions.len();
                let nothing = self.program.tables[id].actions.iter().position(|action| action.name == "NoAction");
                let action = nothing.map_or_else(|| self.no_action(id, actions), |found| found as u32);
                if self.program.tables[id].actions.len() > known {
                    self.facts.unlisted.insert((id, action));
                }
                ActionCall { action, arguments: Vec::new() }
            }
            None => return Ok(()),
        };
        self.program.tables[id].empty_group = Some(call);
        Ok(())
    }

    /// An action with its data, as entries and the default action name one.
    pub fn entry_call(&mut self, actions: &[(DeclarationId, Call)], expression: &'a Expression) -> Lowered<ActionCall> {
        let Some(call) = self.checked.call(expression).cloned() else {
            return Err(self.internal(expression.span, "an action here"));
        };
        let Callee::Action(action) = call.callee else {
            return Err(self.internal(expression.span, "an action here"));
        };
        let Some(number) = actions.iter().position(|(known, _)| *known == action) else {
            return Err(self.internal(expression.span, "an action that the table does not have"));
        };
        let given: &'a [ast::Argument] = match &expression.kind {
            ExpressionKind::Call { arguments, .. } => arguments,
            _ => &[],
        };
        let mut arguments = Vec::new();
        for (binding, listed) in call.bindings.iter().zip(&actions[number].1.bindings) {
            if listed.source != Source::ControlPlane {
                continue;
            }
            let value = match self.checked.argument(binding, given) {
                Some(argument) => self.expression(argument)?,
                None if binding.source == Source::Default => match self.checked.parameter(binding.parameter) {
                    Some(ast::Parameter { default: Some(default), .. }) => self.expression(default)?,
                    _ => return Err(self.internal(expression.span, "a default value")),
                },
                None => {
                    let of_type = self.substituted(&binding.of_type);
                    self.zero_of(&of_type)
                }
            };
            self.constants_of(&value, expression.span, &mut arguments)?;
        }
        Ok(ActionCall { action: number as u32, arguments })
    }

    /// The numbers in a value.
    fn constants_of(&mut self, value: &Value, span: Span, into: &mut Vec<BigUint>) -> Lowered<()> {
        match value {
            Value::Scalar(hlir::Expression::Constant { value, .. }) => into.push(value.clone()),
            Value::Scalar(hlir::Expression::Bool(value)) => into.push(BigUint::from(u8::from(*value))),
            Value::Scalar(_) | Value::Header { .. } | Value::Varbit(_) => {
                return Err(self.unsupported(span, "action data that is known only at run time is"));
            }
            Value::Struct(parts)
            | Value::Union(parts)
            | Value::Stack { elements: parts, .. }
            | Value::Made { fields: parts, .. } => {
                for part in parts {
                    self.constants_of(part, span, into)?;
                }
            }
            Value::Void | Value::Integer(_) | Value::Text(_) | Value::Object(_) | Value::DontCare => {}
        }
        Ok(())
    }

    fn lower_properties(&mut self, id: TableId, table: &'a ast::Table) -> Lowered<()> {
        if let Some(Property { value: PropertyValue::Expression(size), .. }) = table.find("size") {
            let value = self.expression(size)?;
            let number = match &value {
                Value::Integer(number) => u64::try_from(number).ok(),
                Value::Scalar(scalar) => {
                    arithmetic::constant_of(scalar).and_then(|(number, _)| u64::try_from(number).ok())
                }
                _ => None,
            };
            self.program.tables[id].size = number;
        }
        self.lower_punt_on_miss(id, table)
    }
}

/// The property of this name, as an expression.
pub fn expression_property<'a>(table: &'a ast::Table, name: &str) -> Option<&'a Expression> {
    match &table.find(name)?.value {
        PropertyValue::Expression(expression) => Some(expression),
        PropertyValue::Keys(_) | PropertyValue::Actions(_) | PropertyValue::Entries(_) => None,
    }
}
