//! Tables (14.2): keys evaluated in order, one entry chosen, its action run.

use num_bigint::BigInt;
use p4::ast::{self, ActionReference, Argument, DeclarationKind, Direction, Expression, ExpressionKind, PropertyValue};

use super::call::{Arguments, Passed};
use super::convert::{cast, convert};
use super::environment::{Binding, Env};
use super::machine::Machine;
use super::parser::{is_between, is_masked};
use super::profile::Target;
use super::value::{Type, Value};
use super::{Run, unsupported};

/// What an entry wants of one key.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Any,
    Exactly(Value),
    Masked(Value, Value),
    /// A value and how many of its leading bits count.
    Prefix(Value, usize),
    Between(Value, Value),
}

pub type Keys = Vec<Field>;

#[derive(Clone)]
struct Entry {
    keys: Keys,
    /// Larger wins, where priorities count.
    priority: BigInt,
    target: Target,
}

/// An action of the table by its place in the list, with its data by name.
#[derive(Clone)]
pub struct ActionCall {
    action: usize,
    data: Vec<(String, Value)>,
}

struct Key<'a> {
    name: String,
    kind: &'a str,
    expression: &'a Expression,
}

struct TableAction<'a> {
    /// As the table lists it: the value of `action_run`.
    name: &'a str,
    /// For the control plane.
    path: String,
    reference: &'a ast::Path,
    parameters: &'a [ast::Parameter],
    /// Arguments for parameters with a direction.
    bound: &'a [Argument],
}

pub struct Table<'a> {
    pub name: String,
    keys: Vec<Key<'a>>,
    actions: Vec<TableAction<'a>>,
    entries: Vec<Entry>,
    default: Option<ActionCall>,
    /// The action profile or selector: its name and its object.
    pub(super) implementation: Option<(String, usize)>,
    /// What an entry with a group without members runs.
    pub(super) empty_group: Option<ActionCall>,
    /// PNA: whether the default action may add an entry for the key that missed.
    adds_on_miss: bool,
}

impl<'a> Machine<'a> {
    pub(super) fn make_table(&mut self, table: &'a ast::Table, name: String, env: &Env<'a>) -> Run<usize> {
        let implementation = self.implementation(table, env)?;
        let mut made = Table {
            name,
            keys: Vec::new(),
            actions: Vec::new(),
            entries: Vec::new(),
            default: None,
            implementation,
            empty_group: None,
            adds_on_miss: false,
        };
        for property in &table.properties {
            match &property.value {
                PropertyValue::Keys(keys) => made.keys.extend(keys.iter().map(key)),
                PropertyValue::Actions(actions) => {
                    for action in actions {
                        let action = self.table_action(action, env)?;
                        made.actions.push(action);
                    }
                }
                _ => {}
            }
        }
        for property in &table.properties {
            match &property.value {
                PropertyValue::Entries(entries) => {
                    made.entries = self.entries(&made, entries, (property.is_constant, table), env)?;
                }
                PropertyValue::Expression(value) if property.name.as_str() == "default_action" => {
                    made.default = Some(self.action_call(&made, value, env)?);
                }
                PropertyValue::Expression(value) if property.name.as_str() == "add_on_miss" => {
                    made.adds_on_miss = self.truth(value, env)?;
                }
                PropertyValue::Expression(value) if property.name.as_str().ends_with("_empty_group_action") => {
                    made.empty_group = Some(self.action_call(&made, value, env)?);
                }
                _ => {}
            }
        }
        self.tables.push(made);
        Ok(self.tables.len() - 1)
    }

    fn table_action(&mut self, listed: &'a ActionReference, env: &Env<'a>) -> Run<TableAction<'a>> {
        let (reference, bound): (_, &'a [Argument]) = match &listed.action.kind {
            ExpressionKind::Path(path) => (path, &[]),
            ExpressionKind::Call { callee, arguments, .. } => match &callee.kind {
                ExpressionKind::Path(path) => (path, arguments),
                _ => return unsupported(format!("action {}", listed.action)),
            },
            _ => return unsupported(format!("action {}", listed.action)),
        };
        let Binding::Code(found, _) = self.lookup(reference, env)? else {
            return unsupported(format!("{reference} is no action"));
        };
        let DeclarationKind::Action { parameters, .. } = &found[0].kind else {
            return unsupported(format!("{reference} is no action"));
        };
        let path = match self.action_paths.get(&found[0].id) {
            Some(path) => path.clone(),
            None => super::instance::control_plane_name("", found[0]),
        };
        Ok(TableAction { name: reference.name.as_str(), path, reference, parameters, bound })
    }

    /// `a(1, x)` as a default action or in an entry: the values of its data.
    fn action_call(&mut self, table: &Table<'a>, value: &'a Expression, env: &Env<'a>) -> Run<ActionCall> {
        let (name, arguments): (_, &'a [Argument]) = match &value.kind {
            ExpressionKind::Path(path) => (path.name.as_str(), &[]),
            ExpressionKind::Call { callee, arguments, .. } => match &callee.kind {
                ExpressionKind::Path(path) => (path.name.as_str(), arguments),
                _ => return unsupported(format!("action {value}")),
            },
            _ => return unsupported(format!("action {value}")),
        };
        let Some(action) = table.actions.iter().position(|action| action.name == name) else {
            return unsupported(format!("{name} is no action of {}", table.name));
        };
        let all = table.actions[action].parameters;
        let data: Vec<&ast::Parameter> =
            all.iter().filter(|parameter| parameter.direction == Direction::None).collect();
        // 14.2.1.3: arguments for parameters with a direction are repeated as in the list of actions, or not given.
        let given: Vec<&ast::Parameter> = if arguments.len() > data.len() { all.iter().collect() } else { data };
        let mut values = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => all.iter().find(|parameter| parameter.name.as_str() == name.as_str()),
                None => given.get(index).copied(),
            };
            let Some(parameter) = parameter else { return unsupported("an argument without a parameter") };
            if parameter.direction == Direction::None {
                let of = self.resolve(&parameter.of_type, &None)?;
                let value = convert(self.evaluate(&argument.value, env)?, &of);
                values.push((parameter.name.to_string(), value));
            }
        }
        Ok(ActionCall { action, data: values })
    }

    fn entries(
        &mut self,
        table: &Table<'a>,
        entries: &'a [ast::Entry],
        (constant, declared): (bool, &'a ast::Table),
        env: &Env<'a>,
    ) -> Run<Vec<Entry>> {
        let mut setting = |name: &str| match declared.find(name).map(|property| &property.value) {
            Some(PropertyValue::Expression(value)) => self.evaluate(value, env).map(Some),
            _ => Ok(None),
        };
        let largest_wins = setting("largest_priority_wins")? != Some(Value::Bool(false));
        let delta = setting("priority_delta")?.and_then(|delta| delta.number()).unwrap_or(BigInt::from(1));
        let any_given = entries.iter().any(|entry| entry.priority.is_some());
        let mut last = BigInt::from(0);
        let mut made = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            // 14.2.1.5: without any priority the first entry wins; otherwise each is one step behind the one before.
            let step = if largest_wins { -&delta } else { delta.clone() };
            let priority = match &entry.priority {
                // BMv2: `@priority` of constant entries, which otherwise have their place in the list; the smallest wins.
                _ if constant => -self.annotated_priority(entry, env)?.unwrap_or(BigInt::from(index + 1)),
                _ if !any_given => -BigInt::from(index),
                Some(given) => {
                    last = self.number(given, env)?;
                    if largest_wins { last.clone() } else { -&last }
                }
                None => {
                    last += step;
                    if largest_wins { last.clone() } else { -&last }
                }
            };
            let keys = entry.keys.iter().map(|set| self.field(set, env)).collect::<Run<Keys>>()?;
            let keys = if keys.len() == 1 { vec![keys[0].clone(); table.keys.len()] } else { keys };
            made.push(Entry { keys, priority, target: Target::Call(self.action_call(table, &entry.action, env)?) });
        }
        Ok(made)
    }

    fn annotated_priority(&mut self, entry: &'a ast::Entry, env: &Env<'a>) -> Run<Option<BigInt>> {
        let found = entry.annotations.iter().find(|annotation| annotation.name.as_str() == "priority");
        match found.and_then(|annotation| annotation.single()) {
            Some(value) => self.number(value, env).map(Some),
            None => Ok(None),
        }
    }

    fn field(&mut self, set: &'a Expression, env: &Env<'a>) -> Run<Field> {
        Ok(match &set.kind {
            ExpressionKind::DontCare | ExpressionKind::Default => Field::Any,
            ExpressionKind::Mask { value, mask } => {
                Field::Masked(self.evaluate(value, env)?, self.evaluate(mask, env)?)
            }
            ExpressionKind::Range { low, high } => Field::Between(self.evaluate(low, env)?, self.evaluate(high, env)?),
            _ => Field::Exactly(self.evaluate(set, env)?),
        })
    }

    /// `table.apply()`.
    pub(super) fn apply_table(&mut self, index: usize, outer: &Env<'a>) -> Run<Value> {
        self.step()?;
        let expressions: Vec<&'a Expression> = self.tables[index].keys.iter().map(|key| key.expression).collect();
        let values: Vec<Value> =
            expressions.into_iter().map(|expression| self.evaluate(expression, outer)).collect::<Run<_>>()?;
        let table = &self.tables[index];
        let found = table.choose(&values);
        let hit = found.is_some();
        let call = match &found {
            Some(target) => self.called(table, target, &values)?,
            None => table.default.clone(),
        };
        self.missed = (!hit && table.adds_on_miss).then(|| (index, values.clone()));
        let Some(call) = call else { return Ok(Value::Applied { hit, action: "NoAction".into() }) };
        let action = &table.actions[call.action];
        let (name, reference, parameters, bound) = (action.name, action.reference, action.parameters, action.bound);
        let Binding::Code(found, inner) = self.lookup(reference, outer)? else {
            return unsupported(format!("{reference} is no action"));
        };
        let DeclarationKind::Action { body, .. } = &found[0].kind else { return unsupported("no action") };
        let mut passed: Arguments<'a> = self.arguments(parameters, bound, outer)?;
        for parameter in parameters.iter().filter(|parameter| parameter.direction == Direction::None) {
            if let Some((_, value)) = call.data.iter().find(|(name, _)| name == parameter.name.as_str()) {
                passed.push((parameter, Passed::Value(value.clone())));
            }
        }
        self.invoke(passed, &inner, |machine, env| machine.returned(body, env))?;
        Ok(Value::Applied { hit, action: name.into() })
    }
}

impl<'a> Machine<'a> {
    /// PNA 0.7, `add_entry`: an entry for the key that has just missed, with an action of the table and its data in order.
    pub(super) fn add_missed(&mut self, action: &str, data: &Value) -> Run<bool> {
        let Some((index, keys)) = self.missed.take() else { return Ok(false) };
        let table = &mut self.tables[index];
        let Some(at) = table.actions.iter().position(|known| known.name == action) else { return Ok(false) };
        let names = table.actions[at].parameters.iter().filter(|parameter| parameter.direction == Direction::None);
        let values = match data {
            Value::Structure(structure) => structure.fields.clone(),
            Value::Tuple(elements) => elements.clone(),
            _ => Vec::new(),
        };
        let data = names.map(|parameter| parameter.name.to_string()).zip(values).collect();
        let target = Target::Call(ActionCall { action: at, data });
        table.insert_target(keys.into_iter().map(Field::Exactly).collect(), BigInt::ZERO, target);
        Ok(true)
    }
}

fn key(element: &ast::KeyElement) -> Key<'_> {
    let named = element.annotations.iter().find(|annotation| annotation.name.as_str() == "name");
    let name = match named.and_then(|annotation| annotation.single()).map(|name| &name.kind) {
        Some(ExpressionKind::String(name)) => name.to_string(),
        _ => element.expression.to_string().replace("isValid()", "$valid$"),
    };
    Key { name, kind: element.match_kind.as_str(), expression: &element.expression }
}

/// What the control plane calls a parameter.
fn parameter_name(parameter: &ast::Parameter) -> String {
    let named = parameter.attributes.find("name").and_then(|annotation| annotation.single());
    match named.map(|name| &name.kind) {
        Some(ExpressionKind::String(name)) => name.to_string(),
        _ => parameter.name.to_string(),
    }
}

impl Table<'_> {
    /// 14.2.2: by priority where a key is neither `exact` nor `lpm`, else by the length of the prefix.
    fn choose(&self, values: &[Value]) -> Option<Target> {
        if self.keys.is_empty() {
            return None;
        }
        let fits = |entry: &&Entry| entry.keys.iter().zip(values).all(|(field, value)| field.holds(value));
        let by_priority = self.by_priority();
        let prefix = self.keys.iter().position(|key| key.kind == "lpm");
        let mut best: Option<(&Entry, BigInt)> = None;
        for entry in self.entries.iter().filter(fits) {
            let rank = match prefix {
                _ if by_priority => entry.priority.clone(),
                Some(at) => BigInt::from(entry.keys[at].length(&values[at])),
                None => BigInt::ZERO,
            };
            if best.as_ref().is_none_or(|(_, other)| rank > *other) {
                best = Some((entry, rank));
            }
        }
        best.map(|(entry, _)| entry.target.clone())
    }

    pub fn key_names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.keys.iter().map(|key| (key.name.as_str(), key.kind))
    }

    /// Adds an entry as the control plane does: the action by name, its data as numbers.
    pub fn insert(&mut self, keys: Keys, priority: BigInt, action: &str, data: &[(String, BigInt)]) -> Run<()> {
        let target = Target::Call(self.named_call(action, data)?);
        self.insert_target(keys, priority, target);
        Ok(())
    }

    /// Adds an entry that refers to a member or a group.
    pub fn insert_target(&mut self, keys: Keys, priority: BigInt, target: Target) {
        self.entries.push(Entry { keys, priority, target });
    }

    /// Takes away the entry that was added with these keys.
    pub fn remove(&mut self, keys: &Keys, priority: &BigInt) -> Run<()> {
        let by_priority = self.by_priority();
        let is_it = |entry: &Entry| entry.keys == *keys && (!by_priority || entry.priority == *priority);
        match self.entries.iter().position(is_it) {
            Some(at) => {
                self.entries.remove(at);
                Ok(())
            }
            None => unsupported(format!("no such entry in {}", self.name)),
        }
    }

    fn by_priority(&self) -> bool {
        self.keys.iter().any(|key| !matches!(key.kind, "exact" | "lpm" | "selector"))
    }

    pub fn set_default(&mut self, action: &str, data: &[(String, BigInt)]) -> Run<()> {
        self.default = Some(self.named_call(action, data)?);
        Ok(())
    }

    pub(super) fn named_call(&self, action: &str, data: &[(String, BigInt)]) -> Run<ActionCall> {
        let exact = self.actions.iter().position(|known| known.path == action || known.path == format!(".{action}"));
        let suffix =
            || self.actions.iter().position(|known| known.path.ends_with(action) || action.ends_with(known.name));
        let Some(found) = exact.or_else(suffix) else {
            return unsupported(format!("{action} is no action of {}", self.name));
        };
        let parameters = self.actions[found].parameters;
        let own = |name: &String| {
            let known = parameters.iter().find(|parameter| parameter_name(parameter) == *name);
            known.map_or(name.clone(), |parameter| parameter.name.to_string())
        };
        let data = data.iter().map(|(name, value)| (own(name), Value::Integer(value.clone()))).collect();
        Ok(ActionCall { action: found, data })
    }

    /// The name by which an action is known to the control plane.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().map(|action| action.path.as_str())
    }
}

impl Field {
    fn holds(&self, value: &Value) -> bool {
        let of = value.type_of();
        match self {
            Field::Any => true,
            Field::Exactly(wanted) => cast(wanted.clone(), &of).same(value),
            Field::Masked(wanted, mask) => is_masked(value, wanted, mask),
            Field::Between(low, high) => is_between(value, low, high),
            Field::Prefix(wanted, length) => match &of {
                Type::Bits { width, .. } if length <= width => {
                    let mask = ((BigInt::from(1) << *length) - 1) << (width - length);
                    is_masked(value, wanted, &Value::Integer(mask))
                }
                _ => false,
            },
        }
    }

    /// How many leading bits are matched.
    fn length(&self, value: &Value) -> usize {
        let Type::Bits { width, .. } = value.type_of() else { return 0 };
        match self {
            Field::Any => 0,
            Field::Prefix(_, length) => *length,
            Field::Exactly(_) | Field::Between(..) => width,
            Field::Masked(_, mask) => match convert(mask.clone(), &Type::Bits { width, signed: false }) {
                Value::Bits(bits) => (0..width as u64).filter(|bit| bits.value.bit(*bit)).count(),
                _ => 0,
            },
        }
    }
}
