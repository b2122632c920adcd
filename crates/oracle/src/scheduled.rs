//! The reference interpreter and the schedules of hot paths: what a schedule commits or drops in bulk, the interpreter
//! does, too.
//!
//! The paths are those of the packets, cut into stages at random lookups. Each plan is one that the verifier accepts.

use crate::generate::Random;
use control::DataPlane;
use control::plane::{Frame, Outcome as Ran};
use hlir::plan::{AccessMode, HotPath, Loop, StageLookup, StagedPath};
use hlir::resolved::ResolvedPath;
use hlir::value::{Bits, Value as Number};
use hlir::verify::verify_plan;
use hlir::{Algorithm, CounterId, Expression, Key, NodeId, NodeKind, Plan, Program, RegisterId, ResolvedPlan, TableId};
use interp::Switch;
use schedule::interpret::{Done, Outcome, Packet, Tables, records, run};
use schedule::text::{Part, Places, parse, print};
use schedule::verify::verify;
use schedule::{BulkDrop, NO_MEMBER, Schedule};
use std::collections::BTreeMap;

/// Bytes before a packet in its buffer, as DPDK leaves them.
const HEADROOM: u32 = 128;

/// Plans that are tried for a program.
const PLANS: usize = 4;

/// Packets that are made of each one.
const MUTATIONS: usize = 6;

/// What was compared.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Compared {
    pub schedules: u64,
    /// Packets that committed, were dropped in bulk, and ran the plain program.
    pub commits: u64,
    pub drops: u64,
    pub others: u64,
    /// Why paths have no schedule.
    pub obstacles: BTreeMap<String, u64>,
}

impl Compared {
    pub fn add(&mut self, other: &Compared) {
        self.schedules += other.schedules;
        self.commits += other.commits;
        self.drops += other.drops;
        self.others += other.others;
        for (does, times) in &other.obstacles {
            *self.obstacles.entry(does.clone()).or_default() += times;
        }
    }
}

/// Compares the schedules of some paths of a program with the interpreter, from the state that it has.
pub fn compare(program: &Program, engine: &mut Switch<'_>, packets: &[Frame], seed: u64) -> Result<Compared, String> {
    let mut random = Random::new(seed);
    let mut compared = Compared::default();
    let paths = paths(program, engine, packets);
    if paths.is_empty() {
        return Ok(compared);
    }
    let all = mutated(packets, &mut random);
    for _ in 0..PLANS {
        let path = random.pick(&paths).clone();
        let plan = match plan(program, &path, &mut random) {
            Ok(plan) => plan,
            Err(why) => {
                *compared.obstacles.entry(why.to_string()).or_default() += 1;
                continue;
            }
        };
        let plan = with_next_path(program, plan, &paths, &mut random);
        let whole = ResolvedPlan::of(program, &plan);
        let Some(path) = whole.path else { continue };
        let mut scheduled = Vec::new();
        for path in std::iter::once(path).chain(whole.next_paths) {
            let Some(schedule) = schedule(program, &path, &mut random, &mut compared) else { break };
            let text = print(program, &schedule);
            let failed = |what: String| format!("{what}\n{}\n{text}", hlir::text::print_plan(&plan));
            is_legal(program, &schedule, &text).map_err(failed)?;
            scheduled.push((path, schedule, text));
        }
        for packet in &all {
            // Each path takes what leaves all before it.
            for (path, schedule, text) in &scheduled {
                let failed = |what: String| format!("{what}\n{}\n{text}", hlir::text::print_plan(&plan));
                let one = Comparison { program, path, schedule };
                if !one.packet(engine, packet, &mut compared).map_err(failed)? {
                    break;
                }
            }
        }
    }
    Ok(compared)
}

/// A schedule keeps the rules, and its text is read as an equal one.
fn is_legal(program: &Program, schedule: &Schedule, text: &str) -> Result<(), String> {
    let broken = verify(program, schedule, &Places::default());
    if let Some(first) = broken.first() {
        return Err(format!("the schedule breaks the rule `{}`: {}", first.class().unwrap_or("?"), first.message()));
    }
    let read = parse(program, text).map_err(|errors| format!("the text cannot be read: {}", errors[0].message()))?;
    if read.schedule != *schedule || print(program, &read.schedule) != text {
        return Err("the text is read as another schedule".to_string());
    }
    Ok(())
}

/// The schedule of a path, with accesses of a random mode; none if it has none, for a reason that is counted.
fn schedule(program: &Program, path: &ResolvedPath, random: &mut Random, compared: &mut Compared) -> Option<Schedule> {
    let mode = *random.pick(&[AccessMode::Base, AccessMode::Combined, AccessMode::Cached]);
    let mut schedule = match Schedule::of(program, path) {
        Ok(schedule) => schedule,
        Err(obstacle) => {
            *compared.obstacles.entry(obstacle.does.to_string()).or_default() += 1;
            return None;
        }
    };
    schedule.combine_accesses(mode, 0, &[]);
    if let Err(obstacle) = &schedule.commit {
        *compared.obstacles.entry(format!("commits by the plain program: {}", obstacle.does)).or_default() += 1;
    }
    compared.schedules += 1;
    Some(schedule)
}

/// The nodes that packets visit, each path up to where it ends or comes back.
fn paths(program: &Program, engine: &mut Switch<'_>, packets: &[Frame]) -> Vec<Vec<NodeId>> {
    let named = |line: &String| {
        let name = line.strip_prefix("  ").filter(|name| !name.starts_with(' '))?;
        program.nodes.iter().find(|(_, node)| node.name == name).map(|(id, _)| id)
    };
    let mut paths: Vec<Vec<NodeId>> = Vec::new();
    for packet in packets {
        engine.start_trace();
        if engine.process(std::slice::from_ref(packet)).is_err() {
            break;
        }
        let mut path: Vec<NodeId> = Vec::new();
        for node in engine.take_trace().iter().filter_map(named) {
            if path.contains(&node) || path.is_empty() && Some(node) != program.entry {
                break;
            }
            path.push(node);
        }
        if !path.is_empty() && !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// A legal plan that cuts a path at some of its lookups, or at a node without one; or why there is none.
fn plan(program: &Program, path: &[NodeId], random: &mut Random) -> Result<Plan, &'static str> {
    let tables: Vec<(NodeId, TableId)> =
        path.iter().filter_map(|node| Some((*node, hlir::hot_path::table_of(program, *node)?))).collect();
    let name = |node: NodeId| program.nodes[node].name.clone();
    let (first, others) = if tables.is_empty() || random.chance(25) {
        let place = random.below(path.len());
        let is_behind = |(table, _): &&(NodeId, TableId)| path[place + 1..].contains(table);
        (path[place], tables.iter().filter(is_behind).copied().collect())
    } else {
        let first = random.below(tables.len());
        (tables[first].0, tables[first + 1..].to_vec())
    };
    let mut loops = vec![cut(name(first))];
    if !others.is_empty() && random.chance(50) {
        let (other, table) = *random.pick(&others);
        if random.chance(50) {
            loops.push(cut(name(other)));
        } else {
            loops[0].lookups.push(StageLookup { table: program.tables[table].name.clone(), reason: None });
        }
    }
    let mut actions = BTreeMap::new();
    for (at, on_path) in path.iter().enumerate() {
        let Some(table) = hlir::hot_path::table_of(program, *on_path).filter(|_| random.chance(60)) else { continue };
        actions.insert(at, random.pick(&program.tables[table].actions).name.clone());
    }
    let nodes = path.iter().map(|node| name(*node)).collect();
    let hot_path = HotPath { nodes, actions: actions.into(), reason: None };
    let plan = Plan { burst: 32, hot_path: Some(hot_path), loops, ..Plan::default() };
    if verify_plan(program, &plan).is_empty() { Ok(plan) } else { Err("has no legal plan with these cuts") }
}

/// The plan with another path for packets that leave it, if there is a legal one.
fn with_next_path(program: &Program, plan: Plan, paths: &[Vec<NodeId>], random: &mut Random) -> Plan {
    let path = random.pick(paths).clone();
    let Ok(Plan { hot_path: Some(path), loops, .. }) = self::plan(program, &path, random) else { return plan };
    let both = Plan { next_paths: vec![StagedPath { path, loops }], ..plan.clone() };
    if verify_plan(program, &both).is_empty() { both } else { plan }
}

fn cut(node: String) -> Loop {
    Loop { node, batch: 32, group: 32, vector: 1, lookups: Vec::new(), prefetches: Vec::new(), reason: None }
}

/// The packets, and each one with other bytes, ports and lengths.
fn mutated(packets: &[Frame], random: &mut Random) -> Vec<Frame> {
    let mut all = packets.to_vec();
    for packet in packets {
        for _ in 0..MUTATIONS {
            let mut other = packet.clone();
            for _ in 0..random.between(1, 3) {
                if !other.bytes.is_empty() {
                    let at = random.below(other.bytes.len());
                    other.bytes[at] = if random.chance(50) { random.next() as u8 } else { packet.bytes[at] ^ 1 };
                }
            }
            if random.chance(15) {
                other.bytes.truncate(random.below(other.bytes.len() + 1));
            }
            all.push(other);
        }
    }
    all
}

/// Everything that a packet changes, as differences.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Changes {
    sent: Vec<(u32, Vec<u8>)>,
    /// Packets and bytes, by counter and index.
    counted: BTreeMap<(u32, u64), (u64, u64)>,
    dropped: BTreeMap<String, u64>,
    /// Hits and misses by table.
    lookups: BTreeMap<u32, (u64, u64)>,
}

/// A schedule that is compared.
struct Comparison<'p> {
    program: &'p Program,
    path: &'p ResolvedPath,
    schedule: &'p Schedule,
}

impl Comparison<'_> {
    /// Returns whether the packet leaves the path before anything has happened to it.
    fn packet(&self, engine: &mut Switch<'_>, frame: &Frame, compared: &mut Compared) -> Result<bool, String> {
        let packet = Packet { bytes: &frame.bytes, port: frame.port, headroom: HEADROOM };
        let tables = OfSwitch { program: self.program, engine };
        let outcome = run(self.schedule, packet, &tables, Part::Commit);
        let mut expected = Vec::new();
        match &outcome {
            Outcome::Short { .. } | Outcome::Leaves | Outcome::Plain => {}
            Outcome::Exits { stage, exit } => {
                let end = self.schedule.stages[*stage].exits[*exit].end.as_ref();
                expected.extend(end.map(|end| ("the bulk drop", self.dropped(frame, end))));
            }
            Outcome::Commits(done) => {
                expected.push(("commit", self.committed(frame, done)));
                let records = records(self.schedule, packet, &tables);
                if self.runs_expected_actions(&tables, &records) && self.schedule.expected.is_some() {
                    let Outcome::Commits(done) = run(self.schedule, packet, &tables, Part::Expected) else {
                        return Err(format!("{frame:?} commits, but not where it runs the expected actions"));
                    };
                    expected.push(("the expected commit", self.committed(frame, &done)));
                }
                expected.extend(self.missed(frame, engine, &records).map(|changes| ("the drop of misses", changes)));
            }
        }
        match (expected.is_empty(), &outcome) {
            (true, _) => compared.others += 1,
            (false, Outcome::Exits { .. }) => compared.drops += 1,
            (false, _) => compared.commits += 1,
        }
        let leaves = expected.is_empty() && !matches!(outcome, Outcome::Plain);
        let found = self.interpreted(engine, frame)?;
        for (what, expected) in expected {
            if expected != found {
                return Err(format!(
                    "{what} of {frame:?} differs\n  by the schedule    {expected:?}\n  by the interpreter {found:?}"
                ));
            }
        }
        Ok(leaves)
    }

    fn runs_expected_actions(
        &self,
        tables: &OfSwitch<'_, '_>,
        records: &std::collections::HashMap<NodeId, u64>,
    ) -> bool {
        self.schedule.lookups.iter().all(|lookup| {
            let record = records[&lookup.node];
            let expected = self.path.actions.get(&lookup.place);
            record > 0 && expected.is_none_or(|action| tables.action(lookup.node, record, None) as usize == *action)
        })
    }

    /// What the drop of misses changes, if the packet missed and the default action is the original one.
    fn missed(
        &self,
        frame: &Frame,
        engine: &Switch<'_>,
        records: &std::collections::HashMap<NodeId, u64>,
    ) -> Option<Changes> {
        let drop = self.schedule.commit.as_ref().ok()?.missed.as_ref()?;
        let [lookup] = &self.schedule.lookups[..] else { return None };
        let original = &self.program.tables[lookup.table].default;
        let (action, arguments) = engine.record_action(lookup.table, 0, None)?;
        let is_original = action == original.action
            && arguments.iter().zip(&original.arguments).all(|(now, before)| now.bits.to_big() == *before);
        if records[&lookup.node] != 0 || !is_original {
            return None;
        }
        let mut changes = self.dropped(frame, drop);
        changes.lookups.insert(number(lookup.table), (0, 1));
        Some(changes)
    }

    fn dropped(&self, frame: &Frame, drop: &BulkDrop) -> Changes {
        let mut changes = Changes::default();
        for at in &drop.counted {
            changes.count(at.counter, at.index, frame);
        }
        changes.dropped.insert(drop.reason.clone(), 1);
        changes
    }

    fn committed(&self, frame: &Frame, done: &[Done]) -> Changes {
        let mut changes = Changes::default();
        let mut bytes = frame.bytes.clone();
        let table = |node: &NodeId| {
            let NodeKind::Apply { table, .. } = &self.program.nodes[*node].kind else {
                panic!("a lookup is of a table")
            };
            number(*table)
        };
        for lookup in &self.schedule.lookups {
            changes.lookups.entry(number(lookup.table)).or_default().0 += 1;
        }
        for done in done {
            match done {
                Done::Move { bytes: more @ 0.. } => drop(bytes.splice(0..0, vec![0; *more as usize])),
                Done::Move { bytes: less } => drop(bytes.drain(..less.unsigned_abs() as usize)),
                Done::Store { bit, value } => store(&mut bytes, *bit, value),
                Done::Count { counter, index } if *index >= self.program.counters[*counter].size => {}
                Done::Count { counter, index } => changes.count(*counter, *index, frame),
                Done::CountDirect { counter, record, .. } => changes.count(*counter, *record, frame),
                Done::NotMade { lookup } => changes.lookups.entry(table(lookup)).or_default().0 -= 1,
                Done::Miss { lookup } => {
                    let counts = changes.lookups.entry(table(lookup)).or_default();
                    let is_counted = hlir::hot_path::table_of(self.program, *lookup).is_some();
                    counts.0 -= u64::from(is_counted);
                    counts.1 += 1;
                }
                // Timers, registers and digests are compared by other tests.
                Done::Touch { .. } | Done::Restart { .. } | Done::Digest { .. } | Done::Write { .. } => {}
                Done::Made { lookup } => changes.lookups.entry(table(lookup)).or_default().0 += 1,
                Done::Drop { reason } => *changes.dropped.entry(reason.clone()).or_default() += 1,
                Done::Send { port } => changes.sent.push((*port as u32, bytes.clone())),
            }
        }
        changes.lookups.retain(|_, counts| *counts != (0, 0));
        changes
    }

    /// What the interpreter does with a packet.
    fn interpreted(&self, engine: &mut Switch<'_>, frame: &Frame) -> Result<Changes, String> {
        let before = self.state(engine);
        let ran: Ran = engine.process(std::slice::from_ref(frame)).map_err(|refusal| refusal.sentence)?;
        let mut changes = self.state(engine);
        changes.subtract(&before);
        changes.sent = ran.outputs.into_iter().map(|output| (output.port, output.bytes)).collect();
        Ok(changes)
    }

    /// All counts of a switch.
    fn state(&self, engine: &mut Switch<'_>) -> Changes {
        let mut state = Changes::default();
        for (counter, _) in self.program.counters.iter() {
            for (index, value) in engine.counted(counter) {
                state.counted.insert((number(counter), index), (value.packets, value.bytes));
            }
        }
        state.dropped = self.program.drop_reasons().into_iter().zip(engine.drops()).collect();
        for (table, _) in self.program.tables.iter() {
            let counts = engine.table_counts(table);
            state.lookups.insert(number(table), (counts.hits, counts.misses));
        }
        state
    }
}

impl Changes {
    fn count(&mut self, counter: CounterId, index: u64, frame: &Frame) {
        let counted = self.counted.entry((number(counter), index)).or_default();
        counted.0 += 1;
        counted.1 += frame.bytes.len() as u64;
    }

    /// What has changed since an earlier state.
    fn subtract(&mut self, before: &Changes) {
        let less = |(packets, bytes): &mut (u64, u64), before: Option<&(u64, u64)>| {
            let (some, more) = before.copied().unwrap_or_default();
            (*packets, *bytes) = (*packets - some, *bytes - more);
            (*packets, *bytes) != (0, 0)
        };
        self.counted.retain(|at, counts| less(counts, before.counted.get(at)));
        self.lookups.retain(|at, counts| less(counts, before.lookups.get(at)));
        self.dropped.retain(|reason, count| {
            *count -= before.dropped.get(reason).copied().unwrap_or(0);
            *count > 0
        });
    }
}

fn number<T>(id: la_arena::Idx<T>) -> u32 {
    id.into_raw().into_u32()
}

/// Writes bits of a packet, most significant first.
fn store(bytes: &mut [u8], bit: u32, value: &Number) {
    for at in 0..value.width {
        let is_set = value.bits.to_big().bit(u64::from(value.width - 1 - at));
        let (byte, mask) = ((bit + at) as usize / 8, 0x80 >> ((bit + at) % 8));
        bytes[byte] = if is_set { bytes[byte] | mask } else { bytes[byte] & !mask };
    }
}

/// The interpreter's entries and registers.
struct OfSwitch<'s, 'p> {
    program: &'p Program,
    engine: &'s Switch<'p>,
}

impl OfSwitch<'_, '_> {
    fn table(&self, node: NodeId) -> TableId {
        let NodeKind::Apply { table, .. } = &self.program.nodes[node].kind else { panic!("a lookup is of a table") };
        *table
    }
}

impl Tables for OfSwitch<'_, '_> {
    fn found(&self, table: TableId, key: &Number) -> u64 {
        let mut fields = self.program.key_fields(table).into_iter().peekable();
        let of_key =
            |(index, declared): (usize, &Key)| match (fields.next_if(|field| field.index == index), &declared.value) {
                (Some(field), _) if field.width != 0 => {
                    key.clone().slice(field.shift + field.width - 1, field.shift).bits
                }
                (None, Expression::Constant { value, width }) => Bits::from_big(value, *width),
                (Some(_) | None, _) => Bits::zero(0),
            };
        let key: Vec<Bits> = self.program.tables[table].keys.iter().enumerate().map(of_key).collect();
        self.engine.record(table, &key)
    }

    fn action(&self, node: NodeId, record: u64, hash: Option<u64>) -> u32 {
        self.engine.record_action(self.table(node), record, hash).map_or(NO_MEMBER, |(action, _)| action)
    }

    fn parameter(&self, node: NodeId, (record, hash): (u64, Option<u64>), action: usize, parameter: usize) -> Number {
        let table = self.table(node);
        let width = self.program.tables[table].actions[action].parameters[parameter].width;
        match self.engine.record_action(table, record, hash) {
            Some((runs, arguments)) if runs as usize == action => arguments[parameter].clone(),
            // Any bits: these show where they are used.
            Some(_) | None => Number { width, bits: Bits::ones(width) },
        }
    }

    fn register(&self, register: RegisterId, index: u64) -> Number {
        self.engine.element(register, index)
    }

    fn hash(&self, algorithm: Algorithm, bytes: &[u8]) -> u64 {
        interp::hash::hash(algorithm, bytes)
    }
}
