//! What an editor asks about a checked program: the declaration that each name means, and its type.

// A question about the tree concerns a few of its many variants, as in `p4::check`.
#![allow(clippy::wildcard_enum_match_arm)]

use hlir::source::Span;
use p4::ast::{
    self, Declaration, DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind, PropertyValue, Transition,
};
use p4::check::{Callee, Checked, Node, Reference, Source};
use p4::evaluate::Value;
use p4::types::Type;
use std::collections::{BTreeMap, HashMap};

/// A declaration.
#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub span: Span,
    /// As in a program: `header ethernet_t`, `bit<8> ttl`.
    pub title: String,
    pub bits: Option<u32>,
    pub value: Option<String>,
    pub documentation: Option<String>,
    pub is_table: bool,
    /// Whether all of its uses are known.
    pub is_renamed: bool,
}

/// A name in the text.
#[derive(Clone, Debug, Default)]
pub struct Occurrence {
    pub symbol: Option<DeclarationId>,
    /// The type of the expression, if it is one.
    pub of_type: Option<String>,
    pub bits: Option<u32>,
}

#[derive(Default)]
pub struct Index {
    pub symbols: HashMap<DeclarationId, Symbol>,
    /// By the span of the name.
    pub occurrences: BTreeMap<Span, Occurrence>,
}

impl Index {
    /// The name at an offset, or the one that ends there.
    pub fn at(&self, offset: u32) -> Option<(Span, &Occurrence)> {
        let before = self.occurrences.range(..=Span::new(offset, u32::MAX)).rev().take(3);
        let found = before
            .filter(|(span, _)| span.start <= offset && offset <= span.end)
            .min_by_key(|(span, _)| span.end - span.start);
        found.map(|(span, occurrence)| (*span, occurrence))
    }

    /// All places of a declaration's name.
    pub fn uses(&self, symbol: DeclarationId) -> Vec<Span> {
        self.occurrences.iter().filter(|(_, it)| it.symbol == Some(symbol)).map(|(span, _)| *span).collect()
    }
}

pub fn index(checked: &Checked<'_>, text: &str) -> Index {
    let mut builder = Builder { checked, index: Index::default() };
    let mut types: HashMap<&str, DeclarationId> = HashMap::new();
    for (id, node) in checked.nodes() {
        builder.symbol(id, node);
        if is_type(node) {
            types.entry(node.name().as_str()).or_insert(id);
        }
    }
    for declaration in &checked.program.declarations {
        ast::walk::declaration_expressions(declaration, &mut |expression| builder.expression(expression));
    }
    checked.declarations().for_each(|declaration| builder.names(declaration));
    builder.types(text, &types);
    builder.index
}

struct Builder<'c, 'a> {
    checked: &'c Checked<'a>,
    index: Index,
}

impl<'a> Builder<'_, 'a> {
    fn put(&mut self, span: Span, symbol: Option<DeclarationId>, expression: Option<&Expression>) {
        if span.is_none() {
            return;
        }
        let of_type = expression.map(|expression| self.checked.type_of(expression));
        let known = of_type.filter(|of_type| !matches!(of_type, Type::Unknown | Type::Callable | Type::Name(_)));
        let occurrence = self.index.occurrences.entry(span).or_default();
        occurrence.symbol = symbol.or(occurrence.symbol);
        if let Some(of_type) = known {
            occurrence.of_type = Some(of_type.to_string());
            occurrence.bits = self.checked.width_of(of_type);
        }
    }

    fn symbol(&mut self, id: DeclarationId, node: Node<'a>) {
        let name = node.name();
        // Named by a keyword.
        if matches!(node, Node::Declaration(it) if matches!(it.kind, DeclarationKind::Error(_) | DeclarationKind::MatchKind(_) | DeclarationKind::Assertion(_)))
        {
            return;
        }
        let of_type = self.checked.declared_type(id);
        let attributes = match node {
            Node::Declaration(declaration) => Some(&declaration.attributes),
            Node::Field { field, .. } => Some(&field.attributes),
            Node::Member { member, .. } => Some(&member.attributes),
            Node::Method { method, .. } => Some(&method.attributes),
            Node::Parameter { parameter, .. } => Some(&parameter.attributes),
            Node::State { state, .. } => Some(&state.attributes),
            Node::TypeParameter { .. } => None,
        };
        let is_table = matches!(node, Node::Declaration(it) if matches!(it.kind, DeclarationKind::Table(_)));
        let symbol = Symbol {
            name: name.as_str().to_string(),
            span: name.span,
            title: title(node, of_type),
            bits: self.checked.width_of(of_type),
            value: self.checked.constant_value(id).and_then(written),
            documentation: attributes.and_then(|it| it.documentation.as_ref()).map(|text| text.to_string()),
            is_table,
            is_renamed: !matches!(node, Node::TypeParameter { .. } | Node::Method { .. }) && name.as_str() != "main",
        };
        self.index.symbols.insert(id, symbol);
        self.put(name.span, Some(id), None);
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let Some(span) = name_of(expression) {
            let symbol = match self.checked.reference(expression) {
                Reference::Declaration(id) | Reference::Field(id) | Reference::Member(id) => Some(*id),
                Reference::Type(named) => named.nominal().map(|nominal| nominal.declaration),
                Reference::None | Reference::Property(_) | Reference::Callee | Reference::This(_) => None,
            };
            let call = self.checked.call(expression).and_then(|call| called(&call.callee));
            self.put(span, symbol.or(call), Some(expression));
        }
        match &expression.kind {
            ExpressionKind::Call { callee, arguments, .. } => self.call(expression, callee, arguments),
            ExpressionKind::Structure { fields, .. } => {
                let known = self.checked.fields_of(self.checked.used_type(expression));
                for field in fields {
                    let found = known.iter().find(|known| known.name == field.name.text);
                    self.put(field.name.span, found.map(|found| found.id), Some(&field.value));
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, expression: &'a Expression, callee: &'a Expression, arguments: &'a [ast::Argument]) {
        let Some(call) = self.checked.call(expression) else { return };
        if let (Some(span), Some(symbol)) = (name_of(callee), called(&call.callee)) {
            self.put(span, Some(symbol), None);
            if let Some(occurrence) = self.index.occurrences.get_mut(&span) {
                occurrence.of_type = Some(call.result.to_string());
            }
        }
        for binding in &call.bindings {
            if let Source::Argument(at) = binding.source
                && let Some(argument) = arguments.get(at)
                && let Some(name) = &argument.name
            {
                self.put(name.span, Some(binding.parameter), Some(&argument.value));
            }
        }
    }

    /// Names that are no expressions: states in transitions, match kinds, arguments of instances.
    fn names(&mut self, declaration: &'a Declaration) {
        let mut found = Vec::new();
        match &declaration.kind {
            DeclarationKind::Parser(parser) => {
                for state in parser.body.iter().flat_map(|body| &body.states) {
                    match &state.transition {
                        Some(Transition::Direct(name)) => found.push(name),
                        Some(Transition::Select { cases, .. }) => found.extend(cases.iter().map(|case| &case.state)),
                        None => {}
                    }
                }
            }
            DeclarationKind::Table(table) => {
                for property in &table.properties {
                    if let PropertyValue::Keys(keys) = &property.value {
                        found.extend(keys.iter().map(|key| &key.match_kind));
                    }
                }
            }
            _ => {}
        }
        for name in found {
            let symbol = self.checked.named(name);
            self.put(name.span, symbol, None);
        }
        if let (DeclarationKind::Instance(instance), Some(call)) =
            (&declaration.kind, self.checked.instance(declaration.id))
        {
            for binding in &call.bindings {
                if let Source::Argument(at) = binding.source
                    && let Some(name) = instance.arguments.get(at).and_then(|argument| argument.name.as_ref())
                {
                    self.put(name.span, Some(binding.parameter), None);
                }
            }
        }
    }

    /// Names of types, where nothing else is known of a word. Types have names of their own in a program.
    fn types(&mut self, text: &str, types: &HashMap<&str, DeclarationId>) {
        let mut before = ' ';
        for (span, word) in words(text) {
            let start = span.start as usize;
            before = text[..start].chars().rev().find(|letter| !letter.is_whitespace()).unwrap_or(before);
            if let Some(id) = types.get(word).filter(|_| before != '.')
                && self.index.occurrences.get(&span).is_none_or(|known| known.symbol.is_none())
            {
                self.put(span, Some(*id), None);
            }
        }
    }
}

/// Words outside comments, strings and lines of the preprocessor.
fn words(text: &str) -> Vec<(Span, &str)> {
    let is_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    let to = |from: usize, end: &str| {
        text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |next| from + next)
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let is_line_start = at == 0 || bytes[at - 1] == b'\n';
        at = if rest.starts_with(b"//") || rest[0] == b'#' && is_line_start {
            to(at, "\n")
        } else if rest.starts_with(b"/*") {
            to(at + 2, "*/") + 2
        } else if rest[0] == b'"' {
            to(at + 1, "\"") + 1
        } else if is_word(rest[0]) {
            let end = at + rest.iter().position(|letter| !is_word(*letter)).unwrap_or(rest.len());
            words.push((Span::new(at as u32, end as u32), &text[at..end]));
            end
        } else {
            at + 1
        };
    }
    words
}

fn name_of(expression: &Expression) -> Option<Span> {
    match &expression.kind {
        ExpressionKind::Path(path) => Some(path.name.span),
        ExpressionKind::Member { member, .. } => Some(member.span),
        _ => None,
    }
}

fn called(callee: &Callee) -> Option<DeclarationId> {
    match callee {
        Callee::Function(id) | Callee::Action(id) | Callee::Method { method: id, .. } => Some(*id),
        Callee::Constructor { object, .. } => object.nominal().map(|nominal| nominal.declaration),
        Callee::ApplyTable(_) | Callee::Apply { .. } | Callee::ApplyDirect { .. } | Callee::Builtin(_) => None,
    }
}

fn is_type(node: Node<'_>) -> bool {
    let Node::Declaration(declaration) = node else { return false };
    match declaration.kind {
        DeclarationKind::Typedef { .. }
        | DeclarationKind::NewType { .. }
        | DeclarationKind::Structure(_)
        | DeclarationKind::Enumeration(_)
        | DeclarationKind::Extern(_)
        | DeclarationKind::Parser(_)
        | DeclarationKind::Control(_)
        | DeclarationKind::Package(_) => true,
        DeclarationKind::Constant(_)
        | DeclarationKind::Variable(_)
        | DeclarationKind::Instance(_)
        | DeclarationKind::Error(_)
        | DeclarationKind::MatchKind(_)
        | DeclarationKind::Function(_)
        | DeclarationKind::Action { .. }
        | DeclarationKind::Table(_)
        | DeclarationKind::ValueSet(_)
        | DeclarationKind::Assertion(_) => false,
    }
}

fn title(node: Node<'_>, of_type: &Type) -> String {
    let name = node.name();
    match node {
        Node::Field { .. } => format!("{of_type} {name}"),
        Node::Member { .. } => name.to_string(),
        Node::Method { method, .. } => format!("{of_type} {name}({})", list(&method.parameters)),
        Node::Parameter { parameter, .. } => format!("{}{of_type} {name}", direction(parameter.direction)),
        Node::TypeParameter { .. } => format!("type parameter {name}"),
        Node::State { .. } => format!("state {name}"),
        Node::Declaration(declaration) => match &declaration.kind {
            DeclarationKind::Constant(_) => format!("const {of_type} {name}"),
            DeclarationKind::Typedef { .. } => format!("typedef {of_type} {name}"),
            DeclarationKind::NewType { .. } => format!("type {name}"),
            DeclarationKind::Enumeration(_) => format!("enum {name}"),
            DeclarationKind::Extern(_) => format!("extern {name}"),
            DeclarationKind::Function(function) => format!("{of_type} {name}({})", list(&function.parameters)),
            DeclarationKind::Action { parameters, .. } => format!("action {name}({})", list(parameters)),
            DeclarationKind::Table(_) => format!("table {name}"),
            DeclarationKind::Structure(_)
            | DeclarationKind::Parser(_)
            | DeclarationKind::Control(_)
            | DeclarationKind::Package(_) => of_type.to_string(),
            DeclarationKind::Variable(_)
            | DeclarationKind::Instance(_)
            | DeclarationKind::Error(_)
            | DeclarationKind::MatchKind(_)
            | DeclarationKind::ValueSet(_)
            | DeclarationKind::Assertion(_) => format!("{of_type} {name}"),
        },
    }
}

fn list(parameters: &[ast::Parameter]) -> String {
    let names: Vec<String> = parameters.iter().map(|it| format!("{}{}", direction(it.direction), it.name)).collect();
    names.join(", ")
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::None => "",
        Direction::In => "in ",
        Direction::Out => "out ",
        Direction::InOut => "inout ",
    }
}

fn written(value: &Value) -> Option<String> {
    match value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(value) if value.magnitude().bits() > 3 => Some(format!("{value} ({value:#x})")),
        Value::Integer(value) => Some(value.to_string()),
        Value::String(text) => Some(format!("{text:?}")),
        _ => None,
    }
}
