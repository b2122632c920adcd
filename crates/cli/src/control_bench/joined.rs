//! Two tables that are joined: writes to the first while packets look them up, and what it takes to translate one.

use super::client::{Client, Ids};
use super::entries::{self, IN_A_BATCH};
use super::report::Records;
use super::rig::Rig;
use super::{Bench, builder};
use crate::run::live::Built;
use crate::run::pushed;
use control::join::Joins;
use control::message::runtime::{
    Action, Entity, FieldMatch, TableAction, TableEntry, Update, action::Param, entity, table_action, update::Type,
};
use driver::failure::Failure;
use driver::options::Passes;
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, TableId};
use runtime::Trace;
use std::time::{Duration, Instant};

const PROGRAM: &str = include_str!("joined.p4");
/// Keys of the first table, and members of each of the two groups that its entries name in turn.
const KEYS: u32 = 256;
const MEMBERS: u32 = 4;
/// Writes to one entry that are translated, and members of its groups then.
const TRANSLATED: u32 = 500;
const MANY_MEMBERS: u32 = 1000;

/// A number of one of the two groups.
fn group(version: u32) -> u32 {
    version % 2
}

fn data(key: u32, group: u32) -> [u32; 2] {
    [group, key ^ group]
}

pub fn joined(bench: &Bench, records: &mut Records) -> Result<(), Failure> {
    let names = opt::PIPELINE.iter().map(|pass| pass.name.to_string()).collect();
    let mut builder = builder(&bench.native);
    builder.passes = Passes { passes: Some(names), ..Passes::default() };
    let built = pushed::build(&builder, PROGRAM.as_bytes(), None);
    let built = built.map_err(|refusal| Failure::environment(refusal.to_string()))?;
    translation(&built, records);
    let rig = Rig::new(&built, builder)?;
    let mut client = Client::of(&rig)?;
    let ids = Ids::of(&built.program);
    client.write_all(vec![
        Client::request((0..KEYS).map(|key| groups(&ids, Type::Insert, key, 0)).collect()),
        Client::request(
            (0..2)
                .flat_map(|group| (0..MEMBERS).map(move |number| (group, number)))
                .map(|it| member(&ids, it))
                .collect(),
        ),
    ])?;
    let pairs = (0..KEYS).flat_map(|key| (0..MEMBERS).map(move |number| (key, number)));
    let own: Vec<u8> = pairs.flat_map(|(key, number)| [key.to_be_bytes(), number.to_be_bytes()].concat()).collect();
    rig.load(Trace::new([(1, &entries::frame(0, 1, 0, 0)[..])]).overlay(Vec::new(), 14, 8, &own));
    let (begin, mut written) = (Instant::now(), 0u32);
    while begin.elapsed() < bench.seconds {
        let batches = (0..4).map(|_| {
            let batch = written..written + IN_A_BATCH;
            written = batch.end;
            Client::request(batch.map(|at| groups(&ids, Type::Modify, at % KEYS, at / KEYS + 1)).collect())
        });
        client.write_all(batches.collect())?;
    }
    let rate = f64::from(written) / begin.elapsed().as_secs_f64();
    records.at_least("writes, each to four joint entries", rate, "/s", 50_000.0);
    records.at_least("lookups in the joint table, of all packets", joint_share(&rig, &built), "of them", 0.5);
    records.at_most("packets that saw half of a write", rig.counter("torn") as f64, "", 0.0);
    records.at_most("packets that found no entry", rig.counter("missed") as f64, "", 0.0);
    let counts = rig.unload();
    records.at_most("packets lost", (counts.received - counts.sent) as f64, "", 0.0);
    Ok(())
}

/// An entry of the first table.
fn groups(ids: &Ids, kind: Type, key: u32, version: u32) -> Update {
    let values = data(key, group(version));
    entry(kind, (ids.table("groups"), ids.action("set_group")), &[key], values)
}

fn member(ids: &Ids, (group, number): (u32, u32)) -> Update {
    entry(Type::Insert, (ids.table("members"), ids.action("set_member")), &[group, number], [group, number])
}

fn entry(kind: Type, (table_id, action_id): (u32, u32), key: &[u32], data: [u32; 2]) -> Update {
    let field = |(field_id, value): (u32, &u32)| FieldMatch {
        field_id,
        field_match_type: Some(entries::exact(&value.to_be_bytes())),
    };
    let param = |(param_id, value): (u32, u32)| Param { param_id, value: value.to_be_bytes().to_vec() };
    let action = Action { action_id, params: (1..).zip(data).map(param).collect() };
    let entry = TableEntry {
        table_id,
        r#match: (1..).zip(key).map(field).collect(),
        action: Some(TableAction { r#type: Some(table_action::Type::Action(action)) }),
        ..TableEntry::default()
    };
    Update { r#type: kind.into(), entity: Some(Entity { entity: Some(entity::Entity::TableEntry(entry)) }) }
}

/// Hits of the joint table, of all packets: the others came while their entries were written.
fn joint_share(rig: &Rig, built: &Built) -> f64 {
    let mut live = rig.switch.lock();
    let switch = live.engine().expect("it began with a pipeline").switch();
    let joint = built.compiled.joins.iter().map(|join| built.compiled.tables[join.table].name.as_str());
    let described = switch.pipeline().description().tables.iter();
    let numbers: Vec<usize> = joint.filter_map(|name| described.clone().position(|table| table.name == name)).collect();
    let (hits, misses) = numbers
        .into_iter()
        .map(|number| switch.hits(number))
        .fold((0, 0), |sum, (hits, misses)| (sum.0 + hits, sum.1 + misses));
    hits as f64 / (hits + misses).max(1) as f64
}

/// What the changes of the joint table take to find for a write to an entry that a thousand joint entries are made of.
fn translation(built: &Built, records: &mut Records) {
    let table = |end: &str| -> Option<TableId> {
        built.compiled.tables.iter().find(|(_, table)| table.name.ends_with(end)).map(|(table, _)| table)
    };
    let (Some(groups), Some(members)) = (table(".groups"), table(".members")) else { return };
    let entry = |key: &[u32], data: [u32; 2]| Entry {
        matches: key.iter().map(|value| Match::Exact((*value).into())).collect(),
        priority: 0,
        action: EntryAction::Call(ActionCall { action: 0, arguments: data.map(Into::into).to_vec() }),
        constant: false,
    };
    let mut joins = Joins::new(built.compiled.clone());
    let mut write = |update: &control::Update| {
        let begin = Instant::now();
        let (write, removed) = joins.before(update);
        let inserted = joins.behind(write, true, |_| Some(1));
        (begin.elapsed(), removed.len().max(inserted.len()))
    };
    for group in 0..2 {
        for number in 0..MANY_MEMBERS {
            let entry = entry(&[group, number], [group, number]);
            write(&control::Update::Insert { table: members, entry });
        }
    }
    write(&control::Update::Insert { table: groups, entry: entry(&[0], data(0, 0)) });
    let mut times: Vec<Duration> = Vec::new();
    let mut touched = 0;
    for version in 1..=TRANSLATED {
        let entry = entry(&[0], data(0, group(version)));
        let (time, changes) = write(&control::Update::Modify { table: groups, entry });
        touched = changes;
        times.push(time);
    }
    times.sort();
    let microseconds = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    records.note("joint entries of one write", touched as f64, "");
    records.note("translation of it, p50", microseconds(50), "us");
    records.at_most("translation of it, p99", microseconds(99), "us", 100.0);
}
