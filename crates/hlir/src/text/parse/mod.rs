//! Reads programs and plans. A first pass finds where each item begins and declares its name, so that references may lead forward; the
//! second reads the items, each within its own limits, so that an error in one leaves the others readable and all are reported.

mod cursor;
mod expression;
mod facts;
mod interface;
mod join;
mod lookup_sums;
mod node;
mod objects;
mod plan;
mod statement;
mod table;
mod types;

use super::lex::{Token, TokenKind, lex};
use super::names::{AllNames, Names, storage_names};
use super::print::Printer;
use super::words::ITEMS;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::verify::{Body, Places, Site};
use crate::{Parameter, Plan, Program};
use cursor::{Failed, Read};
use std::collections::HashMap;

/// Errors after which reading stops.
const MOST_ERRORS: usize = 100;

/// What a text contains, and the places of its parts.
#[derive(Debug)]
pub struct Parsed {
    /// An empty program if the text has none.
    pub program: Program,
    pub has_program: bool,
    pub plan: Option<Plan>,
    pub places: Places,
}

/// Reads a text with a program, a plan or both.
pub fn parse_file(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    let mut reader = Reader::new(text);
    let items = reader.items();
    reader.declare(&items);
    reader.define(&items);
    reader.finish()
}

/// Reads a text with a program and nothing else.
pub fn parse_program(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let parsed = parse_file(text)?;
    match (parsed.has_program, parsed.plan) {
        (true, None) => Ok(parsed.program),
        (true, Some(_)) => {
            Err(vec![Diagnostic::error("a plan follows the program").label(parsed.places.get(Site::Plan), "")])
        }
        (false, _) => {
            Err(vec![Diagnostic::error("the text has no program").hint("begin with `program NAME for v1model`")])
        }
    }
}

/// Reads a text with a plan and nothing else.
pub fn parse_plan(text: &str) -> Result<Plan, Vec<Diagnostic>> {
    let parsed = parse_file(text)?;
    match parsed.plan {
        Some(plan) if !parsed.has_program => Ok(plan),
        Some(_) => Err(vec![Diagnostic::error("the plan follows a program")]),
        None => Err(vec![Diagnostic::error("the text has no plan").hint("a plan is written `plan { … }`")]),
    }
}

/// A part of the outermost level: from its documentation to where the next one begins.
struct Item {
    keyword: &'static str,
    start: usize,
    at_keyword: usize,
    end: usize,
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    /// The tokens of the item in hand end here; what is read at or behind it is `sentinel`.
    end: usize,
    sentinel: Token,
    errors: Vec<Diagnostic>,
    names: AllNames,
    program: Program,
    has_program: bool,
    plan: Option<Plan>,
    places: Places,
    /// Names in a declaration that could not be read are unknown through no fault of those who use them.
    declarations_failed: bool,
    /// Paths of the source files by base name.
    sources: HashMap<String, String>,
    /// The one named first.
    main_source: Option<String>,
    depth: u32,
    parameters: Vec<Parameter>,
    body: Option<Body>,
    statements: u32,
    /// Keys that are named by their expressions: number of the table and of the key.
    unnamed_keys: Vec<(usize, usize)>,
}

impl Reader {
    fn new(text: &str) -> Reader {
        let mut errors = Vec::new();
        let tokens = lex(text, &mut errors);
        let end = tokens.len() - 1;
        let sentinel = tokens[end].clone();
        Reader {
            tokens,
            at: 0,
            end,
            sentinel,
            errors,
            names: AllNames::default(),
            program: Program::default(),
            has_program: false,
            plan: None,
            places: Places::default(),
            declarations_failed: false,
            sources: HashMap::new(),
            main_source: None,
            depth: 0,
            parameters: Vec::new(),
            body: None,
            statements: 0,
            unnamed_keys: Vec::new(),
        }
    }

    /// Finds the items: lines that begin with a keyword, outside all braces. Where braces do not match, a line counts if it is not indented.
    fn items(&mut self) -> Vec<Item> {
        match self.find_items(false) {
            Ok(items) => items,
            Err(at) => {
                self.errors.push(Diagnostic::error("a brace has no partner").label(at, "this one, or one before it"));
                self.find_items(true).unwrap_or_default()
            }
        }
    }

    fn find_items(&self, by_lines: bool) -> Result<Vec<Item>, Span> {
        let mut items: Vec<Item> = Vec::new();
        let mut open: Vec<Span> = Vec::new();
        let mut notes_start = None;
        for (at, token) in self.tokens.iter().enumerate() {
            if matches!(token.kind, TokenKind::Docs(_) | TokenKind::Annotation(_)) {
                notes_start = notes_start.or(Some(at));
                continue;
            }
            if token.kind == TokenKind::Symbol("{") {
                open.push(token.span);
            } else if token.kind == TokenKind::Symbol("}") && open.pop().is_none() && !by_lines {
                return Err(token.span);
            }
            let word = token.kind.word().filter(|_| token.first_of_line);
            let keyword = word.and_then(|word| ITEMS.iter().find(|item| **item == word));
            let outside = open.is_empty() || by_lines && token.at_margin;
            if let Some(keyword) = keyword.filter(|_| outside) {
                open.clear();
                let start = notes_start.unwrap_or(at);
                if let Some(last) = items.last_mut() {
                    last.end = start;
                }
                items.push(Item { keyword, start, at_keyword: at, end: self.tokens.len() - 1 });
            }
            notes_start = None;
        }
        match open.first() {
            Some(unclosed) if !by_lines => Err(*unclosed),
            Some(_) | None => Ok(items),
        }
    }

    fn enter(&mut self, item: &Item) {
        self.at = item.start;
        self.end = item.end;
        self.sentinel = Token { kind: TokenKind::End, ..self.tokens[item.end].clone() };
        self.depth = 0;
        self.parameters.clear();
        self.body = None;
    }

    /// Reads source files and storage, which refer to nothing, and takes down the names of all else.
    fn declare(&mut self, items: &[Item]) {
        for item in items.iter().filter(|item| item.keyword == "source") {
            self.enter(item);
            // What is wrong with it has been reported, and origins keep the name as they have it.
            let _ = self.source();
        }
        for item in items {
            self.enter(item);
            match item.keyword {
                "header" => {
                    self.declarations_failed |= self.header().is_err();
                }
                "variable" => {
                    self.declarations_failed |= self.variable().is_err();
                }
                _ => self.declare_name(item),
            }
        }
        self.names.storage = storage_names(&self.program);
    }

    fn declare_name(&mut self, item: &Item) {
        let names = match item.keyword {
            "table" => &mut self.names.tables,
            "counter" => &mut self.names.counters,
            "meter" => &mut self.names.meters,
            "register" => &mut self.names.registers,
            "crc" => &mut self.names.crcs,
            "digest" => &mut self.names.digests,
            "value_set" => &mut self.names.value_sets,
            "profile" => &mut self.names.profiles,
            "extern" => &mut self.names.externs,
            "parser" => &mut self.names.parsers,
            "node" => &mut self.names.nodes,
            _ => return,
        };
        if let Some(TokenKind::Name { text, .. }) = self.tokens.get(item.at_keyword + 1).map(|token| &token.kind) {
            names.declare(text);
        }
        if item.keyword == "table" {
            let actions = self.action_names(item);
            self.names.actions.push(actions);
        }
    }

    /// The names of a table's actions: what follows `action` directly within the table's braces.
    fn action_names(&self, item: &Item) -> Names {
        let mut names = Names::default();
        let mut depth = 0;
        for pair in self.tokens[item.at_keyword..item.end].windows(2) {
            match (&pair[0].kind, &pair[1].kind) {
                (TokenKind::Symbol("{"), _) => depth += 1,
                (TokenKind::Symbol("}"), _) => depth -= 1,
                (TokenKind::Name { text, quoted: false }, TokenKind::Name { text: name, .. })
                    if depth == 1 && text == "action" =>
                {
                    names.declare(name);
                }
                _ => {}
            }
        }
        names
    }

    fn define(&mut self, items: &[Item]) {
        let first = items.first().map_or(self.tokens.len() - 1, |item| item.start);
        if first > 0 {
            self.at = 0;
            self.fail("a declaration");
        }
        for item in items {
            if self.errors.len() >= MOST_ERRORS {
                return;
            }
            self.enter(item);
            if self.item(item.keyword).is_ok() && !self.is_end() {
                self.fail_with_hint("the end of this declaration", "every declaration begins a line");
            }
        }
    }

    fn item(&mut self, keyword: &'static str) -> Read<()> {
        match keyword {
            "source" | "header" | "variable" => {
                self.at = self.end;
                Ok(())
            }
            "program" => self.program_line(),
            "budget" => self.budget(),
            "errors" => self.error_names(),
            "crc" => self.crc(),
            "digest" => self.digest(),
            "register" => self.register(),
            "counter" => self.counter(),
            "meter" => self.meter(),
            "value_set" => self.value_set(),
            "profile" => self.profile(),
            "extern" => self.custom_extern(),
            "parser" => self.parser(),
            "table" => self.table(),
            "join" => self.join_item(),
            "assume" => self.assumption(),
            "lookups" => self.lookup_sum(),
            "entry" => self.entry(),
            "node" => self.node(),
            "interface" => self.interface(),
            "plan" => self.plan(),
            _ => Err(Failed),
        }
    }

    fn finish(mut self) -> Result<Parsed, Vec<Diagnostic>> {
        if self.errors.is_empty() {
            self.name_keys();
            let Reader { program, has_program, plan, places, .. } = self;
            return Ok(Parsed { program, has_program, plan, places });
        }
        self.errors.truncate(MOST_ERRORS);
        self.errors.sort_by_key(|error| error.span().start);
        Err(self.errors)
    }

    /// Gives keys that have none a name: their expression as it is printed.
    fn name_keys(&mut self) {
        let program = &self.program;
        let printer = Printer::new(program);
        let tables: Vec<_> = program.tables.iter().map(|(id, _)| id).collect();
        let name = |(table, key): &(usize, usize)| {
            let id = tables[*table];
            (id, *key, printer.expression(&program.tables[id].keys[*key].value, &[]))
        };
        let named: Vec<_> = self.unnamed_keys.iter().map(name).collect();
        for (table, key, name) in named {
            self.program.tables[table].keys[key].name = name;
        }
    }
}
