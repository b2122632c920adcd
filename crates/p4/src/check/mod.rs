//! Checks a parsed program: what every name means, the type of every expression, what is known at compile time, and all
//! rules of the language.
//!
//! `check` is a pure function. It returns every mistake it can find and a `Checked`: tables beside the syntax tree that
//! later phases read. The tables are complete if there is no error among the diagnostics; warnings do not matter.
//!
//! # How lowering reads a `Checked`
//!
//! * `type_of(expression)`, `conversion(expression)`: the type as written, and the type that its place casts it to,
//!   if that differs: an `int` where a `bit<8>` is needed, a serialisable enumeration where its number is needed, a tuple
//!   variable assigned to a struct. List and structure literals, `{#}` and `...` have the type they are used as at once;
//!   their elements are converted one by one. `used_type` is the type after the cast.
//! * `constant(expression)`: the value, after that cast, of whatever is known without knowing constructor arguments.
//!   Members of enumerations and errors are `Value::Member`, except those of serialisable enumerations, which are numbers.
//! * `reference(expression)`, for `Path`, `Member`, `This` and `Type` expressions: the declaration, field, enumeration
//!   member, property (`next`, `last`, `size`, `hit`, `action_run` …) or type it means. The callee of a call is
//!   `Reference::Callee` (or the action, or the table instance it is); look at the call.
//! * `call(expression)`, for `Call` expressions: a `Call` with what is called (`Callee`), what its type parameters are
//!   for, and one `Binding` for each parameter: its type in this call and where its value comes from. The receiver of a
//!   method, of `apply` and of a builtin is the `base` of the callee, a `Member` expression. The action references of a
//!   table (`actions`, `default_action`, `entries`) are in the same table, also where they are a bare path.
//! * `instance(declaration)`: the same for `T(arguments) name;`, whose `type_of` is `declared_type(declaration)`.
//! * `declared_type(declaration)`: of variables, constants, parameters, fields; what functions and methods return; what a
//!   typedef names. `fields_of(type)`, `width_of(type)`, `representation(type)`, `underlying(nominal)`,
//!   `parameters(declaration)`, `number(member)` answer about types; `named(name)` resolves what is not an expression.
//! * `main()`: the package instance; follow `instance(main)` and the bindings to its parsers and controls.
//!
//! Warnings are about included files too: pass the diagnostics through `without_headers` before showing them.
//!
//! Inside a generic declaration types contain `Type::Variable`: specialise with `types::substitute(type, &substitution)`
//! where the substitution is the `type_arguments` of the call, or `arguments_of(nominal)` of an object's type;
//! `Substitution::within` composes the two when generic code calls generic code.
//!
//! # How it works
//!
//! P4 declares before use, so one walk in the order of the text suffices: a declaration's signature is resolved, its name
//! enters the scope, its body is checked. Expressions are typed from the leaves up; `int` literals and literals of
//! lists and structures take their final type when their surroundings are known (`convert`).

// A question about a type, an expression or a declaration concerns a few of up to 40 variants: naming the others at each of
// 60 places hid what is asked. `Type::any`, `Type::replace` and `Type::nominal`, which all walks go through, name every one.
#![allow(clippy::wildcard_enum_match_arm)]

/// Kinds of warnings, as p4c names them.
pub const WARNINGS: [&str; 19] = [
    "unused",
    "uninitialized",
    "uninitialized-use",
    "uninitialized-out-param",
    "invalid-header",
    "overflow",
    "mismatch",
    "missing",
    "shadow",
    "deprecated",
    "ignore-prop",
    "unknown",
    "ordering",
    "parser-transition",
    "unreachable",
    "invalid",
    "duplicate-priorities",
    "entries-out-of-priority-order",
    "target-error",
];

/// Kinds of warnings that p4c has and bacus does not: programs written for both may silence them.
const OTHER_WARNINGS: [&str; 10] = [
    "branch",
    "duplicate",
    "expr",
    "failed",
    "ignore",
    "keys",
    "legacy",
    "multi-header-extract",
    "type-inference",
    "unsupported",
];

mod annotations;
mod architecture;
mod bindings;
mod calls;
mod checker;
mod convert;
mod declarations;
mod direct;
mod dpdk;
mod entries;
mod expressions;
mod flow;
mod infer;
mod instances;
mod limits;
mod members;
mod methods;
mod nesting;
mod nodes;
mod objects;
mod operators;
mod results;
mod returns;
mod shapes;
mod statements;
mod states;
mod suggestions;
mod tables;
#[cfg(test)]
mod tests;
mod unused;
mod written_types;

pub use dpdk::dpdk_limits;
pub use limits::{TARGET_LIMIT, is_target_limit};
pub use nodes::Node;
pub use results::{Binding, Builtin, Call, Callee, Checked, Property, Reference, Source};
pub use shapes::{FieldOf, Size};
pub use unused::without_headers;

use hlir::diagnostic::Diagnostic;

use crate::ast::Program;
use crate::with_deep_stack;
use checker::Checker;

/// Checks a program. The tables are complete if none of the diagnostics is an error.
pub fn check(program: &Program) -> (Checked<'_>, Vec<Diagnostic>) {
    with_deep_stack(|| {
        let mut checker = Checker::new(program);
        checker.program(&program.declarations);
        let mut diagnostics = checker.diagnostics;
        if !diagnostics.iter().any(|diagnostic| diagnostic.is_error()) {
            diagnostics.extend(flow::warnings(&checker.out));
        }
        let diagnostics = unused::not_silenced(&checker.out, diagnostics);
        (checker.out, diagnostics)
    })
}
