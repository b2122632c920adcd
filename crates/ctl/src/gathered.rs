//! Writes of a file's lines, gathered: a call of each line's own would take most of the time.
//!
//! They do what they would do line by line. Anything else that is asked of the switch comes behind them. The switch takes a batch back as a whole
//! when one of its updates fails; then its lines are written one by one, until the first that fails.

use crate::client::Client;
use crate::failure::{Failure, Label, Reason};
use control::message::runtime::{Update, write_request::Atomicity};

/// Updates of a batch: by then the call itself costs nothing beside them.
const MOST: usize = 1024;

/// Updates of a line, with what they are called.
pub type Written = Vec<(Label, Update)>;

/// What is written at the next occasion.
pub struct Gathered {
    lines: Vec<Written>,
    /// Whether lines are written behind one that fails.
    keeps_going: bool,
}

impl Client {
    /// From now on gathers what [`Client::write_line`] gets. The last are written by [`Client::flush`].
    pub fn gather(&mut self, keeps_going: bool) {
        self.gathered = Some(Gathered { lines: Vec::new(), keeps_going });
    }

    pub fn gathers(&self) -> bool {
        self.gathered.is_some()
    }

    /// Writes the updates of a line, now or later.
    ///
    /// # Errors
    /// One of this line, or of lines before it.
    pub fn write_line(&mut self, updates: Written) -> Result<(), Failure> {
        let Some(gathered) = &mut self.gathered else { return self.write(updates, Atomicity::ContinueOnError) };
        gathered.lines.push(updates);
        match gathered.lines.len() < MOST {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// Those of the lines that fail, each with its number: of the first one, or of all if lines behind it are written, too.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let Some(gathered) = &mut self.gathered else { return Ok(()) };
        let (lines, keeps_going) = (std::mem::take(&mut gathered.lines), gathered.keeps_going);
        if lines.is_empty() {
            return Ok(());
        }
        if lines.len() > 1 {
            let whole: Written = lines.iter().flatten().cloned().collect();
            match self.write(whole, Atomicity::RollbackOnError) {
                // Nothing of it is done; a switch may also have no rollback.
                Err(Failure::Refused(_)) => {}
                done => return done,
            }
        }
        let mut refused = Vec::new();
        for updates in lines {
            let number = updates.first().and_then(|(label, _)| label.line);
            let Err(failure) = self.write(updates, Atomicity::ContinueOnError) else { continue };
            let Failure::Refused(reasons) = failure else { return Err(failure) };
            refused.extend(reasons.into_iter().map(|reason| Reason { line: reason.line.or(number), ..reason }));
            if !keeps_going {
                break;
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(Failure::Refused(refused)) }
    }
}
