//! All outcomes of a packet: where a selector chooses, or `random` draws, the packet is run again for each choice.
//!
//! A run follows a script of choices and takes the first one behind its end. The next run changes the last choice that has another one left. Each
//! begins with the state as it was, so none sees what another has written.

use crate::Switch;
use crate::script::{Choice, Script};
use control::message::switch::trace_step::Step;
use control::plane::{DataPlane, Frame, Outcome};
use std::cell::RefCell;

/// One outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    pub choices: Vec<Choice>,
    pub steps: Vec<Step>,
    pub outcome: Outcome,
}

/// The outcomes of a packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// In the order of their choices.
    pub branches: Vec<Branch>,
    /// Whether there are more.
    pub is_cut: bool,
}

/// The script behind these choices; none if they were the last.
fn next(made: &[Choice]) -> Option<Vec<u64>> {
    let has_another = |choice: &Choice| u128::from(choice.picked) + 1 < choice.followed();
    let last = made.iter().rposition(has_another)?;
    let picks = made[..=last].iter().map(|choice| choice.picked);
    let mut picks: Vec<u64> = picks.collect();
    picks[last] += 1;
    Some(picks)
}

impl Switch<'_> {
    /// At most so many outcomes of a packet. The switch is as before.
    pub fn outcomes(&mut self, frame: &Frame, most: usize) -> Outcomes {
        let (saved, notes) = (self.state.clone(), std::mem::take(&mut self.notes));
        let (mut outcomes, mut picks) = (Outcomes::default(), Some(Vec::new()));
        while let Some(script) = picks.take() {
            if outcomes.branches.len() == most {
                outcomes.is_cut = true;
                break;
            }
            self.state = saved.clone();
            self.script = Some(Script { picks: script, made: RefCell::default() });
            self.start_steps();
            // A packet at which the program stops has its steps as well.
            let outcome = self.process(std::slice::from_ref(frame)).unwrap_or_default();
            self.take_punted();
            let choices = self.script.take().map(|script| script.made.into_inner()).unwrap_or_default();
            picks = next(&choices);
            outcomes.is_cut |= choices.iter().any(|choice| choice.options > choice.followed());
            outcomes.branches.push(Branch { choices, steps: self.take_steps(), outcome });
        }
        (self.state, self.notes) = (saved, notes);
        outcomes
    }
}
