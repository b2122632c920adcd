//! Runs the blocks of docs/passes: the examples of a page are executed.
//!
//! Inputs: `hlir` is the program of the following blocks, `profile` their traffic, `pins` decisions of the user,
//! `facts` what the tables hold, `vector` the packets per vector and cycles per vector operation. Outputs: `traffic` and `plan PASS…`;
//! `plan-error PASS…` is a plan with its errors. `UPDATE_EXPECT=1 cargo test -p opt --test integration docs::` rewrites the outputs; read the difference
//! before you commit it.

use hlir::text::{parse_file, parse_plan, print_plan, print_program};
use hlir::{Plan, Program, verify};
use opt::analyze::Traffic;
use opt::inputs::Profile;
use opt::inputs::machine::VectorUnit;
use opt::{Inputs, Selection};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A page while it is read.
#[derive(Default)]
struct Page {
    program: Program,
    inputs: Inputs,
    /// The page as it should be.
    text: String,
    checked: usize,
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/passes");
    let files = fs::read_dir(folder).expect("the folder is here").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|ending| ending == "md")).collect();
    files.sort();
    files
}

impl Page {
    fn block(&mut self, info: &str, text: &str) {
        let mut words = info.split_whitespace();
        let kind = words.next().unwrap_or("");
        let passes: Vec<String> = words.map(str::to_string).collect();
        let made = match kind {
            "hlir" => {
                let parsed = parse_file(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
                let complaints = parsed.verify();
                assert!(complaints.is_empty(), "{complaints:#?}");
                (self.program, self.inputs) = (parsed.program, Inputs::default());
                text.to_string()
            }
            "profile" => {
                self.inputs.profile = Some(Profile::parse(text).unwrap_or_else(|error| panic!("{error}")));
                text.to_string()
            }
            "entries" => {
                self.entries(text);
                text.to_string()
            }
            "facts" => {
                let with_facts = format!("{}\n{text}", print_program(&self.program));
                let parsed = parse_file(&with_facts).unwrap_or_else(|errors| panic!("{errors:#?}"));
                self.inputs.facts = parsed.program.assumptions;
                text.to_string()
            }
            "pins" => {
                self.inputs.constraints = parse_plan(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
                text.to_string()
            }
            "vector" => {
                let (packets, cycles) = text.trim().split_once(' ').expect("packets and cycles");
                let packets = packets.parse().expect("a number of packets");
                let operation_cycles = cycles.parse().expect("a number of cycles");
                self.inputs.machine.vector = Some(VectorUnit { packets, operation_cycles });
                text.to_string()
            }
            "traffic" => Traffic::estimate(&self.program, &self.inputs).print(&self.program),
            "plan" => print_plan(&self.planned(passes).1),
            "becomes" => print_program(&self.planned(passes).0),
            _ => text.to_string(),
        };
        self.checked += usize::from(matches!(kind, "traffic" | "plan" | "becomes"));
        self.text.push_str(&made);
    }

    /// A line is `TABLE ENTRIES RECORDS [MASKS]`, or later `TABLE keys FROM..TO` for the keys of its entries.
    fn entries(&mut self, text: &str) {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<u64>().expect("a number");
            let (id, table) =
                self.program.tables.iter().find(|(_, table)| table.name == words[0]).expect("a table's name");
            if words[1] == "keys" {
                let (from, to) = words[2].split_once("..").expect("the first key and the one behind the last");
                let [from, to] = [from, to].map(|key| key.parse::<u64>().expect("a key"));
                let mut keys = opt::inputs::KeySketch::of(&self.program, id).expect("the table's keys are exact");
                (from..to).for_each(|key| keys.add([key]));
                self.inputs.occupancy.keys.insert(words[0].to_string(), keys);
                continue;
            }
            let content = opt::inputs::Content {
                entries: number(1),
                records: number(2),
                masks: words
                    .get(3)
                    .map_or_else(|| opt::inputs::Content::estimated_masks(table, number(1)), |_| number(3)),
                is_known: true,
                ..opt::inputs::Content::default()
            };
            self.inputs.occupancy.tables.insert(words[0].to_string(), content);
        }
    }

    fn planned(&self, passes: Vec<String>) -> (Program, Plan) {
        let (mut program, mut plan) = (self.program.clone(), Plan::default());
        passes.iter().for_each(|pass| assert!(opt::pass(pass).is_some(), "there is no pass `{pass}`"));
        // Whether a join pays is for the model; its page shows what it is.
        let inputs = Inputs { joins: opt::inputs::Joins::All, ..self.inputs.clone() };
        opt::optimize(&mut program, &mut plan, &inputs, &Selection::Only(passes), None);
        let complaints: Vec<_> =
            verify::verify(&program).into_iter().chain(verify::verify_plan(&program, &plan)).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
        (program, plan)
    }
}

#[test]
fn every_pass_has_a_page() {
    let pages = pages();
    let has_page = |name: &str| pages.iter().any(|page| page.file_stem().is_some_and(|stem| stem == name));
    let without: Vec<&str> = opt::PIPELINE.iter().map(|pass| pass.name).filter(|name| !has_page(name)).collect();
    assert!(without.is_empty(), "docs/passes/NAME.md is missing for {without:?}");
}

#[test]
fn examples_of_pages_are_what_passes_do() {
    let mut differ = Vec::new();
    for file in pages() {
        let text = fs::read_to_string(&file).expect("a page is text");
        let mut page = Page::default();
        let mut block: Option<(String, String)> = None;
        for line in text.lines() {
            match (line.strip_prefix("```"), &mut block) {
                (Some(info), None) => {
                    page.text.push_str(&format!("{line}\n"));
                    block = Some((info.to_string(), String::new()));
                }
                (Some(_), Some(_)) => {
                    let (info, inner) = block.take().expect("a block is open");
                    page.block(&info, &inner);
                    page.text.push_str("```\n");
                }
                (None, Some((_, inner))) => inner.push_str(&format!("{line}\n")),
                (None, None) => page.text.push_str(&format!("{line}\n")),
            }
        }
        assert!(page.checked > 0, "{}: nothing is checked", file.display());
        if page.text != text {
            if env::var_os("UPDATE_EXPECT").is_some() {
                fs::write(&file, &page.text).expect("a page can be written");
            }
            differ.push(format!("{} should be\n{}", file.display(), page.text));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
