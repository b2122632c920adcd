//! The rules of schedules.

/// A rule, by the name that messages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Order,
    Types,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Rule::Order => "order",
            Rule::Types => "types",
        }
    }
}
