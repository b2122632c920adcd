//! The bodies of actions: primitives in a row, with jumps for what HLIR has as `if`, `scope` and `loop`.

use super::expressions;
use super::expressions::{field, small};
use super::requests::{hidden, request_of, session_of};
use super::storage::is_boolean;
use super::writer::{Writer, Written};
use hlir::build::v1model::Request;
use hlir::{Binary, Call, Expression, Place, Statement, VariableId};
use num_bigint::BigUint;
use serde_json::{Value, json};

/// The port that drops.
const DROP_PORT: u32 = 511;

pub fn primitive(op: &str, parameters: Vec<Value>) -> Value {
    json!({ "op": op, "parameters": parameters })
}

/// The number by which a statement divides the hash of the one before it: `t = hash; x = t % 1000`.
fn divisor(hash: &Statement, next: Option<&Statement>) -> Option<BigUint> {
    let Statement::Call(Call::Hash { into, .. }) = hash else { return None };
    let Some(Statement::Assign { value, .. }) = next else { return None };
    let (result, mut found) = (Expression::place(*into), None);
    value.walk(&mut |part| {
        if let Expression::Binary { operator: Binary::Remainder, left, right } = part
            && let Expression::Constant { value, .. } = &**right
            && **left == result
        {
            found = Some(value.clone());
        }
    });
    found.filter(|divisor| *divisor != BigUint::ZERO)
}

enum Item {
    Primitive(Value),
    Jump(usize),
    /// Jumps if the condition does not hold.
    Unless(Value, usize),
    Label(usize),
}

/// An action while it is written.
#[derive(Default)]
pub struct Code {
    items: Vec<Item>,
    labels: usize,
    /// Where `leave` of a scope leads.
    scopes: Vec<(String, usize)>,
    /// The session of the clone that follows.
    session: Option<Expression>,
    /// By what the next statement divides the hash that this one computes.
    pub divisor: Option<BigUint>,
}

impl Code {
    pub fn push(&mut self, primitive: Value) {
        self.items.push(Item::Primitive(primitive));
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }

    /// The primitives, with the numbers of those that jumps lead to.
    fn finish(self) -> Vec<Value> {
        let mut at = vec![0; self.labels];
        let mut count = 0;
        for item in &self.items {
            match item {
                Item::Label(label) => at[*label] = count,
                _ => count += 1,
            }
        }
        let to = |label: usize| small(at[label]);
        let primitives = self.items.into_iter().filter_map(|item| match item {
            Item::Primitive(primitive) => Some(primitive),
            Item::Jump(label) => Some(primitive("_jump", vec![to(label)])),
            Item::Unless(condition, label) => Some(primitive("_jump_if_zero", vec![condition, to(label)])),
            Item::Label(_) => None,
        });
        primitives.collect()
    }
}

impl Writer<'_> {
    /// The primitives of a body, in an action with the parameters of [`Writer::parameters`].
    pub(super) fn primitives(&mut self, body: &[Statement]) -> Written<Vec<Value>> {
        let mut code = Code::default();
        let end = code.label();
        self.statements(body, &mut code, end)?;
        code.items.push(Item::Label(end));
        Ok(code.finish())
    }

    fn statements(&mut self, body: &[Statement], code: &mut Code, end: usize) -> Written {
        let mut at = 0;
        while at < body.len() {
            at += match &body[at] {
                Statement::Assign { target, value } => self.assign((*target, value), &body[at + 1..], code)?,
                statement => {
                    code.divisor = divisor(statement, body.get(at + 1));
                    self.statement(statement, code, end)?;
                    1
                }
            };
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, code: &mut Code, end: usize) -> Written {
        let header = |writer: &Self, id| json!({ "type": "header", "value": writer.storage.header(id) });
        match statement {
            Statement::SetValid(id) => code.push(primitive("add_header", vec![header(self, *id)])),
            Statement::SetInvalid(id) => code.push(primitive("remove_header", vec![header(self, *id)])),
            Statement::CopyHeader { to, from } => {
                code.push(primitive("assign_header", vec![header(self, *to), header(self, *from)]));
            }
            Statement::CopyVarbit { to, from } => {
                let place = |of| field(&self.storage.field(of));
                code.push(primitive("assign_VL", vec![place(*to), place(*from)]));
            }
            Statement::If { condition, then, otherwise } => self.branch((condition, then, otherwise), code, end)?,
            Statement::Scope { label, body } => {
                let behind = code.label();
                self.scope((label, body), code, behind, end)?;
                code.items.push(Item::Label(behind));
            }
            Statement::Loop { label, body } => {
                let (again, behind) = (code.label(), code.label());
                code.items.push(Item::Label(again));
                self.scope((label, body), code, behind, end)?;
                code.items.extend([Item::Jump(again), Item::Label(behind)]);
            }
            Statement::Leave(label) => {
                let known = code.scopes.iter().rev().find(|(known, _)| known == label);
                let behind = known.map(|(_, behind)| *behind).expect("a scope of this name is around");
                code.items.push(Item::Jump(behind));
            }
            Statement::Exit => {
                code.push(primitive("exit", Vec::new()));
                code.items.push(Item::Jump(end));
            }
            Statement::Call(call) => self.call(call, code)?,
            Statement::Truncate(_) => return self.unsayable("a truncation within a control"),
            Statement::Extract { .. } | Statement::Advance(_) | Statement::Lookahead { .. } => {
                return self.unsayable("an extraction outside of the parser");
            }
            Statement::Verify { .. } => return self.unsayable("`verify` outside of the parser"),
            Statement::Emit(_) => return self.unsayable("an `emit` outside of the deparser"),
            Statement::Assign { .. } => unreachable!("assignments are looked at with what follows them"),
        }
        Ok(())
    }

    fn scope(&mut self, (label, body): (&str, &[Statement]), code: &mut Code, behind: usize, end: usize) -> Written {
        code.scopes.push((label.to_string(), behind));
        self.statements(body, code, end)?;
        code.scopes.pop();
        Ok(())
    }

    fn branch(
        &mut self,
        (condition, then, otherwise): (&Expression, &[Statement], &[Statement]),
        code: &mut Code,
        end: usize,
    ) -> Written {
        if let Some(length) = self.truncation(condition, then, otherwise) {
            let length = self.parameter(&length)?;
            code.push(primitive("truncate", vec![length]));
            return Ok(());
        }
        let (second, behind) = (code.label(), code.label());
        let condition = expressions::as_number(self.condition(condition)?);
        code.items.push(Item::Unless(json!({ "type": "expression", "value": condition }), second));
        self.statements(then, code, end)?;
        if !otherwise.is_empty() {
            code.items.push(Item::Jump(behind));
        }
        code.items.push(Item::Label(second));
        self.statements(otherwise, code, end)?;
        code.items.push(Item::Label(behind));
        Ok(())
    }

    /// The length of a `truncate`, which is an `if` that keeps the shortest one.
    fn truncation(&self, condition: &Expression, then: &[Statement], otherwise: &[Statement]) -> Option<Expression> {
        let mut is_asked = false;
        condition.walk(&mut |part| {
            if let Expression::Variable(variable) = part {
                is_asked |= hidden(self.program, *variable) == Some("truncate");
            }
        });
        let assigned = then.iter().chain(otherwise).find_map(|statement| match statement {
            Statement::Assign { target: Place::Variable(_), value } => Some(value.clone()),
            _ => None,
        });
        assigned.filter(|_| is_asked)
    }

    /// An assignment, with what follows it: how many statements were written.
    fn assign(&mut self, (target, value): (Place, &Expression), rest: &[Statement], code: &mut Code) -> Written<usize> {
        if let Place::Variable(variable) = target
            && let Some(count) = self.request(variable, value, rest, code)?
        {
            return Ok(count);
        }
        if let Some(count) = self.drop(target, value, rest) {
            let metadata = json!({ "type": "header", "value": "standard_metadata" });
            code.push(primitive("mark_to_drop", vec![metadata]));
            return Ok(count);
        }
        let value = match is_boolean(self.program, target) {
            true => json!({ "type": "expression", "value": self.data(value)? }),
            false => self.parameter(value)?,
        };
        code.push(primitive("assign", vec![field(&self.storage.place(target)), value]));
        Ok(1)
    }

    /// A note for the buffering managers becomes the primitive that makes it.
    fn request(
        &mut self,
        variable: VariableId,
        value: &Expression,
        rest: &[Statement],
        code: &mut Code,
    ) -> Written<Option<usize>> {
        let Some(name) = hidden(self.program, variable) else { return Ok(None) };
        if session_of(name).is_some() {
            code.session = Some(value.clone());
            return Ok(Some(1));
        }
        if name == "truncate" {
            return Ok(Some(1));
        }
        let Some(request) = request_of(name) else { return Ok(None) };
        let number = self.list_behind(request, rest);
        let Some(id) = self.requests.id(request, number.as_ref()) else {
            return self.unsayable("a copy of a packet that no rule makes");
        };
        let session = code.session.take();
        let session = session.map(|session| self.parameter(&session)).transpose()?;
        let op = match request {
            Request::CloneIngress => "clone_ingress_pkt_to_egress",
            Request::CloneEgress => "clone_egress_pkt_to_egress",
            Request::Resubmit => "resubmit",
            Request::Recirculate => "recirculate",
        };
        code.push(primitive(op, session.into_iter().chain([small(id)]).collect()));
        Ok(Some(if number.is_some() { 2 } else { 1 }))
    }

    /// The number of the field list that the next statement notes.
    fn list_behind(&self, request: Request, rest: &[Statement]) -> Option<BigUint> {
        let Some(Statement::Assign { target: Place::Variable(variable), value }) = rest.first() else { return None };
        match value {
            Expression::Constant { value, .. } if hidden(self.program, *variable) == Some(&request.list_name()) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    /// Whether this is `mark_to_drop`, which asks for no multicast group either: of how many statements.
    fn drop(&self, target: Place, value: &Expression, rest: &[Statement]) -> Option<usize> {
        if !self.storage.is_standard(target, "egress_spec") || *value != Expression::constant(DROP_PORT, 9) {
            return None;
        }
        if !self.storage.uses("mcast_grp") {
            return Some(1);
        }
        match rest.first() {
            Some(Statement::Assign { target, value: Expression::Constant { value, .. } })
                if self.storage.is_standard(*target, "mcast_grp") && *value == BigUint::ZERO =>
            {
                Some(2)
            }
            _ => None,
        }
    }
}
