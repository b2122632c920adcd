//! Gathers what the optimizer consults: the machine's file, a profile, what the tables will hold.
//!
//! A machine file that is missing, of another processor or damaged costs speed, never correctness: a warning reports it, and the default machine model is used.

use crate::entries;
use crate::failure::{self, Failure};
use crate::files;
use crate::machine_file;
use crate::options::{Native, Passes};
use hlir::Program;
use opt::Inputs;
use opt::inputs::{Joins, Machine, Profile};
use runtime::{Counts, Description};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub fn gather(program: &Program, passes: &Passes) -> Result<Inputs, Failure> {
    let (mut occupancy, facts) = match &passes.occupancy {
        Some(occupancy) => (occupancy.clone(), Vec::new()),
        None => entries::contents(program, &passes.entries)?,
    };
    occupancy.others_are_empty |= passes.entries_are_all;
    Ok(Inputs {
        machine: machine(passes.machine.as_deref()),
        profile: profile(program, passes)?.or_else(|| passes.counted.clone()),
        occupancy,
        facts: if passes.is_specialised { facts } else { passes.facts.clone() },
        ports: passes.ports,
        joins: joins(passes),
        cuts: passes.cuts,
        constraints: hlir::Plan::default(),
        constrained_descriptor: None,
        running: passes.structures.clone(),
    })
}

/// All legal joins where the user names the pass, else those that pay.
fn joins(passes: &Passes) -> Joins {
    let is_named = passes.passes.iter().flatten().any(|name| name == "join");
    match (is_named, passes.is_counted) {
        (true, _) => Joins::All,
        (false, true) => Joins::None,
        (false, false) => Joins::Chosen,
    }
}

/// The machine of a file, or of the host's file if there is one, or of what was measured last, wherever that was; else the default machine model.
/// Whatever plans or compiles asks for it, and one that comes by a pipe can be read once.
pub fn machine(named: Option<&Path>) -> Machine {
    static KNOWN: Mutex<BTreeMap<Option<PathBuf>, Machine>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(named.map(Path::to_path_buf)).or_insert_with(|| read_machine(named)).clone()
}

fn read_machine(named: Option<&Path>) -> Machine {
    let Some(path) = named.map(Path::to_path_buf).or_else(machine_file::calibrated_file) else {
        return Machine::default();
    };
    let path = path.as_path();
    let guess = |why: String| {
        warn_once(format!(
            "{}: {why}; planning with the default machine model instead\nhint: `bacus calibrate` measures this machine",
            path.display()
        ));
        Machine::default()
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return guess(failure::sentence(&error)),
    };
    match Machine::parse(&text) {
        Err(message) => guess(message),
        Ok(machine) if machine.cpu != machine_file::cpu() && named.is_none() => {
            guess(format!("it was measured on {}, this is {}", machine.cpu, machine_file::cpu()))
        }
        Ok(machine) => {
            if machine.cpu != machine_file::cpu() {
                let (other, this) = (&machine.cpu, machine_file::cpu());
                warn_once(format!("{}: plans are for {other}, this is {this}", path.display()));
            }
            vectors_warning(&machine, machine_file::vector_bytes())
                .iter()
                .for_each(|warning| warn_once(format!("{}: {warning}", path.display())));
            machine
        }
    }
}

/// The warning where a machine's vectors are not those of this one, which has `own` bytes of them.
fn vectors_warning(machine: &Machine, own: u32) -> Option<String> {
    let bytes = machine.vector_bytes.filter(|bytes| *bytes != own)?;
    Some(if bytes < own {
        format!("its vectors have {bytes} bytes, so code does without the {own} of this machine's")
    } else {
        format!("plans count on vectors of {bytes} bytes, but this machine's have {own}, and so have those of the code")
    })
}

/// How native code is made for the machine of a file: with no wider vectors than it has.
pub fn native_for(named: Option<&Path>, native: &Native) -> Native {
    Native { vector_bytes: machine(named).vector_bytes, ..native.clone() }
}

/// The host's file may be requested by its name and as the default.
fn warn_once(text: String) {
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !reported.contains(&text) {
        eprintln!("warning: {text}");
        reported.insert(text);
    }
}

/// The profile of a file, if it is of this program: names of nodes have lines in them, so one that was counted before an edit may match little.
fn profile(program: &Program, passes: &Passes) -> Result<Option<Profile>, Failure> {
    let Some(path) = &passes.profile else { return Ok(None) };
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    let profile = Profile::parse(&text).map_err(|message| Failure::input(format!("{name}: {message}")))?;
    let hint = "hint: `bacus run --profile-out` counts the packets of this program";
    let (names, unknown) = profile.names(program);
    let unlike = format!("{unknown} of the {names} nodes and tables that it names are not in the program");
    let estimated = "traffic is estimated without it";
    if 2 * unknown > names {
        warn_once(format!("{name}: {unlike}; {estimated}\n{hint}"));
        return Ok(None);
    }
    // What was counted is a program after its passes, which may have another entry.
    let mut rewritten = program.clone();
    let rewrites = opt::Selection::All.rewrites();
    opt::optimize(&mut rewritten, &mut hlir::Plan::default(), &Inputs::default(), &rewrites, None);
    if !profile.has_entry(program) && !profile.has_entry(&rewritten) {
        warn_once(format!(
            "{name}: no packets that it counts go on from where the program begins; {estimated}\n{hint}"
        ));
        return Ok(None);
    }
    if unknown > 0 {
        warn_once(format!(
            "{name}: {unlike}; lookups in such tables are estimated, and packets pass through such nodes\n{hint} again"
        ));
    }
    Ok(Some(profile))
}

/// What a pipeline has counted, by its names.
pub fn profile_of(description: &Description, counts: &Counts) -> Profile {
    let mut profile = Profile::default();
    for (edge, count) in description.edges.iter().zip(&counts.edges) {
        let (from, to) = edge.split_once(" -> ").expect("the emitter writes edges so");
        profile.add(from, to, *count);
    }
    for (table, (hits, misses)) in description.tables.iter().zip(&counts.lookups) {
        let counted = || (hits + misses > 0).then(|| table.name.clone());
        profile.hits.extend(counted().map(|name| (name, *hits)));
        profile.misses.extend(counted().map(|name| (name, *misses)));
    }
    for (table, sketch) in description.tables.iter().zip(&counts.key_sketches) {
        profile.keys.extend(sketch.keys().filter(|keys| *keys > 0).map(|keys| (table.name.clone(), keys)));
    }
    profile
}

pub fn write_profile(path: &Path, description: &Description, counts: &Counts) -> Result<(), Failure> {
    files::write(path, profile_of(description, counts).print().as_bytes())
}

/// A plan that counts: the plain one, since what the packets do does not depend on it.
pub fn counting(plan: &mut hlir::Plan) {
    *plan = hlir::Plan {
        descriptor: plan.descriptor,
        burst: plan.burst,
        tables: plan.tables.clone(),
        ..Default::default()
    };
    plan.instrument.edges = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_another_width_are_reported() {
        let warned = |bytes, own| vectors_warning(&Machine { vector_bytes: bytes, ..Machine::default() }, own);
        assert_eq!([warned(None, 32), warned(Some(32), 32)], [None, None]);
        assert!(warned(Some(32), 64).is_some_and(|text| text.contains("without the 64 of this machine's")));
        assert!(warned(Some(64), 32).is_some_and(|text| text.contains("but this machine's have 32")));
    }
}
