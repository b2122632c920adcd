//! Reads the recipes of joint tables.

use super::Reader;
use super::cursor::Read;
use crate::join::{FirstAction, Join, Objects, SecondKey};
use crate::text::names::get;
use crate::verify::Site;

impl Reader {
    /// `join TABLE of FIRST, SECOND limit N { … }`, behind its tables.
    pub(super) fn join_item(&mut self) -> Read<()> {
        self.no_notes()?;
        let start = self.at;
        self.advance();
        let table = self.reference("a table", |names| &names.tables)?;
        self.expect_word("of")?;
        let first = self.reference("a table", |names| &names.tables)?;
        self.expect(",")?;
        let second = self.reference("a table", |names| &names.tables)?;
        self.expect_word("limit")?;
        let limit = self.number("a number of entries")?;
        self.places.set(Site::Join(self.program.joins.len() as u32), self.since(start));
        self.expect("{")?;
        let (keys, firsts, seconds, missed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let objects = Objects::default();
        let mut join = Join { table, first, second, limit, keys, firsts, seconds, missed, objects, place: None };
        self.members(|reader| reader.join_member(&mut join))?;
        self.program.joins.push(join);
        Ok(())
    }

    fn join_member(&mut self, join: &mut Join) -> Read<()> {
        if self.eat_word("key") {
            let determined = self.eat_word("determined");
            join.keys.push(if determined {
                SecondKey::Determined
            } else {
                SecondKey::Joint(self.number("the number of a key, or `determined`")?)
            });
        } else if self.eat_word("first") {
            let action = self.action(join.first)?;
            let mut determined = Vec::new();
            if self.eat_word("determines") {
                let table = get(&self.program.tables, join.first);
                let declared = table.and_then(|table| table.actions.get(action as usize));
                self.parameters = declared.map(|action| action.parameters.clone()).unwrap_or_default();
                loop {
                    determined.push(self.expression(None)?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.parameters.clear();
            }
            join.firsts.push(FirstAction { action, determined });
        } else if self.eat_word("second") {
            join.seconds.push(self.action(join.second)?);
        } else if self.eat_word("missed") {
            join.missed.push(self.action(join.second)?);
        } else if self.eat_word("misses") {
            join.objects.misses = Some(self.reference("a counter", |names| &names.counters)?);
        } else if self.eat_word("timer") {
            let side = usize::from(!self.eat_word("first"));
            if side == 1 {
                self.expect_word("second")?;
            }
            join.objects.timers[side] = Some(self.reference("a register", |names| &names.registers)?);
        } else if self.eat_word("place") {
            join.place = Some(self.variable_name()?);
        } else {
            return Err(self.fail("`key`, `first`, `second`, `missed`, `misses`, `timer` or `place`"));
        }
        Ok(())
    }
}
