//! The curves of a calibration: what a cache line costs over the working set by each kind of access, how far misses overlap, what a TLB miss costs, and what an
//! echo costs over batch and ring.
//!
//! Each panel has a title with the number that the machine file got from it, then a row with the names of its curves, so that nothing lies over the data.
//! Dashed lines mark where a curve has its step: the levels of the caches, or the number in the title.

use super::measure::{Measured, Misses, size_name};
use super::saturation::Saturation;
use opt::inputs::{Access, Machine, Tlb};
use plotters::coord::Shift;
use plotters::coord::combinators::LogCoord;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Of a panel.
const WIDTH: u32 = 520;
const HEIGHT: u32 = 420;
const ACROSS: usize = 3;
const DOWN: usize = 5;
/// Of the title, and of the row of names.
const TITLE_HEIGHT: u32 = 36;
const NAMES_HEIGHT: u32 = 24;
const LEFT: i32 = 64;
/// Lines in flight that have a curve of their own over the working set.
const CURVES: [u32; 5] = [1, 4, 16, 32, 64];
/// Sizes that have a curve of their own over the lines in flight: about one for each level there may be.
const SIZES_KB: [u64; 5] = [16, 256, 4 << 10, 32 << 10, 1 << 20];
/// Kinds of access: the title of each, and what its curves differ by.
const ACCESSES: [(Access, &str, &str); 8] = [
    (Access::Load, "loads", "outstanding misses"),
    (Access::Gather, "gathers", "outstanding misses"),
    (Access::PrefetchT0, "stream with prefetch T0", "prefetch distance"),
    (Access::PrefetchT1, "stream with prefetch T1", "prefetch distance"),
    (Access::GroupT0, "group: prefetch T0 all, then read all", "lines in a group"),
    (Access::GroupT1, "group: prefetch T1 all, then read all", "lines in a group"),
    (Access::BusyT0, "stream with prefetch T0 and 60 operations", "prefetch distance"),
    (Access::BusyT1, "stream with prefetch T1 and 60 operations", "prefetch distance"),
];
/// Colours that also the colour-blind distinguish, all of them dark enough for thin lines on white (Okabe and Ito).
const COLOURS: [RGBColor; 5] =
    [RGBColor(0, 0, 0), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(0, 114, 178), RGBColor(204, 121, 167)];
const GREY: RGBColor = RGBColor(90, 90, 90);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;
/// A name and points.
type Curve = (String, Vec<(f64, f64)>);
type Number = fn(f64) -> String;

/// A horizontal axis: what it counts, and how its marks are written.
struct Axis<'a> {
    about: &'a str,
    number: Number,
}

const COUNTS: Number = |count| format!("{count:.0}");
const SIZES: Number = |kb| size_name(kb as u64);

/// All curves; `caches` are the levels and sizes (in KB) that the processor reports.
pub fn curves(measured: &Measured, caches: &[(u32, u64)]) -> Result<String, String> {
    let machine = &measured.machine;
    let mut svg = String::new();
    {
        let root = sheet(&mut svg, DOWN, ACROSS)?;
        let panels = root.split_evenly((DOWN, ACROSS));
        let mut panels = panels.iter();
        let mut panel = || panels.next().expect("there is room for all panels");
        let range = range(machine);
        let levels = levels(machine, caches);
        for (access, about, by) in ACCESSES.into_iter().filter(|(access, ..)| was_measured(machine, *access)) {
            over_sizes(panel(), machine, access, (about, by), (range, &levels))?;
        }
        over_lines(panel(), machine, range)?;
        if let Some(tlb) = &machine.tlb {
            over_spans(panel(), tlb)?;
        }
        window(panel(), measured)?;
        misses(panel(), measured)?;
        over_bursts(panel(), measured)?;
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

/// Not every processor has gathers.
fn was_measured(machine: &Machine, access: Access) -> bool {
    let lines = &machine.lines;
    !(if access == Access::Gather { &lines.gather } else { lines.table(access) }).is_empty()
}

/// What lines cost at least and at most, for all panels: so one can be held against the other.
fn range(machine: &Machine) -> (f64, f64) {
    let points = || Access::ALL.into_iter().flat_map(|access| machine.lines.table(access)).flatten().copied();
    (points().fold(f64::INFINITY, f64::min).min(1.0), points().fold(1.0, f64::max) * 1.5)
}

/// Writes a panel's title and the names of its curves, by what they differ, and returns the room below.
fn headed<'a>(panel: &Area<'a>, title: &str, by: &str, curves: &[Curve]) -> Result<Area<'a>, String> {
    let (heading, rest) = panel.split_vertically(TITLE_HEIGHT);
    let style = ("sans-serif", 17, FontStyle::Bold).into_font().color(&BLACK);
    heading.draw(&Text::new(title.to_string(), (LEFT, 12), style)).map_err(failed)?;
    if curves.len() < 2 {
        return Ok(rest);
    }
    let (row, rest) = rest.split_vertically(NAMES_HEIGHT);
    let font = ("sans-serif", 14).into_font();
    let width = |text: &str| font.box_size(text).map_or(0, |(width, _)| width as i32);
    let mut at = LEFT;
    if !by.is_empty() {
        row.draw(&Text::new(format!("{by}:"), (at, 4), font.color(&BLACK))).map_err(failed)?;
        at += width(by) + 16;
    }
    for ((name, _), colour) in curves.iter().zip(COLOURS) {
        let line = PathElement::new(vec![(at, 11), (at + 18, 11)], colour.stroke_width(3));
        row.draw(&line).map_err(failed)?;
        row.draw(&Text::new(name.clone(), (at + 24, 4), font.color(&BLACK))).map_err(failed)?;
        at += 24 + width(name) + 16;
    }
    Ok(rest)
}

/// Axes with a light grid, in the panel's room.
fn chart<'a, 'b, X, Y>(
    room: &'a Area<'b>,
    x: X,
    y: Y,
    axis: &Axis<'_>,
    cycles: &str,
) -> Result<Chart<'a, 'b, X::CoordDescType, Y::CoordDescType>, String>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let mut chart = ChartBuilder::on(room)
        .margin_left(8)
        .margin_right(20)
        .margin_bottom(6)
        .x_label_area_size(44)
        .y_label_area_size(LEFT - 8)
        .build_cartesian_2d(x, y)
        .map_err(failed)?;
    let number = axis.number;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(BLACK.mix(0.12))
        .label_style(("sans-serif", 13))
        .axis_desc_style(("sans-serif", 14))
        .x_label_formatter(&move |x| number(*x))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .x_desc(axis.about)
        .y_desc(cycles)
        .draw()
        .map_err(failed)?;
    Ok(chart)
}

fn draw<X, Y>(chart: &mut Chart<'_, '_, X, Y>, curves: &[Curve]) -> Result<(), String>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    for ((_, points), colour) in curves.iter().zip(COLOURS) {
        let series = LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3);
        chart.draw_series(series).map_err(failed)?;
    }
    Ok(())
}

/// A dashed line over the whole height, with its name at the top, to the right of it or, near the right end, to the left.
fn mark<X, Y>(chart: &mut Chart<'_, '_, X, Y>, at: f64, text: &str, (least, most): (f64, f64)) -> Result<(), String>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let line = DashedLineSeries::new([(at, least), (at, most)], 5, 4, GREY.stroke_width(1));
    chart.draw_series(line).map_err(failed)?;
    let room = chart.plotting_area();
    let (left, right) = (room.get_x_axis_pixel_range().start, room.get_x_axis_pixel_range().end);
    let is_late = room.map_coordinate(&(at, most)).0 > left + (right - left) * 3 / 4;
    let (place, apart) = if is_late { (HPos::Right, -5) } else { (HPos::Left, 5) };
    let style = ("sans-serif", 14).into_font().color(&GREY).pos(Pos::new(place, VPos::Top));
    let text = EmptyElement::at((at, most)) + Text::new(text.to_string(), (apart, 0), style);
    chart.draw_series([text]).map_err(failed)?;
    Ok(())
}

/// Cycles per line over the working set, a curve for each count in flight.
fn over_sizes(
    panel: &Area<'_>,
    machine: &Machine,
    access: Access,
    (about, by): (&str, &str),
    ((least, most), levels): ((f64, f64), &[(f64, String)]),
) -> Result<(), String> {
    let sizes = &machine.lines.working_set_kb;
    let last = sizes.last().copied().unwrap_or(sizes[0]);
    let cycles = |kb: &u64, count: u32| (*kb as f64, machine.line_cycles(access, kb << 10, count));
    let curve = |count: &u32| (count.to_string(), sizes.iter().map(|kb| cycles(kb, *count)).collect());
    let curves: Vec<Curve> = CURVES.iter().map(curve).collect();
    let room = headed(panel, about, by, &curves)?;
    // Sixteen times as much to a mark: 16 KB, 256 KB and so on.
    let x = (sizes[0] as f64..last as f64).log_scale().base(16.0);
    let axis = Axis { about: "working set", number: SIZES };
    let mut chart = chart(&room, x, (least..most).log_scale(), &axis, "cycles per cache line")?;
    for (kb, name) in levels.iter().filter(|(kb, _)| *kb < last as f64) {
        mark(&mut chart, *kb, name, (least, most))?;
    }
    draw(&mut chart, &curves)
}

/// Where the caches end, in KB, and what is written there: the sizes that the processor reports, else between which sizes the latency has a step.
fn levels(machine: &Machine, caches: &[(u32, u64)]) -> Vec<(f64, String)> {
    if caches.is_empty() {
        let named = |(number, (from, to)): (usize, (u64, u64))| {
            (from as f64, format!("L{}: {} to {}", number + 1, size_name(from), size_name(to)))
        };
        return steps_kb(machine).into_iter().enumerate().map(named).collect();
    }
    caches.iter().map(|(level, kb)| (*kb as f64, format!("L{level}: {}", size_name(*kb)))).collect()
}

/// Steps of the latency: the largest working set before each, and the smallest behind. The next size costs half as much again, and the one behind a step
/// does not.
fn steps_kb(machine: &Machine) -> Vec<(u64, u64)> {
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
        let from = sizes[at];
        while at + 1 < sizes.len() && latency(at + 1) >= STEP * latency(at) {
            at += 1;
        }
        levels.push((from, sizes[at]));
    }
    levels
}

/// Cycles per line over the lines in flight, a curve for some sizes: from the latency to where more lines save nothing.
fn over_lines(panel: &Area<'_>, machine: &Machine, (least, most): (f64, f64)) -> Result<(), String> {
    let lines = &machine.lines;
    let counts = &lines.in_flight;
    let last = counts.last().copied().unwrap_or(counts[0]);
    let largest = lines.working_set_kb.last().copied().unwrap_or(0);
    let curve = |kb: u64| {
        let cycles = |count: &u32| (f64::from(*count), machine.line_cycles(Access::Load, kb << 10, *count));
        (size_name(kb), counts.iter().map(cycles).collect())
    };
    let curves: Vec<Curve> = SIZES_KB.into_iter().filter(|kb| *kb <= largest).rev().map(curve).collect();
    let title = format!("memory-level parallelism of loads: {}", machine.parallelism);
    let room = headed(panel, &title, "working set", &curves)?;
    let x = (f64::from(counts[0])..f64::from(last)).log_scale().base(2.0);
    let axis = Axis { about: "outstanding misses", number: COUNTS };
    let mut chart = chart(&room, x, (least..most).log_scale(), &axis, "cycles per cache line")?;
    mark(&mut chart, f64::from(machine.parallelism), &machine.parallelism.to_string(), (least, most))?;
    draw(&mut chart, &curves)
}

/// What a line costs more that is alone on its small page, over the bytes that all pages have together.
fn over_spans(panel: &Area<'_>, tlb: &Tlb) -> Result<(), String> {
    let (first, last) = (tlb.span_kb[0], tlb.span_kb.last().copied().unwrap_or(1).max(tlb.span_kb[0] + 1));
    let top = tlb.load.iter().chain(&tlb.stream).copied().fold(1.0, f64::max) * 1.1;
    let curve = |name: &str, cycles: &[f64]| -> Curve {
        (name.to_string(), tlb.span_kb.iter().map(|kb| *kb as f64).zip(cycles.iter().copied()).collect())
    };
    let curves = [curve("dependent loads", &tlb.load), curve("stream with work", &tlb.stream)];
    let room = headed(panel, "TLB miss cost: one line on each 4 KB page", "", &curves)?;
    let x = (first as f64..last as f64).log_scale().base(4.0);
    let axis = Axis { about: "memory that the pages span", number: SIZES };
    draw(&mut chart(&room, x, 0.0..top, &axis, "more cycles per cache line")?, &curves)
}

/// Cycles of two misses over the instructions between them. The step is a small part of two latencies, so the axis does not begin at zero.
fn window(panel: &Area<'_>, measured: &Measured) -> Result<(), String> {
    let points = plain(&measured.windows);
    let window = measured.machine.window;
    let costs = || points.iter().map(|(_, cycles)| *cycles);
    let (least, most) = (costs().fold(f64::INFINITY, f64::min), costs().fold(1.0, f64::max));
    let rim = ((most - least) * 0.15).max(1.0);
    let range = (least.min(most) - rim, most + 2.0 * rim);
    let last = points.last().map_or(1.0, |(x, _)| *x);
    let room = headed(panel, &format!("reorder buffer: {window} instructions"), "", &[])?;
    let axis = Axis { about: "instructions between two misses", number: COUNTS };
    let mut chart = chart(&room, 0.0..last, range.0..range.1, &axis, "cycles of both (not from 0)")?;
    mark(&mut chart, f64::from(window), &window.to_string(), range)?;
    draw(&mut chart, &[(String::new(), points)])
}

/// Cycles of independent misses over their number. Each miss beyond the miss registers costs its share of a latency.
fn misses(panel: &Area<'_>, measured: &Measured) -> Result<(), String> {
    let all = || measured.misses.iter().flat_map(|(_, points)| points);
    let (last, top) = all().fold((1, 1.0_f64), |(last, top), (x, y)| (last.max(*x), top.max(*y)));
    let registers = measured.machine.misses.unwrap_or(0);
    let curve = |(fillers, points): &Misses| (fillers.to_string(), plain(points));
    let curves: Vec<Curve> = measured.misses.iter().map(curve).collect();
    let title = format!("miss registers: {registers} (latency / slope)");
    let room = headed(panel, &title, "instructions before the last miss", &curves)?;
    let axis = Axis { about: "independent misses before the last one", number: COUNTS };
    let mut chart = chart(&room, 0.0..f64::from(last), 0.0..top * 1.15, &axis, "cycles of all")?;
    mark(&mut chart, f64::from(registers), &registers.to_string(), (0.0, top * 1.15))?;
    draw(&mut chart, &curves)
}

fn over_bursts(panel: &Area<'_>, measured: &Measured) -> Result<(), String> {
    let burst = measured.machine.burst;
    let curves = [(String::new(), plain(&measured.bursts))];
    let title = format!("first access to a packet: bursts of {burst} suffice");
    doubling(panel, &curves, &title, ("packets in a burst", burst))
}

/// What an echo costs a packet by the batch, and what work is free with each.
fn over_batches(panel: &Area<'_>, seen: &Saturation) -> Result<(), String> {
    let batch = seen.batch().unwrap_or(0);
    let title = format!("echo on {}: batches of {batch} suffice", name(seen));
    let curves = [("echo".to_string(), plain(&seen.batches)), ("work at no cost".to_string(), plain(&seen.free))];
    doubling(panel, &curves, &title, ("packets taken at once", batch))
}

fn over_rings(panel: &Area<'_>, seen: &Saturation) -> Result<(), String> {
    let (what, axis) =
        if seen.device.is_some() { ("descriptors", "descriptors in the ring") } else { ("buffers", "buffers") };
    let ring = seen.ring().unwrap_or(0);
    let title = format!("echo on {}: {ring} {what} suffice", name(seen));
    doubling(panel, &[("echo".to_string(), plain(&seen.rings))], &title, (axis, ring))
}

fn name(seen: &Saturation) -> &str {
    seen.device.as_deref().unwrap_or("the in-memory port")
}

/// Cycles per packet over counts of which each is twice the one before; the one that suffices is marked.
fn doubling(panel: &Area<'_>, curves: &[Curve], title: &str, (about, enough): (&str, u32)) -> Result<(), String> {
    let all = || curves.iter().flat_map(|(_, points)| points);
    let first = all().map(|(x, _)| *x).fold(f64::INFINITY, f64::min).min(1024.0);
    let (last, top) = all().fold((first * 2.0, 1.0_f64), |(last, top), (x, y)| (last.max(*x), top.max(*y)));
    let room = headed(panel, title, "", curves)?;
    let x: LogCoord<f64> = (first..last).log_scale().base(2.0).into();
    let y: RangedCoordf64 = (0.0..top * 1.15).into();
    let mut chart = chart(&room, x, y, &Axis { about, number: COUNTS }, "cycles per packet")?;
    if enough > 0 {
        mark(&mut chart, f64::from(enough), &enough.to_string(), (0.0, top * 1.15))?;
    }
    draw(&mut chart, curves)
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
        let svg = curves(&measured, &[(1, 48), (2, 1280)]).expect("the curves can be drawn");
        for about in [
            "loads",
            "stream with prefetch T0",
            "stream with prefetch T1",
            "group: prefetch T0 all",
            "T1 and 60 operations",
            "memory-level parallelism",
            "TLB miss cost",
            "reorder buffer: ",
            "miss registers",
            "bursts of ",
            "L1: 48 KB",
            "L2: 1.25 MB",
            "the in-memory port: batches of 2",
            "the in-memory port: 2 buffers",
        ] {
            assert!(svg.contains(about), "{about}");
        }
        assert!(
            !svg.contains("gathers") && !svg.contains("group: prefetch T1") && !svg.contains("T0 and 60 operations")
        );
    }

    #[test]
    fn a_machines_curves_have_steps_between_the_levels_of_its_caches() {
        let text = include_str!("../../../../machines/epyc-genoa.toml");
        let machine = Machine::parse(text).expect("the file is a machine's");
        let steps = steps_kb(&machine);
        assert!((2..=4).contains(&steps.len()) && steps.is_sorted(), "{steps:?}");
        assert!((16..=64).contains(&steps[0].0) && (256..=2048).contains(&steps[1].0), "{steps:?}");
        assert!(steps.iter().all(|(from, to)| from < to), "{steps:?}");
        assert!(levels(&machine, &[])[0].1.starts_with("L1: ") && levels(&machine, &[])[0].1.contains(" to "));
    }

    #[test]
    fn an_echo_on_a_port_at_hand_is_drawn_alone_and_its_ring_where_it_has_one() {
        let batches = vec![(1, 60.0), (32, 40.0)];
        let device = Some("net_memif".to_string());
        let rings = vec![(64, 40.0), (128, 39.0)];
        let mut seen = Saturation { device, free: batches.clone(), batches, rings, spread: 0.0 };
        let drawn = echo(&seen).expect("the curves can be drawn");
        assert!(drawn.contains("net_memif: batches of 32") && drawn.contains("net_memif: 64 descriptors"), "{drawn}");
        seen.rings.clear();
        assert!(!echo(&seen).expect("the curve can be drawn").contains("descriptors"));
    }
}
