//! What a plan expects, where that comes from, how much each counts, and what makes it false.

use crate::Inputs;
use crate::analyze::Traffic;
use crate::inputs::Content;
use crate::model::Model;
use hlir::plan::Expectation;
use hlir::{Plan, Program, Table};

/// An expectation in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub what: String,
    pub origin: &'static str,
    /// What other entries than those that are assumed cost.
    pub other: Option<Other>,
    pub broken_by: String,
}

/// A table that holds something else than is assumed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Other {
    pub entries: u64,
    /// The change of the predicted cycles for each packet.
    pub cycles: f64,
}

/// Those that count most come first.
pub(super) fn expected(program: &Program, plan: &Plan, inputs: &Inputs, traffic: &Traffic) -> Vec<Expected> {
    let cycles = |inputs: &Inputs| Model::new(program, inputs, traffic).predict(plan).cycles();
    let now = cycles(inputs);
    let expected = |expectation: &Expectation| {
        let other = other(program, inputs, expectation);
        let other = other.map(|(table, content)| {
            let mut others = inputs.clone();
            others.occupancy.tables.insert(table.name.clone(), content);
            Other { entries: content.entries, cycles: cycles(&others) - now }
        });
        Expected { other, ..one(program, inputs, expectation) }
    };
    let mut all: Vec<Expected> = plan.expectations.iter().map(expected).collect();
    let change = |expected: &Expected| expected.other.map_or(0.0, |other| other.cycles.abs());
    all.sort_by(|one, other| change(other).total_cmp(&change(one)));
    all
}

/// What a table may hold instead of what is assumed; none if its entries were counted.
fn other<'p>(program: &'p Program, inputs: &Inputs, expectation: &Expectation) -> Option<(&'p Table, Content)> {
    let Expectation::Entries { table, .. } = expectation else { return None };
    let table = program.tables.values().find(|declared| declared.name == *table)?;
    let content = inputs.occupancy.of(table);
    match content.is_known {
        true => None,
        false if content.is_empty() => Some((table, Content::to_come(table))),
        false => Some((table, Content::default())),
    }
}

fn one(program: &Program, inputs: &Inputs, expectation: &Expectation) -> Expected {
    let percent = |tenths: &u64| format!("{}.{} %", tenths / 10, tenths % 10);
    let counted = if inputs.profile.is_some() { "counted" } else { "estimated" };
    match expectation {
        Expectation::Entries { table, least, most } => {
            let found = program.tables.values().find(|declared| declared.name == *table);
            let is_known = found.is_some_and(|declared| inputs.occupancy.of(declared).is_known);
            let is_declared = found.is_some_and(|declared| declared.size.is_some());
            Expected {
                what: if least == most {
                    format!("{table} has {most} entries")
                } else {
                    format!("{table} has {least} to {most} entries")
                },
                origin: super::tables::origin(is_known, is_declared),
                other: None,
                broken_by: format!(
                    "fewer or more entries in {table}: its structure, and what stays cached, are chosen for these"
                ),
            }
        }
        Expectation::Hits { table, tenths } => Expected {
            what: format!("{} of the lookups in {table} hit", percent(tenths)),
            origin: counted,
            other: None,
            broken_by: format!("entries of {table} that are missing, or packets with other keys"),
        },
        Expectation::OnPath { tenths } => Expected {
            what: format!("{} of the packets follow the hot path to its last stage", percent(tenths)),
            origin: counted,
            other: None,
            broken_by: "other traffic: packets that take a side exit are processed once more".to_string(),
        },
        Expectation::Pages { bytes } => Expected {
            what: format!("tables are in pages of {bytes} bytes"),
            origin: "as the machine was measured",
            other: None,
            broken_by: "memory with pages of another size: then TLB misses cost more or less".to_string(),
        },
    }
}
