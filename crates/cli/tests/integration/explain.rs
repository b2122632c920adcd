//! What is planned by default: explained, correct, and robust against machine files that are none.

use crate::command::{bacus, path};
use std::fs;

fn app(name: &str, ending: &str) -> String {
    path(&format!("apps/{name}/{name}.{ending}")).display().to_string()
}

fn run(arguments: &[&str]) -> (bool, String, String) {
    let output = bacus().args(arguments).output().expect("bacus runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn explanations_have_traffic_decisions_and_costs_in_every_form() {
    let program = app("l2l3acl", "p4");
    let (is_good, text, errors) = run(&["explain", &program, "--entries", "gen:routes:100000:1", "--all"]);
    assert!(is_good, "{errors}");
    for part in
        ["cycles per packet: ", "structure of Switch.routes  ", "(against ", "Switch.routes ", " -> Switch.if_293"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let (_, json, _) = run(&["explain", &program, "--json"]);
    assert!(
        json.starts_with("{\n\"program\": \"l2l3acl\"") && json.contains("\"alternatives\": [{\"name\": "),
        "{json}"
    );
    let (_, html, _) = run(&["explain", &program, "--html"]);
    assert!(html.contains("<svg ") && html.contains("</html>") && html.contains("Switch.routes"), "{html}");
    let why = "All other predictions are for the machine as measured.";
    for (form, heading) in [(&text, "\ndecisions"), (&html, "<h2>Decisions</h2>")] {
        let behind = form.split_once(heading).map_or("", |(_, behind)| behind);
        assert!(
            behind.contains(why),
            "costs of decisions are not predictions for this machine, which it does not state:\n{form}"
        );
    }
}

/// What is explained as JSON, and the same for people.
fn explained(arguments: &[&str]) -> (serde_json::Value, String) {
    let of_form = |form: &[&str]| {
        let (is_good, report, errors) = run(&[&["explain"], arguments, form].concat());
        assert!(is_good, "{arguments:?}: {errors}");
        report
    };
    let json = of_form(&["--json"]);
    (serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}")), of_form(&["--all"]))
}

/// What was chosen, by what there was to choose.
fn chosen(report: &serde_json::Value, what: &str) -> String {
    let decisions = report["decisions"].as_array().unwrap_or_else(|| panic!("no decisions: {report}"));
    let decision = decisions.iter().find(|decision| decision["what"] == what);
    decision
        .and_then(|decision| decision["chosen"].as_str())
        .unwrap_or_else(|| panic!("no {what}: {report}"))
        .to_string()
}

/// The plan of an explanation, as a file has it.
fn plan_of(report: &serde_json::Value) -> hlir::Plan {
    let text = report["plan"].as_str().unwrap_or_else(|| panic!("no plan: {report}"));
    let plan = hlir::text::parse_plan(text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    assert_eq!(hlir::text::print_plan(&plan), text);
    plan
}

#[test]
fn vector_code_is_explained_and_in_the_plan() {
    let slow = path("tests/machines/slow-memory.toml").display().to_string();
    let program = app("ipv4fwd", "p4");
    for (without, lanes, words) in [(&[][..], 8, ", vectors of 8"), (&["--without", "vector"], 1, "")] {
        let (report, text) = explained(&[&[program.as_str(), "--machine", &slow], without].concat());
        let plan = plan_of(&report);
        let [stage] = &plan.loops[..] else { panic!("one stage: {report}") };
        assert_eq!(stage.vector, lanes);
        let words = format!("a stage, groups of {} packets{words}", stage.group);
        assert_eq!(chosen(&report, &format!("lookup at {}", stage.node)), words);
        assert!(text.contains(&format!("  {words}  ")), "{text}");
        let nodes = plan.hot_path.map_or(0, |path| path.nodes.len());
        assert_eq!(chosen(&report, "hot path"), format!("{nodes} nodes in stages"));
        // Vector code reads rows of 16 bytes.
        let bytes = chosen(&report, "bytes of packets, stage 0");
        assert!(bytes.starts_with("base: ") && bytes.ends_with(", no store"), "{bytes}");
        assert_eq!(lanes > 1, bytes.starts_with("base: 2 reads of 32 bytes"), "{bytes}");
    }
}

#[test]
fn a_plan_without_stages_is_said_to_be_packet_by_packet() {
    let (report, text) = explained(&[&app("l2fwd", "p4"), "--passes", "structures"]);
    assert_eq!(chosen(&report, "hot path"), "packet by packet");
    let plan = plan_of(&report);
    assert!(plan.hot_path.is_none() && plan.loops.is_empty() && !plan.tables.is_empty(), "{report}");
    let line = text.lines().find(|line| line.starts_with("  hot path "));
    assert!(line.is_some_and(|line| line.ends_with("  packet by packet")), "{text}");
    // The tables of this plan are not those of the plain program, which has a name of its own.
    assert_eq!(text.matches("; the plain program ").count(), 1, "{text}");
}

/// What `acl.p4` has is there only so that the program has more nodes, tables and pairs than a screen has lines.
fn large_program() -> String {
    let table = |number: u32| {
        format!(
            "    action a{number}(bit<8> x) {{ m.f{number} = x; }}\n    table t{number} {{ key = {{ h.h.k{number}: exact; }} \
             actions = {{ a{number}; }} size = 1024; }}\n"
        )
    };
    let all = |each: &dyn Fn(u32) -> String| (0..30).map(each).collect::<String>();
    format!(
        "#include <v1model.p4>\nheader h_t {{ {} }}\nstruct hs {{ h_t h; }}\nstruct ms {{ {} }}\n\
         parser P(packet_in p, out hs h, inout ms m, inout standard_metadata_t s) {{ state start {{ p.extract(h.h); transition accept; }} }}\n\
         control V(inout hs h, inout ms m) {{ apply {{ }} }}\n\
         # 40 \" .. / acl . p4 \"\n\
         control I(inout hs h, inout ms m, inout standard_metadata_t s) {{\n{}    apply {{\n{}        s.egress_spec = (bit<9>)(m.f0 ^ m.f29);\n    }}\n}}\n\
         control E(inout hs h, inout ms m, inout standard_metadata_t s) {{ apply {{ }} }}\n\
         control D(packet_out p, in hs h) {{ apply {{ p.emit(h.h); }} }}\nV1Switch(P(), V(), I(), E(), V(), D()) main;\n",
        all(&|number| format!("bit<32> k{number}; ")),
        all(&|number| format!("bit<8> f{number}; ")),
        all(&table),
        all(&|number| format!("        if (m.f{number} == 0) {{ t{number}.apply(); }}\n")),
    )
}

/// However large the program is, what is printed first fits a screen; all the rest comes with `--all`.
#[test]
fn a_large_program_is_explained_on_one_screen() {
    let file = std::env::temp_dir().join(format!("bacus-{}-large.p4", std::process::id()));
    fs::write(&file, large_program()).expect("a file can be written");
    let program = file.display().to_string();
    let (is_good, summary, errors) = run(&["explain", &program]);
    let (_, all, _) = run(&["explain", &program, "--all"]);
    let (_, page, _) = run(&["explain", &program, "--html"]);
    let _ = fs::remove_file(&file);
    assert!(is_good, "{errors}");
    assert!(summary.lines().count() <= 48 && all.lines().count() > 150, "{summary}\n----\n{all}");
    assert!(all.starts_with(summary.trim_end()), "--all begins with the summary: {summary}\n----\n{all}");
    for part in ["cycles per packet: ", "30 tables as many as declared", "most expensive nodes, 10 of ", "acl.p4:"] {
        assert!(summary.contains(part), "no `{part}` in\n{summary}");
    }
    assert!(!summary.contains("refused: ") && all.contains("refused: "), "{summary}\n----\n{all}");
    let rows = summary.lines().skip_while(|line| !line.starts_with("most expensive nodes")).skip(2).take(10);
    let cycles: Vec<f64> =
        rows.filter_map(|line| line.split_whitespace().last().and_then(|word| word.parse().ok())).collect();
    assert!(cycles.len() == 10 && cycles.is_sorted_by(|one, other| one >= other), "{summary}");
    // The prediction without entries is below the one with full tables.
    let number = |before: &str, behind: &str| {
        let found = summary.split_once(before).and_then(|(_, rest)| rest.split_once(behind));
        found.and_then(|(number, _)| number.parse::<f64>().ok()).unwrap_or_else(|| panic!("{before}: {summary}"))
    };
    assert!(number("is not counted: ", " cycles") < number("cycles per packet: ", " predicted"), "{summary}");
    assert!(page.contains("30 tables as many as declared") && page.contains("acl.p4<wbr>:"), "{page}");
    for part in ["aria-sort=\"descending\"", "<small class=\"at\">acl.p4<wbr>:", "prefers-color-scheme:dark"] {
        assert!(page.contains(part), "no `{part}` in\n{page}");
    }
    assert!(page.contains("<tr class=\" minor\">") || page.contains("<tr class=\"minor\">"), "{page}");
    let rows = page.split("<tbody>").nth(1).and_then(|rows| rows.split("</tbody>").next()).unwrap_or_default();
    let cycles: Vec<f64> =
        rows.lines().filter_map(|row| row.rsplit_once("data-value=\"")?.1.split('"').next()?.parse().ok()).collect();
    assert!(
        cycles.len() > 30 && cycles.is_sorted_by(|one, other| one >= other),
        "the page begins with the cheap: {rows}"
    );
}

/// What stages spare may be more than what they cost. What a node costs is never less than nothing.
#[test]
fn costs_below_zero_are_those_of_stages_and_explained() {
    let slow = path("tests/machines/slow-memory.toml").display().to_string();
    let genoa = path("machines/epyc-genoa.toml").display().to_string();
    let mut spared = 0;
    for machine in [&slow, &genoa] {
        for name in ["l2fwd", "ipv4fwd", "ipv6fwd", "l2l3acl"] {
            let (report, text) = explained(&[&app(name, "p4"), "--machine", machine]);
            for node in report["nodes"].as_array().unwrap_or_else(|| panic!("no nodes: {report}")) {
                for part in ["issue", "memory", "mispredicted"] {
                    let cycles = node[part].as_f64().unwrap_or_else(|| panic!("no {part}: {node}"));
                    assert!(cycles > -0.005, "{name} on {machine}: {node}");
                }
            }
            let is_less = report["staging"]["predicted"].as_f64().is_some_and(|cycles| cycles < 0.0);
            spared += usize::from(is_less);
            assert_eq!(
                text.contains("\nStages are predicted to save more cycles in the nodes"),
                is_less,
                "{name}: {text}"
            );
        }
    }
    assert!(spared > 0);
}

/// The share of the packets that come to a table's lookup, and whether a stage looks it up, as `bacus explain` reports for the program under hints.
fn share_and_stage(hints: &[&str], table: &str) -> (f64, bool) {
    let slow = path("tests/machines/slow-memory.toml").display().to_string();
    let program = path("crates/cli/tests/explain/hints.p4").display().to_string();
    let defined: Vec<String> = hints.iter().map(|hint| format!("-D{hint}")).collect();
    let mut arguments = vec!["explain", &program, "--json", "--machine", &slow];
    arguments.extend(defined.iter().map(String::as_str));
    let (is_good, json, errors) = run(&arguments);
    assert!(is_good, "{hints:?}: {errors}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let rows = |part: &str| report[part].as_array().cloned().unwrap_or_default();
    let node = rows("nodes").into_iter().find(|node| node["name"] == table);
    let share = node.and_then(|node| node["share"].as_f64()).unwrap_or_else(|| panic!("no {table} in {json}"));
    let staged = format!("lines of {table}");
    (share, rows("decisions").iter().any(|decision| decision["what"] == staged.as_str()))
}

/// An annotation of a parser's state, an action and a table, each once: it moves the traffic, and the stages go with it.
#[test]
fn what_a_programmer_says_about_traffic_is_planned_for() {
    let four = "SIX=@unlikely";
    let six = "SIX=@likely";
    // The hints, the table that has most traffic by them and is looked up in a stage, and one that is not.
    let cases: [(&[&str], &str, &str); 6] = [
        (&[four], "Hints.sides", "Hints.known"),
        (&[six], "Hints.known", "Hints.sides"),
        (&[four, "OUTSIDE=@unlikely"], "Hints.near", "Hints.far"),
        (&[four, "OUTSIDE=@traffic(0.9)"], "Hints.far", "Hints.near"),
        (&[six, "KNOWN=@likely"], "Hints.routes", "Hints.strangers"),
        (&[six, "KNOWN=@traffic(0.1)"], "Hints.strangers", "Hints.routes"),
    ];
    for (hints, expected, rare) in cases {
        let (much, little) = (share_and_stage(hints, expected), share_and_stage(hints, rare));
        assert!(much.0 > 0.7 && little.0 < 0.15, "{hints:?}: {expected} {much:?}, {rare} {little:?}");
        assert!(much.1 && !little.1, "{hints:?}: {expected} {much:?}, {rare} {little:?}");
    }
    let nothing = share_and_stage(&[], "Hints.known");
    assert!(
        nothing.0 < 0.6 && !nothing.1,
        "without a hint the families are as likely, and the first is taken: {nothing:?}"
    );
}

/// Under a plan in stages every node is measured as well, and the parts are the whole.
#[test]
fn what_is_measured_under_a_plan_is_the_sum_of_its_nodes() {
    let slow = path("crates/cli/tests/plans/slow.toml").display().to_string();
    let program = app("l2fwd", "p4");
    let entries = ["--entries", "gen:dmac:100000:1"];
    let arguments = ["explain", &program, "--measure", "--json", "--machine", &slow, entries[0], entries[1]];
    let (is_good, json, errors) = run(&arguments);
    assert!(is_good && json.contains("\"on_path\": true"), "{errors}{json}");
    assert_eq!(errors.matches("warning: ").count(), 1, "{errors}");
    let number = |after: &str| -> f64 {
        let rest = json.split_once(after).unwrap_or_else(|| panic!("no {after} in {json}")).1;
        let rest = rest.split_once("\"measured\": ").unwrap_or_else(|| panic!("nothing measured in {json}")).1;
        rest.split([',', '}']).next().and_then(|word| word.trim().parse().ok()).unwrap_or_else(|| panic!("{json}"))
    };
    let nodes: f64 = json
        .split("\"name\": ")
        .filter(|part| part.contains("\"mispredicted\""))
        .map(|part| {
            let rest = part.split_once("\"measured\": ").expect("a node is measured").1;
            rest.split(',').next().and_then(|word| word.parse::<f64>().ok()).expect("by a number")
        })
        .sum();
    let (all, floor, staging) = (number("\"cycles\": "), number("\"floor\": "), number("\"staging\": "));
    assert!((nodes + floor + staging - all).abs() < all * 0.02 && nodes > 0.0, "{nodes} {floor} {staging}: {json}");
    assert!(json.contains("machine file: ") && json.contains("packets of "), "{json}");
}

#[test]
fn machine_files_that_do_not_fit_are_warned_about() {
    let whole = fs::read_to_string(path("machines/epyc-genoa.toml")).expect("the file can be read");
    let absurd = |line: &str| if line.starts_with("parallelism = ") { "parallelism = 0" } else { line }.to_string();
    let absurd = whole.lines().map(absurd).collect::<Vec<String>>().join("\n");
    assert_ne!(absurd, whole.trim_end());
    let lines_but = |word: &str| whole.lines().filter(|line| !line.starts_with(word)).collect::<Vec<&str>>().join("\n");
    let cases = [
        ("missing", "such file", None),
        ("truncated", "toml: line ", Some(whole[..whole.len() / 3].to_string())),
        ("absurd", "parallelism: expected a number from 1", Some(absurd)),
        ("stale", "plans are for Another", Some(whole.replace("cpu = \"", "cpu = \"Another "))),
        ("another method", "which had another method", Some(format!("method = 1\n{}", lines_but("method = ")))),
    ];
    for (name, why, text) in cases {
        let file = std::env::temp_dir().join(format!("bacus-{}-{name}.toml", std::process::id()));
        if let Some(text) = &text {
            fs::write(&file, text).expect("a file can be written");
        }
        let file_name = file.display().to_string();
        let (is_good, plan, errors) = run(&["show", &app("l2fwd", "p4"), "--after", "all", "--machine", &file_name]);
        assert!(is_good && plan.contains("plan {"), "{name}: {errors}");
        let warned = errors.contains("warning: ") && errors.contains(&file_name) && errors.contains(why);
        assert!(warned, "{name}: {errors}");
        assert!(errors.lines().all(|line| line.len() < 300), "{name}: {errors}");
        let _ = fs::remove_file(&file);
    }
}

#[test]
fn a_pinned_decision_is_kept_and_a_wrong_one_is_shown_at_its_place() {
    let file = std::env::temp_dir().join(format!("bacus-{}-pins.plan", std::process::id()));
    let name = file.display().to_string();
    fs::write(&file, "plan {\n  table Router.routes: lpm_trie\n}\n").expect("a file can be written");
    let (is_good, plan, errors) = run(&["show", &app("ipv4fwd", "p4"), "--after", "all", "--pin", &name]);
    assert!(is_good && plan.contains("table Router.routes: lpm_trie\n") && plan.contains("  burst "), "{errors}{plan}");
    fs::write(&file, "plan {\n  burst 32\n  table Router.routes: exact\n}\n").expect("a file can be written");
    for flag in ["--pin", "--plan"] {
        let (is_good, _, errors) = run(&["compile", &app("ipv4fwd", "p4"), "--emit", "c", flag, &name]);
        assert!(!is_good && errors.contains("pins.plan(3)") && errors.contains("does not suit"), "{flag}: {errors}");
    }
    let _ = fs::remove_file(&file);
}

/// On a machine with memory as slow as that, every application is planned in stages as far as that is legal.
fn sends_what_the_interpreter_sends(name: &str) {
    let slow = path("crates/cli/tests/plans/slow.toml").display().to_string();
    let (program, test) = (app(name, "p4"), app(name, "stf"));
    for burst in ["7", "64"] {
        let run = run(&["stf", &program, &test, "--engine", "native", "--burst", burst, "--machine", &slow]);
        assert!(run.0, "{name}, burst {burst}: {}{}", run.1, run.2);
    }
    let (is_good, said, errors) =
        run(&["stf", &program, &test, "--trace", &test, "--count", "1000", "--machine", &slow]);
    assert!(is_good && said.contains("both engines agree"), "{name}: {said}{errors}");
}

macro_rules! applications {
    ($($name:ident)*) => {
        mod planned_stages_send_what_the_interpreter_sends {
            $(#[test] fn $name() { super::sends_what_the_interpreter_sends(stringify!($name)); })*
        }
    };
}

applications! { l2fwd ipv4fwd ipv6fwd l2l3acl mpls firewall l2switch }

/// The drawing has every node, and on every edge its share; what an `if` decides has its line. It is planned for what `bacus run` does.
#[test]
fn a_page_shows_the_whole_graph_with_shares_and_lines() {
    let (report, text) = explained(&[&app("l2l3acl", "p4")]);
    assert!(text.contains("bursts of 32, descriptor mbuf, as `bacus run` does"), "{text}");
    let (is_good, page, errors) = run(&["explain", &app("l2l3acl", "p4"), "--html"]);
    assert!(is_good, "{errors}");
    let nodes = report["nodes"].as_array().expect("there are nodes");
    let edges: usize = nodes.iter().filter_map(|node| node["onward"].as_array()).map(Vec::len).sum();
    assert_eq!(page.matches("<text class=\"halo\"").count(), edges, "a label on a halo for each edge");
    assert_eq!(page.matches("<g class=\"").count(), nodes.len(), "a box a node");
    assert!(edges > nodes.len() && !page.contains("max-height"), "no row is behind a scroll bar");
    for node in nodes.iter().filter(|node| node["kind"] == "branch") {
        assert!(node["place"].as_str().is_some_and(|place| place.starts_with("l2l3acl.p4:")), "{node}");
    }
}
