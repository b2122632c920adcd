//! Rules for plans with several hot paths: each by a change to a legal plan, or to its program, that breaks this rule only.

use crate::queues::{PROGRAM, finds, messages};
use hlir::text::{parse_file, print_plan};

const FIRST: &str = "  hot_path { start, kind, routes }\n  loop routes: batch 64 group 64\n";
const NEXT: &str = "  next_path { start, kind, aside, slow } {\n    loop slow: batch 64 group 64\n  }\n";

#[test]
fn a_plan_with_several_paths_is_printed_as_it_is_read() {
    assert_eq!(messages(PROGRAM, &format!("{FIRST}{NEXT}")), [""; 0]);
    let read = parse_file(&format!("{PROGRAM}\nplan {{\n{FIRST}{NEXT}}}\n")).expect("it can be read");
    assert_eq!(print_plan(&read.plan.expect("there is one")), format!("plan {{\n{FIRST}{NEXT}}}\n"));
}

#[test]
fn a_next_path_is_behind_stages_and_has_some() {
    let alone = "the plan: a next path without stages of a hot path before it";
    finds(messages(PROGRAM, NEXT), alone);
    finds(messages(PROGRAM, &format!("  hot_path {{ start, kind, routes }}\n{NEXT}")), alone);
    let bare = format!("{FIRST}  next_path {{ start, kind, aside, slow }}\n");
    finds(messages(PROGRAM, &bare), "the plan: the path has no stage");
}

/// A next path is what any path is, and wrong parts are reported at their places.
#[test]
fn a_next_path_is_a_path_of_the_program() {
    let found = |next: &str| messages(PROGRAM, &format!("{FIRST}{next}"));
    let cut = " { loop slow: batch 64 group 64 }\n";
    finds(found(&format!("  next_path {{ start, kind, slow }}{cut}")), "the plan: no edge leads from `kind` to `slow`");
    finds(found(&format!("  next_path {{ aside, slow }}{cut}")), "the plan: the hot path does not begin at the entry");
    let other = "  next_path { start, kind, aside, slow } { loop routes: batch 64 group 64 }\n";
    finds(found(other), "the plan: `routes` is not on the hot path");
    let runs = format!("  next_path {{ start, kind, aside, slow runs forward }}{cut}");
    finds(found(&runs), "the plan: no entry of table `slow` can run `forward`");
    let text = format!("{PROGRAM}\nplan {{\n{FIRST}{other}}}\n");
    let read = parse_file(&text).expect("it can be read");
    let errors = read.verify();
    let span = errors[0].span();
    assert_eq!(&text[span.start as usize..span.end as usize], "loop routes: batch 64 group 64");
}

#[test]
fn a_next_path_has_groups_of_the_first_ones_size_at_most_once() {
    let found = |stage: &str| {
        messages(PROGRAM, &format!("{FIRST}  next_path {{ start, kind, aside, slow }} {{ loop slow: {stage} }}\n"))
    };
    finds(found("batch 64 group 32"), "the plan: groups of 32 packets at `slow`, and of 64 on the hot path");
    finds(
        found("batch 64 group 64 { prefetch table slow ahead 1 interleaved lookup to t0 }"),
        "the plan: prefetches of a next path cannot be interleaved",
    );
    finds(
        found("batch 64 group 64 { prefetch packet ahead 64 in own_loop to t0 }"),
        "the plan: packets of a next path were read before",
    );
    assert_eq!(found("batch 64 group 64 { prefetch table slow ahead 64 in own_loop to t0 }"), [""; 0]);
}

#[test]
fn packets_that_leave_wait_in_no_queue_beside_a_next_path() {
    let queue = "  queue behind: capacity 8 timeout 2\n";
    finds(
        messages(PROGRAM, &format!("{FIRST}{NEXT}{queue}")),
        "the plan: packets that leave the hot path wait in a queue, and take no other path",
    );
}

/// Packets of a second path commit before others of their group.
#[test]
fn packets_take_a_next_path_only_where_order_is_not_observed() {
    let found = |from: &str, to: &str| {
        let program = PROGRAM.replace(from, to);
        assert_ne!(program, PROGRAM);
        messages(&program, &format!("{FIRST}{NEXT}"))
    };
    let seen = |node: &str| {
        format!("the plan: packets of another path would overtake others at `{node}`, where order is seen")
    };
    let counted = "node behind: block { count state.rare at u32(meta.port) }";
    assert_eq!(found("node behind: block {}", counted), [""; 0]);
    let read = "node behind: block { read state.seen at 8w1 into meta.seen }";
    finds(found("node behind: block {}", read), &seen("behind"));
    let written = "node common: block { write state.seen at 8w1 = meta.seen }";
    finds(found("node common: block {}", written), &seen("common"));
    let learned = "  default unknown()\n  size 64\n  add_on_miss\n}\n\ntable routes";
    finds(found("  default unknown()\n}\n\ntable routes", learned), &seen("slow"));
}
