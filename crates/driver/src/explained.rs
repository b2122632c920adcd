//! The last explanation of a program, kept in the cache: editors show its cycles beside the tables.

use crate::failure::Failure;
use crate::files;
use opt::explain::{Explanation, TableRow};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The cycles of a table.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Cost {
    /// With the instances around it: `Router.check.interfaces`.
    pub table: String,
    pub structure: String,
    pub cycles: f64,
    pub entries: u64,
    /// Whether entries are counted, declared or assumed.
    pub origin: String,
}

pub fn keep(program: &Path, explanation: &Explanation) -> Result<(), Failure> {
    let cost = |row: &TableRow| Cost {
        table: row.name.clone(),
        structure: row.structure.clone(),
        cycles: row.cycles,
        entries: row.entries,
        origin: row.origin.to_string(),
    };
    let costs: Vec<Cost> = explanation.tables.iter().map(cost).collect();
    let text = serde_json::to_string(&costs).map_err(Failure::environment)?;
    files::write(&file(program)?, text.as_bytes())
}

/// The costs of the last explanation; none if there is none.
pub fn costs(program: &Path) -> Vec<Cost> {
    let text = file(program).ok().and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn file(program: &Path) -> Result<PathBuf, Failure> {
    let path = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_path_buf());
    let digest = runtime::cache::Hash::new().add(path.as_os_str().as_encoded_bytes()).hex();
    Ok(files::cache()?.root().join("explained").join(format!("{digest}.json")))
}
