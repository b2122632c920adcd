//! The parser: recursive descent over the tokens, a file for each part of the grammar.
//!
//! A mistake is reported where it is found and answered with `Failed`. A loop of the parser (over statements of a block,
//! fields of a struct) then continues at the next `;` or `}`. So one run reports all mistakes.

mod annotation_shapes;
mod annotations;
mod controls;
mod cursor;
mod declarations;
mod expressions;
mod externs;
mod foreign;
mod keysets;
mod lookahead;
mod operators;
mod parsers;
mod recovery;
mod scopes;
mod statements;
mod structures;
mod tables;
mod types;

use std::collections::HashSet;
use std::sync::Arc;

use hlir::diagnostic::Diagnostic;
use hlir::source::{SourceMap, Span};

use crate::ast::{Attributes, Declaration, DeclarationId, Expression, ExpressionId, ExpressionKind, Program};
use crate::lex::{Lexed, Token, lex};
use crate::preprocess::source_map;
use crate::stack::with_deep_stack;
use scopes::Scopes;

/// How many levels of syntax may be inside each other: what later phases, which walk the tree recursively, find room for
/// on the stack of `with_deep_stack`. Chains of operators may have twice as many.
pub const DEEPEST_NESTING: u32 = 1000;

/// What became of a text: as much of a program as could be understood, and what is wrong with the rest.
pub struct Parsed {
    pub program: Program,
    pub map: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a preprocessed program. `file` is the name of the lines before the first line mark of the preprocessor.
pub fn parse(file: &str, text: &str) -> Parsed {
    with_deep_stack(|| parse_here(file, text))
}

fn parse_here(file: &str, text: &str) -> Parsed {
    let map = source_map(file, text);
    let Lexed { tokens, documentation, diagnostics } = lex(text);
    let mut parser = Parser {
        text,
        tokens,
        documentation,
        position: 0,
        diagnostics,
        last_reported: None,
        gave_up: false,
        names: HashSet::new(),
        scopes: Scopes::new(),
        angles: Angles::Operators,
        place: Place::Code,
        depth: 0,
        heights: Vec::new(),
        declaration_count: 0,
    };
    let declarations = parser.program();
    let from_elsewhere = |declaration: &&Declaration| map.is_included(declaration.name.span.start);
    let mut included: Vec<DeclarationId> =
        declarations.iter().filter(from_elsewhere).map(|declaration| declaration.id).collect();
    included.sort_unstable();
    let program = Program {
        declarations,
        included,
        expression_count: parser.heights.len() as u32,
        declaration_count: parser.declaration_count,
    };
    Parsed { program, map, diagnostics: parser.diagnostics }
}

/// The mistake has been reported; what was to be parsed is not there.
#[derive(Debug)]
struct Failed;

type Parse<T> = Result<T, Failed>;

/// What a `>` in an expression means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Angles {
    /// A comparison, or half a shift.
    Operators,
    /// The end of the width or of the type arguments the expression is in.
    Close,
}

/// The place of statements: states of parsers have fewer of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    State,
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    documentation: Vec<(usize, Span)>,
    /// Index of the next token.
    position: usize,
    diagnostics: Vec<Diagnostic>,
    /// The token the last mistake was reported at: a second one there would only be a consequence.
    last_reported: Option<usize>,
    /// Nesting was too deep; the rest of the text is not looked at.
    gave_up: bool,
    names: HashSet<Arc<str>>,
    scopes: Scopes,
    angles: Angles,
    place: Place,
    depth: u32,
    /// Of each expression, the number of levels of expressions in it: long chains of operators nest deeply, too.
    heights: Vec<u32>,
    declaration_count: u32,
}

impl Parser<'_> {
    /// Parses something one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST_NESTING {
            return Err(self.give_up());
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses something in which `>` means what is given.
    fn with_angles<T>(&mut self, angles: Angles, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        let outside = std::mem::replace(&mut self.angles, angles);
        let parsed = parse(self);
        self.angles = outside;
        parsed
    }

    /// Makes an expression with the next id.
    fn build(&mut self, span: Span, kind: ExpressionKind) -> Parse<Expression> {
        let id = ExpressionId(self.heights.len() as u32);
        let expression = Expression { id, span, kind };
        let below = expression.children().iter().map(|child| self.heights[child.id.index()]).max().unwrap_or(0);
        self.heights.push(below + 1);
        if below + 1 + self.depth > 2 * DEEPEST_NESTING {
            return Err(self.give_up());
        }
        Ok(expression)
    }

    fn declaration_id(&mut self) -> DeclarationId {
        self.declaration_count += 1;
        DeclarationId(self.declaration_count - 1)
    }

    /// The documentation and annotations at this place, possibly none.
    fn attributes(&mut self) -> Parse<Attributes> {
        let documentation = self.documentation_here();
        let annotations = self.annotations()?;
        Ok(Attributes { annotations, documentation })
    }

    /// The text of the comment `/** ... */` that precedes the next token, without stars at the beginning of its lines.
    fn documentation_here(&self) -> Option<Arc<str>> {
        let found = self.documentation.binary_search_by_key(&self.position, |(token, _)| *token).ok()?;
        let span = self.documentation[found].1;
        let comment = self.text.get(span.start as usize + 3..span.end as usize - 2)?;
        let lines = comment.lines().map(|line| line.trim().trim_start_matches('*').trim());
        let text = lines.collect::<Vec<_>>().join("\n");
        Some(text.trim().into())
    }
}
