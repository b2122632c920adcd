//! Records what a plan expects: what tables hold, how packets divide, the size of pages.
//!
//! It comes from inputs: counted entries, a profile, the machine file; or it is assumed. An expectation that turns out
//! false makes no packet wrong, but another plan may be faster.

use super::Planner;
use hlir::Plan;
use hlir::plan::Expectation;
use std::collections::BTreeSet;

pub fn record(planner: &Planner, plan: &mut Plan) {
    let model = &planner.model;
    let (program, inputs) = (model.program, model.inputs);
    let lookups = model.lookups(plan);
    let mut seen = BTreeSet::new();
    let tables = lookups.iter().filter(|lookup| seen.insert(lookup.table.into_raw()));
    let size_class = |lookup: &crate::model::lookups::Lookup| {
        let table = &program.tables[lookup.table];
        let (least, most) = size_class(inputs.occupancy.of(table).entries);
        Expectation::Entries { table: table.name.clone(), least, most }
    };
    plan.expectations = tables.map(size_class).collect();
    plan.expectations.extend((!lookups.is_empty()).then_some(Expectation::Pages { bytes: inputs.machine.page_bytes }));
    if plan.loops.is_empty() {
        return;
    }
    let Some(path) = model.path(plan) else { return };
    plan.expectations.push(Expectation::OnPath { tenths: tenths_of_percent(model.share_in_stages(plan)) });
    let mut seen = BTreeSet::new();
    for place in path.names.stages(plan).into_iter().flat_map(|stage| stage.looked_up) {
        let Some(table) = hlir::hot_path::table_of(program, path[place]) else { continue };
        let Some(outcomes) = model.traffic.lookup(path[place]) else { continue };
        if seen.insert(table.into_raw()) {
            let table = program.tables[table].name.clone();
            plan.expectations.push(Expectation::Hits { table, tenths: tenths_of_percent(outcomes.hit) });
        }
    }
}

/// The numbers of entries from half of a power of two on, up to it.
fn size_class(entries: u64) -> (u64, u64) {
    let most = if entries == 0 { 0 } else { entries.checked_next_power_of_two().unwrap_or(u64::MAX) };
    (if most == 0 { 0 } else { most / 2 + 1 }, most)
}

/// Rounded down: at least so much.
fn tenths_of_percent(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 1000.0 + 1e-6).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_class_ends_at_a_power_of_two() {
        let classes = [0, 1, 2, 3, 4, 5, 1000, 1024, 1025, u64::MAX].map(size_class);
        assert_eq!(classes[..5], [(0, 0), (1, 1), (2, 2), (3, 4), (3, 4)]);
        assert_eq!(classes[5..], [(5, 8), (513, 1024), (513, 1024), (1025, 2048), (u64::MAX / 2 + 1, u64::MAX)]);
    }

    #[test]
    fn shares_are_rounded_down() {
        assert_eq!([1.0, 0.9999, 0.98, 0.0].map(tenths_of_percent), [1000, 999, 980, 0]);
    }
}
