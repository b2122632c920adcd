//! Which facts about a table have held for long enough that code is worth making for them.

use hlir::facts::Fact;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// How long a fact must have held before code is made for it.
pub const HOLD: Duration = Duration::from_millis(500);
/// A kind of fact that a table has lost so often within a minute is not used for that time.
const MOST_LOSSES: usize = 3;
pub const MINUTE: Duration = Duration::from_secs(60);

/// What a fact is about: others of its kind take its place when entries change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Empty,
    Default,
    Entries,
    Leading,
    Actions,
    Argument(u32, u32),
    Any(u32),
    Key(u32),
    Mask(u32),
    Distinct,
    Unmetered,
}

impl Kind {
    fn of(fact: &Fact) -> Kind {
        match fact {
            Fact::Empty => Kind::Empty,
            Fact::Default(_) => Kind::Default,
            Fact::Entries(_) => Kind::Entries,
            Fact::Leading(_) => Kind::Leading,
            Fact::Actions(_) => Kind::Actions,
            Fact::Argument { action, parameter, .. } => Kind::Argument(*action, *parameter),
            Fact::Any(key) => Kind::Any(*key),
            Fact::Key { key, .. } => Kind::Key(*key),
            Fact::Mask { key, .. } => Kind::Mask(*key),
            Fact::Distinct => Kind::Distinct,
            Fact::Unmetered => Kind::Unmetered,
        }
    }
}

/// A table's facts, since when each holds, and when facts that had held for long enough were lost.
#[derive(Default)]
pub struct HeldFacts {
    facts: Vec<(Fact, Duration)>,
    losses: BTreeMap<Kind, VecDeque<Duration>>,
}

impl HeldFacts {
    /// The facts that hold now.
    pub fn observe(&mut self, now_hold: Vec<Fact>, now: Duration) {
        let before = std::mem::take(&mut self.facts);
        for (fact, since) in &before {
            if now >= *since + HOLD && !now_hold.contains(fact) {
                self.lose(fact, now);
            }
        }
        let since = |fact: &Fact| before.iter().find(|(old, _)| old == fact).map_or(now, |(_, since)| *since);
        self.facts = now_hold.into_iter().map(|fact| (fact.clone(), since(&fact))).collect();
    }

    /// A write has broken a fact that code was made for. It is counted once, whether it holds again by now or not.
    pub fn break_by_write(&mut self, broken: &Fact, now: Duration) {
        self.lose(broken, now);
        self.facts.retain(|(fact, _)| fact != broken);
    }

    fn lose(&mut self, fact: &Fact, now: Duration) {
        let losses = self.losses.entry(Kind::of(fact)).or_default();
        losses.retain(|at| now < *at + MINUTE);
        losses.push_back(now);
    }

    /// Whether a fact of this kind may be used.
    pub fn is_steady(&self, fact: &Fact, now: Duration) -> bool {
        let losses = self.losses.get(&Kind::of(fact));
        losses.is_none_or(|losses| losses.iter().filter(|at| now < **at + MINUTE).count() < MOST_LOSSES)
    }

    /// Facts that have held for long enough, and are not lost often.
    pub fn wanted(&self, now: Duration) -> impl Iterator<Item = Fact> {
        let is_wanted = move |(fact, since): &&(Fact, Duration)| now >= *since + HOLD && self.is_steady(fact, now);
        self.facts.iter().filter(is_wanted).map(|(fact, _)| fact.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_fact_is_wanted_when_it_has_held_and_its_kind_is_not_lost_often() {
        let (mut held, any) = (HeldFacts::default(), Fact::Any(1));
        let wanted = |held: &HeldFacts, now: Duration| held.wanted(now).collect::<Vec<Fact>>();
        held.observe(vec![Fact::Empty, any.clone()], SECOND);
        assert_eq!(wanted(&held, SECOND), []);
        assert_eq!(wanted(&held, SECOND + HOLD), [Fact::Empty, any.clone()]);
        // It flips each second; the other goes on.
        for second in 1..=4u32 {
            let is_empty = second % 2 == 0;
            let facts = if is_empty { vec![Fact::Empty, any.clone()] } else { vec![any.clone()] };
            held.observe(facts, SECOND * (1 + second));
        }
        assert_eq!(wanted(&held, SECOND * 6), [Fact::Empty, any.clone()], "lost twice");
        held.observe(vec![any.clone()], SECOND * 7);
        held.observe(vec![Fact::Empty, any.clone()], SECOND * 8);
        assert_eq!(wanted(&held, SECOND * 10), std::slice::from_ref(&any));
        assert_eq!(wanted(&held, SECOND * 63), [Fact::Empty, any], "the first loss is older than a minute");
    }

    #[test]
    fn what_held_for_a_moment_is_no_loss() {
        let mut held = HeldFacts::default();
        for step in 0..20u32 {
            let facts = if step % 2 == 0 { vec![Fact::Empty] } else { Vec::new() };
            held.observe(facts, HOLD * step / 2);
        }
        assert!(held.losses.is_empty());
    }
}
