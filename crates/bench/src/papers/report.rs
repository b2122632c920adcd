//! Reads the results of experiments from folders, and writes the report: a page, its PDF, and an index.

use super::html::{self, Missing};
use super::outcome::Outcome;
use crate::purpose::EXPERIMENTS;
use driver::failure::Failure;
use driver::files;
use driver::stdout::print_line;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Writes the page of all results in the folders and below them, and a PDF of it if a program for that is installed.
pub fn run(folders: &[PathBuf], page: &Path) -> Result<(), Failure> {
    let mut outcomes = Vec::new();
    for folder in folders {
        read(folder, &mut outcomes)?;
    }
    if outcomes.is_empty() {
        let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let hint = "hint: `bacus bench --experiment gains --out DIR` writes one";
        return Err(Failure::input(format!("{}: no results of experiments\n{hint}", names.join(", "))));
    }
    let place = |outcome: &Outcome| EXPERIMENTS.iter().position(|name| *name == outcome.experiment);
    outcomes.sort_by_key(|outcome| (outcome.machine.clone(), place(outcome)));
    files::write(page, html::page(&outcomes, &missing(&outcomes)).as_bytes())?;
    print_line!("{}: {} experiments", page.display(), outcomes.len());
    print_line!("{}", pdf(page));
    Ok(())
}

/// Experiments of papers that no machine has a result of.
fn missing(outcomes: &[Outcome]) -> Vec<Missing> {
    let is_missing = |name: &str| outcomes.iter().all(|outcome| outcome.experiment != name);
    let all = super::described().into_iter().filter(|(name, _)| is_missing(name));
    all.map(|(name, shows)| Missing { name, shows: shows.to_string() }).collect()
}

/// The results in a folder and in those below it. Other files are left alone.
fn read(folder: &Path, outcomes: &mut Vec<Outcome>) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, outcomes)?;
        } else if path.extension().is_some_and(|ending| ending == "json") {
            let text = fs::read_to_string(&path).map_err(|error| Failure::unreadable(&path, &error))?;
            outcomes.extend(serde_json::from_str::<Outcome>(&text).ok());
        }
    }
    Ok(())
}

/// Programs that print a page, and their arguments in front of the names of PDF and page.
const PRINTERS: [(&str, &[&str], &str); 3] = [
    ("chromium", &["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"], "--print-to-pdf="),
    ("google-chrome", &["--headless", "--disable-gpu", "--no-pdf-header-footer"], "--print-to-pdf="),
    ("weasyprint", &[], ""),
];

/// Prints the page with the first program that is there and can, and reports the result.
fn pdf(page: &Path) -> String {
    let file = page.with_extension("pdf");
    for (program, arguments, option) in PRINTERS {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if option.is_empty() {
            command.arg(page).arg(&file);
        } else {
            command.arg(format!("{option}{}", file.display()));
            command.arg(page.canonicalize().unwrap_or_else(|_| page.to_path_buf()));
        }
        if command.status().is_ok_and(|status| status.success()) && file.exists() {
            return format!("{}: by {program}", file.display());
        }
    }
    let programs: Vec<&str> = PRINTERS.iter().map(|(program, ..)| *program).collect();
    format!("no PDF: none of {} is installed and prints pages (apt-get install chromium)", programs.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_results_is_refused_with_the_way_out() {
        let folder = std::env::temp_dir().join(format!("bacus-report-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("other.json"), "[]").unwrap();
        let Err(Failure::Input(refusal)) = run(std::slice::from_ref(&folder), &folder.join("report.html")) else {
            panic!("there is nothing to report")
        };
        assert!(refusal.contains("no results of experiments") && refusal.contains("--experiment gains"), "{refusal}");
        fs::remove_dir_all(folder).unwrap();
    }
}
