//! What was found of one thing: its state, and for a lack its cost and the way out.

use driver::stdout::print_line;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Ok,
    Note,
    Slower,
    Missing,
    Fault,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Slower => "slower",
            State::Missing => "missing",
            State::Fault => "fault",
        }
    }
}

/// What was found of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub of: &'static str,
    pub state: State,
    pub text: String,
    /// What the lack costs.
    pub cost: Option<String>,
    /// The command that mends it.
    pub mend: Option<String>,
}

impl Finding {
    pub fn new(of: &'static str, state: State, text: impl Into<String>) -> Finding {
        Finding { of, state, text: text.into(), cost: None, mend: None }
    }

    pub fn ok(of: &'static str, text: impl Into<String>) -> Finding {
        Finding::new(of, State::Ok, text)
    }

    pub fn costs(self, cost: impl Into<String>) -> Finding {
        Finding { cost: Some(cost.into()), ..self }
    }

    pub fn mended(self, command: impl Into<String>) -> Finding {
        Finding { mend: Some(command.into()), ..self }
    }

    pub fn json(&self) -> Value {
        let (state, cost, mend) = (self.state.name(), &self.cost, &self.mend);
        json!({ "of": self.of, "state": state, "text": self.text, "cost": cost, "mend": mend })
    }

    pub fn print(&self) {
        print_line!("{:<8} {}: {}", self.state.name(), self.of, self.text);
        self.cost.iter().for_each(|cost| print_line!("         costs: {cost}"));
        self.mend.iter().for_each(|mend| print_line!("         mend:  {mend}"));
    }
}
