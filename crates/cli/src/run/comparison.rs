//! New code that is measured beside the code before it: what they are called, and which alternatives there are.

use super::live::Built;
use super::trial::{Code, Trial};
use driver::options::Passes;
use opt::inputs::Cuts;

/// Other code for the facts and the traffic of the code that runs. What the model proposed is measured beside each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternative {
    /// With stages wherever packets can commit by a schedule: what stages cost is the least certain part of the model.
    Stages,
    /// Packet by packet.
    Plain,
    /// The entries that most packets hit are compared before their tables are looked up.
    Leading,
}

impl Alternative {
    /// Those of code that was chosen beside generic code, or of generic code. The last one is measured first. `has_leading`: whether there are
    /// entries that most packets hit.
    pub fn of(built: Option<&Built>, has_leading: bool) -> Vec<Alternative> {
        let plain = built.is_some_and(|built| built.has_hot_path).then_some(Alternative::Plain);
        let stages = built.is_some_and(|built| !built.has_stages).then_some(Alternative::Stages);
        let leading = has_leading.then_some(Alternative::Leading);
        plain.into_iter().chain(leading).chain(stages).collect()
    }

    pub fn name(self) -> &'static str {
        match self {
            Alternative::Stages => "code in stages",
            Alternative::Plain => "plain code",
            Alternative::Leading => "code that compares frequent entries first",
        }
    }

    /// Lets code be built so, beside the specialised code that runs, if any does.
    pub fn set(self, passes: &mut Passes, beside: Option<&Built>) {
        match self {
            Alternative::Stages => passes.cuts = Cuts::Possible,
            Alternative::Plain => passes.run_packet_by_packet(),
            // Further facts make the comparisons.
            Alternative::Leading if beside.is_some_and(|beside| beside.has_stages) => passes.cuts = Cuts::Possible,
            Alternative::Leading => {}
        }
    }
}

/// A comparison that goes on.
pub struct Comparison {
    pub trial: Trial,
    pub new: Built,
    /// None: generic code.
    pub old: Option<Built>,
    /// None: new code is what the model proposes for other facts, or for other traffic.
    pub alternative: Option<Alternative>,
}

impl Comparison {
    /// The specialised code of a turn, if it is none of generic code.
    pub fn built(&self, code: Code) -> Option<&Built> {
        match code {
            Code::New => Some(&self.new),
            Code::Old => self.old.as_ref(),
        }
    }

    /// What the new code and the old one are called.
    pub fn names(&self) -> [&'static str; 2] {
        let new = self.alternative.map_or("specialised code", Alternative::name);
        let old = match &self.old {
            None => "generic code",
            Some(old) if old.has_stages => Alternative::Stages.name(),
            Some(_) => "code without stages",
        };
        [new, old]
    }
}
