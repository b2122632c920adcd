//! A small tree of C: just what generated code needs, so that parentheses and indentation are the printer's business.
//!
//! Types are text (`const uint8_t *`), names are text that [`crate::names`] made unique; everything with precedence is a tree.

mod code;
mod print;

pub use code::{depth, jumps, length, replace_only};
pub use print::{digits, expression as written, print};

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A name, or a chain of members that binds as tightly as one: `state->hdr_ipv4`, `run->dmac_misses`.
    Name(String),
    /// An unsigned number; `long` ones are 64 bits wide.
    Number {
        value: u64,
        long: bool,
    },
    Text(String),
    Call(String, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// `!`, `~`, `-`, `&` or `*`.
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(String, Box<Expr>),
    /// `{ a, b }`, in initialisers only.
    List(Vec<Expr>),
    /// `.name = value`, in lists only.
    Designated(String, Box<Expr>),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `of name = value;` where `name` may end in `[N]`.
    Declare {
        of: String,
        name: String,
        value: Option<Expr>,
    },
    /// `target operator value;` where the operator is `=`, `+=` and so on.
    Assign(Expr, &'static str, Expr),
    Do(Expr),
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Switch {
        on: Expr,
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        default: Vec<Stmt>,
    },
    /// `for (uint32_t name = from; name < to; name += step)`
    Count {
        name: String,
        from: Expr,
        to: Expr,
        step: Expr,
        body: Vec<Stmt>,
    },
    While(Expr, Vec<Stmt>),
    /// `{ ... }`
    Block(Vec<Stmt>),
    Label(String),
    Goto(String),
    Return(Option<Expr>),
    Break,
    /// A comment on the statements behind it.
    Comment(String),
    /// An empty line.
    Blank,
}

/// A thing at the top level of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Comment(String),
    /// A line for the preprocessor, without `#`.
    Directive(String),
    Enum {
        name: String,
        members: Vec<String>,
    },
    Struct(Struct),
    Function {
        /// `static inline uint32_t`
        of: String,
        name: String,
        /// Each with its type: `struct state *state`.
        parameters: Vec<String>,
        body: Vec<Stmt>,
    },
    /// A function that a macro defines: `by(name, arguments)`.
    Defined {
        by: &'static str,
        name: String,
        arguments: Vec<Expr>,
    },
    /// `of name = value;`
    Variable {
        of: String,
        name: String,
        value: Option<Expr>,
    },
    Blank,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Struct {
    pub name: String,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// `of name;` and a remark behind it, or none.
    Plain { of: String, name: String, remark: String },
    /// `union { ... };`
    Union(Vec<Member>),
    /// `struct { ... } name;`
    Inner { name: String, members: Vec<Member> },
}

impl Member {
    pub fn plain(of: impl Into<String>, name: impl Into<String>, remark: impl Into<String>) -> Member {
        Member::Plain { of: of.into(), name: name.into(), remark: remark.into() }
    }
}

impl Expr {
    pub fn name(name: impl Into<String>) -> Expr {
        Expr::Name(name.into())
    }

    /// A number of at most 32 bits.
    pub fn word(value: u32) -> Expr {
        Expr::Number { value: value.into(), long: false }
    }

    /// A number of 64 bits.
    pub fn long(value: u64) -> Expr {
        Expr::Number { value, long: true }
    }

    pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::Call(function.into(), arguments.into_iter().collect())
    }

    pub fn unary(operator: &'static str, operand: Expr) -> Expr {
        Expr::Unary(operator, Box::new(operand))
    }

    pub fn binary(operator: &'static str, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    pub fn conditional(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
        Expr::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
    }

    pub fn cast(to: impl Into<String>, operand: Expr) -> Expr {
        Expr::Cast(to.into(), Box::new(operand))
    }

    pub fn index(array: Expr, index: Expr) -> Expr {
        Expr::Index(Box::new(array), Box::new(index))
    }

    pub fn text(text: impl Into<String>) -> Expr {
        Expr::Text(text.into())
    }

    pub fn designated(name: impl Into<String>, value: Expr) -> Expr {
        Expr::Designated(name.into(), Box::new(value))
    }

    /// The opposite of a condition. Comparisons are of integers.
    pub fn negated(&self) -> Expr {
        const OPPOSITES: [(&str, &str); 6] =
            [("==", "!="), ("!=", "=="), ("<", ">="), (">=", "<"), (">", "<="), ("<=", ">")];
        if let Expr::Unary("!", condition) = self {
            return (**condition).clone();
        }
        if let Expr::Binary(operator, left, right) = self
            && let Some((_, opposite)) = OPPOSITES.into_iter().find(|(known, _)| known == operator)
        {
            return Expr::Binary(opposite, left.clone(), right.clone());
        }
        Expr::unary("!", self.clone())
    }

    /// Whether evaluating it twice costs nothing.
    pub fn is_simple(&self) -> bool {
        matches!(self, Expr::Name(_) | Expr::Number { .. })
    }

    /// The number it is, if it is one.
    pub fn number(&self) -> Option<u64> {
        if let Expr::Number { value, .. } = self { Some(*value) } else { None }
    }

    /// Calls `visit` with every name that `mentions` knows.
    pub fn names<'e>(&'e self, visit: &mut dyn FnMut(&'e str)) {
        match self {
            Expr::Name(name) => words(name).for_each(visit),
            Expr::Number { .. } | Expr::Text(_) => {}
            Expr::Call(function, arguments) => {
                words(function).for_each(&mut *visit);
                arguments.iter().for_each(|argument| argument.names(visit));
            }
            Expr::Index(left, right) | Expr::Binary(_, left, right) => {
                left.names(visit);
                right.names(visit);
            }
            Expr::Unary(_, operand) | Expr::Cast(_, operand) | Expr::Designated(_, operand) => operand.names(visit),
            Expr::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|value| value.names(visit));
            }
            Expr::List(members) => members.iter().for_each(|member| member.names(visit)),
        }
    }

    pub fn operands_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Name(_) | Expr::Number { .. } | Expr::Text(_) => Vec::new(),
            Expr::Call(_, members) | Expr::List(members) => members.iter_mut().collect(),
            Expr::Index(left, right) | Expr::Binary(_, left, right) => vec![left, right],
            Expr::Unary(_, operand) | Expr::Cast(_, operand) | Expr::Designated(_, operand) => vec![operand],
            Expr::Conditional(condition, then, otherwise) => vec![condition, then, otherwise],
        }
    }

    /// Whether one of its names is `word`, or has it in it as the name of a variable, a constant or a function.
    pub fn mentions(&self, word: &str) -> bool {
        match self {
            Expr::Name(name) => has_word(name, word),
            Expr::Number { .. } | Expr::Text(_) => false,
            Expr::Call(function, arguments) => {
                has_word(function, word) || arguments.iter().any(|argument| argument.mentions(word))
            }
            Expr::Index(left, right) | Expr::Binary(_, left, right) => left.mentions(word) || right.mentions(word),
            Expr::Unary(_, operand) | Expr::Cast(_, operand) | Expr::Designated(_, operand) => operand.mentions(word),
            Expr::Conditional(condition, then, otherwise) => {
                condition.mentions(word) || then.mentions(word) || otherwise.mentions(word)
            }
            Expr::List(members) => members.iter().any(|member| member.mentions(word)),
        }
    }
}

/// The words in a text that are names of variables, constants or functions.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find(is_letter)?;
            let end = text[start..].find(|next| !is_letter(next)).map_or(text.len(), |end| start + end);
            from = end;
            if !is_of_another_space(&text[..start]) {
                return Some(&text[start..end]);
            }
        }
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_letter) && !behind.starts_with(is_letter) && !is_of_another_space(before)
    })
}

/// Whether what follows is a member or a type: those have names of their own, which may be a variable's.
fn is_of_another_space(before: &str) -> bool {
    let is_offset = before.rsplit_once("offsetof(").is_some_and(|(_, inside)| !inside.contains(')'));
    is_offset || ["->", ".", "struct ", "enum "].iter().any(|mark| before.ends_with(mark))
}

impl Stmt {
    pub fn set(target: Expr, value: Expr) -> Stmt {
        Stmt::Assign(target, "=", value)
    }

    pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Stmt {
        Stmt::Do(Expr::call(function, arguments))
    }

    pub fn when(condition: Expr, then: Vec<Stmt>) -> Stmt {
        Stmt::If { condition, then, otherwise: Vec::new() }
    }

    pub fn declare(of: impl Into<String>, name: impl Into<String>, value: Expr) -> Stmt {
        Stmt::Declare { of: of.into(), name: name.into(), value: Some(value) }
    }

    pub fn result(value: Expr) -> Stmt {
        Stmt::Return(Some(value))
    }

    /// The statements within it, by body.
    pub fn bodies(&self) -> Vec<&Vec<Stmt>> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Switch { cases, default, .. } => cases.iter().map(|(_, body)| body).chain([default]).collect(),
            Stmt::Count { body, .. } | Stmt::While(_, body) | Stmt::Block(body) => vec![body],
            Stmt::Declare { .. }
            | Stmt::Assign(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Break
            | Stmt::Comment(_)
            | Stmt::Blank => Vec::new(),
        }
    }

    pub fn bodies_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::Switch { cases, default, .. } => cases.iter_mut().map(|(_, body)| body).chain([default]).collect(),
            Stmt::Count { body, .. } | Stmt::While(_, body) | Stmt::Block(body) => vec![body],
            Stmt::Declare { .. }
            | Stmt::Assign(..)
            | Stmt::Do(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(_)
            | Stmt::Break
            | Stmt::Comment(_)
            | Stmt::Blank => Vec::new(),
        }
    }

    /// Calls `visit` with every name that `mentions` knows.
    pub fn names<'s>(&'s self, visit: &mut dyn FnMut(&'s str)) {
        match self {
            Stmt::Declare { value, .. } => value.iter().for_each(|value| value.names(visit)),
            Stmt::Assign(target, _, value) => [target, value].into_iter().for_each(|value| value.names(visit)),
            Stmt::Do(value) | Stmt::Return(Some(value)) => value.names(visit),
            Stmt::If { condition, .. } | Stmt::While(condition, _) => condition.names(visit),
            Stmt::Switch { on, .. } => on.names(visit),
            Stmt::Count { from, to, step, .. } => [from, to, step].into_iter().for_each(|value| value.names(visit)),
            Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Break
            | Stmt::Block(_)
            | Stmt::Comment(_)
            | Stmt::Blank => {}
        }
        self.bodies().into_iter().flatten().for_each(|inner| inner.names(visit));
    }

    /// Its own expressions, without those of the statements within it.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Stmt::Declare { value, .. } => value.iter_mut().collect(),
            Stmt::Assign(target, _, value) => vec![target, value],
            Stmt::Do(value) | Stmt::Return(Some(value)) => vec![value],
            Stmt::If { condition, .. } | Stmt::While(condition, _) => vec![condition],
            Stmt::Switch { on, .. } => vec![on],
            Stmt::Count { from, to, step, .. } => vec![from, to, step],
            Stmt::Block(_)
            | Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Break
            | Stmt::Comment(_)
            | Stmt::Blank => Vec::new(),
        }
    }

    /// Whether control never reaches what follows.
    pub fn is_jump(&self) -> bool {
        matches!(self, Stmt::Return(_) | Stmt::Goto(_) | Stmt::Break)
    }

    /// The same of one of its expressions.
    pub fn mentions(&self, word: &str) -> bool {
        let own = match self {
            Stmt::Declare { value, .. } => value.as_ref().is_some_and(|value| value.mentions(word)),
            Stmt::Assign(target, _, value) => target.mentions(word) || value.mentions(word),
            Stmt::Do(value) | Stmt::Return(Some(value)) => value.mentions(word),
            Stmt::If { condition, .. } | Stmt::While(condition, _) => condition.mentions(word),
            Stmt::Switch { on, .. } => on.mentions(word),
            Stmt::Count { from, to, step, .. } => from.mentions(word) || to.mentions(word) || step.mentions(word),
            Stmt::Label(_)
            | Stmt::Goto(_)
            | Stmt::Return(None)
            | Stmt::Break
            | Stmt::Block(_)
            | Stmt::Comment(_)
            | Stmt::Blank => false,
        };
        own || self.bodies().into_iter().flatten().any(|inner| inner.mentions(word))
    }
}
