//! Checks preprocessed P4 files given by path and prints what is wrong with them: `check [--warnings] FILE...`.
//!
//! The last line counts programs that passed and programs that did not. It is how the checker is tried on whole corpora.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let warnings = std::env::args().any(|argument| argument == "--warnings");
    let (mut bad, mut count, mut slowest) = (0, 0, (0.0, String::new()));
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        count += 1;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                println!("{path}: {error}");
                bad += 1;
                continue;
            }
        };
        let parsed = p4::parse(&path, &text);
        let mut diagnostics = parsed.diagnostics;
        if !diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            let start = Instant::now();
            let (checked, found) = p4::check::check(&parsed.program);
            let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
            if milliseconds > slowest.0 {
                slowest = (milliseconds, path.clone());
            }
            let missing = match found.iter().any(|diagnostic| diagnostic.is_error()) {
                true => Vec::new(),
                false => complete::missing(&checked, &parsed.program),
            };
            for (span, what) in missing.iter().take(3) {
                let place = parsed.map.locate(span.start);
                println!("incomplete {}({}): {what} of {}", place.file, place.line, parsed.map.snippet(*span));
            }
            diagnostics.extend(p4::check::without_headers(found, &parsed.map, |file| file == path));
        }
        if diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            println!("== {path}");
            bad += 1;
        } else {
            println!("-- {path}");
        }
        for diagnostic in diagnostics.iter().filter(|diagnostic| warnings || diagnostic.is_error()) {
            print!("{}", diagnostic.render(&parsed.map));
        }
    }
    println!("{} passed, {bad} did not; the slowest check took {:.1} ms: {}", count - bad, slowest.0, slowest.1);
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Every expression of a program has a type, and every call is resolved.
mod complete {
    use p4::ast::walk::declaration_expressions;
    use p4::ast::*;
    use p4::check::{Checked, Reference};
    use p4::types::Type as Known;
    use std::collections::HashSet;

    /// What a check without errors has left open, and where.
    pub fn missing(checked: &Checked, program: &Program) -> Vec<(Span, &'static str)> {
        let mut missing = Vec::new();
        let mut actions = HashSet::new();
        for declaration in checked.declarations() {
            let is_instance = matches!(declaration.kind, DeclarationKind::Instance(_));
            if is_instance && checked.instance(declaration.id).is_none() {
                missing.push((declaration.name.span, "instance"));
            }
            if let DeclarationKind::Parser(parser) = &declaration.kind {
                let states = parser.body.iter().flat_map(|body| &body.states).flat_map(next_states);
                let states = states.filter(|name| !matches!(name.as_str(), "accept" | "reject"));
                missing.extend(unnamed(checked, states).map(|span| (span, "state")));
            }
            if let DeclarationKind::Table(table) = &declaration.kind {
                missing.extend(unnamed(checked, match_kinds(table)).map(|span| (span, "match kind")));
                actions.extend(listed_actions(table).into_iter().map(|action| action.id));
            }
        }
        for declaration in &program.declarations {
            declaration_expressions(declaration, &mut |expression| {
                let is_action = actions.contains(&expression.id);
                missing.extend(open(checked, expression, is_action).map(|what| (expression.span, what)));
            });
        }
        missing
    }

    fn unnamed<'n>(checked: &Checked, names: impl Iterator<Item = &'n Name>) -> impl Iterator<Item = Span> {
        names.filter(|name| checked.named(name).is_none()).map(|name| name.span)
    }

    fn next_states(state: &State) -> Vec<&Name> {
        match &state.transition {
            Some(Transition::Select { cases, .. }) => cases.iter().map(|case| &case.state).collect(),
            Some(Transition::Direct(name)) => vec![name],
            None => Vec::new(),
        }
    }

    fn match_kinds(table: &Table) -> impl Iterator<Item = &Name> {
        table.properties.iter().flat_map(|property| match &property.value {
            PropertyValue::Keys(keys) => keys.iter().map(|key| &key.match_kind).collect(),
            PropertyValue::Actions(_) | PropertyValue::Entries(_) | PropertyValue::Expression(_) => Vec::new(),
        })
    }

    /// What names an action in a table, which may do so without its arguments.
    fn listed_actions(table: &Table) -> Vec<&Expression> {
        let actions = table.properties.iter().flat_map(|property| match &property.value {
            PropertyValue::Actions(list) => list.iter().map(|reference| &reference.action).collect(),
            PropertyValue::Entries(entries) => entries.iter().map(|entry| &entry.action).collect(),
            PropertyValue::Expression(value) if property.name.as_str() == "default_action" => vec![value],
            PropertyValue::Expression(_) | PropertyValue::Keys(_) => Vec::new(),
        });
        actions.collect()
    }

    /// What the check should have found out about an expression and has not.
    fn open(checked: &Checked, expression: &Expression, is_action: bool) -> Option<&'static str> {
        let is_open = |part: &Known| {
            matches!(
                part,
                Known::Unknown
                    | Known::Inferred(_)
                    | Known::StructureLiteral { .. }
                    | Known::InvalidLiteral
                    | Known::DefaultLiteral
            )
        };
        let kind = &expression.kind;
        if is_action {
            return checked.call(expression).is_none().then_some("action");
        }
        if matches!(kind, ExpressionKind::DontCare | ExpressionKind::Type(_)) {
            return None;
        }
        if matches!(kind, ExpressionKind::Call { .. }) && checked.call(expression).is_none() {
            return Some("call");
        }
        if matches!(kind, ExpressionKind::Path(_)) && *checked.reference(expression) == Reference::None {
            return Some("reference");
        }
        checked.used_type(expression).any(&is_open).then_some("type")
    }
}
