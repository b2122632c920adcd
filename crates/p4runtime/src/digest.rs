//! Digests: records are gathered into lists, and none is sent twice before its list is acknowledged or too old.

use control::plane::DigestConfig;
use hlir::DigestId;
use num_bigint::BigUint;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

pub type Record = Vec<BigUint>;

/// Records of a list at most, if the controller leaves that open.
const LARGEST_LIST: usize = 1024;
/// Records that wait for acknowledgements at most. Beyond, the switch forgets that it has sent them.
const MOST_UNACKNOWLEDGED: usize = 1 << 20;

/// A list that is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    pub digest: DigestId,
    pub number: u64,
    pub records: Vec<Record>,
}

#[derive(Default)]
struct Buffer {
    records: Vec<Record>,
    since: Option<Instant>,
}

#[derive(Default)]
pub struct Digests {
    buffers: HashMap<DigestId, Buffer>,
    unacknowledged: HashMap<(DigestId, u64), (Instant, Vec<Record>)>,
    /// Records of the buffers and of the lists without acknowledgement.
    known: HashSet<(DigestId, Record)>,
    last_list: u64,
}

pub type Configs = HashMap<DigestId, DigestConfig>;

impl Digests {
    /// Takes a record. Gives the list that it completes.
    pub fn push(&mut self, digest: DigestId, record: Record, config: &DigestConfig, now: Instant) -> Option<List> {
        if !self.known.insert((digest, record.clone())) {
            return None;
        }
        let buffer = self.buffers.entry(digest).or_default();
        buffer.records.push(record);
        buffer.since.get_or_insert(now);
        let largest = if config.largest_list == 0 { LARGEST_LIST } else { config.largest_list as usize };
        let complete = config.timeout_ns == 0 || buffer.records.len() >= largest;
        complete.then(|| self.list(digest, config, now)).flatten()
    }

    fn list(&mut self, digest: DigestId, config: &DigestConfig, now: Instant) -> Option<List> {
        let buffer = self.buffers.remove(&digest)?;
        self.last_list += 1;
        if config.acknowledge_ns == 0 {
            self.forget(digest, &buffer.records);
        } else {
            if self.known.len() > MOST_UNACKNOWLEDGED {
                self.unacknowledged.clear();
                self.known.clear();
            }
            self.unacknowledged.insert((digest, self.last_list), (now, buffer.records.clone()));
        }
        Some(List { digest, number: self.last_list, records: buffer.records })
    }

    fn forget(&mut self, digest: DigestId, records: &[Record]) {
        for record in records {
            self.known.remove(&(digest, record.clone()));
        }
    }

    /// The controller has a list.
    pub fn acknowledge(&mut self, digest: DigestId, number: u64) {
        if let Some((_, records)) = self.unacknowledged.remove(&(digest, number)) {
            self.forget(digest, &records);
        }
    }

    /// The controller has these records of a list, by their places in it.
    pub fn acknowledge_some(&mut self, digest: DigestId, number: u64, places: &[usize]) {
        if let Some((_, records)) = self.unacknowledged.get(&(digest, number)) {
            let records: Vec<Record> = places.iter().filter_map(|at| records.get(*at).cloned()).collect();
            self.forget(digest, &records);
        }
    }

    /// The lists whose time has come. Also forgets lists that were not acknowledged for too long.
    pub fn due(&mut self, configs: &Configs, now: Instant) -> Vec<List> {
        let config = |digest: DigestId| configs.get(&digest).copied().unwrap_or_default();
        let old = self.unacknowledged.iter().filter(|((digest, _), (sent, _))| {
            now.duration_since(*sent) >= Duration::from_nanos(config(*digest).acknowledge_ns)
        });
        let old: Vec<(DigestId, u64)> = old.map(|(name, _)| *name).collect();
        old.into_iter().for_each(|(digest, number)| self.acknowledge(digest, number));
        let waiting = self.buffers.iter().filter(|(digest, buffer)| {
            let timeout = Duration::from_nanos(config(**digest).timeout_ns);
            buffer.since.is_some_and(|since| now.duration_since(since) >= timeout)
        });
        let waiting: Vec<DigestId> = waiting.map(|(digest, _)| *digest).collect();
        waiting.into_iter().filter_map(|digest| self.list(digest, &config(digest), now)).collect()
    }

    /// How long nothing is due.
    pub fn idle_for(&self, configs: &Configs, now: Instant) -> Option<Duration> {
        let deadline = |digest: &DigestId, since: Instant| {
            let timeout = configs.get(digest).map_or(0, |config| config.timeout_ns);
            (since + Duration::from_nanos(timeout)).saturating_duration_since(now)
        };
        let times = self.buffers.iter().filter_map(|(digest, buffer)| Some(deadline(digest, buffer.since?)));
        times.min()
    }

    /// Forgets everything: another pipeline runs.
    pub fn clear(&mut self) {
        *self = Digests { last_list: self.last_list, ..Digests::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest() -> DigestId {
        la_arena::Idx::from_raw(la_arena::RawIdx::from_u32(0))
    }

    fn record(value: u32) -> Record {
        vec![BigUint::from(value)]
    }

    const CONFIG: DigestConfig = DigestConfig { timeout_ns: 1_000_000, largest_list: 2, acknowledge_ns: 5_000_000 };

    fn configs() -> Configs {
        HashMap::from([(digest(), CONFIG)])
    }

    #[test]
    fn a_list_is_sent_when_it_is_full() {
        let (mut digests, now) = (Digests::default(), Instant::now());
        assert_eq!(digests.push(digest(), record(1), &CONFIG, now), None);
        assert_eq!(digests.push(digest(), record(1), &CONFIG, now), None, "it is in the list already");
        let list = digests.push(digest(), record(2), &CONFIG, now).expect("it is full");
        assert_eq!(list.records, [record(1), record(2)]);
    }

    #[test]
    fn a_list_is_sent_when_its_time_has_come() {
        let (mut digests, now) = (Digests::default(), Instant::now());
        digests.push(digest(), record(1), &CONFIG, now);
        assert_eq!(digests.idle_for(&configs(), now), Some(Duration::from_millis(1)));
        assert!(digests.due(&configs(), now).is_empty());
        assert_eq!(digests.due(&configs(), now + Duration::from_millis(1))[0].records, [record(1)]);
        assert_eq!(digests.idle_for(&configs(), now), None);
    }

    #[test]
    fn a_record_comes_again_once_its_list_is_acknowledged_or_old() {
        let (mut digests, now) = (Digests::default(), Instant::now());
        digests.push(digest(), record(1), &CONFIG, now);
        let list = digests.push(digest(), record(2), &CONFIG, now).expect("it is full");
        digests.push(digest(), record(1), &CONFIG, now);
        assert!(digests.due(&configs(), now + Duration::from_millis(2)).is_empty());
        digests.acknowledge(digest(), list.number);
        digests.push(digest(), record(1), &CONFIG, now);
        let sent = now + Duration::from_millis(2);
        assert_eq!(digests.due(&configs(), sent).len(), 1);
        assert!(digests.due(&configs(), sent + Duration::from_millis(5)).is_empty());
        assert_eq!(digests.push(digest(), record(1), &CONFIG, now), None);
        assert_eq!(digests.due(&configs(), sent + Duration::from_millis(9)).len(), 1);
    }

    #[test]
    fn without_acknowledgements_nothing_is_kept() {
        let config = DigestConfig::default();
        let (mut digests, now) = (Digests::default(), Instant::now());
        assert!(digests.push(digest(), record(1), &config, now).is_some());
        assert!(digests.push(digest(), record(1), &config, now).is_some());
        assert!(digests.known.is_empty() && digests.unacknowledged.is_empty());
    }
}
