//! STF for the evaluator: a reader of its own, and the comparison of what leaves with what is expected.
//!
//! It knows what tests of packets and entries need; a command that it does not know makes the file one that the evaluator does not cover.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use p4::ast::Program;

use crate::evaluate::{Field, Machine, Run, Sent, Stop, unsupported};
use crate::evaluate::{Keys, Table, Target, Value};

/// A line that does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub number: usize,
    pub text: String,
}

/// What came of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed(Vec<String>),
    /// What the evaluator does not cover.
    Skipped(String),
}

pub fn lines(text: &str) -> Vec<Line> {
    let kept = text.lines().enumerate().map(|(index, line)| Line { number: index + 1, text: line.trim().to_string() });
    kept.filter(|line| !line.text.is_empty() && !line.text.starts_with('#')).collect()
}

/// Runs a file on a preprocessed program, on the evaluator alone.
pub fn run_text(file: &str, program: &str, text: &str) -> Verdict {
    p4::with_deep_stack(|| {
        let parsed = p4::parse(file, program);
        match parsed.diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            Some(error) => Verdict::Skipped(error.render(&parsed.map)),
            None => run(&parsed.program, text),
        }
    })
}

/// Runs a file on the evaluator alone.
pub fn run(program: &Program, text: &str) -> Verdict {
    match run_lines(program, text) {
        Ok((failures, _)) if failures.is_empty() => Verdict::Passed,
        Ok((_, undefined)) if !undefined.is_empty() => Verdict::Skipped(undefined[0].clone()),
        Ok((failures, _)) => Verdict::Failed(failures),
        Err(Stop::Unsupported(what)) => Verdict::Skipped(what),
        Err(other) => Verdict::Skipped(format!("{other:?} outside of the program")),
    }
}

fn run_lines(program: &Program, text: &str) -> Run<(Vec<String>, Vec<String>)> {
    let mut machine = Machine::new(program)?;
    let mut expected: BTreeMap<u32, Vec<(usize, String)>> = BTreeMap::new();
    let mut left: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    let mut mentioned = Vec::new();
    for line in lines(text) {
        let (command, rest) = line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
        match command.to_ascii_lowercase().as_str() {
            "packet" => {
                let (port, bytes) = packet(rest)?;
                mentioned.push(port);
                for Sent { port, bytes } in machine.process(port, &bytes)? {
                    left.entry(port).or_default().push(bytes);
                }
            }
            "expect" => {
                let (port, pattern) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
                let port = port.parse().or_else(|_| unsupported(format!("port {port}")))?;
                mentioned.push(port);
                expected.entry(port).or_default().push((line.number, pattern.to_string()));
            }
            // Whatever has left is expected.
            "no_packet" => mentioned.extend(left.keys()),
            _ => control(&mut machine, &line.text)?,
        }
    }
    mentioned.sort_unstable();
    mentioned.dedup();
    let mut failures = Vec::new();
    for port in mentioned {
        let none = Vec::new();
        compare(port, expected.get(&port).unwrap_or(&none), left.get(&port).map_or(&[], |all| &all[..]), &mut failures);
    }
    Ok((failures, machine.undefined))
}

fn compare(port: u32, expected: &[(usize, String)], left: &[Vec<u8>], failures: &mut Vec<String>) {
    for (index, (line, pattern)) in expected.iter().enumerate() {
        match left.get(index) {
            None => failures.push(format!("{line}: port {port}: no packet")),
            Some(bytes) if !fits(pattern, bytes) => {
                failures.push(format!("{line}: port {port}: expected {pattern}, found {}", hex(bytes)));
            }
            Some(_) => {}
        }
    }
    for bytes in left.iter().skip(expected.len()) {
        failures.push(format!("port {port}: unexpected {}", hex(bytes)));
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Digits with `*` for any; a prefix unless it ends in `$`.
fn fits(pattern: &str, bytes: &[u8]) -> bool {
    let digits: Vec<char> = pattern.chars().filter(|digit| !digit.is_whitespace() && *digit != '$').collect();
    let found: Vec<char> = hex(bytes).chars().collect();
    let whole = pattern.contains('$');
    let length = if whole { found.len() == digits.len() } else { found.len() >= digits.len() };
    length && digits.iter().zip(&found).all(|(digit, found)| *digit == '*' || digit.eq_ignore_ascii_case(found))
}

/// `PORT hex`.
pub fn packet(rest: &str) -> Run<(u32, Vec<u8>)> {
    let (port, digits) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let digits: Vec<u32> = digits.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let port = port.parse().or_else(|_| unsupported(format!("port {port}")))?;
    Ok((port, digits.chunks(2).map(|pair| (pair[0] << 4 | pair.get(1).copied().unwrap_or(0)) as u8).collect()))
}

/// Executes a control command.
pub fn control(machine: &mut Machine<'_>, text: &str) -> Run<()> {
    let mut scan = Scan { rest: text };
    let command = scan.word();
    match command.to_ascii_lowercase().as_str() {
        "add" => add(machine, &mut scan),
        "remove" => remove(machine, &mut scan),
        "setdefault" => {
            let table = scan.word();
            let (action, data) = scan.action()?;
            machine.table_named(&table)?.set_default(&action, &data)
        }
        "value_set" => {
            let name = scan.word();
            let mut members = Vec::new();
            while !scan.at_end() {
                let member = scan.word();
                let parts: Run<Vec<Value>> = member.split(',').map(|part| number(part).map(Value::Integer)).collect();
                members.push(Value::Tuple(parts?));
            }
            machine.fill_value_set(&name, members)
        }
        "register_write" if scan.rest.trim_start().starts_with("direction ") => {
            scan.word();
            let (port, value) = (small(&scan.word())?, small(&scan.word())?);
            machine.set_direction(port, value == 1)
        }
        // What counters hold no packet shows.
        "mc_mgrp_create" | "wait" | "check_counter" => Ok(()),
        "member" | "group" => profile(machine, &command, &mut scan),
        other => buffer(machine, other, &mut scan),
    }
}

/// Members and groups of an action profile.
fn profile(machine: &mut Machine<'_>, command: &str, scan: &mut Scan<'_>) -> Run<()> {
    let (profile, number) = (scan.word(), small(&scan.word())?);
    if command == "member" {
        let (action, data) = scan.action()?;
        machine.add_member(&profile, number, action, data);
        return Ok(());
    }
    let mut members = Vec::new();
    while !scan.at_end() {
        members.push(small(&scan.word())?);
    }
    machine.add_group(&profile, number, members);
    Ok(())
}

/// Sessions and groups behind a pipeline.
fn buffer(machine: &mut Machine<'_>, command: &str, scan: &mut Scan<'_>) -> Run<()> {
    match command {
        "mirroring_add" => {
            let (session, port) = (number(&scan.word())?, small(&scan.word())?);
            if !scan.at_end() {
                return unsupported("a session that truncates");
            }
            machine.buffer.add_session(session, port);
            Ok(())
        }
        "mirroring_add_mc" => {
            let (session, group) = (number(&scan.word())?, small(&scan.word())?);
            machine.buffer.add_session_of_group(session, group);
            Ok(())
        }
        "mc_node_create" => {
            let replica = small(&scan.word())?;
            let mut ports = Vec::new();
            while !scan.at_end() {
                ports.push(small(&scan.word())?);
            }
            machine.buffer.add_node(replica, ports);
            Ok(())
        }
        "mc_node_associate" => {
            let (group, node) = (small(&scan.word())?, small(&scan.word())?);
            machine.buffer.add_to_group(group, node as usize)
        }
        other => unsupported(format!("command {other}")),
    }
}

fn add(machine: &mut Machine<'_>, scan: &mut Scan<'_>) -> Run<()> {
    let name = scan.word();
    let table = machine.table_named(&name)?;
    let (keys, priority) = keys(table, scan)?;
    let rest = scan.rest.trim();
    let target = match rest.split_once('=') {
        Some(("member", member)) => Some(Target::Member(small(member)?)),
        Some(("group", group)) => Some(Target::Group(small(group)?)),
        _ => None,
    };
    if let Some(target) = target {
        table.insert_target(keys, priority, target);
        return Ok(());
    }
    let (action, data) = scan.action()?;
    table.insert(keys, priority, &action, &data)
}

fn remove(machine: &mut Machine<'_>, scan: &mut Scan<'_>) -> Run<()> {
    let name = scan.word();
    let table = machine.table_named(&name)?;
    let (keys, priority) = keys(table, scan)?;
    table.remove(&keys, &priority)
}

/// The priority and the keys of an entry.
fn keys(table: &Table<'_>, scan: &mut Scan<'_>) -> Run<(Keys, BigInt)> {
    let mut priority = BigInt::ZERO;
    if scan.rest.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
        priority = number(&scan.word())?;
    }
    let names: Vec<(String, String)> =
        table.key_names().map(|(name, kind)| (name.to_string(), kind.to_string())).collect();
    let mut keys: Keys = names.iter().map(|(_, kind)| omitted(kind)).collect();
    while let Some(key) = scan.key() {
        let value = scan.value();
        let Some(at) = key_position(&names, &key) else { return unsupported(format!("no key {key}")) };
        keys[at] = field(&value, &names[at].1)?;
    }
    Ok((keys, priority))
}

fn omitted(kind: &str) -> Field {
    if kind == "exact" { Field::Exactly(Value::Integer(BigInt::ZERO)) } else { Field::Any }
}

fn key_position(names: &[(String, String)], given: &str) -> Option<usize> {
    if let Some(at) = names.iter().position(|(name, _)| name == given) {
        return Some(at);
    }
    let given = given.replace(".valid", ".$valid$").replace(".$valid$$", ".$valid$");
    let given = dollar_index(&given);
    let exact = |wanted: &str| names.iter().position(|(name, _)| name == wanted);
    exact(&given)
        .or_else(|| exact(&format!("{given}$")))
        .or_else(|| exact(&format!("{given}.$valid$")))
        .or_else(|| names.iter().rposition(|(name, _)| name.ends_with(&format!(".{given}"))))
        .or_else(|| names.iter().rposition(|(name, _)| given.ends_with(&format!(".{name}"))))
}

/// `a$0.b` is `a[0].b`.
fn dollar_index(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('$') {
        let digits: String = rest[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        out.push_str(&rest[..at]);
        out.push_str(&if digits.is_empty() { "$".to_string() } else { format!("[{digits}]") });
        rest = &rest[at + 1 + digits.len()..];
    }
    out + rest
}

/// A key's value as text, by the kind of its match.
fn field(text: &str, kind: &str) -> Run<Field> {
    let integer = |value: BigInt| Value::Integer(value);
    if let Some((value, mask)) = text.split_once("&&&") {
        return Ok(Field::Masked(integer(number(value)?), integer(number(mask)?)));
    }
    if let Some((low, high)) = text.split_once("..") {
        return Ok(Field::Between(integer(number(low)?), integer(number(high)?)));
    }
    if let Some((value, length)) = text.split_once('/') {
        let length = length.trim().parse().or_else(|_| unsupported(format!("prefix {text}")))?;
        return Ok(Field::Prefix(integer(number(value)?), length));
    }
    let based = text.starts_with("0x") || text.starts_with("0b");
    if kind == "ternary" && based || text.contains('*') {
        let each = if text.starts_with("0x") { 4usize } else { 1 };
        let (mut value, mut mask) = (BigInt::ZERO, BigInt::ZERO);
        for digit in text[2..].chars() {
            let full = (1u32 << each) - 1;
            value = (value << each) + digit.to_digit(16).unwrap_or(0);
            mask = (mask << each) + if digit == '*' { 0 } else { full };
        }
        return Ok(Field::Masked(integer(value), integer(mask)));
    }
    Ok(Field::Exactly(integer(number(text)?)))
}

fn small(text: &str) -> Run<u32> {
    u32::try_from(&number(text)?).or_else(|_| unsupported(format!("number {text}")))
}

fn number(text: &str) -> Run<BigInt> {
    let text = text.trim();
    let (digits, base) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    BigInt::parse_bytes(digits.as_bytes(), base).map_or_else(|| unsupported(format!("number {text}")), Ok)
}

/// The rest of a line.
struct Scan<'t> {
    rest: &'t str,
}

impl Scan<'_> {
    fn at_end(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    /// Up to a blank, or what is between quotes.
    fn word(&mut self) -> String {
        let rest = self.rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (word, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
            self.rest = rest;
            return word.to_string();
        }
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        self.rest = rest;
        word.to_string()
    }

    /// The name of a key and its colon, if that is what comes.
    fn key(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, after) = quoted.split_once('"')?;
            self.rest = after.trim_start().strip_prefix(':')?;
            return Some(name.to_string());
        }
        let mut depth = 0;
        for (at, letter) in rest.char_indices() {
            match letter {
                '[' => depth += 1,
                ']' => depth -= 1,
                ':' if depth == 0 => {
                    let name = rest[..at].to_string();
                    self.rest = &rest[at + 1..];
                    return Some(name);
                }
                '(' => return None,
                letter if letter.is_whitespace() => return None,
                _ => {}
            }
        }
        None
    }

    fn value(&mut self) -> String {
        self.word()
    }

    /// `name(a:1, b:2)`.
    fn action(&mut self) -> Run<(String, Vec<(String, BigInt)>)> {
        let rest = self.rest.trim();
        let (name, arguments) = match rest.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
            Some((name, rest)) => (name, rest.trim_start().strip_prefix('(').unwrap_or("")),
            None => rest.split_once('(').unwrap_or((rest, "")),
        };
        let inside = arguments.split(')').next().unwrap_or("");
        let mut data = Vec::new();
        for argument in inside.split(',').filter(|argument| !argument.trim().is_empty()) {
            let Some((name, value)) = argument.split_once(':') else { return unsupported("a positional argument") };
            data.push((name.trim().trim_matches('"').to_string(), number(value)?));
        }
        Ok((name.trim().to_string(), data))
    }
}
