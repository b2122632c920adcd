//! The scoreboard: programs of others, where they lie in directories that the user has, with entries and packets of ours.
//!
//! The list (`bench/scoreboard/programs.toml`) names each program by its path below one of the directories. A program that is in none of them is reported
//! and skipped; one that cannot be measured is a failed row.

use super::experiment;
use super::report::{self, Record};
use super::resume_log::ResumeLog;
use super::scheduler::{self, Scheduler};
use super::time_left::TimeLeft;
use super::variants::{SPECIALISED, SPECIALISED_LEADING, SPECIALISED_STAGED};
use super::workload::expand::{Counts, expand};
use crate::options::Options;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::files;
use driver::options::Warnings;
use driver::stdout::print_line;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A switch in use, whose packets have no locality.
const MANY: Counts = Counts { routes: 10_000, hops: 64, rules: 100, is_skewed: false };
/// Beside it a fresh switch with a few entries, and one of which most packets hit the same entries.
const SCALES: [(&str, Counts); 3] = [
    ("few", Counts { routes: 1, hops: 1, rules: 0, is_skewed: false }),
    ("many", MANY),
    ("skewed", Counts { is_skewed: true, ..MANY }),
];
const BURSTS: [u32; 1] = [32];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    program: Vec<Row>,
}

/// A program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    /// Below one of the directories.
    path: PathBuf,
    /// Directories of included files, likewise.
    #[serde(default)]
    include: Vec<PathBuf>,
    #[serde(default)]
    define: Vec<String>,
    /// Beside the list.
    entries: PathBuf,
    /// What its tables have room for, if that is less than the default.
    routes: Option<u64>,
    hops: Option<u64>,
    rules: Option<u64>,
}

impl Row {
    fn counts(&self, default: Counts) -> Counts {
        let least = |room: Option<u64>, default: u64| room.map_or(default, |room| room.min(default));
        Counts {
            routes: least(self.routes, default.routes),
            hops: least(self.hops, default.hops),
            rules: least(self.rules, default.rules),
            is_skewed: default.is_skewed,
        }
    }
}

/// One line of the table.
struct Score {
    plain: f64,
    best: f64,
    predicted: f64,
    /// Of code for exactly these entries: the fastest, which a running switch keeps.
    specialised: f64,
}

impl Score {
    fn of(records: &[Record]) -> Option<Score> {
        let least = |variant: &str| {
            let rows = records.iter().filter(|record| record.variant == variant);
            rows.min_by(|one, other| one.cycles.total_cmp(&other.cycles))
        };
        let (plain, best) = (least("plain")?, least("best")?);
        let specialised = [SPECIALISED, SPECIALISED_STAGED, SPECIALISED_LEADING];
        let specialised = specialised.into_iter().filter_map(|name| Some(least(name)?.cycles));
        let specialised = specialised.min_by(f64::total_cmp)?;
        Some(Score { plain: plain.cycles, best: best.cycles, predicted: best.predicted?, specialised })
    }

    fn ratio(&self) -> f64 {
        self.best / self.plain
    }

    fn specialised_ratio(&self) -> f64 {
        self.specialised / self.plain
    }

    /// By how much the prediction is off, in either direction.
    fn factor(&self) -> f64 {
        (self.predicted / self.best).max(self.best / self.predicted)
    }
}

pub fn run(options: &Options, list: &Path) -> Result<(), Failure> {
    let rows = read(list)?;
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => files::cache()?.root().join("scoreboard"),
    };
    print_line!(
        "{:<18} {:>7} {:>8} {:>8} {:>8} {:>9} {:>7} {:>7} {:>11} {:>7}",
        "program",
        "entries",
        "count",
        "plain",
        "best",
        "predicted",
        "ratio",
        "off by",
        SPECIALISED,
        "ratio"
    );
    let (mut scores, mut records, mut failed, mut skipped) = (Vec::new(), Vec::new(), 0, Vec::new());
    for row in &rows {
        let Some(source) = find(&options.directories, &row.path) else {
            print_line!("{:<18} skipped: no directory has {}", row.name, row.path.display());
            skipped.push(&row.name);
            continue;
        };
        for (scale, default) in SCALES {
            let written = written(row, list, &folder.join(format!("{}-{scale}", row.name)), row.counts(default))?;
            match measured(row, &source, written, options) {
                Ok((score, found)) => {
                    let Record { case, .. } = &found[0];
                    let Score { plain, best, predicted, specialised } = score;
                    let (name, count, ratio, factor) = (&row.name, case.size, score.ratio(), score.factor());
                    let less = score.specialised_ratio();
                    print_line!(
                        "{name:<18} {scale:>7} {count:>8} {plain:>8.1} {best:>8.1} {predicted:>9.1} {ratio:>7.2} {factor:>7.2} {specialised:>11.1} {less:>7.2}"
                    );
                    scores.push(score);
                    records.extend(found.into_iter().map(|mut record| {
                        record.case.application = format!("{name}-{scale}");
                        record
                    }));
                }
                Err(why) => {
                    failed += 1;
                    let first = why.trim().lines().next().unwrap_or_default();
                    print_line!("{:<18} {scale:>7} failed: {}", row.name, first.trim_start_matches("error: "));
                }
            }
        }
    }
    if let Some(folder) = &options.out {
        files::write(&folder.join("scoreboard.json"), report::json(&records).as_bytes())?;
    }
    conclude(&scores, failed, skipped.len(), rows.len())
}

fn read(list: &Path) -> Result<Vec<Row>, Failure> {
    let text = files::text(list)?;
    let list: List = toml::from_str(&text)
        .map_err(|error| Failure::input(format!("{}: {}", list.display(), error.to_string().trim())))?;
    Ok(list.program)
}

fn find(directories: &[PathBuf], path: &Path) -> Option<PathBuf> {
    directories.iter().map(|directory| directory.join(path)).find(|candidate| candidate.exists())
}

/// Entries and packets of a row, as files.
fn written(row: &Row, list: &Path, folder: &Path, counts: Counts) -> Result<(PathBuf, PathBuf), Failure> {
    let template = files::text(&list.with_file_name(&row.entries))?;
    let (entries, packets) = expand(&template, counts);
    let files = (folder.join("entries.stf"), folder.join("packets.stf"));
    files::write(&files.0, entries.as_bytes())?;
    files::write(&files.1, packets.as_bytes())?;
    Ok(files)
}

/// What a program costs, or why that is not known.
fn measured(
    row: &Row,
    source: &Path,
    (entries, packets): (PathBuf, PathBuf),
    options: &Options,
) -> Result<(Score, Vec<Record>), String> {
    let options = Options {
        applications: vec![source.display().to_string()],
        entries: vec![Origin::File(entries)],
        packets: Some(packets),
        include: row.include.iter().filter_map(|folder| find(&options.directories, folder)).collect(),
        define: row.define.clone(),
        warnings: Warnings { disable: vec![String::new()], ..Warnings::default() },
        only: ["best", SPECIALISED, SPECIALISED_STAGED, SPECIALISED_LEADING].map(str::to_string).to_vec(),
        bursts: BURSTS.to_vec(),
        out: None,
        quick: true,
        scoreboard: None,
        ..options.clone()
    };
    let message = |failure: Failure| match failure {
        Failure::Input(text) | Failure::Environment(text) => text,
        Failure::Reported => "see above".to_string(),
    };
    let cases = experiment::cases(&options).map_err(message)?;
    let log = ResumeLog::open(None, "scoreboard", "").map_err(message)?;
    let mut time = TimeLeft::new(scheduler::count(&options, &cases));
    let heard = Scheduler::new(&options, cases, log, &mut time)
        .and_then(|scheduler| scheduler.run(|_| Ok(())))
        .map_err(message)?;
    if let Some(wrong) = heard.wrong.first() {
        return Err(wrong.clone());
    }
    let score = Score::of(&heard.records).ok_or_else(|| heard.notes.join("; "))?;
    Ok((score, heard.records))
}

fn conclude(scores: &[Score], failed: usize, skipped: usize, programs: usize) -> Result<(), Failure> {
    if skipped == programs {
        let hint = "hint: name the checkouts that have them, as in make scoreboard DIRS=\"p4c ngsdn-tutorial\"";
        return Err(Failure::input(format!("none of the {programs} programs was found\n{hint}")));
    }
    print_line!("");
    let middle = |value: fn(&Score) -> f64| {
        let mut values: Vec<f64> = scores.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
    };
    let worst = scores.iter().map(Score::ratio).fold(f64::NAN, f64::max);
    print_line!("`ratio` is `best` of `plain`: {:.2} in the median, {worst:.2} at worst", middle(Score::ratio));
    let worst = scores.iter().map(Score::specialised_ratio).fold(f64::NAN, f64::max);
    print_line!(
        "`{SPECIALISED}` is {:.2} of `plain` in the median, {worst:.2} at worst",
        middle(Score::specialised_ratio)
    );
    print_line!("predictions are off by a factor of {:.2} in the median", middle(Score::factor));
    if skipped > 0 {
        print_line!("{skipped} of {programs} programs were not found");
    }
    if failed == 0 {
        return Ok(());
    }
    print_line!("{failed} rows failed");
    Err(Failure::Reported)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/scoreboard/programs.toml")
    }

    #[test]
    fn the_list_names_programs_by_paths_below_a_directory_and_entries_beside_it() {
        let rows = read(&list()).unwrap_or_else(|failure| panic!("{failure:?}"));
        for row in &rows {
            assert!(row.path.is_relative() && row.include.iter().all(|folder| folder.is_relative()), "{}", row.name);
            let template = files::text(&list().with_file_name(&row.entries));
            let (entries, packets) =
                expand(&template.unwrap_or_else(|_| panic!("{}", row.name)), row.counts(SCALES[0].1));
            assert!(!packets.is_empty() && !(entries + &packets).contains('{'), "{}", row.name);
            assert_eq!(rows.iter().filter(|other| other.name == row.name).count(), 1, "{}", row.name);
        }
    }

    #[test]
    fn a_score_compares_each_at_its_best_and_is_off_either_way() {
        let score = Score { plain: 100.0, best: 50.0, predicted: 100.0, specialised: 40.0 };
        assert_eq!((score.ratio(), score.factor(), score.specialised_ratio()), (0.5, 2.0, 0.4));
        assert_eq!(Score { predicted: 25.0, ..score }.factor(), 2.0);
    }
}
