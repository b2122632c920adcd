//! Why a command fails: what was typed is wrong, the switch refuses it, or there is no switch.

use p4runtime::errors_of;
use stf::Mistake;
use tonic::{Code, Status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// At its place in the line.
    Mistake(Mistake),
    /// Each by itself.
    Refused(Vec<Reason>),
    /// A program has mistakes: the whole text, with the places.
    Program(String),
    Unreachable(String),
}

/// Why the switch refuses a command, or one update of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Where the update is written, if it is another line than the one that was executed.
    pub line: Option<u32>,
    pub sentence: String,
}

/// What an update is called in messages, and the line that it is from.
#[derive(Clone, Debug)]
pub struct Label {
    pub line: Option<u32>,
    pub text: String,
}

impl Failure {
    pub fn refused(sentence: impl Into<String>) -> Failure {
        Failure::Refused(vec![Reason { line: None, sentence: sentence.into() }])
    }

    /// Of a call that is no batch.
    pub fn of_call(status: &Status) -> Failure {
        match status.code() == Code::Unavailable {
            true => Failure::Unreachable(format!("no answer from the switch: {}", sentence(status))),
            false => Failure::refused(format!("{}: {}", code_name(status.code()), sentence(status))),
        }
    }

    /// Of a batch whose updates are called `labels`: a sentence for each that failed.
    /// Those that were only taken back with another are left out.
    pub fn of_batch(status: &Status, labels: &[Label]) -> Failure {
        let errors = errors_of(status);
        if errors.len() != labels.len() {
            return Failure::of_call(status);
        }
        let failed = errors.iter().zip(labels).filter(|(error, _)| error.canonical_code != 0);
        let is_aborted = |code: i32| Code::from(code) == Code::Aborted;
        let is_rolled_back = errors.iter().any(|error| is_aborted(error.canonical_code));
        let faults = failed.filter(|(error, _)| !is_aborted(error.canonical_code)).map(|(error, label)| {
            let code = code_name(Code::from(error.canonical_code));
            let reason = if error.message.is_empty() { "" } else { ": " };
            let hint = hint(Code::from(error.canonical_code), &label.text);
            Reason { line: label.line, sentence: format!("{}: {code}{reason}{}{hint}", label.text, error.message) }
        });
        let mut reasons: Vec<Reason> = faults.collect();
        if is_rolled_back {
            reasons.push(Reason { line: None, sentence: "nothing of the batch was written".to_string() });
        }
        Failure::Refused(reasons)
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Refused(_) | Failure::Program(_) => 1,
            Failure::Mistake(_) => 2,
            Failure::Unreachable(_) => 3,
        }
    }

    /// The failure without the name of its command.
    pub fn reasons(&self) -> Vec<Reason> {
        let one = |sentence: &String| vec![Reason { line: None, sentence: sentence.clone() }];
        match self {
            Failure::Mistake(mistake) => one(&mistake.message),
            Failure::Refused(reasons) => reasons.clone(),
            Failure::Program(text) | Failure::Unreachable(text) => one(text),
        }
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Failure {
        Failure::Mistake(mistake)
    }
}

/// The way out, for the writes of entries: their labels are the commands.
fn hint(code: Code, label: &str) -> String {
    let mut words = label.split_whitespace();
    match (code, words.next(), words.next()) {
        (Code::AlreadyExists, Some("add"), Some(_)) => ": `modify` changes it".to_string(),
        (Code::NotFound, Some("modify" | "delete"), Some(table)) => format!(": `show {table}` lists those that it has"),
        _ => String::new(),
    }
}

/// The innermost cause is the most precise: those around it only report that the transport failed.
pub fn sentence(status: &Status) -> String {
    match std::error::Error::source(status) {
        Some(cause) => innermost(cause),
        None => status.message().to_string(),
    }
}

/// The message of an error's innermost cause, without the number that the system has for it.
pub fn innermost(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => innermost(cause),
        None => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}

/// The name of a code, as the protocol's documents have it.
pub fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
