//! Names of C made from names of P4: `hdr.ipv4` becomes `hdr_ipv4`, and nothing gets the name of something else.
//!
//! Everything that a program names gets its name here, once, in the order of the program, so that equal programs give equal text.

use hlir::Program;
use std::collections::HashSet;

/// C names by the number of the thing in its arena. Members of `struct state` share one space of names, functions and types another.
pub struct Names {
    pub headers: Vec<String>,
    pub variables: Vec<String>,
    pub parsers: Vec<String>,
    pub nodes: Vec<String>,
    /// Names of enumerators: `AT_INGRESS_DMAC`.
    pub places: Vec<String>,
    pub tables: Vec<String>,
    pub value_sets: Vec<String>,
    /// Actions by table, and parameters by action.
    pub actions: Vec<Vec<String>>,
    pub parameters: Vec<Vec<Vec<String>>>,
    /// Functions that read and write a field, by header and field.
    pub fields: Vec<Vec<(String, String)>>,
}

/// Members that `struct state` has in every program.
const STATE: &[&str] = &[
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
    "hit",
    "pending",
    "length",
];

/// First parts of names that belong to the runtime, or could one day.
const RUNTIME: &[&str] = &[
    "abi", "bits", "budget", "burst", "checksum", "copy", "counter", "crc", "crc16", "crc32", "dir24", "exact",
    "flight", "group", "groups", "hash", "identity", "lanes", "limbs", "list", "load", "load8", "load16", "load32",
    "load64", "lpm", "mbuf", "mem", "meter", "mtr", "node", "output", "own", "packet", "path", "pending", "piece",
    "pieces", "pipeline", "pool", "prefetch", "process", "queue", "random", "register", "released", "rte", "run",
    "saved", "scratch", "shared", "signed", "state", "store", "store8", "store16", "store32", "store64", "table",
    "target", "value", "walk", "wide", "worker", "xor16", "saturate", "shift",
];

/// Words of C and of its library that are single names.
const WORDS: &[&str] = &[
    "LANES",
    "abort",
    "abs",
    "action",
    "alignas",
    "alignof",
    "asm",
    "attach",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "data",
    "default",
    "detach",
    "div",
    "do",
    "double",
    "else",
    "ended",
    "entry",
    "enum",
    "exit",
    "extern",
    "false",
    "float",
    "for",
    "free",
    "goto",
    "if",
    "index",
    "inline",
    "int",
    "key",
    "linux",
    "log",
    "long",
    "main",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "next",
    "noreturn",
    "null",
    "number",
    "parameter",
    "rand",
    "read",
    "record",
    "remove",
    "restrict",
    "resume",
    "return",
    "short",
    "signal",
    "sizeof",
    "start",
    "static",
    "struct",
    "switch",
    "system",
    "thread_local",
    "time",
    "true",
    "typedef",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "void",
    "volatile",
    "while",
    "write",
];

/// Names that generated functions have beside those of the program.
#[rustfmt::skip]
const LOCALS: &[&str] = &[
    "access", "act", "address", "at", "begin", "buffer", "count", "enter", "found", "from", "front", "handle", "hash", "header", "held",
    "host", "i", "inline", "length", "lookups", "member", "memory", "moved", "next", "old", "onward", "piece_count", "port",
    "returned", "segment", "size", "snapshot", "snapshot_bits", "snapshot_bytes", "start", "taken", "to", "truncation", "wait", "whole",
];

/// Gives each thing a name of its own.
pub struct Namer {
    taken: HashSet<String>,
}

impl Namer {
    pub fn new(reserved: &[&str]) -> Namer {
        Namer { taken: WORDS.iter().chain(reserved).map(|word| word.to_string()).collect() }
    }

    /// `wish` as a C name, with a number behind it if it is taken.
    pub fn unique(&mut self, wish: &str) -> String {
        let name = identifier(wish);
        let mut unique = name.clone();
        let mut number = 2;
        while !self.taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        unique
    }

    /// A name at the top level of the file, where the runtime's are too.
    fn top(&mut self, wish: &str, kind: &str) -> String {
        let name = identifier(wish);
        let first = name.split('_').next().unwrap_or("");
        if RUNTIME.contains(&first) { self.unique(&format!("{kind}_{name}")) } else { self.unique(&name) }
    }
}

/// Letters, digits and single underscores, not beginning with a digit. Case is kept.
pub fn identifier(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        let wanted = if character.is_ascii_alphanumeric() { character } else { '_' };
        if wanted != '_' || (!out.ends_with('_') && !out.is_empty()) {
            out.push(wanted);
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        None => "unnamed".to_string(),
        Some(first) if first.is_ascii_digit() => format!("n{out}"),
        Some(_) => out.to_string(),
    }
}

impl Names {
    pub fn new(program: &Program) -> Names {
        let mut members = Namer::new(STATE);
        let mut top = Namer::new(LOCALS);
        let mut places = Namer::new(&["ENDED"]);
        let headers: Vec<String> =
            program.headers.iter().map(|(_, header)| header_name(&mut members, &header.name)).collect();
        let variables = program.variables.iter().map(|(_, variable)| members.unique(&variable.name)).collect();
        let parsers =
            program.parsers.iter().map(|(_, parser)| members.unique(&format!("{}_states", parser.name))).collect();
        let mut held = Namer::new(&["worker", "memory", "clock_ns", "out", "number", "requested"]);
        let tables = program.tables.iter().map(|(_, table)| held.unique(&table.name)).collect();
        let value_sets = program.value_sets.iter().map(|(_, set)| held.unique(&set.name)).collect();
        let nodes: Vec<String> = program.nodes.iter().map(|(_, node)| top.top(&node.name, "node")).collect();
        let places = nodes.iter().map(|name| places.unique(&format!("AT_{}", name.to_uppercase()))).collect();
        let fields = program.headers.iter().map(|(_, header)| field_names(&mut top, header)).collect();
        let mut actions = Vec::new();
        let mut parameters = Vec::new();
        for (_, table) in program.tables.iter() {
            let mut namer = Namer::new(&[]);
            actions.push(table.actions.iter().map(|action| namer.unique(last_part(&action.name))).collect());
            let named = |action: &hlir::Action| {
                let mut namer = Namer::new(&["run", "state", "found", "record", "group", "true", "false"]);
                action.parameters.iter().map(|parameter| parameter_name(&mut namer, &parameter.name)).collect()
            };
            parameters.push(table.actions.iter().map(named).collect());
        }
        Names { headers, variables, parsers, nodes, places, tables, value_sets, actions, parameters, fields }
    }
}

/// Beside a header's pointer stand its valid bit and perhaps a length, named after it.
fn header_name(members: &mut Namer, wish: &str) -> String {
    let name = members.unique(wish);
    members.unique(&format!("{name}_valid"));
    members.unique(&format!("{name}_bits"));
    name
}

fn field_names(top: &mut Namer, header: &hlir::Header) -> Vec<(String, String)> {
    let kind = header.type_name.strip_suffix("_t").or(header.type_name.strip_suffix("_h")).unwrap_or(&header.type_name);
    let named = |field: &hlir::Field| {
        (top.top(&format!("{kind}_{}", field.name), "header"), top.top(&format!("{kind}_set_{}", field.name), "header"))
    };
    header.fields.iter().map(named).collect()
}

/// Temporaries end in a digit, so parameters do not.
fn parameter_name(namer: &mut Namer, wish: &str) -> String {
    let name = identifier(wish);
    let number = name.ends_with(|last: char| last.is_ascii_digit());
    let name = if number { format!("{name}_data") } else { name };
    let mut unique = namer.unique(&name);
    while unique.ends_with(|last: char| last.is_ascii_digit()) {
        unique = namer.unique(&format!("{name}_data"));
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
    fn names_are_of_c_and_unique() {
        let mut namer = Namer::new(&["front"]);
        let wishes = ["hdr.ipv4", "hdr_ipv4", "hdr.labels[2]", "9lives", "while", "front", "$valid$", "_", "LANES"];
        let names: Vec<String> = wishes.iter().map(|wish| namer.unique(wish)).collect();
        assert_eq!(
            names,
            ["hdr_ipv4", "hdr_ipv4_2", "hdr_labels_2", "n9lives", "while_2", "front_2", "valid", "unnamed", "LANES_2"]
        );
    }
}
