//! A plan by ids: which stage makes which lookup, and what the lines of the plan mean for it.

use hlir::plan::{Hint, Placement, Structure};
use hlir::resolved::{LinePrefetch, ResolvedPlan};
use hlir::text::parse_file;

const L2FWD: &str = include_str!("../programs/l2fwd.hlir");

fn resolved<T>(lines: &str, look: impl FnOnce(&hlir::Program, &ResolvedPlan) -> T) -> T {
    let text = format!("{L2FWD}\nplan {{\n{lines}}}\n");
    let parsed = parse_file(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let plan = parsed.plan.expect("the text has a plan");
    look(&parsed.program, &ResolvedPlan::of(&parsed.program, &plan))
}

const PATH: &str = "  hot_path { arrival, parser.start, ingress.smac, ingress.dmac }\n";

#[test]
fn a_stage_makes_the_lookups_of_its_node_and_its_prefetches() {
    let lines = format!(
        "{PATH}  loop ingress.smac: batch 32 group 16 vector 8 {{\n    lookup ingress.dmac\n    prefetch packet ahead 16 in own_loop to t0\n    \
         prefetch table ingress.dmac ahead 1 interleaved commit to t1\n  }}\n  table ingress.dmac: perfect\n"
    );
    resolved(&lines, |program, plan| {
        let path = plan.path.as_ref().expect("the plan has a hot path");
        assert_eq!((path.group, path.vector, path.packets), (16, 8, Some(Hint::T0)));
        let lookups = &path.stages[0].lookups;
        let names: Vec<&str> = lookups.iter().map(|lookup| program.tables[lookup.table].name.as_str()).collect();
        assert_eq!(names, ["ingress.smac", "ingress.dmac"]);
        let prefetch = LinePrefetch { placement: Placement::WithCommit, hint: Hint::T1 };
        assert_eq!([lookups[0].prefetch, lookups[1].prefetch], [None, Some(prefetch)]);
        assert!(path.is_pipelined() && plan.loops.is_empty());
        assert_eq!(path.speculative, [2, 3]);
        assert_eq!([path.stage_of(2), path.stage_of(3), path.stage_of(1)], [Some(0), Some(0), None]);
        let structures = lookups.iter().map(|lookup| plan.structure(program, lookup.table));
        assert_eq!(structures.collect::<Vec<_>>(), [Structure::Exact, Structure::Perfect]);
    });
}

#[test]
fn a_lookup_without_a_prefetch_is_made() {
    let lines = format!("{PATH}  loop ingress.smac: batch 8 group 8 {{\n    lookup ingress.dmac\n  }}\n");
    resolved(&lines, |_, plan| {
        let path = plan.path.as_ref().expect("the plan has a hot path");
        let prefetches = path.stages[0].lookups.iter().map(|lookup| lookup.prefetch);
        assert_eq!(prefetches.collect::<Vec<_>>(), [None, None]);
        assert!(!path.is_pipelined());
    });
}

#[test]
fn without_stages_there_is_no_path_and_loops_are_lists() {
    assert!(resolved(PATH, |_, plan| plan.path.is_none() && plan.loops.is_empty()));
    let lines =
        "  loop ingress.smac: batch 8 group 4 {\n    prefetch table ingress.smac ahead 4 in own_loop to t1\n  }\n";
    resolved(lines, |program, plan| {
        let lp = &plan.loops[0];
        assert_eq!((program.nodes[lp.node].name.as_str(), lp.batch, lp.group), ("ingress.smac", 8, 4));
        assert_eq!(lp.prefetch, Some(LinePrefetch { placement: Placement::OwnLoop, hint: Hint::T1 }));
        assert!(plan.path.is_none());
        assert_eq!(plan.loop_at(lp.node), Some(lp));
    });
}

#[test]
fn joint_tables_divide_a_lookups_result() {
    resolved("  joint ingress.smac with ingress.dmac bits 6\n", |_, plan| {
        let joint = plan.joints[0];
        assert_eq!([joint.part(joint.secondary), joint.part(joint.primary)], [(0, 6), (6, 10)]);
        assert_eq!(plan.joint_of(joint.primary), Some(&joint));
    });
}
