//! Values that machines compute in words: of at most 64 bits, with what is stored whole beside them.

use crate::value::{Found, Operation, Value};
use crate::values::{Values, WORD};
use crate::{Commit, Does, Effect, Lookup, Obstacle, Stage};
use hlir::{Binary, NodeId};
use std::collections::BTreeSet;

type Fits = Result<(), &'static str>;

/// Operators on words.
const OPERATORS: [Binary; 25] = [
    Binary::Divide,
    Binary::Remainder,
    Binary::AddSaturating,
    Binary::SubtractSaturating,
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::Concat,
    Binary::Equal,
    Binary::NotEqual,
    Binary::Less,
    Binary::LessEqual,
    Binary::Greater,
    Binary::GreaterEqual,
    Binary::LessSigned,
    Binary::LessEqualSigned,
    Binary::GreaterSigned,
    Binary::GreaterEqualSigned,
    Binary::LogicalAnd,
    Binary::LogicalOr,
];

impl Values {
    /// Why values are not computed in words; `fitting` has those that are, and all they are computed from.
    fn in_words(&self, results: Vec<Value>, fitting: &mut BTreeSet<Value>) -> Fits {
        let mut left = results;
        while let Some(value) = left.pop() {
            if !fitting.insert(value) {
                continue;
            }
            left.extend(self.of(value).operands());
            let width = self.width(value);
            let is_constant = matches!(self.of(value), Operation::Constant(_));
            if width > WORD || width == 0 && !is_constant {
                return Err("computes with numbers of more than 64 bits");
            }
            if let Operation::Binary(operator, ..) = self.of(value)
                && !OPERATORS.contains(operator)
            {
                return Err("saturates numbers with signs, or shifts a sign");
            }
        }
        Ok(())
    }

    /// A stage and the keys of its lookups. Values that are known to fit are not visited again: each stage is made of
    /// those before it.
    pub fn stage_in_words(
        &self,
        stage: &Stage,
        lookups: &[Lookup],
        fitting: &mut BTreeSet<Value>,
    ) -> Result<(), Obstacle> {
        let exits = stage.exits.iter().map(|exit| (exit.node, vec![exit.when]));
        let keys = lookups.iter().map(|lookup| (lookup.node, lookup.key.clone()));
        self.all_in_words(exits.chain(keys), fitting)
    }

    /// A commit phase: a parameter that is copied may have any width.
    pub fn commit_in_words(&self, commit: &Commit) -> Result<(), Obstacle> {
        let late = commit.lookups.iter().map(|late| {
            let needed: Vec<Value> = late.key.iter().copied().chain([late.when, commit.exits]).collect();
            (late.node, needed)
        });
        let effects = commit.effects.iter().map(|effect| {
            let mut operands = if self.copies(effect) { vec![effect.when] } else { effect.operands() };
            operands.push(commit.exits);
            (effect.node, operands)
        });
        self.all_in_words(late.chain(effects), &mut BTreeSet::new())
    }

    fn all_in_words(
        &self,
        results: impl Iterator<Item = (NodeId, Vec<Value>)>,
        fitting: &mut BTreeSet<Value>,
    ) -> Result<(), Obstacle> {
        for (node, values) in results {
            self.in_words(values, fitting).map_err(|does| Obstacle { node, does: does.into() })?;
        }
        Ok(())
    }

    /// Whether an effect copies a parameter from its first bit on into the packet.
    fn copies(&self, effect: &Effect) -> bool {
        let Does::Store { value, .. } = &effect.does else { return false };
        matches!(self.of(*value), Operation::Lookup { what: Found::Parameter { low: 0, .. }, .. })
    }
}
