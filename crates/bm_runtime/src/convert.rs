//! Keys and action data, as clients send them and as the program has them.

use crate::standard::{
    ActionData, ActionEntry, ActionEntryType, MatchExact, MatchLpm, MatchParameter, MatchRange, MatchTernary,
    MatchType, TableCode,
};
use crate::wire::Binary;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Match, MatchKind, Scope, Table};
use num_bigint::BigUint;

/// In BMv2 the smaller priority wins; here the larger does.
const LARGEST_PRIORITY: u32 = 0x7fff_ffff;

/// The same in both directions.
pub fn priority(table: &Table, given: u32) -> u32 {
    if table.has_priorities() { LARGEST_PRIORITY.saturating_sub(given) } else { 0 }
}

pub fn number(bytes: &Binary) -> BigUint {
    BigUint::from_bytes_be(&bytes.0)
}

/// A number in the bytes of its width.
pub fn bytes(value: &BigUint, width: u32) -> Binary {
    let digits = value.to_bytes_be();
    let length = (width.div_ceil(8) as usize).max(1);
    let mut bytes = vec![0; length.saturating_sub(digits.len())];
    bytes.extend(&digits[digits.len().saturating_sub(length)..]);
    Binary(bytes)
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

fn fitting(value: &Binary, width: u32) -> Result<BigUint, TableCode> {
    Some(number(value)).filter(|value| value.bits() <= u64::from(width)).ok_or(TableCode::BadMatchKey)
}

/// One key of an entry.
pub fn read_match(given: &MatchParameter, (kind, width): (MatchKind, u32)) -> Result<Match, TableCode> {
    let bad = TableCode::BadMatchKey;
    match (kind, given.kind) {
        (MatchKind::Exact | MatchKind::Optional, MatchType::Exact) => {
            Ok(Match::Exact(fitting(&given.exact.as_ref().ok_or(bad)?.key, width)?))
        }
        (MatchKind::Exact, MatchType::Valid) => {
            Ok(Match::Exact(u32::from(given.valid.as_ref().ok_or(bad)?.key).into()))
        }
        (MatchKind::Lpm, MatchType::Lpm) => {
            let lpm = given.lpm.as_ref().ok_or(bad)?;
            let prefix = u32::try_from(lpm.prefix_length).ok().filter(|prefix| *prefix <= width).ok_or(bad)?;
            let value = fitting(&lpm.key, width)? & (ones(width) ^ ones(width - prefix));
            Ok(Match::Lpm { value, prefix })
        }
        (MatchKind::Ternary | MatchKind::Optional, MatchType::Ternary) => {
            let ternary = given.ternary.as_ref().ok_or(bad)?;
            let mask = fitting(&ternary.mask, width)?;
            let value = fitting(&ternary.key, width)? & &mask;
            let (is_optional, is_whole) = (kind == MatchKind::Optional, mask == ones(width));
            match mask == BigUint::ZERO {
                true => Ok(Match::Any),
                false if is_optional && is_whole => Ok(Match::Exact(value)),
                false if is_optional => Err(bad),
                false => Ok(Match::Ternary { value, mask }),
            }
        }
        (MatchKind::Range, MatchType::Range) => {
            let range = given.range.as_ref().ok_or(bad)?;
            let (low, high) = (fitting(&range.start, width)?, fitting(&range.end, width)?);
            if low > high { Err(bad) } else { Ok(Match::Range { low, high }) }
        }
        (
            MatchKind::Exact | MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range | MatchKind::Optional,
            MatchType::Exact | MatchType::Lpm | MatchType::Ternary | MatchType::Valid | MatchType::Range,
        ) => Err(bad),
    }
}

/// The same in the other direction.
pub fn write_match(found: &Match, (kind, width): (MatchKind, u32)) -> MatchParameter {
    let exact = |value: &BigUint| MatchParameter {
        kind: MatchType::Exact,
        exact: Some(MatchExact { key: bytes(value, width) }),
        ..MatchParameter::default()
    };
    let lpm = |value: &BigUint, prefix: u32| MatchParameter {
        kind: MatchType::Lpm,
        lpm: Some(MatchLpm { key: bytes(value, width), prefix_length: prefix as i32 }),
        ..MatchParameter::default()
    };
    let ternary = |value: &BigUint, mask: &BigUint| MatchParameter {
        kind: MatchType::Ternary,
        ternary: Some(MatchTernary { key: bytes(value, width), mask: bytes(mask, width) }),
        ..MatchParameter::default()
    };
    let range = |low: &BigUint, high: &BigUint| MatchParameter {
        kind: MatchType::Range,
        range: Some(MatchRange { start: bytes(low, width), end: bytes(high, width) }),
        ..MatchParameter::default()
    };
    let zero = BigUint::ZERO;
    match (kind, found) {
        (MatchKind::Exact, Match::Exact(value)) => exact(value),
        (MatchKind::Lpm, Match::Exact(value)) => lpm(value, width),
        (MatchKind::Lpm, Match::Any) => lpm(&zero, 0),
        (MatchKind::Range, Match::Exact(value)) => range(value, value),
        (MatchKind::Range, Match::Any) => range(&zero, &ones(width)),
        (MatchKind::Ternary | MatchKind::Optional, Match::Exact(value)) => ternary(value, &ones(width)),
        (MatchKind::Exact | MatchKind::Ternary | MatchKind::Optional, Match::Any) => ternary(&zero, &zero),
        (_, Match::Lpm { value, prefix }) => lpm(value, *prefix),
        (_, Match::Ternary { value, mask }) => ternary(value, mask),
        (_, Match::Range { low, high }) => range(low, high),
    }
}

/// An action of the table with its data, used where `forbidden` would keep it out.
pub fn read_call(table: &Table, name: &str, data: &ActionData, forbidden: Scope) -> Result<ActionCall, TableCode> {
    let names = table.actions.iter().map(|action| action.name.as_str());
    let at = crate::device::find(name, names).ok_or(TableCode::InvalidActionName)?;
    if table.actions[at].scope == forbidden {
        return Err(TableCode::InvalidActionName);
    }
    let parameters = &table.actions[at].parameters;
    if parameters.len() != data.len() {
        return Err(TableCode::BadActionData);
    }
    let arguments: Vec<BigUint> = data.iter().map(number).collect();
    let fit = arguments.iter().zip(parameters).all(|(value, parameter)| value.bits() <= u64::from(parameter.width));
    if fit { Ok(ActionCall { action: at as u32, arguments }) } else { Err(TableCode::BadActionData) }
}

pub fn write_call(table: &Table, call: &ActionCall) -> (String, ActionData) {
    let Some(action) = table.actions.get(call.action as usize) else { return (String::new(), Vec::new()) };
    // BMv2 keeps action data as numbers, and answers with as few bytes as they need (`Data::get_string`).
    let data = call.arguments.iter().map(|value| Binary(value.to_bytes_be()));
    (action.name.clone(), data.collect())
}

pub fn write_action(table: &Table, action: &EntryAction) -> ActionEntry {
    match action {
        EntryAction::Call(call) => call_entry(table, call),
        EntryAction::Member(member) => ActionEntry {
            action_type: ActionEntryType::Member,
            mbr_handle: Some(*member as i32),
            ..ActionEntry::default()
        },
        EntryAction::Group(group) => ActionEntry {
            action_type: ActionEntryType::Group,
            grp_handle: Some(*group as i32),
            ..ActionEntry::default()
        },
        // BMv2 has no such entries; those of one-shot sets come by P4Runtime.
        EntryAction::Set(_) => ActionEntry::default(),
    }
}

pub fn call_entry(table: &Table, call: &ActionCall) -> ActionEntry {
    let (name, data) = write_call(table, call);
    ActionEntry {
        action_type: ActionEntryType::ActionData,
        action_name: Some(name),
        action_data: Some(data),
        ..ActionEntry::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bytes_of_their_width() {
        assert_eq!(bytes(&BigUint::from(5u32), 9).0, [0, 5]);
        assert_eq!(bytes(&BigUint::ZERO, 48).0, [0; 6]);
        assert_eq!(bytes(&BigUint::from(0x1_0203u32), 24).0, [1, 2, 3]);
    }

    #[test]
    fn matches_are_read_as_they_are_written() {
        let value = BigUint::from(0xa00u32);
        let cases = [
            (Match::Exact(value.clone()), MatchKind::Exact),
            (Match::Lpm { value: value.clone(), prefix: 8 }, MatchKind::Lpm),
            (Match::Ternary { value: value.clone(), mask: 0xf00u32.into() }, MatchKind::Ternary),
            (Match::Any, MatchKind::Ternary),
            (Match::Range { low: 1u32.into(), high: value.clone() }, MatchKind::Range),
            (Match::Exact(value), MatchKind::Optional),
            (Match::Any, MatchKind::Optional),
        ];
        for (found, kind) in cases {
            let field = (kind, 16);
            assert_eq!(read_match(&write_match(&found, field), field), Ok(found), "{kind:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_a_bad_key() {
        let exact = write_match(&Match::Exact(0x100u32.into()), (MatchKind::Exact, 16));
        assert_eq!(read_match(&exact, (MatchKind::Exact, 8)), Err(TableCode::BadMatchKey));
        assert_eq!(read_match(&exact, (MatchKind::Lpm, 16)), Err(TableCode::BadMatchKey), "of another kind");
        assert_eq!(read_match(&MatchParameter::default(), (MatchKind::Exact, 8)), Err(TableCode::BadMatchKey));
    }
}
