//! Verifies many plans of one program: a planner compares thousands that have their hot path in common.

use super::{Places, Verifier};
use crate::diagnostic::Diagnostic;
use crate::effects::{Part, key_reads, writes};
use crate::hot_path::{PathNames, table_of};
use crate::plan::HotPath;
use crate::{NodeId, Plan, Program, TableId};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// Of plans without a text.
static NOWHERE: LazyLock<Places> = LazyLock::new(Places::default);

/// A program, to verify its plans.
pub struct PlanVerifier<'p> {
    program: &'p Program,
    places: &'p Places,
    pub(super) nodes: HashMap<&'p str, NodeId>,
    pub(super) tables: HashMap<&'p str, TableId>,
    last: RefCell<Option<(HotPath, Rc<KnownPath<'p>>)>>,
}

/// A hot path whose nodes the program has.
pub(super) struct KnownPath<'p> {
    pub nodes: Vec<NodeId>,
    pub names: PathNames<'p>,
    /// By position: of a lookup, the last position before it whose node may write a part of the key.
    pub writers: Vec<Option<usize>>,
}

impl<'p> PlanVerifier<'p> {
    pub fn new(program: &'p Program) -> PlanVerifier<'p> {
        PlanVerifier::at(program, &NOWHERE)
    }

    pub(super) fn at(program: &'p Program, places: &'p Places) -> PlanVerifier<'p> {
        let nodes = program.nodes.iter().rev().map(|(id, node)| (node.name.as_str(), id)).collect();
        let tables = program.tables.iter().rev().map(|(id, table)| (table.name.as_str(), id)).collect();
        PlanVerifier { program, places, nodes, tables, last: RefCell::default() }
    }

    /// Errors of a plan.
    pub fn verify(&self, plan: &Plan) -> Vec<Diagnostic> {
        let mut verifier = Verifier { program: self.program, places: self.places, errors: Vec::new() };
        verifier.plan(plan, self);
        verifier.errors
    }

    /// The path, if it was the last one that was remembered.
    pub(super) fn known(&self, path: &HotPath) -> Option<Rc<KnownPath<'p>>> {
        let last = self.last.borrow();
        let is_it =
            |known: &HotPath| Arc::ptr_eq(&known.nodes, &path.nodes) && Arc::ptr_eq(&known.actions, &path.actions);
        last.as_ref().filter(|(known, _)| is_it(known)).map(|(_, found)| found.clone())
    }

    /// Remembers a path without errors.
    pub(super) fn remember(&self, path: &HotPath, known: Rc<KnownPath<'p>>) {
        *self.last.borrow_mut() = Some((path.clone(), known));
    }
}

impl<'p> KnownPath<'p> {
    pub(super) fn new(program: &'p Program, nodes: Vec<NodeId>) -> KnownPath<'p> {
        let mut last: BTreeMap<Part, usize> = BTreeMap::new();
        let mut writers = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            let key = table_of(program, *node).map(|table| key_reads(program, table)).unwrap_or_default();
            writers.push(key.iter().filter_map(|part| last.get(part).copied()).max());
            last.extend(writes(program, *node).into_iter().map(|part| (part, place)));
        }
        KnownPath { names: PathNames::new(program, &nodes), nodes, writers }
    }
}
