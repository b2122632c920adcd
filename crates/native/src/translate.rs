//! Translates what a controller writes, in the program's terms, to keys and records as a pipeline's descriptors lay them out.

use control::Refusal;
use control::store::packed;
use hlir::{ActionCall, Match};
use num_bigint::BigUint;
use runtime::pipeline::{self, MatchKind};
use runtime::tables;

/// Limbs of 64 bits, low limb first, at least one.
pub fn limbs(value: &BigUint, width: u32) -> Vec<u64> {
    let mut limbs = value.to_u64_digits();
    limbs.resize(width.div_ceil(64).max(1) as usize, 0);
    limbs
}

/// The number that limbs are.
pub fn number(limbs: &[u64]) -> BigUint {
    let digits = limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect();
    BigUint::new(digits)
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u32) << width) - 1u32
}

/// One field of a key: what it is compared with.
struct Sides {
    value: BigUint,
    mask: BigUint,
    high: BigUint,
}

impl Sides {
    fn of(found: &Match, field: &pipeline::KeyField) -> Sides {
        let all = ones(field.width);
        let masked = |value: &BigUint, mask: BigUint| {
            let value = value & &mask;
            Sides { high: value.clone(), value, mask }
        };
        match found {
            Match::Exact(value) => masked(value, all),
            Match::Lpm { value, prefix } => masked(value, &all ^ ones(field.width - prefix)),
            Match::Ternary { value, mask } => masked(value, mask.clone()),
            Match::Range { low, high } => Sides { value: low.clone(), mask: all, high: high.clone() },
            Match::Any if field.kind == MatchKind::Range => {
                Sides { value: BigUint::ZERO, mask: all.clone(), high: all }
            }
            Match::Any => Sides { value: BigUint::ZERO, mask: BigUint::ZERO, high: BigUint::ZERO },
        }
    }
}

fn long_key(table: &pipeline::Table, matches: &[Match]) -> [Vec<u64>; 3] {
    let (mut value, mut mask, mut high) = (BigUint::ZERO, BigUint::ZERO, BigUint::ZERO);
    for (found, field) in matches.iter().zip(&table.fields) {
        let sides = Sides::of(found, field);
        value |= sides.value << field.shift;
        mask |= sides.mask << field.shift;
        high |= sides.high << field.shift;
    }
    [value, mask, high].map(|side| limbs(&side, table.key_limbs * 64))
}

/// The same for a key of at most two limbs, a dozen allocations less: most keys are.
fn short_key(table: &pipeline::Table, matches: &[Match]) -> [Vec<u64>; 3] {
    let mut sides = [0u128; 3];
    for (found, field) in matches.iter().zip(&table.fields) {
        let of_field = short_sides(found, field);
        sides.iter_mut().zip(of_field).for_each(|(side, part)| *side |= part << field.shift);
    }
    sides.map(|side| [side as u64, (side >> 64) as u64][..table.key_limbs as usize].to_vec())
}

fn short_sides(found: &Match, field: &pipeline::KeyField) -> [u128; 3] {
    let ones = |width: u32| if width >= u128::BITS { u128::MAX } else { (1 << width) - 1 };
    let short = |value: &BigUint| {
        let digits = value.iter_u64_digits().take(2);
        digits.zip([0, 64]).fold(0, |number, (digit, shift)| number | u128::from(digit) << shift)
    };
    let all = ones(field.width);
    let masked = |value: &BigUint, mask: u128| [short(value) & mask, mask, short(value) & mask];
    match found {
        Match::Exact(value) => masked(value, all),
        Match::Lpm { value, prefix } => masked(value, all ^ ones(field.width - prefix)),
        Match::Ternary { value, mask } => masked(value, short(mask)),
        Match::Range { low, high } => [short(low), all, short(high)],
        Match::Any if field.kind == MatchKind::Range => [0, all, all],
        Match::Any => [0; 3],
    }
}

/// What an entry with these matches is to the table. `matches` fit the table's keys: the control plane has checked them.
pub fn matches(table: &pipeline::Table, matches: &[Match], priority: u32) -> Result<tables::Match, Refusal> {
    if matches.len() != table.fields.len() {
        return Err(Refusal::wrong(format!(
            "table `{}` has {} keys, not {}",
            table.name,
            table.fields.len(),
            matches.len()
        )));
    }
    let [value, mask, high] = if table.key_limbs <= 2 { short_key(table, matches) } else { long_key(table, matches) };
    Ok(tables::Match { value, mask, high, priority: rank(table, matches, priority) })
}

/// What an entry with a key as the store packs it is to the table.
pub fn packed_matches(table: &pipeline::Table, key: &[u8]) -> tables::Match {
    let (priority, mut rest) = key.split_at(packed::PRIORITY_BYTES);
    let priority = priority.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
    let zero = || vec![0; table.key_limbs as usize];
    let mut found = tables::Match { value: zero(), mask: zero(), high: zero(), priority };
    let mut bits = 0;
    for field in &table.fields {
        let mut take = || {
            let (number, behind) = rest.split_at(packed::bytes_of(field.width));
            rest = behind;
            number
        };
        let value = take();
        deposit(&mut found.value, field.shift, field.width, value);
        let high = if field.kind == MatchKind::Range { take() } else { value };
        deposit(&mut found.high, field.shift, field.width, high);
        match field.kind {
            MatchKind::Exact | MatchKind::Range => {
                deposit_ones(&mut found.mask, field.shift, field.width);
                bits += field.width;
            }
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => {
                let mask = take();
                deposit(&mut found.mask, field.shift, field.width, mask);
                bits += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
            }
        }
    }
    if !has_priorities(table) {
        found.priority = if table.structure.is_prioritised() { bits } else { 0 };
    }
    found
}

/// Adds the low `width` bits of a number, lowest byte first, to limbs from bit `shift` on.
pub fn deposit(limbs: &mut [u64], shift: u32, width: u32, bytes: &[u8]) {
    for (at, byte) in bytes.iter().enumerate().take(width.div_ceil(8) as usize) {
        let left = width - 8 * at as u32;
        let byte = u64::from(if left < 8 { byte & ((1u16 << left) - 1) as u8 } else { *byte });
        let bit = shift + 8 * at as u32;
        limbs[(bit / 64) as usize] |= byte << (bit % 64);
        if bit % 64 > 56 && byte >> (64 - bit % 64) != 0 {
            limbs[(bit / 64) as usize + 1] |= byte >> (64 - bit % 64);
        }
    }
}

fn deposit_ones(limbs: &mut [u64], shift: u32, width: u32) {
    (shift..shift + width).step_by(8).zip(0..).for_each(|(bit, at)| deposit(limbs, bit, width - 8 * at, &[u8::MAX]));
}

/// The matches that an entry of a table has, as a controller would write them.
pub fn key(table: &pipeline::Table, found: &tables::Match) -> Vec<Match> {
    let [value, mask, high] = [&found.value, &found.mask, &found.high].map(|limbs| number(limbs));
    let field = |field: &pipeline::KeyField| {
        let all = ones(field.width);
        let [value, mask, high] = [&value, &mask, &high].map(|number| (number >> field.shift) & &all);
        match field.kind {
            MatchKind::Exact => Match::Exact(value),
            MatchKind::Lpm => Match::Lpm { value, prefix: mask.count_ones() as u32 },
            MatchKind::Range => Match::Range { low: value, high },
            MatchKind::Ternary | MatchKind::Optional if mask == BigUint::ZERO => Match::Any,
            MatchKind::Ternary => Match::Ternary { value, mask },
            MatchKind::Optional => Match::Exact(value),
        }
    };
    table.fields.iter().map(field).collect()
}

/// The priority among rules: the entry's, or in a list of prefixes the prefix length, which decides there.
fn rank(table: &pipeline::Table, matches: &[Match], priority: u32) -> u32 {
    if has_priorities(table) {
        return priority;
    }
    if !table.structure.is_prioritised() {
        return 0;
    }
    let prefix = |(found, field): (&Match, &pipeline::KeyField)| match found {
        Match::Lpm { prefix, .. } => *prefix,
        Match::Exact(_) => field.width,
        Match::Ternary { .. } | Match::Range { .. } | Match::Any => 0,
    };
    matches.iter().zip(&table.fields).map(prefix).sum()
}

/// Whether entries have priorities.
pub fn has_priorities(table: &pipeline::Table) -> bool {
    let orders = |kind| matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    table.fields.iter().any(|field| orders(field.kind))
}

/// The record of an action with its data as the store packs them.
pub fn packed_record(table: &pipeline::Table, name: &str, mut data: &[u8]) -> Result<Vec<u8>, Refusal> {
    let (number, mut record) = empty_record(table, name)?;
    for parameter in &table.actions[number].parameters {
        let (bytes, rest) = data.split_at(packed::bytes_of(parameter.width));
        data = rest;
        parameter.put(&mut record, bytes);
    }
    Ok(record)
}

/// The number of an action, and its record without data.
fn empty_record(table: &pipeline::Table, name: &str) -> Result<(usize, Vec<u8>), Refusal> {
    let number = table.actions.iter().position(|action| action.name == name);
    let number = number.ok_or_else(|| Refusal::wrong(format!("table `{}` has no action `{name}`", table.name)))?;
    let mut record = vec![0u8; table.record_bytes as usize];
    record[..4].copy_from_slice(&(number as u32).to_le_bytes());
    Ok((number, record))
}

/// The record of an action with its data.
pub fn record(table: &pipeline::Table, name: &str, call: &ActionCall) -> Result<Vec<u8>, Refusal> {
    let (number, mut record) = empty_record(table, name)?;
    for (parameter, argument) in table.actions[number].parameters.iter().zip(&call.arguments) {
        // Most arguments are a word, which needs no allocation.
        let mut digits = argument.iter_u64_digits();
        match (digits.next().unwrap_or(0), digits.next()) {
            (word, None) => parameter.put(&mut record, &word.to_le_bytes()),
            (_, Some(_)) => parameter.put(&mut record, &argument.to_bytes_le()),
        }
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::pipeline::{ParameterForm, Structure};

    fn table(structure: Structure, fields: &[(u32, u32, MatchKind)]) -> pipeline::Table {
        let field =
            |&(width, shift, kind): &(u32, u32, MatchKind)| pipeline::KeyField { name: "k".into(), width, shift, kind };
        let parameter =
            |width, offset| pipeline::Parameter { name: "p".into(), width, offset, form: ParameterForm::Number };
        let bits = fields.iter().map(|field| field.0).sum::<u32>();
        pipeline::Table {
            name: "t".into(),
            structure,
            key_bits: bits,
            key_limbs: bits.div_ceil(64).max(1),
            fields: fields.iter().map(field).collect(),
            actions: vec![
                pipeline::Action { name: "NoAction".into(), parameters: vec![] },
                pipeline::Action { name: "set".into(), parameters: vec![parameter(9, 4), parameter(48, 8)] },
            ],
            record_bytes: 16,
            records_own: false,
            size: 0,
            idle_timeout: None,
            source: 0,
            group_offset: 0,
            primary: None,
            part_bits: 0,
        }
    }

    #[test]
    fn a_prefix_below_an_exact_field_is_one_mask_of_ones() {
        let table = table(Structure::LpmTrie, &[(16, 48, MatchKind::Exact), (48, 0, MatchKind::Lpm)]);
        let key = [Match::Exact(0xabcdu32.into()), Match::Lpm { value: 0x123400000000u64.into(), prefix: 16 }];
        let found = matches(&table, &key, 0).unwrap();
        assert_eq!((found.value, found.mask), (vec![0xabcd_1234_0000_0000], vec![0xffff_ffff_0000_0000]));
        assert_eq!(found.priority, 0);
    }

    #[test]
    fn a_field_may_lie_across_two_limbs() {
        let table = table(Structure::Exact, &[(40, 40, MatchKind::Exact), (40, 0, MatchKind::Exact)]);
        let key = [Match::Exact(0xff_0000_0001u64.into()), Match::Exact(2u32.into())];
        let found = matches(&table, &key, 0).unwrap();
        assert_eq!(found.value, vec![0x0000_0100_0000_0002, 0xff00]);
    }

    #[test]
    fn short_keys_are_as_long_ones() {
        let fields = [
            (1, 127, MatchKind::Optional),
            (63, 64, MatchKind::Ternary),
            (33, 31, MatchKind::Range),
            (31, 0, MatchKind::Lpm),
        ];
        let table = table(Structure::List, &fields);
        let number = |value: u64| BigUint::from(value);
        let lpm = |prefix| Match::Lpm { value: number(0x7abc_def1), prefix };
        let ternary = Match::Ternary { value: number(0x1234_5678_9abc_def0), mask: number(0x7fff_0000_ffff_0f0f) };
        let range = Match::Range { low: number(5), high: number(0x1_ffff_ffff) };
        let keys = [
            [Match::Exact(number(1)), ternary, range.clone(), lpm(17)],
            [Match::Any, Match::Any, Match::Any, lpm(0)],
            [Match::Exact(number(0)), Match::Any, range, lpm(31)],
        ];
        for key in keys {
            assert_eq!(short_key(&table, &key), long_key(&table, &key), "{key:?}");
        }
        let whole = self::table(Structure::Exact, &[(128, 0, MatchKind::Exact)]);
        let key = [Match::Exact(BigUint::from(u128::MAX - 5))];
        assert_eq!(short_key(&whole, &key), long_key(&whole, &key));
    }

    #[test]
    fn packed_keys_are_as_their_matches() {
        let shapes: [&[(u32, u32, MatchKind)]; 3] = [
            &[(9, 87, MatchKind::Exact), (33, 54, MatchKind::Exact), (54, 0, MatchKind::Lpm)],
            &[(1, 95, MatchKind::Optional), (63, 32, MatchKind::Ternary), (32, 0, MatchKind::Range)],
            &[(130, 13, MatchKind::Ternary), (13, 0, MatchKind::Exact)],
        ];
        let number = |value: u64| BigUint::from(value);
        let keys = [
            [
                Match::Exact(number(0x1ff)),
                Match::Exact(number(0x1_2345_6789)),
                Match::Lpm { value: number(0x3fff << 40), prefix: 14 },
            ]
            .to_vec(),
            [
                Match::Any,
                Match::Ternary { value: number(0x1234), mask: number(0xfff4) },
                Match::Range { low: number(5), high: number(0xffff_ffff) },
            ]
            .to_vec(),
            [Match::Ternary { value: number(1) << 129, mask: number(3) << 128 }, Match::Exact(number(0x1fff))].to_vec(),
        ];
        for (fields, key) in shapes.iter().zip(keys) {
            for structure in [Structure::List, Structure::LpmTrie] {
                let table = table(structure, fields);
                let kinds: Vec<packed::Field> = fields
                    .iter()
                    .map(|(width, _, kind)| {
                        let kind = match kind {
                            MatchKind::Exact => hlir::MatchKind::Exact,
                            MatchKind::Lpm => hlir::MatchKind::Lpm,
                            MatchKind::Ternary => hlir::MatchKind::Ternary,
                            MatchKind::Range => hlir::MatchKind::Range,
                            MatchKind::Optional => hlir::MatchKind::Optional,
                        };
                        (kind, *width)
                    })
                    .collect();
                let packed = packed_matches(&table, &packed::key(&key, 7, &kinds));
                assert_eq!(packed, matches(&table, &key, 7).unwrap(), "{key:?}");
            }
        }
    }

    #[test]
    fn packed_data_are_as_their_numbers() {
        let mut table = table(Structure::Exact, &[(8, 0, MatchKind::Exact)]);
        table.actions[1].parameters[1].form = ParameterForm::Bytes;
        let call = ActionCall { action: 1, arguments: vec![0x1ffu32.into(), 0x0102_0304u64.into()] };
        let data = packed::data(call.arguments.iter().zip([9, 48]));
        assert_eq!(packed_record(&table, "set", &data), record(&table, "set", &call));
    }

    #[test]
    fn ranges_have_two_ends_and_rules_their_priority() {
        let table = table(Structure::List, &[(16, 8, MatchKind::Range), (8, 0, MatchKind::Ternary)]);
        let found = matches(&table, &[Match::Range { low: 5u32.into(), high: 9u32.into() }, Match::Any], 7).unwrap();
        assert_eq!((found.value, found.high, found.mask), (vec![0x500], vec![0x900], vec![0xffff00]));
        assert_eq!(found.priority, 7);
    }

    #[test]
    fn bytes_of_a_record_are_in_the_order_of_a_packet() {
        let mut table = table(Structure::Exact, &[(8, 0, MatchKind::Exact)]);
        table.actions[1].parameters[1].form = ParameterForm::Bytes;
        let call = ActionCall { action: 1, arguments: vec![0x1ffu32.into(), 0x0102_0304u64.into()] };
        let bytes = record(&table, "set", &call).unwrap();
        assert_eq!(bytes, [1, 0, 0, 0, 0xff, 1, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0]);
    }

    #[test]
    fn a_record_is_the_action_and_its_data_in_place() {
        let table = table(Structure::Exact, &[(8, 0, MatchKind::Exact)]);
        let call = ActionCall { action: 1, arguments: vec![0x1ffu32.into(), 0x0102_0304_0506u64.into()] };
        let bytes = record(&table, "set", &call).unwrap();
        assert_eq!(bytes, [1, 0, 0, 0, 0xff, 1, 0, 0, 6, 5, 4, 3, 2, 1, 0, 0]);
    }
}
