//! What random code is written in: its variables, and what it may call.

use super::types::{Ty, Variable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    In,
    Out,
    InOut,
    /// Without a direction: an action's data.
    Data,
}

impl Mode {
    pub fn text(self) -> &'static str {
        match self {
            Mode::In => "in ",
            Mode::Out => "out ",
            Mode::InOut => "inout ",
            Mode::Data => "",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub mode: Mode,
    pub ty: Ty,
    pub name: String,
}

/// A function or action.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub returns: Option<Ty>,
    pub parameters: Vec<Parameter>,
}

/// A control that can be applied: its instance and its parameters.
#[derive(Clone, Debug)]
pub struct Applied {
    pub instance: String,
    pub parameters: Vec<Parameter>,
    /// Whether its constructor takes a number.
    pub constructed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Function,
    Action,
    Control,
    Parser,
    /// The deparsers of PSA: no tables, and nothing ends them early.
    Deparser,
}

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub actions: Vec<String>,
}

/// The place of code.
pub struct Code {
    pub place: Place,
    pub variables: Vec<Variable>,
    /// How many of the program's functions are declared before.
    pub functions: usize,
    pub actions: Vec<Function>,
    pub tables: Vec<Table>,
    pub controls: Vec<Applied>,
    /// Registers and what they hold.
    pub registers: Vec<(String, Ty)>,
    /// Names declared in the innermost block: only others can be hidden.
    pub declared: Vec<String>,
    pub returns: Option<Ty>,
    /// Whether expressions may call functions.
    pub calls: bool,
    pub loops: usize,
    /// The variable that this statement is mostly about, so that its parts read and write the same.
    pub focus: String,
    /// How many statements may still be written.
    pub fuel: usize,
}
