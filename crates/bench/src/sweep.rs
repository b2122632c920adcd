//! Every plan of a grid around the model's pick, and how far the pick is from the best of them.
//!
//! For each burst: the structures of the largest table that the model ranks first and second, four group sizes, and three placements of
//! prefetches for lines. What leads to the first lookup is run in lanes where the model wants it so; of the largest groups there are plans
//! with the opposite. The pick is what the planners choose for that burst.

use super::experiment::Case;
use super::report::Record;
use hlir::plan::{Access, Descriptor, Hint, Placement, Prefetch, StageLookup, Structure, TablePlan};
use hlir::text::written_structure;
use hlir::{Plan, Program, TableId};
use opt::inputs::machine::Stages;
use opt::model::{Model, structures};
use opt::{Inputs, analyze::Traffic};
use plotters::prelude::*;
use std::fmt::Write as _;

pub const BURSTS: [u32; 2] = [32, 64];
/// Groups are the burst divided by these.
const PARTS: [u32; 4] = [1, 2, 4, 8];
const PLACEMENTS: [(Option<Placement>, &str); 3] =
    [(None, "nowhere"), (Some(Placement::OwnLoop), "own_loop"), (Some(Placement::WithLookups), "with_consumption")];
/// How names of points begin: of the pick, and of all others.
pub const PICKED: &str = "pick:";
pub const SWEPT: &str = "sweep:";
/// How a point without stages is named.
const IN_TURN: &str = "in_turn";
/// How a point ends that has so many packets side by side, whatever the model wants.
const LANES: &str = "lanes_";
/// A structure that costs so many times what the best one does is not measured.
const HOPELESS: f64 = 10.0;
/// A plan that costs up to so many times what the best one does in one process may be the best: where memory lies moves plans by a tenth.
const CONTENDS: f64 = 1.15;
/// A pick within this of the best counts as right.
const CLOSE: f64 = 1.05;
const WIDTH: u32 = 900;
const HEIGHT: u32 = 700;

/// A plan of the grid, and its name.
pub struct Point {
    pub name: String,
    pub plan: Plan,
}

/// The picks and the grid of one program with its tables. Plans without stages have no groups, and are
/// in it once for each structure. The point of the grid that is the pick itself, if there is one, has
/// its name only, for a plan that is measured twice has two costs.
pub fn grid(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut points = Vec::new();
    for burst in BURSTS {
        let maker = Maker::new(program, inputs, burst);
        let first = points.len();
        for (rank, structure) in maker.structures().into_iter().enumerate() {
            let word = written_structure(structure);
            let groups = PARTS.map(|part| burst / part);
            let placed = groups.iter().flat_map(|group| PLACEMENTS.map(|(_, name)| format!("{group}:{name}")));
            let lanes = inputs.machine.vector.filter(|_| rank == 0).map(|lanes| [1, lanes.packets]);
            let beside = lanes
                .into_iter()
                .flatten()
                .flat_map(|lanes| PLACEMENTS.map(|(_, name)| format!("{burst}:{name}:{LANES}{lanes}")));
            for how in std::iter::once(IN_TURN.to_string()).chain(placed).chain(beside) {
                let name = format!("{SWEPT}{burst}:{word}:{how}");
                let plan = maker
                    .plan(&name)
                    .filter(|plan| points[first..].iter().all(|known: &Point| bare(&known.plan) != bare(plan)));
                points.extend(plan.map(|plan| Point { name, plan }));
            }
        }
        match points[first..].iter_mut().find(|point| bare(&point.plan) == bare(&maker.pick)) {
            Some(point) => point.name = point.name.replace(SWEPT, PICKED),
            None => points.push(Point { name: format!("{PICKED}{burst}"), plan: maker.pick }),
        }
    }
    points
}

/// What makes two plans the same code.
pub fn bare(plan: &Plan) -> Plan {
    let mut plan = Plan { descriptor: Descriptor::Own, ..plan.clone() }.without_reasons();
    // Without stages there is no way either.
    if plan.loops.is_empty() {
        plan = plan.packet_by_packet();
    }
    plan.tables.sort_by(|one, other| one.table.cmp(&other.table));
    plan
}

/// What the plans of a grid are made of, for one burst.
pub struct Maker<'p> {
    program: &'p Program,
    inputs: &'p Inputs,
    pub pick: Plan,
    staged: Plan,
    /// The table that takes most memory.
    largest: Option<TableId>,
}

impl<'p> Maker<'p> {
    pub fn new(program: &'p Program, inputs: &'p Inputs, burst: u32) -> Maker<'p> {
        let mut asked = inputs.clone();
        asked.constraints.burst = burst;
        let pick = planned(program, &asked);
        // Without costs of operations, the choice of structures is meaningless: those of the pick stay.
        let staged = Plan { tables: pick.tables.clone(), joints: pick.joints.clone(), ..staged(program, &asked) };
        let traffic = Traffic::estimate(program, inputs);
        let lookups = Model::new(program, inputs, &traffic).lookups(&staged);
        let largest = lookups.iter().max_by_key(|lookup| lookup.shape.bytes()).map(|lookup| lookup.table);
        Maker { program, inputs, pick, staged, largest }
    }

    /// The plan of a point, by its name; none for one without a plan, or without a legal one.
    pub fn plan(&self, name: &str) -> Option<Plan> {
        let mut words = name.strip_prefix(SWEPT).or_else(|| name.strip_prefix(PICKED))?.split(':').skip(1);
        let word = words.next()?;
        let structure = Structure::ALL.into_iter().find(|structure| written_structure(*structure) == word)?;
        let with = self.with(structure)?;
        let how = words.next()?;
        if how == IN_TURN {
            return Some(with.packet_by_packet());
        }
        let placement = words.next()?;
        let (placement, _) = PLACEMENTS.into_iter().find(|(_, name)| *name == placement)?;
        let mut plan = placed(&with, how.parse().ok()?, placement);
        match words.next() {
            Some(lanes) => self.in_lanes(&mut plan, lanes.strip_prefix(LANES)?.parse().ok()?)?,
            None => opt::plan::with_planner(self.program, self.inputs, &[], |planner| {
                opt::plan::vector::choose(planner, &mut plan);
            }),
        }
        let is_legal = !plan.loops.is_empty() && hlir::verify::verify_plan(self.program, &plan).is_empty();
        is_legal.then_some(plan)
    }

    /// Has so many packets side by side; none where that cannot be.
    fn in_lanes(&self, plan: &mut Plan, lanes: u32) -> Option<()> {
        let traffic = Traffic::estimate(self.program, self.inputs);
        Model::new(self.program, self.inputs, &traffic).vector_cost(plan, lanes)?;
        let path = hlir::hot_path::nodes(self.program, plan.hot_path.as_ref()?)?;
        let first = hlir::hot_path::stages(self.program, plan, &path).first()?.number;
        plan.loops[first].vector = lanes;
        Some(())
    }

    fn with(&self, structure: Structure) -> Option<Plan> {
        let table = self.program.tables[self.largest?].name.clone();
        let mut with = self.staged.clone();
        with.tables.retain(|planned| planned.table != table);
        // Tables that share an array have the same structure.
        let is_kept = |shared: &TablePlan| shared.table != table || shared.structure == structure;
        if !self.staged.tables.iter().all(is_kept) {
            with.joints.retain(|share| share.secondary != table && share.primary != table);
        }
        with.tables.push(TablePlan { table, structure, reason: None });
        Some(with)
    }

    /// The two structures that the model ranks first for the largest table.
    fn structures(&self) -> Vec<Structure> {
        let Some(largest) = self.largest else { return Vec::new() };
        let traffic = Traffic::estimate(self.program, self.inputs);
        let model = Model::new(self.program, self.inputs, &traffic);
        let content = self.inputs.occupancy.of(&self.program.tables[largest]);
        let shapes = structures::candidates(self.program, largest, &content, self.inputs.machine.vector_bytes());
        let cost = |structure| self.with(structure).map(|plan| (model.predict(&plan).cycles(), structure));
        let mut costs: Vec<(f64, Structure)> = shapes.iter().filter_map(|shape| cost(shape.structure)).collect();
        costs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // A list of a million entries may be the only other candidate, but would take too long to measure.
        let least = costs.first().map_or(0.0, |(cycles, _)| *cycles);
        let near = costs.into_iter().take_while(|(cycles, _)| *cycles < HOPELESS * least);
        near.take(2).map(|(_, structure)| structure).collect()
    }
}

pub fn planned(program: &Program, inputs: &Inputs) -> Plan {
    let mut plan = Plan::default();
    opt::optimize(&mut program.clone(), &mut plan, inputs, &opt::Selection::All, None);
    plan
}

/// The plan with stages wherever lookups could gain by them: that of a machine whose operations cost next to nothing.
pub fn staged(program: &Program, inputs: &Inputs) -> Plan {
    let mut eager = inputs.clone();
    let nothing = f64::MIN_POSITIVE;
    eager.machine.operation_cycles = nothing;
    eager.machine.stages =
        Some(Stages { operation_cycles: nothing, loop_cycles: 0.0, pipelining_cycles: 0.0, ..Stages::default() });
    planned(program, &eager)
}

/// The plan with groups of this size, and lines of all staged lookups prefetched in this way, or not at all.
pub fn placed(plan: &Plan, group: u32, placement: Option<Placement>) -> Plan {
    let mut plan = plan.clone();
    for (number, stage) in plan.loops.iter_mut().enumerate() {
        stage.group = group;
        // Only the first loop can prefetch a burst ahead.
        let is_later = placement == Some(Placement::WithLookups) && number > 0;
        let placement = if is_later { Some(Placement::OwnLoop) } else { placement };
        let request = |lookup: &StageLookup| {
            let placement = placement?;
            let hint = stage.prefetch_of(&lookup.table).map_or(Hint::T0, |planned| planned.hint);
            let distance = if placement == Placement::OwnLoop { group } else { 1 };
            Some(Prefetch { access: Access::Table(lookup.table.clone()), placement, distance, hint, reason: None })
        };
        stage.prefetches = stage.lookups.iter().filter_map(request).collect();
    }
    plan
}

/// Of a case's plans, the picks and those that may be better still: the best of thirty that were
/// measured once is the luckiest, so these are measured again.
pub fn contenders(records: &[&Record]) -> Vec<String> {
    let is_beside = |one: &Record, other: &Record| one.burst == other.burst && one.traffic == other.traffic;
    let plans: Vec<&Record> = records.iter().copied().filter(|record| is_point(record)).collect();
    let least = |record: &Record| {
        let beside = plans.iter().filter(|other| is_beside(record, other));
        beside.map(|other| other.cycles).fold(f64::INFINITY, f64::min)
    };
    let mut names: Vec<String> = Vec::new();
    for record in &plans {
        let contends = record.variant.starts_with(PICKED) || record.cycles <= least(record) * CONTENDS;
        if contends && !names.contains(&record.variant) {
            names.push(record.variant.clone());
        }
    }
    names
}

fn is_point(record: &Record) -> bool {
    record.variant.starts_with(PICKED) || record.variant.starts_with(SWEPT)
}

/// One case of the sweep: the pick, and the best of the grid.
struct Regret {
    case: Case,
    burst: u32,
    pick: f64,
    predicted: f64,
    best: f64,
    best_name: String,
    /// Median error of the case's predictions.
    error: f64,
    /// Of the pairs of plans whose costs clearly differ, the share whose order was predicted.
    order: f64,
}

fn regrets(records: &[Record]) -> Vec<Regret> {
    let picks = records.iter().filter(|record| record.variant.starts_with(PICKED));
    let regret = |pick: &Record| {
        let start = format!("{SWEPT}{}:", pick.burst);
        let same = |other: &&Record| other.case == pick.case && other.traffic == pick.traffic;
        let all: Vec<&Record> =
            records.iter().filter(same).filter(|other| other.variant.starts_with(&start)).chain([pick]).collect();
        // Others were so expensive that they were not measured again, maybe while the machine was faster.
        let as_often = all.iter().filter(|other| other.processes >= pick.processes);
        let best = as_often.min_by(|a, b| a.cycles.total_cmp(&b.cycles))?;
        Some(Regret {
            case: pick.case.clone(),
            burst: pick.burst,
            pick: pick.cycles,
            predicted: pick.predicted?,
            best: best.cycles,
            best_name: best.variant.clone(),
            error: median_error(&all),
            order: order(&all),
        })
    };
    picks.filter_map(regret).collect()
}

fn median_error(records: &[&Record]) -> f64 {
    let error = |record: &&Record| Some((record.predicted? - record.cycles).abs() / record.cycles);
    let mut errors: Vec<f64> = records.iter().filter_map(error).collect();
    errors.sort_by(f64::total_cmp);
    errors.get(errors.len() / 2).copied().unwrap_or(0.0)
}

/// Plans that were measured within a few percent of each other are in no order.
fn order(records: &[&Record]) -> f64 {
    let known: Vec<(f64, f64)> = records.iter().filter_map(|record| Some((record.cycles, record.predicted?))).collect();
    let (mut right, mut all) = (0.0, 0.0);
    for (number, (cycles, predicted)) in known.iter().enumerate() {
        for (other_cycles, other_predicted) in &known[number + 1..] {
            if cycles.max(*other_cycles) > cycles.min(*other_cycles) * CLOSE {
                all += 1.0;
                right += if (cycles < other_cycles) == (predicted < other_predicted) { 1.0 } else { 0.0 };
            }
        }
    }
    if all > 0.0 { right / all } else { 1.0 }
}

/// A line a case, and the sums of both questions: is the pick close to the best, and was its cost predicted?
pub fn table(records: &[Record]) -> String {
    let regrets = regrets(records);
    let mut text = format!(
        "{:<20} {:>6} {:>10} {:>7} {:>7} {:>7} {:>7} {:>7}  {}\n",
        "case", "burst", "predicted", "pick", "best", "ratio", "error", "order", "best is"
    );
    for regret in &regrets {
        let Regret { case, burst, pick, predicted, best, best_name, error, order } = regret;
        let (ratio, error, order) = (pick / best, error * 100.0, order * 100.0);
        let name = format!("{}:{}", case.application, case.size);
        let _ = writeln!(
            text,
            "{name:<20} {burst:>6} {predicted:>10.1} {pick:>7.1} {best:>7.1} {ratio:>7.3} {error:>6.1}% {order:>6.1}%  {best_name}"
        );
    }
    let close = regrets.iter().filter(|regret| regret.pick <= regret.best * CLOSE).count();
    let all: Vec<&Record> = records.iter().filter(|record| record.predicted.is_some()).collect();
    let _ = writeln!(
        text,
        "picks within 5 % of the best of the grid: {close} of {}; median error of predictions: {:.1} % over {} plans",
        regrets.len(),
        median_error(&all) * 100.0,
        all.len()
    );
    text
}

/// Predicted against measured, a point a plan; picks are filled.
pub fn svg(records: &[Record]) -> Result<String, String> {
    let mut svg = String::new();
    let known: Vec<(f64, f64, bool)> = records
        .iter()
        .filter_map(|record| Some((record.predicted?, record.cycles, record.variant.starts_with(PICKED))))
        .collect();
    let top = known.iter().map(|(a, b, _)| a.max(*b)).fold(10.0, f64::max) * 1.1;
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let failed = |error: &dyn std::fmt::Display| format!("the sweep cannot be drawn: {error}");
        root.fill(&WHITE).map_err(|error| failed(&error))?;
        let mut chart = ChartBuilder::on(&root)
            .caption("cycles per packet: measured over predicted, picks filled", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(52)
            .build_cartesian_2d((5.0..top).log_scale(), (5.0..top).log_scale())
            .map_err(|error| failed(&error))?;
        let whole = |cycles: &f64| format!("{cycles:.0}");
        let mut mesh = chart.configure_mesh();
        mesh.x_desc("predicted cycles per packet").y_desc("measured cycles per packet");
        mesh.x_label_formatter(&whole).y_label_formatter(&whole).label_style(("sans-serif", 13));
        mesh.draw().map_err(|error| failed(&error))?;
        chart.draw_series(LineSeries::new([(5.0, 5.0), (top, top)], &BLACK)).map_err(|error| failed(&error))?;
        let points = known.iter().map(|(x, y, is_pick)| {
            let style = if *is_pick { RED.filled() } else { BLUE.stroke_width(1) };
            Circle::new((*x, *y), if *is_pick { 5 } else { 3 }, style)
        });
        chart.draw_series(points).map_err(|error| failed(&error))?;
        root.present().map_err(|error| failed(&error))?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::traffic::Traffic;

    fn measured(variant: &str, burst: u32, cycles: f64) -> Record {
        Record {
            case: Case { application: "l2fwd".into(), size: 256, experiment: Experiment::Programs },
            traffic: Traffic::Uniform,
            variant: variant.into(),
            burst,
            cycles,
            lookups: None,
            accesses: None,
            floor: 6.0,
            limit: 6.0,
            spread: 0.0,
            predicted: None,
            committed: None,
            mpps: 0.0,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "gcc".into(),
            processes: 1,
        }
    }

    #[test]
    fn what_may_be_the_best_of_its_burst_is_measured_again_and_so_is_the_pick() {
        let mut records = [
            measured("plain", 32, 10.0),
            measured("pick:32", 32, 30.0),
            measured("sweep:32:near", 32, 22.9),
            measured("sweep:32:best", 32, 20.0),
            measured("sweep:32:far", 32, 23.1),
            measured("sweep:64:best", 64, 11.0),
            measured("pick:64", 64, 11.5),
            measured("sweep:64:far", 64, 20.0),
            measured("sweep:32:far", 32, 8.0),
        ];
        let names = ["pick:32", "sweep:32:near", "sweep:32:best", "sweep:64:best", "pick:64", "sweep:32:far"];
        // Packets by Zipf's law are cheaper, and what is best for them is another question.
        records[8].traffic = Traffic::Zipf;
        assert_eq!(contenders(&records.iter().collect::<Vec<_>>()), names);
    }

    #[test]
    fn the_best_is_one_that_was_measured_as_often_as_the_pick() {
        let mut records = [
            Record { predicted: Some(20.0), ..measured("pick:32", 32, 26.0) },
            measured("sweep:32:once", 32, 24.0),
            measured("sweep:32:best", 32, 25.0),
        ];
        assert_eq!(regrets(&records)[0].best, 24.0);
        records[0].processes = 3;
        records[2].processes = 3;
        assert_eq!(regrets(&records)[0].best, 25.0);
    }
}
