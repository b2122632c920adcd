//! Operation counts: what the C compiler roughly makes of each statement, as counted in generated code.
//!
//! The numbers are properties of the generated C, not of a processor. The cost of an operation is in the
//! machine file. Operations of an action count as often as the action runs.
//! `w_n` of docs/model.md, in x86 instructions per visit. Rough on purpose: a few instructions more or less are
//! little beside a cache miss, and what matters is which of two plans has fewer.

use crate::analyze::Traffic;
use crate::analyze::branch_probabilities::LookupOutcomes;
use hlir::{
    Algorithm, Argument, Binary, Call, Effect, Expression, FieldRef, HashInput, NodeId, NodeKind, Place, Program, Rule,
    Select, Statement, Type,
};

/// Move of a value between the packet's state and a register.
const MOVE: f64 = 1.0;
/// Load or store of a field: mostly part of the instruction that computes with it, or one more for the byte
/// swap.
const FIELD: f64 = 1.0;
/// A field that is not byte-aligned is shifted and masked as well.
const FIELD_BITS: f64 = 2.0;
/// Conditional jump.
const JUMP: f64 = 1.0;
/// Comparison with a constant and jump.
const TEST: f64 = 2.0;
/// Bounds check, pointer, validity, cursor.
/// A header is extracted by an address: its fields are loaded where they are used.
const EXTRACT: f64 = 4.0;
/// Key in registers, call, hit counter, dispatch on the action.
const LOOKUP: f64 = 9.0;
/// Append to the worker's output.
const SEND: f64 = 8.0;
const DROP: f64 = 7.0;
/// Another packet: buffer, bytes, state.
const COPY: f64 = 120.0;
/// Read, modify and write of a counter or register.
const STATE: f64 = 6.0;
const METER: f64 = 60.0;
const DIGEST: f64 = 40.0;
/// Checksum or hash per 8 bytes; of a CRC, which is a chain of two products for each word (fitted to ngsdn-tutorial
/// and the load balancer of p4lang's tutorials, on Zen 5).
const HASH_WORD: f64 = 3.0;
const CRC_WORD: f64 = 70.0;
const HASH_BASE: f64 = 8.0;
/// Bytes of a hashed payload.
const PAYLOAD_BYTES: f64 = 64.0;
/// Iterations of a loop statement.
/// An assumption: trip counts depend on packets, as of header stacks.
const ITERATIONS: f64 = 2.0;
const DIVISION: f64 = 20.0;

pub struct Operations<'p> {
    program: &'p Program,
}

impl<'p> Operations<'p> {
    pub fn new(program: &'p Program) -> Operations<'p> {
        Operations { program }
    }

    /// Operations of one visit to a node, without those of a table's structure.
    pub fn node(&self, id: NodeId, traffic: &Traffic) -> f64 {
        match &self.program.nodes[id].kind {
            NodeKind::State { body, select, .. } => self.body(body) + self.select(select),
            NodeKind::Block { body, .. } => self.body(body),
            NodeKind::Branch { condition, .. } => self.expression(condition) + JUMP,
            NodeKind::Apply { table, .. } => {
                let lookup = traffic.lookup(id).cloned().unwrap_or_default();
                LOOKUP + self.key(*table) + self.actions(*table, &lookup) + lookup.hit * self.selector(*table)
            }
            NodeKind::Deparse { body, .. } => MOVE + self.body(body),
            NodeKind::Buffer { rules, .. } => {
                let whole = traffic.node(id).max(f64::MIN_POSITIVE);
                let mut left = 1.0;
                let mut sum = 0.0;
                for rule in rules {
                    sum += left * (self.expression(&rule.condition) + JUMP);
                    let (operations, taken) = self.rule(id, rule, traffic, whole);
                    sum += operations;
                    left -= if rule.effect.is_last() { taken.min(left) } else { 0.0 };
                }
                sum
            }
        }
    }

    /// Operations that compute a table's key.
    pub fn key(&self, table: hlir::TableId) -> f64 {
        self.program.tables[table].keys.iter().map(|key| self.expression(&key.value) + MOVE).sum()
    }

    fn actions(&self, table: hlir::TableId, lookup: &LookupOutcomes) -> f64 {
        let actions = self.program.tables[table].actions.iter();
        let run = |(action, share): (&hlir::Action, &f64)| {
            let parameters = action.parameters.len() as f64 * MOVE;
            share * (self.body(&action.body) + parameters)
        };
        actions.zip(&lookup.actions).map(run).sum()
    }

    /// Operations that choose a member of an entry's group: a hash, and a division.
    fn selector(&self, id: hlir::TableId) -> f64 {
        let table = &self.program.tables[id];
        let Some(selector) = self.program.selector(id) else { return 0.0 };
        let bits = |input: &Expression| f64::from(input.type_in(self.program, &[]).width());
        let inputs: f64 = table.selector.iter().map(|input| self.expression(input)).sum();
        let bytes = table.selector.iter().map(bits).sum::<f64>() / 8.0;
        inputs + hash(selector.algorithm, bytes) + DIVISION
    }

    /// Operations of a rule, weighted by its share of the node's packets; and that share.
    /// A buffer's rules are tried in order, so a rule that ends the packet leaves fewer packets for the next
    /// ones.
    fn rule(&self, id: NodeId, rule: &Rule, traffic: &Traffic, whole: f64) -> (f64, f64) {
        let share = match rule.effect.target() {
            Some(to) => (traffic.edge(id, to) / whole).min(1.0),
            None => (traffic.leaving(id) / whole).min(1.0),
        };
        let sets =
            |set: &[(Place, Expression)]| -> f64 { set.iter().map(|(place, value)| self.assign(*place, value)).sum() };
        let operations = match &rule.effect {
            Effect::Drop { .. } => share * DROP,
            Effect::Send { port } => share * (SEND + self.expression(port)),
            Effect::Unicast { set, .. } => share * sets(set),
            Effect::Replicate { copy, .. } | Effect::Clone { copy, .. } => share * (COPY + sets(&copy.set)),
            Effect::Resubmit { copy } | Effect::Recirculate { copy } => share * (COPY / 2.0 + sets(&copy.set)),
            Effect::Punt { .. } => share * COPY,
        };
        (operations, share)
    }

    fn select(&self, select: &Select) -> f64 {
        let keys: f64 = select.keys.iter().map(|key| self.expression(key)).sum();
        // On average, half of the cases are tried.
        keys + (select.cases.len() as f64 / 2.0).ceil() * TEST
    }

    pub fn body(&self, body: &[Statement]) -> f64 {
        body.iter().map(|statement| self.statement(statement)).sum()
    }

    fn statement(&self, statement: &Statement) -> f64 {
        match statement {
            Statement::Assign { target, value } => self.assign(*target, value),
            Statement::SetValid(_) => 3.0,
            Statement::SetInvalid(_) => MOVE,
            Statement::CopyHeader { to, .. } => 4.0 + f64::from(self.program.headers[*to].most_bits()) / 64.0 * 2.0,
            Statement::CopyVarbit { .. } => 12.0,
            // Both arms with ½: the traffic model has shares of edges between nodes, not of arms within one.
            Statement::If { condition, then, otherwise } => {
                self.expression(condition) + JUMP + (self.body(then) + self.body(otherwise)) / 2.0
            }
            Statement::Scope { body, .. } => self.body(body),
            Statement::Loop { body, .. } => ITERATIONS * self.body(body),
            Statement::Leave(_) | Statement::Exit => MOVE,
            Statement::Extract { varbit, .. } => {
                EXTRACT + varbit.as_ref().map_or(0.0, |bits| 10.0 + self.expression(bits))
            }
            Statement::Advance(bits) => EXTRACT + self.expression(bits),
            Statement::Verify { condition, .. } => self.expression(condition) + JUMP,
            Statement::Lookahead { .. } => EXTRACT,
            Statement::Emit(_) => 3.0,
            Statement::Truncate(bytes) => 4.0 + self.expression(bytes),
            Statement::Call(call) => self.call(call),
        }
    }

    fn assign(&self, target: Place, value: &Expression) -> f64 {
        let store = match target {
            Place::Variable(_) => MOVE,
            Place::Field(field) => self.field(field),
        };
        store + self.expression(value)
    }

    fn call(&self, call: &Call) -> f64 {
        let all = |values: &[Expression]| -> f64 { values.iter().map(|value| self.expression(value)).sum() };
        let index = |index: &Option<Expression>| index.as_ref().map_or(0.0, |index| self.expression(index));
        match call {
            Call::Count { index: at, .. } => STATE + index(at),
            Call::ReadRegister { index, .. } => STATE + self.expression(index),
            Call::WriteRegister { index, value, .. } => STATE + self.expression(index) + self.expression(value),
            Call::ExecuteMeter { index: at, .. } => METER + index(at),
            Call::Hash { algorithm, data, .. } => hash(*algorithm, self.bytes(data)),
            Call::AddChecksum { data, .. } => hash(Algorithm::InternetChecksum, self.bytes(data)),
            Call::Random { .. } => 12.0,
            Call::SendDigest { values, .. } => DIGEST + all(values),
            Call::Log { arguments, .. } => DIGEST + all(arguments),
            Call::Assert { condition, .. } => JUMP + self.expression(condition),
            Call::AddEntry { arguments, .. } => 10.0 * DIGEST + all(arguments),
            Call::RestartTimer { .. } => STATE,
            Call::Custom { arguments, .. } => {
                let value = |argument: &Argument| match argument {
                    Argument::In(value) => self.expression(value),
                    Argument::Out(_) | Argument::InOut(_) | Argument::Payload => MOVE,
                };
                DIGEST + arguments.iter().map(value).sum::<f64>()
            }
        }
    }

    fn bytes(&self, data: &[HashInput]) -> f64 {
        data.iter().map(|input| self.input_bytes(input)).sum()
    }

    fn input_bytes(&self, input: &HashInput) -> f64 {
        match input {
            HashInput::Bits(value) => f64::from(value.type_in(self.program, &[]).width()) / 8.0,
            HashInput::Field(field) => f64::from(self.program.field(*field).width) / 8.0,
            HashInput::Payload => PAYLOAD_BYTES,
        }
    }

    fn field(&self, reference: FieldRef) -> f64 {
        let fields = &self.program.headers[reference.header].fields;
        let offset: u32 = fields[..reference.field as usize].iter().map(|field| field.width).sum();
        let width = fields[reference.field as usize].width;
        let is_whole = offset.is_multiple_of(8) && width.is_multiple_of(8);
        limbs(width) * if is_whole { FIELD } else { FIELD_BITS }
    }

    pub fn expression(&self, expression: &Expression) -> f64 {
        let mut sum = 0.0;
        expression.walk(&mut |part| sum += self.part(part));
        sum
    }

    fn part(&self, part: &Expression) -> f64 {
        match part {
            Expression::Bool(_) | Expression::Constant { .. } | Expression::FromBool(_) => 0.0,
            Expression::Variable(variable) => match self.program.variables[*variable].kind {
                Type::Bool => MOVE / 2.0,
                Type::Bits(width) => limbs(width) * MOVE / 2.0,
            },
            Expression::Field(field) => self.field(*field),
            Expression::Valid(_) | Expression::Parameter(_) | Expression::Intrinsic(_) => MOVE / 2.0,
            Expression::Unary { .. } | Expression::Slice { .. } => 1.0,
            Expression::Extend { .. } => 0.5,
            Expression::Choose { .. } => 2.0,
            Expression::VarbitLength(_) => 2.0,
            Expression::VarbitEqual(_, _) => 12.0,
            Expression::Binary { operator, left, .. } => self.binary(*operator, left),
        }
    }

    fn binary(&self, operator: Binary, left: &Expression) -> f64 {
        let width = left.type_in(self.program, &[]).width();
        // C computes in 8, 16, 32 or 64 bits; other widths are masked, and half of the masks are folded.
        let mask = if matches!(width, 8 | 16 | 32 | 64) { 0.0 } else { 0.5 };
        match operator {
            Binary::Divide | Binary::Remainder => limbs(width) * DIVISION,
            Binary::Multiply => limbs(width) * limbs(width) * 2.0,
            Binary::AddSaturating
            | Binary::SubtractSaturating
            | Binary::AddSaturatingSigned
            | Binary::SubtractSaturatingSigned => limbs(width) * 4.0,
            Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned => limbs(width) * 2.0 + mask,
            Binary::Add | Binary::Subtract | Binary::Concat => limbs(width) + mask,
            Binary::And | Binary::Or | Binary::Xor => limbs(width),
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LessSigned
            | Binary::LessEqualSigned
            | Binary::GreaterSigned
            | Binary::GreaterEqualSigned => limbs(width),
            Binary::LogicalAnd | Binary::LogicalOr => JUMP,
        }
    }
}

/// Operations of a hash over so many bytes.
fn hash(algorithm: Algorithm, bytes: f64) -> f64 {
    let word = match algorithm {
        Algorithm::Crc32 | Algorithm::Crc32Custom(_) | Algorithm::Crc16 | Algorithm::Crc16Custom(_) => CRC_WORD,
        Algorithm::Identity | Algorithm::InternetChecksum | Algorithm::Xor16 | Algorithm::Target => HASH_WORD,
    };
    HASH_BASE + bytes / 8.0 * word
}

/// Words of 64 bits, at least one.
pub fn limbs(width: u32) -> f64 {
    f64::from(width.div_ceil(64).max(1))
}
