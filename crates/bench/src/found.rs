//! What one process found of one variant, as it writes it to the process that draws the table.

use super::traffic::Traffic;
use schedule::access::Accesses;

/// A line's cost may move by so much within a case.
pub const DRIFT: f64 = 0.15;

/// What one process found of one variant.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub variant: String,
    pub traffic: Traffic,
    pub burst: u32,
    pub cycles: f64,
    /// Lookups a packet; unknown of programs by hand.
    pub lookups: Option<f64>,
    pub floor: f64,
    pub spread: f64,
    pub predicted: Option<f64>,
    /// Computed before anything was measured, for the machine of the file.
    pub committed: Option<f64>,
    /// To the bytes of a packet on the hot path, where they are counted.
    pub accesses: Option<Accesses>,
    /// The port's floor and what the lines cost that a packet must read.
    pub limit: f64,
    pub drift: f64,
    pub pages: String,
}

impl Found {
    /// As the process writes it.
    pub fn line(&self) -> String {
        let [predicted, lookups, committed] = [self.predicted, self.lookups, self.committed]
            .map(|value| value.map_or("-".to_string(), |value| format!("{value:.3}")));
        let accesses = self.accesses.map_or("-".to_string(), written);
        format!(
            "found\t{}\t{}\t{}\t{:.3}\t{:.3}\t{:.5}\t{predicted}\t{:.3}\t{:.4}\t{}\t{lookups}\t{committed}\t{accesses}",
            self.variant,
            self.traffic,
            self.burst,
            self.cycles,
            self.floor,
            self.spread,
            self.limit,
            self.drift,
            self.pages
        )
    }

    /// `None` for another line.
    pub fn parse(line: &str) -> Option<Found> {
        let mut words = line.strip_prefix("found\t")?.split('\t');
        let mut next = || words.next();
        let found = Found {
            variant: next()?.to_string(),
            traffic: Traffic::named(next()?)?,
            burst: next()?.parse().ok()?,
            cycles: next()?.parse().ok()?,
            floor: next()?.parse().ok()?,
            spread: next()?.parse().ok()?,
            predicted: next()?.parse().ok(),
            limit: next()?.parse().ok()?,
            drift: next()?.parse().ok()?,
            pages: next()?.to_string(),
            lookups: None,
            committed: None,
            accesses: None,
        };
        Some(Found {
            lookups: next()?.parse().ok(),
            committed: next()?.parse().ok(),
            accesses: next().and_then(read),
            ..found
        })
    }
}

/// Reads, stores, and the bytes of both.
pub fn written(accesses: Accesses) -> String {
    let Accesses { reads, stores, bytes_read, bytes_stored } = accesses;
    format!("{reads}/{stores}/{bytes_read}/{bytes_stored}")
}

pub fn read(text: &str) -> Option<Accesses> {
    let numbers: Vec<u32> = text.split('/').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [reads, stores, bytes_read, bytes_stored] = numbers[..] else { return None };
    Some(Accesses { reads, stores, bytes_read, bytes_stored })
}
