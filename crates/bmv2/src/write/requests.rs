//! What a program asks the buffering managers for, as the nodes of v1model have it: hidden variables, and the field list of each rule.

use hlir::build::v1model::Request;
use hlir::{Binary, Call, DigestId, Effect, Expression, Keep, NodeKind, Program, Statement, VariableId};
use num_bigint::BigUint;
use std::collections::HashMap;

const ALL: [Request; 4] = [Request::CloneIngress, Request::CloneEgress, Request::Resubmit, Request::Recirculate];

/// The name of a variable of the architecture's own.
pub fn hidden(program: &Program, variable: VariableId) -> Option<&str> {
    program.variables[variable].name.strip_prefix("v1model.")
}

/// A request with one of its field lists.
pub struct Asked {
    request: Request,
    /// None where all requests of this kind have the same list.
    list: Option<BigUint>,
    pub keeps: Vec<VariableId>,
}

/// All of a program. The id of each list in the JSON is its index here, and 1.
#[derive(Default)]
pub struct Requests(pub Vec<Asked>);

impl Requests {
    pub fn of(program: &Program) -> Requests {
        let mut requests = Requests::default();
        for (_, node) in program.nodes.iter() {
            let hlir::NodeKind::Buffer { rules, .. } = &node.kind else { continue };
            for rule in rules {
                let (Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy }) =
                    &rule.effect
                else {
                    continue;
                };
                let Keep::Only(keeps) = &copy.keep else { continue };
                let Some(request) = requested(program, &rule.condition) else { continue };
                let list = list_of(program, request, &rule.condition);
                requests.0.push(Asked { request, list, keeps: keeps.clone() });
            }
        }
        requests
    }

    /// The id of the list of a request, which names it by this number if there are several.
    pub fn id(&self, request: Request, number: Option<&BigUint>) -> Option<u64> {
        let known = |asked: &Asked| asked.request == request && (asked.list.is_none() || asked.list.as_ref() == number);
        self.0.iter().position(known).map(|at| at as u64 + 1)
    }
}

/// The request that a variable notes.
pub fn request_of(name: &str) -> Option<Request> {
    ALL.into_iter().find(|request| request.name() == name)
}

/// The request whose session a variable holds.
pub fn session_of(name: &str) -> Option<Request> {
    ALL.into_iter().find(|request| request.session_name() == name)
}

/// The request that a condition tests.
fn requested(program: &Program, condition: &Expression) -> Option<Request> {
    let mut found = None;
    condition.walk(&mut |part| {
        if let Expression::Variable(variable) = part {
            found = found.or(hidden(program, *variable).and_then(request_of));
        }
    });
    found
}

/// The number of the list that a condition tests.
fn list_of(program: &Program, request: Request, condition: &Expression) -> Option<BigUint> {
    let mut found = None;
    condition.walk(&mut |part| {
        if let Expression::Binary { operator: Binary::Equal, left, right } = part
            && let (Expression::Variable(variable), Expression::Constant { value, .. }) = (&**left, &**right)
            && hidden(program, *variable) == Some(&request.list_name())
        {
            found = Some(value.clone());
        }
    });
    found
}

/// All statements of a program, those of actions as well.
fn bodies(program: &Program) -> Vec<&Statement> {
    let nodes = program.nodes.values().flat_map(|node| match &node.kind {
        NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => body.as_slice(),
        NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Buffer { .. } => &[],
    });
    let actions = program.tables.values().flat_map(|table| table.actions.iter().flat_map(|action| &action.body));
    nodes.chain(actions).collect()
}

/// The values of each digest, where all its calls send the same places.
pub fn digest_values(program: &Program) -> HashMap<DigestId, Option<Vec<Expression>>> {
    let mut found: HashMap<DigestId, Option<Vec<Expression>>> = HashMap::new();
    for statement in bodies(program) {
        statement.walk(&mut |part| {
            let Statement::Call(Call::SendDigest { digest, values }) = part else { return };
            let are_places = values.iter().all(|value| {
                let is_number = value.type_in(program, &[]) != hlir::Type::Bool;
                matches!(value, Expression::Variable(_) | Expression::Field(_)) && is_number
            });
            let known = found.entry(*digest).or_insert_with(|| are_places.then(|| values.clone()));
            if known.as_ref() != Some(values) {
                *known = None;
            }
        });
    }
    found
}
