//! Why a request is refused: a gRPC code and a sentence.

use control::{Refusal, RefusalKind};
use tonic::{Code, Status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: Code,
    pub sentence: String,
}

/// What becomes of one update.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(code: Code, sentence: impl Into<String>) -> Failure {
        Failure { code, sentence: sentence.into() }
    }

    pub fn invalid(sentence: impl Into<String>) -> Failure {
        Failure::new(Code::InvalidArgument, sentence)
    }

    pub fn missing(sentence: impl Into<String>) -> Failure {
        Failure::new(Code::NotFound, sentence)
    }

    pub fn unsupported(sentence: impl Into<String>) -> Failure {
        Failure::new(Code::Unimplemented, sentence)
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        let code = match refusal.kind {
            RefusalKind::Wrong => Code::InvalidArgument,
            RefusalKind::TooWide => Code::OutOfRange,
            RefusalKind::Exists => Code::AlreadyExists,
            RefusalKind::Missing => Code::NotFound,
            RefusalKind::Constant => Code::PermissionDenied,
            RefusalKind::InUse => Code::FailedPrecondition,
            RefusalKind::Full => Code::ResourceExhausted,
        };
        Failure::new(code, refusal.sentence)
    }
}

impl From<Failure> for Status {
    fn from(failure: Failure) -> Status {
        Status::new(failure.code, failure.sentence)
    }
}
