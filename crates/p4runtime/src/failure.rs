//! Why a request is refused: a gRPC code and a sentence, and how batches report theirs.

use control::message::runtime::Error;
use control::message::status;
use control::{Refusal, RefusalKind};
use prost::Message;
use tonic::{Code, Status};

/// Bytes of details that every client takes: gRPC's limit for all metadata is 8 KB, and details travel in base64.
const MOST_DETAILS: usize = 5 * 1024;

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

/// The status of a batch of which some parts failed: one error for each part, in their order.
///
/// Where the details grow beyond what clients take, the sentences go first, then the details: a client that cannot read the status
/// would learn nothing at all.
pub fn batch_status(outcomes: &[Outcome]) -> Status {
    let failed: Vec<(usize, &Failure)> =
        outcomes.iter().enumerate().filter_map(|(at, outcome)| Some((at, outcome.as_ref().err()?))).collect();
    let (at, first) = failed.first().expect("some part of the batch failed");
    let sentence = format!("{} of {} failed, first number {at}: {}", failed.len(), outcomes.len(), first.sentence);
    let details = details(outcomes, &sentence, true);
    let details = if details.len() > MOST_DETAILS { self::details(outcomes, "", false) } else { details };
    match details.len() > MOST_DETAILS {
        true => Status::new(Code::Unknown, format!("{sentence} (too many parts for details)")),
        false => Status::with_details(Code::Unknown, sentence, details.into()),
    }
}

fn details(outcomes: &[Outcome], message: &str, with_sentences: bool) -> Vec<u8> {
    let error = |outcome: &Outcome| match outcome {
        Ok(()) => Error::default(),
        Err(failure) => Error {
            canonical_code: failure.code.into(),
            message: if with_sentences { failure.sentence.clone() } else { String::new() },
            space: if with_sentences { "bacus".to_string() } else { String::new() },
            ..Error::default()
        },
    };
    let packed = outcomes.iter().map(|outcome| prost_types::Any {
        type_url: "type.googleapis.com/p4.v1.Error".to_string(),
        value: error(outcome).encode_to_vec(),
    });
    status::Status { code: Code::Unknown.into(), message: message.to_string(), details: packed.collect() }
        .encode_to_vec()
}

/// The errors that a status carries, in the order of the batch; none if it carries none.
pub fn errors_of(status: &Status) -> Vec<Error> {
    let decoded = status::Status::decode(status.details()).unwrap_or_default();
    decoded.details.iter().filter_map(|packed| Error::decode(packed.value.as_slice()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(sentence: &str) -> Outcome {
        Err(Failure::missing(sentence))
    }

    #[test]
    fn every_part_has_its_error() {
        let errors = errors_of(&batch_status(&[Ok(()), failed("no such entry"), Ok(())]));
        let codes: Vec<i32> = errors.iter().map(|error| error.canonical_code).collect();
        assert_eq!(codes, [0, 5, 0]);
        assert_eq!(errors[1].message, "no such entry");
    }

    #[test]
    fn details_stay_below_what_clients_take() {
        let some = batch_status(&vec![failed(&"long ".repeat(40)); 80]);
        assert_eq!(errors_of(&some).len(), 80);
        assert!(some.details().len() <= MOST_DETAILS && errors_of(&some)[0].message.is_empty());
        let many = batch_status(&vec![failed("no"); 1000]);
        assert!(many.details().is_empty() && many.message().contains("1000 of 1000 failed"), "{}", many.message());
    }
}
