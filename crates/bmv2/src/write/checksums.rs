//! Checksums that are verified behind the parser and updated in front of the deparser, found by the form in which v1model lowers them.

use super::writer::{Writer, Written};
use hlir::{Algorithm, Binary, Call, Expression, HashInput, Place, Statement};
use serde_json::{Value, json};

/// A checksum of a block.
pub struct Checksum<'p> {
    condition: Option<&'p Expression>,
    algorithm: Algorithm,
    data: &'p [HashInput],
    target: Place,
}

type Hash<'p> = (Algorithm, &'p [HashInput], Place);

fn hash(statement: &Statement) -> Option<Hash<'_>> {
    match statement {
        Statement::Call(Call::Hash { algorithm, data, into }) => Some((*algorithm, data, *into)),
        _ => None,
    }
}

/// The updates that a block consists of. None if it has anything else.
pub fn updates(body: &[Statement]) -> Option<Vec<Checksum<'_>>> {
    body.iter().map(update).collect()
}

fn update(statement: &Statement) -> Option<Checksum<'_>> {
    let (condition, statement) = match statement {
        Statement::If { condition, then, otherwise } => match (&then[..], &otherwise[..]) {
            ([one], []) => (Some(condition), one),
            _ => return None,
        },
        statement => (None, statement),
    };
    let (algorithm, data, target) = hash(statement)?;
    matches!(target, Place::Field(_)).then_some(Checksum { condition, algorithm, data, target })
}

impl<'p> Writer<'p> {
    /// The verifications that a block consists of. None if it has anything else.
    pub(super) fn verifications(&self, body: &'p [Statement]) -> Option<Vec<Checksum<'p>>> {
        let (mut found, mut rest) = (Vec::new(), body);
        while let Some(first) = rest.first() {
            if let Statement::If { condition, then, otherwise } = first
                && otherwise.is_empty()
                && let [computed, test] = &then[..]
            {
                found.push(Checksum { condition: Some(condition), ..self.verification(computed, test)? });
                rest = &rest[1..];
            } else {
                found.push(self.verification(first, rest.get(1)?)?);
                rest = &rest[2..];
            }
        }
        Some(found)
    }

    /// `sum = hash; if (sum != given) { checksum_error = 1 }`
    fn verification(&self, computed: &'p Statement, test: &'p Statement) -> Option<Checksum<'p>> {
        let (algorithm, data, sum) = hash(computed)?;
        let Statement::If { condition, then, otherwise } = test else { return None };
        let Expression::Binary { operator: Binary::NotEqual, left, right } = condition else { return None };
        let target = match &**right {
            Expression::Field(field) => Place::Field(*field),
            Expression::Variable(variable) => Place::Variable(*variable),
            _ => return None,
        };
        let [Statement::Assign { target: error, .. }] = &then[..] else { return None };
        let is_error = self.storage.is_standard(*error, "checksum_error");
        let is_this = **left == Expression::place(sum) && otherwise.is_empty() && is_error;
        is_this.then_some(Checksum { condition: None, algorithm, data, target })
    }

    pub(super) fn checksum(&mut self, of: &Checksum<'_>, verify: bool) -> Written {
        let inputs = self.inputs(of.data, None)?;
        let calculation = self.calculation(of.algorithm, inputs)?;
        let condition = of.condition.map_or(Ok(json!({ "type": "bool", "value": true })), |one| self.condition(one))?;
        let id = self.checksums.len();
        let name = if id == 0 { "cksum".to_string() } else { format!("cksum_{}", id - 1) };
        let made: Value = json!({
            "name": name, "id": id, "target": self.storage.place(of.target), "type": "generic",
            "calculation": calculation, "verify": verify, "update": !verify, "if_cond": condition,
        });
        self.checksums.push(made);
        Ok(())
    }
}
