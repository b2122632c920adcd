//! Stores to neighbouring bytes as one, where no lookup decides what is stored: whichever route a router finds, it
//! decrements the time to live and updates the checksum. The first stage computes these bytes for many packets at
//! once; commit stores one word and reads nothing of the packet.

use crate::value::{Operation, Value};
use crate::values::Values;
use crate::{Commit, Does, Effect, Schedule};
use hlir::{Binary, HeaderId};

/// Bytes of a combined store at most.
const WORD_BYTES: u32 = 4;

/// A store of some bits.
#[derive(Clone, Copy)]
struct Piece {
    /// The effect, by index.
    effect: usize,
    header: HeaderId,
    from: u32,
    to: u32,
    value: Value,
    when: Value,
}

impl Schedule {
    /// Combines stores of the expected commit. Returns the values that they store: all of at most 32 bits.
    pub fn combine_stores(&mut self) -> Vec<Value> {
        let values = &mut self.values;
        self.expected.as_mut().map(|commit| combined(values, commit)).unwrap_or_default()
    }
}

fn combined(values: &mut Values, commit: &mut Commit) -> Vec<Value> {
    // Those of the packets that most are.
    let first = commit.effects.iter().rev().skip(1).position(|effect| effect.does.is_end());
    let first = first.map_or(0, |behind| commit.effects.len() - 1 - behind);
    let mut all = pieces(values, &commit.effects);
    all.retain(|piece| piece.effect >= first);
    if commit.effects[first..].iter().any(|effect| matches!(effect.does, Does::Move { .. })) {
        return Vec::new();
    }
    let mut free: Vec<Piece> = all.iter().copied().filter(|piece| !is_decided(values, piece.value)).collect();
    free.sort_by_key(|piece| piece.from);
    let mut groups: Vec<Vec<Piece>> = Vec::new();
    for piece in free {
        if let Some(last) = groups.last_mut() {
            let with: Vec<Piece> = last.iter().copied().chain([piece]).collect();
            if is_one_store(&all, &with) {
                *last = with;
                continue;
            }
        }
        if is_one_store(&all, &[piece]) {
            groups.push(vec![piece]);
        }
    }
    let mut kept = Vec::new();
    let mut gone = Vec::new();
    for group in groups {
        let value = filled(values, &group);
        kept.push(value);
        let last = group.iter().map(|piece| piece.effect).max().expect("a group has a store");
        gone.extend(group.iter().map(|piece| piece.effect).filter(|effect| *effect != last));
        let Does::Store { field, .. } = commit.effects[group[0].effect].does else { unreachable!("it stores") };
        commit.effects[last].does = Does::Store { bit: 8 * span(&group).0, value, field };
    }
    let mut at = 0;
    commit.effects.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
    kept
}

fn pieces(values: &Values, effects: &[Effect]) -> Vec<Piece> {
    let stores = effects.iter().enumerate().filter_map(|(effect, it)| {
        let Does::Store { bit, value, field } = it.does else { return None };
        let to = bit + values.width(value);
        Some(Piece { effect, header: field.header, from: bit, to, value, when: it.when })
    });
    stores.collect()
}

/// Whether a lookup decides a value.
fn is_decided(values: &Values, value: Value) -> bool {
    values.needed([value]).iter().any(|needed| matches!(values.of(*needed), Operation::Lookup { .. }))
}

/// The first byte, and the one behind the last.
fn span(group: &[Piece]) -> (u32, u32) {
    let from = group.iter().map(|piece| piece.from / 8).min().unwrap_or(0);
    (from, group.iter().map(|piece| piece.to.div_ceil(8)).max().unwrap_or(0))
}

/// Whether one store of all bytes is the same as these stores: nothing else is stored there.
fn is_one_store(all: &[Piece], group: &[Piece]) -> bool {
    let (from, to) = span(group);
    let others = |piece: &&Piece| !group.iter().any(|member| member.effect == piece.effect);
    let is_apart = |piece: &Piece| piece.to <= 8 * from || piece.from >= 8 * to;
    let alike = |piece: &Piece| piece.when == group[0].when && piece.header == group[0].header;
    to - from <= WORD_BYTES && group.iter().all(alike) && all.iter().filter(others).all(is_apart)
}

/// The bytes, with bits of the packet between what is stored.
fn filled(values: &mut Values, group: &[Piece]) -> Value {
    let (from, to) = span(group);
    let mut whole = values.word(0, 0);
    let mut at = 8 * from;
    for piece in group {
        let gap = values.packet(at, piece.from - at);
        whole = values.binary(Binary::Concat, whole, gap);
        whole = values.binary(Binary::Concat, whole, piece.value);
        at = piece.to;
    }
    let rest = values.packet(at, 8 * to - at);
    values.binary(Binary::Concat, whole, rest)
}
