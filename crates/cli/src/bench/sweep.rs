//! Every plan of a grid around the model's pick, and how far the pick is from the best of them.
//!
//! For each burst: the structures of the largest table that the model ranks first and second, four group sizes, and three ways to ask for lines. The pick is
//! what the planners choose for that burst.

use super::experiment::Cell;
use super::report::Record;
use hlir::plan::{Placement, Structure, TablePlan};
use hlir::{Plan, Program};
use opt::model::{Model, structures};
use opt::{Inputs, analyze::Traffic};
use plotters::prelude::*;
use std::fmt::Write as _;

pub const BURSTS: [u32; 2] = [32, 64];
/// Groups are the burst divided by these.
const PARTS: [u32; 4] = [1, 2, 4, 8];
const PLACEMENTS: [(Placement, &str); 3] =
    [(Placement::None, "nowhere"), (Placement::OwnLoop, "own_loop"), (Placement::WithConsumption, "with_consumption")];
/// A pick within this of the best counts as right.
const CLOSE: f64 = 1.05;
const WIDTH: u32 = 900;
const HEIGHT: u32 = 700;

/// A plan of the grid, and its name.
pub struct Point {
    pub name: String,
    pub plan: Plan,
}

/// The picks and the grid of one program with its tables. Plans without stages have no groups, and stand in it once a structure.
pub fn grid(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut points = Vec::new();
    for burst in BURSTS {
        let mut asked = inputs.clone();
        asked.pinned.burst = burst;
        let pick = planned(program, &asked);
        points.push(Point { name: format!("pick:{burst}"), plan: pick });
        let staged = staged(program, &asked);
        for (word, table) in structures_of(program, inputs, &staged) {
            let mut with = staged.clone();
            with.tables.retain(|planned| planned.table != table.table);
            with.tables.push(table);
            let plain = Plan { path: None, loops: Vec::new(), ..with.clone() };
            points.push(Point { name: format!("sweep:{burst}:{word}:in_turn"), plan: plain });
            for (part, (placement, name)) in PARTS.iter().flat_map(|part| PLACEMENTS.map(|placement| (part, placement)))
            {
                let group = burst / part;
                let plan = placed(&with, group, placement);
                if !plan.loops.is_empty() && hlir::verify::verify_plan(program, &plan).is_empty() {
                    points.push(Point { name: format!("sweep:{burst}:{word}:{group}:{name}"), plan });
                }
            }
        }
    }
    points
}

pub fn planned(program: &Program, inputs: &Inputs) -> Plan {
    let mut plan = Plan::default();
    opt::optimize(&mut program.clone(), &mut plan, inputs, &opt::Selection::All, None);
    plan
}

/// The plan with stages wherever look-ups could gain by them: that of a machine whose operations cost next to nothing.
pub fn staged(program: &Program, inputs: &Inputs) -> Plan {
    let mut eager = inputs.clone();
    eager.machine.operation_cycles = f64::MIN_POSITIVE;
    planned(program, &eager)
}

pub fn placed(plan: &Plan, group: u32, placement: Placement) -> Plan {
    let mut plan = plan.clone();
    for (number, stage) in plan.loops.iter_mut().enumerate() {
        stage.group = group;
        for request in &mut stage.requests {
            // Only the first look-ups can be asked for a group ahead.
            let later = placement == Placement::WithConsumption && number > 0;
            request.placement = if later { Placement::OwnLoop } else { placement };
            request.distance = if request.placement == Placement::OwnLoop { group } else { 1 };
        }
    }
    plan
}

/// The two structures that the model ranks first for the table that takes most memory.
fn structures_of(program: &Program, inputs: &Inputs, plan: &Plan) -> Vec<(&'static str, TablePlan)> {
    let traffic = Traffic::estimate(program, inputs);
    let model = Model::new(program, inputs, &traffic);
    let lookups = model.lookups(plan);
    let Some(largest) = lookups.iter().max_by_key(|lookup| lookup.shape.bytes()) else { return Vec::new() };
    let table = &program.tables[largest.table];
    let content = inputs.occupancy.of(table);
    let shapes = structures::candidates(program, largest.table, &content, inputs.machine.vector_bytes);
    let with = |structure: Structure| TablePlan { table: table.name.clone(), structure, reason: None };
    let mut costs: Vec<(f64, Structure)> = shapes
        .iter()
        .map(|shape| {
            let mut other = plan.clone();
            other.tables.retain(|planned| planned.table != table.name);
            other.tables.push(with(shape.structure));
            (model.predict(&other).cycles(), shape.structure)
        })
        .collect();
    costs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let named = |(_, structure): &(f64, Structure)| (hlir::text::written_structure(*structure), with(*structure));
    costs.iter().take(2).map(named).collect()
}

/// One cell of the sweep: the pick, and the best of the grid.
struct Regret {
    cell: Cell,
    burst: u32,
    pick: f64,
    predicted: f64,
    best: f64,
    best_name: String,
}

fn regrets(records: &[Record]) -> Vec<Regret> {
    let picks = records.iter().filter(|record| record.variant.starts_with("pick:"));
    let regret = |pick: &Record| {
        let start = format!("sweep:{}:", pick.burst);
        let same = |other: &&Record| other.cell == pick.cell && other.traffic == pick.traffic;
        let all = records.iter().filter(same).filter(|other| other.variant.starts_with(&start));
        let best = all.chain([pick]).min_by(|a, b| a.cycles.total_cmp(&b.cycles))?;
        Some(Regret {
            cell: pick.cell.clone(),
            burst: pick.burst,
            pick: pick.cycles,
            predicted: pick.predicted?,
            best: best.cycles,
            best_name: best.variant.clone(),
        })
    };
    picks.filter_map(regret).collect()
}

/// A line a cell, and the sums of both questions: is the pick close to the best, and was its cost predicted?
pub fn table(records: &[Record]) -> String {
    let regrets = regrets(records);
    let mut text = format!(
        "{:<20} {:>6} {:>10} {:>7} {:>7} {:>7}  {}\n",
        "cell", "burst", "predicted", "pick", "best", "ratio", "best is"
    );
    for regret in &regrets {
        let Regret { cell, burst, pick, predicted, best, best_name } = regret;
        let ratio = pick / best;
        let name = format!("{}:{}", cell.application, cell.size);
        let _ =
            writeln!(text, "{name:<20} {burst:>6} {predicted:>10.1} {pick:>7.1} {best:>7.1} {ratio:>7.3}  {best_name}");
    }
    let close = regrets.iter().filter(|regret| regret.pick <= regret.best * CLOSE).count();
    let mut errors: Vec<f64> =
        records.iter().filter_map(|record| Some((record.predicted? - record.cycles).abs() / record.cycles)).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    let _ = writeln!(
        text,
        "picks within 5 % of the best of the grid: {close} of {}; median error of predictions: {:.1} % over {} plans",
        regrets.len(),
        median * 100.0,
        errors.len()
    );
    text
}

/// Predicted against measured, a point a plan; picks are filled.
pub fn svg(records: &[Record]) -> Result<String, String> {
    let mut svg = String::new();
    let known: Vec<(f64, f64, bool)> = records
        .iter()
        .filter_map(|record| Some((record.predicted?, record.cycles, record.variant.starts_with("pick:"))))
        .collect();
    let top = known.iter().map(|(a, b, _)| a.max(*b)).fold(10.0, f64::max) * 1.1;
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        let failed = |error: &dyn std::fmt::Display| format!("the sweep cannot be drawn: {error}");
        root.fill(&WHITE).map_err(|error| failed(&error))?;
        let mut chart = ChartBuilder::on(&root)
            .caption("cycles a packet: measured over predicted, picks filled", ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(52)
            .build_cartesian_2d((5.0..top).log_scale(), (5.0..top).log_scale())
            .map_err(|error| failed(&error))?;
        chart.configure_mesh().x_desc("predicted").y_desc("measured").draw().map_err(|error| failed(&error))?;
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
