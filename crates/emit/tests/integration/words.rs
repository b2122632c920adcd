//! No name of a program is a word of C: all that the headers of generated code define or declare, by the C compilers of this machine, are names here.

use crate::compilers::COMPILERS;
use hlir::plan::{Descriptor, Plan};
use hlir::{Expression, Node, NodeId, NodeKind, Place, Program, Statement, Variable};
use std::collections::BTreeSet;

const PROGRAM: &str = "program words for none
header hdr.e: e_t { dst: 48, type: 16 }
variable meta.port: 9
variable sum: 8
variable error: 32
table hosts {
  key hdr.e.dst: exact
  action send(number: 8) { sum = number }
  default send(1)
}
parser p { start start, accept hosts, reject hosts, error error }
entry start
node start: state of p { extract hdr.e } -> hosts
node hosts: apply hosts -> last
node last: block { meta.port = 1 } -> departure
node departure: buffer { send u32(meta.port) }
";

/// The identifiers of a text in C.
fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(move |letter: char| !is_part(letter));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// What preprocessed C declares at the top level, and its enumerators: the rest of what is between brackets is out of a program's reach.
fn declared(text: &str) -> BTreeSet<String> {
    let (mut names, mut depth, mut in_enumeration) = (BTreeSet::new(), 0u32, false);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut rest = line;
        while let Some(at) = rest.find(['{', '}', '(', ')', '[', ']']) {
            let (before, bracket) = (&rest[..at], &rest[at..=at]);
            if depth == 0 || in_enumeration {
                names.extend(identifiers(before).map(str::to_string));
            }
            in_enumeration |= depth == 0 && bracket == "{" && identifiers(line).any(|word| word == "enum");
            match bracket {
                "{" | "(" | "[" => depth += 1,
                _ => depth = depth.saturating_sub(1),
            }
            in_enumeration &= depth > 0;
            rest = &rest[at + 1..];
        }
        if depth == 0 || in_enumeration {
            names.extend(identifiers(rest).map(str::to_string));
        }
    }
    names
}

/// The names of `#define NAME …` and `#define NAME(…) …`.
fn macros(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| identifiers(line.strip_prefix("#define ")?).next());
    names.map(str::to_string).collect()
}

/// The program with an action, a parameter, a variable and a node of each name.
fn named(names: &[&String]) -> Program {
    let mut program = read();
    let at =
        |program: &Program, name: &str| program.nodes.iter().find(|(_, node)| node.name == name).expect("a node").0;
    let hosts = program.tables.iter().next().expect("there is a table").0;
    let sum = program.variables.iter().find(|(_, variable)| variable.name == "sum").expect("a variable").0;
    let (last, mut next) = (at(&program, "last"), at(&program, "departure"));
    for name in names {
        let variable = Variable { name: name.to_string(), ..program.variables[sum].clone() };
        let variable = program.variables.alloc(variable);
        let mut action = program.tables[hosts].actions[0].clone();
        action.name.clone_from(name);
        action.parameters[0].name.clone_from(name);
        action.body.push(Statement::Assign { target: Place::Variable(variable), value: Expression::Parameter(0) });
        program.tables[hosts].actions.push(action);
        let value = Expression::Variable(variable);
        let body = vec![Statement::Assign { target: Place::Variable(sum), value }];
        let mut node = program.nodes[last].clone();
        node.name = name.to_string();
        lead(&mut node, Some(body), next);
        next = program.nodes.alloc(node);
    }
    lead(&mut program.nodes[last], None, next);
    program
}

/// Gives a block other statements, and another node after it.
fn lead(node: &mut Node, statements: Option<Vec<Statement>>, to: NodeId) {
    let NodeKind::Block { body, next, .. } = &mut node.kind else { panic!("it is a block") };
    *body = statements.unwrap_or_else(|| body.clone());
    *next = to;
}

fn read() -> Program {
    hlir::text::parse_file(PROGRAM).expect("it is HLIR").program
}

/// So many names are in one program.
const TOGETHER: usize = 400;

/// Names in capitals are protected by a rule, not by a list: each of so many is tried.
const CAPITALS: usize = 9;

#[test]
fn names_of_a_program_may_be_all_that_the_headers_of_its_code_have() {
    for descriptor in [Descriptor::Own, Descriptor::Mbuf] {
        let plan = Plan { descriptor, ..Plan::default() };
        let Some((defined, preprocessed)) = COMPILERS.preprocessed("words", &read(), &plan) else { continue };
        let mut names = declared(&preprocessed);
        assert!(names.contains("qsort") && names.contains("uint64_t"), "{}", names.len());
        names.extend(macros(&defined));
        assert!(names.contains("SIZE_MAX") && names.contains("ABI_VERSION"), "{}", names.len());
        let is_capital = |name: &&String| !name.contains(|letter: char| letter.is_ascii_lowercase());
        let (capitals, others): (Vec<&String>, Vec<&String>) = names.iter().partition(is_capital);
        let tried: Vec<&String> = others.into_iter().chain(capitals.into_iter().step_by(CAPITALS)).collect();
        println!("{} of {} names", tried.len(), names.len());
        for some in tried.chunks(TOGETHER) {
            COMPILERS.check("words", &named(some), &plan);
        }
    }
}
