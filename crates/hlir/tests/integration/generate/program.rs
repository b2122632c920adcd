//! Random declarations and tables, and the program of all.

use super::expression::{Around, NOWHERE};
use super::statement::Kind;
use super::{Generator, TEXTS};
use hlir::entry::EntryAction;
use hlir::facts::{Assumption, Fact};
use hlir::interface::SizeSemantics;
use hlir::join::{FirstAction, Join, Objects, SecondKey};
use hlir::{
    Action, ActionCall, ActionSet, Algorithm, Budget, Counter, CounterId, CounterUnit, Crc, Digest, Entry, Expression,
    Extern, ExternObject, Field, Header, IdleTimeout, Key, LookupSum, Match, MatchKind, Meter, MeterUnit, Parameter,
    Profile, Program, Register, RegisterId, Scope, Selector, Table, TableId, Type, ValueSet, Variable, VariableId,
    WeightedCall,
};
use num_bigint::BigUint;
use std::sync::Arc;

pub const KINDS: [MatchKind; 5] =
    [MatchKind::Exact, MatchKind::Lpm, MatchKind::Ternary, MatchKind::Range, MatchKind::Optional];

const CORE_ERRORS: [&str; 7] = [
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
];

impl Generator<'_> {
    pub fn program(mut self) -> Program {
        self.program.name = if self.is_wild() { self.name() } else { "program_1".to_string() };
        self.program.architecture = self.name();
        self.program.errors = CORE_ERRORS.map(str::to_string).to_vec();
        if self.breaks_rule() {
            self.program.errors.truncate(3);
        }
        let own = self.several(2, |it| it.name());
        self.program.errors.extend(own);
        if self.once_in(3) {
            let [reentries, states, iterations] = [(); 3].map(|()| self.number());
            let copies = if self.is_wild() { self.number() } else { 1 + self.below(1 << 20) as u32 };
            self.program.budget = Budget { reentries, copies, states, iterations };
        }
        self.storage();
        self.objects();
        let tables = self.below(3);
        (0..tables).for_each(|_| self.table());
        self.direct();
        self.graph();
        self.interface();
        for id in self.program.tables.iter().map(|(id, _)| id).collect::<Vec<_>>() {
            let facts = self.several(2, |it| it.fact(id));
            let assumptions = facts.into_iter().map(|fact| Assumption { table: id, fact });
            self.program.assumptions.extend(assumptions);
        }
        let counter = self.program.counters.iter().map(|(id, counter)| (id, counter.size)).find(|(_, size)| *size > 0);
        if let Some((counter, size)) = counter {
            for table in self.program.tables.iter().map(|(id, _)| id).collect::<Vec<_>>() {
                let is_hit = self.below(2) == 0;
                let mut indices = || self.several(2, |it| it.below(size.min(8) as usize) as u32);
                let (added, subtracted) = (indices(), indices());
                self.program.lookup_sums.push(LookupSum { table, is_hit, counter, added, subtracted });
            }
        }
        if self.is_wild() && tables > 0 {
            self.program.joins = self.several(2, |it| it.join());
        }
        self.program
    }

    /// Something about a table that a program may take for granted.
    fn fact(&mut self, id: TableId) -> Fact {
        // Keys of wild programs may have no width.
        let widths: Vec<u32> = match self.is_wild() {
            true => self.program.tables[id].keys.iter().map(|_| 8).collect(),
            false => self.program.key_kinds(id).into_iter().map(|(_, width)| width).collect(),
        };
        let parameters = self.program.tables[id].parameter_widths(1);
        match self.below(11) {
            0 => Fact::Empty,
            7 => Fact::Distinct,
            8 => Fact::Unmetered,
            1 => Fact::Default(self.program.tables[id].default.clone()),
            2 => Fact::Entries(self.several(2, |it| it.entry(id, &widths))),
            3 => Fact::Actions(vec![0, 1]),
            9 => Fact::Leading(self.several(2, |it| it.entry(id, &widths))),
            4 if !parameters.is_empty() => Fact::Argument { action: 1, parameter: 0, value: self.value(parameters[0]) },
            _ if widths.is_empty() => Fact::Empty,
            5 => {
                let key = self.below(widths.len());
                Fact::Key { key: key as u32, value: self.value(widths[key]) }
            }
            6 if widths.iter().all(|width| *width > 0) => {
                let key = self.below(widths.len());
                Fact::Mask { key: key as u32, mask: self.value(widths[key]).max(1u32.into()) }
            }
            _ => Fact::Any(self.below(widths.len()) as u32),
        }
    }

    /// A recipe that may fit nothing: an orderly one is made by its pass.
    fn join(&mut self) -> Join {
        let tables = self.program.tables.len();
        let [table, first, second] = [(); 3].map(|()| {
            let number = if self.once_in(4) { self.number() } else { self.below(tables) as u32 };
            TableId::from_raw(la_arena::RawIdx::from_u32(number))
        });
        let key = |it: &mut Self| if it.once_in(2) { SecondKey::Determined } else { SecondKey::Joint(it.number()) };
        let value = |it: &mut Self| {
            let width = it.width();
            Expression::Constant { value: it.value(width), width }
        };
        let keys = self.several(2, key);
        let firsts = self.several(2, |it| FirstAction { action: it.number(), determined: it.several(2, value) });
        let (limit, seconds) = (self.number().into(), self.several(2, |it| it.below(3) as u32));
        let missed = self.several(2, |it| it.below(3) as u32);
        let misses = self.once_in(2).then(|| CounterId::from_raw(self.number().into()));
        let timers = [(); 2].map(|()| self.once_in(2).then(|| RegisterId::from_raw(self.number().into())));
        let objects = Objects { misses, timers };
        let place = self.once_in(3).then(|| VariableId::from_raw(self.number().into()));
        Join { table, first, second, limit, keys, firsts, seconds, missed, objects, place }
    }

    fn storage(&mut self) {
        for _ in 0..self.below(3) {
            let mut fields = self.several(4, |it| Field { name: it.name(), width: it.width(), varbit: false });
            let bits: u32 = fields.iter().map(|field| field.width).sum();
            fields.push(Field { name: "pad".to_string(), width: 8 - bits % 8, varbit: false });
            if self.once_in(3) {
                fields.push(Field { name: "options".to_string(), width: 320, varbit: true });
            }
            let header = Header { name: self.name(), type_name: self.name(), fields, notes: self.notes() };
            self.program.headers.alloc(header);
        }
        let error = Variable { name: "parser_error".to_string(), kind: Type::Bits(32), notes: self.notes() };
        self.program.variables.alloc(error);
        for _ in 0..self.below(6) {
            let kind = if self.once_in(4) { Type::Bool } else { Type::Bits(self.width()) };
            let variable = Variable { name: self.name(), kind, notes: self.notes() };
            self.program.variables.alloc(variable);
        }
    }

    fn objects(&mut self) {
        for _ in 0..self.below(2) {
            let fields = self.several(3, |it| (it.name(), it.width()));
            let digest = Digest { name: self.name(), fields, notes: self.notes() };
            self.program.digests.alloc(digest);
            let fields = vec![(self.name(), 16, self.pick(&KINDS))];
            let crc = Crc { name: self.name(), width: self.pick(&[16, 32]), notes: self.notes() };
            self.program.crcs.alloc(crc);
            let set = ValueSet { name: self.name(), size: 4, fields, notes: self.notes() };
            self.program.value_sets.alloc(set);
        }
        for _ in 0..self.below(3) {
            let width = self.width();
            let (size, initial) = (u64::from(self.number()), self.value(width));
            let register = Register { name: self.name(), size, width, initial, notes: self.notes() };
            self.program.registers.alloc(register);
            let unit = self.pick(&[CounterUnit::Packets, CounterUnit::Bytes, CounterUnit::Both]);
            let name = self.name();
            let counter =
                Counter { name, size: self.below(9) as u64, table: None, unit, automatic: false, notes: self.notes() };
            self.program.counters.alloc(counter);
            let unit = self.pick(&[MeterUnit::Packets, MeterUnit::Bytes]);
            let name = self.name();
            let meter = Meter { name, size: u64::MAX, table: None, unit, automatic: None, notes: self.notes() };
            self.program.meters.alloc(meter);
        }
        for _ in 0..self.below(2) {
            let argument = |it: &mut Self| {
                let width = it.width();
                (it.value(width), width)
            };
            let object =
                self.some(|it| ExternObject { of_type: "Cipher".to_string(), arguments: it.several(2, argument) });
            let custom = Extern { name: self.name(), object, notes: self.notes() };
            self.program.externs.alloc(custom);
            let selector = Selector { algorithm: Algorithm::Crc16, width: self.width(), largest_group: self.number() };
            let selector = self.some(|_| selector);
            let profile = Profile { name: self.name(), size: 16, selector, notes: self.notes() };
            self.program.profiles.alloc(profile);
        }
    }

    /// A direct counter and a direct meter for a table.
    fn direct(&mut self) {
        let Some(table) = self.index(self.program.tables.len()) else { return };
        let (table, automatic) = (Some(table), self.once_in(2));
        let (unit, name) = (CounterUnit::Both, self.name());
        self.program.counters.alloc(Counter { name, size: 0, table, unit, automatic, notes: Default::default() });
        let (unit, name) = (MeterUnit::Bytes, self.name());
        let automatic = self.some(|it| it.bits_place().0);
        self.program.meters.alloc(Meter { name, size: 0, table, unit, automatic, notes: Default::default() });
    }

    fn table(&mut self) {
        let id: TableId = la_arena::Idx::from_raw(la_arena::RawIdx::from_u32(self.program.tables.len() as u32));
        let add_on_miss = self.once_in(4);
        let mut widths = Vec::new();
        let mut keys = Vec::new();
        for _ in 0..self.below(4) {
            let width = self.width();
            let value = self.bits(width, NOWHERE, 2);
            let named = self.once_in(2);
            let name = if named { self.name() } else { hlir::text::print_expression(&self.program, &[], &value) };
            let kind = if add_on_miss { MatchKind::Exact } else { self.pick(&KINDS) };
            widths.push(width);
            keys.push(Key { name, value, kind, notes: self.notes() });
        }
        let profile = self.index(self.program.profiles.len());
        let has_selector = self.program.profiles.values().next().is_some_and(|it| it.selector.is_some());
        let selector =
            if profile.is_some() && has_selector { self.several(2, |it| it.bits(16, NOWHERE, 2)) } else { Vec::new() };
        let actions: Vec<Action> = (0..2 + self.below(2)).map(|index| self.action(index)).collect();
        let table = Table {
            name: self.name(),
            keys,
            actions,
            default: ActionCall { action: 0, arguments: Vec::new() },
            default_constant: self.once_in(2),
            size: self.some(|it| u64::from(it.number())),
            entries: Arc::default(),
            entries_constant: self.once_in(2),
            profile,
            selector,
            empty_group: None,
            idle_timeout: self.some(|it| it.pick(&[IdleTimeout::Notify, IdleTimeout::Delete])),
            add_on_miss,
            punt_on_miss: self.once_in(4),
            notes: self.notes(),
        };
        self.program.tables.alloc(table);
        self.bodies(id);
        if profile.is_some() && has_selector && self.once_in(2) {
            let arguments =
                self.program.tables[id].parameter_widths(1).iter().map(|width| self.value(*width)).collect();
            self.program.tables[id].empty_group = Some(ActionCall { action: 1, arguments });
        }
        let entries = self.several(3, |it| it.entry(id, &widths));
        self.program.tables[id].entries = entries.into();
    }

    /// An action without its body. Number 0, the default, has no parameters.
    fn action(&mut self, index: usize) -> Action {
        let count = if index == 0 { 0 } else { self.below(3) };
        let parameter = |it: &mut Self| Parameter { name: it.name(), width: it.width(), notes: it.notes() };
        let parameters = (0..count).map(|_| parameter(self)).collect();
        let scope = if index == 0 { self.pick(&[Scope::Everywhere, Scope::DefaultOnly]) } else { Scope::TableOnly };
        Action { name: self.name(), parameters, body: Vec::new(), scope, notes: self.notes() }
    }

    fn bodies(&mut self, id: TableId) {
        for index in 0..self.program.tables[id].actions.len() {
            let parameters = self.program.tables[id].parameter_widths(index);
            let around = Around { parameters: &parameters, in_copy: false };
            let body = self.statements(Kind::Action(id, index), around, &[], 2);
            self.program.tables[id].actions[index].body = body;
        }
    }

    fn entry(&mut self, id: TableId, widths: &[u32]) -> Entry {
        let kinds: Vec<MatchKind> = self.program.tables[id].keys.iter().map(|key| key.kind).collect();
        let matches = kinds.iter().zip(widths).map(|(kind, width)| self.matches(*kind, *width)).collect();
        let has_priorities = self.program.tables[id].has_priorities();
        let priority = if has_priorities || self.breaks_rule() { self.number() } else { 0 };
        let profile = self.program.tables[id].profile;
        let action = match (profile, self.below(4)) {
            (Some(_), 0) if self.is_wild() => EntryAction::Member(self.number()),
            (Some(_), 1) if self.is_wild() => EntryAction::Group(self.number()),
            (Some(_), 2) if self.is_wild() => EntryAction::Set(self.action_set(id)),
            _ => {
                let widths = self.program.tables[id].parameter_widths(1);
                let arguments: Vec<BigUint> = widths.iter().map(|width| self.value(*width)).collect();
                let action = if self.breaks_rule() { self.number() } else { 1 };
                EntryAction::Call(ActionCall { action, arguments })
            }
        };
        let constant = self.below(4) == 0;
        Entry { matches, priority, action, constant }
    }

    fn action_set(&mut self, id: TableId) -> ActionSet {
        let widths = self.program.tables[id].parameter_widths(1);
        let mut actions = Vec::new();
        for _ in 0..self.below(3) {
            let arguments: Vec<BigUint> = widths.iter().map(|width| self.value(*width)).collect();
            let watch = if self.once_in(2) { Some(self.number()) } else { None };
            actions.push(WeightedCall { call: ActionCall { action: 1, arguments }, weight: self.number(), watch });
        }
        let semantics = match self.below(4) {
            0 => Some(SizeSemantics::SumOfWeights),
            1 => Some(SizeSemantics::SumOfMembers(None)),
            2 => Some(SizeSemantics::SumOfMembers(Some(9))),
            _ => None,
        };
        ActionSet { actions, semantics, note: Vec::new() }
    }

    fn matches(&mut self, kind: MatchKind, width: u32) -> Match {
        match kind {
            MatchKind::Exact => Match::Exact(self.value(width)),
            _ if self.once_in(4) => Match::Any,
            MatchKind::Optional => Match::Exact(self.value(width)),
            MatchKind::Lpm => {
                let prefix = self.below(width as usize + 1) as u32;
                Match::Lpm { value: (self.value(width) >> (width - prefix)) << (width - prefix), prefix }
            }
            MatchKind::Ternary => Match::Ternary { value: self.value(width), mask: self.value(width) },
            MatchKind::Range => {
                let (a, b) = (self.value(width), self.value(width));
                Match::Range { low: a.clone().min(b.clone()), high: a.max(b) }
            }
        }
    }

    pub fn reason(&mut self) -> String {
        self.pick(&TEXTS).to_string()
    }
}
