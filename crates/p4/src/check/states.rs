//! Parser states: their names, statements and transitions, and whether the parser can end.

use std::collections::HashMap;
use std::sync::Arc;

use super::checker::{Checker, Place};
use crate::ast::{DeclarationId, Expression, ExpressionKind, Name, SelectCase, State, Transition};
use crate::evaluate::Value;
use crate::types::Type;

type States = HashMap<Arc<str>, DeclarationId>;

impl<'a> Checker<'a> {
    pub fn states(&mut self, parser: &'a Name, states: &'a [State]) {
        let mut by_name = States::new();
        for state in states {
            self.check_attributes(&state.attributes);
            self.declare_type(state.id, Type::State);
            if matches!(state.name.as_str(), "accept" | "reject") {
                let message = format!("state `{}` is built in, a parser cannot define it", state.name);
                self.error("invalid", state.name.span, message, "");
            }
            if let Some(first) = by_name.insert(state.name.text.clone(), state.id) {
                self.duplicate(&state.name, first);
            }
        }
        if !by_name.contains_key("start") {
            self.error("invalid", parser.span, format!("parser `{parser}` has no `start` state"), "");
        }
        self.around.place = Place::ParserState;
        for state in states {
            self.state(state, &by_name);
        }
        self.check_end(parser, states);
        self.warn_never_accepts(parser, states);
    }

    fn state(&mut self, state: &'a State, states: &States) {
        self.scoped(|checker| {
            for statement in &state.statements {
                checker.statement(statement);
            }
            match &state.transition {
                Some(Transition::Direct(next)) => checker.next_state(next, states),
                Some(Transition::Select { subjects, cases, .. }) => checker.select(subjects, cases, states),
                None => checker.warn(
                    "parser-transition",
                    state.name.span,
                    format!("{}: implicit transition to `reject`", state.name),
                    "no transition is given",
                ),
            }
        });
    }

    fn next_state(&mut self, name: &'a Name, states: &States) {
        if matches!(name.as_str(), "accept" | "reject") {
            return;
        }
        match states.get(&name.text) {
            Some(id) => {
                self.out.names.insert(name.span, *id);
            }
            None if self.look_up(name.as_str(), false).is_empty() => {
                self.error("not-found", name.span, format!("{name}: declaration not found"), "no state has this name");
            }
            None => {
                self.type_error(name.span, format!("`{name}` is not a state"));
            }
        }
    }

    fn select(&mut self, subjects: &'a [Expression], cases: &'a [SelectCase], states: &States) {
        let types: Vec<Type> = subjects.iter().map(|subject| self.subject(subject)).collect();
        for case in cases {
            self.next_state(&case.state, states);
            self.case_keys(case, &types);
        }
        self.warn_cases(subjects, cases);
    }

    /// What a select may look at: values of a fixed size, errors and enumerations.
    fn subject(&mut self, subject: &'a Expression) -> Type {
        let of_type = self.value(subject, None);
        if self.may_be_matched(&of_type) {
            return of_type;
        }
        self.type_error(subject.span, format!("a value of type `{of_type}` cannot be used in `select`"))
    }

    pub fn may_be_matched(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => {
                parts.iter().all(|part| self.may_be_matched(part))
            }
            Type::Newtype(_) => self.may_be_matched(&self.out.representation(of_type)),
            _ => matches!(
                of_type,
                Type::Unknown
                    | Type::Bool
                    | Type::Bits { .. }
                    | Type::Error
                    | Type::Enum(_)
                    | Type::SerializableEnum(_)
            ),
        }
    }

    fn case_keys(&mut self, case: &'a SelectCase, subjects: &[Type]) {
        if let [key] = &case.keys[..] {
            if matches!(key.kind, ExpressionKind::DontCare | ExpressionKind::Default) {
                let whole = if let [only] = subjects { only.clone() } else { Type::Tuple(subjects.into()) };
                self.value_in_set(key, &whole);
                return;
            }
            if subjects.len() != 1 {
                let whole = Type::Tuple(subjects.into());
                self.value_set_key(key, &whole);
                return;
            }
        }
        if case.keys.len() != subjects.len() {
            let message = format!("{} keys for {} selected values", case.keys.len(), subjects.len());
            self.type_error(case.span, message);
            return;
        }
        for (key, subject) in case.keys.iter().zip(subjects) {
            self.value_in_set(key, subject);
        }
    }

    /// A value set of several values: its element is a struct or tuple of them.
    fn value_set_key(&mut self, key: &'a Expression, whole: &Type) {
        let of_type = self.value(key, Some(whole));
        let Type::ValueSet(element) = &of_type else {
            if !of_type.is_unknown() {
                self.mismatch(key.span, &Type::Set(whole.clone().into()), &of_type);
            }
            return;
        };
        if !self.set_fits(element, whole) {
            self.mismatch(key.span, whole, element);
        }
    }

    fn set_fits(&mut self, element: &Type, whole: &Type) -> bool {
        let (Type::Struct(_), Type::Tuple(parts)) = (element, whole) else { return self.unify(element, whole) };
        let mut flat = Vec::new();
        self.flatten(element, &mut flat);
        let parts = parts.clone();
        flat.len() == parts.len() && flat.iter().zip(parts.iter()).all(|(one, other)| self.unify(one, other))
    }

    /// One key of a case or entry: a value, `a &&& b`, `a .. b`, `_`, `default` or a value set.
    pub fn value_in_set(&mut self, key: &'a Expression, subject: &Type) {
        match &key.kind {
            ExpressionKind::DontCare | ExpressionKind::Default => {
                self.set_type(key, Type::Set(subject.clone().into()));
                self.set_value(key, Some(crate::evaluate::Value::Everything));
            }
            ExpressionKind::Mask { value: low, mask: high } | ExpressionKind::Range { low, high } => {
                self.pair_in_set(key, low, high, subject);
            }
            ExpressionKind::List { elements, defaulted: false }
                if elements.len() == 1 && !matches!(subject, Type::Tuple(_) | Type::Struct(_)) =>
            {
                self.value_in_set(&elements[0], subject);
                let element = self.out.used_type(&elements[0]).clone();
                self.set_type(key, element);
                let value = self.value_of(&elements[0]).cloned();
                self.set_value(key, value);
            }
            _ => {
                let of_type = self.value(key, Some(subject));
                match &of_type {
                    Type::ValueSet(element) => {
                        let wrapped = self.wraps(element, subject);
                        if !wrapped && !self.unify(element, subject) {
                            self.mismatch(key.span, subject, element);
                        }
                    }
                    _ => {
                        let is_call = matches!(key.kind, ExpressionKind::Call { .. });
                        let fits = self.convert_or_report(key, &of_type, subject);
                        if fits && is_call && !self.is_known(key) {
                            self.type_error(key.span, "functions cannot be called in a set of keys");
                        }
                    }
                }
            }
        }
    }

    fn flatten(&self, of_type: &Type, flat: &mut Vec<Type>) {
        if !matches!(of_type, Type::Struct(_)) {
            flat.push(of_type.clone());
            return;
        }
        for field in self.out.fields_of(of_type) {
            self.flatten(&field.of_type, flat);
        }
    }

    /// A struct of one field means that field in a value set.
    fn wraps(&mut self, element: &Type, subject: &Type) -> bool {
        let only = match element {
            Type::Tuple(parts) if parts.len() == 1 => parts[0].clone(),
            Type::Struct(_) => match &self.out.fields_of(element)[..] {
                [only] => only.of_type.clone(),
                _ => return false,
            },
            _ => return false,
        };
        self.unify(&only, subject)
    }

    fn pair_in_set(&mut self, key: &'a Expression, low: &'a Expression, high: &'a Expression, subject: &Type) {
        self.set_type(key, Type::Set(subject.clone().into()));
        let low_type = self.value(low, Some(subject));
        let high_type = self.value(high, Some(subject));
        if low_type.is_unknown() || high_type.is_unknown() || subject.is_unknown() {
            return;
        }
        let representation = self.out.representation(subject);
        if !matches!(representation, Type::Bits { .. } | Type::Unknown) {
            self.type_error(key.span, format!("`&&&` and `..` make sets of numbers, not of `{subject}`"));
            return;
        }
        let target = if matches!(subject, Type::SerializableEnum(_)) { &representation } else { subject };
        let both = self.convert_or_report(low, &low_type, target) && self.convert_or_report(high, &high_type, target);
        if !both {
            return;
        }
        let number = |side: &Expression| self.value_of(side).and_then(|value| value.integer()).cloned();
        let value = number(low).zip(number(high)).map(|(low, high)| match &key.kind {
            ExpressionKind::Mask { .. } => crate::evaluate::Value::Mask(low, high),
            _ => crate::evaluate::Value::Range(low, high),
        });
        if let Some(crate::evaluate::Value::Range(low, high)) = &value
            && low > high
        {
            self.warn("invalid", key.span, format!("{low}..{high}: a range that ends before it starts is empty"), "");
        }
        for side in [low, high] {
            if matches!(side.kind, ExpressionKind::Call { .. }) && !self.is_known(side) {
                self.type_error(side.span, "functions cannot be called in a set of keys");
            }
        }
        self.set_value(key, value);
    }

    /// A parser that can never accept or reject runs for ever.
    fn check_end(&mut self, parser: &'a Name, states: &'a [State]) {
        let by_name: HashMap<&str, &State> = states.iter().map(|state| (state.name.as_str(), state)).collect();
        let mut seen: Vec<&str> = Vec::new();
        let mut open = vec!["start"];
        while let Some(name) = open.pop() {
            let Some(state) = by_name.get(name) else { return };
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            match &state.transition {
                None => return,
                Some(Transition::Direct(next)) => open.push(next.as_str()),
                Some(Transition::Select { cases, .. }) => {
                    let complete = cases.iter().any(|case| {
                        case.keys
                            .iter()
                            .all(|key| matches!(key.kind, ExpressionKind::DontCare | ExpressionKind::Default))
                    });
                    if !complete {
                        return;
                    }
                    open.extend(cases.iter().map(|case| case.state.as_str()));
                }
            }
        }
        let message = format!("parser `{parser}` never reaches `accept` or `reject`");
        self.error("unreachable", parser.span, message, "");
    }

    /// Cases that are never tried, and selects that come to the same whatever is selected.
    fn warn_cases(&mut self, subjects: &'a [Expression], cases: &'a [SelectCase]) {
        let outcomes: Vec<Option<bool>> = cases.iter().map(|case| self.matches_surely(subjects, case)).collect();
        let Some(at) = outcomes.iter().position(|outcome| *outcome == Some(true)) else {
            if let (Some(first), true) = (subjects.first(), outcomes.iter().all(|outcome| *outcome == Some(false))) {
                self.warn("parser-transition", first.span, "no case matches", "so the parser rejects");
            }
            return;
        };
        // Behind `default` one word is enough; behind a constant that matches, each case looks as if it might.
        let late = if is_complete(&cases[at]) { 1 } else { cases.len() };
        for late in cases[at + 1..].iter().take(late) {
            self.warn("parser-transition", late.span, "unreachable case", "a case before it matches everything");
        }
        // A `default` alone is a place for further cases.
        let only = at > 0 && cases[..at].iter().all(|case| case.state.text == cases[at].state.text);
        if let (Some(first), true, true) = (subjects.first(), only, is_complete(&cases[at])) {
            let message = "transition does not depend on select argument";
            self.warn("parser-transition", first.span, message, "every case leads to the same state");
        }
    }

    /// Whether a case matches, where that is known without a packet.
    fn matches_surely(&self, subjects: &[Expression], case: &SelectCase) -> Option<bool> {
        if is_complete(case) {
            return Some(true);
        }
        if case.keys.len() != subjects.len() {
            return None;
        }
        let mut all = Some(true);
        for (subject, key) in subjects.iter().zip(&case.keys) {
            if matches!(key.kind, ExpressionKind::DontCare | ExpressionKind::Default) {
                continue;
            }
            match (self.value_of(subject), self.value_of(key)) {
                (Some(subject), Some(key)) => match value_matches(subject, key) {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => all = None,
                },
                _ => all = None,
            }
        }
        all
    }

    /// A parser whose states only lead to `reject`, or round and round.
    fn warn_never_accepts(&mut self, parser: &'a Name, states: &'a [State]) {
        let mut reached = vec!["start"];
        let mut at = 0;
        while let Some(name) = reached.get(at).copied() {
            at += 1;
            if name == "accept" {
                return;
            }
            let Some(state) = states.iter().find(|state| state.name.as_str() == name) else { continue };
            let next: Vec<&'a str> = match &state.transition {
                Some(Transition::Direct(next)) => vec![next.as_str()],
                Some(Transition::Select { cases, .. }) => cases.iter().map(|case| case.state.as_str()).collect(),
                None => Vec::new(),
            };
            reached.extend(next.into_iter().filter(|name| !reached.contains(name)).collect::<Vec<_>>());
        }
        let message = format!("accept state in parser {parser} is unreachable");
        self.warn("unreachable", parser.span, message, "");
    }
}

/// `default` or `_`, or nothing but these.
fn is_complete(case: &SelectCase) -> bool {
    case.keys.iter().all(|key| matches!(key.kind, ExpressionKind::DontCare | ExpressionKind::Default))
}

fn value_matches(subject: &Value, key: &Value) -> Option<bool> {
    match (subject, key) {
        (Value::Integer(subject), Value::Mask(value, mask)) => Some(subject & mask == value & mask),
        (Value::Integer(subject), Value::Range(low, high)) => Some(low <= subject && subject <= high),
        (Value::Integer(_), Value::Integer(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Member(_), Value::Member(_)) => Some(subject == key),
        _ => None,
    }
}
