//! The text of HLIR and of plans. The text is the IR: what is printed reads back as an equal value, and prints again as the same bytes.
//!
//! `lex` makes tokens, `parse` makes programs and plans of them, `print` makes text; what they must agree on (words, symbols, which name
//! means what) is defined once, in `words` and `names`. `docs/hlir.md` describes the language.

mod annotation;
mod choice;
mod lex;
mod names;
mod parse;
mod print;
mod words;

pub use choice::written_choice;
pub use parse::{Parsed, parse_file, parse_plan, parse_program};
pub use print::{Printer, print_expression, print_file, print_path, print_plan, print_program, print_statement};
pub use words::written;

pub(crate) use names::{get, number};
pub(crate) use print::CORE_ERRORS;

pub(crate) fn symbol(operator: crate::Binary) -> &'static str {
    words::symbol_of(operator).0
}

/// The word that plans have for a descriptor.
pub fn written_descriptor(descriptor: crate::plan::Descriptor) -> &'static str {
    words::word_of(words::DESCRIPTORS, &descriptor).unwrap_or_default()
}

/// The word of plans for the placement of a prefetch.
pub fn written_placement(placement: crate::plan::Placement) -> &'static str {
    let words = if placement.is_pipelined() { words::INTERLEAVED } else { words::PLACEMENTS };
    words::word_of(words, &placement).unwrap_or_default()
}

/// The word that plans have for a hint.
pub fn written_hint(hint: crate::plan::Hint) -> &'static str {
    words::word_of(words::HINTS, &hint).unwrap_or_default()
}

/// The word that plans have for a structure.
pub fn written_structure(structure: crate::plan::Structure) -> &'static str {
    words::word_of(words::STRUCTURES, &structure).unwrap_or_default()
}
