//! Some bits of a choice between constants, such as one flag of several that an action sets.

use crate::value::{Operation, Value};
use crate::values::Values;
use hlir::Binary;

impl Values {
    /// Where the bits are the same in both constants, the condition has no part in them.
    pub(crate) fn masked(&mut self, operator: Binary, left: Value, right: Value) -> Option<Value> {
        if operator != Binary::And {
            return None;
        }
        let (value, mask) = if self.known(right).is_some() { (left, right) } else { (right, left) };
        self.known(mask)?;
        let Operation::Choose { condition, then, otherwise } = *self.of(value) else { return None };
        self.known(then).or(self.known(otherwise))?;
        let then = self.binary(Binary::And, then, mask);
        let otherwise = self.binary(Binary::And, otherwise, mask);
        Some(self.choose(condition, then, otherwise))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_that_no_constant_has_is_never_set() {
        let mut values = Values::default();
        let (byte, five, four, zero) =
            (values.packet(0, 8), values.word(5, 32), values.word(4, 32), values.word(0, 32));
        let is_seven = {
            let seven = values.word(7, 8);
            values.equal(byte, seven)
        };
        let flags = values.choose(is_seven, five, zero);
        let [first, second, third] = [1, 2, 4].map(|flag| {
            let flag = values.word(flag, 32);
            let flag = values.binary(Binary::And, flags, flag);
            values.equal(flag, zero)
        });
        let is_other = values.not(is_seven);
        assert_eq!((first, values.holds(second), third), (is_other, Some(true), is_other));
        let flags = values.choose(is_seven, five, four);
        let third = values.binary(Binary::And, four, flags);
        assert_eq!(third, four);
    }
}
