//! docs/schedule.md: its example is a program with its plan, and the schedule of both.

use hlir::{Program, ResolvedPlan};
use schedule::Schedule;
use schedule::text::print;
use schedule::verify::Rule;
use std::path::Path;

const PAGE: &str = "schedule.md";

fn page(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(file).expect("the page can be read")
}

/// The block of the page with this information string.
pub fn block(info: &str) -> String {
    block_of(PAGE, info)
}

/// The same of another page.
pub fn block_of(page_name: &str, info: &str) -> String {
    let page = page(page_name);
    let (_, from) =
        page.split_once(&format!("```{info}\n")).unwrap_or_else(|| panic!("the page has no block `{info}`"));
    from.split_once("```").expect("the block ends").0.to_string()
}

/// The program of the page, and its schedule.
pub fn example() -> (Program, Schedule) {
    let text = format!("{}\n{}", block("hlir"), block("plan"));
    let parsed = hlir::text::parse_file(&text).expect("the program can be read");
    assert!(parsed.verify().is_empty(), "{:?}", parsed.verify());
    let plan = parsed.plan.expect("the text has a plan");
    let path = ResolvedPlan::of(&parsed.program, &plan).path.expect("the plan has a hot path");
    let schedule = Schedule::of(&parsed.program, &path).expect("the path has a schedule");
    (parsed.program, schedule)
}

#[test]
fn the_example_has_the_schedule_that_the_page_shows() {
    let (program, schedule) = example();
    let printed = print(&program, &schedule);
    assert_eq!(printed, block("schedule"), "the schedule is now\n{printed}");
}

#[test]
fn the_page_lists_the_rules_in_order() {
    let listed: Vec<String> = page(PAGE)
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_string()))
        .filter(|name| Rule::ALL.iter().any(|rule| rule.name() == name))
        .collect();
    assert_eq!(listed, Rule::ALL.map(Rule::name));
}
