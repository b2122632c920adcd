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
            let mut walk = complete::Walk { checked: &checked, missing: Vec::new() };
            if !found.iter().any(|diagnostic| diagnostic.is_error()) {
                walk.declarations(&parsed.program.declarations);
            }
            for (span, what) in walk.missing.iter().take(3) {
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
    use p4::ast::*;
    use p4::check::Checked;
    use p4::types::Type as Known;

    pub struct Walk<'a> {
        pub checked: &'a Checked<'a>,
        pub missing: Vec<(Span, &'static str)>,
    }

    impl<'a> Walk<'a> {
        pub fn declarations(&mut self, list: &'a [Declaration]) {
            for declaration in list {
                self.declaration(declaration);
            }
        }

        fn declaration(&mut self, declaration: &'a Declaration) {
            match &declaration.kind {
                DeclarationKind::Constant(constant) => self.expression(&constant.value),
                DeclarationKind::Variable(variable) => self.expressions(variable.value.as_slice()),
                DeclarationKind::Instance(instance) => {
                    self.arguments(&instance.arguments);
                    self.declarations(instance.body.as_deref().unwrap_or(&[]));
                    if self.checked.instance(declaration.id).is_none() {
                        self.missing.push((declaration.name.span, "instance"));
                    }
                }
                DeclarationKind::Enumeration(enumeration) => {
                    for member in &enumeration.members {
                        self.expressions(member.value.as_slice());
                    }
                }
                DeclarationKind::Function(function) => self.blocks(function.body.as_slice()),
                DeclarationKind::Action { body, .. } => self.statements(&body.statements),
                DeclarationKind::Parser(parser) => self.parser(parser),
                DeclarationKind::Control(control) => {
                    self.declarations(&control.locals);
                    self.blocks(control.apply.as_slice());
                }
                DeclarationKind::Table(table) => self.table(table),
                DeclarationKind::ValueSet(set) => self.expression(&set.size),
                DeclarationKind::Assertion(call) => self.expression(call),
                DeclarationKind::Typedef { .. }
                | DeclarationKind::NewType { .. }
                | DeclarationKind::Structure(_)
                | DeclarationKind::Error(_)
                | DeclarationKind::MatchKind(_)
                | DeclarationKind::Extern(_)
                | DeclarationKind::Package(_) => {}
            }
        }

        fn parser(&mut self, parser: &'a Parser) {
            let Some(body) = &parser.body else { return };
            self.declarations(&body.locals);
            for state in &body.states {
                self.statements(&state.statements);
                match &state.transition {
                    Some(Transition::Select { subjects, cases, .. }) => {
                        self.expressions(subjects);
                        for case in cases {
                            self.expressions(&case.keys);
                            self.name(&case.state);
                        }
                    }
                    Some(Transition::Direct(name)) => self.name(name),
                    None => {}
                }
            }
        }

        fn name(&mut self, name: &Name) {
            if !matches!(name.as_str(), "accept" | "reject") && self.checked.named(name).is_none() {
                self.missing.push((name.span, "state"));
            }
        }

        fn table(&mut self, table: &'a Table) {
            for property in &table.properties {
                match &property.value {
                    PropertyValue::Keys(keys) => {
                        for key in keys {
                            self.expression(&key.expression);
                            self.name(&key.match_kind);
                        }
                    }
                    PropertyValue::Actions(list) => {
                        for reference in list {
                            self.action(&reference.action);
                        }
                    }
                    PropertyValue::Entries(entries) => {
                        for entry in entries {
                            self.expressions(entry.priority.as_slice());
                            self.expressions(&entry.keys);
                            self.action(&entry.action);
                        }
                    }
                    PropertyValue::Expression(value) if property.name.as_str() == "default_action" => {
                        self.action(value)
                    }
                    PropertyValue::Expression(value) => self.expression(value),
                }
            }
        }

        fn action(&mut self, reference: &'a Expression) {
            if self.checked.call(reference).is_none() {
                self.missing.push((reference.span, "action"));
            }
            if let ExpressionKind::Call { arguments, .. } = &reference.kind {
                self.arguments(arguments);
            }
        }

        fn blocks(&mut self, blocks: &'a [Block]) {
            for block in blocks {
                self.statements(&block.statements);
            }
        }

        fn statements(&mut self, list: &'a [Statement]) {
            for statement in list {
                self.statement(statement);
            }
        }

        fn statement(&mut self, statement: &'a Statement) {
            match &statement.kind {
                StatementKind::Assign { target, value, .. } => {
                    self.expression(target);
                    self.expression(value);
                }
                StatementKind::Call(call) => self.expression(call),
                StatementKind::If { condition, accepted, rejected } => {
                    self.expression(condition);
                    self.statement(accepted);
                    if let Some(rejected) = rejected {
                        self.statement(rejected);
                    }
                }
                StatementKind::Block(block) => self.statements(&block.statements),
                StatementKind::Switch { subject, cases } => {
                    self.expression(subject);
                    for case in cases {
                        if let SwitchLabel::Expression(label) = &case.label {
                            self.expression(label);
                        }
                        self.blocks(case.body.as_slice());
                    }
                }
                StatementKind::For(parts) => {
                    self.statements(&parts.initial);
                    self.expression(&parts.condition);
                    self.statements(&parts.update);
                    self.statement(&parts.body);
                }
                StatementKind::ForIn(parts) => {
                    match &parts.collection {
                        Collection::Expression(collection) => self.expression(collection),
                        Collection::Range { low, high } => {
                            self.expression(low);
                            self.expression(high);
                        }
                    }
                    self.statement(&parts.body);
                }
                StatementKind::Return(value) => self.expressions(value.as_slice()),
                StatementKind::Declare(declaration) => self.declaration(declaration),
                StatementKind::Empty | StatementKind::Break | StatementKind::Continue | StatementKind::Exit => {}
            }
        }

        fn arguments(&mut self, arguments: &'a [Argument]) {
            for argument in arguments.iter().filter(|one| !matches!(one.value.kind, ExpressionKind::DontCare)) {
                self.expression(&argument.value);
            }
        }

        fn expressions(&mut self, list: &'a [Expression]) {
            for expression in list {
                self.expression(expression);
            }
        }

        fn expression(&mut self, expression: &'a Expression) {
            let open = |of_type: &Known| {
                of_type.any(&|part| {
                    matches!(
                        part,
                        Known::Unknown
                            | Known::Inferred(_)
                            | Known::StructureLiteral { .. }
                            | Known::InvalidLiteral
                            | Known::DefaultLiteral
                    )
                })
            };
            if open(self.checked.used_type(expression)) {
                self.missing.push((expression.span, "type"));
            }
            if let ExpressionKind::Call { .. } = expression.kind
                && self.checked.call(expression).is_none()
            {
                self.missing.push((expression.span, "call"));
            }
            if let ExpressionKind::Path(_) = expression.kind
                && *self.checked.reference(expression) == p4::check::Reference::None
            {
                self.missing.push((expression.span, "reference"));
            }
            for part in parts(expression) {
                self.expression(part);
            }
        }
    }

    fn parts(expression: &Expression) -> Vec<&Expression> {
        match &expression.kind {
            ExpressionKind::List { elements, .. } => elements.iter().collect(),
            ExpressionKind::Structure { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            ExpressionKind::Unary { operand: only, .. }
            | ExpressionKind::Cast { operand: only, .. }
            | ExpressionKind::Member { base: only, .. } => vec![only],
            ExpressionKind::Binary { left: first, right: second, .. }
            | ExpressionKind::Index { base: first, index: second }
            | ExpressionKind::Mask { value: first, mask: second }
            | ExpressionKind::Range { low: first, high: second } => vec![first, second],
            ExpressionKind::Conditional { condition: first, accepted: second, rejected: third }
            | ExpressionKind::Slice { base: first, high: second, low: third }
            | ExpressionKind::PlusSlice { base: first, low: second, width: third } => vec![first, second, third],
            ExpressionKind::Call { callee, arguments, .. } => {
                let values = arguments.iter().map(|argument| &argument.value);
                let given = values.filter(|value| !matches!(value.kind, ExpressionKind::DontCare));
                let callee = Some(&**callee).filter(|callee| !matches!(callee.kind, ExpressionKind::Type(_)));
                callee.into_iter().chain(given).collect()
            }
            ExpressionKind::Bool(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::String(_)
            | ExpressionKind::Path(_)
            | ExpressionKind::This
            | ExpressionKind::Type(_)
            | ExpressionKind::Invalid
            | ExpressionKind::DefaultValue
            | ExpressionKind::DontCare
            | ExpressionKind::Default
            | ExpressionKind::Erroneous => Vec::new(),
        }
    }
}
