//! What a file has that has no effect: the user is warned once for each reason.

use std::collections::BTreeMap;
use stf::{Mistake, Place};

/// Commands without effect, by the reason: which, how many, and where the first is.
#[derive(Debug, Default)]
pub struct LeftOut(BTreeMap<&'static str, (Place, u64, Vec<String>)>);

impl LeftOut {
    pub fn note(&mut self, command: &str, place: Place, why: &'static str) {
        let (_, count, commands) = self.0.entry(why).or_insert((place, 0, Vec::new()));
        *count += 1;
        if !commands.iter().any(|known| known == command) {
            commands.push(command.to_string());
        }
    }

    /// One for each reason.
    pub fn warnings(&self) -> Vec<Mistake> {
        let mut warnings: Vec<Mistake> = self
            .0
            .iter()
            .map(|(why, (place, count, commands))| {
                let names: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
                let subject = if names.len() == 1 { "it" } else { "each" };
                let lines = match count {
                    1 => String::new(),
                    2 => ", here and once more".to_string(),
                    _ => format!(", here and {} times more", count - 1),
                };
                Mistake::new(*place, format!("skipped {}{lines}: {subject} {why}", names.join(", ")))
            })
            .collect();
        warnings.sort_by_key(|warning| warning.place);
        warnings
    }
}
