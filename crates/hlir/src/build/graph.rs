//! The graph while it grows: blocks of statements that end somewhere, cut only where a table, a state or an edge forces it.
//!
//! A block is referred to by a `NodeId` that counts blocks; `finish` makes nodes of the blocks that are reached, joins those that only
//! follow each other, and gives out the final ids. Until then statements may still be inserted anywhere (`splice`).

use std::collections::{HashMap, HashSet};

use crate::{Case, Expression, Next, Node, NodeId, NodeKind, Notes, ParserId, Rule, Select, Statement};
use crate::{KeySet, Reentry};
use la_arena::{Arena, RawIdx};
use num_bigint::BigUint;

use super::arithmetic;
use super::names::Names;

/// What a block is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plain,
    State(ParserId),
    Deparse,
}

/// How a block ends. `name` and `notes` are those of the node that the ending becomes.
#[derive(Clone, Debug)]
pub struct Ending {
    pub name: String,
    pub notes: Notes,
    pub kind: EndKind,
}

#[derive(Clone, Debug)]
pub enum EndKind {
    Goto(NodeId),
    Branch { condition: Expression, then: NodeId, otherwise: NodeId },
    Apply { table: crate::TableId, next: Next, exit: Option<NodeId> },
    Select(Select),
    Buffer { rules: Vec<Rule>, otherwise: Option<NodeId> },
}

#[derive(Clone, Debug)]
pub struct Block {
    pub name: String,
    pub notes: Notes,
    pub role: Role,
    pub body: Vec<Statement>,
    pub ending: Option<Ending>,
    /// Where an `Exit` in the body leads.
    pub exit: Option<NodeId>,
    /// Nothing behind the body's last statement can run.
    pub closed: bool,
    /// Made by lowering, not named by the source: without statements it leaves no node.
    pub implicit: bool,
}

#[derive(Debug, Default)]
pub struct Graph {
    blocks: Vec<Block>,
    /// Where errors of a parser lead: from each of its states, whatever the state ends in.
    rejects: HashMap<ParserId, NodeId>,
}

fn index(id: NodeId) -> usize {
    id.into_raw().into_u32() as usize
}

fn id_of(index: usize) -> NodeId {
    NodeId::from_raw(RawIdx::from_u32(index as u32))
}

impl Graph {
    pub fn add(&mut self, name: impl Into<String>, notes: Notes, role: Role) -> NodeId {
        let block = Block {
            name: name.into(),
            notes,
            role,
            body: Vec::new(),
            ending: None,
            exit: None,
            closed: false,
            implicit: false,
        };
        self.blocks.push(block);
        id_of(self.blocks.len() - 1)
    }

    pub fn block(&self, id: NodeId) -> &Block {
        &self.blocks[index(id)]
    }

    pub fn block_mut(&mut self, id: NodeId) -> &mut Block {
        &mut self.blocks[index(id)]
    }

    /// Whether a statement can still be added at the end.
    pub fn is_open(&self, id: NodeId) -> bool {
        let block = self.block(id);
        block.ending.is_none() && !block.closed
    }

    /// Ends a block, unless it has ended.
    pub fn end(&mut self, id: NodeId, name: impl Into<String>, notes: Notes, kind: EndKind) {
        let block = self.block_mut(id);
        if block.ending.is_none() {
            block.ending = Some(Ending { name: name.into(), notes, kind });
        }
    }

    /// Sets the origin of the condition that a block ends with, if it ends with one.
    pub fn place_branch(&mut self, id: NodeId, notes: Notes) {
        if let Some(Ending { kind: EndKind::Branch { .. }, notes: known, .. }) = &mut self.block_mut(id).ending
            && known.origin.is_none()
        {
            *known = notes;
        }
    }

    pub fn goto(&mut self, id: NodeId, to: NodeId) {
        self.end(id, "", Notes::default(), EndKind::Goto(to));
    }

    /// Inserts statements into a block that may have ended.
    pub fn splice(&mut self, id: NodeId, at: usize, statements: Vec<Statement>) {
        let body = &mut self.block_mut(id).body;
        let at = at.min(body.len());
        body.splice(at..at, statements);
    }

    /// Sets the target of a parser's errors.
    pub fn reject_to(&mut self, parser: ParserId, reject: NodeId) {
        self.rejects.insert(parser, reject);
    }

    /// The successors of a block, as written, behind the one that an error leads to.
    fn successors(&self, id: NodeId) -> Vec<NodeId> {
        let block = self.block(id);
        let reject = if let Role::State(parser) = block.role { self.rejects.get(&parser).copied() } else { None };
        let ending = match block.ending.as_ref().map(|ending| &ending.kind) {
            None => Vec::new(),
            Some(EndKind::Goto(to)) => vec![*to],
            Some(EndKind::Branch { then, otherwise, .. }) => vec![*then, *otherwise],
            Some(EndKind::Apply { next, exit, .. }) => next.targets().into_iter().chain(*exit).collect(),
            Some(EndKind::Select(select)) => select.cases.iter().map(|case| case.to).chain(select.otherwise).collect(),
            Some(EndKind::Buffer { rules, otherwise }) => {
                rules.iter().filter_map(|rule| rule.effect.target()).chain(*otherwise).collect()
            }
        };
        let exit = block.exit.filter(|_| has_exit(&block.body));
        reject.into_iter().chain(ending).chain(exit).collect()
    }

    /// Whether a block that was made leads to this one.
    pub fn leads_to(&self, to: NodeId) -> bool {
        (0..self.blocks.len()).any(|block| self.successors(id_of(block)).contains(&to))
    }

    /// Makes the nodes reached from `roots` and returns which block became which node. Blocks keep their order of first visit.
    pub fn finish(mut self, roots: &[NodeId], names: &mut Names) -> (Arena<Node>, HashMap<NodeId, NodeId>) {
        self.join(roots);
        let order = self.order(roots);
        let mut heads: HashMap<NodeId, NodeId> = HashMap::new();
        let mut count = 0;
        for block in &order {
            heads.insert(*block, id_of(count));
            count += self.node_count(*block);
        }
        let resolved: HashMap<NodeId, NodeId> = (0..self.blocks.len())
            .map(id_of)
            .filter_map(|block| Some((block, *heads.get(&self.resolve(block))?)))
            .collect();
        let mut nodes = Arena::new();
        for block in order {
            self.emit(block, &resolved, names, &mut nodes);
        }
        (nodes, resolved)
    }

    /// Whether a block leaves no node of its own.
    fn is_empty(&self, id: NodeId) -> bool {
        let block = self.block(id);
        let dispensable = match block.role {
            Role::Plain => true,
            Role::State(_) => block.implicit && matches!(block.ending, Some(Ending { kind: EndKind::Goto(_), .. })),
            Role::Deparse => false,
        };
        dispensable && block.body.is_empty()
    }

    /// The block that a jump to this one ends up in.
    fn resolve(&self, mut id: NodeId) -> NodeId {
        let mut seen = HashSet::new();
        while self.is_empty(id) && seen.insert(id) {
            let Some(Ending { kind: EndKind::Goto(to), .. }) = &self.block(id).ending else { break };
            id = *to;
        }
        id
    }

    /// Appends a plain block to the plain one before it if no other edge leads to it and both belong to one control.
    fn join(&mut self, roots: &[NodeId]) {
        let mut entries: HashMap<NodeId, usize> = HashMap::new();
        let reached = self.order(roots);
        for block in &reached {
            for next in self.successors(*block) {
                *entries.entry(self.resolve(next)).or_default() += 1;
            }
        }
        for root in roots {
            *entries.entry(self.resolve(*root)).or_default() += 1;
        }
        for block in reached {
            while let Some(next) = self.sole_successor(block, &entries) {
                let follower = self.block_mut(next);
                let body = std::mem::take(&mut follower.body);
                let ending = follower.ending.take();
                let exit = follower.exit;
                let first = self.block_mut(block);
                first.exit = if has_exit(&first.body) { first.exit } else { exit };
                first.body.extend(body);
                first.ending = ending;
            }
        }
    }

    fn sole_successor(&self, id: NodeId, entries: &HashMap<NodeId, usize>) -> Option<NodeId> {
        let block = self.block(id);
        let Some(Ending { kind: EndKind::Goto(to), .. }) = &block.ending else { return None };
        let to = self.resolve(*to);
        let next = self.block(to);
        let joinable = to != id
            && block.role == Role::Plain
            && next.role == Role::Plain
            && !next.body.is_empty()
            && !block.body.is_empty()
            && entries.get(&to) == Some(&1)
            && section(&block.name) == section(&next.name)
            && (block.exit == next.exit || !has_exit(&block.body) || !has_exit(&next.body));
        joinable.then_some(to)
    }

    /// Reached blocks that become nodes, every one before those that follow it, except around cycles.
    fn order(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let mut seen = HashSet::new();
        let mut finished = Vec::new();
        for root in roots.iter().rev() {
            let root = self.resolve(*root);
            if !seen.insert(root) {
                continue;
            }
            let mut stack = vec![(root, self.successors(root))];
            while let Some((block, rest)) = stack.last_mut() {
                // Taking the last successor first puts the first one right behind its block in the reversed order.
                let Some(next) = rest.pop() else {
                    finished.push(*block);
                    stack.pop();
                    continue;
                };
                let next = self.resolve(next);
                if seen.insert(next) {
                    stack.push((next, self.successors(next)));
                }
            }
        }
        finished.reverse();
        finished
    }

    fn node_count(&self, id: NodeId) -> usize {
        let block = self.block(id);
        let own = usize::from(!self.is_empty(id) || block.ending.is_none());
        let ending = block.ending.as_ref().is_some_and(|ending| !matches!(ending.kind, EndKind::Goto(_)));
        if block.role == Role::Plain { own + usize::from(ending) } else { own }
    }

    fn emit(&self, id: NodeId, map: &HashMap<NodeId, NodeId>, names: &mut Names, nodes: &mut Arena<Node>) {
        let block = self.block(id);
        let to = |target: &NodeId| map.get(target).copied().unwrap_or(*target);
        let exit = block.exit.filter(|_| has_exit(&block.body)).map(|exit| to(&exit));
        let own_name = |names: &mut Names| names.node(&block.name);
        let here = id_of(nodes.len());
        match block.role {
            Role::State(_) if self.is_empty(id) => return,
            Role::State(parser) => {
                let select = as_select(block, &to, here);
                let kind = NodeKind::State { parser, body: block.body.clone(), select };
                nodes.alloc(Node { name: own_name(names), kind, notes: block.notes.clone() });
                return;
            }
            Role::Deparse => {
                let next = goal(block).map_or(here, |next| to(&next));
                let kind = NodeKind::Deparse { body: block.body.clone(), next };
                nodes.alloc(Node { name: own_name(names), kind, notes: block.notes.clone() });
                return;
            }
            Role::Plain => {}
        }
        if !block.body.is_empty() || block.ending.is_none() {
            let next = match block.ending.as_ref().map(|ending| &ending.kind) {
                Some(EndKind::Goto(next)) => to(next),
                None => exit.unwrap_or(here),
                Some(EndKind::Branch { .. } | EndKind::Apply { .. } | EndKind::Select(_) | EndKind::Buffer { .. }) => {
                    id_of(nodes.len() + 1)
                }
            };
            let kind = NodeKind::Block { body: block.body.clone(), next, exit };
            nodes.alloc(Node { name: own_name(names), kind, notes: block.notes.clone() });
        }
        let Some(ending) = &block.ending else { return };
        if let Some(kind) = terminator(&ending.kind, &to) {
            nodes.alloc(Node { name: names.node(&ending.name), kind, notes: ending.notes.clone() });
        }
    }
}

/// The part of a node's name that names the control or parser it belongs to.
fn section(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Where `exit` leads from a block made of two: both belong to one control.
pub fn common_exit(one: Option<NodeId>, other: Option<NodeId>) -> Option<NodeId> {
    debug_assert!(one.is_none() || other.is_none() || one == other, "a block has exits of one control alone");
    one.or(other)
}

pub fn has_exit(body: &[Statement]) -> bool {
    let mut found = false;
    for statement in body {
        statement.walk(&mut |part| found |= matches!(part, Statement::Exit));
    }
    found
}

fn goal(block: &Block) -> Option<NodeId> {
    match block.ending.as_ref().map(|ending| &ending.kind) {
        Some(EndKind::Goto(next)) => Some(*next),
        _ => block.exit,
    }
}

/// A parser state chooses by its `select`, whatever the ending is written as.
fn as_select(block: &Block, to: &impl Fn(&NodeId) -> NodeId, here: NodeId) -> Select {
    let kind = block.ending.as_ref().map(|ending| &ending.kind);
    match kind {
        Some(EndKind::Select(select)) => map_select(select, to),
        Some(EndKind::Branch { condition, then, otherwise }) => Select {
            keys: vec![arithmetic::from_bool(condition.clone())],
            cases: vec![Case { sets: vec![KeySet::Value(BigUint::from(1u8))], to: to(then) }],
            otherwise: Some(to(otherwise)),
        },
        Some(EndKind::Goto(next)) => Select { keys: Vec::new(), cases: Vec::new(), otherwise: Some(to(next)) },
        Some(EndKind::Apply { .. } | EndKind::Buffer { .. }) | None => {
            Select { keys: Vec::new(), cases: Vec::new(), otherwise: Some(block.exit.map_or(here, |exit| to(&exit))) }
        }
    }
}

fn map_select(select: &Select, to: &impl Fn(&NodeId) -> NodeId) -> Select {
    let case = |case: &Case| Case { sets: case.sets.clone(), to: to(&case.to) };
    Select {
        keys: select.keys.clone(),
        cases: select.cases.iter().map(case).collect(),
        otherwise: select.otherwise.as_ref().map(to),
    }
}

fn terminator(kind: &EndKind, to: &impl Fn(&NodeId) -> NodeId) -> Option<NodeKind> {
    Some(match kind {
        EndKind::Goto(_) => return None,
        EndKind::Branch { condition, then, otherwise } => {
            NodeKind::Branch { condition: condition.clone(), then: to(then), otherwise: to(otherwise) }
        }
        EndKind::Apply { table, next, exit } => {
            let next = match next {
                Next::Always(next) => Next::Always(to(next)),
                Next::Hit { hit, miss } => Next::Hit { hit: to(hit), miss: to(miss) },
                Next::Actions { cases, otherwise } => Next::Actions {
                    cases: cases.iter().map(|(action, next)| (*action, to(next))).collect(),
                    otherwise: to(otherwise),
                },
            };
            NodeKind::Apply { table: *table, next: simplest(next), exit: exit.as_ref().map(to) }
        }
        EndKind::Select(select) => {
            // Only states select; a plain block that does was made for a parser that is never reached.
            NodeKind::Block { body: Vec::new(), next: to(&select.otherwise?), exit: None }
        }
        EndKind::Buffer { rules, otherwise } => NodeKind::Buffer {
            rules: rules.iter().map(|rule| map_rule(rule, to)).collect(),
            otherwise: otherwise.as_ref().map(to),
        },
    })
}

/// Edges that lead to one node are one edge.
fn simplest(next: Next) -> Next {
    let targets = next.targets();
    match targets.first() {
        Some(first) if targets.iter().all(|target| target == first) => Next::Always(*first),
        _ => next,
    }
}

fn map_rule(rule: &Rule, to: &impl Fn(&NodeId) -> NodeId) -> Rule {
    use crate::Effect;
    let again = |copy: &Reentry| Reentry { to: to(&copy.to), ..copy.clone() };
    let effect = match &rule.effect {
        Effect::Drop { reason } => Effect::Drop { reason: reason.clone() },
        Effect::Send { port } => Effect::Send { port: port.clone() },
        Effect::Unicast { set, to: next } => Effect::Unicast { set: set.clone(), to: to(next) },
        Effect::Replicate { group, copy } => Effect::Replicate { group: group.clone(), copy: again(copy) },
        Effect::Clone { session, copy } => Effect::Clone { session: session.clone(), copy: again(copy) },
        Effect::Resubmit { copy } => Effect::Resubmit { copy: again(copy) },
        Effect::Recirculate { copy } => Effect::Recirculate { copy: again(copy) },
        Effect::Punt { reason, resume } => Effect::Punt { reason: reason.clone(), resume: to(resume) },
    };
    Rule { condition: rule.condition.clone(), effect }
}
