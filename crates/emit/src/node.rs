//! Nodes as functions: `static inline enum node NODE(run, state)` executes the node and returns its
//! successor. Conditions and a few statements are written where the node is called, instead.
//!
//! What is known of headers' storage at a node depends on all paths to it, so nodes are emitted again until
//! nothing changes.

use crate::body::{Body, Exit, Presence, Presences};
use crate::c::{Expr, Item, Stmt, length};
use crate::parser::meet;
use crate::table::table_problems;
use crate::unit::{Unit, number, origin};
use hlir::diagnostic::Diagnostic;
use hlir::text::written_structure;
use hlir::{NodeId, NodeKind, TableId};
use std::collections::HashSet;

/// How the function that runs packets from node to node calls one.
pub enum Form {
    /// By a function of the node's name, which returns where the packet goes on.
    Function,
    /// A condition alone: its successors are written behind it.
    Test { condition: Expr, then: NodeId, otherwise: NodeId },
    /// A few statements, which are written there.
    Statements(Vec<Stmt>),
}

/// A node, written.
pub struct Written {
    pub items: Vec<Item>,
    pub form: Form,
    /// Where packets go from here.
    pub outcomes: Vec<NodeId>,
    /// Whether a packet can end here.
    pub ends: bool,
}

impl Written {
    /// The only successor of this node, if no packet ends here.
    pub fn only(&self) -> Option<NodeId> {
        match self.outcomes.as_slice() {
            [only] if !self.ends => Some(*only),
            _ => None,
        }
    }

    /// All its code, for what is asked of code.
    pub fn code(&self) -> Vec<Item> {
        let body = match &self.form {
            Form::Function => return self.items.clone(),
            Form::Test { condition, .. } => vec![Stmt::Do(condition.clone())],
            Form::Statements(body) => body.clone(),
        };
        let (of, name) = (String::new(), String::new());
        let written = Item::Function { of, name, parameters: Vec::new(), body };
        self.items.iter().cloned().chain([written]).collect()
    }

    /// The return type of its function: void if there is only one successor.
    fn returns(&self, code: &mut Vec<Stmt>) -> &'static str {
        if self.only().is_none() {
            return "INLINE enum node";
        }
        forget_results(code);
        if code.last() == Some(&Stmt::Return(None)) {
            code.pop();
        }
        "INLINE void"
    }
}

/// All reachable nodes, in the order of `Facts::order`.
pub struct Nodes {
    pub written: Vec<Written>,
}

pub fn nodes(unit: &Unit) -> Result<Nodes, Vec<Diagnostic>> {
    let mut known: Vec<Option<Presences>> = vec![None; unit.program.nodes.len()];
    let mut problems = Vec::new();
    if let Some(entry) = unit.facts.order.first() {
        known[number(*entry)] = Some(vec![Presence::Absent; unit.program.headers.len()]);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &node in &unit.facts.order {
            let Some(present) = known[number(node)].clone() else { continue };
            for (to, present) in Draft::of(unit, node, present).exits {
                changed |= meet(&mut known[number(to)], &present);
            }
        }
    }
    let mut written = Vec::new();
    for &node in &unit.facts.order {
        let unreached = || vec![Presence::Absent; unit.program.headers.len()];
        let draft = Draft::of(unit, node, known[number(node)].clone().unwrap_or_else(unreached));
        problems.extend(draft.problems.iter().cloned());
        written.push(draft.finish(unit, node));
    }
    if problems.is_empty() { Ok(Nodes { written }) } else { Err(problems) }
}

/// Statements of a node at most that are written where it is called.
const MOST_IN_PLACE: usize = 4;

/// Whether a node's code can be written where it is called.
fn fits_in_place(code: &[Stmt]) -> bool {
    fn is_plain(statement: &Stmt) -> bool {
        let is_open = matches!(statement, Stmt::Declare { .. } | Stmt::Return(_) | Stmt::Label(_) | Stmt::Goto(_));
        !is_open && statement.bodies().into_iter().flatten().all(is_plain)
    }
    length(code) <= MOST_IN_PLACE && code.iter().all(is_plain)
}

/// What writing a node gave.
struct Draft {
    /// The condition of a node that is no more than that, and its successors.
    test: Option<(Expr, NodeId, NodeId)>,
    /// Statements before the table is looked up, and the table.
    key: Option<(Vec<Stmt>, TableId)>,
    code: Vec<Stmt>,
    exits: Vec<(NodeId, Presences)>,
    outcomes: Vec<NodeId>,
    helpers: Vec<Item>,
    problems: Vec<Diagnostic>,
}

impl Draft {
    fn of(unit: &Unit, node: NodeId, present: Presences) -> Draft {
        let mut body = Body::new(unit, node, present);
        let (mut key, mut test) = (None, None);
        match &unit.node(node).kind {
            NodeKind::State { body: statements, select, .. } => body.state(statements, select),
            NodeKind::Block { body: statements, next, exit } => {
                body.exit = exit.map_or(Exit::None, Exit::To);
                if body.statements(statements) {
                    body.go(*next);
                }
            }
            NodeKind::Branch { condition, then, otherwise } => {
                test = branch(&mut body, condition, *then, *otherwise)
                    .map(|condition| (condition, *then, *otherwise))
                    .filter(|_| !unit.is_called(node));
            }
            NodeKind::Apply { table, next, exit } => {
                body.problems.extend(table_problems(unit, node, *table));
                let before = body.present.clone();
                let code = body.nested(|body| body.key(*table));
                if unit.skips_empty(*table) && !unit.learns(*table) {
                    crate::body::join(&mut body.present, &before);
                }
                unit.forget_keys(node, &mut body.present, &before);
                key = Some((code, *table));
                body.act(*table, next, *exit);
            }
            NodeKind::Deparse { body: statements, next } => body.deparse(statements, *next),
            NodeKind::Buffer { rules, otherwise } => body.buffer(rules, *otherwise),
        }
        let Body { out, exits, outcomes, helpers, problems, .. } = body;
        Draft { test, key, code: out, exits, outcomes, helpers, problems }
    }

    fn finish(self, unit: &Unit, node: NodeId) -> Written {
        let ends = self.code.iter().any(|statement| statement.mentions("ENDED"));
        let mut written = Written { items: self.helpers, form: Form::Function, outcomes: self.outcomes, ends };
        let mut code = self.code;
        if let Some((condition, then, otherwise)) = self.test {
            written.form = Form::Test { condition, then, otherwise };
            return written;
        }
        let of = written.returns(&mut code);
        let is_block = matches!(unit.node(node).kind, NodeKind::Block { .. });
        if is_block && written.only().is_some() && fits_in_place(&code) && !unit.is_called(node) {
            let about = (!code.is_empty()).then(|| Stmt::Comment(headline(unit, node)));
            written.form = Form::Statements(about.into_iter().chain(code).collect());
            return written;
        }
        let name = unit.node_name(node).to_string();
        let whole = match self.key {
            None => code,
            Some((key, table)) => {
                let act = format!("{name}_act");
                let key = match unit.is_called(node) {
                    true => {
                        written.items.extend(stage(&format!("{name}_key"), "INLINE void", key, &["uint64_t *key"]));
                        vec![Stmt::call(format!("{name}_key"), ["run", "state", "key"].map(Expr::name))]
                    }
                    false => key,
                };
                let learns = unit.learns(table).then_some("const uint64_t *key");
                let more: Vec<&str> = ACTED_ON.into_iter().chain(learns).collect();
                written.items.extend(stage(&act, of, code, &more));
                written.items.extend(search(unit, &name, table));
                look_up(unit, &name, table, key, of)
            }
        };
        written.items.push(Item::Comment(headline(unit, node)));
        written.items.extend(stage(&name, of, whole, &[]));
        written
    }
}

/// The condition, if that is all of the node.
fn branch(body: &mut Body, condition: &hlir::Expression, then: NodeId, otherwise: NodeId) -> Option<Expr> {
    let test = body.value(condition);
    let is_all = body.out.is_empty() && !body.unit.plan.instrument.edges;
    let alone = is_all.then(|| test.clone());
    let (code, _) = body.branch(|body| {
        body.assume(condition, true);
        body.go(then);
    });
    body.push(Stmt::when(test, code));
    body.assume(condition, false);
    body.go(otherwise);
    alone
}

/// What an action runs on beside the packet: the number of a record, and where the records are.
const ACTED_ON: [&str; 2] = ["uint32_t found", "const uint8_t *records"];

/// Whether a table's lookups are a function of their own in packet-by-packet code. Lookups among rules are long, and
/// of large programs most such tables are empty: inlined, they would tear apart the code that packets run
/// (RARE's router, 15 such tables of which none has rules: 70 KB).
fn searches(unit: &Unit, table: TableId) -> bool {
    unit.structure(table).traits().is_long && unit.skips_empty(table)
}

/// That function: from a key to the number of a record. It does not see the packet's state, which stays in registers.
fn search(unit: &Unit, name: &str, table: TableId) -> Vec<Item> {
    if !searches(unit, table) {
        return Vec::new();
    }
    let structure = written_structure(unit.structure(table));
    let limbs = crate::body::limbs(unit.key_bits(table));
    let [held, key, hash] = ["table", "key", "hash"].map(Expr::name);
    let hashed = Expr::call(format!("{structure}_hash"), [held.clone(), key.clone(), Expr::word(limbs)]);
    let address = Expr::call(format!("{structure}_address"), [held.clone(), hash.clone()]);
    let found = Expr::call(format!("{structure}_find"), [held, address, hash, key, unit.key_size(table)]);
    let body = vec![Stmt::declare("const uint64_t", "hash", hashed), Stmt::result(unit.own_part(table, found))];
    let parameters = vec![format!("const struct {structure} *table"), "const uint64_t *key".to_string()];
    let of = "static __attribute__((noinline)) uint32_t".to_string();
    vec![Item::Function { of, name: format!("{name}_search"), parameters, body }, Item::Blank]
}

/// The three stages of a lookup, in sequence, after the statements that make its key.
fn look_up(unit: &Unit, name: &str, table: TableId, key_made: Vec<Stmt>, of: &str) -> Vec<Stmt> {
    let structure = unit.lookup_prefix(table);
    let limbs = crate::body::limbs(unit.key_bits(table));
    let held = Expr::Name(format!("run->{}", unit.table_name(table)));
    let (run, state, key) = (Expr::name("run"), Expr::name("state"), Expr::name("key"));
    let mut code = Vec::new();
    let has_keys = !unit.program.tables[table].keys.is_empty();
    if has_keys {
        code.push(Stmt::Declare { of: "uint64_t".to_string(), name: format!("key[{limbs}]"), value: None });
    }
    let skips_empty = unit.skips_empty(table);
    code.extend(skips_empty.then(|| Stmt::declare("uint32_t", "found", Expr::word(0))));
    code.extend(has_keys.then_some(Stmt::Blank));
    let hash = Expr::call(format!("{structure}_hash"), [held.clone(), key.clone(), Expr::word(limbs)]);
    let hash_made = Stmt::declare("const uint64_t", "hash", hash);
    let address = Expr::call(format!("{structure}_address"), [held.clone(), Expr::name("hash")]);
    let searched_in = held.clone();
    let arguments = [held, address, Expr::name("hash"), key, unit.key_size(table)];
    let found = || unit.own_part(table, Expr::call(format!("{structure}_find"), arguments.clone()));
    let counted = unit.count_look_ups(table, Expr::word(1));
    if skips_empty {
        // Where a miss may insert an entry, the action needs the key.
        let (before, mut looked_up) = if unit.learns(table) { (key_made, Vec::new()) } else { (Vec::new(), key_made) };
        if searches(unit, table) {
            let searched = Expr::call(format!("{name}_search"), [searched_in, Expr::name("key")]);
            looked_up.push(Stmt::set(Expr::name("found"), searched));
        } else {
            looked_up.extend([hash_made, Stmt::set(Expr::name("found"), found())]);
        }
        code.extend(before);
        code.push(counted);
        code.push(Stmt::when(Expr::unary("!", unit.is_empty(table)), looked_up));
    } else {
        code.extend(has_keys.then(|| key_made.into_iter().chain([hash_made])).into_iter().flatten());
        code.push(counted);
        code.push(Stmt::declare("const uint32_t", "found", if has_keys { found() } else { Expr::word(0) }));
    }
    let learns =
        unit.learns(table).then(|| Expr::name(if unit.program.tables[table].keys.is_empty() { "NULL" } else { "key" }));
    let arguments = [run, state, Expr::name("found"), unit.records(table)];
    let act = Expr::call(format!("{name}_act"), arguments.into_iter().chain(learns));
    code.push(if of == "INLINE void" { Stmt::Do(act) } else { Stmt::result(act) });
    code
}

/// Removes unused names, such as operands of a test with empty branches. Their values are pure.
pub fn without_unused(mut body: Vec<Stmt>) -> Vec<Stmt> {
    loop {
        let mut mentioned = Vec::new();
        body.iter().for_each(|statement| statement.names(&mut |name| mentioned.push(name)));
        let mentioned: HashSet<String> = mentioned.into_iter().map(str::to_string).collect();
        if !remove_declarations(&mut body, &mentioned) {
            return body;
        }
    }
}

/// Whether there were any whose name is not mentioned.
fn remove_declarations(body: &mut Vec<Stmt>, mentioned: &HashSet<String>) -> bool {
    let before = body.len();
    let is_used = |name: &str| mentioned.contains(name.split('[').next().unwrap_or(name));
    body.retain(|statement| !matches!(statement, Stmt::Declare { name, .. } if !is_used(name)));
    let mut removed = body.len() < before;
    for inner in body.iter_mut().flat_map(Stmt::bodies_mut) {
        removed |= remove_declarations(inner, mentioned);
    }
    removed
}

/// A function on a packet.
pub fn stage(name: &str, of: &str, body: Vec<Stmt>, more: &[&str]) -> Vec<Item> {
    let body = without_unused(body);
    let mut parameters = vec!["struct run *run".to_string(), "struct state *state".to_string()];
    parameters.extend(more.iter().map(|parameter| parameter.to_string()));
    vec![Item::Function { of: of.to_string(), name: name.to_string(), parameters, body }, Item::Blank]
}

/// Name and place of a node in the source.
pub fn headline(unit: &Unit, node: NodeId) -> String {
    let declared = unit.node(node);
    match origin(&declared.notes) {
        Some(place) => format!("{}: {place}", declared.name),
        None => declared.name.clone(),
    }
}

/// Turns every `return NODE` into a plain `return`: there is only one successor.
fn forget_results(code: &mut [Stmt]) {
    for statement in code {
        if let Stmt::Return(value) = statement {
            *value = None;
        }
        statement.bodies_mut().into_iter().for_each(|inner| forget_results(inner));
    }
}
