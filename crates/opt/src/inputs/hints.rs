//! Hints of the programmer about traffic: the annotations `@likely`, `@unlikely`, `@traffic(0.95)`.
//!
//! On an action: its share of the packets that hit the table. On a table: its hit rate. On a parser state:
//! the share of the packets from preceding states. On a node, where a pass has put it: of the condition that leads to it.
//! A profile overrides hints, and hints override heuristics.

use hlir::Notes;
use hlir::notes::stated_share;

/// The annotation by which a pass marks the node that packets are expected at.
pub const LIKELY: &str = "likely";

/// Factor on the odds for `@likely` and `@unlikely`.
const ODDS: f64 = 9.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hint {
    Likely,
    Unlikely,
    /// A share from 0 to 1.
    Share(f64),
}

/// The last hint among the annotations. An annotation that cannot be read is no hint.
pub fn of(notes: &Notes) -> Option<Hint> {
    notes.annotations.iter().rev().find_map(|annotation| match annotation.name.as_str() {
        LIKELY => Some(Hint::Likely),
        "unlikely" => Some(Hint::Unlikely),
        "traffic" => annotation.text().and_then(stated_share).map(Hint::Share),
        _ => None,
    })
}

impl Hint {
    /// The share with this hint, where `guess` is the share without.
    pub fn share(self, guess: f64) -> f64 {
        match self {
            Hint::Likely => guess * ODDS / (1.0 - guess + guess * ODDS),
            Hint::Unlikely => guess / (guess + (1.0 - guess) * ODDS),
            Hint::Share(share) => share,
        }
    }
}

/// Scales guesses to sum to `whole`. Stated shares hold; the rest is divided among the others in proportion
/// to their guesses.
pub fn distribute(guesses: &mut [f64], hints: &[Option<Hint>], whole: f64) {
    let stated: f64 = hints.iter().flatten().map(|hint| if let Hint::Share(share) = hint { *share } else { 0.0 }).sum();
    let scale = if stated > 1.0 { 1.0 / stated } else { 1.0 };
    let left = whole * (1.0 - stated * scale).max(0.0);
    for (guess, hint) in guesses.iter_mut().zip(hints) {
        match hint {
            Some(Hint::Likely) => *guess *= ODDS,
            Some(Hint::Unlikely) => *guess /= ODDS,
            Some(Hint::Share(_)) | None => {}
        }
    }
    let is_stated = |hint: &Option<Hint>| matches!(hint, Some(Hint::Share(_)));
    let guessed: f64 = guesses.iter().zip(hints).filter(|(_, hint)| !is_stated(hint)).map(|(guess, _)| *guess).sum();
    let others = hints.iter().filter(|hint| !is_stated(hint)).count() as f64;
    for (guess, hint) in guesses.iter_mut().zip(hints) {
        *guess = match hint {
            Some(Hint::Share(share)) => whole * share * scale,
            Some(Hint::Likely | Hint::Unlikely) | None if guessed > 0.0 => *guess / guessed * left,
            Some(Hint::Likely | Hint::Unlikely) | None => left / others,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::notes::{Annotation, AnnotationBody};

    fn notes(name: &str, body: Option<&str>) -> Notes {
        let body = body.map_or(AnnotationBody::None, |text| AnnotationBody::Text(text.to_string()));
        let annotation = Annotation { name: name.to_string(), body };
        Notes { annotations: vec![annotation], ..Notes::default() }
    }

    #[test]
    fn hints_are_read_and_nonsense_is_none() {
        assert_eq!(of(&notes("likely", None)), Some(Hint::Likely));
        assert_eq!(of(&notes("traffic", Some(" 0.25 "))), Some(Hint::Share(0.25)));
        assert_eq!(of(&notes("traffic", Some("25"))), None);
        assert_eq!(of(&notes("traffic", None)), None);
        assert_eq!(of(&notes("name", Some("likely"))), None);
    }

    #[test]
    fn stated_shares_hold_and_others_divide_the_rest() {
        let mut shares = [1.0, 1.0, 2.0];
        distribute(&mut shares, &[Some(Hint::Share(0.4)), None, None], 1.0);
        assert!(shares.iter().zip([0.4, 0.2, 0.4]).all(|(share, wanted)| (share - wanted).abs() < 1e-9), "{shares:?}");
        let mut shares = [1.0, 1.0];
        distribute(&mut shares, &[Some(Hint::Likely), None], 1.0);
        assert!((shares[0] - 0.9).abs() < 1e-9);
    }
}
