//! Vector code of the first stage: straight-line operations on 32-bit numbers, one packet per SIMD lane.
//!
//! The result may be conservative. Where [`Lanes::exits`] is set, a packet *may* exit the path; it then runs from its
//! beginning, which is right for any packet. Where it is not set, the packet stays, with the keys in [`Lanes::keys`].

mod bytes;
mod lanes;
mod steps;

pub use lanes::{Lanes, LanesExits};

use hlir::RegisterId;

/// A step, by index. Operands precede their use.
pub type Number = u32;

/// A vector of 32-bit values. Booleans are masks: all ones or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Four bytes of the packet from this one on, most significant first.
    Word(u32),
    /// Length of the packet in bytes.
    Length,
    /// The ingress port.
    Port,
    Constant(u32),
    /// An element of a register that no packet writes, of at most 32 bits; 0 beyond its end.
    Register {
        register: RegisterId,
        of: Number,
    },
    /// What the table at this position of the path yields.
    TableRead {
        place: usize,
        what: TableRead,
        of: Number,
    },
    Operate(Operator, Number, Number),
    /// Blend: `then` where the mask is set, else `otherwise`.
    Choose {
        mask: Number,
        then: Number,
        otherwise: Number,
    },
}

/// A gather from a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableRead {
    /// The record number found for a key of at most 32 bits; 0 if there is none.
    Found,
    /// The record whose action runs: the found one, or the default action's. The control plane may replace
    /// it, so it is read once.
    Record,
    /// The number of a record's action.
    Action,
    /// 32 bits of a parameter of at most 64, by index, least significant first; arbitrary bits if the record has
    /// another action.
    Parameter { action: usize, parameter: usize, part: u32 },
}

/// Operators on unsigned numbers with wrap-around. Shifts are by constants below 32; comparisons yield masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

pub const WORD_BYTES: u32 = 4;
/// Bytes of a row, one load per packet: four words.
pub const ROW_BYTES: u32 = 4 * WORD_BYTES;

/// The row of a word, by index, and the word's index in it.
pub fn row_of(rows: &[u32], word: u32) -> (usize, u32) {
    let holds = |row: &u32| (*row..*row + ROW_BYTES).contains(&word) && (word - row).is_multiple_of(4);
    let row = rows.iter().position(holds).expect("every word lies in a row");
    (row, (word - rows[row]) / 4)
}

impl Operator {
    /// Whether the operator yields a mask.
    pub fn compares(self) -> bool {
        matches!(self, Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessEqual)
    }
}

impl Step {
    /// The operands of a step.
    pub fn operands(&self) -> Vec<Number> {
        match self {
            Step::Word(_) | Step::Length | Step::Port | Step::Constant(_) => Vec::new(),
            Step::TableRead { of, .. } | Step::Register { of, .. } => vec![*of],
            Step::Operate(_, left, right) => vec![*left, *right],
            Step::Choose { mask, then, otherwise } => vec![*mask, *then, *otherwise],
        }
    }
}
