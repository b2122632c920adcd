//! The choice at the end of a parser state.

use crate::run::{Outcome, Result, Run};
use crate::value::Value;
use hlir::value::Value as Number;
use hlir::{Binary, KeySet, Select};

impl Run<'_> {
    /// Where packets go on, and which; the first case that matches wins.
    pub fn select(&mut self, select: &Select) -> Result<Vec<Outcome>> {
        let keys = select.keys.iter().map(|key| self.value(key)).collect::<Result<Vec<Value>>>()?;
        let mut open = self.values.bool(true);
        let mut outcomes = Vec::new();
        for case in &select.cases {
            let mut hit = open;
            for (key, set) in keys.iter().zip(&case.sets) {
                let matches = self.matches(*key, set)?;
                hit = self.values.and(hit, matches);
            }
            outcomes.push(Outcome::new(hit, Some(case.to)));
            open = self.values.and_not(open, hit);
        }
        outcomes.push(Outcome::new(open, select.otherwise));
        Ok(outcomes)
    }

    fn matches(&mut self, key: Value, set: &KeySet) -> Result<Value> {
        let width = self.values.width(key);
        match set {
            KeySet::Any => Ok(self.values.bool(true)),
            KeySet::Value(value) => {
                let value = self.values.constant(Number::big(value, width));
                Ok(self.values.equal(key, value))
            }
            KeySet::Mask { value, mask } => {
                let value = self.values.constant(Number::big(&(value & mask), width));
                let mask = self.values.constant(Number::big(mask, width));
                let key = self.values.binary(Binary::And, key, mask);
                Ok(self.values.equal(key, value))
            }
            KeySet::Range { low, high } => {
                let low = self.values.constant(Number::big(low, width));
                let high = self.values.constant(Number::big(high, width));
                let from = self.values.binary(Binary::LessEqual, low, key);
                let to = self.values.binary(Binary::LessEqual, key, high);
                Ok(self.values.and(from, to))
            }
            KeySet::Set(_) => Err("asks for the members of a value set"),
        }
    }
}
