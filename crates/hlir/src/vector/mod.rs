//! The first stage of a path in lanes: what a packet goes through up to the first cut, as straight-line operations on 32-bit numbers, so that a vector
//! has a packet in each of its lanes.
//!
//! The result decides for most packets, not for all: where [`Lanes::exits`] is set, a packet *may* leave the path, and is to be run from its beginning,
//! which is right for every packet. Where it is not set, the packet stays, and its keys are those of [`Lanes::keys`]. What has no such form is an
//! [`Obstacle`], and nothing is wrong with the program: the stage is run packet by packet then.

mod bytes;
mod expressions;
mod lookup;
mod rewrites;
mod run;
mod side_exits;
mod steps;

pub use rewrites::{Rewrites, Store};
pub use side_exits::{BulkDrop, CounterIndex, SideExit, SideExits};

use crate::hot_path::Stage;
use crate::{NodeId, Program};

/// A step, by its number: operands stand before their use.
pub type Number = u32;

/// A value in each lane. Truths are masks, all ones or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Four bytes of the packet from this one on, the first the most significant.
    Word(u32),
    /// Bytes of the packet.
    Length,
    /// The port that it came in on.
    Port,
    Constant(u32),
    /// What the table says that is looked up at this place of the path.
    TableRead {
        place: usize,
        what: TableRead,
        of: Number,
    },
    Operate(Operator, Number, Number),
    /// `then` where the mask is set, else `otherwise`.
    Choose {
        mask: Number,
        then: Number,
        otherwise: Number,
    },
}

/// What a table says of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableRead {
    /// The number of the record that a key of at most 32 bits finds; 0 if it finds none.
    Found,
    /// The number of the record whose action is run, of the one that was found: the default action's, where none was. It may be replaced at any time, so it is
    /// asked for once.
    Record,
    /// The number of a record's action.
    Action,
    /// A record's parameter of at most 32 bits. Where the record has another action, it is any number of 32 bits.
    Parameter { action: usize, parameter: usize },
}

/// On unsigned numbers; what overflows wraps. Shifts are by constants below 32, and comparisons give masks.
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

/// A stage in lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorStage {
    pub steps: Vec<Step>,
    /// Where the pieces of [`ROW_BYTES`] begin that are loaded of each packet; every `Word` lies in one of them, at a multiple of four bytes.
    pub rows: Vec<u32>,
    /// Bytes that every packet must have side by side.
    pub bytes: u32,
    /// A mask: the packet may leave the path.
    pub exits: Number,
    /// A mask: it does, and all that becomes of it is what [`SideExits`] say, to be counted and dropped.
    pub drops: Number,
    /// Of each look-up on the way to the stage, by its place on the path: the number of the record that it finds.
    pub found: Vec<(usize, Number)>,
    /// Of each look-up of the stage, by its place on the path: the key, 32 bits to a step, the least significant first.
    pub keys: Vec<(usize, Vec<Number>)>,
    /// Of the look-up at the stage's place: what its actions will write into a packet that stays.
    pub rewrites: Vec<Rewrites>,
}

pub const WORD_BYTES: u32 = 4;
/// Bytes that one load takes of a packet: four words.
pub const ROW_BYTES: u32 = 4 * WORD_BYTES;

/// What cannot be done in lanes, and the node that does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub node: NodeId,
    pub does: &'static str,
}

impl VectorStage {
    /// Of the first stage of a path: everything before its place, the keys of what it looks up, and what is known of its look-up's actions.
    pub fn of(program: &Program, path: &[NodeId], first: &Stage) -> Result<VectorStage, Obstacle> {
        // Which bytes share a word depends on where words begin; the fewest steps win.
        let all: Result<Vec<VectorStage>, Obstacle> =
            (0..4).map(|phase| run::run(program, path, first, phase)).collect();
        Ok(all?
            .into_iter()
            .min_by_key(|lanes| 4 * lanes.rows.len() + lanes.steps.len())
            .expect("there are four phases"))
    }
}

/// The row that a word lies in, by number, and the word's number in it.
pub fn row_of(rows: &[u32], word: u32) -> (usize, u32) {
    let holds = |row: &u32| (*row..*row + ROW_BYTES).contains(&word) && (word - row).is_multiple_of(4);
    let row = rows.iter().position(holds).expect("every word lies in a row");
    (row, (word - rows[row]) / 4)
}

impl Operator {
    /// Whether it gives a mask.
    pub fn compares(self) -> bool {
        matches!(self, Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessEqual)
    }
}

impl Step {
    /// The steps that it takes.
    pub fn operands(&self) -> Vec<Number> {
        match self {
            Step::Word(_) | Step::Length | Step::Port | Step::Constant(_) => Vec::new(),
            Step::TableRead { of, .. } => vec![*of],
            Step::Operate(_, left, right) => vec![*left, *right],
            Step::Choose { mask, then, otherwise } => vec![*mask, *then, *otherwise],
        }
    }
}
