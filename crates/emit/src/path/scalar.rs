//! Values of a schedule as C, for one packet at a time: an expression if it is short and used once, otherwise a named
//! value.
//!
//! A value of up to 32 bits is a `uint32_t`, up to 64 a `uint64_t`, always below 2^width, as in `expression.rs`. Schedules
//! have no wider ones.

mod records;
mod windows;

use super::{HotPath, name};
use crate::body::word_type;
use crate::c::{Expr, Stmt};
use crate::expression::{constant, converted, low_limb, masked, ones, sign, symbol};
use crate::field::load_bits;
use crate::namer::{Namer, at_top};
use hlir::{Algorithm, Binary, NodeId, Type, Unary};
use schedule::{Found, LateLookup, Operation, Schedule, Sum, Value, Values};
use std::collections::HashMap;

/// Operators in an expression beyond which its parts get names.
const LARGEST: u32 = 6;

const DIVIDES: [Binary; 2] = [Binary::Divide, Binary::Remainder];
const SATURATES: [Binary; 2] = [Binary::AddSaturating, Binary::SubtractSaturating];

/// What comparisons with a number ask.
const ASKS: [(Binary, &str); 6] = [
    (Binary::Equal, "is"),
    (Binary::NotEqual, "is_not"),
    (Binary::Less, "is_below"),
    (Binary::LessEqual, "is_at_most"),
    (Binary::Greater, "is_above"),
    (Binary::GreaterEqual, "is_at_least"),
];

/// What was known before a block.
pub struct Around {
    names: HashMap<Value, Expr>,
    found: HashMap<NodeId, String>,
    records: HashMap<NodeId, String>,
    members: HashMap<(NodeId, Value), String>,
    decided: HashMap<Value, bool>,
    first: &'static str,
    has_ended: bool,
    code: Vec<Stmt>,
}

/// Emits values.
pub struct Scalar<'s> {
    path: &'s HotPath<'s>,
    schedule: &'s Schedule,
    /// Bytes of the packet that may be read.
    bytes: u32,
    uses: HashMap<Value, u32>,
    names: HashMap<Value, Expr>,
    /// The lookups that commit makes, and the record numbers of those that were needed.
    late: &'s [LateLookup],
    found: HashMap<NodeId, String>,
    /// Whether records are those of the commit phase, which are loaded once for a group.
    is_commit: bool,
    /// What a lookup's record is called.
    records: HashMap<NodeId, String>,
    /// And what the record of a member that a hash has chosen.
    members: HashMap<(NodeId, Value), String>,
    titles: Namer,
    /// Conditions that were decided meanwhile.
    decided: HashMap<Value, bool>,
    /// The first byte of the packet as it is sent.
    pub first: &'static str,
    /// Whether it is known by now how the packet ends.
    pub has_ended: bool,
    pub code: Vec<Stmt>,
}

impl<'s> Scalar<'s> {
    /// `results`: the values needed, once per use.
    pub fn new(path: &'s HotPath, schedule: &'s Schedule, bytes: u32, results: &[Value]) -> Scalar<'s> {
        let mut uses = HashMap::new();
        let operands = schedule.values.needed(results.iter().copied());
        let operands = operands.iter().flat_map(|value| schedule.values.of(*value).operands());
        operands.chain(results.iter().copied()).for_each(|value| *uses.entry(value).or_default() += 1);
        Scalar {
            path,
            schedule,
            bytes,
            uses,
            names: HashMap::new(),
            late: &[],
            found: HashMap::new(),
            is_commit: false,
            records: HashMap::new(),
            members: HashMap::new(),
            titles: Namer::new(["run", "burst", "from", "i", "path", "hits", "packet", "data", "front", "exits"]),
            decided: HashMap::new(),
            first: "data",
            has_ended: false,
            code: Vec::new(),
        }
    }

    /// The same for a commit phase.
    pub fn of_commit(
        path: &'s HotPath,
        schedule: &'s Schedule,
        bytes: u32,
        results: &[Value],
        late: &'s [LateLookup],
    ) -> Scalar<'s> {
        Scalar { is_commit: true, late, ..Scalar::new(path, schedule, bytes, results) }
    }

    /// The record number that a lookup of the commit phase finds, made where it is needed first: for packets that need it
    /// alone, unless all that are left do.
    pub fn found_late(&mut self, lookup: NodeId, is_for_all: bool) -> Expr {
        if let Some(found) = self.found.get(&lookup) {
            return name(found);
        }
        let Some(late) = self.late.iter().find(|late| late.node == lookup) else { return Expr::word(0) };
        let node = self.path.unit.node_name(late.node).to_string();
        let when = if is_for_all { None } else { self.condition(late.when) };
        // For packets with another record, a parameter in a key may have any bits: an index stays within its table.
        let limb = |it: &mut Self, limb: Value| {
            let width = it.values().width(limb);
            let written = it.value(limb);
            if it.values().known(limb).is_some() { written } else { masked(written, width) }
        };
        let limbs: Vec<Expr> = late.key.iter().map(|part| limb(self, *part)).collect();
        let key = self.titles.unique(&format!("{node}_key"));
        let found = self.titles.unique(&format!("{node}_found"));
        self.code.push(Stmt::declare("const uint64_t", format!("{key}[{}]", limbs.len()), Expr::List(limbs)));
        let call = Expr::call(format!("{node}_find"), [name("run"), name(key)]);
        let made = match when {
            Some(when) => Expr::conditional(when, call, Expr::word(0)),
            None => call,
        };
        self.code.push(Stmt::declare("const uint32_t", &found, made));
        self.found.insert(late.node, found.clone());
        name(found)
    }

    pub fn is_decided(&self, condition: Value) -> bool {
        self.holds(condition).is_some()
    }

    /// Statements of packets with a condition; without one, of all.
    pub fn under(&mut self, condition: Option<Expr>, statements: Vec<Stmt>) {
        match condition {
            None => self.code.extend(statements),
            Some(condition) => self.code.push(Stmt::when(condition, statements)),
        }
    }

    /// Values as a list with a name.
    pub fn list(&mut self, wish: &str, members: Vec<Expr>) -> Expr {
        let title = self.titles.unique(wish);
        self.code.push(Stmt::declare("const uint64_t", format!("{title}[{}]", members.len()), Expr::List(members)));
        name(title)
    }

    /// A value that is elsewhere already.
    pub fn keep(&mut self, value: Value, expression: Expr) {
        self.names.insert(value, expression);
    }

    fn values(&self) -> &'s Values {
        &self.schedule.values
    }

    /// From here on, a condition is known.
    pub fn decide(&mut self, condition: Value, holds: bool) {
        let mut left = vec![(condition, holds)];
        while let Some((condition, holds)) = left.pop() {
            self.decided.insert(condition, holds);
            let all = if holds { Binary::LogicalAnd } else { Binary::LogicalOr };
            let decided = self.values().of(condition);
            if let Operation::Unary(Unary::Not, inner) = decided {
                left.push((*inner, !holds));
            } else if let Operation::Binary(operator, one, other) = decided
                && *operator == all
            {
                left.extend([(*one, holds), (*other, holds)]);
            }
        }
    }

    /// Begins a block: what is computed in it is known there alone.
    pub fn enter(&mut self) -> Around {
        let code = std::mem::take(&mut self.code);
        Around {
            names: self.names.clone(),
            found: self.found.clone(),
            records: self.records.clone(),
            members: self.members.clone(),
            decided: self.decided.clone(),
            first: self.first,
            has_ended: self.has_ended,
            code,
        }
    }

    /// Ends the block, and returns its code.
    pub fn leave(&mut self, around: Around) -> Vec<Stmt> {
        let inner = without_unused(std::mem::replace(&mut self.code, around.code));
        (self.names, self.found) = (around.names, around.found);
        (self.records, self.members) = (around.records, around.members);
        (self.decided, self.first, self.has_ended) = (around.decided, around.first, around.has_ended);
        inner
    }

    /// A condition without the parts that are known; none if it holds.
    pub fn condition(&mut self, condition: Value) -> Option<Expr> {
        self.all_of(condition, Scalar::value)
    }

    /// The condition of a store, which is asked behind others.
    pub fn condition_before_stores(&mut self, condition: Value) -> Option<Expr> {
        self.all_of(condition, Scalar::before_stores)
    }

    fn all_of(&mut self, condition: Value, mut written: impl FnMut(&mut Self, Value) -> Expr) -> Option<Expr> {
        let mut parts = Vec::new();
        self.conjunction(condition, &mut parts);
        let parts: Vec<Expr> = parts.into_iter().map(|part| written(self, part)).collect();
        parts.into_iter().reduce(|left, right| Expr::binary("&&", left, right))
    }

    fn conjunction(&self, condition: Value, parts: &mut Vec<Value>) {
        if self.holds(condition) == Some(true) {
            return;
        }
        if let Operation::Binary(Binary::LogicalAnd, left, right) = self.values().of(condition) {
            self.conjunction(*left, parts);
            self.conjunction(*right, parts);
        } else {
            parts.push(condition);
        }
    }

    fn holds(&self, condition: Value) -> Option<bool> {
        if let Some(holds) = self.values().holds(condition) {
            return Some(holds);
        }
        let opposite = || self.decided.iter().find(|(other, _)| self.values().are_opposite(condition, **other));
        self.decided.get(&condition).copied().or_else(|| opposite().map(|(_, holds)| !holds))
    }

    /// A number of at most 64 bits, or a boolean.
    pub fn value(&mut self, value: Value) -> Expr {
        self.written(value).0
    }

    /// A value that is needed behind stores, which change what it was computed from.
    pub fn before_stores(&mut self, value: Value) -> Expr {
        let values = self.values();
        let reads = |needed: &Value| !values.of(*needed).bytes_read(values.width(*needed)).is_empty();
        if values.needed([value]).iter().any(reads) { self.named(value) } else { self.value(value) }
    }

    /// The same with a name, unless it is a constant.
    pub fn named(&mut self, value: Value) -> Expr {
        let (written, size) = self.written(value);
        if size == 0 { written } else { self.title(value, written) }
    }

    fn title(&mut self, value: Value, written: Expr) -> Expr {
        let wish = self.values().name(value).map(str::to_string).unwrap_or_else(|| self.wish(value));
        let title = self.titles.unique(&at_top(&wish, "the"));
        let kind = self.values().kind(value);
        let of = if kind == Type::Bool { "bool" } else { word_type(kind.width()) };
        self.code.push(Stmt::declare(format!("const {of}"), &title, written));
        self.names.insert(value, name(&title));
        name(title)
    }

    /// A word for a value that the program does not name.
    fn wish(&self, value: Value) -> String {
        match self.values().of(value) {
            Operation::Packet { bit } => format!("bytes_{}", bit / 8),
            Operation::Length => "length".to_string(),
            Operation::Headroom => "headroom".to_string(),
            Operation::Sum(_) => "sum".to_string(),
            Operation::Hash { .. } => "hash".to_string(),
            Operation::Lookup { what: Found::Number, .. } => "found".to_string(),
            Operation::Lookup { what: Found::Action, .. } => "action".to_string(),
            Operation::Binary(operator, left, right) if operator.is_predicate() => {
                self.question(*operator, *left, *right)
            }
            Operation::Slice { of, .. } | Operation::Extend { of, .. } | Operation::Unary(_, of) => {
                self.values().name(*of).map_or("value".to_string(), str::to_string)
            }
            Operation::Constant(_)
            | Operation::Port
            | Operation::Register { .. }
            | Operation::Lookup { .. }
            | Operation::Binary(..)
            | Operation::Choose { .. }
            | Operation::FromBool(_) => "value".to_string(),
        }
    }

    /// What a comparison asks.
    fn question(&self, operator: Binary, left: Value, right: Value) -> String {
        let Some(number) = self.values().known(right).map(hlir::value::Value::to_u64) else {
            return "holds".to_string();
        };
        if let Operation::Lookup { node, what: Found::Action, .. } = self.values().of(left) {
            let actions = &self.path.unit.program.tables[self.table(*node)].actions;
            let action = actions.get(number as usize).and_then(|action| action.name.rsplit('.').next());
            let runs = if operator == Binary::Equal { "runs" } else { "runs_no" };
            return format!("{runs}_{}", action.unwrap_or("action"));
        }
        let asks = ASKS.iter().find(|(compares, _)| *compares == operator).map(|(_, asks)| *asks);
        match self.values().name(left).zip(asks) {
            Some((name, asks)) => format!("{name}_{asks}_{number}"),
            None => "holds".to_string(),
        }
    }

    /// A value, and its number of operators.
    fn written(&mut self, value: Value) -> (Expr, u32) {
        if let Some(name) = self.names.get(&value) {
            return (name.clone(), 0);
        }
        if let Some(holds) = self.decided.get(&value) {
            return (name(if *holds { "true" } else { "false" }), 0);
        }
        if self.values().is_window(value) {
            return (self.window(value), 0);
        }
        let (written, size) = self.operation(value);
        if size > 0 && (self.uses.get(&value).copied().unwrap_or(0) > 1 || size >= LARGEST) {
            return (self.title(value, written), 0);
        }
        (written, size)
    }

    fn operation(&mut self, value: Value) -> (Expr, u32) {
        let kind = self.values().kind(value);
        let width = kind.width();
        match self.values().of(value).clone() {
            Operation::Constant(constant_value) => {
                let low = low_limb(&constant_value.bits.to_big());
                let word = if low == 0 { "false" } else { "true" };
                (if kind == Type::Bool { name(word) } else { constant(low, width) }, 0)
            }
            Operation::Packet { bit } => (load_bits(&name("data"), bit, width, self.bytes), 1),
            Operation::Length => (Expr::call("packet_length", [name("&packet")]), 1),
            Operation::Headroom => (Expr::call("packet_headroom", ["run->worker", "&packet"].map(name)), 1),
            Operation::Port => (name("burst->ports[from + i]"), 1),
            Operation::Register { register, index } => {
                let (index, size) = self.written(index);
                let title = super::vector::register_title(register);
                (Expr::call(title, [name("run"), index]), size + LARGEST)
            }
            Operation::Lookup { node, what, hash } => (self.lookup((node, hash), what, width), 1),
            Operation::Unary(operator, operand) => {
                let (operand, size) = self.written(operand);
                (unary(operator, operand, width), size + 1)
            }
            Operation::Binary(operator, left, right) => self.binary(operator, left, right),
            Operation::Slice { of, low } if self.values().is_window(of) => {
                let bits = self.values().width(of);
                let window = self.written(of).0;
                (load_bits(&window, bits - low - width, width, bits / 8), 1)
            }
            Operation::Slice { of, low } => {
                let from = self.values().width(of);
                let (of, size) = self.written(of);
                let shifted = if low > 0 { Expr::binary(">>", of, Expr::word(low)) } else { of };
                let cut = converted(shifted, from, width);
                (if low + width < from { masked(cut, width) } else { cut }, size + 1)
            }
            Operation::Extend { of, signed } => {
                let from = self.values().width(of);
                let (of, size) = self.written(of);
                let wide = converted(of, from, width);
                if !signed {
                    return (wide, size + u32::from(word_type(from) != word_type(width)));
                }
                let bias = constant(1 << (from - 1), width);
                let flipped = Expr::binary("^", wide, bias.clone());
                (masked(Expr::binary("-", flipped, bias), width), size + 2)
            }
            Operation::Choose { condition, then, otherwise } => {
                let [(condition, a), (then, b), (otherwise, c)] =
                    [condition, then, otherwise].map(|part| self.written(part));
                (Expr::conditional(condition, then, otherwise), a + b + c + 1)
            }
            Operation::FromBool(truth) => {
                let (truth, size) = self.written(truth);
                (Expr::cast("uint32_t", truth), size + 1)
            }
            Operation::Sum(sum) => (self.sum(&sum), LARGEST),
            Operation::Hash { algorithm, data } => (self.hash(algorithm, &data), LARGEST),
        }
    }

    fn binary(&mut self, operator: Binary, left: Value, right: Value) -> (Expr, u32) {
        let width = self.values().width(left);
        let below = self.values().width(right);
        let is_shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
        if is_shift {
            let Some(by) = self.values().known(right).map(hlir::value::Value::to_u64) else {
                let (value, amount) = (self.value(left), self.named(right));
                let within = Expr::binary("<", amount.clone(), Expr::long(u64::from(width)));
                let moved = masked(Expr::binary(symbol(operator), value, amount), width);
                return (Expr::conditional(within, moved, constant(0, width)), LARGEST);
            };
            let (left, size) = self.written(left);
            if by >= u64::from(width) {
                return (constant(0, width), 0);
            }
            let shifted = Expr::binary(symbol(operator), left, Expr::word(by as u32));
            return (if operator == Binary::ShiftLeft { masked(shifted, width) } else { shifted }, size + 1);
        }
        if DIVIDES.contains(&operator) {
            let (dividend, divisor) = (self.value(left), self.named(right));
            let is_zero = Expr::binary("==", divisor.clone(), constant(0, width));
            let quotient = Expr::binary(symbol(operator), dividend, divisor);
            return (Expr::conditional(is_zero, constant(0, width), quotient), LARGEST);
        }
        if SATURATES.contains(&operator) {
            let (left, right) = (self.named(left), self.named(right));
            let adds = operator == Binary::AddSaturating;
            let (room, end) = match adds {
                true => (Expr::binary("-", ones(width), left.clone()), ones(width)),
                false => (left.clone(), constant(0, width)),
            };
            let fits = Expr::binary("<=", right.clone(), room);
            return (Expr::conditional(fits, Expr::binary(if adds { "+" } else { "-" }, left, right), end), LARGEST);
        }
        let ((left, a), (right, b)) = (self.written(left), self.written(right));
        let size = a + b + 1;
        if operator == Binary::Concat {
            let whole = width + below;
            let upper = Expr::binary("<<", converted(left, width, whole), Expr::word(below));
            return (if right.number() == Some(0) { upper } else { Expr::binary("|", upper, right) }, size + 1);
        }
        let is_signed = matches!(
            operator,
            Binary::LessSigned | Binary::LessEqualSigned | Binary::GreaterSigned | Binary::GreaterEqualSigned
        );
        if is_signed {
            let [left, right] = [left, right].map(|operand| Expr::binary("^", operand, sign(width)));
            return (Expr::binary(symbol(operator), left, right), size + 2);
        }
        let written = Expr::binary(symbol(operator), left, right);
        let may_exceed = matches!(operator, Binary::Add | Binary::Subtract | Binary::Multiply);
        (if may_exceed { masked(written, width) } else { written }, size)
    }

    fn hash(&mut self, algorithm: Algorithm, data: &[Value]) -> Expr {
        let bits: u32 = data.iter().map(|piece| self.values().width(*piece)).sum();
        let bytes = self.titles.unique("hashed");
        // Stores of bits reach beyond them, up to a whole word.
        let of = format!("{bytes}[{}]", bits / 8 + 8);
        let pieces: Vec<(u32, Expr)> =
            data.iter().map(|piece| (self.values().width(*piece), self.value(*piece))).collect();
        self.code.push(Stmt::Declare {
            of: "uint8_t".to_string(),
            name: of,
            value: Some(Expr::List(vec![Expr::word(0)])),
        });
        let mut bit = 0;
        for (width, piece) in pieces {
            let to = [name(&bytes), Expr::word(bit), Expr::word(width), piece];
            self.code.push(Stmt::call("bits_store", to));
            bit += width;
        }
        crate::call::hash(self.path.unit, algorithm, name(bytes), Expr::word(bits / 8))
    }

    fn sum(&mut self, sum: &Sum) -> Expr {
        let mut total = Expr::long(0);
        if let Some(before) = sum.before {
            let before = self.value(before);
            total = Expr::call("walk_sum_number", [total, before, Expr::word(16)]);
        }
        let function = if sum.subtract { "walk_sum_subtract" } else { "walk_sum" };
        for (from, to) in &sum.bytes {
            let first = if *from == 0 { name("data") } else { Expr::binary("+", name("data"), Expr::word(*from)) };
            total = Expr::call(function, [total, first, Expr::word(to - from)]);
        }
        for word in &sum.words {
            let width = self.values().width(*word);
            let mut value = self.value(*word);
            if sum.subtract {
                value = Expr::binary("^", Expr::cast("uint64_t", value), Expr::long(u64::MAX >> (64 - width)));
            }
            total = Expr::call("walk_sum_number", [total, value, Expr::word(width)]);
        }
        Expr::cast("uint32_t", Expr::call("walk_sum_end", [total]))
    }
}

/// Code without values that nothing uses: a condition that was decided needs no operands.
pub fn without_unused(code: Vec<Stmt>) -> Vec<Stmt> {
    let mut kept: Vec<Stmt> = Vec::new();
    for statement in code.into_iter().rev() {
        if let Stmt::Declare { of, name, .. } = &statement
            && of.starts_with("const ")
        {
            let title = name.split('[').next().unwrap_or(name);
            if !kept.iter().any(|later| later.mentions(title)) {
                continue;
            }
        }
        kept.push(statement);
    }
    kept.reverse();
    kept
}

fn unary(operator: Unary, operand: Expr, width: u32) -> Expr {
    match operator {
        Unary::Not => Expr::unary("!", operand),
        // A compiler warns of `~` on what it knows to be a boolean.
        Unary::Complement => Expr::binary("^", operand, ones(width)),
        Unary::Negate => masked(Expr::binary("-", constant(0, width), operand), width),
    }
}
