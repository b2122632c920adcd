//! Lays entries out for a pipeline's tables, as its descriptors demand. There is one encoder: from the form in which the store packs keys and data.

use control::Refusal;
use control::store::packed;
use hlir::{ActionCall, Match};
use num_bigint::BigUint;
use runtime::pipeline::{self, LeftOut, MatchKind};
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

/// Kind and width of each key, as the store packs them.
fn packed_fields(table: &pipeline::Table) -> impl Iterator<Item = packed::Field> + Clone {
    table.fields.iter().map(packed_field)
}

fn packed_field(field: &pipeline::KeyField) -> packed::Field {
    let kind = match field.kind {
        MatchKind::Exact => hlir::MatchKind::Exact,
        MatchKind::Lpm => hlir::MatchKind::Lpm,
        MatchKind::Ternary => hlir::MatchKind::Ternary,
        MatchKind::Range => hlir::MatchKind::Range,
        MatchKind::Optional => hlir::MatchKind::Optional,
    };
    (kind, field.width)
}

/// What an entry with these matches is to the table. `matches` fit the table's keys: the control plane has checked them.
pub fn matches(table: &pipeline::Table, matches: &[Match], priority: u32) -> Result<tables::Match, Refusal> {
    if matches.len() != table.fields.len() {
        let (name, keys) = (&table.name, table.fields.len());
        return Err(Refusal::wrong(format!("table `{name}` has {keys} keys, not {}", matches.len())));
    }
    Ok(packed_matches(table, &packed::key(matches, priority, packed_fields(table))))
}

/// What an entry with a key as the store packs it is to the table.
pub fn packed_matches(table: &pipeline::Table, key: &[u8]) -> tables::Match {
    let mut found = empty_match(table);
    put_key(table, key, &mut found);
    found
}

/// Room for [`put_key`].
pub(crate) fn empty_match(table: &pipeline::Table) -> tables::Match {
    let zero = || vec![0; table.key_limbs as usize];
    tables::Match { value: zero(), mask: zero(), high: zero(), priority: 0 }
}

/// Lays out a key as the store packs it.
pub(crate) fn put_key(table: &pipeline::Table, key: &[u8], found: &mut tables::Match) {
    let (priority, mut rest) = key.split_at(packed::PRIORITY_BYTES);
    [&mut found.value, &mut found.mask, &mut found.high].into_iter().for_each(|side| side.fill(0));
    let mut bits = 0;
    for field in &table.fields {
        if field.left_out.is_some() {
            rest = &rest[packed::field_bytes(&packed_field(field))..];
            continue;
        }
        let mut take = || {
            let (number, behind) = rest.split_at(packed::bytes_of(field.width));
            rest = behind;
            number
        };
        let value = take();
        deposit(&mut found.value, field, value);
        match field.kind {
            MatchKind::Exact => {
                deposit(&mut found.high, field, value);
                bits += deposit_ones(&mut found.mask, field);
            }
            MatchKind::Range => {
                deposit(&mut found.high, field, take());
                bits += deposit_ones(&mut found.mask, field);
            }
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => {
                let mask = take();
                deposit(&mut found.high, field, value);
                if field.mask.is_some() {
                    bits += deposit_ones(&mut found.mask, field);
                    continue;
                }
                deposit(&mut found.mask, field, mask);
                bits += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
            }
        }
    }
    // In a list of prefixes, the length of the prefix decides.
    found.priority = match has_priorities(table) {
        true => word(priority) as u32,
        false if table.structure.is_prioritised() => bits,
        false => 0,
    };
}

/// Up to eight bytes, the lowest first.
fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Adds a field's number, lowest byte first, to a key.
fn deposit(limbs: &mut [u64], field: &pipeline::KeyField, bytes: &[u8]) {
    for (at, bytes) in (0..).step_by(64).zip(bytes.chunks(8)) {
        deposit_word(limbs, field.shift + at, word(bytes) & low_ones(field.width - at));
    }
}

/// Adds ones. Gives how many.
fn deposit_ones(limbs: &mut [u64], field: &pipeline::KeyField) -> u32 {
    (0..field.width).step_by(64).for_each(|at| deposit_word(limbs, field.shift + at, low_ones(field.width - at)));
    field.width
}

fn low_ones(width: u32) -> u64 {
    u64::MAX.checked_shr(64u32.saturating_sub(width)).unwrap_or(0)
}

/// Adds a number to limbs, from bit `shift` on.
fn deposit_word(limbs: &mut [u64], shift: u32, word: u64) {
    let (limb, bit) = ((shift / 64) as usize, shift % 64);
    limbs[limb] |= word << bit;
    if bit != 0 && word >> (64 - bit) != 0 {
        limbs[limb + 1] |= word >> (64 - bit);
    }
}

/// The matches that an entry of a table has, as a controller would write them.
pub fn key(table: &pipeline::Table, found: &tables::Match) -> Vec<Match> {
    let [value, mask, high] = [&found.value, &found.mask, &found.high].map(|limbs| number(limbs));
    let field = |field: &pipeline::KeyField| {
        match &field.left_out {
            Some(LeftOut::Any) => return Match::Any,
            Some(LeftOut::Value(limbs)) => return Match::Exact(number(limbs)),
            None => {}
        }
        let all = ones(field.width);
        let [value, mask, high] = [&value, &mask, &high].map(|number| (number >> field.shift) & &all);
        let mask = field.mask.as_ref().map_or(mask, |limbs| number(limbs));
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

/// Whether entries have priorities.
pub fn has_priorities(table: &pipeline::Table) -> bool {
    let orders = |kind| matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    table.fields.iter().any(|field| orders(field.kind))
}

/// The number of an action in a table.
pub fn action_number(table: &pipeline::Table, name: &str) -> Result<usize, Refusal> {
    let number = table.actions.iter().position(|action| action.name == name);
    number.ok_or_else(|| Refusal::wrong(format!("table `{}` has no action `{name}`", table.name)))
}

/// The record of an action with its data as the store packs them.
pub fn packed_record(table: &pipeline::Table, action: usize, data: &[u8]) -> Vec<u8> {
    let mut record = vec![0; table.record_bytes as usize];
    put_record(table, action, data, &mut record);
    record
}

/// Lays out an action with its data as the store packs them. Where records have a place of a value join behind these, entries come without one.
pub(crate) fn put_record(table: &pipeline::Table, action: usize, mut data: &[u8], record: &mut [u8]) {
    record.fill(0);
    record[..4].copy_from_slice(&(action as u32).to_le_bytes());
    for parameter in &table.actions[action].parameters {
        let Some((bytes, rest)) = data.split_at_checked(packed::bytes_of(parameter.width)) else { return };
        data = rest;
        parameter.put(record, bytes);
    }
}

/// The record of an action with its data.
pub fn record(table: &pipeline::Table, action: usize, call: &ActionCall) -> Vec<u8> {
    let widths = table.actions[action].parameters.iter().map(|parameter| parameter.width);
    packed_record(table, action, &packed::data(call.arguments.iter().zip(widths)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::pipeline::{ParameterForm, Structure};

    fn table(structure: Structure, fields: &[(u32, u32, MatchKind)]) -> pipeline::Table {
        let field = |&(width, shift, kind): &(u32, u32, MatchKind)| pipeline::KeyField {
            name: "k".into(),
            width,
            shift,
            kind,
            mask: None,
            left_out: None,
        };
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

    /// Each field of a key, and of the mask and the upper end, is what the match names, whatever limbs it lies across.
    #[test]
    fn fields_of_all_kinds_are_where_the_table_has_them() {
        let fields = [
            (130, 97, MatchKind::Ternary),
            (1, 96, MatchKind::Optional),
            (33, 63, MatchKind::Range),
            (54, 9, MatchKind::Lpm),
            (9, 0, MatchKind::Exact),
        ];
        let number = |value: u64| BigUint::from(value);
        let key = [
            Match::Ternary { value: number(7) << 127, mask: number(5) << 127 },
            Match::Any,
            Match::Range { low: number(5), high: number(0x1_ffff_ffff) },
            Match::Lpm { value: number(0x3f_ffff_ffff_ffff), prefix: 14 },
            Match::Exact(number(0x1ff)),
        ];
        let table = table(Structure::List, &fields);
        let found = matches(&table, &key, 77).unwrap();
        let side = |side: &[u64], at: usize| {
            let (width, shift, _) = fields[at];
            (self::number(side) >> shift) & ((number(1) << width) - number(1))
        };
        let top: BigUint = number(0x3fff) << 40;
        let ones = |width: u32| (number(1) << width) - number(1);
        let expected = [
            (number(5) << 127, number(5) << 127, number(5) << 127),
            (number(0), number(0), number(0)),
            (number(5), ones(33), number(0x1_ffff_ffff)),
            (top.clone(), top.clone(), top),
            (number(0x1ff), ones(9), number(0x1ff)),
        ];
        for (at, (value, mask, high)) in expected.into_iter().enumerate() {
            assert_eq!(side(&found.value, at), value, "value {at}");
            assert_eq!(side(&found.mask, at), mask, "mask {at}");
            assert_eq!(side(&found.high, at), high, "upper end {at}");
        }
        assert_eq!(found.priority, 77);
    }

    /// Keys that the structure leaves out are skipped in what the store packs, and have their one match when they are read.
    #[test]
    fn keys_that_are_left_out_have_no_bits() {
        let mut table = table(
            Structure::Exact,
            &[
                (130, 0, MatchKind::Ternary),
                (32, 8, MatchKind::Exact),
                (9, 0, MatchKind::Exact),
                (8, 0, MatchKind::Exact),
                (65, 0, MatchKind::Exact),
            ],
        );
        (table.key_bits, table.key_limbs) = (40, 1);
        for (at, left_out) in [(0, LeftOut::Any), (2, LeftOut::Value(vec![0x101])), (4, LeftOut::Value(vec![7, 1]))] {
            table.fields[at].left_out = Some(left_out);
        }
        let wide = BigUint::from(7u32) + (BigUint::from(1u32) << 64);
        let exact = |value: u32| Match::Exact(value.into());
        let key = [Match::Any, exact(0x0a00_0001), exact(0x101), exact(0xff), Match::Exact(wide)];
        let found = matches(&table, &key, 3).unwrap();
        assert_eq!((&found.value, &found.mask), (&vec![0x0a_0000_01ff], &vec![0xff_ffff_ffff]));
        assert_eq!(self::key(&table, &found), key);
    }

    /// Keys of one mask are exact ones to the structure, and what they were declared as to a reader.
    #[test]
    fn keys_of_one_mask_are_as_wide_as_exact_ones() {
        let mut table = table(
            Structure::Exact,
            &[(16, 80, MatchKind::Ternary), (72, 8, MatchKind::Lpm), (8, 0, MatchKind::Optional)],
        );
        for (field, mask) in [(0, vec![0xfff0]), (1, vec![0, 0xff]), (2, vec![0xff])] {
            table.fields[field].mask = Some(mask);
        }
        let prefix = BigUint::from(0x20u32) << 64;
        let key = [
            Match::Ternary { value: 0x1230u32.into(), mask: 0xfff0u32.into() },
            Match::Lpm { value: prefix, prefix: 8 },
            Match::Exact(7u32.into()),
        ];
        let found = matches(&table, &key, 3).unwrap();
        assert_eq!((&found.value, &found.mask), (&vec![7, 0x1230_2000], &vec![u64::MAX, 0xffff_ffff]));
        assert_eq!(self::key(&table, &found), key);
    }

    #[test]
    fn prefixes_without_priorities_are_ordered_by_their_lengths() {
        let key = [Match::Lpm { value: 0x0a01_0200u32.into(), prefix: 24 }];
        for (structure, rank) in [(Structure::Scan, 24), (Structure::List, 24), (Structure::Dir24_8, 0)] {
            let table = table(structure, &[(32, 0, MatchKind::Lpm)]);
            assert_eq!(matches(&table, &key, 5).unwrap().priority, rank, "{structure:?}");
        }
    }

    #[test]
    fn a_record_has_its_action_and_data_and_room_for_what_follows() {
        let table = table(Structure::Exact, &[(32, 0, MatchKind::Exact)]);
        let call = |arguments: &[u64]| ActionCall {
            action: 1,
            arguments: arguments.iter().map(|argument| BigUint::from(*argument)).collect(),
        };
        assert_eq!(record(&table, 1, &call(&[0x1ff, 7])), [1, 0, 0, 0, 0xff, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(record(&table, 1, &call(&[2])), [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(action_number(&table, "set").unwrap(), 1);
        assert!(action_number(&table, "other").is_err());
    }
}
