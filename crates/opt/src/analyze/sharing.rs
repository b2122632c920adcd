//! What workers share, and whether that keeps their number down.
//!
//! | state | class | on several workers |
//! |---|---|---|
//! | counters; digests; idle timers | commutative | each worker has its own, readers sum up or merge |
//! | registers that packets only read | read-only | shared |
//! | registers that packets only write | written | shared: any packet's value may be the last one |
//! | registers that are read and written | per flow, if the index is of the packet as received | spread packets by that, and no element is shared |
//! | meters, tables that packets insert into | locked | an element, or a table's insertions, have a lock |
//! | all others | one worker | of two concurrent updates, one may be lost |

use super::origin::{Origin, Received, Site, origin, steps};
use hlir::effects::learns;
use hlir::{Call, Expression, Program, RegisterId, Statement};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    ReadOnly,
    Written,
    Commutative,
    /// Packets that use the same element have this in common.
    PerFlow(Origin),
    Locked,
    /// And why.
    OneWorker(String),
}

/// A stateful object, as the controller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub object: String,
    pub sharing: Sharing,
}

/// How many workers keep all state as one worker would, for each flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Workers {
    Any,
    /// Any number, if packets are spread so that those with equal values are on one worker.
    SpreadBy(Origin),
    One(String),
}

/// All stateful objects that packets use.
pub fn objects(program: &Program) -> Vec<Shared> {
    let mut objects = Vec::new();
    let is_timer = |id: RegisterId| program.joins.iter().any(|join| join.objects.timers.contains(&Some(id)));
    for (id, register) in program.registers.iter().filter(|(id, _)| !is_timer(*id)) {
        let accesses = accesses(program, id);
        if !accesses.is_empty() {
            objects.push(Shared {
                object: format!("register {}", register.name),
                sharing: of_register(program, &accesses),
            });
        }
    }
    for meter in program.meters.values() {
        objects.push(Shared { object: format!("meter {}", meter.name), sharing: Sharing::Locked });
    }
    for (_, table) in program.tables.iter().filter(|(id, _)| learns(program, *id)) {
        objects.push(Shared { object: format!("entries of {}", table.name), sharing: Sharing::Locked });
    }
    for counter in program.counters.values() {
        objects.push(Shared { object: format!("counter {}", counter.name), sharing: Sharing::Commutative });
    }
    for custom in program.externs.values() {
        let sharing = Sharing::OneWorker("its functions must lock by themselves (docs/externs.md)".to_string());
        objects.push(Shared { object: format!("extern {}", custom.name), sharing });
    }
    objects
}

/// An access to a register: where, its index, and whether it writes.
type Access = (Site, Expression, bool);

fn accesses(program: &Program, register: RegisterId) -> Vec<Access> {
    let access = |(site, statement): (Site, &Statement)| {
        let Statement::Call(call) = statement else { return None };
        let (Call::ReadRegister { register: used, index, .. } | Call::WriteRegister { register: used, index, .. }) =
            call
        else {
            return None;
        };
        (*used == register).then(|| (site, index.clone(), matches!(call, Call::WriteRegister { .. })))
    };
    program.nodes.iter().flat_map(|(node, _)| steps(program, node)).filter_map(access).collect()
}

fn of_register(program: &Program, accesses: &[Access]) -> Sharing {
    let (reads, writes) = (accesses.iter().any(|(.., writes)| !writes), accesses.iter().any(|(.., writes)| *writes));
    match (reads, writes) {
        (_, false) => return Sharing::ReadOnly,
        (false, true) => return Sharing::Written,
        (true, true) => {}
    }
    let origins: Option<Vec<Origin>> = accesses.iter().map(|(site, index, _)| origin(program, site, index)).collect();
    let Some(origins) = origins else {
        return Sharing::OneWorker("its index is not proved to be of the packet as received".to_string());
    };
    common(&origins).map_or_else(
        || Sharing::OneWorker("its accesses have indices without a field in common".to_string()),
        Sharing::PerFlow,
    )
}

/// What packets have in common that use any of the elements: the fields that all have, or the one expression of all.
fn common(origins: &[Origin]) -> Option<Origin> {
    let first = origins.first()?;
    let fields: BTreeSet<Received> = origins
        .iter()
        .skip(1)
        .fold(first.fields.clone(), |all, other| all.intersection(&other.fields).cloned().collect());
    let text = fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>().join(", ");
    if !fields.is_empty() {
        return Some(Origin { text, fields });
    }
    // A constant index is an element that all flows share.
    let is_one = origins.iter().all(|other| other.text == first.text) && first.text.contains(['(', '.', '[']);
    is_one.then(|| first.clone())
}

/// The verdict over all objects.
pub fn workers(objects: &[Shared]) -> Workers {
    let mut origins = Vec::new();
    for Shared { object, sharing } in objects {
        match sharing {
            Sharing::OneWorker(why) => return Workers::One(format!("{object}: {why}")),
            Sharing::PerFlow(origin) => origins.push(origin.clone()),
            Sharing::ReadOnly | Sharing::Written | Sharing::Commutative | Sharing::Locked => {}
        }
    }
    if origins.is_empty() {
        return Workers::Any;
    }
    common(&origins).map_or_else(
        || Workers::One("its registers have indices without a field in common".to_string()),
        Workers::SpreadBy,
    )
}

impl Sharing {
    pub fn words(&self) -> String {
        match self {
            Sharing::ReadOnly => "read-only: shared".to_string(),
            Sharing::Written => "only written: shared, any packet's value may be the last".to_string(),
            Sharing::Commutative => "commutative: each worker counts, readers sum up".to_string(),
            Sharing::PerFlow(origin) => format!("per flow: spread packets by {}", origin.text),
            Sharing::Locked => "locked: elements and insertions, one at a time".to_string(),
            Sharing::OneWorker(why) => format!("one worker: {why}"),
        }
    }
}

impl Workers {
    pub fn words(&self) -> String {
        match self {
            Workers::Any => "any number".to_string(),
            Workers::SpreadBy(origin) => format!("any number, with packets spread by {}", origin.text),
            Workers::One(why) => format!("one ({why})"),
        }
    }
}
