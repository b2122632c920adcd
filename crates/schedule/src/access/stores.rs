//! Stores: neighbours with one condition are one store, with bits of the packet between them (PAC, section 3: writes under
//! control equivalence, and gaps that are filled by reads that dominate them).

use super::widest;
use crate::commit::as_it_arrived;
use crate::value::{Found, Operation, Value};
use crate::values::{Values, WORD};
use crate::{Commit, Does, Effect};
use hlir::plan::AccessMode;
use hlir::{Binary, FieldRef, Type};
use std::collections::BTreeSet;
use std::ops::Range;

/// Bits of a parameter from which on it is copied from its record, byte by byte, without a register.
const COPIED: u32 = 32;

/// Bytes of the packet: the first one, and the one behind the last.
type Bytes = (u32, u32);

/// A store of some bits.
#[derive(Clone, Copy)]
struct Piece {
    /// The effect, by index.
    effect: usize,
    from: u32,
    to: u32,
    value: Value,
    field: FieldRef,
}

/// What stores of one packet have in common.
struct Run {
    /// Bytes by which the packet begins earlier.
    moved: i32,
    mode: AccessMode,
    /// Bytes of the packet that may be read.
    bytes: u32,
}

/// Combines the stores of a commit phase.
pub fn combine(values: &mut Values, commit: &mut Commit, (mode, bytes): (AccessMode, u32), fixed: &BTreeSet<Value>) {
    let mut made = Vec::with_capacity(commit.effects.len());
    let mut moved = 0;
    let mut at = 0;
    let effects = std::mem::take(&mut commit.effects);
    while at < effects.len() {
        let stores = effects[at..].iter().take_while(|effect| matches!(effect.does, Does::Store { .. })).count();
        if stores > 1 {
            combine_run(values, &effects[at..at + stores], &Run { moved, mode, bytes }, fixed, &mut made);
        } else {
            made.extend_from_slice(&effects[at..at + stores.max(1)]);
        }
        if let Does::Move { bytes } = effects[at].does {
            moved = bytes;
        } else if stores == 0 {
            // Packets of other ends begin where they began.
            moved = 0;
        }
        at += stores.max(1);
    }
    commit.effects = made;
}

/// Stores in a row, which do not overlap where they are of one packet, so that their order does not matter.
fn combine_run(values: &mut Values, run: &[Effect], of: &Run, fixed: &BTreeSet<Value>, made: &mut Vec<Effect>) {
    let pieces: Vec<Piece> = run.iter().enumerate().filter_map(|(effect, it)| piece(values, effect, it)).collect();
    let mut free: Vec<Piece> =
        pieces.iter().copied().filter(|piece| !fixed.contains(&piece.value) && may_join(values, piece, of)).collect();
    free.sort_by_key(|piece| piece.from);
    let mut groups: Vec<Vec<Piece>> = Vec::new();
    for piece in free {
        let fitting = groups.iter_mut().rev().find(|group| {
            let with: Vec<Piece> = group.iter().copied().chain([piece]).collect();
            run[group[0].effect].when == run[piece.effect].when && is_one_store((&pieces, &with), span(&with), of)
        });
        match fitting {
            Some(group) => group.push(piece),
            None => groups.push(vec![piece]),
        }
    }
    groups.retain(|group| group.len() > 1);
    let gone: BTreeSet<usize> = groups.iter().flatten().map(|piece| piece.effect).collect();
    made.extend(run.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, effect)| effect.clone()));
    for group in groups {
        let first = &run[group[0].effect];
        let bytes = widened(&pieces, &group, of);
        let value = filled(values, &group, bytes, of);
        let does = Does::Store { bit: 8 * bytes.0, value, field: group[0].field };
        made.push(Effect { when: first.when, node: first.node, does });
    }
}

fn piece(values: &Values, effect: usize, it: &Effect) -> Option<Piece> {
    let Does::Store { bit, value, field } = it.does else { return None };
    Some(Piece { effect, from: bit, to: bit + values.width(value), value, field })
}

/// Whether a store is better joined with others than made alone.
fn may_join(values: &Values, piece: &Piece, of: &Run) -> bool {
    let Operation::Lookup { what: Found::Parameter { .. }, .. } = values.of(piece.value) else {
        return piece.to - piece.from <= WORD;
    };
    let is_copied = piece.from.is_multiple_of(8) && piece.to - piece.from >= COPIED;
    of.mode == AccessMode::Cached || !is_copied && piece.to - piece.from <= WORD
}

/// The first byte, and the one behind the last.
fn span(group: &[Piece]) -> Bytes {
    let from = group.iter().map(|piece| piece.from / 8).min().unwrap_or(0);
    (from, group.iter().map(|piece| piece.to.div_ceil(8)).max().unwrap_or(0))
}

/// As many bytes as one access of a cached packet has, if these can be stored, too.
fn widened(all: &[Piece], group: &[Piece], of: &Run) -> Bytes {
    let (from, to) = span(group);
    let end = of.bytes.saturating_add_signed(of.moved);
    let sizes =
        [8, 16, 32].into_iter().filter(|size| of.mode == AccessMode::Cached && (to - from..=end).contains(size));
    let mut wider = sizes.map(|size| from.min(end - size)..from.min(end - size) + size);
    let fits = |bytes: &Range<u32>| bytes.end >= to && is_one_store((all, group), (bytes.start, bytes.end), of);
    wider.find(fits).map_or((from, to), |bytes| (bytes.start, bytes.end))
}

/// Whether one store of some bytes is the same as these: no other one is there, and other bits are the packet's.
fn is_one_store((all, group): (&[Piece], &[Piece]), (from, to): Bytes, of: &Run) -> bool {
    let is_member = |piece: &&Piece| group.iter().any(|member| member.effect == piece.effect);
    let is_apart = |piece: &Piece| piece.to <= 8 * from || piece.from >= 8 * to;
    let is_read = |(from, to): (u32, u32)| {
        from == to || as_it_arrived(from, of.moved) >= 0 && as_it_arrived(to, of.moved) <= i64::from(8 * of.bytes)
    };
    to - from <= widest(of.mode)
        && all.iter().filter(|piece| !is_member(piece)).all(is_apart)
        && gaps(group, (from, to)).into_iter().all(is_read)
}

/// Bits of these bytes that are not stored, in order: one piece more than there are stores.
fn gaps(group: &[Piece], (from, to): Bytes) -> Vec<(u32, u32)> {
    let starts = [8 * from].into_iter().chain(group.iter().map(|piece| piece.to));
    starts.zip(group.iter().map(|piece| piece.from).chain([8 * to])).collect()
}

/// The bytes, with bits of the packet between what is stored: words of 64 bits, most significant first.
fn filled(values: &mut Values, group: &[Piece], bytes: Bytes, of: &Run) -> Value {
    let gap = |values: &mut Values, (from, to): (u32, u32)| {
        if from == to {
            return values.word(0, 0);
        }
        let bit = u32::try_from(as_it_arrived(from, of.moved)).expect("these bits have arrived");
        values.packet(bit, to - from)
    };
    let gaps = gaps(group, bytes);
    let mut parts = vec![gap(values, gaps[0])];
    for (piece, behind) in group.iter().zip(&gaps[1..]) {
        parts.extend([piece.value, gap(values, *behind)]);
    }
    let mut words: Vec<Value> = Vec::new();
    let mut word = values.word(0, 0);
    for mut part in parts {
        // A part may go on in the next word.
        loop {
            let (room, width) = (WORD - values.width(word), values.width(part));
            if width <= room {
                word = values.binary(Binary::Concat, word, part);
                break;
            }
            let high = values.slice(part, width - room, room);
            words.push(values.binary(Binary::Concat, word, high));
            word = values.word(0, 0);
            part = values.slice(part, 0, width - room);
        }
        if values.width(word) == WORD {
            words.push(std::mem::replace(&mut word, values.word(0, 0)));
        }
    }
    if values.width(word) > 0 {
        words.push(word);
    }
    let whole = words.into_iter().reduce(|whole, word| {
        // Not `Values::binary`, which would join words again that are neighbours in the packet.
        let width = values.width(whole) + values.width(word);
        values.add(Operation::Binary(Binary::Concat, whole, word), Type::Bits(width))
    });
    whole.expect("a group has bytes")
}
