//! Tables: the key as one number, the record of each entry, and the node that looks one up.
//!
//! A lookup consists of the stages that the runtime offers, so that a batch can run each for all its packets:
//! the key, the structure's functions that find a record, and `NODE_act`, which runs the action. Loops call the first one
//! as `NODE_key`.

use crate::body::{Body, Exit, Presences, limbs, unsupported};
use crate::c::{Expr, Item, Member, Stmt, Struct, replace_only};
use crate::field::follows;
use crate::unit::{Unit, number};
use hlir::constant_entries;
use hlir::diagnostic::Diagnostic;
use hlir::plan::Structure;
use hlir::text::written_structure;
use hlir::{
    Call, Counter, Expression, HeaderId, Join, KeyField, MatchKind, Meter, Next, NodeId, Statement, TableId, Type,
};

/// What a table has of the values of an array that two share.
pub struct Part {
    pub shift: u32,
    pub bits: u32,
    /// The primary table, if this one is the secondary of a joint array.
    pub primary: Option<TableId>,
}

/// The structure's number in the runtime's interface.
pub fn structure_enumerator(structure: Structure) -> Expr {
    let held = if structure == Structure::Code { Structure::List } else { structure };
    Expr::Name(format!("STRUCTURE_{}", written_structure(held).to_ascii_uppercase()))
}

/// C's type of a structure, and its header. Functions begin with the word that plans have for it, which is the same for most.
pub fn structure_type(structure: Structure) -> &'static str {
    structure.traits().held
}

impl Unit<'_> {
    /// What a key is put together of: its fields, but those that lie side by side in a header and in the key, and fit into a limb, as one.
    fn key_loads(&self, table: TableId) -> Vec<KeyField> {
        let keys = &self.program.tables[table].keys;
        let mut loads: Vec<KeyField> = Vec::new();
        let mut before = None;
        for field in self.program.key_fields(table) {
            let this = if let Expression::Field(this) = keys[field.index].value { Some(this) } else { None };
            let is_beside = before.zip(this).is_some_and(|(before, this)| follows(self.program, this, before));
            before = this;
            match loads.last_mut() {
                Some(last)
                    if is_beside && field.shift + field.width == last.shift && last.width + field.width <= 64 =>
                {
                    (last.width, last.shift) = (last.width + field.width, field.shift);
                }
                _ => loads.push(field),
            }
        }
        loads
    }

    pub fn key_bits(&self, table: TableId) -> u32 {
        self.program.key_fields(table).iter().map(|field| field.width).sum()
    }

    /// The key size as lookups take it: limbs, or what is compared word by word (runtime/table/scan.h).
    pub fn key_size(&self, table: TableId) -> Expr {
        let bits = self.key_bits(table);
        let limbs = crate::body::limbs(bits);
        if self.structure(table) != Structure::Scan {
            return Expr::word(limbs);
        }
        let keys = &self.program.tables[table].keys;
        let ranges: Vec<KeyField> = self
            .program
            .key_fields(table)
            .into_iter()
            .filter(|field| keys[field.index].kind == MatchKind::Range)
            .collect();
        let is_ranged = |bit: u32| ranges.iter().any(|field| (field.shift..field.shift + field.width).contains(&bit));
        let words = (0..bits.div_ceil(32)).filter(|word| !(32 * word..bits.min(32 * word + 32)).all(is_ranged)).count();
        let wides = ranges.iter().filter(|field| field.width > 16).count();
        let pairs = (ranges.len() - wides).div_ceil(2);
        Expr::call("scan_form", [limbs, words as u32, pairs as u32, wides as u32].map(Expr::word))
    }

    /// The structure that the plan gives a table, or the one that its keys suggest.
    pub fn structure(&self, table: TableId) -> Structure {
        self.plan.structure(self.program, table)
    }

    /// For joint tables: the bits of a lookup's result that are this table's record number.
    pub fn part(&self, table: TableId) -> Option<Part> {
        let joint = self.plan.joint_of(table)?;
        let (shift, bits) = joint.part(table);
        Some(Part { shift, bits, primary: (joint.secondary == table).then_some(joint.primary) })
    }

    /// The table's record number in a lookup's result.
    pub fn own_part(&self, table: TableId, found: Expr) -> Expr {
        match self.part(table) {
            Some(part) => Expr::call("table_part", [found, Expr::word(part.shift), Expr::word(part.bits)]),
            None => found,
        }
    }

    /// A pinned structure that cannot hold the table's entries.
    pub fn check_structure(&self, id: TableId) -> Option<Diagnostic> {
        let structure = self.structure(id);
        let keys = self.program.key_kinds(id);
        let name = written_structure(structure);
        let in_code = (structure == Structure::Code).then(|| constant_entries::refusal(self.program, id, &keys));
        let table = &self.program.tables[id].name;
        structure.misses(&self.program.held_keys(id)).or(in_code.flatten().map(str::to_string)).map(|needs| {
            Diagnostic::error(format!(
                "the plan gives table `{table}` the structure {name}, which does not suit it: it needs {needs}"
            ))
        })
    }

    /// The table's record array, loaded after a lookup. A table without keys has only the default's record,
    /// which is not in it.
    pub fn records(&self, table: TableId) -> Expr {
        self.records_in(table, "run->")
    }

    /// The same, where `run` is what names of tables begin with.
    pub fn records_in(&self, table: TableId, run: &str) -> Expr {
        if self.program.tables[table].keys.is_empty() {
            Expr::name("NULL")
        } else if self.is_in_code(table) {
            Expr::cast("const uint8_t *", Expr::Name(format!("{}_records", self.lookup_prefix(table))))
        } else {
            Expr::call("table_records", [Expr::Name(format!("&{run}{}->table", self.table_name(table)))])
        }
    }

    /// The record with the number `found` among `records`.
    pub fn record_of(&self, table: TableId, records: Expr, found: Expr) -> Expr {
        let stride = self.record_stride(table);
        if self.is_in_code(table) {
            let offset = Expr::binary("*", Expr::cast("size_t", found), stride);
            return Expr::cast("const void *", Expr::binary("+", records, offset));
        }
        let held = Expr::Name(format!("&run->{}->table", self.table_name(table)));
        Expr::call("table_record_of", [held, records, found, stride])
    }

    /// The distance from one record of a table to the next.
    pub fn record_stride(&self, table: TableId) -> Expr {
        let size = Expr::call("sizeof", [Expr::Name(format!("struct {}_record", self.table_name(table)))]);
        let own = if self.program.has_own_records(table) { "1" } else { "0" };
        Expr::call("table_stride", [size, Expr::name(own)])
    }

    /// The number of a found record, or of the default action's.
    pub fn record_number(&self, table: TableId, found: Expr) -> Expr {
        if self.is_in_code(table) {
            return found;
        }
        Expr::call("table_record_number", [Expr::Name(format!("&run->{}->table", self.table_name(table))), found])
    }

    /// Whether lookups ask first if the table is empty, so that they cost nothing then: not where a lookup costs
    /// no more than that, nor where a profile counts the keys.
    pub fn skips_empty(&self, table: TableId) -> bool {
        let declared = &self.program.tables[table];
        let is_filled = declared.entries_constant && !declared.entries.is_empty();
        // A joint table is empty for packets while it is emptied or filled.
        let is_profiled = self.plan.instrument.edges && self.program.join_of(table).is_none();
        !declared.keys.is_empty() && !is_filled && !is_profiled && self.structure(table) != Structure::Direct
    }

    /// Whether the table is empty.
    pub fn is_empty(&self, table: TableId) -> Expr {
        Expr::call("table_is_empty", [Expr::Name(format!("&run->{}->table", self.table_name(table)))])
    }

    /// Stages make keys on another state than the one on which the action runs. There, headers that a key's code gave storage have
    /// none, unless the path has extracted them.
    pub fn forget_keys(&self, node: NodeId, present: &mut Presences, before: &Presences) {
        let Some(path) = self.plan.path.as_ref().map(|path| &path.nodes) else { return };
        let Some(place) = path.iter().position(|on_path| *on_path == node) else { return };
        let statements = path[..place].iter().flat_map(|node| self.program.nodes[*node].kind.body());
        let extracts = |statement: &Statement| {
            if let Statement::Extract { header, .. } = statement { Some(*header) } else { None }
        };
        let extracted: Vec<HeaderId> = statements.filter_map(extracts).collect();
        for (id, _) in self.program.headers.iter().filter(|(id, _)| !extracted.contains(id)) {
            present[number(id)] = before[number(id)];
        }
    }

    /// Counts lookups.
    pub fn count_look_ups(&self, table: TableId, count: Expr) -> Stmt {
        Stmt::Assign(Expr::Name(format!("run->{}_lookups", self.table_name(table))), "+=", count)
    }

    /// Uncounts a lookup that was counted before commit and not made.
    pub fn take_back_look_up(&self, table: TableId) -> Stmt {
        Stmt::Assign(Expr::Name(format!("run->{}_lookups", self.table_name(table))), "-=", Expr::word(1))
    }

    pub fn direct_counters(&self, table: TableId) -> Vec<(u32, &Counter)> {
        let all = self.program.counters.iter().filter(|(_, counter)| counter.table == Some(table));
        all.map(|(id, counter)| (number(id) as u32, counter)).collect()
    }

    pub fn direct_meters(&self, table: TableId) -> Vec<(u32, &Meter)> {
        let all = self.program.meters.iter().filter(|(_, meter)| meter.table == Some(table));
        all.map(|(id, meter)| (number(id) as u32, meter)).collect()
    }

    /// Whether the hot path must know of insertions.
    pub fn tracks_insertions(&self) -> bool {
        let Some(path) = &self.plan.path else { return false };
        path.speculative.iter().any(|place| hlir::hot_path::may_be_stale(self.program, path.nodes[*place]))
    }

    /// Whether a miss may insert an entry: its key is then needed until the action has run.
    pub fn learns(&self, table: TableId) -> bool {
        hlir::effects::learns(self.program, table)
    }

    /// What an entry's record holds.
    pub fn record(&self, table: TableId) -> Item {
        let index = number(table);
        let declared = &self.program.tables[table];
        let mut members = vec![Member::plain("_Alignas(8) uint32_t", "action", "")];
        let mut data = Vec::new();
        for (place, (action, names)) in declared.actions.iter().zip(&self.names.parameters[index]).enumerate() {
            let mut parameters = Vec::new();
            for (number, (parameter, name)) in action.parameters.iter().zip(names).enumerate() {
                parameters.push(match self.in_bytes(table, place, number) {
                    true => Member::plain("uint8_t", format!("{name}[{}]", parameter.width / 8), ""),
                    false => parameter_member(name, parameter.width),
                });
            }
            if !parameters.is_empty() {
                let name = self.names.actions[index][data_index(declared, action)].clone();
                data.push(Member::Inner { name, members: parameters });
            }
        }
        data.extend(self.slot_member(table));
        if !data.is_empty() {
            members.push(Member::Union(data));
        }
        Item::Struct(Struct { name: format!("{}_record", self.names.tables[index]), members })
    }
}

fn data_index(table: &hlir::Table, action: &hlir::Action) -> usize {
    table.actions.iter().position(|known| std::ptr::eq(known, action)).unwrap_or(0)
}

/// Bytes of a parameter in a record, or of a register's element: 1, 2, 4, 8 or whole limbs.
pub fn element_bytes(width: u32) -> u32 {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 8 * limbs(width),
    }
}

fn parameter_member(name: &str, width: u32) -> Member {
    match element_bytes(width) {
        1 => Member::plain("uint8_t", name, ""),
        2 => Member::plain("uint16_t", name, ""),
        4 => Member::plain("uint32_t", name, ""),
        _ if width <= 64 => Member::plain("uint64_t", name, ""),
        _ => Member::plain("uint64_t", format!("{name}[{}]", limbs(width)), ""),
    }
}

/// Puts a field's bits into the limbs of a key: what each limb is made of. `value` is a 64-bit number where it is shifted.
fn spread(parts: &mut [Vec<Expr>], value: &Expr, width: u32, shift: u32) {
    let (limb, low) = ((shift / 64) as usize, shift % 64);
    let lower = if low == 0 { value.clone() } else { Expr::binary("<<", value.clone(), Expr::word(low)) };
    parts[limb].push(lower);
    if low + width > 64 {
        parts[limb + 1].push(Expr::binary(">>", value.clone(), Expr::word(64 - low)));
    }
}

/// A narrow value as `spread` takes it.
fn long(value: Expr, width: u32, shift: u32) -> Expr {
    if width <= 32 && !shift.is_multiple_of(64) { Expr::cast("uint64_t", value) } else { value }
}

fn spread_limbs(parts: &mut [Vec<Expr>], array: &Expr, width: u32, shift: u32) {
    for limb in 0..limbs(width) {
        let part = Expr::index(array.clone(), Expr::word(limb));
        spread(parts, &part, (width - 64 * limb).min(64), shift + 64 * limb);
    }
}

/// Whether an action may insert an entry.
fn inserts(body: &[Statement]) -> bool {
    let mut found = false;
    for statement in body {
        statement.walk(&mut |inner| found |= matches!(inner, Statement::Call(Call::AddEntry { .. })));
    }
    found
}

impl Body<'_, '_> {
    /// Statements that put a table's key into `key`.
    pub fn key(&mut self, table: TableId) {
        let fields = self.unit.key_loads(table);
        let bits = self.unit.key_bits(table);
        let mut parts: Vec<Vec<Expr>> = vec![Vec::new(); limbs(bits) as usize];
        for field in &fields {
            let value = &self.program().tables[table].keys[field.index].value;
            if field.width > 64 {
                let array = self.wide(value);
                spread_limbs(&mut parts, &array, field.width, field.shift);
                continue;
            }
            let mut narrow = if let Expression::Field(first) = value
                && field.width > self.width_of(value)
            {
                self.ensure(first.header);
                self.load_from(*first, 0, field.width)
            } else {
                self.value(value)
            };
            if self.type_of(value) == Type::Bool {
                narrow = Expr::cast("uint32_t", narrow);
            }
            if field.shift % 64 + field.width > 64 {
                narrow = self.named(narrow, field.width, "field");
            }
            if field.width > 0 {
                spread(&mut parts, &long(narrow, field.width, field.shift), field.width, field.shift);
            }
        }
        for (limb, parts) in parts.into_iter().enumerate() {
            let whole = parts.into_iter().reduce(|left, right| Expr::binary("|", left, right));
            let place = Expr::index(Expr::name("key"), Expr::word(limb as u32));
            self.push(Stmt::set(place, whole.unwrap_or(Expr::word(0))));
        }
        if self.unit.plan.instrument.edges && bits > 0 {
            let arguments = [
                Expr::name("run->worker"),
                Expr::word(number(table) as u32),
                Expr::name("key"),
                Expr::word(limbs(bits)),
            ];
            self.push(Stmt::call("sketch_add_key", arguments));
        }
    }

    /// From a record's number on: counts, runs the action, and goes on.
    pub fn act(&mut self, table: TableId, next: &Next, exit: Option<NodeId>) {
        let name = self.unit.table_name(table).to_string();
        let declared = &self.program().tables[table];
        self.record(table);
        self.exit = exit.map_or(Exit::None, Exit::To);
        self.count_miss(table, &name);
        self.automatic(table);
        let mut cases: Vec<(Vec<Expr>, Vec<Stmt>)> = Vec::new();
        let mut meets: Option<Presences> = None;
        let before = self.present.clone();
        for index in 0..declared.actions.len() {
            let mut reached = false;
            let (code, present) = self.branch(|body| reached = body.action(table, index, next));
            let label = Expr::word(index as u32);
            if reached {
                crate::parser::meet(&mut meets, &present);
            }
            if !(code.is_empty() && reached) {
                cases.push((vec![label], code));
            }
        }
        if cases.len() < declared.actions.len() {
            crate::parser::meet(&mut meets, &before);
        }
        self.dispatch(table, cases);
        self.present = meets.unwrap_or(before);
        match next {
            Next::Always(to) => self.go(*to),
            Next::Hit { hit, miss } => {
                let code = self.nested(|body| body.go(*hit));
                self.push(Stmt::when(Expr::binary("!=", Expr::name("found"), Expr::word(0)), code));
                self.go(*miss);
            }
            Next::Actions { otherwise, .. } => self.go(*otherwise),
        }
    }

    fn dispatch(&mut self, table: TableId, mut cases: Vec<(Vec<Expr>, Vec<Stmt>)>) {
        let action = Expr::Name(format!("{}->action", self.unit.chosen(table)));
        match cases.len() {
            0 => {}
            1 if self.program().tables[table].actions.len() == 1 => self.out.extend(cases.remove(0).1),
            1 => {
                let (mut labels, code) = cases.remove(0);
                let test = Expr::binary("==", action, labels.remove(0));
                self.push(Stmt::when(test, code));
            }
            _ => self.push(Stmt::Switch { on: action, cases, default: Vec::new() }),
        }
    }

    /// Misses are counted, for they are rare; what else was looked up has hit.
    fn count_miss(&mut self, table: TableId, name: &str) {
        // An entry of a complete joint table may leave the packet to the sources: that is no hit in them.
        let is_complete = self.program().join_of(table).is_some_and(|join| join.is_complete(self.program()));
        let missed = match is_complete {
            true => {
                Expr::binary("==", Expr::Name(format!("{}->action", self.unit.chosen(table))), Expr::word(Join::SLOW))
            }
            false => Expr::binary("==", Expr::name("found"), Expr::word(0)),
        };
        let unlikely = Expr::call("__builtin_expect", [missed, Expr::name("0")]);
        let misses = Expr::Name(format!("run->{name}_misses"));
        self.push(Stmt::when(unlikely, vec![Stmt::Assign(misses, "+=", Expr::word(1))]));
        // A table that its misses fill restarts timers only where an action does so.
        if self.program().tables[table].idle_timeout.is_some() && !self.program().tables[table].add_on_miss {
            let note = Stmt::call("record_hit", [Expr::name("record"), Expr::name("run->clock_ns")]);
            self.push(Stmt::when(Expr::binary("!=", Expr::name("found"), Expr::word(0)), vec![note]));
        }
    }

    /// What counts and measures every packet by itself: at the elements of the entry, or of the default action.
    fn automatic(&mut self, table: TableId) {
        let unit = self.unit;
        let mut meters = Vec::new();
        for (index, meter) in unit.direct_meters(table) {
            meters.extend(meter.automatic.map(|into| (index, meter.unit, into)));
        }
        if let Some(hlir::Place::Field(field)) =
            meters.iter().map(|(_, _, into)| *into).find(|into| matches!(into, hlir::Place::Field(_)))
        {
            self.ensure(field.header);
        }
        for (index, counter) in unit.direct_counters(table) {
            if counter.automatic {
                self.count_direct(index);
            }
        }
        for (index, kind, into) in meters {
            self.meter_direct(index, kind, Expr::word(0), into);
        }
    }

    /// An action's body; whether control reaches its end and the table's common successor.
    fn action(&mut self, table: TableId, index: usize, next: &Next) -> bool {
        let declared = &self.program().tables[table];
        let action = &declared.actions[index];
        self.action = Some((table, index));
        self.parameters = declared.parameter_widths(index);
        let mut reached = true;
        let mut code = self.nested(|body| reached = body.statements(&action.body));
        let names = &self.unit.names.parameters[number(table)][index];
        let data = &self.unit.names.actions[number(table)][index];
        for (place, (parameter, name)) in action.parameters.iter().zip(names).enumerate() {
            let read = || code.iter().any(|statement| statement.mentions(name));
            if !self.unit.in_bytes(table, index, place) && read() {
                let of = match parameter.width {
                    0..=64 => format!("const {}", crate::body::word_type(parameter.width)),
                    _ => "const uint64_t *const".to_string(),
                };
                let mut value = Expr::Name(format!("{}->{data}.{name}", self.unit.chosen(table)));
                // An insertion may move all records of the table, and frees where they were.
                let is_moved = inserts(&action.body);
                if parameter.width <= 64 && !is_moved && replace_only(&mut code, name, &value) {
                    continue;
                }
                if parameter.width > 64 && is_moved {
                    let array = self.array(parameter.width);
                    let bytes = Expr::word(8 * limbs(parameter.width));
                    self.push(Stmt::call("memcpy", [array.clone(), value, bytes]));
                    value = array;
                }
                self.push(Stmt::declare(of, name, value));
            }
        }
        self.out.extend(code);
        self.action = None;
        self.parameters = Vec::new();
        if !reached {
            return false;
        }
        if let Next::Actions { cases, otherwise } = next
            && let Some((_, to)) = cases.iter().find(|(case, to)| *case as usize == index && to != otherwise)
        {
            self.go(*to);
            return false;
        }
        true
    }

    /// Whether a key is among the members of a value set.
    pub fn in_value_set(&mut self, set: hlir::ValueSetId, keys: &[(Expr, u32)]) -> Expr {
        let name = self.unit.names.value_sets[number(set)].clone();
        let bits: u32 = keys.iter().map(|(_, width)| width).sum();
        let mut parts: Vec<Vec<Expr>> = vec![Vec::new(); limbs(bits) as usize];
        let mut shift = bits;
        for (value, width) in keys {
            shift -= width;
            if *width > 64 {
                spread_limbs(&mut parts, value, *width, shift);
            } else if *width > 0 {
                spread(&mut parts, &long(value.clone(), *width, shift), *width, shift);
            }
        }
        let array = self.temporary("member");
        let joined = |parts: Vec<Expr>| parts.into_iter().reduce(|left, right| Expr::binary("|", left, right));
        let values = parts.into_iter().map(|parts| joined(parts).unwrap_or(Expr::long(0))).collect();
        self.push(Stmt::declare("const uint64_t", format!("{array}[{}]", limbs(bits)), Expr::List(values)));
        let table = Expr::Name(format!("run->{name}"));
        let key = Expr::name(&array);
        let address = Expr::call("list_address", [table.clone(), Expr::long(0)]);
        let found = Expr::call("list_find", [table, address, Expr::long(0), key, Expr::word(limbs(bits))]);
        Expr::binary("!=", found, Expr::word(0))
    }
}

/// What a table has that is not written in C yet.
pub fn table_problems(unit: &Unit, node: NodeId, table: TableId) -> Vec<Diagnostic> {
    let declared = &unit.program.tables[table];
    let mut problems: Vec<Diagnostic> = unit.check_structure(table).into_iter().collect();
    // A miss leads to a node that punts and resumes here.
    if declared.punt_on_miss && !unit.facts.starts.contains(&number(node)) {
        problems.push(unsupported(unit, node, &format!("a table whose misses are punted, `{}`,", declared.name)));
    }
    problems
}
