//! Types: whether operands fit their operation, and whether a value has the type of its operation's result.

use super::parameter_width;
use crate::value::{Found, Operation, Sum, Value};
use crate::values::Values;
use hlir::text::is_shift;
use hlir::{Binary, NodeId, NodeKind, Program, Type, Unary};

type Fits = Result<(), String>;

/// Why a value does not fit.
pub fn fits(program: &Program, values: &Values, value: Value) -> Fits {
    let kind = values.kind(value);
    let width = kind.width();
    match values.of(value) {
        Operation::Constant(number) => is(number.width == width, "the constant has another width than its value"),
        Operation::Packet { .. } => is_bits(kind),
        Operation::Length | Operation::Headroom | Operation::Port => {
            is(kind == Type::Bits(32), "the packet's length, headroom and port have 32 bits")
        }
        Operation::Register { register, index } => {
            is_bits(values.kind(*index))?;
            is(width == program.registers[*register].width, "the value is not as wide as the register's elements")
        }
        Operation::Lookup { node, what, hash } => {
            let hash = hash.map(|hash| values.kind(hash));
            found(program, *node, *what, kind)?;
            let is_chosen = *what != Found::Number && has_selector(program, *node);
            is(
                is_chosen == hash.is_some(),
                "a hash chooses the member of a group, and belongs to tables that have groups",
            )?;
            is(hash.is_none_or(|hash| hash == Type::Bits(64)), "the hash that chooses a member has 64 bits")
        }
        Operation::Unary(Unary::Not, of) => {
            is(values.kind(*of) == Type::Bool && kind == Type::Bool, "`!` takes a boolean")
        }
        Operation::Unary(Unary::Complement | Unary::Negate, of) => {
            is_bits(kind)?;
            is(values.kind(*of) == kind, "the result is not as wide as the operand")
        }
        Operation::Binary(operator, left, right) => binary(values, *operator, (*left, *right), kind),
        Operation::Slice { of, low } => {
            is_bits(values.kind(*of))?;
            is(
                u64::from(*low) + u64::from(width) <= u64::from(values.width(*of)) && width > 0,
                "the slice is beyond its operand, or empty",
            )
        }
        Operation::Extend { of, .. } => {
            is_bits(values.kind(*of))?;
            is(width >= values.width(*of), "the result is narrower than the operand")
        }
        Operation::Choose { condition, then, otherwise } => {
            is(values.kind(*condition) == Type::Bool, "the condition is no boolean")?;
            is(values.kind(*then) == kind && values.kind(*otherwise) == kind, "the two values have different types")
        }
        Operation::FromBool(of) => is(values.kind(*of) == Type::Bool && kind == Type::Bits(1), "`bit` takes a boolean"),
        Operation::Sum(sum) => summed(values, sum),
        Operation::Hash { data, .. } => hashed(values, data, kind),
    }
}

fn is(holds: bool, otherwise: &str) -> Fits {
    if holds { Ok(()) } else { Err(otherwise.to_string()) }
}

fn is_bits(kind: Type) -> Fits {
    is(kind != Type::Bool, "a boolean is used as bits")
}

fn has_selector(program: &Program, node: NodeId) -> bool {
    let NodeKind::Apply { table, .. } = program.nodes[node].kind else { return false };
    program.selector(table).is_some()
}

fn found(program: &Program, node: NodeId, what: Found, kind: Type) -> Fits {
    if !matches!(program.nodes[node].kind, NodeKind::Apply { .. }) {
        return Err(format!("the node `{}` looks up no table", program.nodes[node].name));
    }
    match what {
        Found::Number | Found::Action => is(kind == Type::Bits(32), "a record number and an action have 32 bits"),
        Found::Parameter { low, .. } => match parameter_width(program, node, what) {
            None => Err("the table has no such action, or the action no such parameter".to_string()),
            Some(width) => is(
                kind != Type::Bool && u64::from(low) + u64::from(kind.width()) <= u64::from(width),
                "the bits are beyond the parameter",
            ),
        },
    }
}

fn binary(values: &Values, operator: Binary, (left, right): (Value, Value), kind: Type) -> Fits {
    let (of_left, of_right) = (values.kind(left), values.kind(right));
    is(kind == values.kind_of(operator, left, right), "the value has not the type of the operator's result")?;
    if matches!(operator, Binary::LogicalAnd | Binary::LogicalOr) {
        return is(of_left == Type::Bool && of_right == Type::Bool, "`&&` and `||` take booleans");
    }
    if is_shift(operator) || operator == Binary::Concat {
        return is_bits(of_left).and_then(|()| is_bits(of_right));
    }
    if !matches!(operator, Binary::Equal | Binary::NotEqual) {
        is_bits(of_left)?;
    }
    is(of_left == of_right, "the operands have different widths")
}

fn hashed(values: &Values, data: &[Value], kind: Type) -> Fits {
    is(kind == Type::Bits(64), "a hash has 64 bits")?;
    let mut bits = 0;
    for piece in data {
        is_bits(values.kind(*piece))?;
        is((1..=64).contains(&values.width(*piece)), "a piece of what is hashed has 1 to 64 bits")?;
        bits += values.width(*piece);
    }
    is(bits.is_multiple_of(8), "a hash is of whole bytes")
}

fn summed(values: &Values, sum: &Sum) -> Fits {
    is(sum.before.is_none_or(|before| values.width(before) <= 32), "a sum goes on from at most 32 bits")?;
    is(
        sum.bytes.iter().all(|(start, end)| end >= start && (end - start).is_multiple_of(2)),
        "a sum is of whole 16-bit words",
    )?;
    is(sum.words.iter().all(|word| values.width(*word).is_multiple_of(16)), "a sum is of whole 16-bit words")
}
