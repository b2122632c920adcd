//! Prints schedules.

use super::names::{field_reference, numbered, reference};
use super::order::{Line, Part, Section, sections};
use crate::value::{Found, Operation, Sum, Value};
use crate::{BulkDrop, Commit, Does, Effect, LateLookup, Lookup, Obstacle, Schedule, SideExit, Stage};
use hlir::text::{algorithm_word, between, is_shift, number_text, symbol, written};
use hlir::{Binary, CounterId, NodeId, NodeKind, Program, TableId, Type, Unary};
use std::collections::{HashMap, HashSet};

/// The column of comments.
const COMMENTS: usize = 88;

/// The text of a schedule of a program.
pub fn print(program: &Program, schedule: &Schedule) -> String {
    let sections = sections(schedule);
    let names = names(schedule, &sections);
    let printer = Printer { program, schedule, names };
    let mut out = format!("schedule {} {{\n", written(&program.name));
    for (header, start) in &schedule.headers {
        let header = reference(&program.headers, *header, |header| &header.name);
        out.push_str(&format!("  header {header} at {start}\n"));
    }
    for section in &sections {
        let head = match section.part {
            Part::Stage(stage) => format!("stage {stage}, {} bytes", schedule.stages[stage].bytes),
            Part::Commit => "commit".to_string(),
            Part::Expected => "commit expected".to_string(),
        };
        out.push_str(&format!("  {head} {{\n"));
        for line in &section.lines {
            let Some((text, node)) = printer.line(section.part, *line) else { continue };
            let comment = node.and_then(|node| printer.origin(node)).map(|place| format!("// {place}"));
            let text = match comment {
                Some(comment) => format!("    {text:COMMENTS$} {comment}"),
                None => format!("    {text}"),
            };
            out.push_str(&format!("{text}\n"));
        }
        out.push_str("  }\n");
    }
    if let Err(Obstacle { node, does }) = &schedule.commit {
        out.push_str(&format!("  commit plain at {} {}\n", printer.node(*node), between(does, '"')));
    }
    out.push_str("}\n");
    out
}

/// Names of the values that have a line: those of the program, made unique, else numbers.
fn names(schedule: &Schedule, sections: &[Section]) -> HashMap<Value, String> {
    let (mut names, mut taken, mut unnamed) = (HashMap::new(), HashSet::new(), 0);
    for line in sections.iter().flat_map(|section| &section.lines) {
        let Line::Value(value) = line else { continue };
        if schedule.values.known(*value).is_some() {
            continue;
        }
        let name = match schedule.values.name(*value).filter(|name| written(name) == **name) {
            Some(name) => {
                let other = |number: usize| format!("{name}.{number}");
                let mut candidates = std::iter::once(name.to_string()).chain((2..).map(other));
                candidates.find(|name| !taken.contains(name)).expect("there are more numbers than values")
            }
            None => {
                unnamed += 1;
                (unnamed - 1).to_string()
            }
        };
        taken.insert(name.clone());
        names.insert(*value, name);
    }
    names
}

struct Printer<'s> {
    program: &'s Program,
    schedule: &'s Schedule,
    names: HashMap<Value, String>,
}

impl Printer<'_> {
    /// A line, and the node that it is about. Constants have none.
    fn line(&self, part: Part, line: Line) -> Option<(String, Option<NodeId>)> {
        if let Line::Value(value) = line {
            let is_constant = self.schedule.values.known(value).is_some();
            return (!is_constant).then(|| (format!("{} = {}", self.value(value), self.operation(value)), None));
        }
        match part {
            Part::Stage(stage) => self.stage_line(&self.schedule.stages[stage], line),
            Part::Commit | Part::Expected => self.commit_line(self.schedule.commit_of(part)?, line),
        }
    }

    fn stage_line(&self, stage: &Stage, line: Line) -> Option<(String, Option<NodeId>)> {
        match line {
            Line::Exit(number) => {
                let exit = &stage.exits[number];
                Some((self.exit(exit), Some(exit.node)))
            }
            Line::Keep => Some((format!("keep {}", self.list(&stage.reads)), None)),
            Line::Lookup(number) => Some(self.lookup_line(number)),
            Line::Value(_) | Line::Late(_) | Line::Leave | Line::Missed | Line::Effect(_) => None,
        }
    }

    fn commit_line(&self, commit: &Commit, line: Line) -> Option<(String, Option<NodeId>)> {
        match line {
            Line::Late(number) => {
                let lookup = &commit.lookups[number];
                Some((self.late(lookup), Some(lookup.node)))
            }
            Line::Leave => Some((format!("exit when {}", self.value(commit.exits)), None)),
            Line::Missed => Some((format!("missed -> {}", self.bulk_drop(commit.missed.as_ref()?)), None)),
            Line::Effect(number) => {
                let effect = &commit.effects[number];
                Some((self.effect(effect), Some(effect.node)))
            }
            Line::Lookup(number) => Some(self.lookup_line(number)),
            Line::Value(_) | Line::Exit(_) | Line::Keep => None,
        }
    }

    fn lookup_line(&self, number: usize) -> (String, Option<NodeId>) {
        let lookup = &self.schedule.lookups[number];
        (self.lookup(lookup), Some(lookup.node))
    }

    /// The place of a node in the P4 program.
    fn origin(&self, node: NodeId) -> Option<String> {
        let origin = self.program.nodes[node].notes.origin.as_ref()?;
        let file = origin.file.rsplit('/').next().unwrap_or(&origin.file);
        Some(format!("{file}:{}", origin.line))
    }

    fn exit(&self, exit: &SideExit) -> String {
        let line = format!("exit when {} at {}", self.value(exit.when), self.node(exit.node));
        match &exit.end {
            Some(end) => format!("{line} -> {}", self.bulk_drop(end)),
            None => line,
        }
    }

    fn bulk_drop(&self, drop: &BulkDrop) -> String {
        let index = |at: &crate::CounterIndex| format!("{}({})", self.counter(at.counter), at.index);
        let counted: Vec<String> = drop.counted.iter().map(index).collect();
        let counting = if counted.is_empty() { String::new() } else { format!(" counting {}", counted.join(", ")) };
        format!("drop {}{counting}", between(&drop.reason, '"'))
    }

    fn lookup(&self, lookup: &Lookup) -> String {
        let Lookup { place, node, table, key, stage } = lookup;
        let at_once = if stage.is_none() { " at once" } else { "" };
        let (node, table) = (self.node(*node), self.table(*table));
        format!("lookup {node} in {table}, place {place}, key {}{at_once}", self.list(key))
    }

    fn late(&self, lookup: &LateLookup) -> String {
        let LateLookup { node, table, key, when } = lookup;
        let line = format!("lookup {} in {}, key {}", self.node(*node), self.table(*table), self.list(key));
        self.under(line, *when)
    }

    fn effect(&self, effect: &Effect) -> String {
        let does = match &effect.does {
            Does::Move { bytes } => {
                format!("begin {} bytes {}", bytes.unsigned_abs(), if *bytes < 0 { "later" } else { "earlier" })
            }
            Does::Store { bit, value, field } => {
                let width = self.schedule.values.width(*value);
                let field = field_reference(self.program, *field);
                format!("store {field} at {} = {}", bits(*bit, width), self.operand(*value, Some(width)))
            }
            Does::Count { counter, index } => format!("count {}({})", self.counter(*counter), self.value(*index)),
            Does::CountDirect { counter, lookup } => {
                format!("count direct {} of {}", self.counter(*counter), self.node(*lookup))
            }
            Does::NotMade { lookup } => format!("not made {}", self.node(*lookup)),
            Does::Miss { lookup } => format!("miss {}", self.node(*lookup)),
            Does::Touch { lookup } => format!("touch {}", self.node(*lookup)),
            Does::Restart { lookup, expiry: None } => format!("restart {}", self.node(*lookup)),
            Does::Restart { lookup, expiry: Some(expiry) } => {
                format!("restart {} expire {}", self.node(*lookup), self.value(*expiry))
            }
            Does::Made { lookup } => format!("made {}", self.node(*lookup)),
            Does::Digest { digest, values } => {
                let digest = reference(&self.program.digests, *digest, |digest| &digest.name);
                format!("digest {digest}({})", self.list(values))
            }
            Does::Write { register, index, value } => {
                let register = reference(&self.program.registers, *register, |register| &register.name);
                format!("write {register}({}) = {}", self.value(*index), self.value(*value))
            }
            Does::Leave => "exit".to_string(),
            Does::Drop { reason } => format!("drop {}", between(reason, '"')),
            Does::Send { port } => format!("send {}", self.value(*port)),
        };
        self.under(format!("{does} at {}", self.node(effect.node)), effect.when)
    }

    /// A line with its condition.
    fn under(&self, line: String, when: Value) -> String {
        match self.schedule.values.holds(when) {
            Some(true) => line,
            Some(false) | None => format!("{line} when {}", self.value(when)),
        }
    }

    fn operation(&self, value: Value) -> String {
        let values = &self.schedule.values;
        let width = values.width(value);
        match values.of(value) {
            Operation::Constant(_) => self.value(value),
            Operation::Packet { bit } => bits(*bit, width),
            Operation::Length => "packet.length".to_string(),
            Operation::Headroom => "packet.headroom".to_string(),
            Operation::Port => "packet.port".to_string(),
            Operation::Register { register, index } => {
                let register = reference(&self.program.registers, *register, |register| &register.name);
                format!("register {register}({})", self.value(*index))
            }
            Operation::Lookup { node, what, hash } => {
                let by = hash.map_or(String::new(), |hash| format!(" by {}", self.value(hash)));
                format!("{} at {}{by}", self.found(*node, *what, width), self.node(*node))
            }
            Operation::Unary(operator, of) => {
                let symbol = match operator {
                    Unary::Not => "!",
                    Unary::Complement => "~",
                    Unary::Negate => "-",
                };
                format!("{symbol}{}", self.value(*of))
            }
            Operation::Binary(operator, left, right) => self.binary(*operator, *left, *right),
            Operation::Slice { of, low } => format!("{}[{}:{low}]", self.value(*of), low + width.saturating_sub(1)),
            Operation::Extend { of, signed } => {
                format!("{}{width}({})", if *signed { 's' } else { 'u' }, self.value(*of))
            }
            Operation::Choose { condition, then, otherwise } => {
                let (then, otherwise) = self.alike(*then, *otherwise);
                format!("{} ? {then} : {otherwise}", self.value(*condition))
            }
            Operation::FromBool(of) => format!("bit({})", self.value(*of)),
            Operation::Sum(sum) => self.sum(sum),
            Operation::Hash { algorithm, data } => {
                let crc = algorithm.crc().map(|crc| reference(&self.program.crcs, crc, |crc| &crc.name));
                let crc = crc.map_or(String::new(), |name| format!(" {name}"));
                format!("hash {}{crc}({})", algorithm_word(*algorithm), self.list(data))
            }
        }
    }

    fn found(&self, node: NodeId, what: Found, width: u32) -> String {
        match what {
            Found::Number => "number".to_string(),
            Found::Action => "action".to_string(),
            Found::Parameter { action, parameter, low } => {
                let NodeKind::Apply { table, .. } = &self.program.nodes[node].kind else {
                    return format!("parameter #{parameter}[{low}..{}] of #{action}", low + width);
                };
                let actions = &self.program.tables[*table].actions;
                let parameters = &actions[action].parameters;
                let name = numbered(parameters.iter().map(|parameter| parameter.name.as_str()), parameter);
                let is_whole = low == 0 && parameters.get(parameter).is_some_and(|whole| whole.width == width);
                let part = if is_whole { String::new() } else { format!("[{low}..{}]", low + width) };
                let action = numbered(actions.iter().map(|action| action.name.as_str()), action);
                format!("parameter {name}{part} of {action}")
            }
        }
    }

    fn binary(&self, operator: Binary, left: Value, right: Value) -> String {
        let is_alike = !is_shift(operator) && operator != Binary::Concat;
        let (left, right) = if is_alike { self.alike(left, right) } else { (self.value(left), self.value(right)) };
        format!("{left} {} {right}", symbol(operator))
    }

    /// Two operands of equal width: a constant takes that of the other one.
    fn alike(&self, left: Value, right: Value) -> (String, String) {
        let values = &self.schedule.values;
        let width = |other: Value| match (values.known(other), values.kind(other)) {
            (None, Type::Bits(width)) => Some(width),
            (Some(_), _) | (None, Type::Bool) => None,
        };
        (self.operand(left, width(right)), self.operand(right, width(left)))
    }

    fn sum(&self, sum: &Sum) -> String {
        let before = sum.before.iter().map(|before| format!("before {}", self.value(*before)));
        let bytes = sum.bytes.iter().map(|(start, end)| format!("packet[{start}..{end}]"));
        let words = sum.words.iter().map(|word| self.value(*word));
        let parts: Vec<String> = before.chain(bytes).chain(words).collect();
        format!("{}({})", if sum.subtract { "subtract" } else { "sum" }, parts.join(", "))
    }

    fn list(&self, values: &[Value]) -> String {
        let values: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
        values.join(", ")
    }

    fn value(&self, value: Value) -> String {
        self.operand(value, None)
    }

    /// A value where a constant without a width has this one.
    fn operand(&self, value: Value, width: Option<u32>) -> String {
        match (self.schedule.values.known(value), self.schedule.values.kind(value)) {
            (Some(number), Type::Bool) => number.is_true().to_string(),
            (Some(number), Type::Bits(own)) => {
                let text = number_text(&number.bits.to_big(), Some(own));
                if width == Some(own) { text } else { format!("{own}w{text}") }
            }
            (None, _) => format!("%{}", self.names.get(&value).map_or("?", String::as_str)),
        }
    }

    fn node(&self, node: NodeId) -> String {
        reference(&self.program.nodes, node, |node| &node.name)
    }

    fn table(&self, table: TableId) -> String {
        reference(&self.program.tables, table, |table| &table.name)
    }

    fn counter(&self, counter: CounterId) -> String {
        reference(&self.program.counters, counter, |counter| &counter.name)
    }
}

/// Bits of the packet: by bytes if they are whole ones.
fn bits(bit: u32, width: u32) -> String {
    let end = bit + width;
    if bit.is_multiple_of(8) && end.is_multiple_of(8) {
        format!("packet[{}..{}]", bit / 8, end / 8)
    } else {
        format!("packet.bits[{bit}..{end}]")
    }
}
