//! Constant entries that are in the code.

use crate::compilers::{COMPILERS, plans};
use hlir::plan::Plan;
use hlir::text::{Parsed, parse_file};
use hlir::verify;

/// A table with keys of several kinds, and this plan.
fn program(entries: &str, more: &str, plan: &str) -> Parsed {
    let text = format!(
        "program rules for none\nheader h: h_t {{ kind: 16, dst: 128, port: 16, wide: 96 }}\nvariable meta.port: 9\n\
         variable error: 32\n{more}\ntable rules {{\n  key h.kind: exact\n  key h.dst: ternary\n  key h.port: range\n\
         action set(port: 9, wide: 96) {{ meta.port = port\n h.wide = wide }}\n  action none() {{}}\n\
         {entries}}}\nparser parser {{ start start, accept rules, reject rules, error error }}\nentry start\n\
         node start: state of parser {{ extract h }} -> rules\nnode rules: apply rules -> deparser\n\
         node deparser: deparse {{ emit h }} -> queue\nnode queue: buffer {{ send u32(meta.port) }}\n\
         plan {{\n  {plan}\n}}\n"
    );
    parse_file(&text).unwrap_or_else(|errors| panic!("{text}{errors:?}"))
}

const ENTRIES: &str = "  const default none()
  const entries {
    priority 1: 0x0800, _, 80..443 => set(5, 0x123456789abcdef012345678)
    priority 2: 0x0800, 0x20010db8000000000000000000000000 &&& 0xffffffff000000000000000000000000, _ => none()
  }
";

/// Packet by packet, and in a stage.
const PLANS: [&str; 2] = [
    "table rules: code",
    "burst 64\n  hot_path { start, rules, deparser, queue }\n  \
     loop rules: batch 64 group 64 { lookup rules }\n  table rules: code",
];

#[test]
fn entries_are_compared_in_code() {
    for (number, plan) in PLANS.into_iter().enumerate() {
        let parsed = program(ENTRIES, "", plan);
        let plan: Plan = parsed.plan.expect("it has a plan");
        let c = emit::emit(&parsed.program, &plan).unwrap_or_else(|problems| panic!("{problems:?}"));
        let compared: Vec<&str> = c.lines().map(str::trim).filter(|line| line.starts_with("found = ")).collect();
        // The larger priority wins, so that its entry is compared last.
        assert!(compared[0].contains("- 80ull <= 363ull") && compared[0].ends_with("? 1u : found;"), "{compared:?}");
        assert!(compared[1].contains("== 0x8002001ull") && compared[1].ends_with("? 2u : found;"), "{compared:?}");
        assert!(c.contains("rules_code_records") && !c.contains("list_find("), "{c}");
        COMPILERS.compile(&format!("constant_entries_{number}"), &parsed.program, &plan);
        for (name, other) in plans(&parsed.program) {
            let plan = Plan { tables: plan.tables.clone(), ..other };
            COMPILERS.compile(&format!("constant_entries_{name}"), &parsed.program, &plan);
        }
    }
}

#[test]
fn entries_that_can_change_or_have_state_are_not() {
    let said = |entries: &str, more: &str| {
        let parsed = program(entries, more, "table rules: code");
        let plan = parsed.plan.expect("it has a plan");
        verify::verify_plan(&parsed.program, &plan).iter().map(|found| format!("{found:?}")).collect::<String>()
    };
    assert_eq!(said(ENTRIES, ""), "");
    let written = said(&ENTRIES.replace("const entries", "entries"), "");
    assert!(written.contains("it needs entries that are constant"), "{written}");
    assert!(said("  const default none()\n", "").contains("it needs entries that are constant"));
    let default = said(&ENTRIES.replace("const default", "default"), "");
    assert!(default.contains("a default action that is constant"), "{default}");
    let counted = said(ENTRIES, "counter hits: packets of rules automatic");
    assert!(counted.contains("without direct counters, direct meters and idle timeouts"), "{counted}");
    let aged = said(&format!("{ENTRIES}  idle_timeout\n"), "");
    assert!(aged.contains("without direct counters, direct meters and idle timeouts"), "{aged}");
    let rule = |number: u32| format!("    priority {number}: 0x0800, _, _ => none()\n");
    let rules = |count: u32| {
        format!("  const default none()\n  const entries {{\n{}  }}\n", (1..=count).map(rule).collect::<String>())
    };
    assert_eq!(said(&rules(16), ""), "");
    assert!(said(&rules(17), "").contains("at most 16 entries"));
    let twice = said(&rules(1).replace(&rule(1), &rule(1).repeat(2)), "");
    assert!(twice.contains("no two entries with the same key"), "{twice}");
}
