//! Bytes of the packet that are accessed together: more than a word of 64 bits.

use super::Scalar;
use crate::c::{Expr, Stmt};
use crate::path::name;
use hlir::Binary;
use schedule::{Operation, Value};

impl Scalar<'_> {
    /// Bytes of the packet that are read together.
    pub(super) fn window(&mut self, value: Value) -> Expr {
        let Operation::Packet { bit } = *self.values().of(value) else { unreachable!("a window is of the packet") };
        let (first, bytes) = (bit / 8, self.values().width(value) / 8);
        let title = self.titles.unique(&format!("bytes_{first}"));
        let from = if first == 0 { name("data") } else { Expr::binary("+", name("data"), Expr::word(first)) };
        self.code.push(Stmt::Declare { of: "uint8_t".to_string(), name: format!("{title}[{bytes}]"), value: None });
        self.code.push(Stmt::call("memcpy", [name(&title), from, Expr::word(bytes)]));
        self.names.insert(value, name(&title));
        name(title)
    }

    /// Words of 64 bits and what is left of a wide value that is stored, most significant first.
    pub fn words(&self, value: Value) -> Vec<Value> {
        let mut words = Vec::new();
        let mut rest = value;
        while let Operation::Binary(Binary::Concat, left, right) = self.values().of(rest)
            && self.values().width(rest) > schedule::WORD
        {
            words.push(*right);
            rest = *left;
        }
        words.push(rest);
        words.reverse();
        words
    }
}
