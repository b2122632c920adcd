//! Structures with few record numbers are planned only for tables that never need more. Where each entry is
//! counted, metered or aged by itself, each has a record of its own.

use hlir::plan::{Plan, Structure};
use hlir::text::parse_file;
use opt::inputs::Content;
use opt::{Inputs, Selection};

const OF_FEW: [Structure; 2] = [Structure::Dir24_8U8, Structure::Exact48];

/// A program with one table of this key kind.
fn program(key: &str, width: u32, declared: &str, beside: &str) -> String {
    format!(
        "program few for none\n\nvariable x: {width}\nvariable colour: 8\n\ntable t {{\n  key x: {key}\n  action on() {{}}\n  default on()\n{declared}}}\n\n\
         {beside}entry t\n\nnode t: apply t -> queue\n\nnode queue: buffer {{ send 32w1 }}\n"
    )
}

/// The structure planned for the table, all of whose entries run one action with the same data.
fn planned(text: &str, entries: u64) -> Structure {
    planned_with(text, Content { entries, records: 1, masks: 16, actions: 1, is_known: true, ..Content::default() })
}

fn planned_with(text: &str, content: Content) -> Structure {
    let mut program = parse_file(text).unwrap_or_else(|errors| panic!("{errors:#?}")).program;
    let mut inputs = Inputs::default();
    inputs.occupancy.tables.insert("t".to_string(), content);
    let mut plan = Plan::default();
    opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
    plan.tables.first().expect("a structure was chosen").structure
}

#[test]
fn tables_with_own_records_get_structures_with_enough_numbers() {
    for (key, width, entries) in [("lpm", 32, 1000), ("exact", 48, 66_000)] {
        let shared = planned(&program(key, width, "", ""), entries);
        assert!(OF_FEW.contains(&shared), "{key} {width}: {shared:?}");
        for (declared, beside) in [
            ("", "counter seen: packets of t automatic\n\n"),
            ("", "meter seen: packets of t into colour\n\n"),
            ("  size 100000\n", "counter seen: packets of t automatic\n\n"),
            ("  idle_timeout\n", ""),
        ] {
            let own = planned(&program(key, width, declared, beside), entries);
            assert!(!OF_FEW.contains(&own), "{key} {width} {declared}{beside}: {own:?}");
        }
    }
}

#[test]
fn small_tables_with_own_records_may_have_any_structure() {
    let counted = |declared: &str, entries| {
        planned(&program("lpm", 32, declared, "counter seen: packets of t automatic\n\n"), entries)
    };
    let shared = |declared: &str, entries| planned(&program("lpm", 32, declared, ""), entries);
    // There must be room for four times as many entries, or for the declared size.
    assert_eq!(counted("", 60), shared("", 60));
    assert_eq!(counted("  size 200\n", 100), shared("  size 200\n", 100));
    assert_ne!(counted("", 100), Structure::Dir24_8U8);
}

#[test]
fn narrow_elements_are_for_few_long_prefixes() {
    let known = |long_prefixes| Content {
        entries: 100_000,
        records: 1000,
        masks: 16,
        long_prefixes,
        actions: 1,
        is_known: true,
        ..Content::default()
    };
    let routes = |long_prefixes| planned_with(&program("lpm", 32, "", ""), known(long_prefixes));
    assert_eq!(routes(1000), Structure::Dir24_8U16);
    assert_ne!(routes(32_000), Structure::Dir24_8U16);
}
