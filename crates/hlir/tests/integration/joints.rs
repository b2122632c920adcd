//! Rules for joint exact tables.

use hlir::text::{parse_file, print_file};

const L2FWD: &str = include_str!("../programs/l2fwd.hlir");

/// A declaration that makes a table's records its own.
const COUNTED: &str = "counter ingress.hits: packets_and_bytes of ingress.dmac automatic\n";

/// The errors of a plan with these lines, after replacements in the program.
fn found(program: &[(&str, &str)], lines: &[&str]) -> Vec<String> {
    let plain = [(COUNTED, ""), ("  idle_timeout\n", "")];
    let program = plain.iter().chain(program).fold(L2FWD.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let text = format!("{program}\nplan {{\n  {}\n}}\n", lines.join("\n  "));
    let errors = parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}")).verify();
    errors.iter().map(|error| error.message().to_string()).collect()
}

const SMAC: &str = "table ingress.smac: exact48";
const DMAC: &str = "table ingress.dmac: exact48";
const SHARE: &str = "joint ingress.smac with ingress.dmac bits 2";

#[test]
fn tables_of_one_structure_can_be_joint() {
    assert_eq!(found(&[], &[SMAC, DMAC, SHARE]), [""; 0]);
}

#[test]
fn joint_tables_have_the_same_planned_structure() {
    let missing = "the plan: the plan has no structure for `ingress.dmac`";
    assert_eq!(found(&[], &[SMAC, SHARE]), [missing]);
    let other = "the plan: `ingress.dmac` is `exact`";
    assert_eq!(found(&[], &[SMAC, "table ingress.dmac: exact", SHARE]), [other]);
}

#[test]
fn joint_tables_have_keys_of_equal_width() {
    let narrow = [("key hdr.ethernet.src: exact", "key hdr.ethernet.type: exact")];
    let message = "the plan: keys of `ingress.smac` have 16 bits, those of `ingress.dmac` 48";
    assert_eq!(found(&narrow, &[SMAC, DMAC, SHARE]), [message]);
}

#[test]
fn each_table_has_bits() {
    for bits in ["0", "16", "17"] {
        let share = format!("joint ingress.smac with ingress.dmac bits {bits}");
        assert_eq!(found(&[], &[SMAC, DMAC, &share]), [format!("the plan: {bits} bits are no part of 16")]);
    }
    for bits in ["1", "15"] {
        assert_eq!(found(&[], &[SMAC, DMAC, &format!("joint ingress.smac with ingress.dmac bits {bits}")]), [""; 0]);
    }
}

#[test]
fn at_most_two_tables_are_joint() {
    let again = "the plan: table `ingress.smac` is joint already: at most two tables have one array";
    let other = "the plan: table `ingress.dmac` is joint already: at most two tables have one array";
    let turned = "joint ingress.dmac with ingress.smac bits 2";
    assert_eq!(found(&[], &[SMAC, DMAC, SHARE, turned]), [other, again]);
    let itself = "joint ingress.smac with ingress.smac bits 2";
    assert_eq!(found(&[], &[SMAC, itself]), [again]);
    assert_eq!(
        found(&[], &[SMAC, "joint ingress.smac with nothing bits 2"]),
        ["the plan: the program has no table `nothing`"]
    );
}

#[test]
fn tables_with_own_records_are_not_joint() {
    let can_not = "the plan: `ingress.smac` cannot be joint";
    let counted = [("digest learn {", "counter hits: packets of ingress.smac\ndigest learn {")];
    assert_eq!(found(&counted, &[SMAC, DMAC, SHARE]), [can_not]);
    let aged = [("  key hdr.ethernet.src: exact", "  idle_timeout\n  key hdr.ethernet.src: exact")];
    assert_eq!(found(&aged, &[SMAC, DMAC, SHARE]), [can_not]);
    let turned = "joint ingress.dmac with ingress.smac bits 2";
    assert_eq!(found(&aged, &[SMAC, DMAC, turned]), [can_not]);
    let metered = [("digest learn {", "meter rates: packets of ingress.smac\ndigest learn {")];
    assert_eq!(found(&metered, &[SMAC, DMAC, SHARE]), [can_not]);
    let filled = [("  size 4096\n}", "  size 4096\n  add_on_miss\n}")];
    assert!(found(&filled, &[SMAC, DMAC, SHARE]).contains(&can_not.to_string()));
}

#[test]
fn reads_back_as_it_is_printed() {
    let reason = "joint ingress.smac with ingress.dmac bits 2 because 17.5 against separate 20.2";
    let parsed = parse_file(&format!("{L2FWD}\nplan {{\n  {SMAC}\n  {DMAC}\n  {reason}\n}}\n")).expect("it is right");
    let printed = print_file(&parsed.program, parsed.plan.as_ref());
    assert!(printed.contains(reason), "{printed}");
    let plan = parsed.plan.map(hlir::Plan::without_reasons);
    assert!(print_file(&parsed.program, plan.as_ref()).contains(&format!("{SHARE}\n")));
}
