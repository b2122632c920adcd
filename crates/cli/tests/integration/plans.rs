//! Plans: under every plan, an application sends the same packets.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;

pub const APPS: [&str; 6] = ["l2fwd", "ipv4fwd", "ipv6fwd", "l2l3acl", "mpls", "firewall"];

fn app(name: &str, ending: &str) -> String {
    path(&format!("apps/{name}/{name}.{ending}")).display().to_string()
}

fn plan_file(name: &str) -> String {
    path(&format!("crates/cli/tests/plans/{name}.plan")).display().to_string()
}

/// What `bacus stf` prints for an application's tests.
fn tested(name: &str, plan: &[&str], arguments: &[&str]) -> String {
    let output = bacus().args(["stf", &app(name, "p4"), &app(name, "stf")]).args(arguments).args(plan).output();
    let output = output.expect("bacus runs");
    let said = said(&output);
    assert!(output.status.success(), "{name} {plan:?} {arguments:?}: {said}");
    said
}

/// Both engines on mutations of the application's own packets. Enough of them must get through: packets dropped by the parser test no lookups.
fn agrees_on_mutations(name: &str, plan: &[&str], arguments: &[&str]) {
    let said = tested(name, plan, &[&["--trace", &app(name, "stf")], arguments].concat());
    assert!(said.contains("both engines agree"), "{name} {plan:?}: {said}");
    let number = |behind: &str| -> u64 {
        let words = said.split_once(behind).map_or("", |(before, _)| before).split_whitespace();
        words.last().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no {behind} in {said}"))
    };
    let (packets, sent, hits) = (number(" packets, "), number(" sent, "), number(" hits, "));
    assert!(sent * 6 > packets && hits >= sent, "the packets do not fit {name}: {said}");
}

/// Runs an application's tests natively at several bursts, then both engines on mutated packets: as the C that a switch runs, and as C with every check that
/// the compiler can build in, which is optimized less.
fn agrees(name: &str, plan: &[&str]) {
    for (burst, checks) in [("1", &[][..]), ("7", &["--sanitize"]), ("32", &[]), ("64", &["--sanitize"])] {
        tested(name, plan, &[&["--engine", "native", "--burst", burst], checks].concat());
    }
    agrees_on_mutations(name, plan, &["--count", "2000", "--sanitize"]);
}

#[test]
fn plans_by_hand_send_what_the_interpreter_sends() {
    let bridges = ["l2fwd", "l2fwd_pipelined", "l2fwd_perfect", "l2fwd_spread", "l2fwd_sevens", "l2fwd_twice"];
    for plan in bridges.into_iter().chain(["ipv4fwd", "ipv4fwd_fours", "ipv6fwd", "l2l3acl"]) {
        let app = plan.split('_').next().expect("a name has a beginning");
        agrees(app, &["--plan", &plan_file(plan)]);
    }
}

/// A key of two tables is one word of their joint array: in stages, in the commit phase, and if the second line is prefetched after other lookups.
#[test]
fn tables_that_share_an_array_send_what_the_interpreter_sends() {
    for plan in ["l2fwd_shared", "l2fwd_shared_commit", "l2l3acl_shared"] {
        let app = plan.split('_').next().expect("a name has a beginning");
        agrees(app, &["--plan", &plan_file(plan)]);
    }
}

/// Vector code up to the first lookup: some packets take side exits, and some are too short to be loaded. Of the directly indexed tables, one is looked up at
/// or before the first cut, one in a later stage and one in the commit phase, and packets exit before each.
#[test]
fn vector_code_sends_what_the_interpreter_sends() {
    let arrays = ["l2l3acl_pipelined", "l2l3acl_vector", "l2l3acl_lookup_before_cut", "mpls_vector", "router_vector"];
    for plan in
        ["ipv4fwd_vector", "ipv4fwd_vector_pipelined", "ipv6fwd_vector", "l2fwd_vector"].into_iter().chain(arrays)
    {
        let app = plan.split('_').next().expect("a name has a beginning");
        agrees(app, &["--plan", &plan_file(plan)]);
    }
}

/// Packets that leave the hot path take a second and a third one: vector code and scalar code, behind a group that is
/// pipelined and behind one that is not.
#[test]
fn packets_of_several_hot_paths_are_those_of_the_interpreter() {
    let agree = |plan: &[&str]| {
        for burst in ["1", "7", "32", "64"] {
            tested("dualstack", plan, &["--engine", "native", "--burst", burst]);
        }
        let said = tested("dualstack", plan, &["--trace", &app("dualstack", "stf"), "--count", "2000"]);
        assert!(said.contains("both engines agree"), "{plan:?}: {said}");
    };
    for plan in ["dualstack", "dualstack_pipelined"] {
        agree(&["--sanitize", "--plan", &plan_file(plan)]);
    }
    if has_dpdk() {
        let text = fs::read_to_string(plan_file("dualstack")).expect("the plan is there");
        let plan = scratch("several_paths").join("mbuf.plan").display().to_string();
        fs::write(&plan, text.replace("descriptor own", "descriptor mbuf")).expect("a file can be written");
        agree(&["--descriptor", "mbuf", "--plan", &plan]);
    }
}

/// The message is placed in the next path, not in the first one.
#[test]
fn a_next_path_that_cannot_be_is_shown_at_its_place() {
    let text = fs::read_to_string(plan_file("dualstack")).expect("the plan is there");
    let stage = "loop Router.routes6: batch 64 group 64 vector 8";
    let (before, _) = text.split_once("next_path {").expect("it has a next path");
    let (line, column) = (before.lines().count(), before.lines().last().map_or(0, str::len) + "next_path ".len() + 1);
    let plan = scratch("next_path_refused").join("mixed.plan").display().to_string();
    fs::write(&plan, text.replace(stage, &stage.replace("vector 8", "vector 16"))).expect("a file can be written");
    let output = bacus().args(["compile", &app("dualstack", "p4"), "--emit", "c", "--plan", &plan]).output();
    let output = output.expect("bacus runs");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!(" {plan}:{line}:{column}\n")), "{line}:{column}: {said}");
    assert!(said.contains("vectors of 16 packets on one path, and of 8 on another"), "{said}");
}

/// Vector code of a parser that looks ahead, and lookups of wide keys, which are in lines of their own.
#[test]
fn wide_keys_behind_a_parser_that_looks_ahead() {
    let plan = ["--plan", &plan_file("ndn_vector")];
    for burst in ["1", "7", "64"] {
        tested("ndn", &plan, &["--engine", "native", "--burst", burst, "--sanitize"]);
    }
    let said = tested("ndn", &plan, &["--trace", &app("ndn", "stf"), "--count", "2000", "--sanitize"]);
    assert!(said.contains("both engines agree"), "{said}");
}

/// Side exits that end in counting and dropping only are dropped in bulk, and so are misses while the default action drops.
#[test]
fn bulk_drops_are_those_of_the_interpreter() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/bulk_drop{ending}")).display().to_string();
    for plan in [".plan", "_pipelined.plan", "_queue.plan"] {
        let (program, plan) = (file(".hlir"), file(plan));
        let compile = ["compile", &program, "--emit", "c", "--plan", &plan];
        let code = bacus().args(compile).output().expect("bacus runs").stdout;
        assert!(String::from_utf8_lossy(&code).contains("path_drop_exits("), "{plan}");
        for test in [".stf", "_sent.stf"].map(file) {
            let engines: [&[&str]; 3] = [
                &["--engine", "native", "--burst", "7"],
                &["--engine", "native", "--burst", "64"],
                &["--trace", &test, "--count", "3000"],
            ];
            for arguments in engines {
                let stf = ["stf", &program, &test, "--plan", &plan, "--sanitize"];
                let output = bacus().args(stf).args(arguments).output().expect("bacus runs");
                assert!(output.status.success(), "{plan} {test} {arguments:?}: {}", said(&output));
            }
        }
    }
}

/// The packets' own bytes are prefetched as well: for a group at once, and one group ahead.
#[test]
fn prefetched_packets_are_those_that_the_interpreter_sends() {
    for plan in ["ipv4fwd_packet", "l2fwd_packet"] {
        let app = plan.split('_').next().expect("a name has a beginning");
        agrees(app, &["--plan", &plan_file(plan)]);
        let output =
            bacus().args(["compile", &self::app(app, "p4"), "--emit", "c", "--plan", &plan_file(plan)]).output();
        let code = String::from_utf8_lossy(&output.expect("bacus runs").stdout).into_owned();
        assert!(code.contains("__builtin_prefetch(packet_address_data("), "{plan}: {code}");
    }
}

/// Plans without a hot path: each branch puts packets into the list of the loop that follows.
#[test]
fn loops_with_lists_send_what_the_interpreter_sends() {
    for app in ["l2l3acl", "mpls"] {
        agrees(app, &["--plan", &plan_file(&format!("{app}_lists"))]);
    }
    for program in ["queues", "ordered_register"] {
        let file = |ending: &str| format!("crates/cli/tests/plans/{program}{ending}");
        agree_on_entries(&file(".hlir"), &file("_lists.plan"), "10");
    }
}

/// Queues collect packets of rare paths over several bursts. Bursts have eight or sixteen packets here, so that one comparison covers several.
#[test]
fn queued_packets_are_those_that_the_interpreter_sends() {
    for app in ["ipv4fwd", "l2l3acl"] {
        agrees(app, &["--plan", &plan_file(&format!("{app}_queue"))]);
    }
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/queues.{ending}")).display().to_string();
    let trace = path("apps/l2l3acl/port1.pcap").display().to_string();
    let both = ["stf", &file("hlir"), "--trace", &trace, "--count", "2000", "--plan", &file("plan"), "--sanitize"];
    let output = bacus().args(both).output().expect("bacus runs");
    let said = said(&output);
    assert!(output.status.success() && said.contains("both engines agree"), "{said}");
}

/// Copies made before a queue leave before the queued packet, also by the same port. The contents of both are unaffected.
#[test]
fn copies_may_overtake_a_queued_packet() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/overtakes{ending}")).display().to_string();
    let (test, plan) = (file(".stf"), file(".plan"));
    for plan in [&["--plan", plan.as_str()][..], &[]] {
        let both = ["stf", &file(".hlir"), &test, "--trace", &test, "--count", "1000", "--sanitize"];
        let output = bacus().args(both).args(plan).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "{plan:?}: {said}");
    }
    let alone = ["stf", &file(".hlir"), &test, "--engine", "native", "--burst", "1"];
    let output = bacus().args(alone).output().expect("bacus runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Most of these packets exceed the copy budget. The copies made are the same packet by packet, in stages, with software pipelining, with queues, and in
/// lists.
#[test]
fn copies_beyond_the_budget_are_those_that_the_interpreter_drops() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/copy_budget{ending}")).display().to_string();
    let test = file(".stf");
    let plans = [".plan", "_pipelined.plan", "_queue.plan", "_lists.plan"].map(file);
    let planned = plans.iter().map(|plan| ["--plan", plan.as_str()]);
    for plan in planned.chain([["--passes", ""]]) {
        let stf = |arguments: &[&str]| {
            let output = bacus().args(["stf", &file(".hlir"), &test, "--sanitize"]).args(plan).args(arguments).output();
            let output = output.expect("bacus runs");
            let said = said(&output);
            assert!(output.status.success(), "{plan:?} {arguments:?}: {said}");
            said
        };
        stf(&["--engine", "native", "--burst", "8"]);
        let said = stf(&["--trace", &test, "--count", "2000"]);
        assert!(said.contains("both engines agree"), "{plan:?}: {said}");
    }
}

const SLOW_MEMORY: &str = "tests/machines/slow-memory.toml";

fn all_agree(plan: &[&str]) {
    for app in APPS {
        agrees(app, plan);
    }
}

#[test]
fn applications_planned_for_this_machine_send_what_the_interpreter_sends() {
    all_agree(&[]);
}

#[test]
fn applications_without_a_plan_send_what_the_interpreter_sends() {
    all_agree(&["--passes", ""]);
}

/// Every lookup that can have a stage has one.
#[test]
fn applications_planned_for_slow_memory_send_what_the_interpreter_sends() {
    all_agree(&["--machine", &path(SLOW_MEMORY).display().to_string()]);
}

#[test]
fn applications_in_stages_without_prefetches_send_what_the_interpreter_sends() {
    all_agree(&["--machine", &path(SLOW_MEMORY).display().to_string(), "--without", "prefetch"]);
}

/// A packet that is a `struct rte_mbuf`, in stages. Its buffer is DPDK's, which the sanitizers do not track.
#[test]
fn mbufs_are_sent_as_the_interpreter_sends_packets() {
    if !has_dpdk() {
        return;
    }
    let machine = path(SLOW_MEMORY).display().to_string();
    for app in APPS {
        let plan = ["--machine", &machine, "--descriptor", "mbuf"];
        tested(app, &plan, &["--engine", "native", "--burst", "7"]);
        agrees_on_mutations(app, &plan, &["--count", "1000"]);
    }
}

/// A table without keys has no lookup, and precedes one that has.
#[test]
fn side_effects_of_tables_without_keys_are_deferred() {
    let file = |name: &str| path(name).display().to_string();
    let (program, test) = (file("crates/cli/tests/plans/keyless.p4"), file("crates/cli/tests/plans/keyless.stf"));
    let machine = file(SLOW_MEMORY);
    for plan in [&["--engine", "interp"][..], &["--engine", "native"], &["--engine", "native", "--machine", &machine]] {
        for burst in ["1", "64"] {
            let output = bacus().args(["stf", &program, &test, "--burst", burst]).args(plan).output();
            let output = output.expect("bacus runs");
            let said = said(&output);
            assert!(output.status.success(), "{plan:?} burst {burst}: {said}");
        }
    }
}

/// A table may be looked up several times: by one key, with the lookups in one stage, or by several.
#[test]
fn tables_that_are_looked_up_twice_find_what_the_interpreter_finds() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/twice{ending}")).display().to_string();
    let test = file(".stf");
    let plans = [".plan", "_pipelined.plan", "_stages.plan", "_vector.plan"].map(file);
    let planned = plans.iter().map(|plan| ["--plan", plan.as_str()]);
    for plan in planned.chain([["--passes", ""]]) {
        let native = ["--engine", "native", "--burst", "1"];
        let both = ["--trace", &test, "--count", "500", "--random-entries", "10"];
        for engine in [&native[..], &both] {
            let output = bacus().args(["stf", &file(".p4"), &test]).args(engine).args(plan).output();
            let output = output.expect("bacus runs");
            let said = said(&output);
            assert!(output.status.success(), "{plan:?} {engine:?}: {said}");
        }
    }
}

/// Packet by packet, in lists, and in stages; with tables in code, and as the planner has them.
#[test]
fn constant_entries_in_code_are_those_of_the_interpreter() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/constant_entries{ending}")).display().to_string();
    let (program, test) = (file(".p4"), file(".stf"));
    let tables = ["kinds", "prefixes", "rules"].map(|table| format!("  table MyIngress.{table}: code\n")).concat();
    let listed = |table: &str| {
        format!("  loop {table}: batch 32 group 8 {{ prefetch table {table} ahead 8 in own_loop to t0 }}\n")
    };
    let lists = ["MyIngress.rules", "MyIngress.kinds"].map(listed).concat();
    let folder = scratch("constant-entries");
    let written = |name: &str, lines: &str| {
        let file = folder.join(name);
        fs::write(&file, format!("plan {{\n{lines}}}\n")).expect("there is room for a plan");
        file.display().to_string()
    };
    let (alone, lists) = (written("alone.plan", &tables), written("lists.plan", &(lists + &tables)));
    let machine = path(SLOW_MEMORY).display().to_string();
    let planned: [&[&str]; 4] =
        [&["--plan", &alone], &["--plan", &lists], &["--pin", &alone, "--machine", &machine], &[]];
    for plan in planned {
        let code = bacus().args(["compile", &program, "--emit", "c"]).args(plan).output().expect("bacus runs").stdout;
        assert!(String::from_utf8_lossy(&code).contains("rules_code_find("), "{plan:?}");
        for engine in [&["--engine", "interp"][..], &["--engine", "native", "--burst", "64", "--sanitize"]] {
            let output = bacus().args(["stf", &program, &test]).args(engine).args(plan).output().expect("bacus runs");
            let said = said(&output);
            assert!(output.status.success(), "{plan:?} {engine:?}: {said}");
        }
        let both = ["--trace", &test, "--count", "2000", "--random-entries", "10"];
        let output = bacus().args(["stf", &program, &test]).args(both).args(plan).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "{plan:?}: {said}");
    }
}

/// Every structure with random entries, compared with the interpreter.
#[test]
fn every_structure_finds_what_the_interpreter_finds() {
    let program = path("crates/cli/tests/plans/structures.p4").display().to_string();
    let trace = path("apps/l2l3acl/port1.pcap").display().to_string();
    for number in 1..=7 {
        let plan = path(&format!("crates/cli/tests/plans/structures_{number}.plan")).display().to_string();
        let both = [
            "stf",
            &program,
            "--trace",
            &trace,
            "--count",
            "300",
            "--random-entries",
            "25",
            "--plan",
            &plan,
            "--sanitize",
        ];
        let output = bacus().args(both).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "structures_{number}: {said}");
    }
}

/// A structure may have room for fewer entries than requested.
#[test]
fn a_table_that_is_full_gets_no_more_random_entries() {
    let program = path("apps/l2fwd/l2fwd.p4").display().to_string();
    let trace = path("apps/l2l3acl/port1.pcap").display().to_string();
    let plan = scratch("full").join("compare.plan");
    std::fs::write(&plan, "plan {\n  table Bridge.dmac: compare\n}\n").expect("a file can be written");
    let plan = plan.display().to_string();
    let both = ["stf", &program, "--trace", &trace, "--count", "200", "--random-entries", "1000", "--plan", &plan];
    let output = bacus().args(both).output().expect("bacus runs");
    let said = said(&output);
    assert!(output.status.success() && said.contains("both engines agree"), "{said}");
    assert!(said.contains("note: table `Bridge.dmac` is full with 32 random entries"), "{said}");
    assert_eq!(said.matches("is full").count(), 1, "{said}");
}

/// Tables that packets insert into are looked up for a group of packets at once, but each packet finds what older ones of its group have inserted. Their first
/// stage reads a register that only the control plane writes.
#[test]
fn lookups_of_a_group_find_what_its_packets_insert() {
    let program = path("crates/cli/tests/plans/learned.hlir");
    // Of groups of eight packets, many are sent at once, since all have hit; of groups of 64, hardly any.
    let plans = ["learned", "learned_vector"].map(plan_file);
    for (plan, wanted) in [(&plans[0], "path_commit_bulk("), (&plans[1], "register_0_of_lanes(")] {
        let code = bacus().arg("compile").arg(&program).args(["--emit", "c", "--plan", plan]).output();
        let code = code.expect("bacus runs").stdout;
        assert!(String::from_utf8_lossy(&code).contains(wanted), "{plan} without {wanted}");
    }
    let mut text = "register_write sides 1 1\n".to_string();
    let (mut values, mut marks) = (HashMap::new(), HashMap::new());
    for number in 0..2_000_u64 {
        // Most packets are of sources that are known, in most groups some are new.
        let drawn = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        let (source, own, port) = (drawn % (2 + number / 40), drawn / 64 % 5, drawn / 512 % 3);
        let mut destination = 0x0200_0000_0000 + own;
        text += &format!("packet {port} {destination:012x} {source:012x} 0800 0000 {number:08x}\n");
        let note = if values.contains_key(&source) { 0x1111 } else { 0 };
        let value = *values.entry(source).or_insert(own);
        match marks.entry((port == 1, value)) {
            Entry::Occupied(mark) => destination = *mark.get(),
            Entry::Vacant(free) => drop(free.insert(source)),
        }
        text += &format!("expect 1 {destination:012x} {source:012x} 0800 {note:04x} {number:08x}\n");
    }
    let packets = scratch("learned_flows").join("packets.stf");
    fs::write(&packets, text).expect("a file");
    let native = ["--engine", "native", "--sanitize", "--plan"];
    let runs = |arguments: &[&str], plan: Option<&String>| {
        let mut stf = bacus();
        stf.arg("stf").args([&program, &packets]).args(arguments);
        if let Some(plan) = plan {
            stf.args(native).arg(plan);
        }
        let output = stf.output().expect("bacus runs");
        assert!(output.status.success(), "{arguments:?} {plan:?}: {}", String::from_utf8_lossy(&output.stdout));
    };
    runs(&[], None);
    for plan in &plans {
        ["1", "7", "64"].iter().for_each(|burst| runs(&["--burst", burst], Some(plan)));
    }
}

/// Both engines, on packets of a capture under a plan, with random entries.
fn agree_on_entries(program: &str, plan: &str, entries: &str) {
    let file = |name: &str| path(name).display().to_string();
    let both = ["stf", &file(program), "--trace", &file("apps/l2l3acl/port1.pcap"), "--count", "500"];
    let output = bacus().args(both).args(["--random-entries", entries, "--plan", &file(plan), "--sanitize"]).output();
    let output = output.expect("bacus runs");
    let said = said(&output);
    assert!(output.status.success() && said.contains("both engines agree"), "{program}: {said}");
}

/// Two lookups of a stage: a packet that exits between them makes the first one only, and keys whose first line is full are in their second one.
#[test]
fn lookups_of_one_stage_are_counted_and_complete() {
    agree_on_entries(
        "crates/cli/tests/plans/exit_between_lookups.hlir",
        "crates/cli/tests/plans/exit_between_lookups.plan",
        "5",
    );
    agree_on_entries("apps/l2fwd/l2fwd.p4", "crates/cli/tests/plans/l2fwd.plan", "2000");
}

/// Keys are computed in a stage, and the code after the lookup runs in the commit phase: both read a header that is not extracted.
#[test]
fn a_header_that_only_keys_read_has_storage_after_them() {
    agree_on_entries("crates/cli/tests/plans/unextracted.hlir", "crates/cli/tests/plans/unextracted.plan", "5");
}

/// After a deparser, the bytes that a header was extracted from are the packet's new front.
#[test]
fn a_header_written_after_a_deparser_does_not_change_the_packet() {
    agree_on_entries(
        "crates/cli/tests/plans/write_after_deparser.hlir",
        "crates/cli/tests/plans/write_after_deparser.plan",
        "0",
    );
}

/// Copies of a truncated packet as received are whole, and headers keep the bytes after the cut. A write to a header is invisible before a deparser.
#[test]
fn truncated_packets_re_enter_as_received() {
    let file = |name: &str| path(name).display().to_string();
    let (program, packets) =
        (file("crates/cli/tests/plans/truncated.hlir"), file("crates/cli/tests/plans/truncated.stf"));
    let machine = file(SLOW_MEMORY);
    let ran = ["stf", &program, &packets, "--trace", &packets, "--count", "1000", "--random-entries", "5"];
    let behind = plan_file("truncated_pipelined");
    let planned = [&["--machine", machine.as_str(), "--sanitize"][..], &["--plan", &behind, "--sanitize"]];
    for plan in [&["--sanitize"][..], &["--passes", ""]].into_iter().chain(planned) {
        let output = bacus().args(ran).args(plan).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "{plan:?}: {said}");
    }
}

/// A lookup before the cut in vector code: with different keys, and with equal ones.
#[test]
fn a_lookup_before_the_cut_is_part_of_the_key() {
    for plan in ["lookup_before_cut", "lookup_before_cut_16"] {
        for entries in ["5", "25"] {
            agree_on_entries(
                "crates/cli/tests/plans/lookup_before_cut.hlir",
                &format!("crates/cli/tests/plans/{plan}.plan"),
                entries,
            );
        }
    }
}

/// Side exits are processed before the other packets of their group.
#[test]
fn side_exits_overtake_no_packet() {
    agree_on_entries("crates/cli/tests/plans/short_headers.hlir", "crates/cli/tests/plans/short_headers.plan", "3");
}

/// All numbers of 16 bits are ports, also in code that sends a group at once. Wider numbers are no ports, whatever their low bits are.
#[test]
fn ports_of_more_than_16_bits_are_no_ports() {
    let file = |ending: &str| path(&format!("crates/cli/tests/plans/wide_ports.{ending}")).display().to_string();
    for (engine, burst) in [("interp", "1"), ("interp", "64"), ("native", "1"), ("native", "7"), ("native", "64")] {
        let arguments = ["--engine", engine, "--burst", burst, "--plan", &file("plan"), "--sanitize"];
        let output = bacus().args(["stf", &file("hlir"), &file("stf")]).args(arguments).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success(), "{engine}, burst {burst}: {said}");
    }
}

/// Packets whose headers move are sent with the others of their group, and by the port that they named as they arrived.
#[test]
fn packets_whose_headers_move_are_those_of_the_interpreter() {
    let file = |name: &str| path(name).display().to_string();
    let (program, plan) = ("crates/cli/tests/plans/moved_headers.hlir", "crates/cli/tests/plans/moved_headers.plan");
    let both = ["stf", &file(program), "--trace", &file("apps/l2l3acl/port1.pcap"), "--count", "500"];
    for (descriptor, entries) in [("own", "1"), ("own", "40"), ("mbuf", "40")] {
        let planned = ["--descriptor", descriptor, "--random-entries", entries, "--plan", &file(plan), "--sanitize"];
        let output = bacus().args(both).args(planned).output().expect("bacus runs");
        let said = said(&output);
        assert!(output.status.success() && said.contains("both engines agree"), "{descriptor}: {said}");
    }
}

/// What the packet held when it came decides by which port it is sent, though its bytes are written before.
#[test]
fn packets_are_sent_by_the_port_that_they_named() {
    agree_on_entries("crates/cli/tests/plans/port_of_packet.hlir", "crates/cli/tests/plans/port_of_packet.plan", "5");
}

/// Accesses to neighbouring bytes are one, whatever the packets' lengths: each mode on stages that run packet by packet, on
/// vector code, on headers that move, and on frames that are cut at any byte.
#[test]
fn combined_accesses_are_those_of_the_interpreter() {
    let folder = crate::switch::folder("accesses");
    let file = |name: &str| path(name).display().to_string();
    let cases = [
        ("apps/l2l3acl/l2l3acl.p4", "l2l3acl", "own"),
        ("apps/mpls/mpls.p4", "mpls_vector", "own"),
        ("crates/cli/tests/plans/short_headers.hlir", "short_headers", "own"),
        ("crates/cli/tests/plans/moved_headers.hlir", "moved_headers", "mbuf"),
    ];
    let cut = folder.join("cut.stf");
    std::fs::write(&cut, frames_of_each_length()).unwrap();
    for mode in ["pac", "cgpc"] {
        for (program, plan, descriptor) in cases {
            let written = std::fs::read_to_string(path(&format!("crates/cli/tests/plans/{plan}.plan"))).unwrap();
            let own = folder.join(format!("{plan}_{mode}.plan"));
            let written: Vec<&str> = written.lines().filter(|line| !line.contains("descriptor ")).collect();
            let with_mode = written.join("\n").replacen("plan {", &format!("plan {{\n  accesses {mode}"), 1);
            std::fs::write(&own, with_mode).unwrap();
            for packets in [file("apps/l2l3acl/port1.pcap"), cut.display().to_string()] {
                let both = ["stf", &file(program), "--trace", &packets, "--count", "300"];
                let planned = ["--descriptor", descriptor, "--random-entries", "20", "--sanitize"];
                let output = bacus().args(both).args(planned).arg("--plan").arg(&own).output().expect("bacus runs");
                let said = said(&output);
                let agrees = output.status.success() && said.contains("both engines agree");
                assert!(agrees, "{program}, {mode}, {packets}: {said}");
            }
        }
    }
}

/// A labelled and a routed packet, each cut at every byte.
fn frames_of_each_length() -> String {
    let ethernet = "020000000001020000000002";
    let ipv4 = "4500002e00000000401166bd0a0000010a00000212341234001a0000000000000000";
    let frames = [format!("{ethernet}88470001013f0001013f{ipv4}"), format!("{ethernet}0800{ipv4}")];
    let cut = |frame: &String| -> String {
        (1..=frame.len() / 2).map(|bytes| format!("packet 1 {}\n", &frame[..2 * bytes])).collect()
    };
    frames.iter().map(cut).collect()
}
