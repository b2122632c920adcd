//! Which of the known names is spelled like one that is not known.

use hlir::diagnostic::Diagnostic;

/// Adds the name that is spelled most like the one that was written, if one is near.
pub fn with_similar(report: Diagnostic, known: &[impl AsRef<str>], name: &str) -> Diagnostic {
    match similar(known.iter().map(AsRef::as_ref), name) {
        Some(similar) => report.hint(format!("did you mean `{similar}`?")),
        None => report,
    }
}

/// The name that is almost this one: letters apart, swapped, or of the other case.
pub fn similar<'n>(names: impl Iterator<Item = &'n str>, name: &str) -> Option<&'n str> {
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.to_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    // A word of which each letter differs is another word.
    let replaced = |distance: usize| if distance < name.chars().count() { distance } else { usize::MAX };
    let far = |known: &str| if letters(known) == letters(name) { 1 } else { replaced(distance(known, name)) };
    let close = names.map(|known| (far(known), known)).filter(|(far, _)| *far <= 1 + name.len() / 5);
    close.min_by(|left, right| left.cmp(right)).map(|(_, known)| known)
}

/// The number of letters to change, add or drop to make one word the other.
fn distance(left: &str, right: &str) -> usize {
    if left.len().abs_diff(right.len()) > 3 {
        return usize::MAX;
    }
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for column in 0..right.len() {
            let replaced = diagonal + usize::from(right[column] != letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
