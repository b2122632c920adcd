//! Where the fields lie in a received packet by which packets are spread over workers: the paths of the first parser, as steps for a port layer.
//!
//! A path is followed from the entry, with the positions of what it has extracted, until it has all fields or none can follow. Packets of which a path does
//! not have all fields stay where they are: they use no element of the state that asks for the spread. So the steps need to be right only for packets that
//! really go to the end of their path.

use super::origin::{Received, overwrites};
use hlir::effects::{Part, statement_writes};
use hlir::{
    Binary, Case, Expression, FieldRef, HeaderId, Intrinsic, KeySet, NodeId, NodeKind, Program, Select, Statement,
    VariableId,
};
use num_bigint::BigUint;
use std::collections::{BTreeMap, BTreeSet};

/// Bits of a step: they and the bits before them in their first byte are a 64-bit word.
pub const MOST_BITS: u32 = 56;
/// Bytes at a packet's front that steps may read.
pub const MOST_BYTES: u32 = 512;
/// A parser with loops may have more paths than packets will ever take.
const MOST_STEPS: usize = 4096;
const MOST_STATES: u32 = 256;
/// Of the numbers that ports have.
const PORT_BITS: u32 = 16;

/// What a port layer does with a packet, from the first step on. The steps of a tree: `otherwise` is further on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Goes on if the bits under the mask are from `low` to `high`, else at another step.
    Test { at: At, mask: u64, low: u64, high: u64, otherwise: usize },
    /// Takes bits into the hash.
    Mix(At),
    /// The hash is complete: it names the worker.
    Done,
    /// The packet stays on the worker that has received it.
    Keep,
}

/// A value of a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Of so many bits, from this bit of the packet on.
    Packet { bit: u32, width: u32 },
    /// The number of the port that it came by.
    Port,
}

/// The steps that spread a program's packets by these parts of them.
///
/// # Errors
/// Why they cannot be found for each packet.
pub fn steps(program: &Program, parts: &BTreeSet<Received>) -> Result<Vec<Step>, String> {
    let entry = program.entry.ok_or("the program has no packets")?;
    let wanted: BTreeSet<FieldRef> = parts.iter().filter_map(|part| part.field).collect();
    let by_port = parts.iter().any(|part| part.field.is_none());
    let mut walk = Walk { program, wanted, by_port, steps: Vec::new() };
    walk.check_extractions(entry)?;
    walk.node(entry, Path::default())?;
    Ok(walk.steps)
}

/// The steps that spread packets by their flows, for programs whose state is right on any worker: addresses, protocol and ports of IP without options or
/// fragments, else addresses alone.
pub fn flows() -> Vec<Step> {
    let mut steps = Vec::new();
    of_version(&mut steps, 0x0800, &[(208, 64), (184, 8)], &[(112, 8, 0xff, 0x45), (160, 16, 0x3fff, 0)], (184, 272));
    of_version(&mut steps, 0x86dd, &[(176, 256), (160, 8)], &[], (160, 432));
    mix(&mut steps, (0, 96));
    steps.push(Step::Done);
    steps
}

/// Steps for one version of IP: what all its packets have, tests for the ports to be where they are looked for, and where protocol and ports lie.
fn of_version(
    steps: &mut Vec<Step>,
    kind: u64,
    all: &[(u32, u32)],
    tests: &[(u32, u32, u64, u64)],
    (protocol, ports): (u32, u32),
) {
    let test = |(bit, width, mask, value), otherwise| Step::Test {
        at: At::Packet { bit, width },
        mask,
        low: value,
        high: value,
        otherwise,
    };
    let from = steps.len();
    steps.push(test((96, 16, u64::MAX, kind), 0));
    all.iter().for_each(|bits| mix(steps, *bits));
    let first = steps.len();
    tests.iter().for_each(|one| steps.push(test(*one, 0)));
    for number in [6, 17] {
        let next = steps.len() + 3;
        steps.push(test((protocol, 8, u64::MAX, number), next));
        mix(steps, (ports, 32));
        steps.push(Step::Done);
    }
    let without_ports = steps.len();
    steps.push(Step::Done);
    leads(&mut steps[first..first + tests.len()], without_ports);
    leads(&mut steps[from..=from], without_ports + 1);
}

fn mix(steps: &mut Vec<Step>, (bit, width): (u32, u32)) {
    let all = pieces(At::Packet { bit, width }).unwrap_or_default();
    steps.extend(all.into_iter().map(Step::Mix));
}

/// Lets tests that fail go on there.
fn leads(steps: &mut [Step], to: usize) {
    for step in steps {
        if let Step::Test { otherwise, .. } = step {
            *otherwise = to;
        }
    }
}

/// What is known of a packet that has come so far.
#[derive(Clone, Default)]
struct Path {
    /// Of the cursor, in bits; none behind something of a length that differs.
    beyond: bool,
    cursor: u32,
    fields: BTreeMap<FieldRef, At>,
    /// Extracted, and written since: the packet has another value where they lay.
    lost: BTreeSet<FieldRef>,
    /// Those that are not there are zero.
    variables: BTreeMap<VariableId, Option<Value>>,
    states: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Known(BigUint),
    /// Of the packet: so many bits from this bit on.
    Packet {
        bit: u32,
        width: u32,
    },
    /// The lower bits of the port's number.
    Port {
        bits: u32,
    },
}

/// Where a path goes on behind a statement.
enum Flow {
    On,
    /// The parser has failed: nothing more is extracted.
    Ends,
}

struct Walk<'p> {
    program: &'p Program,
    wanted: BTreeSet<FieldRef>,
    by_port: bool,
    steps: Vec<Step>,
}

impl Walk<'_> {
    fn has_wanted(&self, header: HeaderId) -> bool {
        self.wanted.iter().any(|field| field.header == header)
    }

    /// Nodes that a packet may come to before it is looked up, changed or sent.
    fn reached(&self, from: NodeId) -> Vec<NodeId> {
        let (mut waiting, mut found) = (vec![from], Vec::new());
        while let Some(node) = waiting.pop() {
            if found.contains(&node) {
                continue;
            }
            found.push(node);
            match self.program.nodes[node].kind {
                NodeKind::State { .. } | NodeKind::Block { .. } | NodeKind::Branch { .. } => {
                    waiting.extend(self.program.nodes[node].successors());
                }
                NodeKind::Apply { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {}
            }
        }
        found
    }

    /// Whether a node has a statement that extracts a wanted header.
    fn extracts(&self, node: NodeId) -> bool {
        let is_wanted =
            |statement: &Statement| matches!(statement, Statement::Extract { header, .. } if self.has_wanted(*header));
        super::origin::steps(self.program, node).iter().any(|(_, statement)| is_wanted(statement))
    }

    fn extracts_from(&self, node: NodeId) -> bool {
        self.reached(node).into_iter().any(|node| self.extracts(node))
    }

    /// What a later parser extracts may have been changed in between.
    fn check_extractions(&self, entry: NodeId) -> Result<(), String> {
        let first = self.reached(entry);
        let is_later = |node: NodeId| !first.contains(&node) && self.extracts(node);
        match self.program.nodes.iter().find(|(node, _)| is_later(*node)) {
            Some((_, node)) => Err(format!("{} parses what was received, and sent on, before", node.name)),
            None => Ok(()),
        }
    }

    fn node(&mut self, node: NodeId, path: Path) -> Result<(), String> {
        let Some(found) = self.found(&path) else { return self.go_on(node, path) };
        self.check_last(node)?;
        self.finish(found)
    }

    /// What is extracted once more, or fails to be, would have to be distinguished.
    fn check_last(&self, node: NodeId) -> Result<(), String> {
        if !self.wanted.is_empty() && self.extracts_from(node) {
            return Err(format!("{} may extract the fields once more", self.program.nodes[node].name));
        }
        Ok(())
    }

    /// The same, for a packet of which fields are missing.
    fn go_on(&mut self, node: NodeId, mut path: Path) -> Result<(), String> {
        if !self.extracts_from(node) {
            return self.keep(&path);
        }
        path.states += 1;
        let name = || self.program.nodes[node].name.clone();
        if path.states > MOST_STATES {
            return Err(format!("the parser may come to {} again and again", name()));
        }
        match &self.program.nodes[node].kind {
            NodeKind::State { body, select, .. } => {
                let flow = self.body(body, &mut path).map_err(|why| in_node(&why, &name()))?;
                // Before a choice: whatever fails there, even for want of bytes, the packet has the fields.
                if let Some(found) = self.found(&path) {
                    let next = self.program.nodes[node].successors();
                    next.into_iter().try_for_each(|next| self.check_last(next))?;
                    return self.finish(found);
                }
                match flow {
                    Flow::Ends => self.keep(&path),
                    Flow::On => self.select(select, &path),
                }
                .map_err(|why| in_node(&why, &name()))
            }
            NodeKind::Block { body, next, exit: None } => {
                let _ = self.body(body, &mut path)?;
                self.node(*next, path)
            }
            NodeKind::Branch { condition, then, otherwise } => match self.known(condition, &path) {
                Some(holds) => self.node(if holds { *then } else { *otherwise }, path),
                None => Err(format!("{} decides what is parsed", name())),
            },
            NodeKind::Block { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {
                self.keep(&path)
            }
        }
    }

    /// The packet stays where it is, as it has not all fields. One that has had them may use the state.
    fn keep(&mut self, path: &Path) -> Result<(), String> {
        let has = |field: &FieldRef| path.fields.contains_key(field) || path.lost.contains(field);
        if self.wanted.iter().all(has)
            && let Some(FieldRef { header, field }) = path.lost.first()
        {
            let header = &self.program.headers[*header];
            return Err(format!("the parser changes {}.{}", header.name, header.fields[*field as usize].name));
        }
        self.push(Step::Keep)
    }

    fn push(&mut self, step: Step) -> Result<(), String> {
        self.steps.push(step);
        if self.steps.len() > MOST_STEPS { Err("the parser has too many paths".to_string()) } else { Ok(()) }
    }

    /// Where all fields lie, if the path has them.
    fn found(&self, path: &Path) -> Option<Vec<At>> {
        let mut found: Vec<At> =
            self.wanted.iter().map(|field| path.fields.get(field).copied()).collect::<Option<_>>()?;
        found.extend(self.by_port.then_some(At::Port));
        Some(found)
    }

    fn finish(&mut self, found: Vec<At>) -> Result<(), String> {
        for at in found {
            for piece in pieces(at)? {
                self.push(Step::Mix(piece))?;
            }
        }
        self.push(Step::Done)
    }

    fn body(&self, body: &[Statement], path: &mut Path) -> Result<Flow, String> {
        for statement in body {
            if let Flow::Ends = self.statement(statement, path)? {
                return Ok(Flow::Ends);
            }
        }
        Ok(Flow::On)
    }

    fn statement(&self, statement: &Statement, path: &mut Path) -> Result<Flow, String> {
        match statement {
            Statement::Extract { header, .. } => self.extract(*header, path)?,
            Statement::Advance(bits) => match self.value(bits, path) {
                Some(Value::Known(bits)) => path.advance(u32::try_from(bits).unwrap_or(u32::MAX)),
                Some(Value::Packet { .. } | Value::Port { .. }) | None => path.beyond = true,
            },
            Statement::Lookahead { into, offset } => {
                let width = self.program.variables[*into].kind.width();
                let value = Value::Packet { bit: path.cursor.saturating_add(*offset), width };
                path.variables.insert(*into, (!path.beyond).then_some(value));
            }
            Statement::Verify { condition, .. } if self.known(condition, path) == Some(false) => return Ok(Flow::Ends),
            Statement::Verify { .. } => {}
            Statement::Assign { target: hlir::Place::Variable(variable), value } => {
                let value = self.value(value, path);
                path.variables.insert(*variable, value);
            }
            Statement::If { condition, then, otherwise } => match self.known(condition, path) {
                Some(holds) => return self.body(if holds { then } else { otherwise }, path),
                None => self.forget(statement, path)?,
            },
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Scope { .. }
            | Statement::Loop { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => self.forget(statement, path)?,
        }
        Ok(Flow::On)
    }

    /// The fields of a header, up to one of a length that differs.
    fn extract(&self, header: HeaderId, path: &mut Path) -> Result<(), String> {
        let fields = &self.program.headers[header].fields;
        for (number, field) in (0..).zip(fields) {
            let place = FieldRef { header, field: number };
            if self.wanted.contains(&place) && (path.fields.contains_key(&place) || path.lost.contains(&place)) {
                return Err("a header is extracted once more".to_string());
            }
            path.beyond |= field.varbit;
            if path.beyond && self.wanted.contains(&place) {
                let name = format!("{}.{}", self.program.headers[header].name, field.name);
                return Err(format!("{name} is behind something of a length that differs"));
            }
            if path.beyond {
                path.fields.remove(&place);
                continue;
            }
            path.fields.insert(place, At::Packet { bit: path.cursor, width: field.width });
            path.advance(field.width);
        }
        Ok(())
    }

    /// What a statement writes is not known behind it. One that may or may not extract a header is not followed.
    fn forget(&self, statement: &Statement, path: &mut Path) -> Result<(), String> {
        if moves_cursor(statement) {
            return Err("the parser extracts a header under a condition".to_string());
        }
        statement.walk(&mut |statement| self.forget_written(statement, path));
        Ok(())
    }

    /// Of the statement itself, without those within it.
    fn forget_written(&self, statement: &Statement, path: &mut Path) {
        let written: Vec<FieldRef> =
            path.fields.keys().copied().filter(|field| overwrites(statement, *field)).collect();
        for field in written {
            path.fields.remove(&field);
            path.lost.extend(self.wanted.get(&field));
        }
        for part in statement_writes(statement) {
            if let Part::Variable(variable) = part {
                path.variables.insert(variable, None);
            }
        }
    }

    fn select(&mut self, select: &Select, path: &Path) -> Result<(), String> {
        let keys: Vec<Option<Value>> = select.keys.iter().map(|key| self.value(key, path)).collect();
        for case in &select.cases {
            let Some(tests) = tests(case, &keys)? else { continue };
            let from = self.steps.len();
            let count = tests.len();
            for test in tests {
                self.push(test)?;
            }
            self.node(case.to, path.clone())?;
            let next = self.steps.len();
            leads(&mut self.steps[from..from + count], next);
            if count == 0 {
                return Ok(());
            }
        }
        match select.otherwise {
            Some(otherwise) => self.node(otherwise, path.clone()),
            None => self.keep(path),
        }
    }

    /// Of a condition, where it is the same for all packets of the path.
    fn known(&self, condition: &Expression, path: &Path) -> Option<bool> {
        if let Expression::Bool(value) = condition {
            return Some(*value);
        }
        let Expression::Binary { operator, left, right } = condition else { return None };
        let (Value::Known(left), Value::Known(right)) = (self.value(left, path)?, self.value(right, path)?) else {
            return None;
        };
        COMPARISONS.iter().find(|(known, _)| known == operator).map(|(_, compare)| compare(&left, &right))
    }

    fn value(&self, expression: &Expression, path: &Path) -> Option<Value> {
        match expression {
            Expression::Constant { value, .. } => Some(Value::Known(value.clone())),
            Expression::Field(field) => path.fields.get(field).copied().map(Value::from),
            Expression::Variable(variable) => {
                path.variables.get(variable).cloned().unwrap_or(Some(Value::Known(BigUint::default())))
            }
            Expression::Intrinsic(Intrinsic::IngressPort) => Some(Value::from(At::Port)),
            Expression::Extend { operand, signed: false, .. } => self.value(operand, path),
            Expression::Slice { operand, high, low } => slice(self.value(operand, path)?, *high, *low),
            Expression::Choose { condition, then, otherwise } => {
                self.value(if self.known(condition, path)? { then } else { otherwise }, path)
            }
            Expression::Binary { operator: Binary::Concat, left, right } => {
                let width = self.program.expression_type(right, &[]).width();
                joined(&self.value(left, path)?, &self.value(right, path)?, width)
            }
            Expression::Binary { operator: Binary::Add, left, right } => {
                let sides = (self.value(left, path)?, self.value(right, path)?);
                let (Value::Known(one), Value::Known(other)) = sides else { return None };
                let width = self.program.expression_type(expression, &[]).width();
                Some(Value::Known((one + other) % (BigUint::from(1u32) << width)))
            }
            Expression::Bool(_)
            | Expression::Valid(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Extend { .. }
            | Expression::FromBool(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(..) => None,
        }
    }
}

impl Path {
    fn advance(&mut self, bits: u32) {
        self.cursor = self.cursor.saturating_add(bits);
    }
}

impl From<At> for Value {
    fn from(at: At) -> Value {
        match at {
            At::Packet { bit, width } => Value::Packet { bit, width },
            At::Port => Value::Port { bits: PORT_BITS },
        }
    }
}

type Compare = fn(&BigUint, &BigUint) -> bool;

const COMPARISONS: [(Binary, Compare); 6] = [
    (Binary::Equal, |left, right| left == right),
    (Binary::NotEqual, |left, right| left != right),
    (Binary::Less, |left, right| left < right),
    (Binary::LessEqual, |left, right| left <= right),
    (Binary::Greater, |left, right| left > right),
    (Binary::GreaterEqual, |left, right| left >= right),
];

fn in_node(why: &str, name: &str) -> String {
    if why.contains(" (in ") { why.to_string() } else { format!("{why} (in {name})") }
}

fn moves_cursor(statement: &Statement) -> bool {
    let mut moves = false;
    statement.walk(&mut |inner| moves |= matches!(inner, Statement::Extract { .. } | Statement::Advance(_)));
    moves
}

fn slice(value: Value, high: u32, low: u32) -> Option<Value> {
    match value {
        Value::Known(value) => Some(Value::Known((value >> low) % (BigUint::from(1u32) << (high - low + 1)))),
        Value::Port { bits } => (low == 0).then_some(Value::Port { bits: bits.min(high + 1) }),
        Value::Packet { bit, width } if high < width => {
            Some(Value::Packet { bit: bit + width - 1 - high, width: high - low + 1 })
        }
        Value::Packet { .. } => None,
    }
}

/// Values that lie side by side, the right one with no zeros in front of it: it has as many bits as its type.
fn joined(left: &Value, right: &Value, type_width: u32) -> Option<Value> {
    let (Value::Packet { bit, width }, Value::Packet { bit: next, width: more }) = (left, right) else { return None };
    (bit + width == *next && *more == type_width).then_some(Value::Packet { bit: *bit, width: width + more })
}

/// What a packet of a case has to pass; none: no packet of this path is of the case.
fn tests(case: &Case, keys: &[Option<Value>]) -> Result<Option<Vec<Step>>, String> {
    let mut tests = Vec::new();
    for (set, key) in case.sets.iter().zip(keys) {
        let Some((mask, low, high)) = bounds(set)? else { continue };
        match key {
            None => return Err("a choice is not by bytes of the packet".to_string()),
            Some(Value::Known(value)) => {
                let masked = number(value)? & mask;
                if masked < low || masked > high {
                    return Ok(None);
                }
            }
            Some(Value::Port { bits }) => {
                let mask = mask & ((1 << bits) - 1);
                tests.push(Step::Test { at: At::Port, mask, low, high, otherwise: 0 });
            }
            Some(Value::Packet { bit, width }) => {
                let all = pieces(At::Packet { bit: *bit, width: *width })?;
                let [at] = all[..] else { return Err("a choice is by a long field".to_string()) };
                tests.push(Step::Test { at, mask, low, high, otherwise: 0 });
            }
        }
    }
    Ok(Some(tests))
}

/// Mask, least and greatest value of a set; none: all values.
fn bounds(set: &KeySet) -> Result<Option<(u64, u64, u64)>, String> {
    Ok(match set {
        KeySet::Any => None,
        KeySet::Value(value) => Some((u64::MAX, number(value)?, number(value)?)),
        KeySet::Mask { value, mask } => {
            let (value, mask) = (number(value)?, number(mask)?);
            Some((mask, value & mask, value & mask))
        }
        KeySet::Range { low, high } => Some((u64::MAX, number(low)?, number(high)?)),
        KeySet::Set(_) => return Err("a choice is by a value set".to_string()),
    })
}

fn number(value: &BigUint) -> Result<u64, String> {
    u64::try_from(value).map_err(|_| "a choice is by a long field".to_string())
}

/// A value in as many pieces as steps read at once.
fn pieces(at: At) -> Result<Vec<At>, String> {
    let At::Packet { bit, width } = at else { return Ok(vec![at]) };
    if u64::from(bit) + u64::from(width) > u64::from(8 * MOST_BYTES) {
        return Err(format!("a field is behind the first {MOST_BYTES} bytes"));
    }
    let starts = (0..width).step_by(MOST_BITS as usize);
    Ok(starts.map(|from| At::Packet { bit: bit + from, width: MOST_BITS.min(width - from) }).collect())
}
