//! `--dump`: what packets have changed. Counters, meters and registers, element by element; elements at zero are left out.

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
    elements: Vec<(String, Content)>,
}

enum Content {
    Counter(abi::CounterElement),
    Meter { element: abi::MeterElement, unit: &'static str },
    Register(BigUint),
}

/// All objects that packets may change, in the order of the program.
pub fn objects<L: Replay>(engine: &mut Engine<L>) -> Vec<Object> {
    let switch = engine.switch();
    let description = switch.pipeline().description().clone();
    let mut all = Vec::new();
    for (number, counter) in description.counters.iter().enumerate() {
        let places = places(counter.size, switch.tables().get(counter.table as usize).map(AsRef::as_ref));
        let elements = places.filter_map(|(name, at)| Some((name, switch.counter(number, at)?)));
        let elements = elements.filter(|(_, element)| element.packets > 0 || element.bytes > 0);
        let elements = elements.map(|(name, element)| (name(), Content::Counter(element))).collect();
        all.push(Object { kind: "counter", name: counter.name.clone(), elements });
    }
    for meter in &switch.state.meters {
        let described = meter.description();
        let unit = if described.bytes { "bytes" } else { "packets" };
        let places = places(described.size, switch.tables().get(described.table as usize).map(AsRef::as_ref));
        let elements = places.filter_map(|(name, at)| Some((name, meter.elements.get(at as usize)?)));
        let elements = elements.filter(|(_, element)| element.configured != 0);
        let elements = elements.map(|(name, element)| (name(), Content::Meter { element, unit })).collect();
        all.push(Object { kind: "meter", name: described.name.clone(), elements });
    }
    for register in &switch.state.registers {
        let value = |at: u64| register.read(at).map(|limbs| translate::number(&limbs));
        let elements = (0..register.description().size).filter_map(|at| Some((format!("[{at}]"), value(at)?)));
        let elements = elements.filter(|(_, value)| *value != BigUint::ZERO);
        let elements = elements.map(|(name, value)| (name, Content::Register(value))).collect();
        all.push(Object { kind: "register", name: register.description().name.clone(), elements });
    }
    all
}

/// Makes the name of an element: most elements are zero, and need none.
type Name = Box<dyn FnOnce() -> String>;

/// The names and numbers of an object's elements: by index, or by entry for what belongs to a table.
pub fn places(size: u64, table: Option<&Table>) -> Box<dyn Iterator<Item = (Name, u64)>> {
    let Some(table) = table.filter(|_| size == 0) else {
        return Box::new((0..size).map(|at| (Box::new(move || format!("[{at}]")) as Name, at)));
    };
    let description = std::rc::Rc::new(table.description().clone());
    let name = move |entry: runtime::tables::Entry| {
        let (description, at) = (description.clone(), u64::from(entry.counter_index));
        let name = move || {
            let matches = translate::key(&description, &entry.matches);
            let fields = description.fields.iter().zip(&matches);
            let fields = fields.map(|(field, found)| format!("{}:{}", field.name, match_text(found)));
            fields.collect::<Vec<String>>().join(" ")
        };
        (Box::new(name) as Name, at)
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

/// A rate of an element.
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
        let rest = if object.elements.is_empty() { ": all zero" } else { "" };
        print_line!("{} {}{rest}", object.kind, object.name);
        for (element, content) in &object.elements {
            match content {
                Content::Counter(value) => print_line!("  {element}  {} packets, {} bytes", value.packets, value.bytes),
                Content::Meter { element: meter, unit } => print_line!(
                    "  {element}  committed {} {unit} per second, burst {}; peak {} {unit} per second, burst {}",
                    rate(meter.committed_rate),
                    meter.committed_burst,
                    rate(meter.peak_rate),
                    meter.peak_burst
                ),
                Content::Register(value) => print_line!("  {element}  {value:#x}"),
            }
        }
    }
}

pub fn json(objects: &[Object]) -> Value {
    let element = |(element, content): &(String, Content)| match content {
        Content::Counter(value) => json!({ "element": element, "packets": value.packets, "bytes": value.bytes }),
        Content::Meter { element: meter, unit } => json!({
            "element": element, "unit": unit,
            "committed_rate": rate_number(meter.committed_rate), "committed_burst": meter.committed_burst,
            "peak_rate": rate_number(meter.peak_rate), "peak_burst": meter.peak_burst,
        }),
        Content::Register(value) => json!({ "element": element, "value": format!("{value:#x}") }),
    };
    let object = |object: &Object| json!({ "kind": object.kind, "name": object.name, "elements": object.elements.iter().map(element).collect::<Value>() });
    objects.iter().map(object).collect()
}
