//! Hoisted vector constants of the first stage, broadcast once per group. Their values are hidden from the C
//! compiler: gcc would rematerialize most of them for every vector of packets, with two instructions each
//! (ipv4fwd: a tenth of its cycles).

use super::name;
use crate::c::{Expr, Item, Member, Stmt, Struct, digits};
use schedule::Lanes;
use schedule::vector::{Operator, Step};
use std::collections::BTreeSet;

/// Parameter of `path_vector`, if there are any.
pub const PARAMETER: &str = "const struct path_constants *numbers";

/// Whether the right operand may be an immediate.
pub fn shifts(operator: Operator) -> bool {
    matches!(operator, Operator::ShiftLeft | Operator::ShiftRight)
}

/// All constants of a stage, except for those that are free, and shift counts.
pub fn of(lanes: &Lanes) -> BTreeSet<u32> {
    let operands = lanes.steps.iter().flat_map(|step| {
        let Step::Operate(operator, left, right) = *step else { return [None; 2] };
        [Some(left), (!shifts(operator)).then_some(right)]
    });
    let constants = operands.flatten().filter_map(|operand| {
        let Step::Constant(value) = lanes.steps[operand as usize] else { return None };
        Some(value)
    });
    constants.filter(|value| ![0, u32::MAX].contains(value)).collect()
}

fn member(value: u32) -> String {
    format!("of_{}", digits(u64::from(value)))
}

/// A broadcast constant.
pub fn kept(value: u32) -> Expr {
    name(format!("numbers->{}", member(value)))
}

/// The struct of the constants.
pub fn items(numbers: &BTreeSet<u32>) -> Vec<Item> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let members = numbers.iter().map(|value| member(*value)).collect::<Vec<_>>().join(", ");
    vec![
        Item::Comment("Numbers in every lane.".to_string()),
        Item::Struct(Struct { name: "path_constants".to_string(), members: vec![Member::plain("lanes", members, "")] }),
        Item::Blank,
    ]
}

/// Before the loop over a group.
pub fn made(numbers: &BTreeSet<u32>) -> Vec<Stmt> {
    if numbers.is_empty() {
        return Vec::new();
    }
    let each = numbers.iter().map(|value| {
        let constant = Expr::call("lanes_constant", [Expr::word(*value)]);
        Expr::designated(member(*value), constant)
    });
    vec![Stmt::declare("const struct path_constants", "numbers", Expr::List(each.collect())), Stmt::Blank]
}
