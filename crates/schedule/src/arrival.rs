//! Packets that come to a node of the commit phase, and the ends that they reach. Packets with different choices
//! behind them stay apart, so that what is known of them decides the choices ahead.

use crate::known::Known;
use crate::run::Run;
use crate::state::State;
use crate::value::Value;
use crate::{Does, Effect};
use hlir::NodeId;
use std::collections::BTreeMap;

/// Packets that come to a node.
#[derive(Clone)]
pub struct Arrival {
    pub when: Value,
    /// The choices that brought them here.
    pub choices: Vec<Value>,
    /// Nodes of the hot path that they have run.
    pub on_path: usize,
    pub state: State,
    pub known: Known,
    /// What they have done so far, each with its own condition.
    pub effects: Vec<Effect>,
    /// The staged lookups whose nodes they have passed.
    pub made: BTreeMap<NodeId, Value>,
}

/// Packets that end in the same way, and all their effects. The last one ends them.
pub struct Leaf {
    pub when: Value,
    pub choices: Vec<Value>,
    pub on_path: usize,
    pub effects: Vec<Effect>,
    pub made: BTreeMap<NodeId, Value>,
}

impl Leaf {
    /// Whether they take a side exit.
    pub fn leaves(&self) -> bool {
        self.effects.last().is_some_and(|last| last.does == Does::Leave)
    }

    pub fn is_sent(&self) -> bool {
        self.effects.last().is_some_and(|last| matches!(last.does, Does::Send { .. }))
    }
}

impl Arrival {
    /// The packets among them with a condition; none if there are none.
    pub fn with(&self, run: &mut Run, condition: Value) -> Option<Arrival> {
        let mut known = self.known.clone();
        let condition = known.of(&mut run.values, condition);
        match run.values.holds(condition) {
            Some(false) => return None,
            Some(true) => return Some(self.clone()),
            None => known.assume(&mut run.values, condition, true),
        }
        if known.is_impossible() {
            return None;
        }
        let when = run.values.and(self.when, condition);
        let mut choices = self.choices.clone();
        choices.push(condition);
        Some(Arrival { when, choices, known, ..self.clone() })
    }

    /// The same, with a state that has what is known of them.
    pub fn known_with(&self, run: &mut Run, condition: Value) -> Option<Arrival> {
        let mut arrival = self.with(run, condition)?;
        let known = &mut arrival.known;
        arrival.state = arrival.state.with(|value| known.of(&mut run.values, value));
        Some(arrival)
    }

    /// A side exit: all that they have done is undone.
    pub fn leave(self, node: NodeId) -> Leaf {
        Arrival { effects: Vec::new(), made: BTreeMap::new(), ..self }.end(node, Does::Leave)
    }

    /// Their end.
    pub fn end(self, node: NodeId, does: Does) -> Leaf {
        let Arrival { when, choices, on_path, mut effects, made, .. } = self;
        effects.push(Effect { when, node, does });
        Leaf { when, choices, on_path, effects, made }
    }

    /// Both together, with what is known of all packets; none if they have different headers.
    pub fn merged(&self, run: &mut Run, other: &Arrival, known: &Known) -> Option<Arrival> {
        let state = self.state.merged(run.program, &mut run.values, other.when, &other.state)?;
        let common = self.effects.iter().zip(&other.effects).take_while(|(one, other)| one == other).count();
        let mut effects = self.effects[..common].to_vec();
        for arrival in [self, other] {
            for effect in &arrival.effects[common..] {
                effects.push(Effect { when: run.values.and(arrival.when, effect.when), ..effect.clone() });
            }
        }
        let no = run.values.bool(false);
        let mut made = BTreeMap::new();
        for node in self.made.keys().chain(other.made.keys()) {
            let [one, other] = [self, other].map(|arrival| {
                let made = arrival.made.get(node).copied().unwrap_or(no);
                run.values.and(arrival.when, made)
            });
            made.insert(*node, run.values.or(one, other));
        }
        let when = run.values.or(self.when, other.when);
        let on_path = self.on_path.max(other.on_path);
        let choices = vec![when];
        Some(Arrival { when, choices, on_path, state, known: known.clone(), effects, made })
    }
}
