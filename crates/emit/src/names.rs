//! Names of C made from names of P4: `hdr.ipv4` becomes `hdr_ipv4`, and nothing gets the name of something else, nor of what is named after it.
//!
//! Everything that a program names gets its name here, once, in the order of the program, so that equal programs give equal text. What the emitter makes of
//! these names by putting something behind them is listed here, too: who makes more of them adds it to the list.

use crate::namer::{Namer, at_top, identifier, unique_in};
use crate::stack::{Element, long_stacks};
use hlir::plan::Structure;
use hlir::text::written_structure;
use hlir::{NodeKind, Program, Table};

/// C names by the number of the thing in its arena. Members of `struct state` share one space of names, functions and types another.
pub struct Names {
    pub headers: Vec<String>,
    /// Of headers that are kept as arrays, instead.
    pub elements: Vec<Option<Element>>,
    pub variables: Vec<String>,
    pub parsers: Vec<String>,
    pub nodes: Vec<String>,
    /// For nodes whose table is looked up elsewhere, too: the prefix of the lookup's own names.
    pub look_ups: Vec<Option<String>>,
    /// Names of enumerators: `AT_INGRESS_DMAC`.
    pub places: Vec<String>,
    pub tables: Vec<String>,
    pub value_sets: Vec<String>,
    /// Parameters of CRCs.
    pub crcs: Vec<String>,
    /// Actions by table, and parameters by action.
    pub actions: Vec<Vec<String>>,
    pub parameters: Vec<Vec<Vec<String>>>,
    /// Functions that read and write a field, by header and field.
    pub fields: Vec<Vec<(String, String)>>,
}

/// Members that `struct state` or `struct scratch` may have in every program.
const STATE: [&str; 17] = [
    "packet",
    "front",
    "cursor",
    "end",
    "port",
    "number",
    "draws",
    "copies",
    "budget",
    "generation",
    "scratch",
    "original",
    "original_length",
    "hit",
    "pending",
    "length",
    "unused",
];

/// Members that `struct run` may have in every program.
const RUN: [&str; 6] = ["worker", "memory", "clock_ns", "out", "number", "requested"];

/// Names that generated functions have beside those of the program.
#[rustfmt::skip]
const LOCALS: [&str; 40] = [
    "access", "act", "address", "at", "begin", "buffer", "count", "enter", "found", "from", "front", "handle", "hash", "header", "held",
    "host", "i", "inline", "length", "lookups", "member", "memory", "moved", "next", "old", "onward", "piece_count", "port",
    "returned", "segment", "size", "snapshot", "snapshot_bits", "snapshot_bytes", "start", "taken", "to", "truncation", "wait", "whole",
];

/// Names at hand where an action runs.
const ACTION: [&str; 10] = ["run", "state", "found", "records", "record", "group", "path", "i", "true", "false"];

impl Names {
    pub fn new(program: &Program) -> Names {
        let mut spaces = Spaces::new(program);
        let headers: Vec<String> =
            program.headers.values().map(|it| spaces.members.unique_with(&it.name, of_header)).collect();
        let elements = elements(program, &mut spaces.members);
        let variables = program.variables.values().map(|it| spaces.members.unique(&it.name)).collect();
        let states = |name: &str| format!("{name}_states");
        let parsers = program.parsers.values().map(|it| spaces.members.unique(&states(&it.name))).collect();
        let actions: Vec<Vec<String>> = program.tables.values().map(actions).collect();
        let tables =
            program.tables.values().zip(&actions).map(|(it, actions)| spaces.table(&it.name, actions)).collect();
        let look_ups = look_ups(program, &mut spaces);
        let value_sets = program.value_sets.values().map(|it| spaces.value_set(&it.name)).collect();
        let crcs = program.crcs.values().map(|it| spaces.held(&it.name)).collect();
        let nodes: Vec<String> = program
            .nodes
            .values()
            .map(|node| match &node.kind {
                NodeKind::Apply { table, .. } => {
                    spaces.node(&node.name, |name| of_look_up(name, &program.tables[*table]))
                }
                NodeKind::State { .. }
                | NodeKind::Block { .. }
                | NodeKind::Branch { .. }
                | NodeKind::Deparse { .. }
                | NodeKind::Buffer { .. } => spaces.node(&node.name, of_node),
            })
            .collect();
        let mut places = Namer::new(["ENDED"]);
        let places = nodes.iter().map(|name| places.enumerator("AT", name)).collect();
        let fields: Vec<_> = program.headers.values().map(|header| spaces.fields(header)).collect();
        let called = called(program, &fields);
        let parameters = program.tables.values().map(|table| parameters(table, &called)).collect();
        Names {
            headers,
            elements,
            variables,
            parsers,
            nodes,
            look_ups,
            places,
            tables,
            value_sets,
            crcs,
            actions,
            parameters,
            fields,
        }
    }
}

fn elements(program: &Program, members: &mut Namer) -> Vec<Option<Element>> {
    let mut elements = vec![None; program.headers.len()];
    for (stack, headers) in long_stacks(program) {
        let of = members.unique_with(&stack, of_header);
        let count = headers.len() as u32;
        for (at, header) in (0..).zip(headers) {
            elements[crate::unit::number(header)] = Some(Element { of: of.clone(), at, count });
        }
    }
    elements
}

fn look_ups(program: &Program, spaces: &mut Spaces) -> Vec<Option<String>> {
    let table = |node: &hlir::Node| if let NodeKind::Apply { table, .. } = &node.kind { Some(*table) } else { None };
    let all: Vec<_> = program.nodes.values().filter_map(table).collect();
    let is_shared =
        |node: &hlir::Node| table(node).is_some_and(|table| all.iter().filter(|other| **other == table).count() > 1);
    program.nodes.values().map(|node| is_shared(node).then(|| spaces.look_up(&node.name))).collect()
}

/// Names that must be distinct.
struct Spaces {
    /// Members of `struct state`, `struct scratch` and `struct saved`.
    members: Namer,
    /// Members of `struct run`.
    held: Namer,
    /// Functions, and constants.
    top: Namer,
    /// Types.
    tags: Namer,
    /// Variables of functions that look up a group, beside the functions that these call.
    grouped: Namer,
}

impl Spaces {
    fn new(program: &Program) -> Spaces {
        let mut top = Namer::new(LOCALS);
        let mut tags = Namer::new([]);
        hlir::externs::functions(program).iter().for_each(|function| top.take(&function.name));
        for id in hlir::externs::objects(program) {
            crate::custom::object_prototypes(program, id).iter().for_each(|(name, _)| top.take(name));
            program.externs[id].object.iter().for_each(|object| tags.take(&object.of_type));
        }
        let mut grouped = Namer::new([]);
        for structure in Structure::ALL.map(written_structure) {
            ["array", "find_group"].iter().for_each(|function| grouped.take(&format!("{structure}_{function}")));
        }
        Spaces { members: Namer::new(STATE), held: Namer::new(RUN), top, tags, grouped }
    }

    /// Members of `struct path` are named after tables, lookups and nodes; none of these may be another one
    /// with a suffix.
    fn table(&mut self, wish: &str, actions: &[String]) -> String {
        let constants = |name: &str| {
            let parameters = actions.iter().map(|action| format!("{name}_{action}_parameters"));
            let code = ["_code_hash", "_code_address", "_code_find", "_code_records"];
            with(name, &["_fields", "_actions"]).into_iter().chain(with(name, &code)).chain(parameters).collect()
        };
        unique_in(
            wish,
            &mut [
                (&mut self.held, &|name| with(name, &["", "_lookups", "_misses", "_records"])),
                (&mut self.tags, &|name| with(name, &["_record"])),
                (&mut self.top, &constants),
                (&mut self.grouped, &|name| with(name, &["_array", "_second", "_group"])),
            ],
        )
    }

    fn look_up(&mut self, wish: &str) -> String {
        unique_in(
            wish,
            &mut [
                (&mut self.held, &|name| with(name, &["", "_lookups", "_misses", "_records"])),
                (&mut self.grouped, &|name| with(name, &["_array", "_second", "_group"])),
            ],
        )
    }

    fn value_set(&mut self, wish: &str) -> String {
        let constants = |name: &str| with(name, &["_fields", "_actions"]);
        unique_in(wish, &mut [(&mut self.held, &|name| with(name, &[""])), (&mut self.top, &constants)])
    }

    /// A name that `struct run` alone has.
    fn held(&mut self, wish: &str) -> String {
        unique_in(wish, &mut [(&mut self.held, &|name| with(name, &[""]))])
    }

    fn node(&mut self, wish: &str, functions: impl Fn(&str) -> Vec<String>) -> String {
        let queue = |name: &str| vec![format!("queue_{name}")];
        unique_in(&at_top(wish, "node"), &mut [(&mut self.top, &functions), (&mut self.tags, &queue)])
    }

    fn fields(&mut self, header: &hlir::Header) -> Vec<(String, String)> {
        let kind = &header.type_name;
        let kind = kind.strip_suffix("_t").or(kind.strip_suffix("_h")).unwrap_or(kind);
        let mut named = |name: String| self.top.unique(&at_top(&name, "header"));
        let fields = header.fields.iter();
        fields.map(|it| (named(format!("{kind}_{}", it.name)), named(format!("{kind}_set_{}", it.name)))).collect()
    }
}

/// A name with each of these suffixes.
fn with(name: &str, parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| format!("{name}{part}")).collect()
}

/// Beside a header's pointer are its valid bit and perhaps a length, and where it is in a packet that is saved.
fn of_header(name: &str) -> Vec<String> {
    with(name, &["", "_valid", "_bits", "_place"])
}

/// Functions of any node: its own, those that make copies, and its loop.
fn of_node(name: &str) -> Vec<String> {
    with(name, &["", "_copy#", "_onward", "_loop"])
}

/// The same of one that looks up a table.
fn of_look_up(name: &str, table: &Table) -> Vec<String> {
    let mut made = of_node(name);
    made.extend(with(name, &["_key", "_act", "_find", "_search"]));
    let mut asked = with(name, &["_found_by", "_record_of", "_action_of"]);
    for (number, action) in table.actions.iter().enumerate() {
        asked.extend((0..action.parameters.len()).map(|parameter| format!("{name}_data_{number}_{parameter}_of")));
    }
    made.extend(asked.iter().map(|asked| format!("{asked}_lanes")));
    made.extend(asked);
    made
}

/// Members of a record.
fn actions(table: &Table) -> Vec<String> {
    let mut namer = Namer::new([crate::selector::SLOT]);
    table.actions.iter().map(|action| namer.unique(last_part(&action.name))).collect()
}

/// What actions' code calls of this program's.
fn called(program: &Program, fields: &[Vec<(String, String)>]) -> Vec<String> {
    let accesses = fields.iter().flatten().flat_map(|(read, write)| [read.clone(), write.clone()]);
    let mut called: Vec<String> = accesses.collect();
    called.extend(hlir::externs::functions(program).into_iter().map(|function| function.name));
    called
}

fn parameters(table: &Table, called: &[String]) -> Vec<Vec<String>> {
    let named = |action: &hlir::Action| {
        let mut namer = Namer::new(ACTION.into_iter().chain(called.iter().map(String::as_str)));
        if table.profile.is_some() {
            namer.take("member");
        }
        action.parameters.iter().map(|parameter| parameter_name(&mut namer, &parameter.name)).collect()
    };
    table.actions.iter().map(named).collect()
}

/// Temporaries end in a digit, so parameters do not; and actions' code calls the runtime, whose names have several parts.
fn parameter_name(namer: &mut Namer, wish: &str) -> String {
    let name = identifier(wish);
    let name = if name.contains('_') { at_top(&name, "data") } else { name };
    let is_numbered = |name: &str| name.ends_with(|last: char| last.is_ascii_digit());
    let mut name = if is_numbered(&name) { format!("{name}_data") } else { name };
    let mut unique = namer.unique(&name);
    while is_numbered(&unique) {
        name.push_str("_data");
        unique = namer.unique(&name);
    }
    unique
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_end_in_no_digit_whatever_else_is_there() {
        let mut namer = Namer::new(["found"]);
        let names = ["x1", "found_data", "found", "found", "x1_data", "packet_length"]
            .map(|wish| parameter_name(&mut namer, wish));
        assert_eq!(
            names,
            ["x1_data", "found_data", "found_data_data", "found_data_data_data", "x1_data_data", "data_packet_length"]
        );
    }
}
