//! A hot path by its schedule: the stages for one packet, and its commit.

use super::scalar::Scalar;
use super::{HotPath, inline, name};
use crate::body::word_type;
use crate::c::{Expr, Item, Member, Stmt};
use crate::unit::{Unit, origin};
use hlir::NodeId;
use hlir::resolved::ResolvedPlan;
use schedule::vector::Number;
use schedule::{BulkDrop, Commit, Does, Lanes, LanesExits, Lookup, Obstacle, Operation, Planned, Schedule, Value};

/// The schedule of a hot path, and its vector code.
pub struct Scheduled {
    pub schedule: Schedule,
    /// The first stage as vector code, if the plan has it so; or why it has none.
    pub lanes: Option<Result<Lanes, &'static str>>,
    /// The side exits of the vector code, if some are bulk drops.
    pub exits: Option<LanesExits>,
    /// Values of the expected commit that the first stage computes, with their member of `struct path`.
    pub(super) kept: Vec<(Value, String)>,
}

impl Scheduled {
    /// Of a plan with this hot path.
    pub fn of(unit: &Unit, plan: &ResolvedPlan) -> Result<Scheduled, Obstacle> {
        let planned = Planned::of(unit.program, plan).expect("the plan has a hot path")?;
        let kept = planned.kept();
        let Planned { schedule, lanes, exits, .. } = planned;
        let kept = kept.into_iter().map(|value| (value, stored_name(unit, &schedule, value))).collect();
        Ok(Scheduled { schedule, lanes, exits, kept })
    }

    /// The vector code of the first stage.
    pub fn vector(&self) -> Option<&Lanes> {
        self.lanes.as_ref()?.as_ref().ok()
    }

    /// The scheduled commit phase; none if packets commit by the nodes of the plain program.
    pub fn commit(&self) -> Option<&Commit> {
        self.schedule.commit.as_ref().ok()
    }

    /// What becomes of misses behind vector code, if that is a bulk drop.
    pub fn missed(&self) -> Option<&BulkDrop> {
        self.vector().and(self.commit()?.missed.as_ref())
    }

    /// Whether packets may take a side exit at commit.
    pub fn may_exit(&self) -> bool {
        self.schedule.may_exit()
    }

    /// What the vector code stores per packet beside keys: members of `struct path`, and numbers of steps.
    pub fn stored(&self) -> Vec<(String, Number, bool)> {
        let Some(lanes) = self.vector() else { return Vec::new() };
        let kept = lanes.kept.iter().zip(&self.kept).map(|((_, number), (_, title))| (title.clone(), *number, true));
        let reads = lanes.reads.iter().enumerate().map(|(index, (_, number))| (read_name(index), *number, false));
        kept.chain(reads).collect()
    }

    pub(super) fn reads(&self) -> impl Iterator<Item = Value> {
        self.schedule.stages.iter().flat_map(|stage| stage.reads.iter().copied())
    }

    /// Bytes of the packet that commit may read.
    pub(super) fn bytes(&self) -> u32 {
        self.schedule.stages.iter().map(|stage| stage.bytes).max().unwrap_or(0)
    }
}

fn stored_name(unit: &Unit, schedule: &Schedule, value: Value) -> String {
    let effects = schedule.expected.iter().flat_map(|commit| &commit.effects);
    let mut stores = effects.filter_map(|effect| {
        let Does::Store { bit, value: stored, field } = &effect.does else { return None };
        (*stored == value).then_some((bit / 8, field.header))
    });
    let (byte, header) = stores.next().expect("what is kept is stored");
    format!("{}_bytes_{byte}", unit.header_name(header))
}

pub(super) fn read_name(index: usize) -> String {
    format!("read_{index}")
}

impl HotPath<'_> {
    /// Members of `struct path`.
    pub(super) fn scheduled_members(&self) -> Vec<Member> {
        let scheduled = &self.scheduled;
        let group = self.plan.group;
        let kept = scheduled
            .kept
            .iter()
            .map(|(_, title)| Member::plain("uint32_t", format!("{title}[{group}]"), "of the packet, as they will be"));
        let reads = scheduled
            .reads()
            .enumerate()
            .map(|(index, _)| Member::plain("uint64_t", format!("{}[{group}]", read_name(index)), "of a register"));
        kept.chain(reads).collect()
    }

    /// The packet, and its first byte.
    pub(super) fn packet_declared(&self, again: bool) -> Vec<Stmt> {
        let taken = match again && !self.unit.own() {
            true => Expr::call("packet_known", [name("burst"), name("from + i"), name("path->data[i]")]),
            false => Expr::call("packet_take", [name("burst"), name("from + i")]),
        };
        vec![
            Stmt::declare("const struct packet", "packet", taken),
            Stmt::declare("uint8_t *const", "data", Expr::call("packet_data", [name("&packet")])),
        ]
    }

    /// A stage for packet `i`: its keys, or a side exit.
    pub(super) fn scheduled_packet(&self, number: usize) -> Vec<Stmt> {
        let scheduled = &self.scheduled;
        let stage = &scheduled.schedule.stages[number];
        let mut code = self.packet_declared(number > 0);
        if number == 0 && !self.unit.own() {
            code.push(Stmt::set(name("path->data[i]"), name("data")));
        }
        code.push(Stmt::declare("bool", "stays", name("false")));
        code.push(Stmt::Blank);
        let long = Expr::binary(">=", Expr::call("packet_contiguous", [name("&packet")]), Expr::word(stage.bytes));
        let mut condition = Expr::call("__builtin_expect", [long, name("1")]);
        if number > 0 {
            let left = Expr::binary("&", Expr::binary(">>", name("exits"), name("i")), name("1"));
            condition = Expr::binary("&&", Expr::unary("!", left), condition);
        }
        code.push(Stmt::when(condition, self.scheduled_stage(scheduled, number)));
        let mut exit = vec![Stmt::Assign(name("path->exits"), "|=", Expr::binary("<<", name("1ull"), name("i")))];
        for lookup in &self.plan.stages[number].lookups {
            let key = name(format!("path->{}_key[i]", self.look_up_name(lookup.place)));
            exit.push(Stmt::call("memset", [key.clone(), name("0"), Expr::call("sizeof", [key])]));
        }
        code.push(Stmt::when(Expr::unary("!", name("stays")), exit));
        super::effects::unused_locals(&mut code);
        code
    }

    /// What a packet that is long enough does.
    fn scheduled_stage(&self, scheduled: &Scheduled, number: usize) -> Vec<Stmt> {
        let schedule = &scheduled.schedule;
        let stage = &schedule.stages[number];
        let keys: Vec<&Lookup> = schedule.lookups.iter().filter(|lookup| lookup.stage == Some(number)).collect();
        let (first, last) = self.places(number);
        let at_once: Vec<&Lookup> = schedule
            .lookups
            .iter()
            .filter(|lookup| lookup.stage.is_none() && (first..last).contains(&lookup.place))
            .collect();
        let kept: &[(Value, String)] = if number == 0 { &scheduled.kept } else { &[] };
        let looked_up = keys.iter().chain(&at_once).flat_map(|lookup| lookup.key.iter().copied());
        let results: Vec<Value> = looked_up
            .chain(stage.exits.iter().map(|exit| exit.when))
            .chain(kept.iter().map(|(value, _)| *value))
            .chain(stage.reads.iter().copied())
            .collect();
        let mut writer = Scalar::new(self, schedule, stage.bytes, &results);
        let before: usize = schedule.stages[..number].iter().map(|stage| stage.reads.len()).sum();
        for (index, value) in scheduled.reads().enumerate().take(before) {
            writer.keep(value, self.read_again(value, index));
        }
        for lookup in &at_once {
            self.looked_up_at_once(lookup, &mut writer);
        }
        let mut leaves: Option<Expr> = None;
        for exit in &stage.exits {
            let condition = writer.value(exit.when);
            leaves = Some(match leaves {
                None => condition,
                Some(others) => Expr::binary("||", others, condition),
            });
        }
        if let Some(leaves) = leaves {
            let nodes = self.places_of(stage.exits.iter().map(|exit| exit.node));
            writer.code.push(Stmt::Comment(format!("Others leave at {nodes}.")));
            writer.code.push(Stmt::set(name("stays"), Expr::unary("!", leaves)));
        } else {
            writer.code.push(Stmt::set(name("stays"), name("true")));
        }
        let mut code = std::mem::take(&mut writer.code);
        for (index, value) in stage.reads.iter().enumerate() {
            let held = writer.value(*value);
            writer.code.push(Stmt::set(name(format!("path->{}[i]", read_name(before + index))), held));
        }
        for lookup in keys {
            self.key_stored(lookup, &mut writer);
        }
        for (value, title) in kept {
            let bits = schedule.values.width(*value);
            let held = writer.value(*value);
            let to = Expr::cast("uint8_t *", name(format!("&path->{title}[i]")));
            writer.code.push(Stmt::call("bits_store", [to, Expr::word(0), Expr::word(bits), held]));
        }
        let stays = Expr::call("__builtin_expect", [name("stays"), name("1")]);
        code.push(Stmt::when(stays, writer.code));
        code
    }

    /// A value that an earlier stage has read.
    pub(super) fn read_again(&self, value: Value, index: usize) -> Expr {
        let width = self.scheduled.schedule.values.width(value);
        Expr::cast(word_type(width), name(format!("path->{}[i]", read_name(index))))
    }

    /// The names of nodes, each once, with their lines of the program.
    pub(super) fn places_of(&self, nodes: impl Iterator<Item = NodeId>) -> String {
        let mut places: Vec<String> = Vec::new();
        for node in nodes {
            let node = self.unit.node(node);
            let line = origin(&node.notes).map_or(String::new(), |line| format!(" ({line})"));
            let place = format!("{}{line}", node.name);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.join(", ")
    }

    /// Positions of the nodes that a stage runs.
    fn places(&self, number: usize) -> (usize, usize) {
        let first = if number == 0 { 0 } else { self.plan.stages[number - 1].place };
        (first, self.plan.stages[number].place)
    }

    fn key_stored(&self, lookup: &Lookup, writer: &mut Scalar) {
        let held = self.look_up_name(lookup.place);
        let keys = lookup.key.iter().map(|limb| writer.value(*limb)).collect::<Vec<Expr>>();
        let stores = keys
            .into_iter()
            .enumerate()
            .map(|(limb, value)| Stmt::set(name(format!("path->{held}_key[i][{limb}]")), value));
        let stores: Vec<Stmt> = stores.collect();
        match self.was_empty(lookup.place) {
            Some(is_empty) => writer.code.push(Stmt::when(Expr::unary("!", is_empty), stores)),
            None => writer.code.extend(stores),
        }
    }

    /// A lookup that a stage makes packet by packet.
    fn looked_up_at_once(&self, lookup: &Lookup, writer: &mut Scalar) {
        let limbs: Vec<Expr> = lookup.key.iter().map(|limb| writer.value(*limb)).collect();
        let title = format!("{}_key", self.title(lookup.place));
        let of = format!("{title}[{}]", limbs.len());
        writer.code.push(Stmt::declare("const uint64_t", of, Expr::List(limbs)));
        let found = Expr::call(format!("{}_find", self.title(lookup.place)), [name("run"), name(title)]);
        writer.code.push(Stmt::set(self.found_at(lookup.place), found));
    }

    /// The functions of lookups that are made packet by packet, and of registers.
    pub(super) fn scheduled_items(&self) -> Vec<Item> {
        let scheduled = &self.scheduled;
        let mut items = Vec::new();
        let at_once = scheduled.schedule.lookups.iter().filter(|lookup| lookup.stage.is_none());
        let at_once = at_once.map(|lookup| (lookup.node, lookup.table));
        let late = scheduled.commit().into_iter().flat_map(|commit| &commit.lookups);
        for (node, table) in at_once.chain(late.map(|late| (late.node, late.table))) {
            let (hash, found) = self.looked_up(table);
            let mut body = Vec::new();
            if self.unit.skips_empty(table) {
                body.push(Stmt::when(self.unit.is_empty(table), vec![Stmt::result(Expr::word(0))]));
            }
            body.push(Stmt::declare("const uint64_t", "hash", hash));
            body.push(Stmt::Blank);
            body.push(Stmt::result(found));
            let parameters = ["const struct run *run", "const uint64_t *key"];
            items.extend(inline("uint32_t", format!("{}_find", self.unit.node_name(node)), &parameters, body));
        }
        if scheduled.vector().is_none() {
            let registers = scheduled.reads().filter_map(|read| {
                let Operation::Register { register, .. } = scheduled.schedule.values.of(read) else { return None };
                Some(*register)
            });
            items.extend(self.register_items(registers.collect()));
        }
        items
    }
}
