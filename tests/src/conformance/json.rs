//! Programs of BMv2's JSON beside their P4 sources: `DIR/p4_16_samples/X.json` for `testdata/p4_16_samples/X.p4`.
//!
//! A JSON passes if it is read; with its P4Info, if ids, names, keys and parameters are those of the P4Info; and beside its source, if random packets and
//! entries have the same result. Its STF files run as those of the source do. The source is also written as JSON and read back: that gives the same packets, and passes the STF files.

use super::cases::{Corpus, Job, Kind};
use super::report::{Outcome, Result};
use super::run::{CHECK_LIMIT, STF_LIMIT, file_outcome, scratch, wait};
use super::same::{same_packets, usual_packets};
use control::message::config::P4Info;
use equivalence::Sample;
use hlir::{Interface, Program};
use prost::Message as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use stf::command;

/// The parts of a case.
#[derive(Clone, PartialEq, Eq)]
pub struct Json {
    /// p4c's output; the program of the job is its source.
    pub file: PathBuf,
    /// The packets that the corpus has for it.
    pub stf: Option<PathBuf>,
}

/// Every JSON below a directory whose source is in the corpus.
pub fn jobs(corpus: &Corpus, directory: &Path) -> std::result::Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for file in super::cases::files_below(directory, "json") {
        let inside = file.strip_prefix(directory).expect("it was found there");
        let program = corpus.program(&inside.with_extension("p4"));
        if !program.exists() {
            continue;
        }
        let stf = Some(program.with_extension("stf")).filter(|stf| stf.exists());
        let name = inside.display().to_string();
        if let Some(stf) = &stf {
            corpus.push_json_packets(&mut jobs, &file, stf);
        }
        jobs.push(Job { name, program, kind: Kind::Json(Json { file, stf }) });
    }
    if jobs.is_empty() {
        return Err(format!("{}: no JSON of a program in the corpus", directory.display()));
    }
    Ok(jobs)
}

/// Reads a JSON, and compares it with its P4Info and its source.
pub fn run(bacus: &Path, corpus: &Corpus, job: &Job, json: &Json) -> Vec<Result> {
    let result = |group: &str, outcome| Result { group: group.to_string(), name: job.name.clone(), outcome };
    let text = fs::read_to_string(&json.file).unwrap_or_default();
    let read = |interface: Option<&Interface>| {
        let program = bmv2::read(&text, "program", interface);
        program.map_err(|mistakes| {
            mistakes.iter().map(|mistake| mistake.message().to_string()).collect::<Vec<_>>().join("; ")
        })
    };
    let mut program = match read(None) {
        Ok(program) => program,
        Err(message) => return vec![result("json", Outcome::Failed(message))],
    };
    let mut results = vec![result("json", Outcome::Passed)];
    if let Ok(info) = fs::read_to_string(json.file.with_extension("p4info.txtpb")) {
        let outcome = described(&info, |interface| read(Some(interface)));
        results.push(result(
            "json p4info",
            outcome.as_ref().map_or_else(|text| Outcome::Failed(text.clone()), |_| Outcome::Passed),
        ));
        program = outcome.unwrap_or(program);
    }
    // What bacus does not accept as P4 is counted there.
    if let Some(source) = lowered(bacus, corpus, &job.program) {
        let samples = samples(json.stf.as_deref());
        let same = (1..=2).try_for_each(|seed| same_packets(&source, &program, &samples, seed));
        results.push(result("json packets", same.map_or_else(Outcome::Failed, |()| Outcome::Passed)));
        let text = bmv2::write(&source).map(|json| json.to_string()).map_err(|error| error.to_string());
        let same = text
            .as_deref()
            .map_err(String::clone)
            .and_then(|text| written(text, &source, &program))
            .and_then(|written| (1..=2).try_for_each(|seed| same_packets(&source, &written, &samples, seed)));
        results.push(result("json written", same.map_or_else(Outcome::Failed, |()| Outcome::Passed)));
        if let (Ok(text), Some(stf)) = (text, &json.stf) {
            results.push(result("json written stf", packets_of(bacus, &text, stf)));
        }
    }
    results
}

/// An STF file on JSON that we have written.
fn packets_of(bacus: &Path, text: &str, stf: &Path) -> Outcome {
    let file = scratch("written").with_extension("json");
    fs::write(&file, text).expect("the temporary directory can be written");
    let mut command = Command::new(bacus);
    command.arg("stf").arg(&file).arg(stf).args(["--engine", "interp"]);
    let outcome = file_outcome(&wait(command, CHECK_LIMIT + STF_LIMIT), stf, "as written");
    let _ = fs::remove_file(&file);
    outcome
}

/// Our own JSON, read back, if that has the tables of p4c's JSON.
fn written(text: &str, source: &Program, of_p4c: &Program) -> std::result::Result<Program, String> {
    let read = bmv2::read(text, "program", Some(&source.interface));
    let written = read.map_err(|mistakes| {
        mistakes.iter().map(|mistake| mistake.message().to_string()).collect::<Vec<_>>().join("; ")
    })?;
    // p4c makes tables of its own, too, whose names have no control in them.
    let tables = |program: &Program| {
        let names = program.tables.values().map(|table| table.name.clone()).filter(|name| name.contains('.'));
        names.collect::<std::collections::BTreeSet<String>>()
    };
    let (ours, theirs) = (tables(&written), tables(of_p4c));
    match theirs.difference(&ours).next() {
        Some(missing) => Err(format!("no table `{missing}` was written")),
        None => Ok(written),
    }
}

/// Whether a program that is read with a P4Info has the objects of that.
fn described(
    text: &str,
    read: impl FnOnce(&Interface) -> std::result::Result<Program, String>,
) -> std::result::Result<Program, String> {
    let message = control::format::read(control::format::Kind::P4Info, text)?;
    let wanted = P4Info::decode(&message.encode_to_vec()[..]).map_err(|error| error.to_string())?;
    let program = read(&control::interface_of(&wanted))?;
    let found = control::p4info(&program);
    for (wanted, found) in plain(&wanted).into_iter().zip(plain(&found)) {
        if wanted != found {
            return Err(format!("{found} where {wanted} was expected"));
        }
    }
    Ok(program)
}

/// A line for each object: ids, names, widths, kinds.
fn plain(info: &P4Info) -> Vec<String> {
    let id = |preamble: &Option<control::message::config::Preamble>| {
        preamble.as_ref().map(|preamble| format!("{:#x} {} {}", preamble.id, preamble.name, preamble.alias))
    };
    let mut lines = Vec::new();
    for table in &info.tables {
        let keys: Vec<_> = table
            .match_fields
            .iter()
            .map(|key| (key.id, &key.name, key.bitwidth, &key.r#match, &key.type_name))
            .collect();
        let actions: Vec<_> = table.action_refs.iter().map(|used| (used.id, used.scope)).collect();
        let bound = (table.implementation_id, &table.direct_resource_ids, table.size, table.is_const_table);
        lines.push(format!("{:?} {keys:?} {actions:?} {bound:?}", id(&table.preamble)));
    }
    for action in &info.actions {
        let parameters: Vec<_> =
            action.params.iter().map(|one| (one.id, &one.name, one.bitwidth, &one.type_name)).collect();
        lines.push(format!("{:?} {parameters:?}", id(&action.preamble)));
    }
    lines.extend(info.counters.iter().map(|one| format!("{:?} {:?} {}", id(&one.preamble), one.spec, one.size)));
    lines.extend(info.direct_counters.iter().map(|one| format!("{:?} {:?}", id(&one.preamble), one.spec)));
    lines.extend(info.meters.iter().map(|one| format!("{:?} {:?} {}", id(&one.preamble), one.spec, one.size)));
    lines.extend(info.direct_meters.iter().map(|one| format!("{:?} {:?}", id(&one.preamble), one.spec)));
    lines.extend(info.registers.iter().map(|one| format!("{:?} {:?} {}", id(&one.preamble), one.type_spec, one.size)));
    lines.extend(info.digests.iter().map(|one| format!("{:?} {:?}", id(&one.preamble), one.type_spec)));
    lines.extend(
        info.action_profiles.iter().map(|one| format!("{:?} {:?} {}", id(&one.preamble), one.table_ids, one.size)),
    );
    lines
}

/// The P4 source as bacus lowers it; nothing if it does not.
fn lowered(bacus: &Path, corpus: &Corpus, program: &Path) -> Option<Program> {
    let shown = Command::new(bacus).arg("show").arg("-I").arg(&corpus.include).arg(program).output().ok()?;
    let text = shown.status.success().then(|| String::from_utf8(shown.stdout).ok()).flatten()?;
    hlir::text::parse_program(&text).ok()
}

/// The packets of an STF file, and those that many programs parse.
fn samples(file: Option<&Path>) -> Vec<Sample> {
    let text = file.and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let mut samples = usual_packets();
    for command in stf::parse(&text).unwrap_or_default() {
        if let command::Kind::Packet { port, bytes } = command.kind {
            samples.push(Sample { port: Some(port), bytes });
        }
    }
    samples
}
