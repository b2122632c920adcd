//! What joins of tables gain: l2l3acl under every legal set of joins, and the sizes up to which l2fwd's one join pays.
//!
//! Each is measured packet by packet and planned with the papers' data structures, and planned with ours. The model's pick is the set that is joined where
//! nothing is given; without one of these variants, it is `best`, which has no joins.

use super::experiment::{Case, Experiment};
use super::report::{Record, best};
use super::speedup::papers_structures;
use super::sweep;
use hlir::plan::JoinChoice;
use hlir::{Plan, Program};
use opt::inputs::Joins;
use opt::rewrite::join::{candidates, join_tables, made, with_joint_contents};
use opt::{Inputs, Selection};
use std::fmt::Write as _;

/// How the program runs beside its joins. Names of variants begin so; those with joins end in `+join`.
const PACKET: &str = "papers:packet";
const BATCHED: &str = "papers:B";
const PIPELINED: &str = "papers:B+S+P";
/// With our structures: without joins, with some, and with those that the model picks.
const BEST: &str = "best";
const JOINED: &str = "join:";
const PICKED: &str = "pick:";
const WITH: &str = "+join";
/// More sets of joins are not measured.
const MOST_SETS: usize = 32;
/// A pick within this of the best counts as right.
const CLOSE: f64 = 1.03;

/// Which structures tables have, and whether packets go through them in stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    InTurn,
    Batched,
    Pipelined,
    Ours,
}

/// A variant of the experiment.
#[derive(Clone, Debug)]
pub struct Choice {
    pub name: String,
    joins: Vec<JoinChoice>,
    setting: Setting,
}

impl Choice {
    /// Our structures, without joins.
    pub fn best() -> Choice {
        Choice { name: BEST.to_string(), joins: Vec::new(), setting: Setting::Ours }
    }

    /// The program with the joins, its plan, and what both were made for.
    pub fn planned(&self, program: &Program, inputs: &Inputs) -> (Program, Plan, Inputs) {
        let mut inputs = inputs.clone();
        inputs.constraints.joins.clone_from(&self.joins);
        if self.setting != Setting::Ours {
            let mut joined = program.clone();
            opt::optimize(&mut joined, &mut Plan::default(), &inputs, &Selection::All, Some("join"));
            inputs.constraints.tables = papers_structures(&joined);
        }
        let (mut program, mut plan) = (program.clone(), Plan::default());
        opt::optimize(&mut program, &mut plan, &inputs, &Selection::All, None);
        match self.setting {
            Setting::InTurn => plan = plan.packet_by_packet(),
            Setting::Batched => {
                let staged = Plan { tables: plan.tables.clone(), ..sweep::staged(&program, &inputs) };
                let group = staged.loops.iter().map(|stage| stage.group).min().unwrap_or(1);
                plan = sweep::placed(&staged, group, None);
            }
            Setting::Pipelined | Setting::Ours => {}
        }
        let inputs = with_joint_contents(&program, &inputs);
        (program, plan, inputs)
    }
}

/// The variants of a program, beside `plain` and `best`. Of joins that do not fit in memory there are none.
pub fn choices(program: &Program, inputs: &Inputs) -> Vec<Choice> {
    let sets = legal_sets(program, inputs);
    let mut choices = with_and_without(&sets, &[(PACKET, Setting::InTurn), (PIPELINED, Setting::Pipelined)]);
    let choice = |name: String, joins: &[JoinChoice], setting| Choice { name, joins: joins.to_vec(), setting };
    let mut ours: Vec<Choice> =
        sets.all.iter().map(|(name, joins)| choice(format!("{JOINED}{name}"), joins, Setting::Ours)).collect();
    let picked = format!("{JOINED}{}", picked(program, inputs));
    if let Some(picked) = ours.iter_mut().find(|choice| choice.name == picked) {
        picked.name = picked.name.replace(JOINED, PICKED);
    }
    choices.extend(ours);
    choices
}

/// On the papers' structures: packet by packet, batched, and prefetched as well, each without joins and with all that are legal.
pub fn transformations(program: &Program, inputs: &Inputs) -> Vec<Choice> {
    let settings = [(PACKET, Setting::InTurn), (BATCHED, Setting::Batched), (PIPELINED, Setting::Pipelined)];
    with_and_without(&legal_sets(program, inputs), &settings)
}

/// Sets of joins by name, and that of all joins if it fits.
struct Sets {
    all: Vec<(String, Vec<JoinChoice>)>,
    everything: Option<Vec<JoinChoice>>,
}

fn legal_sets(program: &Program, inputs: &Inputs) -> Sets {
    let mut rewritten = program.clone();
    opt::optimize(&mut rewritten, &mut Plan::default(), inputs, &Selection::Only(before_joins()), None);
    let all = sets(&rewritten, inputs);
    join_tables(&mut rewritten, &Inputs { joins: Joins::All, ..inputs.clone() });
    let name = name_of(&rewritten);
    let everything = all.iter().find(|(other, _)| *other == name).map(|(_, joins)| joins.clone());
    Sets { all, everything }
}

fn with_and_without(sets: &Sets, settings: &[(&str, Setting)]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (name, setting) in settings {
        choices.push(Choice { name: name.to_string(), joins: Vec::new(), setting: *setting });
        let joined =
            |joins: &Vec<JoinChoice>| Choice { name: format!("{name}{WITH}"), joins: joins.clone(), setting: *setting };
        choices.extend(sets.everything.iter().map(joined));
    }
    choices
}

/// The name of the set that the model chooses.
fn picked(program: &Program, inputs: &Inputs) -> String {
    let mut program = program.clone();
    let inputs = Inputs { joins: Joins::Chosen, ..inputs.clone() };
    opt::optimize(&mut program, &mut Plan::default(), &inputs, &Selection::All, Some("join"));
    name_of(&program)
}

/// The passes before joins.
fn before_joins() -> Vec<String> {
    opt::PIPELINE.iter().map(|pass| pass.name.to_string()).take_while(|name| name != "join").collect()
}

/// All legal sets of joins whose entries fit, by name, the smallest first.
fn sets(program: &Program, inputs: &Inputs) -> Vec<(String, Vec<JoinChoice>)> {
    let mut sets: Vec<(String, Vec<JoinChoice>)> = Vec::new();
    let mut waiting = vec![program.clone()];
    while let Some(program) = waiting.pop() {
        for candidate in candidates(&program, inputs) {
            let joined = candidate.joined(&program);
            let fits = candidate.entries <= candidate.limit;
            let name = name_of(&joined);
            if fits && sets.len() < MOST_SETS && sets.iter().all(|(other, _)| *other != name) {
                sets.push((name, made(&joined)));
                waiting.push(joined);
            }
        }
    }
    sets.sort_by_key(|(name, joins)| (joins.len(), name.clone()));
    sets
}

/// The joint tables that are no sources themselves, in an order of their own: `[a+b][c+d]`; `[a>b]` for a value join.
fn name_of(program: &Program) -> String {
    let is_source = |table| program.joins.iter().any(|join| join.first == table || join.second == table);
    let last = program.joins.iter().map(|join| join.table).filter(|table| !is_source(*table));
    let short = |name: &str| name.rsplit('.').next().unwrap_or_default().to_string();
    let by_value = |name: &str| name.split('>').map(short).collect::<Vec<_>>().join(">");
    let name = |name: &str| format!("[{}]", name.split('+').map(by_value).collect::<Vec<_>>().join("+"));
    let mut names: Vec<String> = last.map(|table| name(&program.tables[table].name)).collect();
    names.sort();
    names.concat()
}

fn is_of_experiment(record: &Record) -> bool {
    matches!(record.case.experiment, Experiment::Join | Experiment::JoinSweep)
}

/// Whether a record is of our structures, with joins or without.
fn is_ours(record: &Record) -> bool {
    record.variant == BEST || record.variant.starts_with(JOINED) || record.variant.starts_with(PICKED)
}

/// The cases of the experiment that were measured.
fn cases(records: &[Record]) -> Vec<&Case> {
    let mut cases: Vec<&Case> = Vec::new();
    for record in records.iter().filter(|record| is_of_experiment(record)) {
        if !cases.contains(&&record.case) {
            cases.push(&record.case);
        }
    }
    cases
}

/// What joins gain in each case, whether the pick is close to the best, and where a join ceases to pay.
pub fn table(records: &[Record]) -> String {
    let mut text = String::new();
    for case in cases(records) {
        block(&mut text, records, case);
    }
    text + &crossings(records)
}

fn block(text: &mut String, records: &[Record], case: &Case) {
    let of_case: Vec<&Record> = records.iter().filter(|record| record.case == *case).collect();
    let find = |name: &str| of_case.iter().find(|record| record.variant == name).copied();
    let plain = of_case.first().and_then(|first| best(records, first, |other| other.variant == "plain"));
    let _ = writeln!(
        text,
        "\njoins of {}, {} entries\n{:<44} {:>8} {:>8} {:>9} {:>9} {:>8}",
        case.application, case.size, "variant", "lookups", "cycles", "predicted", "speedup", "of S+P"
    );
    for record in &of_case {
        if record.variant == "plain" && plain.is_some_and(|plain| plain.burst != record.burst) {
            continue;
        }
        let separate = find(if is_ours(record) { BEST } else { record.variant.trim_end_matches(WITH) });
        let number = |value: Option<f64>, digits| value.map_or("-".to_string(), |value| format!("{value:.digits$}"));
        let _ = writeln!(
            text,
            "{:<44} {:>8} {:>8.1} {:>9} {:>9} {:>8}",
            record.variant,
            number(record.lookups, 2),
            record.cycles,
            number(record.predicted, 1),
            number(plain.map(|plain| plain.cycles / record.cycles), 2),
            number(separate.map(|separate| record.cycles / separate.cycles), 3),
        );
    }
    pick(text, &of_case);
}

/// The model's pick beside the best set of joins, and beside none.
fn pick(text: &mut String, of_case: &[&Record]) {
    let ours = || of_case.iter().filter(|record| is_ours(record));
    let least = ours().min_by(|one, other| one.cycles.total_cmp(&other.cycles));
    let none = ours().find(|record| record.variant == BEST);
    let picked = ours().find(|record| record.variant.starts_with(PICKED)).or(none);
    let (Some(least), Some(none), Some(picked)) = (least, none, picked) else { return };
    let (of_best, of_none) = (picked.cycles / least.cycles, picked.cycles / none.cycles);
    let verdict = if of_best <= CLOSE { "within" } else { "not within" };
    let _ = writeln!(
        text,
        "pick {}: {of_none:.3} of no joins, {of_best:.3} of the best of {} sets ({}), {verdict} {:.0} %",
        picked.variant,
        ours().count(),
        least.variant,
        (CLOSE - 1.0) * 100.0
    );
}

/// A plan of l2fwd: its name, and its variants without and with the join.
pub const WAYS: [(&str, &str, &str); 3] = [
    ("papers, packet by packet", PACKET, "papers:packet+join"),
    ("papers, B+S+P", PIPELINED, "papers:B+S+P+join"),
    ("ours", BEST, "[smac+dmac]"),
];

/// Cycles over entries: measured and predicted.
type Curve = Vec<(f64, f64, Option<f64>)>;

/// The points of a variant in the sweep, by entries.
fn curve(records: &[Record], variant: &str) -> Curve {
    let point = |record: &Record| (record.case.size as f64, record.cycles, record.committed.or(record.predicted));
    rows_of(records, variant).into_iter().map(point).collect()
}

/// The records of a variant in the sweep, by entries.
pub fn rows_of<'r>(records: &'r [Record], variant: &str) -> Vec<&'r Record> {
    let is_it = |record: &&Record| {
        let name = record.variant.trim_start_matches(JOINED).trim_start_matches(PICKED);
        is_of_experiment(record) && record.case.application == "l2fwd" && name == variant
    };
    let mut rows: Vec<&Record> = records.iter().filter(is_it).collect();
    rows.sort_by_key(|record| record.case.size);
    rows
}

/// Entries up to which the join pays, of each plan: measured and predicted, 0 for never, and the largest that was measured for no end.
pub fn paying(records: &[Record]) -> Vec<(&'static str, f64, f64)> {
    let entries = |pays: Pays| match pays {
        Pays::Never => 0.0,
        Pays::UpTo(entries) | Pays::Throughout(entries) => entries,
    };
    let of = |(name, without, with): (&'static str, &str, &str)| {
        let [measured, predicted] = ratios(records, without, with);
        (!measured.is_empty()).then(|| (name, entries(pays(&measured)), entries(pays(&predicted))))
    };
    WAYS.into_iter().filter_map(of).collect()
}

/// Up to how many entries a join pays.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pays {
    Never,
    UpTo(f64),
    /// At all sizes that were measured, of which this is the largest.
    Throughout(f64),
}

/// The last size at which the join costs no more, by logarithms between the sizes beside it.
fn pays(ratios: &[(f64, f64)]) -> Pays {
    let Some(last) = ratios.iter().rposition(|(_, ratio)| *ratio <= 1.0) else { return Pays::Never };
    let (entries, ratio) = ratios[last];
    let Some((next, above)) = ratios.get(last + 1) else { return Pays::Throughout(entries) };
    let part = -ratio.ln() / (above.ln() - ratio.ln());
    Pays::UpTo((entries.ln() + (next.ln() - entries.ln()) * part).exp())
}

impl Pays {
    fn entries(self) -> Option<f64> {
        if let Pays::UpTo(entries) = self { Some(entries) } else { None }
    }

    fn words(self) -> String {
        match self {
            Pays::Never => "never".to_string(),
            Pays::UpTo(entries) => format!("{entries:.0}"),
            Pays::Throughout(entries) => format!(">= {entries:.0}"),
        }
    }
}

/// With the join of without, by entries: measured and predicted.
fn ratios(records: &[Record], without: &str, with: &str) -> [Vec<(f64, f64)>; 2] {
    let (without, with) = (curve(records, without), curve(records, with));
    let mut ratios = [Vec::new(), Vec::new()];
    for (entries, cycles, predicted) in with {
        let Some((_, separate, expected)) = without.iter().find(|(size, ..)| *size == entries) else { continue };
        ratios[0].push((entries, cycles / separate));
        ratios[1].extend(predicted.zip(*expected).map(|(joined, separate)| (entries, joined / separate)));
    }
    ratios
}

fn crossings(records: &[Record]) -> String {
    let mut text = String::new();
    for (name, without, with) in WAYS {
        let ratios = ratios(records, without, with);
        if ratios[0].is_empty() {
            continue;
        }
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\nentries of l2fwd's tables up to which their join pays\n{:<26} {:>10} {:>10} {:>8}",
                "", "measured", "predicted", "ratio"
            );
        }
        let [measured, predicted] = ratios.map(|ratios| pays(&ratios));
        let both = measured.entries().zip(predicted.entries());
        let apart = both.map_or("-".to_string(), |(one, other)| format!("{:.2}", other / one));
        let _ = writeln!(text, "{name:<26} {:>10} {:>10} {apart:>8}", measured.words(), predicted.words());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic;

    fn row(application: &str, size: u64, variant: &str, (cycles, predicted): (f64, f64)) -> Record {
        Record {
            case: Case { application: application.into(), size, experiment: Experiment::Join },
            traffic: traffic::Traffic::Uniform,
            variant: variant.into(),
            burst: 64,
            cycles,
            lookups: Some(if variant.contains("join") { 1.0 } else { 2.0 }),
            accesses: None,
            floor: 6.0,
            limit: 6.0,
            spread: 0.0,
            predicted: Some(predicted),
            committed: Some(predicted),
            mpps: 0.0,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "gcc".into(),
            processes: 1,
        }
    }

    #[test]
    fn a_join_pays_up_to_where_both_curves_cross() {
        let rows: Vec<Record> = [(16, 10.0, 10.0), (64, 20.0, 10.0), (256, 40.0, 40.0)]
            .into_iter()
            .flat_map(|(size, joined, predicted)| {
                [
                    row("l2fwd", size, "papers:B+S+P", (20.0, 20.0)),
                    row("l2fwd", size, "papers:B+S+P+join", (joined, predicted)),
                ]
            })
            .collect();
        let text = table(&rows);
        let line = text.lines().find(|line| line.starts_with("papers, B+S+P")).expect("a line for each plan");
        // Measured at 64 itself, predicted in the middle between 64 and 256.
        assert!(line.split_whitespace().collect::<Vec<_>>().ends_with(&["64", "128", "2.00"]), "{text}");
        let of_plan = paying(&rows);
        assert_eq!((of_plan[0].0, of_plan[0].1.round(), of_plan[0].2.round()), ("papers, B+S+P", 64.0, 128.0));
        assert!(table(&[]).is_empty() && paying(&[]).is_empty());
        assert_eq!(pays(&[(16.0, 1.1)]), Pays::Never);
        assert_eq!(pays(&[(16.0, 0.9)]), Pays::Throughout(16.0));
    }

    #[test]
    fn a_pick_is_compared_with_all_sets_of_joins() {
        let rows = [
            row("l2l3acl", 4, "plain", (100.0, 100.0)),
            row("l2l3acl", 4, "best", (50.0, 50.0)),
            row("l2l3acl", 4, "join:[a+b]", (40.0, 42.0)),
            row("l2l3acl", 4, "pick:[c+d]", (44.0, 41.0)),
        ];
        let text = table(&rows);
        assert!(
            text.contains(
                "pick pick:[c+d]: 0.880 of no joins, 1.100 of the best of 3 sets (join:[a+b]), not within 3 %"
            ),
            "{text}"
        );
        let joined = text.lines().find(|line| line.starts_with("join:[a+b]")).expect("a line a variant");
        assert!(joined.split_whitespace().eq(["join:[a+b]", "1.00", "40.0", "42.0", "2.50", "0.800"]), "{joined}");
        // Without a set that is predicted to cost less, the pick is to join nothing.
        assert!(table(&rows[..3]).contains("pick best: 1.000 of no joins, 1.250 of the best of 2 sets"), "{text}");
    }
}
