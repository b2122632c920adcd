//! The facts that a plan relies on, where they come from, and what makes each false.

use crate::Inputs;
use hlir::plan::Assumption;
use hlir::{Plan, Program};

/// A fact in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Relied {
    pub fact: String,
    pub origin: &'static str,
    pub broken_by: String,
}

pub(super) fn relied(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<Relied> {
    plan.assumptions.iter().map(|assumption| one(program, inputs, assumption)).collect()
}

fn one(program: &Program, inputs: &Inputs, assumption: &Assumption) -> Relied {
    let percent = |tenths: &u64| format!("{}.{} %", tenths / 10, tenths % 10);
    let counted = if inputs.profile.is_some() { "counted" } else { "estimated" };
    match assumption {
        Assumption::Entries { table, least, most } => {
            let found = program.tables.values().find(|declared| declared.name == *table);
            let content = found.map(|declared| inputs.occupancy.of(declared));
            let is_known = content.is_some_and(|content| content.is_known);
            Relied {
                fact: if least == most {
                    format!("{table} has {most} entries")
                } else {
                    format!("{table} has {least} to {most} entries")
                },
                origin: if is_known { "counted" } else { "assumed" },
                broken_by: format!(
                    "fewer or more entries in {table}: its structure, and what stays cached, are chosen for these"
                ),
            }
        }
        Assumption::Hits { table, tenths } => Relied {
            fact: format!("{} of the lookups in {table} hit", percent(tenths)),
            origin: counted,
            broken_by: format!("entries of {table} that are missing, or packets with other keys"),
        },
        Assumption::OnPath { tenths } => Relied {
            fact: format!("{} of the packets follow the hot path to its last stage", percent(tenths)),
            origin: counted,
            broken_by: "other traffic: packets that take a side exit are processed once more".to_string(),
        },
        Assumption::Pages { bytes } => Relied {
            fact: format!("tables are in pages of {bytes} bytes"),
            origin: "as the machine was measured",
            broken_by: "memory with pages of another size: then TLB misses cost more or less".to_string(),
        },
    }
}
