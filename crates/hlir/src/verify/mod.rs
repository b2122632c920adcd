//! The verifier: what the types of a program cannot express (widths, positions of statements, edges,
//! entries), and whether a plan fits its program.
//!
//! It trusts no number in the program, so it can verify any. Errors name the node or table, and point into
//! the text if there is one.

mod batching;
mod facts;
mod graph;
mod hot_path;
mod join;
mod joint;
mod kinds;
mod known_path;
mod lookup_sums;
mod next_path;
mod node;
mod objects;
mod places;
mod plan;
mod queues;
mod site;
mod statement;
mod table;

pub use batching::behind_replication;
pub use kinds::WIDEST;
pub use known_path::PlanVerifier;
pub use site::{Body, Places, Site};

pub(crate) use graph::onward;
pub(crate) use kinds::Kinds;

use crate::diagnostic::Diagnostic;
use crate::plan::HotPath;
use crate::text::{Parsed, get};
use crate::{Binary, NodeId, Plan, Program};

/// Errors of a program that was made in memory.
pub fn verify(program: &Program) -> Vec<Diagnostic> {
    verify_at(program, &Places::default())
}

/// Errors of a program whose text has its parts at `places`.
pub fn verify_at(program: &Program, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, places, errors: Vec::new() };
    verifier.objects();
    program.tables.iter().for_each(|(id, table)| verifier.table(id, table));
    program.nodes.iter().for_each(|(id, node)| verifier.node(id, node));
    verifier.graph();
    verifier.joins();
    verifier.assumptions();
    verifier.lookup_sums();
    verifier.budget();
    verifier.interface();
    verifier.errors
}

/// Errors of a plan for a correct program.
pub fn verify_plan(program: &Program, plan: &Plan) -> Vec<Diagnostic> {
    verify_plan_at(program, plan, &Places::default())
}

pub fn verify_plan_at(program: &Program, plan: &Plan, places: &Places) -> Vec<Diagnostic> {
    PlanVerifier::at(program, places).verify(plan)
}

/// Errors of decisions by themselves, whatever is planned beside them: names, numbers, structures, and a
/// given path.
pub fn verify_pins_at(program: &Program, pins: &Plan, places: &Places) -> Vec<Diagnostic> {
    let mut verifier = Verifier { program, places, errors: Vec::new() };
    verifier.pins(pins);
    verifier.errors
}

impl Parsed {
    /// Errors of the program and the plan that were read.
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

    /// Reports an error that depends on the path. If the text leaves the path to the planner, the hint shows
    /// it.
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

    /// Checks expressions and places, and reports their errors at `site`.
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
