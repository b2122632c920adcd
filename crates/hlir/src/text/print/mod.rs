//! Prints programs and plans: declarations first, then tables, then the graph, each kind in the order of its arena.
//!
//! The order of the text is the order of the arenas, so that numbers need not be written. Nothing here decides what a word or symbol is.

mod expression;
mod facts;
mod interface;
mod join;
mod lines;
mod lookup_sums;
mod node;
mod objects;
mod origin;
mod plan;
mod statement;
mod table;
mod types;

pub(crate) use interface::default_alias;
pub(crate) use origin::base_name;
pub use plan::print_path;

use super::names::{AllNames, Names, get, number};
use super::words::written;
use crate::program::error_code;
use crate::{Budget, Expression, Parameter, Plan, Program, Statement};
use la_arena::{Arena, Idx};
use lines::Lines;
use num_bigint::BigUint;
use origin::Sources;

/// The names of core.p4's errors, which every program has.
pub(crate) const CORE_ERRORS: [&str; error_code::PARSER_INVALID_ARGUMENT as usize + 1] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

/// Prints parts of one program. Making one costs a walk over its names, so code that prints many parts keeps it.
pub struct Printer<'p> {
    program: &'p Program,
    names: AllNames,
    sources: Sources,
}

pub fn print_program(program: &Program) -> String {
    Printer::new(program).program()
}

pub fn print_plan(plan: &Plan) -> String {
    plan::print(plan)
}

/// A program with its plan, as one text.
pub fn print_file(program: &Program, plan: Option<&Plan>) -> String {
    match plan {
        Some(plan) => format!("{}\n{}", print_program(program), print_plan(plan)),
        None => print_program(program),
    }
}

/// An expression in the body of an action with these parameters (none elsewhere).
pub fn print_expression(program: &Program, parameters: &[Parameter], expression: &Expression) -> String {
    Printer::new(program).expression(expression, parameters)
}

/// A statement in the body of an action with these parameters (none elsewhere): one line or several, without a line break at the end.
pub fn print_statement(program: &Program, parameters: &[Parameter], statement: &Statement) -> String {
    Printer::new(program).statement(statement, parameters)
}

impl<'p> Printer<'p> {
    pub fn new(program: &'p Program) -> Printer<'p> {
        Printer { program, names: AllNames::of(program), sources: Sources::default() }
    }

    fn program(mut self) -> String {
        let mut lines = Lines::default();
        let (sources, declared) = Sources::of(self.program);
        self.sources = sources;
        let Program { name, architecture, budget, entry, .. } = self.program;
        lines.add(format!("program {} for {}", written(name), written(architecture)));
        declared.iter().for_each(|line| lines.add(line));
        if *budget != Budget::default() {
            let Budget { reentries, copies, states, iterations } = budget;
            let line = format!("budget reentries {reentries} copies {copies} states {states} iterations {iterations}");
            lines.add(line);
        }
        self.errors(&mut lines);
        self.objects(&mut lines);
        for (id, table) in self.program.tables.iter() {
            lines.gap();
            self.table(&mut lines, id, table);
        }
        for join in &self.program.joins {
            lines.gap();
            self.join(&mut lines, join);
        }
        if !self.program.assumptions.is_empty() {
            lines.gap();
        }
        self.program.assumptions.iter().for_each(|assumption| self.assumption(&mut lines, assumption));
        if !self.program.lookup_sums.is_empty() {
            lines.gap();
        }
        self.program.lookup_sums.iter().for_each(|sum| lines.add(self.lookup_sum(sum)));
        lines.gap();
        for (_, parser) in self.program.parsers.iter() {
            self.parser(&mut lines, parser);
        }
        if let Some(entry) = entry {
            lines.gap();
            lines.add(format!("entry {}", self.node_name(*entry)));
        }
        for (_, node) in self.program.nodes.iter() {
            lines.gap();
            self.node(&mut lines, node);
        }
        self.interface(&mut lines);
        lines.text()
    }

    /// The errors beyond those of core.p4, or all of them in a program that begins with others.
    fn errors(&self, lines: &mut Lines) {
        let list = |names: &[String]| names.iter().map(|name| format!(" {}", written(name))).collect::<String>();
        let errors = &self.program.errors;
        match errors.split_at_checked(CORE_ERRORS.len()).filter(|(core, _)| *core == CORE_ERRORS) {
            Some((_, [])) => {}
            Some((_, own)) => lines.add(format!("errors {{{} }}", list(own))),
            None => lines.add(format!("errors only {{{} }}", list(errors))),
        }
    }

    fn node_name(&self, id: crate::NodeId) -> String {
        self.refer(&self.program.nodes, id, &self.names.nodes, |node| &node.name)
    }

    fn table_name(&self, id: crate::TableId) -> String {
        self.refer(&self.program.tables, id, &self.names.tables, |table| &table.name)
    }

    /// The name of `id`, or its number where the name does not lead back to it.
    fn refer<T>(&self, arena: &Arena<T>, id: Idx<T>, names: &Names, name: impl Fn(&T) -> &str) -> String {
        match get(arena, id).map(&name) {
            Some(name) if names.get(name) == Some(number(id)) => written(name),
            _ => format!("#{}", number(id)),
        }
    }
}

/// A number as people expect it: counts and small values in decimal, addresses, types and masks in hexadecimal of full width.
pub fn number_text(value: &BigUint, width: Option<u32>) -> String {
    let small_bits = match width {
        Some(0..16) | None => 10,
        Some(16..48) => 8,
        Some(_) => 3,
    };
    if value.bits() <= small_bits { value.to_string() } else { hexadecimal(value, width) }
}

pub(super) fn hexadecimal(value: &BigUint, width: Option<u32>) -> String {
    let digits = width.filter(|width| *width <= 128).unwrap_or(0).div_ceil(4) as usize;
    format!("0x{value:0>digits$x}")
}
