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
    /// For each entry whose time has passed, by counter index, when the control plane was last notified.
    notified_ns: HashMap<u32, u64>,
}

impl Timers {
    pub fn new() -> Timers {
        Timers { times_ns: vec![u64::MAX; PROFILES + 1], numbers: HashMap::new(), notified_ns: HashMap::new() }
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

    /// Whether the time has passed since the last hit.
    pub fn has_passed(&self, timer: u32, last_hit_ns: u64, now_ns: u64) -> bool {
        let time = self.times_ns.get(timer as usize).filter(|_| timer != 0);
        time.is_some_and(|time| now_ns.saturating_sub(last_hit_ns) >= *time)
    }

    /// Whether the control plane is notified now of an entry whose time has passed since its last hit: a notice restarts the timer, so the next one comes a
    /// whole time later.
    pub fn notify(&mut self, counter_index: u32, timer: u32, last_hit_ns: u64, now_ns: u64) -> bool {
        let notified_ns = self.notified_ns.get(&counter_index).copied().filter(|notified| *notified >= last_hit_ns);
        let time_ns = self.times_ns.get(timer as usize).copied().unwrap_or(u64::MAX);
        // A time of 0 passes once for each hit.
        let is_due = notified_ns.is_none_or(|notified| time_ns > 0 && now_ns.saturating_sub(notified) >= time_ns);
        if is_due {
            self.notified_ns.insert(counter_index, now_ns);
        }
        is_due
    }

    pub fn forget(&mut self, counter_index: u32) {
        self.notified_ns.remove(&counter_index);
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
        assert_eq!([80, 90, 91].map(|hit| timers.has_passed(ten, hit, 100)), [true, true, false]);
        assert!(timers.has_passed(profile_timer(3), 0, 500) && !timers.has_passed(profile_timer(3), 1, 500));
        assert!(!timers.has_passed(profile_timer(4), 0, u64::MAX - 1));
        assert!(!timers.has_passed(0, 0, u64::MAX - 1) && !timers.has_passed(12345, 0, 7));
    }

    #[test]
    fn a_notice_comes_a_whole_time_after_the_one_before() {
        let mut timers = Timers::new();
        let ten = timers.number(10);
        let mut notify = |hit, now| timers.notify(1, ten, hit, now);
        // The first one is late by 4; the second is not earlier for that.
        assert_eq!([14, 20, 23, 24, 34].map(|now| notify(0, now)), [true, false, false, true, true]);
        // A hit restarts the timer, too.
        assert!(notify(35, 45) && !notify(35, 54) && notify(35, 55));
        timers.forget(1);
        assert!(timers.notify(1, ten, 35, 56));
    }

    #[test]
    fn a_time_of_0_passes_once_for_each_hit() {
        let mut timers = Timers::new();
        timers.set_profile(1, 0);
        let timer = profile_timer(1);
        assert!(timers.has_passed(timer, 7, 7));
        assert!(timers.notify(1, timer, 7, 8) && !timers.notify(1, timer, 7, 9) && timers.notify(1, timer, 10, 10));
    }
}
