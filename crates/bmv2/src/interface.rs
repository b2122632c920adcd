//! The controller's view: that which came with the program, or one of the names in the JSON.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use hlir::build::ids;
use hlir::diagnostic::Diagnostic;
use hlir::interface::{
    Definition, Detail, ObjectKind, Physical, SourceAction, SourceActionUse, SourceDefault, SourceKey, SourceObject,
    SourceParameter, SourceSelector, SourceTable, TypeSpec,
};
use hlir::{CounterUnit, Interface, NodeKind, Program, TableId};

use crate::json::Read;

const ACTION: u32 = 0x01;
const TABLE: u32 = 0x02;

/// Gives a program its interface, once it has all nodes.
pub fn freeze(program: &mut Program, given: Option<&Interface>) -> Read<()> {
    if let Some(given) = given {
        program.interface = adopted(program, given)?;
        take_units(program);
    } else {
        program.interface = of_names(program);
    }
    Ok(())
}

/// Counters count what the interface has: the JSON does not have it.
fn take_units(program: &mut Program) {
    let units = program.interface.objects.iter().filter_map(|object| match &object.detail {
        Detail::Counter { unit, .. } | Detail::DirectCounter { unit, .. } => Some((object.name.as_str(), *unit)),
        _ => None,
    });
    let units: HashMap<&str, CounterUnit> = units.collect();
    for counter in program.counters.values_mut() {
        counter.unit = units.get(counter.name.as_str()).copied().unwrap_or(counter.unit);
    }
}

/// The interface that came with the program, with the tables that realise its own.
fn adopted(program: &Program, given: &Interface) -> Read<Interface> {
    let reached = reached_tables(program);
    let mut interface = given.clone();
    for table in &mut interface.tables {
        let found = program.tables.iter().find(|(_, known)| known.name == table.name);
        table.physical = match found {
            Some((id, _)) if reached.contains(&id) => Physical::Table(id),
            Some(_) | None => Physical::None,
        };
        if let Some((_, known)) = found
            && known.keys.len() != table.keys.len()
        {
            let message = format!(
                "table `{}` has {} keys in the JSON, and {} in the P4Info",
                table.name,
                known.keys.len(),
                table.keys.len()
            );
            return Err(Diagnostic::error(message).kind("bmv2-json").hint("push the P4Info of the same program"));
        }
    }
    take_widths(program, &mut interface);
    let named: HashSet<&str> = interface.tables.iter().map(|table| table.name.as_str()).collect();
    let mut open = program.tables.values().filter(|table| !is_of_compiler(table));
    if let Some(missing) = open.find(|table| !named.contains(table.name.as_str())) {
        let message = format!("table `{}` of the JSON is not in the P4Info", missing.name);
        return Err(Diagnostic::error(message).kind("bmv2-json").hint("push the P4Info of the same program"));
    }
    Ok(interface)
}

/// Whether p4c has made a table of a `switch`: no controller can write to it, and its name has no control.
fn is_of_compiler(table: &hlir::Table) -> bool {
    table.entries_constant && table.default_constant && !table.name.contains('.') && table.name.starts_with("switch_")
}

/// Values of translated types have the widths of the program, where P4Info has those of the controller.
fn take_widths(program: &Program, interface: &mut Interface) {
    let is_translated = |name: &Option<String>| {
        interface.types.iter().any(|declared| {
            Some(&declared.name) == name.as_ref() && matches!(declared.definition, Definition::Translated { .. })
        })
    };
    for table in &mut interface.tables {
        let Some(known) = program.tables.values().find(|known| known.name == table.name) else { continue };
        for (key, known) in table.keys.iter_mut().zip(&known.keys) {
            if is_translated(&key.type_name) {
                key.width = known.value.type_in(program, &[]).width();
            }
        }
    }
    for action in &mut interface.actions {
        let all = program.tables.values().flat_map(|table| &table.actions);
        let Some(known) = all.into_iter().find(|known| known.name == action.name) else { continue };
        for (parameter, known) in action.parameters.iter_mut().zip(&known.parameters) {
            if is_translated(&parameter.type_name) {
                parameter.width = known.width;
            }
        }
    }
}

fn reached_tables(program: &Program) -> HashSet<TableId> {
    let applied = program.nodes.values().filter_map(|node| match &node.kind {
        NodeKind::Apply { table, .. } => Some(*table),
        _ => None,
    });
    applied.collect()
}

/// An interface with the names of the JSON, and p4c's ids of these.
fn of_names(program: &Program) -> Interface {
    let mut interface = Interface { externs: true, ..Interface::default() };
    let open = || program.tables.values().filter(|table| !is_of_compiler(table));
    let names = open().flat_map(|table| &table.actions).map(|action| (action.name.clone(), None));
    let actions = ids::number(ACTION, &names.collect());
    let tables = open().map(|table| (table.name.clone(), None));
    let tables = ids::number(TABLE, &tables.collect());
    let mut listed = HashSet::new();
    for action in open().flat_map(|table| &table.actions) {
        if listed.insert(&action.name) {
            interface.actions.push(source_action(action, actions[&action.name]));
        }
    }
    let reached = reached_tables(program);
    for (id, table) in program.tables.iter().filter(|(_, table)| !is_of_compiler(table)) {
        let physical = if reached.contains(&id) { Physical::Table(id) } else { Physical::None };
        interface.tables.push(source_table(program, table, tables[&table.name], &actions, physical));
    }
    interface.objects = objects(program, &tables);
    tie(program, &mut interface);
    alias_all(&mut interface);
    interface
}

fn source_action(action: &hlir::Action, id: u32) -> SourceAction {
    let parameters = action.parameters.iter().enumerate().map(|(at, parameter)| SourceParameter {
        id: at as u32 + 1,
        name: parameter.name.clone(),
        width: parameter.width,
        type_name: None,
        notes: parameter.notes.clone(),
    });
    let parameters = parameters.collect();
    SourceAction { id, name: action.name.clone(), alias: String::new(), parameters, notes: action.notes.clone() }
}

fn source_table(
    program: &Program,
    table: &hlir::Table,
    id: u32,
    actions: &BTreeMap<String, u32>,
    physical: Physical,
) -> SourceTable {
    let keys = table.keys.iter().enumerate().map(|(at, key)| SourceKey {
        id: at as u32 + 1,
        name: key.name.clone(),
        width: key.value.type_in(program, &[]).width(),
        kind: key.kind,
        type_name: None,
        notes: key.notes.clone(),
    });
    let uses = table.actions.iter().map(|action| SourceActionUse {
        action: actions[&action.name],
        scope: action.scope,
        notes: hlir::Notes::default(),
    });
    let default = table.actions.get(table.default.action as usize).map(|action| SourceDefault {
        action: actions[&action.name],
        arguments: table.default.arguments.clone(),
        constant: table.default_constant,
    });
    SourceTable {
        id,
        name: table.name.clone(),
        alias: String::new(),
        keys: keys.collect(),
        actions: uses.collect(),
        default,
        profile: None,
        direct: Vec::new(),
        size: table.size,
        idle_timeout: table.idle_timeout.is_some(),
        entries_constant: table.entries_constant,
        entries_initial: !table.entries.is_empty(),
        physical,
        notes: table.notes.clone(),
    }
}

fn objects(program: &Program, tables: &BTreeMap<String, u32>) -> Vec<SourceObject> {
    let table = |table: &TableId| tables[&program.tables[*table].name];
    let mut all: Vec<(Detail, &str)> = Vec::new();
    for set in program.value_sets.values() {
        let keys = set.fields.iter().enumerate().map(|(at, (name, width, kind))| SourceKey {
            id: at as u32 + 1,
            name: if set.fields.len() > 1 { name.clone() } else { String::new() },
            width: *width,
            kind: *kind,
            type_name: None,
            notes: hlir::Notes::default(),
        });
        all.push((Detail::ValueSet { size: set.size, keys: keys.collect() }, &set.name));
    }
    for profile in program.profiles.values() {
        let selector = profile.selector.as_ref().map(|_| SourceSelector { largest_group: 0, semantics: None });
        all.push((Detail::ActionProfile { tables: Vec::new(), size: profile.size, selector }, &profile.name));
    }
    for counter in program.counters.values() {
        let unit = counter.unit;
        let detail = match &counter.table {
            Some(of) => Detail::DirectCounter { unit, table: table(of) },
            None => Detail::Counter { unit, size: counter.size, index: None },
        };
        all.push((detail, &counter.name));
    }
    for meter in program.meters.values() {
        let unit = meter.unit;
        let detail = match &meter.table {
            Some(of) => Detail::DirectMeter { unit, table: table(of) },
            None => Detail::Meter { unit, size: meter.size, index: None },
        };
        all.push((detail, &meter.name));
    }
    for register in program.registers.values() {
        let element = TypeSpec::Bits(register.width);
        all.push((Detail::Register { element, size: register.size, index: None }, &register.name));
    }
    for digest in program.digests.values() {
        let fields = digest.fields.iter().map(|(_, width)| TypeSpec::Bits(*width)).collect();
        all.push((Detail::Digest { record: TypeSpec::Tuple(fields) }, &digest.name));
    }
    let mut names: HashMap<ObjectKind, BTreeMap<String, Option<u32>>> = HashMap::new();
    for (detail, name) in &all {
        names.entry(detail.kind()).or_default().insert((*name).to_string(), None);
    }
    let numbers: HashMap<ObjectKind, BTreeMap<String, u32>> =
        names.iter().map(|(kind, names)| (*kind, ids::number(u32::from(kind.prefix()), names))).collect();
    let made = all.into_iter().map(|(detail, name)| SourceObject {
        id: numbers[&detail.kind()][name],
        name: name.to_string(),
        alias: String::new(),
        detail,
        notes: hlir::Notes::default(),
    });
    made.collect()
}

/// Links tables to their profiles, direct counters and direct meters.
fn tie(program: &Program, interface: &mut Interface) {
    for source in &mut interface.tables {
        let Physical::Table(table) = source.physical else { continue };
        let table = &program.tables[table];
        let profile = table.profile.map(|profile| program.profiles[profile].name.as_str());
        for object in &mut interface.objects {
            match &mut object.detail {
                Detail::ActionProfile { tables, .. } if profile == Some(object.name.as_str()) => {
                    tables.push(source.id);
                    source.profile = Some(object.id);
                }
                Detail::DirectCounter { table, .. } | Detail::DirectMeter { table, .. } if *table == source.id => {
                    source.direct.push(object.id);
                }
                _ => {}
            }
        }
    }
}

fn alias_all(interface: &mut Interface) {
    let tables = interface.tables.iter_mut().map(|table| (&table.name, &mut table.alias));
    let actions = interface.actions.iter_mut().map(|action| (&action.name, &mut action.alias));
    let objects = interface.objects.iter_mut().map(|object| (&object.name, &mut object.alias));
    let named: Vec<(&String, &mut String)> = tables.chain(actions).chain(objects).collect();
    let all: BTreeSet<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
    let all: Vec<String> = all.into_iter().map(str::to_string).collect();
    named.into_iter().for_each(|(name, given)| *given = ids::alias(name, &all));
}
