//! Checks of what a program declares beside tables and nodes: names, storage, stateful objects, parsers, the controller's view.

use super::{Site, Verifier, WIDEST};
use crate::interface::Physical;
use crate::text::{CORE_ERRORS, get, number};
use crate::{ParserId, TableId, Type};
use std::collections::{HashMap, HashSet};

impl Verifier<'_> {
    pub(super) fn objects(&mut self) {
        let program = self.program;
        let is_plain =
            !program.name.is_empty() && program.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain {
            let message = format!("the program's name `{}` must be letters, digits and `_`", program.name);
            self.report(Site::Program, message, "it becomes part of the names of generated files");
        }
        if !program.errors.starts_with(&CORE_ERRORS.map(str::to_string)) {
            self.error(Site::Program, "the first seven errors must be those of core.p4");
        }
        if let Some(entry) = program.entry {
            self.is_node(Site::Program, entry);
        }
        self.unique_names();
        self.storage();
        self.stateful();
        for (id, _) in program.parsers.iter() {
            self.parser(id);
        }
    }

    fn unique_names(&mut self) {
        let program = self.program;
        let tables = program.tables.iter().map(|(id, table)| (&table.name, Site::Table(id)));
        self.unique("tables", tables);
        self.unique("nodes", program.nodes.iter().map(|(id, node)| (&node.name, Site::Node(id))));
        self.unique("parsers", program.parsers.iter().map(|(id, parser)| (&parser.name, Site::Parser(id))));
        self.unique("CRCs", program.crcs.iter().map(|(id, it)| (&it.name, Site::Crc(number(id)))));
        self.unique("digests", program.digests.iter().map(|(id, it)| (&it.name, Site::Digest(number(id)))));
        self.unique("value sets", program.value_sets.iter().map(|(id, it)| (&it.name, Site::ValueSet(number(id)))));
        self.unique("profiles", program.profiles.iter().map(|(id, it)| (&it.name, Site::Profile(number(id)))));
        self.unique("externs", program.externs.iter().map(|(id, it)| (&it.name, Site::Extern(number(id)))));
        let registers = program.registers.iter().map(|(id, it)| (&it.name, Site::Register(number(id))));
        let counters = program.counters.iter().map(|(id, it)| (&it.name, Site::Counter(number(id))));
        let meters = program.meters.iter().map(|(id, it)| (&it.name, Site::Meter(number(id))));
        self.unique("registers, counters or meters", registers.chain(counters).chain(meters));
        let headers = program.headers.iter().flat_map(|(id, header)| {
            let fields = header.fields.iter().map(|field| format!("{}.{}", header.name, field.name));
            std::iter::once(header.name.clone()).chain(fields).map(move |name| (name, Site::Header(id)))
        });
        let variables = program.variables.iter().map(|(id, variable)| (variable.name.clone(), Site::Variable(id)));
        let storage: Vec<(String, Site)> = headers.chain(variables).collect();
        self.unique("variables, headers or fields", storage.iter().map(|(name, site)| (name, *site)));
    }

    /// Reports names that two of these have, at both places.
    pub(super) fn unique<'n>(&mut self, what: &str, names: impl Iterator<Item = (&'n String, Site)>) {
        let mut first: HashMap<&String, Site> = HashMap::new();
        for (name, site) in names {
            let Some(earlier) = first.get(name) else {
                first.insert(name, site);
                continue;
            };
            let mut error = crate::diagnostic::Diagnostic::error(format!("two {what} are named `{name}`"));
            let (here, there) = (self.places.get(site), self.places.get(*earlier));
            if !here.is_none() {
                error = error.label(here, "the second one").label(there, "the first one");
            }
            self.errors.push(error);
        }
    }

    fn storage(&mut self) {
        for (id, header) in self.program.headers.iter() {
            let bits: u64 = header.fields.iter().map(|field| u64::from(field.width)).sum();
            if bits > u64::from(WIDEST) {
                self.error(Site::Header(id), format!("{bits} bits are more than {WIDEST}"));
            }
            if header.fields.iter().filter(|field| field.varbit).count() > 1 {
                self.error(Site::Header(id), "a header has at most one varbit field");
            }
        }
        for (id, variable) in self.program.variables.iter() {
            if let Type::Bits(width) = variable.kind {
                self.width(Site::Variable(id), width);
            }
        }
    }

    pub(super) fn width(&mut self, site: Site, width: u32) {
        if width > WIDEST {
            self.error(site, format!("{width} bits are more than {WIDEST}"));
        }
    }

    fn stateful(&mut self) {
        let program = self.program;
        for (id, register) in program.registers.iter() {
            let site = Site::Register(number(id));
            self.width(site, register.width);
            if register.initial.bits() > u64::from(register.width) {
                self.error(site, format!("{} does not fit {} bits", register.initial, register.width));
            }
        }
        for (id, counter) in program.counters.iter() {
            let site = Site::Counter(number(id));
            self.indices(site, counter.size, counter.table);
            if counter.automatic && counter.table.is_none() {
                self.error(site, "only a direct counter can be automatic");
            }
        }
        for (id, meter) in program.meters.iter() {
            let site = Site::Meter(number(id));
            self.indices(site, meter.size, meter.table);
            if let Some(place) = meter.automatic {
                self.judge(site, &[], |kinds| kinds.bits_place(place, "the colour"));
                if meter.table.is_none() {
                    self.error(site, "only a direct meter can be automatic");
                }
            }
        }
        for (id, crc) in program.crcs.iter().filter(|(_, crc)| !matches!(crc.width, 16 | 32)) {
            self.error(Site::Crc(number(id)), format!("a CRC has 16 or 32 bits, not {}", crc.width));
        }
        for (id, digest) in program.digests.iter() {
            digest.fields.iter().for_each(|(_, width)| self.width(Site::Digest(number(id)), *width));
        }
        for (id, profile) in program.profiles.iter() {
            if profile.selector.as_ref().is_some_and(|selector| selector.algorithm.crc().is_some()) {
                self.error(Site::Profile(number(id)), "the parameters of a selector's hash cannot be set");
            }
        }
        for (id, set) in program.value_sets.iter() {
            set.fields.iter().for_each(|(_, width, _)| self.width(Site::ValueSet(number(id)), *width));
        }
        for (id, custom) in program.externs.iter() {
            let Some(object) = &custom.object else { continue };
            let site = Site::Extern(number(id));
            self.c_name(site, &object.of_type);
            for (value, width) in &object.arguments {
                self.width(site, *width);
                if value.bits() > u64::from(*width) {
                    self.error(site, format!("{value} does not fit {width} bits"));
                }
            }
        }
    }

    /// What becomes a name in C.
    pub(super) fn c_name(&mut self, site: Site, name: &str) {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_word || name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            self.error(site, format!("`{name}` is no name in C"));
        }
    }

    fn indices(&mut self, site: Site, size: u64, table: Option<TableId>) {
        let Some(table) = table else { return };
        if size != 0 {
            self.error(site, "a direct counter or meter has no size: it has an index for each entry");
        }
        if get(&self.program.tables, table).is_none() {
            self.error(site, format!("there is no table number {}", number(table)));
        }
    }

    fn parser(&mut self, id: ParserId) {
        let (site, parser) = (Site::Parser(id), &self.program.parsers[id]);
        let nodes = [("start", parser.start), ("accept", parser.accept), ("reject", parser.reject)];
        for (word, node) in nodes {
            if !self.is_node(site, node) {
                continue;
            }
            let is_state = self.program.nodes[node].parser() == Some(id);
            if (word == "start") != is_state {
                let name = &self.program.nodes[node].name;
                let not = if is_state { "" } else { "not " };
                self.error(site, format!("`{word}` is `{name}`, which is {not}a state of it"));
            }
        }
        match get(&self.program.variables, parser.error).map(|variable| variable.kind) {
            None => self.error(site, format!("there is no variable number {}", number(parser.error))),
            Some(Type::Bool) => self.error(site, "the error must be bits, and is a boolean"),
            Some(Type::Bits(width)) if width < 32 && (self.program.errors.len() as u64) > 1 << width => {
                self.error(site, format!("the codes of {} errors do not fit {width} bits", self.program.errors.len()));
            }
            Some(Type::Bits(_)) => {}
        }
    }

    pub(super) fn interface(&mut self) {
        let interface = &self.program.interface;
        let tables = interface.tables.iter().map(|table| table.id);
        let actions = interface.actions.iter().map(|action| action.id);
        let objects = interface.objects.iter().map(|object| object.id);
        let mut ids = HashSet::new();
        for id in tables.chain(actions).chain(objects) {
            if !ids.insert(id) {
                self.error(Site::Interface, format!("two objects have the id {id:#010x}"));
            }
        }
        let actions: HashSet<u32> = interface.actions.iter().map(|action| action.id).collect();
        for (index, table) in interface.tables.iter().enumerate() {
            let site = Site::SourceTable(index as u32);
            for used in table.actions.iter().filter(|used| !actions.contains(&used.action)) {
                self.error(site, format!("no action has the id {:#010x}", used.action));
            }
            let default = table.default.iter().map(|default| default.action);
            for action in default.filter(|action| !actions.contains(action)) {
                self.error(site, format!("no action has the id {action:#010x}"));
            }
            match table.physical {
                Physical::Table(id) if get(&self.program.tables, id).is_none() => {
                    self.error(site, format!("there is no table number {}", number(id)));
                }
                Physical::Table(_) | Physical::None => {}
            }
        }
    }
}
