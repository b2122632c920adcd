//! Code that is specialised for what a running switch holds: what it is planned with, and what it is in words.

use super::live::{Built, Live};
use super::pushed::{self, Builder};
use super::sampling::Sample;
use super::traffic::Traffic;
use control::plane::TableCounts;
use control::{DataPlane as _, Store};
use driver::entries::{defaults, stored};
use driver::failure::Failure;
use driver::frontend::Loaded;
use driver::options::Passes;
use hlir::facts::{Assumption, Fact};
use hlir::{Program, TableId};
use native::Replay;
use opt::explain::described_all;
use opt::inputs::{Content, Occupancy, Profile};
use std::sync::Arc;

/// Lookups of a table at least, from which its share of misses is known.
const LEAST_LOOKUPS: u64 = 10_000;

/// Passes for these facts, and for what the switch holds and has counted.
pub fn set_passes<L: Replay>(passes: &mut Passes, live: &mut Live<L>, facts: Vec<Assumption>) {
    passes.structures.clone_from(&live.structures);
    if let Some(engine) = live.engine() {
        let program = engine.program();
        let counts = program.tables.iter().map(|(id, table)| (table.name.as_str(), engine.table_counts(id)));
        passes.counted = Some(hit_rates(counts));
        passes.occupancy = Some(occupancy(engine.store(), &facts));
    }
    passes.facts = facts;
}

/// Tables at most that a line of the log names with what they hold.
const MOST_NAMED: usize = 4;

/// What specialised code is, in words; none if it is no other than the generic code.
pub fn what_it_is(facts: &[String], traffic: Option<&Traffic>) -> Option<String> {
    let planned = traffic.map(|traffic| format!("planned for a sample of {} packets", traffic.packets));
    match (facts, planned) {
        ([], planned) => planned.map(|planned| format!("code is {planned}")),
        (facts, planned) => {
            let planned = planned.map_or(String::new(), |planned| format!(", {planned}"));
            let tables = if facts.len() == 1 { "1 table holds" } else { &format!("{} tables hold", facts.len()) };
            let named = &facts[..facts.len().min(MOST_NAMED)];
            let more = facts.len() - named.len();
            let more = if more > 0 { format!("; {more} more (`bacus ctl stats`)") } else { String::new() };
            Some(format!("code is specialised for what {tables}{planned}: {}{more}", named.join("; ")))
        }
    }
}

/// A pipeline for the traffic of a sample, or for what is known without one; and the traffic.
pub fn built(
    mut builder: Builder,
    program: &Arc<Program>,
    sample: Option<Sample>,
    known: Option<Traffic>,
    is_reported: bool,
) -> Result<(Built, Option<Traffic>), String> {
    let words = |failure: Failure| failure.message().to_string();
    let followed = sample.map(|sample| Traffic::of(program, &builder.passes, sample)).transpose();
    let traffic = followed.unwrap_or_else(|failure| {
        if is_reported {
            eprintln!("note: specialised code is planned without the packets that come: {}", failure.message());
        }
        None
    });
    let traffic = traffic.or(known);
    if let Some(traffic) = &traffic {
        builder.passes.counted = Some(traffic.profile_for(&builder.passes.facts).clone());
    }
    let loaded = Loaded { program: (**program).clone(), plan: None };
    let built = pushed::build_loaded(&builder, loaded, |_| {}).map_err(words)?;
    Ok((built, traffic))
}

/// What the tables hold, for code with these facts.
fn occupancy(store: &Store, facts: &[Assumption]) -> Occupancy {
    // A structure of its own has room for what the shared one may come to hold, not only for what is there.
    let is_own = |id: TableId| facts.iter().any(|one| one.table == id && makes_own_table(&one.fact));
    let content = |(id, table): (TableId, &hlir::Table)| {
        let stored = stored(store, id);
        (table.name.clone(), Content { is_known: stored.is_known && !is_own(id), ..stored })
    };
    let tables = store.program().tables.iter().map(content).filter(|(_, content)| content.entries > 0).collect();
    Occupancy { tables, others_are_empty: true, defaults: defaults(store), ..Occupancy::default() }
}

/// Whether code with this fact has a table of its own, which is filled at each exchange.
pub fn makes_own_table(fact: &Fact) -> bool {
    match fact {
        // Without meters, entries may share records, which they do not in the generic code.
        Fact::Any(_) | Fact::Key { .. } | Fact::Mask { .. } | Fact::Unmetered => true,
        Fact::Empty
        | Fact::Default(_)
        | Fact::Entries(_)
        | Fact::Leading(_)
        | Fact::Actions(_)
        | Fact::Argument { .. }
        | Fact::Distinct => false,
    }
}

/// The traffic as far as tables have counted it: which of them packets hit.
fn hit_rates<'t>(counts: impl Iterator<Item = (&'t str, TableCounts)>) -> Profile {
    let mut profile = Profile::default();
    for (table, TableCounts { hits, misses }) in
        counts.filter(|(_, counts)| counts.hits + counts.misses >= LEAST_LOOKUPS)
    {
        profile.hits.insert(table.to_string(), hits);
        profile.misses.insert(table.to_string(), misses);
    }
    profile
}

/// A line for each table of which something is taken for granted.
pub fn words(program: &Program, assumptions: &[Assumption]) -> Vec<String> {
    let of_table = |(id, table): (TableId, &hlir::Table)| {
        let facts = described_all(program, id, assumptions);
        (!facts.is_empty()).then(|| format!("{}: {}", table.name, facts.join(", ")))
    };
    program.tables.iter().filter_map(of_table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_names_few_tables() {
        let named = |count: usize| what_it_is(&vec!["t: no entries".to_string(); count], None);
        assert_eq!(named(0), None);
        assert_eq!(named(1).as_deref(), Some("code is specialised for what 1 table holds: t: no entries"));
        let many = "code is specialised for what 6 tables hold: t: no entries; t: no entries; t: no entries; \
                    t: no entries; 2 more (`bacus ctl stats`)";
        assert_eq!(named(6).as_deref(), Some(many));
    }

    #[test]
    fn a_share_of_misses_is_known_after_enough_lookups() {
        let few = TableCounts { hits: LEAST_LOOKUPS - 1, misses: 0 };
        let many = TableCounts { hits: LEAST_LOOKUPS, misses: 3 * LEAST_LOOKUPS };
        let profile = hit_rates([("few", few), ("many", many)].into_iter());
        assert_eq!((profile.miss_share("few"), profile.miss_share("many")), (None, Some(0.75)));
    }
}
