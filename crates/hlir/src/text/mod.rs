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
pub use lex::{Token, TokenKind, lex};
pub use parse::{Parsed, parse_file, parse_plan, parse_program};
pub use print::{
    Printer, number_text, print_expression, print_file, print_path, print_plan, print_program, print_statement,
};
pub use words::{between, written};

pub(crate) use names::{get, number};
pub(crate) use print::CORE_ERRORS;

/// The symbol of an operator.
pub fn symbol(operator: crate::Binary) -> &'static str {
    words::symbol_of(operator).0
}

/// The operator of a symbol.
pub fn operator(symbol: &str) -> Option<crate::Binary> {
    words::BINARIES.iter().find(|(_, of, _)| *of == symbol).map(|(operator, ..)| *operator)
}

/// Whether the right operand of an operator is an amount, with a width of its own.
pub fn is_shift(operator: crate::Binary) -> bool {
    words::is_shift(operator)
}

/// The word of a hash.
pub fn algorithm_word(algorithm: crate::Algorithm) -> &'static str {
    match algorithm {
        crate::Algorithm::Crc32Custom(_) => words::CRC32_CUSTOM,
        crate::Algorithm::Crc16Custom(_) => words::CRC16_CUSTOM,
        crate::Algorithm::Crc32
        | crate::Algorithm::Crc16
        | crate::Algorithm::Identity
        | crate::Algorithm::InternetChecksum
        | crate::Algorithm::Xor16
        | crate::Algorithm::Target => words::word_of(words::ALGORITHMS, &algorithm).unwrap_or_default(),
    }
}

/// The hash of a word.
pub fn algorithm_of(word: &str) -> Option<crate::Algorithm> {
    words::ALGORITHMS.iter().find(|(_, own)| *own == word).map(|(algorithm, _)| *algorithm)
}

/// The word that plans have for a descriptor.
pub fn written_descriptor(descriptor: crate::plan::Descriptor) -> &'static str {
    words::word_of(words::DESCRIPTORS, &descriptor).unwrap_or_default()
}

/// The word of plans for how bytes of packets are accessed.
pub fn written_accesses(mode: crate::plan::AccessMode) -> &'static str {
    words::word_of(words::ACCESS_MODES, &mode).unwrap_or_default()
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
