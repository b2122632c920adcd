//! Vector code of the first stage: header words of several packets per vector, and everything up to the first
//! cut as vector operators.
//!
//! `path_vector` computes keys and marks side exits: packets for which some check has another result than the
//! path's. A side exit runs from its beginning, so the mask may be conservative. `path_scalar` does the same
//! packet by packet, for vectors with a packet that is too short to be loaded, and for the remainder of a
//! group.

use super::{HotPath, each_from, inline, name, vector_constants};
use crate::c::{Expr, Item, Stmt};
use crate::namer::{Namer, at_top};
use crate::unit::number;
use hlir::RegisterId;
use hlir::resolved::ResolvedStage;
use schedule::Lanes;
use schedule::vector::{Number, Operator, Step, TableRead, row_of};
use std::collections::{BTreeSet, HashMap};

/// Names that the code around a writer's has.
const TAKEN: [&str; 12] =
    ["run", "burst", "from", "i", "path", "numbers", "packets", "leave", "leaves", "open", "memory", "worker"];

/// Operators in an expression beyond which its parts get names.
const LARGEST: u32 = 5;

impl HotPath<'_> {
    pub(super) fn in_lanes(&self) -> Option<(u32, Lanes)> {
        Some((self.plan.vector, self.scheduled.vector()?.clone()))
    }

    /// Packets per vector of the first stage, of this path or a next one, if it is vector code.
    pub fn side_by_side(&self) -> Option<u32> {
        std::iter::once(self).chain(&self.next).find_map(|path| path.lanes.as_ref().map(|(packets, _)| *packets))
    }

    /// The functions of the stage: for a vector of packets, and for one packet.
    pub(super) fn lanes_items(&self, stage: &ResolvedStage, lanes: &Lanes, one: Vec<Stmt>) -> Vec<Item> {
        let mut items = self.record_items(lanes);
        items.push(Item::Comment("A packet of the group up to the first cut, and its keys.".to_string()));
        let parameters =
            ["struct run *run", "const struct burst *burst", "uint32_t from", "uint32_t i", "struct path *path"];
        items.extend(inline("void", "path_scalar", &parameters, one));
        let kept = vector_constants::of(lanes);
        items.extend(vector_constants::items(&kept));
        items.push(Item::Comment(
            "The same for LANES packets at once, from number `i` of the group on. Returns false, without keys, if one is too short."
                .to_string(),
        ));
        let mut parameters = vec![
            "const struct run *run",
            "const struct burst *burst",
            "uint32_t from",
            "uint32_t i",
            "struct path *path",
        ];
        if !kept.is_empty() {
            parameters.push(vector_constants::PARAMETER);
        }
        items.extend(inline("bool", "path_vector", &parameters, self.lanes_body(stage, lanes, kept)));
        items
    }

    /// Lookups before the cut and reads of their records: for one packet, and for a vector. Packets of one
    /// port often have equal keys.
    fn record_items(&self, lanes: &Lanes) -> Vec<Item> {
        let registers = lanes.steps.iter().filter_map(read_register).collect();
        let mut items = self.register_items(registers);
        for step in &lanes.steps {
            let Step::TableRead { place, what, .. } = *step else { continue };
            let node = self.node_title(place);
            let (about, of_one) = match what {
                TableRead::Found => (format!("The record number that {node} finds."), self.found_by(place)),
                TableRead::Record => {
                    let resolved = self.unit.record_number(self.table(place), name("number"));
                    ("The same, or the default action's record.".to_string(), vec![Stmt::result(resolved)])
                }
                TableRead::Action => {
                    (format!("The action of a record of {node}."), self.of_record(place, "action".to_string()))
                }
                TableRead::Parameter { action, parameter, part } => {
                    let (action, parameter) = self.names_of(place, action, parameter);
                    let bits = if part == 0 { "" } else { ", from bit 32 on," };
                    let about = format!("{parameter}{bits} of a record of {node} whose action is {action}.");
                    (about, self.part_of_record(place, format!("{action}.{parameter}"), part))
                }
            };
            let title = self.title_of(place, what);
            items.push(Item::Comment(about));
            items.extend(read_items(&title, of_one));
        }
        items
    }

    /// Reads of registers that no packet writes: for one packet, and for a vector.
    pub(super) fn register_items(&self, registers: BTreeSet<RegisterId>) -> Vec<Item> {
        let mut items = Vec::new();
        for register in registers {
            let declared = &self.unit.program.registers[register];
            let array = Expr::unary("&", name(format!("run->worker->shared->registers[{}]", number(register))));
            let element = Expr::word(crate::table::element_bytes(declared.width));
            let read = Expr::call("state_read", [array, name("number"), element, name("&held")]);
            let code = vec![
                Stmt::declare("uint64_t", "held", Expr::long(0)),
                Stmt::Blank,
                Stmt::Do(Expr::cast("void", read)),
                Stmt::result(Expr::cast("uint32_t", name("held"))),
            ];
            items.push(Item::Comment(format!("The register {} at an index; 0 beyond its end.", declared.name)));
            items.extend(read_items(&register_title(register), code));
        }
        items
    }

    fn node_title(&self, place: usize) -> &str {
        &self.unit.node(self.plan.nodes[place]).name
    }

    /// The function that reads the table for one packet. Names of actions and parameters would not be unique.
    fn title_of(&self, place: usize, what: TableRead) -> String {
        let node = self.title(place);
        match what {
            TableRead::Found => format!("{node}_found_by"),
            TableRead::Record => format!("{node}_record_of"),
            TableRead::Action => format!("{node}_action_of"),
            TableRead::Parameter { action, parameter, part: 0 } => format!("{node}_data_{action}_{parameter}_of"),
            TableRead::Parameter { action, parameter, part } => {
                format!("{node}_data_{action}_{parameter}_part_{part}_of")
            }
        }
    }

    /// A lookup of the key `number`, made at once.
    fn found_by(&self, place: usize) -> Vec<Stmt> {
        let key = Stmt::declare("const uint64_t", "key[1]", Expr::List(vec![name("number")]));
        let (hash, found) = self.looked_up(self.table(place));
        let table = self.table(place);
        let missed = || Stmt::when(self.unit.is_empty(table), vec![Stmt::result(Expr::word(0))]);
        let missed = self.unit.skips_empty(table).then(missed);
        let hash = Stmt::declare("const uint64_t", "hash", hash);
        [key, hash, Stmt::Blank].into_iter().chain(missed).chain([Stmt::result(found)]).collect()
    }

    /// A member of the record `number`.
    fn of_record(&self, place: usize, member: String) -> Vec<Stmt> {
        self.part_of_record(place, member, 0)
    }

    /// 32 bits of a member of the record `number`, the lowest ones as part 0.
    fn part_of_record(&self, place: usize, member: String, part: u32) -> Vec<Stmt> {
        let table = self.table(place);
        let record = self.unit.record_of(table, self.unit.records(table), name("number"));
        let kind = format!("const struct {}_record *const", self.unit.table_name(table));
        let whole = Expr::Name(format!("record->{member}"));
        let value = match part {
            0 => whole,
            part => Expr::cast("uint32_t", Expr::binary(">>", whole, Expr::word(32 * part))),
        };
        vec![Stmt::declare(kind, "record", record), Stmt::Blank, Stmt::result(value)]
    }

    /// The names of an action and a parameter.
    fn names_of(&self, place: usize, action: usize, parameter: usize) -> (&str, &str) {
        let (names, table) = (&self.unit.names, number(self.table(place)));
        (&names.actions[table][action], &names.parameters[table][action][parameter])
    }

    fn lanes_body(&self, stage: &ResolvedStage, lanes: &Lanes, kept: BTreeSet<u32>) -> Vec<Stmt> {
        let at = || Expr::binary("+", name("from"), name("i"));
        let data = name(if self.unit.own() { "NULL" } else { "path->data + i" });
        let mut body = declared(&lanes.rows);
        body.push(Stmt::Blank);
        let taken = Expr::call("lanes_take", [name("burst"), at(), Expr::word(lanes.bytes), data, name("&packets")]);
        let short = Expr::call("__builtin_expect", [Expr::unary("!", taken), name("0")]);
        body.push(Stmt::when(short, vec![Stmt::result(name("false"))]));
        body.extend(loaded(&lanes.rows));
        let keys = lanes.keys.iter().flat_map(|(_, key)| key.iter().copied());
        let found = lanes.found.iter().map(|(_, number)| *number);
        let scheduled = self.scheduled.stored();
        let drops = self.tells_drops().then_some(lanes.drops);
        let held = scheduled.iter().map(|(_, number, _)| *number);
        let results = keys.chain(found).chain(held).chain([lanes.exits]).chain(drops);
        let mut writer =
            Writer::new(self, &lanes.steps, &lanes.rows, results, Expr::call("lanes_ports", [name("burst"), at()]))
                .keeping(kept)
                .calling(lanes.names.clone());
        for lookup in &stage.lookups {
            let key = lanes.keys.iter().find(|(of, _)| *of == lookup.place).map_or(&[][..], |(_, key)| key);
            let held = self.look_up_name(lookup.place);
            let limbs = crate::body::limbs(self.unit.key_bits(lookup.table));
            let halves = (0..2 * limbs).map(|half| match key.get(half as usize) {
                Some(part) => writer.vector(*part),
                None => Expr::call("lanes_broadcast", [Expr::word(0)]),
            });
            let stores = key_stored(held, limbs, &halves.collect::<Vec<Expr>>());
            writer.code.extend(stores);
        }
        for (place, found) in &lanes.found {
            let made = writer.vector(*found);
            let to = Expr::unary("&", self.found_at(*place));
            writer.code.push(Stmt::call("lanes_store_numbers", [to, made]));
        }
        held_stored(scheduled, &mut writer);
        let noted = self.leaving_noted(lanes, &mut writer);
        body.extend(writer.code);
        body.extend(noted);
        body.push(Stmt::result(name("true")));
        body
    }

    /// Marks side exits, and those of them that are bulk drops.
    fn leaving_noted(&self, lanes: &Lanes, writer: &mut Writer) -> Vec<Stmt> {
        let bits = |mask| Expr::binary("<<", Expr::cast("uint64_t", Expr::call("lanes_movemask", [mask])), name("i"));
        let add = |to, set| Stmt::Assign(name(to), "|=", set);
        let leaves = writer.leaves(lanes.exits);
        if leaves.is_some() && self.tells_drops() && lanes.drops == lanes.exits {
            let both = ["path->exits", "path->drops"].map(|to| add(to, name("leave")));
            return leaves
                .map(|mask| Stmt::declare("const uint64_t", "leave", bits(mask)))
                .into_iter()
                .chain(both)
                .collect();
        }
        let drops = self.tells_drops().then(|| writer.vector(lanes.drops));
        let noted = [("path->exits", leaves), ("path->drops", drops)];
        noted.into_iter().filter_map(|(to, mask)| Some(add(to, bits(mask?)))).collect()
    }

    /// The stage: vectors of packets, or packet by packet where a vector does not fit, then the plan's
    /// prefetches.
    pub(super) fn lanes_loop(&self, lanes: &Lanes, requests: Vec<Stmt>, together: bool) -> Vec<Stmt> {
        let numbers = vector_constants::of(lanes);
        let end = || Expr::binary("+", name("first"), name("size"));
        let rest = Expr::binary("-", name("count"), name("first"));
        let full = Expr::binary(">=", rest.clone(), name("LANES"));
        let is_less = Expr::binary("!=", name("size"), name("LANES"));
        let kept = (!numbers.is_empty()).then(|| name("&numbers"));
        let some = ["run", "burst", "from", "first", "path"].map(name).into_iter().chain(kept);
        let some = Expr::call("path_vector", some);
        let one = Stmt::call("path_scalar", ["run", "burst", "from", "i", "path"].map(name));
        let mut body = vec![
            Stmt::declare("const uint32_t", "size", Expr::conditional(full, name("LANES"), rest)),
            Stmt::Blank,
            Stmt::when(
                Expr::binary("||", is_less, Expr::unary("!", some)),
                vec![each_from("i", name("first"), end(), vec![one])],
            ),
        ];
        if !requests.is_empty() {
            body.push(each_from("i", name("first"), end(), requests));
        }
        if together {
            body.push(Stmt::call("path_addresses_0", ["path", "first", "size"].map(name)));
        }
        let (from, to) = (Expr::word(0), name("count"));
        let groups = Stmt::Count { name: "first".to_string(), from, to, step: name("LANES"), body };
        vector_constants::made(&numbers).into_iter().chain([groups]).collect()
    }
}

/// Stores what commit needs: bytes of the packet, or values of registers.
fn held_stored(held: Vec<(String, Number, bool)>, writer: &mut Writer) {
    for (title, number, is_bytes) in held {
        let made = writer.vector(number);
        let to = Expr::unary("&", name(format!("path->{title}[i]")));
        let high = Expr::call("lanes_broadcast", [Expr::word(0)]);
        writer.code.push(match is_bytes {
            true => Stmt::call("lanes_store_bytes", [to, made]),
            false => Stmt::call("lanes_store", [to, Expr::word(1), made, high]),
        });
    }
}

/// A read at a number as a function for one packet, and as one for a vector.
fn read_items(title: &str, of_one: Vec<Stmt>) -> Vec<Item> {
    let mut items = Vec::from(inline("uint32_t", title, &["const struct run *run", "uint32_t number"], of_one));
    let first = Expr::call(title, [name("run"), name("numbers[0]")]);
    let each = Expr::call(title, [name("run"), name("numbers[i]")]);
    let body = vec![
        Stmt::declare("lanes", "values", Expr::call("lanes_broadcast", [first])),
        Stmt::Blank,
        Stmt::when(Expr::call("lanes_uniform", [name("numbers")]), vec![Stmt::result(name("values"))]),
        each_from("i", Expr::word(1), name("LANES"), vec![Stmt::set(name("values[i]"), each)]),
        Stmt::result(name("values")),
    ];
    items.extend(inline("lanes", format!("{title}_lanes"), &["const struct run *run", "lanes numbers"], body));
    items
}

fn read_register(step: &Step) -> Option<RegisterId> {
    let Step::Register { register, .. } = step else { return None };
    Some(*register)
}

/// The function that reads a register.
pub(super) fn register_title(register: RegisterId) -> String {
    format!("register_{}_of", number(register))
}

/// Stores the keys of a table, whose limbs have two 32-bit halves each.
fn key_stored(look_up: &str, limbs: u32, halves: &[Expr]) -> Vec<Stmt> {
    let to = |limb: usize| Expr::unary("&", name(format!("path->{look_up}_key[i][{limb}]")));
    if limbs == 2 {
        return vec![Stmt::call("lanes_store_two", std::iter::once(to(0)).chain(halves.iter().cloned()))];
    }
    let each = halves.chunks(2).enumerate();
    let stored = each.map(|(limb, halves)| [to(limb), Expr::word(limbs)].into_iter().chain(halves.iter().cloned()));
    stored.map(|stored| Stmt::call("lanes_store", stored)).collect()
}

/// Declares the vectors of a batch of packets.
pub(super) fn declared(rows: &[u32]) -> Vec<Stmt> {
    let packets = Stmt::Declare { of: "struct lanes_packets".to_string(), name: "packets".to_string(), value: None };
    let row = |row| Stmt::Declare { of: "lanes".to_string(), name: format!("row_{row}[4]"), value: None };
    std::iter::once(packets).chain(rows.iter().map(row)).collect()
}

/// Loads rows of a batch of packets.
pub(super) fn loaded(rows: &[u32]) -> impl Iterator<Item = Stmt> {
    let load = |row: &u32| Stmt::call("lanes_load", [name("&packets"), Expr::word(*row), name(format!("row_{row}"))]);
    rows.iter().map(load)
}

/// Emits steps as C: an expression if it is short and used once, otherwise a named value.
pub(super) struct Writer<'l> {
    hot_path: &'l HotPath<'l>,
    steps: &'l [Step],
    rows: &'l [u32],
    /// The ingress ports.
    ports: Expr,
    uses: Vec<u32>,
    names: Vec<Option<Expr>>,
    titles: Namer,
    /// What the program calls steps.
    wishes: HashMap<Number, String>,
    /// Constants hoisted out of the loop.
    kept: BTreeSet<u32>,
    pub code: Vec<Stmt>,
}

impl<'l> Writer<'l> {
    /// `results`: the steps needed, once per use.
    pub fn new(
        hot_path: &'l HotPath<'l>,
        steps: &'l [Step],
        rows: &'l [u32],
        results: impl Iterator<Item = Number>,
        ports: Expr,
    ) -> Writer<'l> {
        let mut uses = vec![0; steps.len()];
        let operands = steps.iter().flat_map(Step::operands);
        operands.chain(results).for_each(|number| uses[number as usize] += 1);
        let (names, kept) = (vec![None; steps.len()], BTreeSet::new());
        let titles = Namer::new(TAKEN);
        Writer { hot_path, steps, rows, ports, uses, names, titles, wishes: HashMap::new(), kept, code: Vec::new() }
    }

    /// The same within a loop with hoisted constants.
    fn keeping(self, kept: BTreeSet<u32>) -> Writer<'l> {
        Writer { kept, ..self }
    }

    /// The same with names for steps.
    pub fn calling(self, wishes: HashMap<Number, String>) -> Writer<'l> {
        Writer { wishes, ..self }
    }

    /// A word for a step that the program does not name.
    fn wish(&self, number: Number) -> &'static str {
        match self.step(number) {
            Step::Word(_) | Step::Constant(_) | Step::Length => "word",
            Step::Port => "ports",
            Step::Register { .. } => "read",
            Step::TableRead { what, .. } => match what {
                TableRead::Found => "found",
                TableRead::Record => "record",
                TableRead::Action => "action",
                TableRead::Parameter { .. } => "parameter",
            },
            Step::Operate(operator, ..) => match operator {
                Operator::Add => "sum",
                Operator::Subtract => "difference",
                Operator::Multiply => "product",
                Operator::Equal => "same",
                Operator::NotEqual => "differs",
                Operator::Less | Operator::LessEqual => "less",
                Operator::And | Operator::Or | Operator::Xor | Operator::ShiftLeft | Operator::ShiftRight => "bits",
            },
            Step::Choose { .. } => "chosen",
        }
    }

    fn step(&self, number: Number) -> Step {
        self.steps[number as usize]
    }

    /// A step as an operand: constants are broadcast.
    fn operand(&mut self, number: Number) -> Expr {
        self.written(number).0
    }

    /// A step as a vector.
    pub fn vector(&mut self, number: Number) -> Expr {
        match self.step(number) {
            Step::Constant(value) if !self.kept.contains(&value) => Expr::call("lanes_broadcast", [Expr::word(value)]),
            Step::Constant(_)
            | Step::Word(_)
            | Step::Length
            | Step::Port
            | Step::Register { .. }
            | Step::TableRead { .. }
            | Step::Operate(..)
            | Step::Choose { .. } => self.operand(number),
        }
    }

    /// A step, and its number of operators.
    fn written(&mut self, number: Number) -> (Expr, u32) {
        if let Some(name) = &self.names[number as usize] {
            return (name.clone(), 0);
        }
        let (value, size) = match self.step(number) {
            Step::Word(word) => {
                let (row, column) = row_of(self.rows, word);
                return (name(format!("row_{}[{column}]", self.rows[row])), 0);
            }
            Step::Constant(value) if self.kept.contains(&value) => return (vector_constants::kept(value), 0),
            Step::Constant(value) => return (Expr::word(value), 0),
            Step::Length => return (name("packets.length"), 0),
            Step::Port => (self.ports.clone(), LARGEST),
            Step::Register { register, of } => {
                let of = self.vector(of);
                (Expr::call(format!("{}_lanes", register_title(register)), [name("run"), of]), LARGEST)
            }
            Step::TableRead { place, what, of } => {
                let of = self.vector(of);
                (Expr::call(format!("{}_lanes", self.hot_path.title_of(place, what)), [name("run"), of]), LARGEST)
            }
            Step::Operate(operator, left, right) => {
                let (left, a) = self.written(left);
                let (right, b) = match (self.step(right), vector_constants::shifts(operator)) {
                    (Step::Constant(count), true) => (Expr::word(count), 0),
                    (_, _) => self.written(right),
                };
                let value = Expr::binary(written_operator(operator), left, right);
                (if operator.compares() { Expr::cast("lanes", value) } else { value }, a + b + 1)
            }
            Step::Choose { mask, then, otherwise } => {
                let parts = [mask, then, otherwise].map(|part| self.vector(part));
                (Expr::call("lanes_blend", parts), LARGEST)
            }
        };
        if self.uses[number as usize] < 2 && size < LARGEST {
            return (value, size);
        }
        let wish = self.wishes.get(&number).cloned().unwrap_or_else(|| self.wish(number).to_string());
        let title = self.titles.unique(&at_top(&wish, "the"));
        self.code.push(Stmt::declare("const lanes", &title, value));
        self.names[number as usize] = Some(name(&title));
        (name(title), 0)
    }

    /// A mask of side exits, if there may be any: the union of the checks.
    fn leaves(&mut self, leaves: Number) -> Option<Expr> {
        if let Step::Constant(mask) = self.step(leaves) {
            return (mask != 0).then(|| Expr::call("lanes_broadcast", [Expr::word(mask)]));
        }
        let mut questions = Vec::new();
        self.questions(leaves, &mut questions);
        for (index, question) in questions.into_iter().enumerate() {
            let answer = self.vector(question);
            self.code.push(match index {
                0 => Stmt::declare("lanes", "leaves", answer),
                _ => Stmt::Assign(name("leaves"), "|=", answer),
            });
        }
        Some(name("leaves"))
    }

    /// The parts of a union of masks.
    fn questions(&self, mask: Number, found: &mut Vec<Number>) {
        if let Step::Operate(Operator::Or, left, right) = self.step(mask) {
            self.questions(left, found);
            self.questions(right, found);
        } else {
            found.push(mask);
        }
    }
}

fn written_operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::And => "&",
        Operator::Or => "|",
        Operator::Xor => "^",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessEqual => "<=",
    }
}
