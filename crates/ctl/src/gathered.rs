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
#[derive(Default)]
pub struct Gathered {
    lines: Vec<Written>,
    /// Whether lines are written behind one that fails.
    keeps_going: bool,
    /// Why no further line is written, to be reported behind what the switch refused before.
    lost: Option<Failure>,
}

impl Gathered {
    /// Writes the lines by calls of `write`.
    fn flush(&mut self, mut write: impl FnMut(Written, Atomicity) -> Result<(), Failure>) -> Result<(), Failure> {
        if let Some(lost) = self.lost.take() {
            return Err(lost);
        }
        let lines = std::mem::take(&mut self.lines);
        if lines.is_empty() {
            return Ok(());
        }
        if lines.len() > 1 {
            let whole: Written = lines.iter().flatten().cloned().collect();
            match write(whole, Atomicity::RollbackOnError) {
                // Nothing of it is done; a switch may also have no rollback.
                Err(Failure::Refused(_)) => {}
                done => return done,
            }
        }
        let mut refused = Vec::new();
        for updates in lines {
            let number = updates.first().and_then(|(label, _)| label.line);
            let Err(failure) = write(updates, Atomicity::ContinueOnError) else { continue };
            let Failure::Refused(reasons) = failure else {
                self.lost = Some(failure);
                break;
            };
            refused.extend(reasons.into_iter().map(|reason| Reason { line: reason.line.or(number), ..reason }));
            if !self.keeps_going {
                break;
            }
        }
        match refused.is_empty() {
            true => self.lost.take().map_or(Ok(()), Err),
            false => Err(Failure::Refused(refused)),
        }
    }
}

impl Client {
    /// From now on gathers what [`Client::write_line`] gets. The last are written by [`Client::flush`].
    pub fn gather(&mut self, keeps_going: bool) {
        self.gathered = Some(Gathered { keeps_going, ..Gathered::default() });
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
        match gathered.lines.len() < MOST && gathered.lost.is_none() {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// Those of the lines that fail, each with its number: of the first one, or of all if lines behind it are written, too.
    /// Where the connection is lost behind such lines, the next call reports that.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let Some(mut gathered) = self.gathered.take() else { return Ok(()) };
        let written = gathered.flush(|updates, atomicity| self.write(updates, atomicity));
        self.gathered = Some(gathered);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::{Gathered, Written};
    use crate::failure::{Failure, Label, Reason};
    use control::message::runtime::{Update, write_request::Atomicity};

    const LOST: &str = "no answer from the switch";

    /// The lines with these numbers, an update each.
    fn gathered(lines: std::ops::RangeInclusive<u32>, keeps_going: bool) -> Gathered {
        let update = |line| vec![(Label { line: Some(line), text: String::new() }, Update::default())];
        Gathered { lines: lines.map(update).collect(), keeps_going, lost: None }
    }

    /// Refuses calls with one of the lines in `refused`, and has lost the connection from the call for `lost` alone on.
    fn answer(calls: &mut Vec<usize>, updates: &Written, (refused, lost): (&[u32], u32)) -> Result<(), Failure> {
        calls.push(updates.len());
        let lines: Vec<u32> = updates.iter().filter_map(|(label, _)| label.line).collect();
        if lines == [lost] {
            return Err(Failure::Unreachable(LOST.to_string()));
        }
        match lines.iter().any(|line| refused.contains(line)) {
            true => Err(Failure::refused("no")),
            false => Ok(()),
        }
    }

    fn refused(lines: &[u32]) -> Result<(), Failure> {
        let reason = |line: &u32| Reason { line: Some(*line), sentence: "no".to_string() };
        Err(Failure::Refused(lines.iter().map(reason).collect()))
    }

    #[test]
    fn lines_that_the_switch_takes_need_one_call() {
        let (mut gathered, mut calls) = (gathered(1..=1000, false), Vec::new());
        assert_eq!(gathered.flush(|updates, _| answer(&mut calls, &updates, (&[], 0))), Ok(()));
        assert_eq!(gathered.flush(|updates, _| answer(&mut calls, &updates, (&[], 0))), Ok(()));
        assert_eq!(calls, [1000]);
    }

    #[test]
    fn behind_a_line_that_is_refused_lines_are_written_only_to_keep_going() {
        for (keeps_going, expected, made) in
            [(false, &[2][..], &[4, 1, 1][..]), (true, &[2, 3][..], &[4, 1, 1, 1, 1][..])]
        {
            let (mut gathered, mut calls) = (gathered(1..=4, keeps_going), Vec::new());
            let flushed = gathered.flush(|updates, atomicity| {
                assert_eq!(atomicity == Atomicity::RollbackOnError, updates.len() > 1);
                answer(&mut calls, &updates, (&[2, 3], 0))
            });
            assert_eq!((flushed, calls.as_slice()), (refused(expected), made));
        }
    }

    #[test]
    fn a_lost_connection_hides_no_refusal_before_it() {
        let (mut gathered, mut calls) = (gathered(1..=4, true), Vec::new());
        let mut flush = || gathered.flush(|updates, _| answer(&mut calls, &updates, (&[1, 2], 3)));
        assert_eq!(flush(), refused(&[1, 2]));
        assert_eq!(flush(), Err(Failure::Unreachable(LOST.to_string())));
        assert_eq!(flush(), Ok(()), "reported once");
        assert_eq!(calls, [4, 1, 1, 1]);
    }

    #[test]
    fn a_batch_whose_connection_is_lost_is_not_repeated() {
        let (mut gathered, mut calls) = (gathered(1..=4, true), 0);
        let flushed = gathered.flush(|_, _| {
            calls += 1;
            Err(Failure::Unreachable(LOST.to_string()))
        });
        assert_eq!((flushed, calls), (Err(Failure::Unreachable(LOST.to_string())), 1));
    }
}
