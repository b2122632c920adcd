//! What suits the program: matches of a key, data of an action.

use crate::{Refusal, RefusalKind};
use hlir::{ActionCall, Match, MatchKind, Scope, Table};
use num_bigint::BigUint;

fn too_wide(value: &BigUint, place: &str, width: u32) -> Refusal {
    Refusal::new(RefusalKind::TooWide, format!("{value:#x} does not fit {place}, which is {width} bits wide"))
}

/// Whether a key of this kind and width, called `name`, takes this match.
pub fn check_match(found: &Match, kind: MatchKind, width: u32, name: &str) -> Result<(), Refusal> {
    let fits = match (kind, found) {
        (MatchKind::Exact, Match::Exact(_))
        | (MatchKind::Lpm, Match::Lpm { .. } | Match::Exact(_) | Match::Any)
        | (MatchKind::Ternary, Match::Ternary { .. } | Match::Exact(_) | Match::Any)
        | (MatchKind::Range, Match::Range { .. } | Match::Exact(_) | Match::Any)
        | (MatchKind::Optional, Match::Exact(_) | Match::Any) => true,
        (_, Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. } | Match::Any) => false,
    };
    if !fits {
        return Err(Refusal::wrong(format!("key `{name}` is matched as {}, which this match is not", kind_name(kind))));
    }
    let numbers: &[&BigUint] = match found {
        Match::Exact(value) | Match::Lpm { value, .. } => &[value],
        Match::Ternary { value, mask } => &[value, mask],
        Match::Range { low, high } => &[low, high],
        Match::Any => &[],
    };
    if let Some(wide) = numbers.iter().find(|number| number.bits() > u64::from(width)) {
        return Err(too_wide(wide, &format!("key `{name}`"), width));
    }
    match found {
        Match::Lpm { prefix, .. } if *prefix > width => {
            Err(Refusal::wrong(format!("prefix /{prefix} is longer than key `{name}`, which is {width} bits wide")))
        }
        Match::Range { low, high } if low > high => {
            Err(Refusal::wrong(format!("the range {low:#x}..{high:#x} of key `{name}` is empty")))
        }
        Match::Exact(_) | Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. } | Match::Any => Ok(()),
    }
}

pub fn kind_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

/// Whether `call` is one of the table's actions with data that fit, used where `forbidden` would keep it out.
pub fn check_call(table: &Table, call: &ActionCall, forbidden: Scope) -> Result<(), Refusal> {
    let Some(action) = table.actions.get(call.action as usize) else {
        return Err(Refusal::wrong(format!("table `{}` has no action number {}", table.name, call.action)));
    };
    if action.scope == forbidden {
        let only = if forbidden == Scope::DefaultOnly { "be the default action" } else { "be in entries" };
        return Err(Refusal::wrong(format!("action `{}` of table `{}` may only {only}", action.name, table.name)));
    }
    let (expected, given) = (action.parameters.len(), call.arguments.len());
    if expected != given {
        return Err(Refusal::wrong(format!("action `{}` takes {expected} arguments, not {given}", action.name)));
    }
    let mut arguments = action.parameters.iter().zip(&call.arguments);
    match arguments.find(|(parameter, value)| value.bits() > u64::from(parameter.width)) {
        Some((parameter, value)) => Err(too_wide(value, &format!("parameter `{}`", parameter.name), parameter.width)),
        None => Ok(()),
    }
}

/// The numbers of a CRC are no wider than its remainder.
pub fn check_crc(crc: &hlir::Crc, parameters: &hlir::CrcParameters) -> Result<(), Refusal> {
    if parameters.fit(crc.width) {
        return Ok(());
    }
    Err(Refusal::wrong(format!("the polynomial and the values of CRC `{}` have {} bits at most", crc.name, crc.width)))
}

/// Whether a register takes the value.
pub fn check_register(name: &str, width: u32, value: &BigUint) -> Result<(), Refusal> {
    if value.bits() > u64::from(width) { Err(too_wide(value, &format!("register `{name}`"), width)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(value: u64) -> BigUint {
        BigUint::from(value)
    }

    #[test]
    fn matches_that_do_not_fit_are_explained() {
        let refusal = |found, kind| check_match(&found, kind, 8, "k").expect_err("it does not fit").sentence;
        assert_eq!(
            refusal(Match::Exact(big(256)), MatchKind::Exact),
            "0x100 does not fit key `k`, which is 8 bits wide"
        );
        assert_eq!(refusal(Match::Any, MatchKind::Exact), "key `k` is matched as exact, which this match is not");
        let long = Match::Lpm { value: big(0), prefix: 9 };
        assert_eq!(refusal(long, MatchKind::Lpm), "prefix /9 is longer than key `k`, which is 8 bits wide");
        let empty = Match::Range { low: big(5), high: big(4) };
        assert_eq!(refusal(empty, MatchKind::Range), "the range 0x5..0x4 of key `k` is empty");
    }
}
