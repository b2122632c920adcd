//! Smaller versions of a program: parts of its syntax tree left out, or replaced by what they contain.

use p4::ast::{
    Block, Declaration, DeclarationKind, Expression, ExpressionKind, Property, PropertyValue, Span, State, Statement,
    StatementKind, Transition, walk,
};

/// Parts of the text and their replacements.
pub type Edit = Vec<(Span, String)>;

/// What may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Parts are left out only: where a message is to stay, another expression could make it true.
    Deletions,
    All,
}

struct Collector<'t> {
    text: &'t str,
    /// Where the program begins behind its architecture.
    begin: u32,
    changes: Changes,
    edits: Vec<Edit>,
}

/// All edits of the declarations behind `begin`, those that take away most first.
pub fn edits(text: &str, begin: u32, declarations: &[Declaration], changes: Changes) -> Vec<Edit> {
    let mut collector = Collector { text, begin, changes, edits: Vec::new() };
    let own: Vec<&Declaration> =
        declarations.iter().filter(|declaration| declaration.span.start >= collector.begin).collect();
    collector.list(&own.iter().map(|declaration| declaration.span).collect::<Vec<_>>());
    own.iter().for_each(|declaration| collector.declaration(declaration));
    let mut edits = collector.edits;
    let saved =
        |edit: &Edit| edit.iter().map(|(span, new)| (span.end - span.start) as i64 - new.len() as i64).sum::<i64>();
    edits.retain(|edit| saved(edit) > 0);
    edits.sort_by_key(|edit| -saved(edit));
    edits
}

impl Collector<'_> {
    fn snippet(&self, span: Span) -> String {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("").to_string()
    }

    /// Runs of the items of a list: all, halves, quarters, down to one.
    fn list(&mut self, spans: &[Span]) {
        let mut size = spans.len();
        while size > 0 {
            for chunk in spans.chunks(size) {
                self.edits.push(chunk.iter().map(|span| (*span, String::new())).collect());
            }
            size /= 2;
        }
    }

    fn replace(&mut self, span: Span, new: String) {
        self.edits.push(vec![(span, new)]);
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Control(control) => {
                self.list(&control.locals.iter().map(|local| local.span).collect::<Vec<_>>());
                control.locals.iter().for_each(|local| self.declaration(local));
                control.apply.iter().for_each(|body| self.block(body));
            }
            DeclarationKind::Parser(parser) => {
                let Some(body) = &parser.body else { return };
                self.list(&body.locals.iter().map(|local| local.span).collect::<Vec<_>>());
                body.locals.iter().for_each(|local| self.declaration(local));
                self.list(&body.states.iter().map(|state| state.span).collect::<Vec<_>>());
                body.states.iter().for_each(|state| self.state(state));
            }
            DeclarationKind::Action { body, .. } => self.block(body),
            DeclarationKind::Function(function) => function.body.iter().for_each(|body| self.block(body)),
            DeclarationKind::Structure(structure) => {
                self.list(&structure.fields.iter().map(|field| field.span).collect::<Vec<_>>());
            }
            DeclarationKind::Table(table) => {
                self.list(&table.properties.iter().map(|property| property.span).collect::<Vec<_>>());
                table.properties.iter().for_each(|property| self.property(property));
            }
            DeclarationKind::Variable(variable) => variable.value.iter().for_each(|value| self.expression(value)),
            DeclarationKind::Constant(constant) => self.expression(&constant.value),
            DeclarationKind::Instance(_)
            | DeclarationKind::Typedef { .. }
            | DeclarationKind::NewType { .. }
            | DeclarationKind::Enumeration(_)
            | DeclarationKind::Error(_)
            | DeclarationKind::MatchKind(_)
            | DeclarationKind::Extern(_)
            | DeclarationKind::Package(_)
            | DeclarationKind::ValueSet(_)
            | DeclarationKind::Assertion(_) => {}
        }
    }

    fn property(&mut self, property: &Property) {
        match &property.value {
            PropertyValue::Keys(keys) => {
                self.list(&keys.iter().map(|key| key.span).collect::<Vec<_>>());
                keys.iter().for_each(|key| self.expression(&key.expression));
            }
            PropertyValue::Actions(actions) => {
                self.list(&actions.iter().map(|action| action.span).collect::<Vec<_>>());
                actions.iter().for_each(|action| self.expression(&action.action));
            }
            PropertyValue::Entries(entries) => {
                self.list(&entries.iter().map(|entry| entry.span).collect::<Vec<_>>());
            }
            PropertyValue::Expression(_) => {}
        }
    }

    fn state(&mut self, state: &State) {
        self.statements(&state.statements);
        if let Some(Transition::Select { span, subjects, cases }) = &state.transition {
            self.list(&cases.iter().map(|case| case.span).collect::<Vec<_>>());
            subjects.iter().for_each(|subject| self.expression(subject));
            if self.changes == Changes::All {
                let targets = cases.iter().map(|case| case.state.as_str()).chain(["accept"]);
                targets.for_each(|target| self.edits.push(vec![(*span, format!("{target};"))]));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.statements(&block.statements);
    }

    fn statements(&mut self, statements: &[Statement]) {
        self.list(&statements.iter().map(|statement| statement.span).collect::<Vec<_>>());
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value, .. } => {
                self.expression(target);
                self.expression(value);
            }
            StatementKind::Call(call) => self.expression(call),
            StatementKind::If { condition, accepted, rejected } => {
                for branch in [Some(accepted), rejected.as_ref()].into_iter().flatten() {
                    self.replace(statement.span, self.snippet(branch.span));
                    self.statement(branch);
                }
                if let Some(rejected) = rejected {
                    let kept = Span { start: statement.span.start, end: accepted.span.end };
                    self.replace(Span { start: kept.end, end: rejected.span.end }, String::new());
                }
                self.expression(condition);
            }
            StatementKind::Block(block) => {
                self.replace(statement.span, block.statements.iter().map(|inner| self.snippet(inner.span)).collect());
                self.block(block);
            }
            StatementKind::Switch { subject, cases } => {
                self.list(&cases.iter().map(|case| case.span).collect::<Vec<_>>());
                for body in cases.iter().filter_map(|case| case.body.as_ref()) {
                    self.replace(statement.span, self.snippet(body.span));
                    self.block(body);
                }
                self.expression(subject);
            }
            StatementKind::For(parts) => {
                self.replace(statement.span, self.snippet(parts.body.span));
                self.statement(&parts.body);
            }
            StatementKind::ForIn(parts) => {
                self.replace(statement.span, self.snippet(parts.body.span));
                self.statement(&parts.body);
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.expression(value)),
            StatementKind::Declare(declaration) => self.declaration(declaration),
            StatementKind::Empty | StatementKind::Break | StatementKind::Continue | StatementKind::Exit => {}
        }
    }

    /// An expression as one of its parts, or as a constant.
    fn expression(&mut self, expression: &Expression) {
        if self.changes == Changes::Deletions {
            return;
        }
        let mut found = Vec::new();
        walk::expressions(expression, &mut |part| found.push(part));
        for part in found {
            if matches!(part.kind, ExpressionKind::Bool(_) | ExpressionKind::Path(_)) {
                continue;
            }
            for child in part.children() {
                self.replace(part.span, format!("({})", self.snippet(child.span)));
                self.replace(part.span, self.snippet(child.span));
            }
            for constant in ["0", "1", "true", "false"] {
                self.replace(part.span, constant.to_string());
            }
        }
    }
}
