//! Idle timers: how long an entry may go without a hit, and which entries' time has passed.
//!
//! An entry's record has a number for its time, and the time of its last hit; what the numbers mean is kept here. Entries are looked through a
//! few at a time, so that packets which insert into the same table do not wait long.

use std::collections::HashMap;

/// Profiles that the data plane may name.
const PROFILES: usize = 256;

/// Entries looked at while the table is locked.
pub(crate) const SLICE: u32 = 1024;

/// The number of a profile's timer.
pub fn profile_timer(profile: u8) -> u32 {
    u32::from(profile) + 1
}

/// What the numbers of timers mean: none, a profile, or a time that an entry was given.
pub(crate) struct Timers {
    times_ns: Vec<u64>,
    numbers: HashMap<u64, u32>,
    /// For each entry, by cell, what the control plane was last told: since which hit its time has passed, and how often.
    told: HashMap<u32, (u64, u64)>,
}

impl Timers {
    pub fn new() -> Timers {
        Timers { times_ns: vec![u64::MAX; PROFILES + 1], numbers: HashMap::new(), told: HashMap::new() }
    }

    pub fn set_profile(&mut self, profile: u8, time_ns: u64) {
        self.times_ns[profile_timer(profile) as usize] = time_ns;
    }

    /// The number for a time; 0 is none.
    pub fn number(&mut self, time_ns: u64) -> u32 {
        if time_ns == 0 {
            return 0;
        }
        *self.numbers.entry(time_ns).or_insert_with(|| {
            self.times_ns.push(time_ns);
            self.times_ns.len() as u32 - 1
        })
    }

    /// How often the time has passed since the last hit.
    pub fn times_passed(&self, timer: u32, last_hit_ns: u64, now_ns: u64) -> u64 {
        match self.times_ns.get(timer as usize) {
            None => 0,
            Some(0) => u64::from(timer != 0),
            Some(time) if timer != 0 => now_ns.saturating_sub(last_hit_ns) / time,
            Some(_) => 0,
        }
    }

    /// Whether the control plane still has to be told that the entry's time has passed so often since a hit: once for each time.
    pub fn tell(&mut self, cell: u32, last_hit_ns: u64, times: u64) -> bool {
        self.told.insert(cell, (last_hit_ns, times)) != Some((last_hit_ns, times))
    }

    pub fn forget(&mut self, cell: u32) {
        self.told.remove(&cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_numbers_and_profiles_keep_theirs() {
        let mut timers = Timers::new();
        timers.set_profile(3, 500);
        let ten = timers.number(10);
        assert_eq!((timers.number(10), timers.number(0)), (ten, 0));
        assert_eq!([80, 81, 90, 91].map(|hit| timers.times_passed(ten, hit, 100)), [2, 1, 1, 0]);
        assert_eq!(timers.times_passed(profile_timer(3), 0, 500), 1);
        assert_eq!(timers.times_passed(profile_timer(4), 0, u64::MAX - 1), 0);
        assert_eq!((timers.times_passed(0, 0, u64::MAX - 1), timers.times_passed(12345, 0, 7)), (0, 0));
    }

    #[test]
    fn each_time_without_a_hit_is_told_of_once() {
        let mut timers = Timers::new();
        assert!(timers.tell(1, 5, 1) && !timers.tell(1, 5, 1) && timers.tell(1, 5, 2) && timers.tell(1, 6, 1));
        timers.forget(1);
        assert!(timers.tell(1, 6, 1));
    }
}
