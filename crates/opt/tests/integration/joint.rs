//! Tables are joined where few bits distinguish the records of common keys, and only then.

use hlir::plan::{JointTables, Plan};
use hlir::text::{parse_file, parse_plan, print_plan};
use hlir::verify;
use opt::inputs::{Content, KeySketch};
use opt::{Inputs, Selection};

/// A bridge whose destinations run `forward` with so many bits of data.
fn bridge(data: u32, more: &str) -> String {
    format!(
        "program bridge for none

header hdr.ethernet: ethernet_t {{ dst: 48, src: 48, type: 16 }}
variable meta.port: {data}
variable error: 32
{more}
table sources {{
  key hdr.ethernet.src: exact
  action known() {{}}
  action unknown() {{ meta.port = 511 }}
  default unknown()
}}

table destinations {{
  key hdr.ethernet.dst: exact
  action forward(port: {data}) {{ meta.port = port }}
  action no_way() {{ meta.port = 511 }}
  default no_way()
}}

parser parser {{ start start, accept sources, reject sources, error error }}

entry start

node start: state of parser {{ extract hdr.ethernet }} -> sources

node sources: apply sources -> destinations

node destinations: apply destinations -> queue

node queue: buffer {{
  when meta.port == 511: drop \"no way\"
  otherwise -> deparser
}}

node deparser: deparse {{ emit hdr.ethernet }} -> departure

node departure: buffer {{
  send u32(meta.port)
}}
"
    )
}

/// The plan for a million hosts in both tables, with so many distinct records of destinations, under these
/// constraints.
fn planned(text: &str, records: u64, pins: &str) -> Plan {
    let mut program = parse_file(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}")).program;
    let mut inputs = Inputs::default();
    for (id, table) in program.tables.iter() {
        let records = if table.name == "sources" { 1 } else { records };
        let content = Content { entries: 1_000_000, records, masks: 1, is_known: true, ..Content::default() };
        let mut keys = KeySketch::of(&program, id).expect("the keys are exact");
        (0..content.entries).for_each(|key| keys.add([key]));
        inputs.occupancy.tables.insert(table.name.clone(), content);
        inputs.occupancy.keys.insert(table.name.clone(), keys);
    }
    inputs.constraints = parse_plan(&format!("plan {{\n{pins}}}\n")).expect("the pins are a plan");
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    let wrong = verify::verify_plan(&program, &plan);
    assert!(wrong.is_empty(), "{}{wrong:#?}", print_plan(&plan));
    plan
}

/// The joint tables: secondary, primary, and the bits of the secondary.
fn shares(plan: &Plan) -> Vec<(&str, &str, u32)> {
    plan.joints
        .iter()
        .map(|JointTables { secondary, primary, bits, .. }| (secondary.as_str(), primary.as_str(), *bits))
        .collect()
}

#[test]
fn bits_have_room_for_all_records_of_the_entries() {
    // Of sixteen bits, two distinguish the records of sources, and ten those of destinations with 512 ports.
    assert_eq!(shares(&planned(&bridge(9, ""), 48, "")), [("sources", "destinations", 4)]);
    // Fourteen bits have room for 16,383 records: for data of 13 bits, and for wider data with few distinct
    // values.
    assert_eq!(shares(&planned(&bridge(13, ""), 8192, "")), [("sources", "destinations", 2)]);
    assert_eq!(shares(&planned(&bridge(48, ""), 4000, "")), [("sources", "destinations", 2)]);
    assert_eq!(shares(&planned(&bridge(48, ""), 4200, "")), []);
}

#[test]
fn counted_tables_are_not_joined() {
    assert_eq!(shares(&planned(&bridge(9, "counter hits: packets of sources\n"), 48, "")), []);
}

#[test]
fn tables_with_unknown_keys_are_not_joined() {
    let text = bridge(9, "");
    let mut program = parse_file(&text).expect("it is right").program;
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &Inputs::default(), &Selection::All, None);
    assert_eq!(shares(&plan), []);
}

#[test]
fn given_tables_are_joined_as_given() {
    let structures = "table sources: exact48\ntable destinations: exact48\n";
    let pins = format!("{structures}joint destinations with sources bits 11\n");
    assert_eq!(shares(&planned(&bridge(9, ""), 48, &pins)), [("destinations", "sources", 11)]);
    // Another structure for one of them cannot be joint.
    assert_eq!(shares(&planned(&bridge(9, ""), 48, "table sources: exact\n")), []);
}
