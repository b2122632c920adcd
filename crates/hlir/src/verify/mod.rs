//! Checks what the types of a program cannot say: widths, places of statements, edges, entries; and whether a plan fits its program.
//!
//! It trusts no number in the program, so that it can judge any. Errors name the node or table; those of a text point into it as well.

mod batching;
mod graph;
mod hot_path;
mod joint;
mod kinds;
mod node;
mod objects;
mod plan;
mod queues;
mod site;
mod statement;
mod table;

pub use batching::behind_replication;
pub use kinds::WIDEST;
pub use site::{Body, Places, Site};

pub(crate) use graph::onward;
pub(crate) use kinds::Kinds;

use crate::diagnostic::Diagnostic;
use crate::plan::HotPath;
use crate::text::{Parsed, get};
use crate::{Binary, NodeId, Plan, Program};

/// What is wrong with a program that was made in memory.
pub fn verify(program: &Program) -> Vec<Diagnostic> {
    verify_at(program, &Places::default())
}

/// What is wrong with a program whose text has its parts at `places`.
pub fn verify_at(program: &Program, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, places, errors: Vec::new() };
    verifier.objects();
    program.tables.iter().for_each(|(id, table)| verifier.table(id, table));
    program.nodes.iter().for_each(|(id, node)| verifier.node(id, node));
    verifier.graph();
    verifier.budget();
    verifier.interface();
    verifier.errors
}

/// What is wrong with a plan for a program that is right.
pub fn verify_plan(program: &Program, plan: &Plan) -> Vec<Diagnostic> {
    verify_plan_at(program, plan, &Places::default())
}

pub fn verify_plan_at(program: &Program, plan: &Plan, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, places, errors: Vec::new() };
    verifier.plan(plan);
    verifier.errors
}

/// What is wrong with decisions whatever is planned beside them: with their names, numbers and structures, and with a path.
pub fn verify_pins_at(program: &Program, pins: &Plan, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, places, errors: Vec::new() };
    verifier.pins(pins);
    verifier.errors
}

impl Parsed {
    /// What is wrong with the program and the plan that were read.
    pub fn verify(&self) -> Vec<Diagnostic> {
        let mut errors = if self.has_program { verify_at(&self.program, &self.places) } else { Vec::new() };
        if let Some(plan) = self.plan.as_ref().filter(|_| self.has_program && errors.is_empty()) {
            errors.extend(verify_plan_at(&self.program, plan, &self.places));
        }
        errors
    }
}

struct Verifier<'p> {
    program: &'p Program,
    places: &'p Places,
    errors: Vec<Diagnostic>,
}

impl<'p> Verifier<'p> {
    fn error(&mut self, site: Site, message: impl AsRef<str>) {
        self.report(site, message, "");
    }

    fn report(&mut self, site: Site, message: impl AsRef<str>, hint: &str) {
        let part = site.describe(self.program);
        let message =
            if part.is_empty() { message.as_ref().to_string() } else { format!("{part}: {}", message.as_ref()) };
        let error = Diagnostic::error(message);
        let span = self.places.get(site);
        let error = if span.is_none() { error } else { error.label(span, "") };
        self.errors.push(if hint.is_empty() { error } else { error.hint(hint) });
    }

    /// Reports what would be right on another path. A text that leaves the path to be planned has not said which it is: the hint does.
    fn report_of_path(&mut self, site: Site, path: Option<&HotPath>, message: impl AsRef<str>, hint: &str) {
        self.report(site, message, hint);
        let is_planned = !self.places.is_empty() && !self.places.has(Site::HotPath);
        if let Some(path) = path.filter(|_| is_planned)
            && let Some(error) = self.errors.pop()
        {
            let path = crate::text::print_path(path);
            self.errors.push(error.hint(format!("the hot path is not pinned; it is: {path}")));
        }
    }

    /// Judges expressions and places, and reports what is wrong about them at `site`.
    fn judge<T>(&mut self, site: Site, parameters: &[u32], judge: impl FnOnce(&mut Kinds<'p, '_>) -> T) -> T {
        let mut kinds = Kinds::new(self.program, parameters);
        let result = judge(&mut kinds);
        for error in kinds.errors {
            self.error(site, error);
        }
        result
    }

    fn is_node(&mut self, site: Site, node: NodeId) -> bool {
        let found = get(&self.program.nodes, node).is_some();
        if !found {
            self.error(site, format!("there is no node number {}", crate::text::number(node)));
        }
        found
    }
}

pub(crate) fn symbol(operator: Binary) -> &'static str {
    crate::text::symbol(operator)
}
