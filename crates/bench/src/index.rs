//! The index of recorded results: a folder for each machine, and what its files hold.

use driver::failure::Failure;
use driver::files;
use driver::stdout::print_line;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What is read of a record.
#[derive(Deserialize)]
struct Row {
    experiment: String,
    program: String,
    #[serde(default)]
    compiler: Option<String>,
}

/// Of the experiment of a paper: its file has conditions, too.
#[derive(Deserialize)]
struct Outcome {
    experiment: String,
    records: Vec<Row>,
}

/// The index beside the folders.
const NAME: &str = "index.md";

/// Writes the index of a folder with results.
pub fn run(folder: &Path) -> Result<(), Failure> {
    let file = folder.join(NAME);
    files::write(&file, text(folder)?.as_bytes())?;
    print_line!("{}", file.display());
    Ok(())
}

fn text(folder: &Path) -> Result<String, Failure> {
    let mut text = "# Index of results\n\nWritten by `bacus bench index`: a folder for each machine.\n".to_string();
    let mut count = 0;
    for machine in entries(folder)?.iter().filter(|path| path.is_dir()) {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let _ = write!(text, "\n## {}\n\n", name(machine));
        text.push_str("| file | experiments | programs | records | compilers |\n|---|---|---|---|---|\n");
        for file in entries(machine)?.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")) {
            let rows = rows(file)?;
            let words = |word: fn(&Row) -> Option<&str>| {
                let words: BTreeSet<&str> = rows.iter().filter_map(word).collect();
                words.into_iter().collect::<Vec<&str>>()
            };
            let [experiments, programs, compilers] = [
                words(|row| Some(kind(&row.experiment))),
                words(|row| Some(&row.program)),
                words(|row| row.compiler.as_deref()),
            ];
            let (link, experiments, compilers) = (name(file), experiments.join(", "), compilers.join(", "));
            let _ = writeln!(
                text,
                "| [{link}]({}/{link}) | {experiments} | {} | {} | {compilers} |",
                name(machine),
                programs.len(),
                rows.len()
            );
            count += 1;
        }
    }
    if count == 0 {
        let hint = "hint: results lie in a folder for each machine, as bench/results/epyc-genoa/bench.json";
        return Err(Failure::input(format!("{}: there are no results\n{hint}", folder.display())));
    }
    Ok(text)
}

/// Without the numbers of an experiment, as of `drops-4` and `paths-70-25-5`.
fn kind(experiment: &str) -> &str {
    experiment.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-')
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// The records of a file in either form.
fn rows(file: &Path) -> Result<Vec<Row>, Failure> {
    let text = files::text(file)?;
    if let Ok(outcome) = serde_json::from_str::<Outcome>(&text) {
        let experiment = outcome.experiment;
        return Ok(outcome.records.into_iter().map(|row| Row { experiment: experiment.clone(), ..row }).collect());
    }
    serde_json::from_str(&text).map_err(|error| Failure::input(format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UPDATE_EXPECT=1` writes it anew.
    #[test]
    fn the_recorded_index_is_of_the_recorded_results() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results");
        let text = text(&results).expect("there are results");
        let file = results.join(NAME);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, &text).expect("the file can be written");
        }
        assert!(fs::read_to_string(&file).is_ok_and(|recorded| recorded == text), "run `bacus bench index`");
        assert!(text.contains("| [bench.json](epyc-genoa/bench.json) | drops, gains, programs |"), "{text}");
    }

    #[test]
    fn a_folder_without_results_is_refused_and_other_files_named() {
        let folder = std::env::temp_dir().join(format!("bacus-index-{}", std::process::id()));
        fs::create_dir_all(folder.join("lab")).expect("it can be made");
        let Err(Failure::Input(refusal)) = text(&folder) else { panic!("there is nothing") };
        assert!(refusal.contains("there are no results"), "{refusal}");
        fs::write(folder.join("lab/odd.json"), "{}").expect("it can be written");
        let Err(Failure::Input(refusal)) = text(&folder) else { panic!("it has no records") };
        assert!(refusal.contains("lab/odd.json: "), "{refusal}");
        fs::remove_dir_all(folder).expect("it is there");
    }
}
