//! Statements: what a node does to the packet in hand, in order.
//!
//! Control flow inside a node is structured: `if`, a `scope` that can be left early, and a `loop`. Lowering turned `return`, `break` and
//! `continue` into `leave`, and wrote the copies back that P4 promises before each `leave` and `exit`.

use crate::objects::Algorithm;
use crate::{
    CounterId, DigestId, Expression, ExternId, FieldRef, HeaderId, MeterId, Place, RegisterId, TableId, VariableId,
};

/// Names the scope or loop that a `leave` ends; unique among those that enclose it.
pub type Label = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Assign {
        target: Place,
        value: Expression,
    },
    /// Makes a header valid; one that was invalid is zero afterwards.
    SetValid(HeaderId),
    SetInvalid(HeaderId),
    /// Copies validity, and if `from` is valid also all fields. Both have the same fields.
    CopyHeader {
        to: HeaderId,
        from: HeaderId,
    },
    /// Copies a varbit field, its length included. Both have the same largest width.
    CopyVarbit {
        to: FieldRef,
        from: FieldRef,
    },
    If {
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// Runs `body`; `Leave(label)` within it goes on behind it.
    Scope {
        label: Label,
        body: Vec<Statement>,
    },
    /// Runs `body` again and again; only `Leave(label)` (or a statement that leaves the node) ends it.
    Loop {
        label: Label,
        body: Vec<Statement>,
    },
    Leave(Label),
    /// Ends the node, or the action and the table node it belongs to, by the node's `exit` edge.
    Exit,

    /// In parser states. Takes a header's bytes at the cursor and moves it behind them. `varbit` is the length in bits of the varbit field and
    /// exists exactly if the header has one. Fails with PacketTooShort; with ParserInvalidArgument if `varbit` is not a multiple of 8, and with
    /// HeaderTooShort if it exceeds the field (checked in this order: multiple of 8, packet length, field width).
    Extract {
        header: HeaderId,
        varbit: Option<Expression>,
    },
    /// In parser states. Moves the cursor by a number of bits: 32 bits wide. Fails with ParserInvalidArgument if it is not a multiple of 8, else
    /// with PacketTooShort if so many bits are not left.
    Advance(Expression),
    /// In parser states. Reads as many bits as the variable has at `offset` bits behind the cursor, which stays. Fails with PacketTooShort.
    Lookahead {
        into: VariableId,
        offset: u32,
    },
    /// In parser states. Fails with the code `error` (as wide as the parser's error variable) unless `condition`.
    Verify {
        condition: Expression,
        error: Expression,
    },

    /// In deparser nodes. Appends a header, if it is valid, to the bytes that will precede the payload.
    Emit(HeaderId),
    /// Cuts the packet, as it is now, down to at most this number of bytes: 32 bits wide.
    Truncate(Expression),

    Call(Call),
}

/// The operations of stateful and external objects, whatever an architecture calls them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Counts the packet and its bytes. Without index: the direct counter of the entry that was hit.
    Count { counter: CounterId, index: Option<Expression> },
    /// An index out of range leaves `into` as it is.
    ReadRegister { register: RegisterId, index: Expression, into: Place },
    /// An index out of range has no effect.
    WriteRegister { register: RegisterId, index: Expression, value: Expression },
    /// Marks the packet: 0 green, 1 yellow, 2 red (RFC 2698, colour-blind, or colour-aware from `colour`). Without index: the direct meter's
    /// one of the entry that was hit. A meter without rates is green; an index out of range leaves `into` as it is.
    ExecuteMeter { meter: MeterId, index: Option<Expression>, colour: Option<Expression>, into: Place },
    /// `into` is as wide as the algorithm's result, or narrower (low bits), or wider (zeros above).
    Hash { algorithm: Algorithm, data: Vec<HashInput>, into: Place },
    /// Adds `data` to a ones' complement sum (16 bits), or takes it off. The incremental checksum of PSA and PNA.
    AddChecksum { sum: Place, data: Vec<HashInput>, subtract: bool },
    /// A number from `low` to `high`, both included: as wide as `into`. Drawn from (seed, number of the packet, number of the draw).
    Random { low: Expression, high: Expression, into: Place },
    /// Sends the values to the control plane; widths are those of the digest's fields.
    SendDigest { digest: DigestId, values: Vec<Expression> },
    /// Writes a line to the log; `{}` takes the next argument.
    Log { format: String, arguments: Vec<Expression> },
    /// Stops the switch, with this text, unless `condition`.
    Assert { condition: Expression, text: String },
    /// Inserts an entry for the key that has just missed in `table`; in the body of its default action only. `into` is false on success.
    AddEntry {
        table: TableId,
        action: u32,
        arguments: Vec<Expression>,
        expiry: Option<Expression>,
        into: Option<Place>,
    },
    /// Restarts the idle timer of the entry that was hit, after changing its profile if one is given.
    RestartTimer { expiry: Option<Expression> },
    /// A custom extern: calls the C function of this name, for an object with the object in front of the arguments.
    Custom { object: ExternId, function: String, arguments: Vec<Argument>, into: Option<Place> },
}

/// An argument of a custom extern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    In(Expression),
    /// The function begins with zero there.
    Out(Place),
    InOut(Place),
    /// The bytes behind the cursor, which the function may change, cut and extend.
    Payload,
}

/// A piece of what is hashed. Pieces are concatenated, most significant bit first, and padded with zeros at the end to a whole byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashInput {
    Bits(Expression),
    /// Contributes nothing while the header is invalid.
    Field(FieldRef),
    /// The bytes behind the cursor, for checksums with payload.
    Payload,
}

impl Statement {
    /// Calls `visit` with this statement and all within it, in order.
    pub fn walk<'s>(&'s self, visit: &mut impl FnMut(&'s Statement)) {
        visit(self);
        match self {
            Statement::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).for_each(|statement| statement.walk(visit));
            }
            Statement::Scope { body, .. } | Statement::Loop { body, .. } => {
                body.iter().for_each(|statement| statement.walk(visit));
            }
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {}
        }
    }
}
