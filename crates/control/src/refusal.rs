//! Why a write or a question of a controller is refused.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub kind: RefusalKind,
    /// For the user.
    pub sentence: String,
}

/// What a controller may ask of a refusal; a person reads the sentence. Each is a status of P4Runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It does not suit the program, or the state that the switch is in (`INVALID_ARGUMENT`).
    Wrong,
    /// A value has more bits than its place (`OUT_OF_RANGE`).
    TooWide,
    /// There is such an object already (`ALREADY_EXISTS`).
    Exists,
    /// There is no such object (`NOT_FOUND`).
    Missing,
    /// The program keeps it constant (`PERMISSION_DENIED`).
    Constant,
    /// Another object refers to it (`FAILED_PRECONDITION`).
    InUse,
    /// It suits the program, but there is no room for one more (`RESOURCE_EXHAUSTED`).
    Full,
}

impl Refusal {
    pub fn new(kind: RefusalKind, sentence: impl Into<String>) -> Refusal {
        Refusal { kind, sentence: sentence.into() }
    }

    pub fn wrong(sentence: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Wrong, sentence)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}
