//! Builds programs: what every frontend needs, whatever language it reads. A frontend lowers parsers, controls and deparsers to blocks of
//! [`Graph`]; the module of an architecture connects them.

// Expressions have many variants, and folding concerns one or two of them.
#![allow(clippy::wildcard_enum_match_arm)]

pub mod arithmetic;
pub mod graph;
pub mod ids;
pub mod names;
pub mod slots;
pub mod v1model;

use crate::{Expression, HeaderId, NodeId, Notes, Place, Program, Statement, Type, VariableId};
use graph::{Graph, Role};
use names::Names;
use slots::{Slot, Slots};

/// A program that is being built. Its nodes are blocks of the graph until [`Builder::finish`].
#[derive(Debug, Default)]
pub struct Builder {
    pub program: Program,
    pub graph: Graph,
    pub slots: Slots,
    pub names: Names,
}

impl Builder {
    /// The variable of a slot, which has one from now on.
    pub fn variable(&mut self, slot: Slot) -> VariableId {
        self.slots.used(slot, &mut self.names, &mut self.program)
    }

    pub fn plain_block(&mut self, name: &str) -> NodeId {
        self.graph.add(name, Notes::default(), Role::Plain)
    }

    /// Adds a statement to the end of a block.
    pub fn emit(&mut self, block: NodeId, statement: Statement) {
        if self.graph.is_open(block) {
            self.graph.block_mut(block).body.push(statement);
        }
    }

    pub fn width(&self, expression: &Expression) -> u32 {
        expression.type_in(&self.program, &[]).width()
    }

    /// Makes a header invalid. Nothing is left of a union that it is a member of.
    pub fn invalidation(&self, header: HeaderId) -> Vec<Statement> {
        let others = self.slots.siblings(header).iter().copied();
        std::iter::once(header).chain(others).map(Statement::SetInvalid).collect()
    }

    /// Turns the blocks that are reached from the program's entry and from `roots` into nodes.
    pub fn finish(mut self, roots: &[NodeId]) -> Program {
        finish(&mut self.program, self.graph, &mut self.names, roots);
        self.program
    }
}

/// Turns the blocks of a graph that are reached from the program's entry and from `roots` into its nodes.
pub fn finish(program: &mut Program, graph: Graph, names: &mut Names, roots: &[NodeId]) {
    let roots: Vec<NodeId> = program.entry.into_iter().chain(roots.iter().copied()).collect();
    let (nodes, map) = graph.finish(&roots, names);
    let to = |id: NodeId| map.get(&id).copied().unwrap_or(id);
    program.nodes = nodes;
    program.entry = program.entry.map(to);
    for (_, parser) in program.parsers.iter_mut() {
        parser.start = to(parser.start);
        parser.accept = to(parser.accept);
        parser.reject = to(parser.reject);
    }
}

/// A variable that an architecture gives a meaning, or keeps for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub slot: Slot,
    pub of_type: Type,
}

/// The assignment of `value` to a variable.
pub fn assignment(variable: VariableId, value: Expression) -> Statement {
    Statement::Assign { target: Place::Variable(variable), value }
}
