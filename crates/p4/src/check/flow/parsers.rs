//! Parsers: states are followed until nothing new is known at the beginning of any, then once more to report what is wrong.

use hlir::diagnostic::Diagnostic;

use super::Flow;
use super::facts::Facts;
use crate::ast::{Expression, ExpressionKind, Name, State, Transition};

impl<'a> Flow<'a, '_> {
    /// Leaves behind what is known where the parser accepts.
    pub fn states(&mut self, states: &'a [State]) {
        let mut entering: Vec<Facts> = vec![Facts::nowhere(); states.len()];
        let Some(start) = states.iter().position(|state| state.name.as_str() == "start") else { return };
        entering[start] = std::mem::take(&mut self.facts);
        let muted = std::mem::replace(&mut self.muted, true);
        loop {
            let before = entering.clone();
            for (at, state) in states.iter().enumerate().filter(|(at, _)| !before[*at].dead) {
                self.state(at, state, states, &mut entering);
            }
            if entering == before {
                break;
            }
        }
        self.muted = muted;
        let mut accepted = Facts::nowhere();
        for (at, state) in states.iter().enumerate().filter(|(at, _)| !entering[*at].dead) {
            let accepts = self.state(at, state, states, &mut entering.clone());
            accepted = accepted.join(&accepts);
        }
        self.facts = accepted;
    }

    /// What is known where a state goes to is added to `entering`; what is known where it accepts is the result.
    fn state(&mut self, at: usize, state: &'a State, states: &'a [State], entering: &mut [Facts]) -> Facts {
        self.facts = entering[at].clone();
        self.silent.push(&state.attributes.annotations);
        for statement in &state.statements {
            self.statement(statement);
        }
        let mut targets: Vec<&'a Name> = Vec::new();
        match &state.transition {
            Some(Transition::Direct(target)) => targets.push(target),
            Some(Transition::Select { subjects, cases, .. }) => {
                subjects.iter().for_each(|subject| self.read(subject));
                cases.iter().flat_map(|case| &case.keys).for_each(|key| self.case_key(key));
                targets.extend(cases.iter().map(|case| &case.state));
            }
            None => {}
        }
        self.silent.pop();
        let mut accepted = Facts::nowhere();
        for target in targets {
            if target.as_str() == "accept" {
                accepted = self.facts.clone();
            } else if let Some(to) = states.iter().position(|state| state.name.text == target.text) {
                entering[to] = std::mem::take(&mut entering[to]).join(&self.facts);
            }
        }
        accepted
    }

    /// The value of a case, or the bounds of its set. Bounds without a value make an unknown set: that is an error.
    fn case_key(&mut self, key: &'a Expression) {
        let known = self.found.len();
        self.read(key);
        if !matches!(key.kind, ExpressionKind::Mask { .. } | ExpressionKind::Range { .. }) {
            return;
        }
        let mut refused = Vec::new();
        for found in self.found.split_off(known) {
            let is_sure = !found.message().contains("potentially");
            if !is_sure || !matches!(found.class(), Some("uninitialized-use" | "invalid-header")) {
                self.found.push(found);
            } else if !refused.contains(&found.span()) {
                refused.push(found.span());
                let report = Diagnostic::error("a bound of this set has no value here").kind("uninitialized-use");
                let report = report.label(found.span(), found.message());
                self.found.push(report.hint("extract or assign it before, or write a constant"));
            }
        }
    }
}
