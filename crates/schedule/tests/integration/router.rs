//! The first stage of a router, and an evaluator of vector steps for one SIMD lane.

use hlir::Program;
use hlir::hot_path::{nodes, stages};
use schedule::vector::{Operator, Step, TableRead, row_of};
use schedule::{Obstacle, Schedule};
use std::collections::BTreeMap;

pub const ROUTER: &str = include_str!("../../../emit/tests/golden/ipv4fwd.hlir");
pub const FRONT: &str = "v1model.begin, RouterParser.start, RouterParser.ipv4, CheckHeader.start, Router.if_105, Router.if_107, \
                     Router.if_109, Router.if_112, Router.if_114, Router.routes";

/// Calls `of` with the schedule of a program's path through these nodes, cut at the last one.
pub fn with_schedule<T>(program: &str, path: &str, of: impl FnOnce(&Program, Result<Schedule, Obstacle>) -> T) -> T {
    let last = path.rsplit(", ").next().unwrap_or(path);
    let text = format!("{program}\nplan {{\n  hot_path {{ {path} }}\n  loop {last}: batch 64 group 64 {{}}\n}}");
    let parsed = hlir::text::parse_file(&text).unwrap_or_else(|errors| panic!("{text}{errors:?}"));
    let plan = parsed.plan.expect("it has a plan");
    let path = nodes(&parsed.program, plan.hot_path.as_ref().expect("it has a path")).expect("all nodes are known");
    let first = stages(&parsed.program, &plan, &path).remove(0);
    let schedule = Schedule::of_first(&parsed.program, &path, &BTreeMap::new(), first.place, &first.looked_up);
    of(&parsed.program, schedule)
}

/// The value of each step.
pub fn steps(steps: &[Step], rows: &[u32], packet: &[u8]) -> Vec<u32> {
    let mut values: Vec<u32> = Vec::new();
    for step in steps {
        let value = |number: &u32| values[*number as usize];
        values.push(match step {
            Step::Word(at) => {
                let (row, word) = row_of(rows, *at);
                assert_eq!(rows[row] + 4 * word, *at);
                let at = *at as usize;
                u32::from_be_bytes(packet[at..at + 4].try_into().expect("four bytes"))
            }
            Step::Length => packet.len() as u32,
            Step::Port => 0,
            Step::Register { of, .. } => element_of(value(of)),
            Step::TableRead { what, of, .. } => match what {
                TableRead::Found => found_by(value(of)),
                TableRead::Record => record_of(value(of)),
                TableRead::Action => action_of(value(of)),
                TableRead::Parameter { action, parameter, part } => part_of(value(of), *action, *parameter, *part),
            },
            Step::Constant(value) => *value,
            Step::Operate(operator, left, right) => operated(*operator, value(left), value(right)),
            Step::Choose { mask, then, otherwise } => {
                assert!([0, u32::MAX].contains(&value(mask)), "a mask is all ones or zero");
                value(if value(mask) == 0 { otherwise } else { then })
            }
        });
    }
    values
}

/// The table of these tests: records 1 to 4 for all keys not divisible by five; every third runs the same
/// action.
pub fn found_by(key: u32) -> u32 {
    key % 5
}

/// The register of these tests: arbitrary bits above its width.
pub fn element_of(index: u32) -> u32 {
    0xa5a5_0000 | (7 * index + 1)
}

/// Record 9 is the default action's.
pub fn record_of(found: u32) -> u32 {
    if found == 0 { 9 } else { found }
}

pub fn action_of(record: u32) -> u32 {
    record % 3
}

/// 32 bits of a parameter. Arbitrary bits if the record has another action.
pub fn part_of(record: u32, action: usize, parameter: usize, part: u32) -> u32 {
    parameter_of(record, action, parameter).wrapping_add(part * 0x0101_0101)
}

/// Arbitrary bits if the record has another action.
pub fn parameter_of(record: u32, action: usize, parameter: usize) -> u32 {
    if action_of(record) == action as u32 { 10 * record + parameter as u32 } else { u32::MAX }
}

pub fn operated(operator: Operator, left: u32, right: u32) -> u32 {
    let mask = |truth| if truth { u32::MAX } else { 0 };
    match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::And => left & right,
        Operator::Or => left | right,
        Operator::Xor => left ^ right,
        Operator::ShiftLeft => left << right,
        Operator::ShiftRight => left >> right,
        Operator::Equal => mask(left == right),
        Operator::NotEqual => mask(left != right),
        Operator::Less => mask(left < right),
        Operator::LessEqual => mask(left <= right),
    }
}

/// A packet of 60 bytes that a router forwards.
pub fn routed() -> Vec<u8> {
    let mut packet = vec![0; 60];
    packet[12..14].copy_from_slice(&[0x08, 0x00]);
    packet[14..34]
        .copy_from_slice(&[0x45, 0, 0, 46, 0xbe, 0xef, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 254]);
    seal(&mut packet);
    packet
}

pub fn seal(packet: &mut [u8]) {
    packet[24..26].fill(0);
    let mut sum: u32 = packet[14..34].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[24..26].copy_from_slice(&(!sum as u16).to_be_bytes());
}
