//! Idle timers: an entry that no packet has hit for its time is deleted, or the control plane is notified.
//!
//! The clock is an input, so entries age where it is set, between bursts, and on every engine at once. The time of an entry that the data plane inserts is
//! that of a profile; the control plane gives the others theirs, or none.

use crate::pattern::Pattern;
use crate::state::{State, index_of};
use crate::tables::TableState;
use control::Refusal;
use control::plane::EntryKey;
use hlir::{IdleTimeout, Match, MatchKind, TableId};

/// How long an entry may go without a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    Profile(u8),
    Nanoseconds(u64),
}

/// An entry's timer, and when it was restarted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Idle {
    pub timer: Option<Timer>,
    pub restarted_ns: u64,
    /// When the control plane was last notified that the time has passed.
    pub(crate) notified_ns: Option<u64>,
}

impl State<'_> {
    /// Lets the entries of all tables age. Gives those that the controller is notified of, and those that were deleted.
    pub fn age(&mut self) -> (Vec<EntryKey>, Vec<EntryKey>) {
        let now = self.clock_ns;
        let ids: Vec<_> = self.program.tables.iter().map(|(id, _)| id).collect();
        let (mut reported, mut deleted) = (Vec::new(), Vec::new());
        for id in ids {
            self.note_joint_hits(id);
            let aged = self.table_mut(id).age(now).into_iter();
            let keys = aged.map(|(matches, priority)| EntryKey { table: id, matches, priority });
            match self.program.tables[id].idle_timeout {
                Some(IdleTimeout::Delete) => deleted.extend(keys),
                Some(IdleTimeout::Notify) | None => reported.extend(keys),
            }
        }
        (reported, deleted)
    }

    /// Restarts the timers of entries that a joint table was hit for.
    fn note_joint_hits(&mut self, table: TableId) {
        let Some(timers) = self.program.joint_timers(table) else { return };
        for id in self.table(table).entry_ids() {
            let hit_ns = self.register(timers, index_of(id)).map_or(0, |time| time.to_u64());
            let idle = &mut self.table_mut(table).entry_mut(id).idle;
            idle.restarted_ns = idle.restarted_ns.max(hit_ns);
        }
    }
}

impl TableState<'_> {
    /// The entries whose time has passed since their last hit and their last notice. Those of tables that delete them are gone.
    fn age(&mut self, now_ns: u64) -> Vec<(Vec<Match>, u32)> {
        let Some(kind) = self.table.idle_timeout else { return Vec::new() };
        let mut reported = Vec::new();
        for id in self.entry_ids() {
            let Idle { timer, restarted_ns, notified_ns } = self.entry(id).idle;
            let time = match timer {
                None => continue,
                Some(Timer::Nanoseconds(time)) => time,
                Some(Timer::Profile(profile)) => self.expiry_ns(profile),
            };
            if now_ns.saturating_sub(restarted_ns) < time {
                continue;
            }
            // A notice restarts the timer, too (P4Runtime 1.5, 16.4); a time of 0 passes once for each hit.
            let notified_ns = notified_ns.filter(|notified| *notified >= restarted_ns);
            let is_due = notified_ns.is_none_or(|notified| time > 0 && now_ns.saturating_sub(notified) >= time);
            match kind {
                IdleTimeout::Delete => {
                    reported.push(self.key_of(id));
                    self.remove(id);
                }
                IdleTimeout::Notify if !is_due => {}
                IdleTimeout::Notify => {
                    self.entry_mut(id).idle.notified_ns = Some(now_ns);
                    reported.push(self.key_of(id));
                }
            }
        }
        reported
    }

    /// Gives an entry a time, or none, and restarts it.
    pub fn set_timer(&mut self, key: &EntryKey, time_ns: u64, now_ns: u64) -> Result<(), Refusal> {
        let id = self.identify(key)?;
        let timer = (time_ns > 0).then_some(Timer::Nanoseconds(time_ns));
        self.entry_mut(id).idle = Idle { timer, restarted_ns: now_ns, notified_ns: None };
        Ok(())
    }

    /// A hit restarts the timer, but in tables that their misses fill.
    pub fn note_hit(&mut self, id: usize, now_ns: u64) {
        if !self.table.add_on_miss {
            self.entry_mut(id).idle.restarted_ns = now_ns;
        }
    }

    pub fn restart(&mut self, id: usize, profile: Option<u8>, now_ns: u64) {
        let idle = &mut self.entry_mut(id).idle;
        idle.restarted_ns = now_ns;
        idle.timer = profile.map(Timer::Profile).or(idle.timer);
    }

    /// What identifies an entry, as the control plane writes it.
    pub fn key_of(&self, id: usize) -> (Vec<Match>, u32) {
        let entry = self.entry(id);
        let kinds = self.table.keys.iter().map(|key| key.kind);
        let matches = entry.patterns.iter().zip(kinds).map(|(pattern, kind)| match_of(pattern, kind));
        (matches.collect(), entry.priority)
    }
}

fn match_of(pattern: &Pattern, kind: MatchKind) -> Match {
    match (pattern, kind) {
        (Pattern::Range { low, high }, _) => Match::Range { low: low.to_big(), high: high.to_big() },
        (Pattern::Masked { value, .. }, MatchKind::Exact) => Match::Exact(value.to_big()),
        (Pattern::Masked { value, mask }, MatchKind::Lpm) => {
            Match::Lpm { value: value.to_big(), prefix: mask.to_big().count_ones() as u32 }
        }
        (Pattern::Masked { mask, .. }, _) if mask.to_big().count_ones() == 0 => Match::Any,
        (Pattern::Masked { value, .. }, MatchKind::Optional | MatchKind::Range) => Match::Exact(value.to_big()),
        (Pattern::Masked { value, mask }, MatchKind::Ternary) => {
            Match::Ternary { value: value.to_big(), mask: mask.to_big() }
        }
    }
}
