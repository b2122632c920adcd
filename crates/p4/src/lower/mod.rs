//! Lowers a checked program to HLIR: evaluates `main`, inlines everything it is made of, and writes down what P4 leaves implicit.
//!
//! It is a partial evaluation. Instances, constructor arguments and type arguments are gone afterwards; so are structs, evaluation order,
//! copies in and out, `return`, `exit` and `switch`. What is left are scalars, headers, statements, and nodes where a table, a parser state
//! or an architecture forces one. What cannot be lowered yet is a diagnostic with its place, never a wrong program.

// Values, targets and syntax have many variants, and most questions concern one or two of them; those that must answer for every one
// (the walks, the printing of nodes) name them all.
#![allow(clippy::wildcard_enum_match_arm)]

mod aliasing;
mod architecture;
mod assign;
mod call;
mod control;
mod custom;
mod effects;
mod entries;
mod expression;
mod externs;
mod fixed;
mod interface;
mod loops;
mod notes;
mod objects;
mod operators;
mod parser;
mod places;
mod punt;
mod reads_back;
mod scope;
mod select;
mod statement;
mod storage;
mod table;
mod unroll;
mod value;
mod walk;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use hlir::build::{arithmetic, graph};
use hlir::diagnostic::Diagnostic;
use hlir::source::{SourceMap, Span};
use hlir::{HeaderId, NodeId, Notes, Program};

use crate::check::{Checked, TARGET_LIMIT, is_target_limit};
use crate::types::{Type, substitute};
use effects::Touch;
use hlir::build::graph::{Graph, Role};
use hlir::build::names::Names;
use hlir::build::slots::Slots;
use objects::Objects;
use scope::Scope;

/// The result of lowering a part of the program; an error ends the part, not the run.
pub(crate) type Lowered<T> = Result<T, Diagnostic>;

/// Instances and calls within each other, and nesting of statements and expressions: more than this is refused.
const DEPTH_LIMIT: usize = 2 * crate::DEEPEST_NESTING as usize;

/// Parameters, by number, of instances, by declaration and name.
type Parameters = HashMap<(crate::ast::DeclarationId, String), BTreeSet<usize>>;

/// Lowers a program that was checked without errors. `name` is what it shall be called: letters, digits and `_`.
pub fn lower(checked: &Checked, sources: &SourceMap, name: &str) -> Result<Program, Vec<Diagnostic>> {
    let lowering = lowered(checked, sources, name);
    if lowering.diagnostics.iter().any(Diagnostic::is_error) { Err(lowering.diagnostics) } else { Ok(lowering.program) }
}

/// Lowers a program for the sake of its interface alone, which does not depend on what the target can do: parts that it cannot do may be
/// missing from the rest, which must not be run; they are reported with it. Its names must be distinct for a controller.
pub fn lower_interface(
    checked: &Checked,
    sources: &SourceMap,
    name: &str,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut lowering = lowered(checked, sources, name);
    let mut diagnostics = std::mem::take(&mut lowering.diagnostics);
    diagnostics.append(&mut lowering.name_conflicts);
    diagnostics.retain(Diagnostic::is_error);
    if diagnostics.iter().all(is_target_limit) { Ok((lowering.program, diagnostics)) } else { Err(diagnostics) }
}

/// Lowers until every parameter that needs storage of its own has it. Each run but the last finds another one, so the runs end.
fn settled<'a>(checked: &'a Checked, sources: &'a SourceMap, name: &str) -> (Lowering<'a>, Lowered<()>) {
    let mut own = Parameters::new();
    loop {
        let mut lowering = Lowering::new(checked, sources, name);
        lowering.own_parameters = own.clone();
        let result = lowering.lower_program();
        let known = own.values().map(BTreeSet::len).sum::<usize>();
        for (instance, parameters) in std::mem::take(&mut lowering.differing_parameters) {
            own.entry(instance).or_default().extend(parameters);
        }
        if own.values().map(BTreeSet::len).sum::<usize>() == known {
            return (lowering, result);
        }
    }
}

fn lowered<'a>(checked: &'a Checked, sources: &'a SourceMap, name: &str) -> Lowering<'a> {
    let (mut lowering, result) = settled(checked, sources, name);
    lowering.diagnostics.extend(result.err());
    lowering.diagnostics.append(&mut lowering.ambiguous);
    lowering
}

/// What is wrong with a program that keeps the rules of the language: what its architecture cannot do, and what only instances show, such as
/// one `@id` for two objects. Exactly what [`lower`] refuses. Of a program for an architecture that does not run, only the latter: nothing defines
/// what its parts are for.
pub fn refused(checked: &Checked, sources: &SourceMap) -> Vec<Diagnostic> {
    let (mut lowering, result) = settled(checked, sources, "");
    if lowering.architecture.kind != architecture::Architecture::Own {
        lowering.diagnostics.extend(result.err());
        lowering.diagnostics.append(&mut lowering.ambiguous);
        return lowering.diagnostics;
    }
    if result.is_ok() {
        lowering.ambiguous.extend(lowering.shared_ids());
    }
    lowering.ambiguous
}

/// The state of a lowering: the program so far, and its position in the source and in the graph.
pub(crate) struct Lowering<'a> {
    checked: &'a Checked<'a>,
    sources: &'a SourceMap,
    program: Program,
    graph: Graph,
    slots: Slots,
    names: Names,
    objects: Objects,
    /// The P4 type of each header, for making literals of the same type.
    header_types: HashMap<HeaderId, Type>,
    log: Vec<Touch>,
    /// The block that statements are added to.
    current: NodeId,
    scope: Rc<Scope>,
    globals: Rc<Scope>,
    frames: Vec<control::Frame>,
    /// What nodes and locals made now are named after: `ingress`, `ingress.set_port`.
    path: String,
    /// What an instance made by a constructor call without a name is called.
    instance_name: String,
    /// Widths of the parameters of the action being lowered.
    parameter_widths: Vec<u32>,
    /// The table whose action is being lowered.
    in_table: Option<architecture::InTable>,
    /// The parser being lowered.
    parser: Option<parser::Context>,
    /// Whether what is lowered now may run more than once for a packet, so that locals must be cleared.
    repeated: bool,
    /// How often the loops around, whose ends the packet decides, are unrolled, multiplied.
    run_time_iterations: usize,
    depth: usize,
    diagnostics: Vec<Diagnostic>,
    architecture: architecture::State,
    /// The name of the parser or control being lowered: the control plane's prefix for its actions.
    prefix: String,
    /// Actions that the program calls itself, by name; P4Info lists them too.
    called_actions: Vec<(crate::ast::DeclarationId, hlir::interface::SourceAction)>,
    /// Different actions of one name: a mistake only where controllers are to know them.
    name_conflicts: Vec<Diagnostic>,
    /// Objects that cannot be distinguished, in any architecture.
    ambiguous: Vec<Diagnostic>,
    facts: interface::Facts,
    /// Instances that a direct application made.
    direct: HashMap<(crate::ast::ExpressionId, String), objects::ObjectId>,
    /// Parameters with storage of their own at all applications of an instance.
    own_parameters: Parameters,
    /// Parameters that applications bind differently.
    differing_parameters: Parameters,
    roots: Vec<NodeId>,
    /// Externs of the user's own that were called before, by kind and name.
    custom: HashMap<String, hlir::ExternId>,
}

impl<'a> Lowering<'a> {
    fn new(checked: &'a Checked<'a>, sources: &'a SourceMap, name: &str) -> Lowering<'a> {
        let mut graph = Graph::default();
        let current = graph.add("unreached", Notes::default(), Role::Plain);
        let globals = Rc::new(Scope::default());
        Lowering {
            checked,
            sources,
            program: Program { name: name.to_string(), ..Program::default() },
            graph,
            slots: Slots::default(),
            names: Names::default(),
            objects: Objects::default(),
            header_types: HashMap::new(),
            log: Vec::new(),
            current,
            scope: globals.clone(),
            globals,
            frames: Vec::new(),
            path: String::new(),
            instance_name: String::new(),
            parameter_widths: Vec::new(),
            in_table: None,
            parser: None,
            repeated: false,
            run_time_iterations: 1,
            depth: 0,
            diagnostics: Vec::new(),
            architecture: architecture::State::default(),
            prefix: String::new(),
            called_actions: Vec::new(),
            name_conflicts: Vec::new(),
            ambiguous: Vec::new(),
            facts: interface::Facts::default(),
            direct: HashMap::new(),
            own_parameters: Parameters::new(),
            differing_parameters: Parameters::new(),
            roots: Vec::new(),
            custom: HashMap::new(),
        }
    }

    fn lower_program(&mut self) -> Lowered<()> {
        self.program.errors = self.error_names();
        self.find_architecture();
        self.instantiate_globals()?;
        self.lower_architecture()?;
        self.finish();
        Ok(())
    }

    /// Turns the blocks into nodes.
    fn finish(&mut self) {
        let graph = std::mem::take(&mut self.graph);
        hlir::build::finish(&mut self.program, graph, &mut self.names, &self.roots);
        self.finish_interface();
    }

    fn error_names(&self) -> Vec<String> {
        use crate::ast::DeclarationKind;
        let mut names: Vec<String> = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
            "ParserInvalidArgument",
        ]
        .map(String::from)
        .into();
        for declaration in &self.checked.program.declarations {
            let DeclarationKind::Error(members) = &declaration.kind else { continue };
            for member in members {
                if !names.iter().any(|name| name == member.name.as_str()) {
                    names.push(member.name.to_string());
                }
            }
        }
        names
    }

    /// A type where type parameters have been replaced by their values here.
    fn substituted(&self, of_type: &Type) -> Type {
        substitute(of_type, &self.scope.types)
    }

    fn in_scope<T>(&mut self, scope: Rc<Scope>, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.scope, scope);
        let result = lower(self);
        self.scope = before;
        result
    }

    fn in_path<T>(&mut self, path: &str, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.path, path.to_string());
        let result = lower(self);
        self.path = before;
        result
    }

    /// Lowers inside of a control of this name.
    fn in_control<T>(&mut self, name: &str, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.prefix, name.to_string());
        let result = self.in_path(name, lower);
        self.prefix = before;
        result
    }

    fn with_instance_name<T>(&mut self, name: String, lower: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.instance_name, name);
        let result = lower(self);
        self.instance_name = before;
        result
    }

    /// The name of a local called `hint`.
    fn local_name(&self, hint: &str) -> String {
        if self.path.is_empty() { hint.to_string() } else { format!("{}.{hint}", self.path) }
    }

    fn node_name(&self, hint: &str) -> String {
        self.local_name(hint)
    }

    fn add_block(&mut self, hint: &str) -> NodeId {
        let name = self.node_name(hint);
        let role = self.parser.as_ref().map_or(Role::Plain, |parser| Role::State(parser.id));
        let block = self.graph.add(name, Notes::default(), role);
        self.graph.block_mut(block).implicit = true;
        block
    }

    /// Lowers something one level deeper.
    fn nested<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        if self.depth < DEPTH_LIMIT {
            self.depth += 1;
            let result = lower(self);
            self.depth -= 1;
            return result;
        }
        Err(Diagnostic::error(format!("nested more than {DEPTH_LIMIT} levels deep"))
            .kind("overlimit")
            .label(span, "here")
            .hint("split it into named parts"))
    }

    /// What cannot be lowered yet.
    fn unsupported(&self, span: Span, what: impl AsRef<str>) -> Diagnostic {
        Diagnostic::error(format!("{} not supported yet", what.as_ref())).kind("unsupported").label(span, "here")
    }

    /// A header of a size that packets do not have: those of architectures that run are found by the checker.
    fn part_of_byte(&self, span: Span) -> Diagnostic {
        Diagnostic::error("a header that is no whole number of bytes cannot be extracted or emitted")
            .kind(TARGET_LIMIT)
            .label(span, "here")
            .hint("add a field of padding to the header")
    }

    /// Something that the checker promises not to let through.
    fn internal(&self, span: Span, what: &str) -> Diagnostic {
        Diagnostic::error(format!("cannot lower {what}"))
            .kind("bug")
            .label(span, "here")
            .hint("this should have been found by the checker: please report it")
    }

    /// Keeps the mistake and goes on.
    fn report<T>(&mut self, result: Lowered<T>) -> Option<T> {
        result.map_err(|diagnostic| self.diagnostics.push(diagnostic)).ok()
    }
}
