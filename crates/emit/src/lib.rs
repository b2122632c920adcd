//! Emits C: a program and its plan become the source of one pipeline, which the host compiles and loads.
//!
//! The emitter decides nothing. `Plan::default()` is the plain program, packet by packet; what a plan has beyond that is carried out, or refused by
//! name. Equal inputs give equal text.

mod batch;
mod body;
mod buffer;
mod c;
mod call;
mod checksum;
mod constant_entries;
mod control_flow;
mod copies;
mod custom;
mod deparse;
mod descriptor;
mod expression;
mod field;
mod group;
mod header_aliasing;
mod namer;
mod names;
mod node;
mod parameter;
mod parser;
mod path;
mod references;
mod roll;
mod run;
mod saved;
mod selector;
mod stack;
mod statement;
mod storage;
mod table;
mod unit;
mod unsupported;
mod wide;
mod words;

use c::{Item, length};
use hlir::diagnostic::Diagnostic;
use hlir::text::print_plan;
use hlir::verify::Places;
use hlir::{NodeId, Plan, Program, TableId};
use node::Nodes;
use path::HotPath;
use std::collections::{BTreeSet, HashMap};
use storage::Words;
use unit::Unit;

pub use custom::{CustomCode, library as extern_library, object_prototypes};

/// The C source of a pipeline; or everything in the program and the plan that it cannot be written for.
pub fn emit(program: &Program, plan: &Plan) -> Result<String, Vec<Diagnostic>> {
    emit_with(program, plan, &CustomCode::default())
}

/// As `emit`, for a program whose externs are the user's code.
pub fn emit_with(program: &Program, plan: &Plan, code: &CustomCode) -> Result<String, Vec<Diagnostic>> {
    let entry = program.runnable().map_err(|why| vec![Diagnostic::error(why)])?;
    let unit = Unit::new(program, plan, entry);
    let unsupported = unsupported::of(&unit, plan, &Places::default());
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    let nodes = node::nodes(&unit)?;
    // Costs change from one calibration to the next, and the code would with them.
    let written = print_plan(&plan.clone().without_reasons());
    Ok(c::print(&file(&unit, &nodes, entry, (&written, code))))
}

/// What of a plan that is legal cannot be carried out, where its text has it.
pub fn refused(program: &Program, plan: &Plan, places: &Places) -> Vec<Diagnostic> {
    // A program that cannot be run is refused for that, when it is emitted.
    program
        .runnable()
        .map_or_else(|_| Vec::new(), |entry| unsupported::of(&Unit::new(program, plan, entry), plan, places))
}

/// Names in the C text: of each node's functions, and of each table.
pub struct CNames {
    pub nodes: Vec<(NodeId, String)>,
    pub tables: Vec<(TableId, String)>,
}

/// How nodes and tables are named in the C text of a program that can be emitted, for tools that read it.
pub fn names(program: &Program) -> CNames {
    let names = names::Names::new(program);
    let nodes = program.nodes.iter().zip(names.nodes).map(|((id, _), name)| (id, name));
    let tables = program.tables.iter().zip(names.tables).map(|((id, _), name)| (id, name));
    CNames { nodes: nodes.collect(), tables: tables.collect() }
}

/// The whole file, in an order in which everything is declared before it is used.
fn file(unit: &Unit, nodes: &Nodes, entry: NodeId, (plan, custom): (&str, &CustomCode)) -> Vec<Item> {
    let code: Vec<Item> = nodes.written.iter().flat_map(|written| written.items.clone()).map(outlined).collect();
    let hot_path = HotPath::new(unit, nodes);
    let mut used = Words::new();
    nodes.written.iter().for_each(|written| storage::words(&written.code(), &mut used));
    let mut items = opening(unit, plan, hot_path.as_ref());
    items.extend(custom::user_items(unit.program, custom, "extern/custom.h"));
    items.extend(enumerations(unit));
    if !unit.program.tables.is_empty() {
        let about = "Records of the tables. Bytes in arrays are as packets have them, wide numbers have several limbs.";
        items.push(Item::Comment(about.to_string()));
    }
    for (id, _) in unit.program.tables.iter() {
        // The host writes entries of tables that no packet reaches, too.
        items.extend([unit.record(id), Item::Blank]);
        if unit.facts.tables.contains(&unit::number(id)) {
            items.extend(unit.constant_entries(id));
        }
    }
    items.extend(unit.storage_items(&used));
    items.extend(unit.saved_items(&used));
    items.extend(hot_path.iter().flat_map(HotPath::storage_items));
    items.extend(unit.run_items(hot_path.as_ref()));
    items.extend(unit.access_items());
    if unit.copies() {
        items.extend(unit.copy_items(&used));
        let of = "static void".to_string();
        let name = "walk_copy(struct run *run, struct copy *copy, enum node at)".to_string();
        items.extend([Item::Variable { of, name, value: None }, Item::Blank]);
    }
    items.extend(code);
    items.extend(walks(unit, &nodes.written, entry));
    items.extend(unit.entry_items(hot_path.as_ref(), &used));
    items.extend(hot_path.iter().flat_map(|hot_path| hot_path.items(nodes, entry, &used)));
    items.extend(unit.host_items(entry, hot_path.as_ref()));
    items.extend(unit.descriptor_items(hot_path.as_ref().map_or(0, HotPath::held_bursts), &used));
    let arrays = unit.names.arrays();
    if !arrays.is_empty() {
        roll::items(&mut items, &arrays);
    }
    pruned(items)
}

/// Headers of the common structures, and of what the plan has beside them.
fn table_headers(unit: &Unit) -> Vec<String> {
    let mut names = vec!["exact", "dir24_8", "lpm_trie", "list"];
    for table in unit.looked_up() {
        let name = table::structure_type(unit.structure(table));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| format!("table/{name}.h")).collect()
}

fn opening(unit: &Unit, plan: &str, hot_path: Option<&HotPath>) -> Vec<Item> {
    let title = format!(
        "The pipeline of {}, as bacus compiled it. It is written to be read, but not to be edited. Its plan:\n\n{}",
        unit.program.name,
        plan.trim_end()
    );
    let packet = if unit.own() { "packet/own.h" } else { "packet/mbuf.h" };
    let mut lines: Vec<String> = ["<stdbool.h>", "<stddef.h>", "<stdint.h>", "<stdlib.h>", "<string.h>"]
        .into_iter()
        .map(|header| format!("include {header}"))
        .collect();
    let tables = table_headers(unit);
    let profiled = unit.plan.instrument.edges.then_some("extern/key_sketch.h");
    let externs =
        profiled.into_iter().chain(["extern/group.h", "extern/meter.h", "extern/state.h"]).map(str::to_string);
    for header in ["abi.h", packet, "walk.h"].map(str::to_string).into_iter().chain(tables).chain(externs) {
        lines.push(format!("include \"{header}\""));
    }
    if hot_path.is_some_and(HotPath::has_next) {
        lines.push("include \"packet/picked.h\"".to_string());
    }
    if let Some(lanes) = hot_path.and_then(HotPath::side_by_side) {
        lines.extend([format!("define LANES {lanes}u"), "include \"lanes.h\"".to_string()]);
    }
    let mut items = vec![Item::Comment(title)];
    items.extend(lines.into_iter().map(Item::Directive));
    items.push(Item::Blank);
    items.push(Item::Comment(
        "Comparisons are the program's own; functions of one kind have equal parameters.".to_string(),
    ));
    let ignored = ["tautological-compare", "type-limits", "unused-parameter"];
    items.extend(ignored.map(|warning| Item::Directive(format!("pragma GCC diagnostic ignored \"-W{warning}\""))));
    items.push(Item::Blank);
    items.push(Item::Directive("define INLINE static inline __attribute__((always_inline))".to_string()));
    items.push(Item::Blank);
    items
}

fn enumerations(unit: &Unit) -> Vec<Item> {
    let places = unit.facts.order.iter().map(|node| unit.place_name(*node).to_string());
    let mut items = vec![
        Item::Comment("Where a packet goes on.".to_string()),
        Item::Enum { name: "node".to_string(), members: std::iter::once("ENDED".to_string()).chain(places).collect() },
        Item::Blank,
    ];
    let reasons = unit.drops.iter().enumerate();
    let names = reasons.map(|(index, reason)| body::drop_name(reason, index as u32));
    items.push(Item::Enum { name: "drop".to_string(), members: names.collect() });
    items.push(Item::Blank);
    items
}

/// Statements of a program that is compiled several times at most: for packets as they come, and for copies. Of a longer one nothing is kept in registers from
/// node to node, so that a function of its own costs little, and compilers need half of their time for it.
const MOST_INLINED: usize = 5000;

/// Statements of a node's function at most that is inlined. Compilers need time quadratic in its branches to keep a
/// packet's state in registers, and registers have no room for it: 300 headers, each made invalid under a condition,
/// took gcc 23 s.
const MOST_IN_NODE: usize = 400;

fn length_of(item: &Item) -> usize {
    if let Item::Function { body, .. } = item { length(body) } else { 0 }
}

/// The function of a large node is not inlined.
fn outlined(mut item: Item) -> Item {
    let is_large = length_of(&item) > MOST_IN_NODE;
    if let Item::Function { of, .. } = &mut item
        && is_large
        && let Some(result) = of.strip_prefix("INLINE ")
    {
        *of = format!("static __attribute__((noinline)) {result}");
    }
    item
}

/// The plain walk, which copies need in every plan, and the loops of a batched one.
fn walks(unit: &Unit, written: &[node::Written], entry: NodeId) -> Vec<Item> {
    let mut items = Vec::new();
    if !unit.batched() || unit.copies() || unit.facts.punts {
        let starts = unit.facts.order.iter().copied().filter(|node| unit.facts.starts.contains(&unit::number(*node)));
        let region = control_flow::Region { nodes: (0..written.len()).collect(), starts: starts.collect(), heads: &[] };
        let body = region.body(unit, written);
        let mut parameters = vec!["struct run *run".to_string(), "struct state *state".to_string()];
        if unit.walk_from(entry).is_some() {
            parameters.push("enum node at".to_string());
        }
        items.push(Item::Comment("A packet's control flow through the graph.".to_string()));
        let all: usize = written.iter().flat_map(|written| &written.items).map(length_of).sum();
        let is_shared = unit.copies() && all + length(&body) > MOST_INLINED;
        let of = if is_shared { "static __attribute__((noinline)) void" } else { "INLINE void" }.to_string();
        items.push(Item::Function { of, name: "walk".to_string(), parameters, body });
        items.push(Item::Blank);
    }
    if unit.copies() {
        items.extend(unit.walk_copy(entry));
    }
    if unit.batched() {
        items.extend(unit.batch_items(written));
    }
    items
}

/// The file without functions that nothing calls.
fn pruned(mut items: Vec<Item>) -> Vec<Item> {
    // By item, its words; and by word, the items that have it. One that is removed may be the last to call others.
    let texts: Vec<Words> = items.iter().map(words_of).collect();
    let mut users: HashMap<&str, usize> = HashMap::new();
    texts.iter().flatten().for_each(|word| *users.entry(word).or_default() += 1);
    let mut unused = BTreeSet::new();
    loop {
        let others =
            |place: usize, name: &str| users.get(name).map_or(0, |all| all - usize::from(texts[place].contains(name)));
        let more: Vec<usize> = (0..items.len())
            .filter(|place| !unused.contains(place))
            .filter(|place| matches!(&items[*place], Item::Function { name, .. } if others(*place, name) == 0))
            .collect();
        if more.is_empty() {
            break;
        }
        for word in more.iter().flat_map(|place| &texts[*place]) {
            users.entry(word).and_modify(|items| *items -= 1);
        }
        unused.extend(more);
    }
    remove(&mut items, &unused.into_iter().collect::<Vec<usize>>());
    without_lone_prototypes(items)
}

/// The words of an item, if it uses what it names.
fn words_of(item: &Item) -> Words {
    let mut found = Words::new();
    if !only_mentions(item) {
        storage::words(std::slice::from_ref(item), &mut found);
    }
    found
}

fn without_lone_prototypes(mut items: Vec<Item>) -> Vec<Item> {
    let defined = |wanted: &str| items.iter().any(|item| matches!(item, Item::Function { name, .. } if name == wanted));
    let lone = |item: &Item| {
        let Item::Variable { of, name, value: None } = item else { return false };
        of.starts_with("static") && name.split_once('(').is_some_and(|(name, _)| !defined(name))
    };
    let places: Vec<usize> = (0..items.len()).filter(|place| lone(&items[*place])).collect();
    remove(&mut items, &places);
    items
}

/// Whether an item only mentions functions: the name of a header may be one's, and a prototype alone is no use either.
fn only_mentions(item: &Item) -> bool {
    matches!(item, Item::Comment(_) | Item::Directive(_))
        || matches!(item, Item::Variable { name, value: None, .. } if name.contains('('))
}

/// Removes items, with the comment before each and the empty line behind.
fn remove(items: &mut Vec<Item>, places: &[usize]) {
    for &place in places.iter().rev() {
        if items.get(place + 1) == Some(&Item::Blank) {
            items.remove(place + 1);
        }
        items.remove(place);
        if place > 0 && matches!(items[place - 1], Item::Comment(_)) {
            items.remove(place - 1);
        }
    }
}
