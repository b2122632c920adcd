//! What an expression is in terms of the packet as it was received: variables are replaced by what was assigned to them, down to fields of headers.
//!
//! It is proved for all packets that come to a node, or not at all. A variable is replaced if one statement of the program writes it, which runs before on
//! every path. A field counts as received if every path extracts its header, and no statement before writes it. Tests of validity cut paths off.

use hlir::effects::{Part, call_places, statement_writes};
use hlir::text::print_expression;
use hlir::{
    Binary, Call, Expression, FieldRef, HashInput, HeaderId, Intrinsic, NodeId, NodeKind, Place, Program, Statement,
    VariableId,
};
use std::collections::BTreeSet;

/// Where a statement is within its node: from the outside inwards, its number in each list, and which list of that statement the next one is.
type Position = Vec<(usize, List)>;

/// A list of statements within a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Own,
    Then,
    Otherwise,
    Scope,
    Loop,
}

/// Where a statement is. Those of a table's actions have no place, as which one runs is the entry's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub node: NodeId,
    place: Option<Position>,
    /// Conditions that hold there.
    guards: Vec<Expression>,
}

/// What packets have in common whose expression has the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The expression, written with fields of the packet as received.
    pub text: String,
    /// What is equal in all packets with the same value: nothing behind a hash, which may collide.
    pub fields: BTreeSet<Received>,
}

/// A part of a packet as it was received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Received {
    pub name: String,
    /// None: the port that it came by.
    pub field: Option<FieldRef>,
}

/// Of an expression at a site; `None` where it is not proved to be of the packet as received.
pub fn origin(program: &Program, site: &Site, expression: &Expression) -> Option<Origin> {
    match expression {
        Expression::Bool(_) | Expression::Constant { .. } => Some(constant(program, expression)),
        Expression::Intrinsic(Intrinsic::IngressPort) => Some(leaf("the ingress port", None)),
        Expression::Field(field) => {
            // A packet that comes again has other bytes.
            let is_received = is_extracted(program, site, field.header)
                && !is_written_before(program, site, *field)
                && !is_in_loop(program, site.node);
            is_received.then(|| leaf(&print_expression(program, &[], expression), Some(*field)))
        }
        Expression::Variable(variable) => assigned(program, site, *variable),
        Expression::Extend { operand, .. } | Expression::FromBool(operand) => origin(program, site, operand),
        Expression::Slice { operand, high, low } => {
            let inner = origin(program, site, operand)?;
            let whole = *low == 0 && high + 1 == width(program, operand)?;
            let text = format!("{}[{high}:{low}]", inner.text);
            Some(if whole { inner } else { Origin { text, fields: BTreeSet::new() } })
        }
        Expression::Binary { operator, left, right } => {
            let (one, other) = (origin(program, site, left)?, origin(program, site, right)?);
            let is_constant = |side: &Expression| matches!(side, Expression::Constant { .. });
            // One side can be computed from the result and the other, which is constant.
            let keeps = *operator == Binary::Concat
                || [Binary::Add, Binary::Subtract, Binary::Xor].contains(operator)
                    && (is_constant(left) || is_constant(right));
            let text = format!("{} {} {}", one.text, symbol(*operator), other.text);
            let fields = if keeps { one.fields.union(&other.fields).cloned().collect() } else { BTreeSet::new() };
            Some(Origin { text, fields })
        }
        Expression::Parameter(_)
        | Expression::Valid(_)
        | Expression::Intrinsic(_)
        | Expression::Unary { .. }
        | Expression::Choose { .. }
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(..) => None,
    }
}

fn leaf(name: &str, field: Option<FieldRef>) -> Origin {
    Origin { text: name.to_string(), fields: [Received { name: name.to_string(), field }].into() }
}

fn constant(program: &Program, expression: &Expression) -> Origin {
    Origin { text: print_expression(program, &[], expression), fields: BTreeSet::new() }
}

/// Operators by their symbols, as far as indices have them.
const SYMBOLS: [(Binary, &str); 9] = [
    (Binary::Concat, "++"),
    (Binary::Add, "+"),
    (Binary::Subtract, "-"),
    (Binary::Multiply, "*"),
    (Binary::Remainder, "%"),
    (Binary::Xor, "^"),
    (Binary::And, "&"),
    (Binary::Or, "|"),
    (Binary::ShiftRight, ">>"),
];

fn symbol(operator: Binary) -> &'static str {
    SYMBOLS.iter().find(|(known, _)| *known == operator).map_or("with", |(_, symbol)| symbol)
}

fn width(program: &Program, expression: &Expression) -> Option<u32> {
    match program.expression_type(expression, &[]) {
        hlir::Type::Bits(width) => Some(width),
        hlir::Type::Bool => None,
    }
}

/// What the one statement that writes a variable gives it, if that runs before on every path.
fn assigned(program: &Program, site: &Site, variable: VariableId) -> Option<Origin> {
    let part = Part::Variable(variable);
    let writes = |statement: &Statement| statement_writes(statement).contains(&part);
    let mut writers = program.nodes.iter().flat_map(|(node, _)| steps(program, node));
    let (writer, statement) = writers.find(|(_, statement)| writes(statement))?;
    if writers.any(|(_, other)| writes(other)) || !runs_before(program, &writer, site) {
        return None;
    }
    if let Statement::Assign { value, .. } = statement {
        return origin(program, &writer, value);
    }
    let Statement::Call(Call::Hash { algorithm, data, .. }) = statement else { return None };
    let input = |input: &HashInput| match input {
        HashInput::Bits(bits) => origin(program, &writer, bits),
        HashInput::Field(field) => origin(program, &writer, &Expression::Field(*field)),
        HashInput::Payload => None,
    };
    let inputs = data.iter().map(input).collect::<Option<Vec<Origin>>>()?;
    let names: Vec<&str> = inputs.iter().map(|input| input.text.as_str()).collect();
    let text = format!("{}({})", hlir::text::algorithm_word(*algorithm), names.join(", "));
    Some(Origin { text, fields: BTreeSet::new() })
}

/// All statements of a node, those within others as well.
pub fn steps(program: &Program, node: NodeId) -> Vec<(Site, &Statement)> {
    let mut found = Vec::new();
    match &program.nodes[node].kind {
        NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => {
            let outermost = Site { node, place: Some(Vec::new()), guards: Vec::new() };
            add_steps(&mut found, &outermost, body);
        }
        NodeKind::Apply { table, .. } => {
            let actions = Site { node, place: None, guards: Vec::new() };
            program.tables[*table].actions.iter().for_each(|action| add_steps(&mut found, &actions, &action.body));
        }
        NodeKind::Branch { .. } | NodeKind::Buffer { .. } => {}
    }
    found
}

fn add_steps<'p>(found: &mut Vec<(Site, &'p Statement)>, around: &Site, body: &'p [Statement]) {
    for (at, statement) in body.iter().enumerate() {
        let site = |list, guard: Option<&Expression>| {
            let mut site = around.clone();
            site.place.iter_mut().for_each(|place| place.push((at, list)));
            site.guards.extend(guard.cloned());
            site
        };
        found.push((site(List::Own, None), statement));
        match statement {
            Statement::If { condition, then, otherwise } => {
                add_steps(found, &site(List::Then, Some(condition)), then);
                add_steps(found, &site(List::Otherwise, None), otherwise);
            }
            Statement::Scope { body, .. } => add_steps(found, &site(List::Scope, None), body),
            Statement::Loop { body, .. } => add_steps(found, &site(List::Loop, None), body),
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {}
        }
    }
}

/// Whether a statement runs before a site on every path to it.
fn runs_before(program: &Program, first: &Site, site: &Site) -> bool {
    let Some((own, around)) = first.place.as_ref().and_then(|place| place.split_last()) else { return false };
    if first.node != site.node {
        return around.is_empty() && !reaches(program, site.node, |node| node != first.node, None);
    }
    // In the same list, or around the site.
    let Some(place) = site.place.as_ref().filter(|place| place.starts_with(around)) else { return false };
    place.get(around.len()).is_some_and(|(at, _)| own.0 < *at)
}

/// Whether a statement of the same node cannot run before a site in it: it is behind it, or in the other arm of a condition.
fn runs_later(statement: &Site, site: &Site) -> bool {
    let (Some(one), Some(other)) = (&statement.place, &site.place) else { return false };
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let is_repeated = one[..common].iter().any(|(_, list)| *list == List::Loop);
    match (one.get(common), other.get(common)) {
        (Some(one), Some(other)) => !is_repeated && (one.0 > other.0 || one.0 == other.0 && one.1 != other.1),
        (None, _) | (_, None) => !is_repeated,
    }
}

/// Whether a header is valid at a site, by its conditions, or since every path extracts it or is cut off by a test of its validity.
fn is_extracted(program: &Program, site: &Site, header: HeaderId) -> bool {
    let is_of_header =
        |statement: &Statement| matches!(statement, Statement::Extract { header: other, .. } if *other == header);
    let extracts = |node: NodeId| steps(program, node).iter().any(|(_, statement)| is_of_header(statement));
    site.guards.iter().any(|guard| needs(guard, header))
        || !reaches(program, site.node, |node| !extracts(node), Some(header))
}

/// Whether a path leads from the entry to a node through nodes that may be passed. What fails in a parser state has not passed it, and goes on at `reject`.
/// With a header, tests that it is valid are passed on the other side alone.
fn reaches(program: &Program, to: NodeId, may_pass: impl Fn(NodeId) -> bool, invalid: Option<HeaderId>) -> bool {
    let mut waiting: Vec<NodeId> = program.entry.into_iter().collect();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    while let Some(node) = waiting.pop() {
        if node == to {
            return true;
        }
        if !seen.insert(node.into_raw().into_u32()) {
            continue;
        }
        let own = &program.nodes[node];
        waiting.extend(own.parser().map(|parser| program.parsers[parser].reject));
        if !may_pass(node) {
            continue;
        }
        if let NodeKind::Branch { condition, otherwise, .. } = &own.kind
            && invalid.is_some_and(|header| needs(condition, header))
        {
            waiting.push(*otherwise);
        } else {
            waiting.extend(own.successors());
        }
    }
    false
}

/// Whether a condition is false while a header is invalid.
fn needs(condition: &Expression, header: HeaderId) -> bool {
    if let Expression::Binary { operator: Binary::LogicalAnd, left, right } = condition {
        return needs(left, header) || needs(right, header);
    }
    *condition == Expression::Valid(header)
}

/// Whether a statement other than an extraction may have written a field when a packet comes to a site.
fn is_written_before(program: &Program, site: &Site, field: FieldRef) -> bool {
    program.nodes.iter().any(|(node, _)| {
        let mut writers = steps(program, node).into_iter().filter(|(_, statement)| overwrites(statement, field));
        writers.any(
            |(writer, _)| {
                if node == site.node { !runs_later(&writer, site) } else { leads(program, node, site.node) }
            },
        )
    })
}

/// Whether a statement other than an extraction writes a field, with its header or alone.
pub(super) fn overwrites(statement: &Statement, field: FieldRef) -> bool {
    if let Statement::Assign { target, .. } = statement {
        return *target == Place::Field(field);
    }
    if let Statement::Call(call) = statement {
        return call_places(call).contains(&Place::Field(field));
    }
    let is_extraction = matches!(statement, Statement::Extract { .. });
    !is_extraction && statement_writes(statement).contains(&Part::Header(field.header))
}

/// Whether a packet may come from a node to another.
fn leads(program: &Program, from: NodeId, to: NodeId) -> bool {
    let mut waiting = program.nodes[from].successors();
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    while let Some(node) = waiting.pop() {
        if node == to {
            return true;
        }
        if seen.insert(node.into_raw().into_u32()) {
            let own = &program.nodes[node];
            waiting.extend(own.successors());
            waiting.extend(own.parser().map(|parser| program.parsers[parser].reject));
        }
    }
    false
}

fn is_in_loop(program: &Program, node: NodeId) -> bool {
    leads(program, node, node)
}
