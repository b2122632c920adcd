//! Reads: windows of the packet, each read once, that together hold what many narrow reads do.

use crate::value::{Operation, Sum, Value};
use crate::values::{Values, WORD};
use std::collections::{BTreeSet, HashMap};

/// What a read of a window costs, and what it saves for each read in it; two bytes of a sum are a quarter of a read, since
/// machines add eight at once.
const READ: u32 = 4;
const SUMMED: u32 = 1;

/// Bytes of a sum that one addition takes at least.
const PAIR: u32 = 2;

/// Bytes of the packet: the first one, and the one behind the last.
type Bytes = (u32, u32);

/// What values became.
pub struct Rewritten(HashMap<Value, Value>);

impl Rewritten {
    pub fn of(&self, value: Value) -> Value {
        self.0.get(&value).copied().unwrap_or(value)
    }
}

/// Rewrites results so that they read windows of at most `widest` bytes, within the first `limit` bytes of the packet.
/// `fixed`: values that stay as they are.
pub fn combine(
    values: &mut Values,
    results: Vec<Value>,
    (widest, limit): (u32, u32),
    fixed: &BTreeSet<Value>,
) -> Rewritten {
    let needed = needed(values, results, fixed);
    let windows = windows(&pieces(values, &needed), widest, limit);
    let mut rewriting = Rewriting { values, windows, made: Rewritten(HashMap::new()) };
    if !rewriting.windows.is_empty() {
        needed.into_iter().for_each(|value| rewriting.rewrite(value));
    }
    rewriting.made
}

/// What results are computed from, in order, without what is computed elsewhere.
fn needed(values: &Values, mut left: Vec<Value>, fixed: &BTreeSet<Value>) -> Vec<Value> {
    let mut needed = BTreeSet::new();
    while let Some(value) = left.pop() {
        if !fixed.contains(&value) && needed.insert(value) {
            left.extend(values.of(value).operands());
        }
    }
    needed.into_iter().collect()
}

/// What is read, each with what it costs by itself.
fn pieces(values: &Values, needed: &[Value]) -> Vec<(Bytes, u32)> {
    let mut pieces = Vec::new();
    for value in needed {
        let operation = values.of(*value);
        let read = operation.bytes_read(values.width(*value)).into_iter();
        if let Operation::Sum(_) = operation {
            let pairs = read.flat_map(|(from, to)| (from..to).step_by(PAIR as usize));
            pieces.extend(pairs.map(|from| ((from, from + PAIR), SUMMED)));
        } else {
            pieces.extend(read.map(|bytes| (bytes, READ)));
        }
    }
    pieces
}

/// The windows that save most, densest first (PAC, section 3).
fn windows(pieces: &[(Bytes, u32)], widest: u32, limit: u32) -> Vec<Bytes> {
    let width = widest.min(limit);
    let mut left = pieces.to_vec();
    let mut windows: Vec<Bytes> = Vec::new();
    loop {
        let starts: BTreeSet<u32> = left.iter().map(|((from, _), _)| (*from).min(limit - width)).collect();
        let saved = |start: u32| -> u32 {
            left.iter().filter(|(bytes, _)| is_in(*bytes, (start, start + width))).map(|(_, cost)| cost).sum()
        };
        // Of those that save as much, the first one.
        let best = starts.into_iter().rev().max_by_key(|start| saved(*start));
        let Some(best) = best.filter(|start| saved(*start) > READ) else { return windows };
        windows.push((best, best + width));
        left.retain(|(bytes, _)| !is_in(*bytes, (best, best + width)));
    }
}

fn is_in(bytes: Bytes, window: Bytes) -> bool {
    window.0 <= bytes.0 && bytes.1 <= window.1
}

struct Rewriting<'v> {
    values: &'v mut Values,
    windows: Vec<Bytes>,
    made: Rewritten,
}

impl Rewriting<'_> {
    /// A value whose operands were rewritten before.
    fn rewrite(&mut self, value: Value) {
        let kind = self.values.kind(value);
        let operation = self.values.of(value).clone();
        let now = if let Operation::Packet { bit } = operation {
            let Some(bits) = self.bits(bit, kind.width()) else { return };
            bits
        } else {
            let other = if let Operation::Sum(sum) = operation {
                Operation::Sum(self.sum(sum))
            } else {
                operation.with(|operand| self.made.of(operand))
            };
            self.values.add(other, kind)
        };
        if now != value {
            if let Some(name) = self.values.name(value).map(str::to_string) {
                self.values.call(now, || name);
            }
            self.made.0.insert(value, now);
        }
    }

    /// Bits of the packet as bits of a window; none if none has them.
    fn bits(&mut self, bit: u32, width: u32) -> Option<Value> {
        let bytes = (bit / 8, (bit + width).div_ceil(8));
        let (from, to) = *self.windows.iter().find(|window| is_in(bytes, **window))?;
        let window = self.values.packet(8 * from, 8 * (to - from));
        let low = 8 * to - bit - width;
        let is_whole = width == self.values.width(window);
        // Not `Values::slice`, which would read these bits alone.
        Some(match is_whole {
            true => window,
            false => self.values.add(Operation::Slice { of: window, low }, hlir::Type::Bits(width)),
        })
    }

    /// A sum of words of windows, and of the bytes that none has.
    fn sum(&mut self, sum: Sum) -> Sum {
        let before = sum.before.map(|before| self.made.of(before));
        let mut words: Vec<Value> = sum.words.iter().map(|word| self.made.of(*word)).collect();
        let mut bytes: Vec<Bytes> = Vec::new();
        for (from, to) in sum.bytes {
            let mut at = from;
            while at < to {
                let first = (at, at + PAIR);
                let window = self.windows.iter().find(|window| is_in(first, **window)).copied();
                let end = match window {
                    // As many bytes as the window has, in whole words.
                    Some((start, end)) => {
                        debug_assert!(start <= at, "a window holds the bytes");
                        let end = end.min(to).min(at + WORD / 8);
                        end - (end - at) % PAIR
                    }
                    None => at + PAIR,
                };
                match window.and_then(|_| self.bits(8 * at, 8 * (end - at))) {
                    Some(word) => words.push(word),
                    None => match bytes.last_mut() {
                        Some(last) if last.1 == at => last.1 = end,
                        _ => bytes.push((at, end)),
                    },
                }
                at = end;
            }
        }
        Sum { before, bytes, words, ..sum }
    }
}
