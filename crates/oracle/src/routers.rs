//! Random programs of a router's form: headers in fixed places, tables, counters, and one port per packet. Their paths
//! have schedules, which those of `generate` hardly ever have.

use crate::architecture::Architecture;
use crate::generate::{Case, Random};

/// Entries per table.
const ENTRIES: usize = 6;

/// Packets per program.
const PACKETS: usize = 10;

/// A field, a variable or a parameter.
#[derive(Clone)]
struct Place {
    name: String,
    width: usize,
}

struct Table {
    name: String,
    key: Place,
    is_prefix: bool,
    /// Names and parameters.
    actions: Vec<(String, Vec<Place>)>,
}

struct Router {
    random: Random,
    headers: Vec<Vec<Place>>,
    meta: Vec<Place>,
    tables: Vec<Table>,
    /// Tables that are not applied yet.
    open: Vec<usize>,
    actions: String,
}

/// The router of a seed.
pub fn generate(seed: u64) -> Case {
    let mut random = Random::new(seed ^ 0x726f_7574_6572);
    let header = |number: usize, random: &mut Random| {
        let mut fields = vec![Place { name: format!("hdr.h{number}.kind"), width: 8 }];
        for field in 0..random.between(2, 4) {
            fields.push(Place {
                name: format!("hdr.h{number}.f{field}"),
                width: *random.pick(&[3, 8, 9, 16, 20, 32, 48]),
            });
        }
        let bits: usize = fields.iter().map(|field| field.width).sum();
        if !bits.is_multiple_of(8) {
            fields.push(Place { name: format!("hdr.h{number}.pad"), width: 8 - bits % 8 });
        }
        fields
    };
    let headers = (0..3).map(|number| header(number, &mut random)).collect();
    let meta = [1, 8, 9, 16, 32].into_iter().map(|width| Place { name: format!("meta.m{width}"), width }).collect();
    let mut router = Router { random, headers, meta, tables: Vec::new(), open: Vec::new(), actions: String::new() };
    let program = router.program();
    let lines = router.lines();
    Case { seed, architecture: Architecture::V1model, program, lines }
}

impl Router {
    fn program(&mut self) -> String {
        let fields = |header: &[Place]| -> String {
            let one =
                |field: &Place| format!("bit<{}> {}; ", field.width, field.name.rsplit('.').next().unwrap_or_default());
            header.iter().map(one).collect()
        };
        let declared: String = self
            .headers
            .iter()
            .enumerate()
            .map(|(at, header)| format!("header h{at}_t {{ {}}}\n", fields(header)))
            .collect();
        let known: Vec<Place> = self.headers[0].iter().chain(&self.meta).cloned().collect();
        for number in 0..self.random.between(1, 3) {
            self.table(number, &known);
        }
        let more: Vec<Place> = known.iter().chain(&self.headers[1]).cloned().collect();
        let first = self.statements(&known, 2);
        let then = self.statements(&more, 3);
        let otherwise = self.statements(&known, 2);
        let last = self.statements(&known, 1);
        let tables: String = self.tables.iter().map(declaration).collect();
        format!(
            "{declared}struct headers_t {{ h0_t h0; h1_t h1; h2_t h2; }}\nstruct meta_t {{ {meta}}}
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    state start {{ pkt.extract(hdr.h0); transition select(hdr.h0.kind) {{ 1: more; 2: accept; 4 &&& 12: more; default: accept; }} }}
    state more {{ pkt.extract(hdr.h1); transition select(hdr.h1.kind) {{ 0..7: accept; default: most; }} }}
    state most {{ pkt.extract(hdr.h2); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{
    counter(8, CounterType.packets_and_bytes) c0;
    counter(3, CounterType.packets) c1;
{actions}{tables}    apply {{
        std.egress_spec = (bit<9>) hdr.h0.kind;
{first}        if (hdr.h1.isValid()) {{
{then}        }} else {{
{otherwise}        }}
{last}    }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out pkt, in headers_t hdr) {{ apply {{ pkt.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
",
            meta = fields(&self.meta),
            actions = self.actions,
        )
    }

    /// Declares a table and its actions.
    fn table(&mut self, number: usize, known: &[Place]) {
        let wide: Vec<Place> = known.iter().filter(|place| place.width >= 3).cloned().collect();
        let key = self.random.pick(&wide).clone();
        let mut actions = Vec::new();
        for action in 0..self.random.between(1, 3) {
            let name = format!("a{number}_{action}");
            let parameter = |at: usize, random: &mut Random| Place {
                name: format!("p{at}"),
                width: *random.pick(&[8, 9, 16, 32, 48, 70]),
            };
            let parameters: Vec<Place> = (0..self.random.below(3)).map(|at| parameter(at, &mut self.random)).collect();
            let readable: Vec<Place> = known.iter().chain(&parameters).cloned().collect();
            let mut body = String::new();
            for _ in 0..self.random.between(1, 3) {
                body.push_str(&self.simple(known, &readable));
            }
            let declared: Vec<String> =
                parameters.iter().map(|place| format!("bit<{}> {}", place.width, place.name)).collect();
            self.actions.push_str(&format!("    action {name}({}) {{\n{body}    }}\n", declared.join(", ")));
            actions.push((name, parameters));
        }
        let is_prefix = self.random.chance(40);
        self.open.push(number);
        self.tables.push(Table { name: format!("t{number}"), key, is_prefix, actions });
    }

    fn statements(&mut self, known: &[Place], count: usize) -> String {
        (0..self.random.between(1, count + 1)).map(|_| self.statement(known)).collect()
    }

    fn statement(&mut self, known: &[Place]) -> String {
        if self.random.chance(25) {
            let condition = self.condition(known);
            let index = self.random.below(4);
            return format!("if ({condition}) {{ c1.count({index}); mark_to_drop(std); exit; }}\n");
        }
        if !self.open.is_empty() && self.random.chance(65) {
            let table = self.open.remove(0);
            let name = self.tables[table].name.clone();
            let body = self.simple(known, known);
            return match self.random.below(3) {
                0 => format!("{name}.apply();\n"),
                1 => format!("if ({name}.apply().hit) {{\n{body}}}\n"),
                _ => {
                    let action = self.tables[table].actions[0].0.clone();
                    format!("switch ({name}.apply().action_run) {{ {action}: {{\n{body}}} default: {{ }} }}\n")
                }
            };
        }
        if self.random.chance(30) {
            let condition = self.condition(known);
            let (then, otherwise) = (self.simple(known, known), self.simple(known, known));
            return format!("if ({condition}) {{\n{then}}} else {{\n{otherwise}}}\n");
        }
        self.simple(known, known)
    }

    /// A statement without a lookup.
    fn simple(&mut self, written: &[Place], read: &[Place]) -> String {
        match self.random.below(12) {
            0 => "mark_to_drop(std);\n".to_string(),
            1 | 2 => format!("std.egress_spec = {};\n", self.expression(9, read, 1)),
            3 => format!("c0.count((bit<32>) {});\n", self.expression(8, read, 0)),
            4 => format!("c1.count({});\n", self.random.below(4)),
            5 => {
                let condition = self.condition(read);
                format!("if ({condition}) {{ mark_to_drop(std); }}\n")
            }
            _ => {
                let place = self.random.pick(written).clone();
                format!("{} = {};\n", place.name, self.expression(place.width, read, 2))
            }
        }
    }

    fn condition(&mut self, read: &[Place]) -> String {
        let place = self.random.pick(read).clone();
        let other = self.expression(place.width, read, 1);
        let compares = *self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
        let one = format!("{} {compares} {other}", place.name);
        match self.random.below(4) {
            0 => format!("({one}) && ({})", self.condition(read)),
            1 => format!("!({one}) || ({})", self.condition(read)),
            _ => one,
        }
    }

    fn expression(&mut self, width: usize, read: &[Place], depth: usize) -> String {
        let place = self.random.pick(read).clone();
        if depth == 0 || self.random.chance(30) {
            return match self.random.below(3) {
                0 => format!("{width}w{}", self.random.next() % (1 << width.min(12))),
                1 if place.width > width => format!("{}[{}:{}]", place.name, place.width - 1, place.width - width),
                _ if place.width == width => place.name,
                _ => format!("(bit<{width}>) {}", place.name),
            };
        }
        let (left, right) = (self.expression(width, read, depth - 1), self.expression(width, read, depth - 1));
        match self.random.below(9) {
            0 => format!("~({left})"),
            1 => format!("(({left}) << {})", self.random.below(width + 2)),
            2 => format!("(({left}) >> 3w{})", self.random.below(8)),
            3 => format!("({} ? {left} : {right})", self.condition(&read[..1])),
            number => {
                let operator = ["+", "-", "&", "^", "|+|"][number - 4];
                format!("(({left}) {operator} ({right}))")
            }
        }
    }

    /// Entries and packets.
    fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for at in 0..self.tables.len() {
            let mut keys = Vec::new();
            for _ in 0..ENTRIES {
                let line = self.entry(at, &mut keys);
                lines.extend(line);
            }
        }
        for _ in 0..PACKETS {
            let second = self.headers[0].iter().map(|field| field.width).sum::<usize>() / 8;
            let length = self.random.between(second + 1, 80);
            let mut bytes: Vec<u8> = (0..length).map(|_| self.random.next() as u8).collect();
            bytes[0] = *self.random.pick(&[1, 2, 4, 1, 7]);
            bytes[second] = *self.random.pick(&[3, 200]);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            lines.push(format!("packet {} {digits}", self.random.below(8)));
        }
        lines
    }

    /// An entry whose key no other entry has.
    fn entry(&mut self, table: usize, keys: &mut Vec<String>) -> Option<String> {
        let Table { name, key, is_prefix, actions } = &self.tables[table];
        let (action, parameters) = self.random.pick(actions);
        let shown = if *is_prefix {
            let bits = self.random.below(3);
            let value = (self.random.next() as u128 % (1 << bits)) << (key.width - bits);
            format!("{value:#x}/{bits}")
        } else {
            format!("{:#x}", self.random.next() % (1 << key.width.min(3)))
        };
        if keys.contains(&shown) {
            return None;
        }
        keys.push(shown.clone());
        let mut data = Vec::new();
        for place in parameters {
            data.push(format!("{}:{:#x}", place.name, self.random.next() % (1 << place.width.min(60))));
        }
        Some(format!("add I.{name} k:{shown} I.{action}({})", data.join(", ")))
    }
}

fn declaration(table: &Table) -> String {
    let Table { name, key, is_prefix, actions } = table;
    let kind = if *is_prefix { "lpm" } else { "exact" };
    // Keys are narrow where they are exact, so that packets hit.
    let whole = if *is_prefix { key.name.clone() } else { format!("{}[2:0]", key.name) };
    let names: String = actions.iter().map(|(name, _)| format!("{name}; ")).collect();
    format!(
        "    table {name} {{ key = {{ {whole}: {kind} @name(\"k\"); }} actions = {{ {names}NoAction; }} default_action = NoAction(); size = 64; }}\n"
    )
}
