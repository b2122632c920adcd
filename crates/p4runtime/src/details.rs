//! The status of a batch of which some parts failed: one `p4.v1.Error` for each part, in their order, within the metadata that the client accepts.
//!
//! A client that gets more metadata than it accepts learns nothing at all. So where the details are too large, the texts are cut first; then the details lose
//! everything but their codes; and only then are there fewer of them, the first ones.

use crate::failure::{Failure, Outcome};
use control::message::runtime::Error;
use control::message::status;
use prost::Message;
use tonic::{Code, Status};

/// What gRPC's own libraries accept if nothing else is configured.
const DEFAULT_LIMIT: usize = 8 * 1024;

/// The same of clients that announce no limit. HTTP/2 sets none then, and Go's library, or gRPC's C core where it is set so, accept 16 MB; Node's accepts this.
const UNANNOUNCED_LIMIT: usize = 65_535;

/// Bytes of other headers that are sent with a status: `:status` and `date`, each with the 32 bytes that HTTP/2 counts for any header.
const OTHER_HEADERS: usize = 128;

/// Fewest bytes of a detail: its type, and an empty error.
const LEAST_DETAIL: usize = 16;

/// Characters of the first failure's text in the message of a status whose details are cut.
const FIRST_TEXT: usize = 300;

/// Numbers of failed parts that the message names, where the details do not have all of them.
const NAMED: usize = 40;

const TYPE: &str = "type.googleapis.com/p4.v1.Error";
/// The shortest form of the same: the prefix of a type's URL may be empty.
const SHORT_TYPE: &str = "/p4.v1.Error";

/// The metadata that may be sent to a client that has announced this limit (HTTP/2's `SETTINGS_MAX_HEADER_LIST_SIZE`), or none.
///
/// gRPC's C library announces the size from which on it always fails, and fails at random above a smaller one: 8 KB if the announced one is the default of
/// 16 KB, otherwise four fifths of it. Its Python, C++ and Ruby libraries do the same. Java announces what it accepts: 8 KB.
pub fn metadata_limit(announced: Option<u32>) -> usize {
    match announced.map(|announced| announced as usize) {
        None => UNANNOUNCED_LIMIT,
        Some(announced) if announced <= 2 * DEFAULT_LIMIT => announced.min(DEFAULT_LIMIT),
        Some(announced) => announced / 5 * 4,
    }
}

/// How much of the details is sent.
#[derive(Clone, Copy)]
struct Extent {
    /// Parts of the batch, the first ones.
    parts: usize,
    /// Characters of each text.
    text: usize,
    /// Whether a detail has its code and nothing else that can be left out.
    codes_alone: bool,
}

struct Batch<'a> {
    outcomes: &'a [Outcome],
    failed: Vec<(usize, &'a Failure)>,
    limit: usize,
}

/// The status of a batch of which some parts failed, for a client that accepts so many bytes of metadata.
pub fn batch_status(outcomes: &[Outcome], limit: usize) -> Status {
    let failed = outcomes.iter().enumerate().filter_map(|(at, outcome)| Some((at, outcome.as_ref().err()?)));
    let batch = Batch { outcomes, failed: failed.collect(), limit };
    batch
        .whole()
        .or_else(|| batch.with_codes(false))
        .or_else(|| batch.with_codes(true))
        .unwrap_or_else(|| batch.first())
}

impl Batch<'_> {
    fn whole(&self) -> Option<Status> {
        let all = Extent { parts: self.outcomes.len(), text: usize::MAX, codes_alone: false };
        self.fitting(self.sentence(usize::MAX), all)
    }

    /// A code for every part, and as much of each text as there is room for.
    fn with_codes(&self, codes_alone: bool) -> Option<Status> {
        if self.outcomes.len() * LEAST_DETAIL > self.limit {
            return None;
        }
        let longest = self.failed.iter().map(|(_, failure)| failure.sentence.chars().count()).max().unwrap_or(0);
        let status = |text| {
            let extent = Extent { parts: self.outcomes.len(), text, codes_alone };
            self.fitting(self.sentence(FIRST_TEXT), extent)
        };
        largest(longest, status)
    }

    /// Details of the first parts alone. The message has the numbers of the parts that failed.
    fn first(&self) -> Status {
        let most = self.outcomes.len().min(self.limit / LEAST_DETAIL);
        let status = |parts| {
            let message = format!(
                "{} (failed: {}; details of the first {parts} alone: the client accepts {} bytes of metadata)",
                self.sentence(FIRST_TEXT),
                self.numbers(),
                self.limit
            );
            self.fitting(message, Extent { parts, text: 0, codes_alone: true })
        };
        largest(most, status).unwrap_or_else(|| Status::new(Code::Unknown, self.sentence(0)))
    }

    fn sentence(&self, text: usize) -> String {
        let (at, first) = self.failed.first().expect("some part of the batch failed");
        let (failed, all) = (self.failed.len(), self.outcomes.len());
        format!("{failed} of {all} failed, first number {at}: {}", cut(&first.sentence, text))
    }

    /// Numbers of failed parts, as `3, 17, 40 to 90`.
    fn numbers(&self) -> String {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (at, _) in &self.failed {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == *at => *last = *at,
                Some(_) | None => ranges.push((*at, *at)),
            }
        }
        let named = ranges.iter().take(NAMED).map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        });
        let named = named.collect::<Vec<String>>().join(", ");
        if ranges.len() > NAMED { format!("{named}, and others") } else { named }
    }

    /// The status, if the client accepts it.
    fn fitting(&self, message: String, extent: Extent) -> Option<Status> {
        let inner = if extent.codes_alone { String::new() } else { message.clone() };
        let details = self.outcomes[..extent.parts].iter().map(|outcome| detail(outcome, extent)).collect();
        let details = status::Status { code: Code::Unknown.into(), message: inner, details }.encode_to_vec();
        // Base64 makes four bytes of three.
        if details.len() / 3 * 4 > self.limit {
            return None;
        }
        let status = Status::with_details(Code::Unknown, message, details.into());
        (metadata_bytes(&status) <= self.limit).then_some(status)
    }
}

fn detail(outcome: &Outcome, extent: Extent) -> prost_types::Any {
    let error = match outcome {
        Ok(()) => Error::default(),
        Err(failure) => Error {
            canonical_code: failure.code.into(),
            message: cut(&failure.sentence, extent.text),
            space: if extent.codes_alone { String::new() } else { "bacus".to_string() },
            ..Error::default()
        },
    };
    let type_url = if extent.codes_alone { SHORT_TYPE } else { TYPE };
    prost_types::Any { type_url: type_url.to_string(), value: error.encode_to_vec() }
}

/// The first characters of a text; it ends in `…` where some are missing.
fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some(_) if characters == 0 => String::new(),
        Some(_) => text.chars().take(characters - 1).chain(['…']).collect(),
        None => text.to_string(),
    }
}

/// The size of a status as HTTP/2 counts it.
fn metadata_bytes(status: &Status) -> usize {
    let response = status.clone().into_http::<()>();
    let headers = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 32);
    headers.sum::<usize>() + OTHER_HEADERS
}

/// What the largest number up to `most` gives, of those that give anything: all smaller ones do, too.
fn largest<T>(most: usize, give: impl Fn(usize) -> Option<T>) -> Option<T> {
    let mut best = Some(give(0)?);
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match give(middle) {
            Some(given) => (best, low) = (Some(given), middle),
            None => high = middle - 1,
        }
    }
    best
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

    /// The status, which the client must accept.
    fn accepted(outcomes: &[Outcome], limit: usize) -> Status {
        let status = batch_status(outcomes, limit);
        assert!(metadata_bytes(&status) <= limit, "{} of {limit}", metadata_bytes(&status));
        status
    }

    #[test]
    fn every_part_has_its_error() {
        let errors = errors_of(&accepted(&[Ok(()), failed("no such entry"), Ok(())], DEFAULT_LIMIT));
        let codes: Vec<i32> = errors.iter().map(|error| error.canonical_code).collect();
        assert_eq!(codes, [0, 5, 0]);
        assert_eq!(errors[1].message, "no such entry");
    }

    #[test]
    fn texts_are_cut_before_details_are_left_out() {
        let outcomes = vec![failed(&"long ".repeat(40)); 60];
        let (whole, some) = (accepted(&outcomes, 1 << 20), accepted(&outcomes, DEFAULT_LIMIT));
        assert_eq!(errors_of(&whole)[59].message, "long ".repeat(40));
        let errors = errors_of(&some);
        assert!(errors.len() == 60 && errors.iter().all(|error| error.canonical_code == 5));
        assert!(errors[0].message.ends_with('…') && errors[0].message.starts_with("long "), "{}", errors[0].message);
        // Much of the limit is used.
        assert!(metadata_bytes(&some) > DEFAULT_LIMIT * 3 / 4);
    }

    #[test]
    fn one_failure_among_hundreds_has_its_code() {
        for all in [140, 150, 250] {
            let mut outcomes = vec![Ok(()); all];
            outcomes[all - 1] = failed("there is no such entry");
            let errors = errors_of(&accepted(&outcomes, DEFAULT_LIMIT));
            assert_eq!((errors.len(), errors[all - 1].canonical_code), (all, 5));
        }
    }

    #[test]
    fn fewer_details_come_with_the_numbers_of_what_failed() {
        let mut outcomes = vec![Ok(()); 1025];
        for at in [7, 1022, 1023, 1024] {
            outcomes[at] = failed("no");
        }
        let some = accepted(&outcomes, DEFAULT_LIMIT);
        let errors = errors_of(&some);
        assert!(errors.len() > 200 && errors[7].canonical_code == 5, "{}", errors.len());
        assert!(some.message().starts_with("4 of 1025 failed, first number 7: no (failed: 7, 1022 to 1024; "));
        assert_eq!(errors_of(&accepted(&outcomes, 1 << 16)).len(), 1025);
        assert_eq!(errors_of(&batch_status(&outcomes, 100)), []);
    }

    #[test]
    fn clients_get_what_they_accept() {
        let limits = [None, Some(4096), Some(8192), Some(16_384), Some(81_920)].map(metadata_limit);
        assert_eq!(limits, [65_535, 4096, 8192, 8192, 65_536]);
    }
}
