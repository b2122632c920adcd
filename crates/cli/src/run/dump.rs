//! `--dump`: what packets have changed. Counters, meters and registers, cell by cell; cells at zero are left out.

use super::live::Engine;
use control::Rate;
use driver::stdout::print_line;
use hlir::Match;
use native::{Replay, translate};
use num_bigint::BigUint;
use runtime::{Table, abi};
use serde_json::{Value, json};

/// A counter, meter or register with the elements that are not zero.
pub struct Object {
    kind: &'static str,
    name: String,
    cells: Vec<(String, Content)>,
}

enum Content {
    Counter(abi::CounterCell),
    Meter { cell: abi::MeterCell, unit: &'static str },
    Register(BigUint),
}

/// All objects that packets may change, in the order of the program.
pub fn objects<L: Replay>(engine: &mut Engine<L>) -> Vec<Object> {
    let switch = engine.switch();
    let description = switch.pipeline().description().clone();
    let mut all = Vec::new();
    for (number, counter) in description.counters.iter().enumerate() {
        let places = places(counter.size, switch.tables().get(counter.table as usize).map(AsRef::as_ref));
        let cells = places.filter_map(|(name, at)| Some((name, switch.counter(number, at)?)));
        let cells = cells.filter(|(_, cell)| cell.packets > 0 || cell.bytes > 0);
        let cells = cells.map(|(name, cell)| (name(), Content::Counter(cell))).collect();
        all.push(Object { kind: "counter", name: counter.name.clone(), cells });
    }
    for meter in &switch.state.meters {
        let described = meter.description();
        let unit = if described.bytes { "bytes" } else { "packets" };
        let places = places(described.size, switch.tables().get(described.table as usize).map(AsRef::as_ref));
        let cells = places.filter_map(|(name, at)| Some((name, meter.cells.get(at as usize)?)));
        let cells = cells.filter(|(_, cell)| cell.configured != 0);
        let cells = cells.map(|(name, cell)| (name(), Content::Meter { cell, unit })).collect();
        all.push(Object { kind: "meter", name: described.name.clone(), cells });
    }
    for register in &switch.state.registers {
        let value = |at: u64| register.read(at).map(|limbs| translate::number(&limbs));
        let cells = (0..register.description().size).filter_map(|at| Some((format!("[{at}]"), value(at)?)));
        let cells = cells.filter(|(_, value)| *value != BigUint::ZERO);
        let cells = cells.map(|(name, value)| (name, Content::Register(value))).collect();
        all.push(Object { kind: "register", name: register.description().name.clone(), cells });
    }
    all
}

/// Makes the name of a cell: most cells are zero, and need none.
type Name = Box<dyn FnOnce() -> String>;

/// The names and numbers of an object's cells: by index, or by entry for what belongs to a table.
pub fn places(size: u64, table: Option<&Table>) -> Box<dyn Iterator<Item = (Name, u64)>> {
    let Some(table) = table.filter(|_| size == 0) else {
        return Box::new((0..size).map(|at| (Box::new(move || format!("[{at}]")) as Name, at)));
    };
    let description = std::rc::Rc::new(table.description().clone());
    let name = move |entry: runtime::tables::Entry| {
        let (description, cell) = (description.clone(), u64::from(entry.cell));
        let name = move || {
            let matches = translate::key(&description, &entry.matches);
            let fields = description.fields.iter().zip(&matches);
            let fields = fields.map(|(field, found)| format!("{}:{}", field.name, match_text(found)));
            fields.collect::<Vec<String>>().join(" ")
        };
        (Box::new(name) as Name, cell)
    };
    Box::new(table.entries().into_iter().map(name))
}

/// As `add` of an STF file has it.
fn match_text(found: &Match) -> String {
    match found {
        Match::Exact(value) => format!("{value:#x}"),
        Match::Lpm { value, prefix } => format!("{value:#x}/{prefix}"),
        Match::Ternary { value, mask } => format!("{value:#x}&&&{mask:#x}"),
        Match::Range { low, high } => format!("{low:#x}..{high:#x}"),
        Match::Any => "*".to_string(),
    }
}

/// A rate of a cell.
fn rate(limbs: [u64; 2]) -> Rate {
    Rate::from_billionths(u128::from(limbs[1]) << 64 | u128::from(limbs[0])).unwrap_or(Rate::LARGEST)
}

/// A whole number where the rate is one, as controllers mostly give.
fn rate_number(limbs: [u64; 2]) -> Value {
    let rate = rate(limbs);
    if rate.fraction() == 0 { json!(rate.whole()) } else { json!(rate.per_second()) }
}

pub fn print(objects: &[Object]) {
    for object in objects {
        let rest = if object.cells.is_empty() { ": all zero" } else { "" };
        print_line!("{} {}{rest}", object.kind, object.name);
        for (cell, content) in &object.cells {
            match content {
                Content::Counter(value) => print_line!("  {cell}  {} packets, {} bytes", value.packets, value.bytes),
                Content::Meter { cell: meter, unit } => print_line!(
                    "  {cell}  committed {} {unit} per second, burst {}; peak {} {unit} per second, burst {}",
                    rate(meter.committed_rate),
                    meter.committed_burst,
                    rate(meter.peak_rate),
                    meter.peak_burst
                ),
                Content::Register(value) => print_line!("  {cell}  {value:#x}"),
            }
        }
    }
}

pub fn json(objects: &[Object]) -> Value {
    let cell = |(cell, content): &(String, Content)| match content {
        Content::Counter(value) => json!({ "cell": cell, "packets": value.packets, "bytes": value.bytes }),
        Content::Meter { cell: meter, unit } => json!({
            "cell": cell, "unit": unit,
            "committed_rate": rate_number(meter.committed_rate), "committed_burst": meter.committed_burst,
            "peak_rate": rate_number(meter.peak_rate), "peak_burst": meter.peak_burst,
        }),
        Content::Register(value) => json!({ "cell": cell, "value": format!("{value:#x}") }),
    };
    let object = |object: &Object| json!({ "kind": object.kind, "name": object.name, "cells": object.cells.iter().map(cell).collect::<Value>() });
    objects.iter().map(object).collect()
}
