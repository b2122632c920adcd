//! Makes entries up: distinct keys and action data from a seed, the same on every machine.
//!
//! Exact keys are random bits; prefixes have the lengths of a backbone's routing table, most of them three quarters of the width; masks and
//! ranges are those of access lists, wild cards and blocks. A parameter named `port` stays below the number of ports, so packets go somewhere.

use super::loader::{Loader, prefix_mask};
use super::{find_table, refused};
use crate::failure::Failure;
use control::Refusal;
use hlir::{Program, TableId};
use indicatif::{ProgressBar, ProgressStyle};
use native::{NativeEngine, Replay};
use runtime::pipeline::{MatchKind, Parameter};
use runtime::{TableError, memory_limit};

/// Attempts for each entry before the key space counts as exhausted.
const ATTEMPTS: u64 = 50;

/// SplitMix64: any seed will do, and each number costs a few instructions.
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit.max(1)
    }

    /// `width` random bits, lowest byte first.
    fn bits(&mut self, width: u32) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..width.div_ceil(64)).flat_map(|_| self.word().to_le_bytes()).collect();
        bytes.truncate(width.div_ceil(8) as usize);
        if !width.is_multiple_of(8)
            && let Some(last) = bytes.last_mut()
        {
            *last &= (1 << (width % 8)) - 1;
        }
        bytes
    }
}

pub fn load<L: Replay>(
    engine: &mut NativeEngine<'_, L>,
    name: &str,
    (count, seed): (u64, u64),
    ports: u32,
) -> Result<u64, Failure> {
    let table = find_table(&engine.program(), name)?;
    let name = engine.program().tables[table].name.clone();
    let action = entry_action(&engine.program(), table)
        .ok_or_else(|| Failure::input(format!("gen:{name}: no action of the table is allowed in entries")))?;
    let Some(mut loader) = Loader::new(engine, table) else { return Ok(0) };
    let parameters = loader.set_action(&action).map_err(|refusal| refused(format!("gen:{name}"), &refusal))?;
    let failed = |error: TableError, at: u64| {
        let limit = if error == TableError::NoMemory { memory_limit::described() } else { String::new() };
        refused(format!("gen:{name}:{count}:{seed}"), &Refusal::wrong(format!("{error} after {at} entries{limit}")))
    };
    loader.reserve(count).map_err(|error| failed(error, 0))?;
    let bar = bar(count, format!("entries of {name}"));
    let mut draws = Draws::new(seed);
    let (mut made, mut attempts) = (0, 0);
    while made < count {
        attempts += 1;
        if attempts > count * ATTEMPTS {
            return Err(failed(TableError::Exists, made));
        }
        draw(&mut loader, &mut draws, &parameters, ports);
        match loader.insert() {
            Ok(()) => made += 1,
            Err(TableError::Exists) => continue,
            Err(error) => return Err(failed(error, made)),
        }
        if made % 4096 == 0 {
            bar.set_position(made);
        }
    }
    bar.finish_and_clear();
    Ok(made)
}

/// What a table has taken of generated entries.
pub struct Filled {
    pub entries: u64,
    /// Why it took no more, where it did not take all. `Exists`: no further keys were found.
    pub stopped: Option<TableError>,
}

/// Fills a table from what it has up to `count` entries, as they come: without room made before.
pub fn fill<L: Replay>(
    engine: &mut NativeEngine<'_, L>,
    table: TableId,
    draws: &mut Draws,
    count: u64,
) -> Result<Filled, Refusal> {
    /// A key space of which so many keys in a row are taken is as good as full.
    const TAKEN: u64 = 20_000;
    let name = engine.program().tables[table].name.clone();
    let none = || Refusal::wrong(format!("no action of `{name}` is allowed in entries"));
    let action = entry_action(&engine.program(), table).ok_or_else(none)?;
    let gone = || Refusal::wrong(format!("`{name}` is looked up by no packet"));
    let mut loader = Loader::new(engine, table).ok_or_else(gone)?;
    let parameters = loader.set_action(&action)?;
    let (mut entries, mut taken) = (loader.entries(), 0);
    while entries < count && taken < TAKEN {
        draw(&mut loader, draws, &parameters, super::USUAL_PORTS);
        match loader.insert() {
            Ok(()) => (entries, taken) = (entries + 1, 0),
            Err(TableError::Exists) => taken += 1,
            Err(error) => return Ok(Filled { entries, stopped: Some(error) }),
        }
    }
    Ok(Filled { entries, stopped: (entries < count).then_some(TableError::Exists) })
}

/// The first action that entries may have and that has data, else the first they may have.
fn entry_action(program: &Program, table: TableId) -> Option<String> {
    let actions = program.tables[table].actions.iter();
    let mut usable = actions.filter(|action| action.scope != hlir::Scope::DefaultOnly);
    let with_data = usable.clone().find(|action| !action.parameters.is_empty());
    with_data.or_else(|| usable.next()).map(|action| action.name.clone())
}

fn draw(loader: &mut Loader<'_>, draws: &mut Draws, parameters: &[Parameter], ports: u32) {
    loader.clear();
    let fields: Vec<(u32, MatchKind)> =
        loader.description().fields.iter().map(|field| (field.width, field.kind)).collect();
    let mut has_priorities = false;
    for (width, kind) in fields {
        let value = draws.bits(width);
        let all = prefix_mask(width, width);
        let none = vec![0; value.len()];
        has_priorities |= matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
        match kind {
            MatchKind::Exact => loader.add_field(kind, &value, &all, &value),
            MatchKind::Lpm => add_masked(loader, kind, &value, &prefix_mask(prefix_length(draws, width), width)),
            MatchKind::Optional if draws.below(4) == 0 => loader.add_field(kind, &none, &none, &none),
            MatchKind::Optional => loader.add_field(kind, &value, &all, &value),
            MatchKind::Ternary => {
                let prefix = draws.below(u64::from(width) / 4 + 1) as u32 * 4;
                add_masked(loader, kind, &value, &prefix_mask(prefix.min(width), width));
            }
            MatchKind::Range => {
                let high: Vec<u8> = value.iter().zip(&all).map(|(low, all)| low | all & 0x0f).collect();
                loader.add_field(kind, &value, &all, &high);
            }
        }
    }
    if has_priorities {
        loader.set_priority(1 + draws.below(1 << 16) as u32);
    }
    for parameter in parameters {
        let bytes = if parameter.name.contains("port") {
            draws.below(u64::from(ports)).to_le_bytes().to_vec()
        } else {
            draws.bits(parameter.width)
        };
        loader.add_parameter(parameter, &bytes);
    }
}

fn add_masked(loader: &mut Loader<'_>, kind: MatchKind, value: &[u8], mask: &[u8]) {
    let value: Vec<u8> = value.iter().zip(mask).map(|(value, mask)| value & mask).collect();
    loader.add_field(kind, &value, mask, &value);
}

/// Of 16 prefixes, 9 are three quarters of the width (/24), 5 between a half and that, 1 shorter, 1 longer.
fn prefix_length(draws: &mut Draws, width: u32) -> u32 {
    let (half, common) = (width / 2, width * 3 / 4);
    match draws.below(16) {
        0..=8 => common,
        9..=13 => half + draws.below(u64::from(common - half) + 1) as u32,
        14 => width / 4 + draws.below(u64::from(half - width / 4) + 1) as u32,
        _ => common + draws.below(u64::from(width - common) + 1) as u32,
    }
}

pub fn bar(count: u64, what: String) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}").expect("the template is well formed");
    ProgressBar::new(count).with_style(style).with_message(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_with_their_seed_and_keep_to_their_width() {
        let draw = |seed| {
            let mut draws = Draws::new(seed);
            (0..100).map(|_| draws.bits(13)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(3).iter().all(|bits| bits.len() == 2 && bits[1] < 32));
    }

    #[test]
    fn prefixes_are_within_the_width() {
        let mut draws = Draws::new(5);
        for width in [1, 9, 24, 32, 64, 128] {
            assert!((0..500).all(|_| prefix_length(&mut draws, width) <= width));
        }
    }
}
