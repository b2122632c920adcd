//! The plans of an earlier sweep under the model of now: predicted again, beside the cycles that were measured then.
//!
//! Plans are made again from the names of points, so nothing is measured, and a change of the model or of the machine's file is judged in a minute. What is
//! picked now need not be what was measured as the pick: it is judged by the point of the grid that is the same plan.

use super::experiment::Case;
use super::found;
use super::report::Record;
use super::sweep::{self, Maker, PICKED, SWEPT};
use super::traffic::Traffic;
use super::variants::Subject;
use super::workload;
use crate::options::Options;
use driver::failure::Failure;
use driver::stdout::{print, print_line};
use hlir::Plan;
use hlir::plan::Hint;
use opt::model::Model;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Prints the current model's predictions for a sweep's records.
pub fn run(options: &Options, file: &Path) -> Result<(), Failure> {
    let measured = read(file)?;
    let mut records = Vec::new();
    let mut notes = Vec::new();
    for case in cases(&measured, options) {
        let of_case: Vec<&Record> = measured.iter().filter(|record| record.case == case).collect();
        predict(&case, &of_case, options, &mut records, &mut notes)?;
    }
    if let Some(folder) = &options.out {
        super::write(folder, &records, "sweep")?;
    }
    print(&sweep::table(&records))?;
    notes.iter().for_each(|note| print_line!("note: {note}"));
    Ok(())
}

fn cases(records: &[Record], options: &Options) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for Record { case, .. } in records {
        let is_application = options.applications.is_empty() || options.applications.contains(&case.application);
        let is_size = options.sizes.is_empty() || options.sizes.contains(&case.size);
        if is_application && is_size && !cases.contains(case) {
            cases.push(case.clone());
        }
    }
    cases
}

/// Adds the case's records as they would be now, without those whose plan cannot be made again.
fn predict(
    case: &Case,
    measured: &[&Record],
    options: &Options,
    records: &mut Vec<Record>,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let workload = workload::of(case, options)?;
    let (program, inputs) = Subject::new(&workload, options)?.rewritten();
    let traffic = opt::analyze::Traffic::estimate(&program, &inputs);
    let model = Model::new(&program, &inputs, &traffic);
    for burst in sweep::BURSTS {
        let maker = Maker::new(&program, &inputs, burst);
        let pick = maker.pick.clone();
        let mut same = None;
        for record in measured.iter().filter(|record| record.burst == burst) {
            let plan = match record.variant.as_str() {
                "plain" => Some(Plan { descriptor: pick.descriptor, burst, ..Plan::default() }),
                name => maker.plan(name),
            };
            let Some(plan) = plan else { continue };
            if record.variant != "plain" && unhinted(&plan) == unhinted(&pick) {
                same = Some(record.cycles);
            }
            // What was picked then is a point of the grid now.
            let variant = record.variant.replace(PICKED, SWEPT);
            records.push(Record { variant, predicted: Some(model.predict(&plan).cycles()), ..(*record).clone() });
        }
        let predicted = Some(model.predict(&pick).cycles());
        let of_burst = |record: &&&Record| record.burst == burst && record.variant.starts_with(PICKED);
        let Some(before) = measured.iter().find(of_burst) else { continue };
        match same {
            Some(cycles) => records.push(Record { predicted, cycles, ..(*before).clone() }),
            None => {
                notes.push(format!("{case}, bursts of {burst}: what is picked now was not measured\n{}", shown(&pick)))
            }
        }
    }
    Ok(())
}

/// A plan without its prefetch levels: plans that differ in these only are one choice of a grid.
fn unhinted(plan: &Plan) -> Plan {
    let mut plan = sweep::bare(plan);
    plan.loops.iter_mut().flat_map(|stage| &mut stage.prefetches).for_each(|request| request.hint = Hint::T0);
    plan
}

/// The part of a plan that a grid varies, in a few lines.
fn shown(plan: &Plan) -> String {
    let mut text = String::new();
    for table in &plan.tables {
        text.push_str(&format!("  {} {}\n", table.table, hlir::text::written_structure(table.structure)));
    }
    for stage in &plan.loops {
        text.push_str(&format!("  loop {} group {}", stage.node, stage.group));
        stage.prefetches.iter().for_each(|request| text.push_str(&format!(" {:?}", request.placement)));
        text.push('\n');
    }
    text
}

/// The records of an earlier run.
pub fn read(file: &Path) -> Result<Vec<Record>, Failure> {
    let text = fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))?;
    let damaged = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let values: Vec<Value> = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    let record =
        |value: &Value| record(value).ok_or_else(|| damaged(format!("this is no record of a benchmark: {value}")));
    values.iter().map(record).collect()
}

/// A record as `report::json` writes it; what is not written is as in a quiet case.
fn record(value: &Value) -> Option<Record> {
    let text = |name: &str| value.get(name)?.as_str();
    let number = |name: &str| value.get(name)?.as_f64();
    let floor = number("floor")?;
    Some(Record {
        case: Case {
            application: text("program")?.to_string(),
            size: value.get("entries")?.as_u64()?,
            experiment: text("experiment")?.parse().ok()?,
        },
        traffic: Traffic::named(text("traffic")?)?,
        variant: text("variant")?.to_string(),
        burst: value.get("burst")?.as_u64()?.try_into().ok()?,
        cycles: number("cycles")?,
        lookups: number("lookups"),
        accesses: text("accesses").and_then(found::read),
        floor,
        limit: floor,
        spread: number("spread")?,
        predicted: number("predicted"),
        committed: number("committed"),
        mpps: number("mpps")?,
        drift: 0.0,
        pages: text("pages")?.to_string(),
        compiler: text("compiler")?.to_string(),
        processes: value.get("processes").and_then(Value::as_u64).and_then(|count| count.try_into().ok()).unwrap_or(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::report;
    use hlir::plan::{Access, Loop, Placement, Prefetch};
    use schedule::access::Accesses;

    #[test]
    fn records_are_read_as_they_were_written() {
        let written = Record {
            case: Case { application: "l2fwd".into(), size: 256, experiment: Experiment::Programs },
            traffic: Traffic::Uniform,
            variant: "sweep:32:exact48:32:own_loop".into(),
            burst: 32,
            cycles: 26.5,
            lookups: Some(2.0),
            accesses: Some(Accesses { reads: 3, stores: 1, bytes_read: 24, bytes_stored: 8 }),
            floor: 6.25,
            limit: 6.25,
            spread: 0.125,
            predicted: Some(34.5),
            committed: Some(33.25),
            mpps: 92.5,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "gcc".into(),
            processes: 3,
        };
        let text = report::json(std::slice::from_ref(&written));
        let values: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        let read = record(&values[0]).expect("a record");
        assert_eq!(report::json(&[read]), text);
        assert!(record(&Value::Null).is_none());
    }

    #[test]
    fn plans_that_differ_only_in_hints_are_the_same() {
        let plan = |burst, hint| {
            let access = Access::Table("t".into());
            let request = Prefetch { access, placement: Placement::OwnLoop, distance: 8, hint, reason: None };
            let lookups = Vec::new();
            let prefetches = vec![request];
            let stage = Loop { node: "n".into(), batch: 8, group: 8, vector: 1, lookups, prefetches, reason: None };
            Plan { burst, loops: vec![stage], ..Plan::default() }
        };
        assert_eq!(unhinted(&plan(32, Hint::T0)), unhinted(&plan(32, Hint::T1)));
        assert_ne!(unhinted(&plan(32, Hint::T0)), unhinted(&plan(64, Hint::T0)));
    }
}
