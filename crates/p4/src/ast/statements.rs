//! Statements of actions, functions, apply blocks and parser states: one set; the checker decides where each is allowed.

use super::{Annotation, BinaryOperator, Declaration, Expression, Span};

#[derive(Clone, Debug)]
pub struct Statement {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    pub kind: StatementKind,
}

#[derive(Clone, Debug)]
pub enum StatementKind {
    Empty,
    /// `target = value`, or `target op= value`.
    Assign {
        target: Expression,
        operator: Option<BinaryOperator>,
        value: Expression,
    },
    /// A call for its effect: function, method, action, `table.apply()`, `Control.apply()`.
    Call(Expression),
    If {
        condition: Expression,
        accepted: Box<Statement>,
        rejected: Option<Box<Statement>>,
    },
    Block(Block),
    Switch {
        subject: Expression,
        cases: Vec<SwitchCase>,
    },
    For(Box<For>),
    ForIn(Box<ForIn>),
    Break,
    Continue,
    Return(Option<Expression>),
    Exit,
    /// A constant, a variable or an instance.
    Declare(Box<Declaration>),
}

/// `{ ... }`; its annotations are those of the statement, or of what it is the body of.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    pub statements: Vec<Statement>,
}

/// A label and its block; without a block the case falls through to the next one that has one.
#[derive(Clone, Debug)]
pub struct SwitchCase {
    pub span: Span,
    pub label: SwitchLabel,
    pub body: Option<Block>,
}

#[derive(Clone, Debug)]
pub enum SwitchLabel {
    Default(Span),
    /// An action's name where the subject is `table.apply().action_run`, a constant otherwise.
    Expression(Expression),
}

/// `for (initial; condition; update) body`
#[derive(Clone, Debug)]
pub struct For {
    pub initial: Vec<Statement>,
    pub condition: Expression,
    pub update: Vec<Statement>,
    pub body: Statement,
}

/// `for (bit<8> i in collection) body`: `variable` is a `Variable` without a value.
#[derive(Clone, Debug)]
pub struct ForIn {
    pub variable: Declaration,
    pub collection: Collection,
    pub body: Statement,
}

#[derive(Clone, Debug)]
pub enum Collection {
    /// A list, an array or a header stack.
    Expression(Expression),
    /// `low .. high`, both included.
    Range { low: Expression, high: Expression },
}
