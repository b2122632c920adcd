//! The curves of a calibration: what a line costs over the working set for each way to ask for it, what lines in flight save, and where misses stop
//! overlapping, and what an echo costs over batch and ring.

use super::measure::{Measured, Misses, size_name};
use super::saturation::Saturation;
use opt::inputs::{Access, Machine, Tlb};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::prelude::*;

/// Of a panel.
const WIDTH: u32 = 520;
const HEIGHT: u32 = 420;
const ACROSS: usize = 3;
const DOWN: usize = 5;
/// Lines in flight that have a curve of their own over the working set.
const CURVES: [u32; 5] = [1, 4, 16, 32, 64];
/// Sizes that have a curve of their own over the lines in flight: about one for each level there may be.
const SIZES_KB: [u64; 5] = [16, 256, 4 << 10, 32 << 10, 1 << 20];
/// The ways to ask for a line, and what is drawn of each.
const ACCESSES: [(Access, &str); 8] = [
    (Access::Load, "loads, by outstanding misses"),
    (Access::Gather, "gathers, by outstanding misses"),
    (Access::PrefetchT0, "stream, prefetch T0, by distance"),
    (Access::PrefetchT1, "stream, prefetch T1, by distance"),
    (Access::GroupT0, "group prefetched T0, then read"),
    (Access::GroupT1, "group prefetched T1, then read"),
    (Access::BusyT0, "stream, prefetch T0, 60 operations a line"),
    (Access::BusyT1, "stream, prefetch T1, 60 operations a line"),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A name and points.
type Curve = (String, Vec<(f64, f64)>);
type SizesChart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

pub fn curves(measured: &Measured) -> Result<String, String> {
    let machine = &measured.machine;
    let mut svg = String::new();
    {
        let root = sheet(&mut svg, DOWN, ACROSS)?;
        let panels = root.split_evenly((DOWN, ACROSS));
        let mut panels = panels.iter();
        let mut panel = || panels.next().expect("there is room for all panels");
        let range = range(machine);
        for (access, about) in ACCESSES.into_iter().filter(|(access, _)| was_measured(machine, *access)) {
            over_sizes(panel(), machine, access, about, range)?;
        }
        over_lines(panel(), machine, range)?;
        if let Some(tlb) = &machine.tlb {
            over_spans(panel(), tlb)?;
        }
        let about = format!("reorder-buffer window: {} instructions between two misses", machine.window);
        points(panel(), &plain(&measured.windows), &about, "instructions")?;
        misses(panel(), measured)?;
        let about = format!("first access to a packet, by burst: {} is enough", machine.burst);
        points(panel(), &plain(&measured.bursts), &about, "packets to a burst")?;
        over_batches(panel(), &measured.echo)?;
        over_rings(panel(), &measured.echo)?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// The curves of an echo alone, on a port at hand.
pub fn echo(seen: &Saturation) -> Result<String, String> {
    let mut svg = String::new();
    let across = if seen.rings.is_empty() { 1 } else { 2 };
    {
        let root = sheet(&mut svg, 1, across)?;
        let panels = root.split_evenly((1, across));
        over_batches(&panels[0], seen)?;
        panels.get(1).map_or(Ok(()), |panel| over_rings(panel, seen))?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

/// Room for so many panels.
fn sheet(svg: &mut String, down: usize, across: usize) -> Result<Area<'_>, String> {
    let root = SVGBackend::with_string(svg, (WIDTH * across as u32, HEIGHT * down as u32)).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    Ok(root)
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("the curves cannot be drawn: {error}")
}

fn plain(points: &[(u32, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|(x, y)| (f64::from(*x), *y)).collect()
}

/// A processor need not have gathers, nor a file of before groups or streams with work.
fn was_measured(machine: &Machine, access: Access) -> bool {
    let lines = &machine.lines;
    !(if access == Access::Gather { &lines.gather } else { lines.table(access) }).is_empty()
}

/// What lines cost at least and at most, for all panels: so one can be held against the other.
fn range(machine: &Machine) -> (f64, f64) {
    let cells = || Access::ALL.into_iter().flat_map(|access| machine.lines.table(access)).flatten().copied();
    (cells().fold(f64::INFINITY, f64::min).min(1.0), cells().fold(1.0, f64::max) * 1.2)
}

/// Cycles a line over the working set, a curve for each count in flight.
fn over_sizes(
    area: &Area<'_>,
    machine: &Machine,
    access: Access,
    about: &str,
    (least, most): (f64, f64),
) -> Result<(), String> {
    let sizes = &machine.lines.working_set_kb;
    let last = sizes.last().copied().unwrap_or(sizes[0]);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("cache line, {about}"), ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        // Sixteen times as much to a mark: 16 KB, 256 KB and so on.
        .build_cartesian_2d((sizes[0] as f64..last as f64).log_scale().base(16.0), (least..most).log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_label_formatter(&|kb| size_name(*kb as u64))
        .x_desc("working set")
        .y_desc("cycles")
        .draw()
        .map_err(failed)?;
    let curve = |count: &u32| {
        let name = match (count, access) {
            (1, Access::Load) => "1: latency".to_string(),
            (1, _) => "1".to_string(),
            (count, _) => format!("{count}"),
        };
        (name, sizes.iter().map(|kb| (*kb as f64, machine.line_cycles(access, kb << 10, *count))).collect())
    };
    let curves: Vec<Curve> = CURVES.iter().map(curve).collect();
    steps(&mut chart, machine, (least, most))?;
    draw(&mut chart, &curves, SeriesLabelPosition::UpperLeft)
}

/// Marks the sizes at which a load's latency steps up, because the working set leaves a level of the caches.
fn steps(chart: &mut SizesChart<'_, '_>, machine: &Machine, (least, most): (f64, f64)) -> Result<(), String> {
    let grey = RGBColor(150, 150, 150);
    for (number, kb) in levels_kb(machine).into_iter().enumerate() {
        let at = kb as f64;
        let line = DashedLineSeries::new([(at, least), (at, most)], 3, 4, grey.stroke_width(1));
        chart.draw_series(line).map_err(failed)?;
        let text = format!(" L{} ≤ {}", number + 1, size_name(kb));
        let style = ("sans-serif", 12).into_font().color(&grey);
        chart.draw_series([Text::new(text, (at, least * 1.25), style)]).map_err(failed)?;
    }
    Ok(())
}

/// The largest working set before each step of the latency: one that costs half as much again, and that the next size does not go beyond by as much.
fn levels_kb(machine: &Machine) -> Vec<u64> {
    const STEP: f64 = 1.5;
    let sizes = &machine.lines.working_set_kb;
    let latency = |at: usize| machine.line_cycles(Access::Load, sizes[at] << 10, 1);
    let mut levels = Vec::new();
    let mut at = 0;
    while at + 1 < sizes.len() {
        if latency(at + 1) < STEP * latency(at) {
            at += 1;
            continue;
        }
        levels.push(sizes[at]);
        while at + 1 < sizes.len() && latency(at + 1) >= STEP * latency(at) {
            at += 1;
        }
    }
    levels
}

/// Cycles a line over the lines in flight, a curve for some sizes: from the latency to where more lines save nothing.
fn over_lines(area: &Area<'_>, machine: &Machine, (least, most): (f64, f64)) -> Result<(), String> {
    let lines = &machine.lines;
    let counts = &lines.in_flight;
    let last = counts.last().copied().unwrap_or(counts[0]);
    let about = format!("loads, memory-level parallelism: {} outstanding", machine.parallelism);
    let mut chart = ChartBuilder::on(area)
        .caption(about, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d((f64::from(counts[0])..f64::from(last)).log_scale().base(2.0), (least..most).log_scale())
        .map_err(failed)?;
    let mesh = &mut chart.configure_mesh();
    mesh.x_label_formatter(&|count| format!("{count:.0}")).x_desc("outstanding misses").y_desc("cycles");
    mesh.draw().map_err(failed)?;
    let largest = lines.working_set_kb.last().copied().unwrap_or(0);
    let curve = |kb: u64| {
        let cycles = |count: &u32| (f64::from(*count), machine.line_cycles(Access::Load, kb << 10, *count));
        (size_name(kb), counts.iter().map(cycles).collect())
    };
    let curves: Vec<Curve> = SIZES_KB.into_iter().filter(|kb| *kb <= largest).rev().map(curve).collect();
    draw(&mut chart, &curves, SeriesLabelPosition::UpperRight)
}

/// What a line costs more that is alone on its small page, over the bytes that all pages have together.
fn over_spans(area: &Area<'_>, tlb: &Tlb) -> Result<(), String> {
    let (first, last) = (tlb.span_kb[0], tlb.span_kb.last().copied().unwrap_or(1).max(tlb.span_kb[0] + 1));
    let top = tlb.load.iter().chain(&tlb.stream).copied().fold(1.0, f64::max) * 1.1;
    let mut chart = ChartBuilder::on(area)
        .caption("TLB miss cost: lines on pages of their own", ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d((first as f64..last as f64).log_scale().base(4.0), 0.0..top)
        .map_err(failed)?;
    let mesh = &mut chart.configure_mesh();
    mesh.x_label_formatter(&|kb| size_name(*kb as u64)).x_desc("memory that the pages span").y_desc("cycles");
    mesh.draw().map_err(failed)?;
    let curve = |name: &str, cycles: &[f64]| -> Curve {
        (name.to_string(), tlb.span_kb.iter().map(|kb| *kb as f64).zip(cycles.iter().copied()).collect())
    };
    let curves = [curve("dependent load", &tlb.load), curve("stream with work", &tlb.stream)];
    draw(&mut chart, &curves, SeriesLabelPosition::UpperLeft)
}

/// Cycles of misses that wait together, over how many there are: flat as long as there is room for one more.
fn misses(area: &Area<'_>, measured: &Measured) -> Result<(), String> {
    let all = || measured.misses.iter().flat_map(|(_, points)| points);
    let (last, top) = all().fold((1, 1.0_f64), |(last, top), (x, y)| (last.max(*x), top.max(*y)));
    let about = format!("miss registers: {} outstanding misses", measured.machine.misses.unwrap_or(0));
    let mut chart = ChartBuilder::on(area)
        .caption(about, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..f64::from(last), 0.0..top * 1.1)
        .map_err(failed)?;
    chart.configure_mesh().x_desc("misses before the last one").y_desc("cycles").draw().map_err(failed)?;
    let curve = |(fillers, points): &Misses| (format!("{fillers} instructions"), plain(points));
    let curves: Vec<Curve> = measured.misses.iter().map(curve).collect();
    draw(&mut chart, &curves, SeriesLabelPosition::LowerRight)
}

/// What an echo costs a packet by the batch, and what work is free with each.
fn over_batches(area: &Area<'_>, seen: &Saturation) -> Result<(), String> {
    let batch = seen.batch().unwrap_or(0);
    let about = format!("an echo on {} by batch: {batch} is enough", name(seen));
    let curves = [("echo".to_string(), plain(&seen.batches)), ("work that is free".to_string(), plain(&seen.free))];
    doubling(area, &curves, &about, "packets taken at once")
}

fn over_rings(area: &Area<'_>, seen: &Saturation) -> Result<(), String> {
    let (what, axis) = if seen.device.is_some() { ("ring", "size of the ring") } else { ("buffers", "buffers") };
    let about = format!("an echo on {} by {what}: {} is enough", name(seen), seen.ring().unwrap_or(0));
    doubling(area, &[("echo".to_string(), plain(&seen.rings))], &about, axis)
}

fn name(seen: &Saturation) -> &str {
    seen.device.as_deref().unwrap_or("the in-memory port")
}

/// Cycles a packet over counts of which each is twice the one before.
fn doubling(area: &Area<'_>, curves: &[Curve], about: &str, axis: &str) -> Result<(), String> {
    let all = || curves.iter().flat_map(|(_, points)| points);
    let first = all().map(|(x, _)| *x).fold(f64::INFINITY, f64::min).min(1024.0);
    let (last, top) = all().fold((first * 2.0, 1.0_f64), |(last, top), (x, y)| (last.max(*x), top.max(*y)));
    let mut chart = ChartBuilder::on(area)
        .caption(about, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d((first..last).log_scale().base(2.0), 0.0..top * 1.1)
        .map_err(failed)?;
    let mesh = &mut chart.configure_mesh();
    mesh.x_label_formatter(&|count| format!("{count:.0}")).x_desc(axis).y_desc("cycles a packet");
    mesh.draw().map_err(failed)?;
    draw(&mut chart, curves, SeriesLabelPosition::UpperRight)
}

/// Curves with their names.
fn draw<'a, 'b: 'a, X, Y>(
    chart: &mut ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>,
    curves: &[Curve],
    place: SeriesLabelPosition,
) -> Result<(), String>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    for (number, (name, points)) in curves.iter().enumerate() {
        let colour = Palette99::pick(number).to_rgba();
        let series = LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3);
        chart
            .draw_series(series)
            .map_err(failed)?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    let labels = &mut chart.configure_series_labels();
    labels.position(place).background_style(WHITE.mix(0.8)).draw().map_err(failed)
}

fn points(area: &Area<'_>, points: &[(f64, f64)], about: &str, axis: &str) -> Result<(), String> {
    let last = points.last().map_or(1.0, |(x, _)| *x);
    let top = points.iter().map(|(_, y)| *y).fold(1.0, f64::max) * 1.1;
    let mut chart = ChartBuilder::on(area)
        .caption(about, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..last, 0.0..top)
        .map_err(failed)?;
    chart.configure_mesh().x_desc(axis).y_desc("cycles").draw().map_err(failed)?;
    let colour = Palette99::pick(0).to_rgba();
    chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3)).map_err(failed)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_ask_for_a_line_is_drawn_that_was_measured() {
        let mut machine = Machine::default();
        machine.lines.group_t0 = machine.lines.load.clone();
        machine.lines.busy_t1 = machine.lines.load.clone();
        machine.lines.gather.clear();
        machine.tlb = Some(Tlb { span_kb: vec![1024, 4096], load: vec![1.0, 4.0], stream: vec![0.0, 1.0] });
        let points = vec![(1, 2.0), (2, 1.0)];
        let misses = vec![(0, points.clone())];
        let echo = Saturation { batches: points.clone(), rings: points.clone(), ..Saturation::default() };
        let measured = Measured { machine, windows: points.clone(), misses, bursts: points, echo, short: Vec::new() };
        let svg = curves(&measured).expect("the curves can be drawn");
        for about in [
            "loads, by outstanding misses",
            "stream, prefetch T0, by distance",
            "stream, prefetch T1, by distance",
            "group prefetched T0, then read",
            "T1, 60 operations",
            "memory-level parallelism",
            "TLB miss cost",
            "reorder-buffer window",
            "miss registers",
            "by burst",
            "L1 ≤ ",
            "the in-memory port by batch: 2",
            "the in-memory port by buffers: 2",
        ] {
            assert!(svg.contains(about), "{about}");
        }
        assert!(!svg.contains("gathers") && !svg.contains("group prefetched T1") && !svg.contains("T0, 60 operations"));
    }

    #[test]
    fn a_machines_curves_have_steps_between_the_levels_of_its_caches() {
        let text = include_str!("../../../../machines/epyc-genoa.toml");
        let machine = Machine::parse(text).expect("the file is a machine's");
        let levels = levels_kb(&machine);
        assert!((2..=4).contains(&levels.len()) && levels.is_sorted(), "{levels:?}");
        assert!((16..=64).contains(&levels[0]) && (256..=2048).contains(&levels[1]), "{levels:?}");
    }

    #[test]
    fn an_echo_on_a_port_at_hand_is_drawn_alone_and_its_ring_where_it_has_one() {
        let batches = vec![(1, 60.0), (32, 40.0)];
        let device = Some("net_memif".to_string());
        let rings = vec![(64, 40.0), (128, 39.0)];
        let mut seen = Saturation { device, free: batches.clone(), batches, rings, spread: 0.0 };
        let drawn = echo(&seen).expect("the curves can be drawn");
        assert!(drawn.contains("net_memif by batch: 32") && drawn.contains("net_memif by ring: 64"), "{drawn}");
        seen.rings.clear();
        assert!(!echo(&seen).expect("the curve can be drawn").contains("by ring"));
    }
}
