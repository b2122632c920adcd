//! Idle timeouts in STF: what is written, what it means in a program, and whether what was expected came.

use super::bind::{Act, Binder, Control};
use super::command::{Aging, Key, Kind, Word};
use super::compare::IdleEntries;
use super::parse::Line;
use super::run::Runner;
use super::{Mistake, Place, matches};
use control::plane::EntryKey;
use control::store::bytes::Bytes;
use control::store::packed;
use hlir::Program;

impl Line {
    pub fn idle_timeout(&mut self) -> Result<Aging, Mistake> {
        let table = self.name("a table")?;
        let priority = if self.is_number() { Some(self.number()?) } else { None };
        let keys = self.keys("+")?;
        Ok(Aging::IdleTimeout { table, priority, keys, nanoseconds: self.duration()? })
    }

    pub fn expiry(&mut self) -> Result<Aging, Mistake> {
        Ok(Aging::Expiry { table: self.name("a table")?, profile: self.number()?, nanoseconds: self.duration()? })
    }

    /// The arguments of `expect_idle`.
    pub fn expect_idle(&mut self) -> Result<Kind, Mistake> {
        let table = self.name("a table")?;
        let priority = if self.is_number() { Some(self.number()?) } else { None };
        Ok(Kind::ExpectIdle { table, priority, keys: self.keys("")? })
    }

    /// `+10ms`
    pub fn duration(&mut self) -> Result<u64, Mistake> {
        self.mark("+")?;
        let word = self.number()?;
        let digits = word.text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &word.text[digits.len()..] {
            "ns" => Some(1),
            "us" => Some(1_000),
            "ms" => Some(1_000_000),
            "s" => Some(1_000_000_000),
            _ => None,
        };
        let number: Option<u64> = digits.parse().ok();
        let nanoseconds = number.zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
        nanoseconds.ok_or_else(|| Mistake::new(word.place, "expected a duration such as `10ms`, in ns, us, ms or s"))
    }
}

impl Binder<'_> {
    pub fn aging(&mut self, aging: &Aging) -> Result<Control, Mistake> {
        match aging {
            Aging::IdleTimeout { table, priority, keys, nanoseconds } => {
                let Some(id) = self.table(table)? else { return Ok(Control::Nothing) };
                Ok(Control::IdleTimeout(self.entry_key(id, priority.as_ref(), keys, table)?, *nanoseconds))
            }
            Aging::Expiry { table, profile, nanoseconds } => {
                let profile_number = matches::small(profile, "a profile")?;
                let profile = u8::try_from(profile_number)
                    .map_err(|_| Mistake::new(profile.place, "profiles are numbered up to 255"))?;
                Ok(match self.table(table)? {
                    Some(table) => Control::Expiry(table, profile, *nanoseconds),
                    None => Control::Nothing,
                })
            }
        }
    }

    pub fn expect_idle(&mut self, table: &Word, priority: Option<&Word>, keys: &[Key]) -> Result<Act, Mistake> {
        let Some(id) = self.table(table)? else { return Ok(Act::Control(Control::Nothing)) };
        Ok(Act::ExpectIdle(self.entry_key(id, priority, keys, table)?))
    }
}

impl Runner<'_> {
    /// Entries of a table that any command mentions must become idle as often as is expected, in any order.
    pub fn compare_idle(&mut self) {
        let IdleEntries { mut found, expected } = std::mem::take(&mut self.idle);
        found.retain(|key| expected.iter().any(|(_, other)| other.table == key.table));
        for (place, key) in expected {
            let wanted = normal(self.program, &key);
            match found.iter().position(|other| normal(self.program, other) == wanted) {
                Some(index) => drop(found.remove(index)),
                None => self.report.failures.push(Mistake::new(place, "no such entry became idle")),
            }
        }
        for key in found {
            let table = &self.program.tables[key.table].name;
            let message = format!("unexpected idle entry of table `{table}`: {:?}", key.matches);
            self.report.failures.push(Mistake::new(Place { line: 0, column: 0 }, message));
        }
    }
}

/// A key in a form that equal keys share, however they were written.
pub fn normal(program: &Program, key: &EntryKey) -> (hlir::TableId, Bytes) {
    let priority = if program.tables[key.table].has_priorities() { key.priority } else { 0 };
    (key.table, packed::key(&key.matches, priority, program.key_kinds(key.table).into_iter()))
}
