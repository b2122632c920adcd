//! Reads how the lookups that became code are counted.

use super::Reader;
use super::cursor::Read;
use crate::lookup_sums::LookupSum;
use crate::verify::Site;

impl Reader {
    /// `lookups hit TABLE in COUNTER add N … subtract N …`, behind tables and counters.
    pub(super) fn lookup_sum(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        let is_hit = match () {
            () if self.eat_word("hit") => true,
            () if self.eat_word("miss") => false,
            () => return Err(self.fail("`hit` or `miss`")),
        };
        let table = self.reference("a table", |names| &names.tables)?;
        self.expect_word("in")?;
        let counter = self.reference("a counter", |names| &names.counters)?;
        let mut read = |word: &str| {
            if self.eat_word(word) { self.indices_of_sum() } else { Ok(Vec::new()) }
        };
        let (added, subtracted) = (read("add")?, read("subtract")?);
        self.places.set(Site::LookupSum(self.program.lookup_sums.len() as u32), self.since(start));
        self.program.lookup_sums.push(LookupSum { table, is_hit, counter, added, subtracted });
        Ok(())
    }

    fn indices_of_sum(&mut self) -> Read<Vec<u32>> {
        let mut indices = Vec::new();
        loop {
            indices.push(self.number("an index of the counter")?);
            if !self.eat(",") {
                return Ok(indices);
            }
        }
    }
}
