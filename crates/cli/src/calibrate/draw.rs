//! The curves of a calibration: what a line costs over the working set, and where misses stop overlapping.

use super::measure::{Measured, size_name};
use opt::inputs::Access;
use plotters::coord::Shift;
use plotters::prelude::*;

const WIDTH: u32 = 1100;
const HEIGHT: u32 = 900;
/// Lines in flight that have a curve of their own.
const CURVES: [u32; 5] = [1, 4, 16, 32, 64];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub fn curves(measured: &Measured) -> Result<String, String> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, HEIGHT)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        let panels = root.split_evenly((2, 2));
        lines(&panels[0], measured, Access::Load, "loads")?;
        lines(&panels[1], measured, Access::PrefetchT0, "a stream, prefetched so far ahead")?;
        let window: Vec<(f64, f64)> = measured.windows.iter().map(|(x, y)| (f64::from(*x), *y)).collect();
        let about = format!("two misses, instructions between them: a window of {}", measured.machine.window);
        points(&panels[2], &window, &about, "instructions")?;
        let bursts: Vec<(f64, f64)> = measured.bursts.iter().map(|(x, y)| (f64::from(*x), *y)).collect();
        let about = format!("first touch of a packet by burst: {} is enough", measured.machine.burst);
        points(&panels[3], &bursts, &about, "packets to a burst")?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("the curves cannot be drawn: {error}")
}

/// Cycles a line over the working set, a curve for each count in flight.
fn lines(area: &Area<'_>, measured: &Measured, access: Access, about: &str) -> Result<(), String> {
    let machine = &measured.machine;
    let sizes = &machine.lines.working_set_kb;
    let (first, last) = (sizes[0] as f64, *sizes.last().unwrap_or(&sizes[0]) as f64);
    let top = CURVES.iter().flat_map(|count| sizes.iter().map(|kb| machine.line_cycles(access, kb << 10, *count)));
    let top = top.fold(1.0, f64::max) * 1.2;
    let mut chart = ChartBuilder::on(area)
        .caption(format!("cycles a line: {about}"), ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d((first..last).log_scale(), (0.2..top).log_scale())
        .map_err(failed)?;
    chart
        .configure_mesh()
        .x_label_formatter(&|kb| size_name(*kb as u64))
        .x_desc("working set")
        .y_desc("cycles")
        .draw()
        .map_err(failed)?;
    for (number, count) in CURVES.iter().enumerate() {
        let colour = Palette99::pick(number).to_rgba();
        let curve = sizes.iter().map(|kb| (*kb as f64, machine.line_cycles(access, kb << 10, *count)));
        let series = LineSeries::new(curve, colour.stroke_width(2));
        let name = if *count == 1 { "1 line".to_string() } else { format!("{count} lines") };
        chart
            .draw_series(series)
            .map_err(failed)?
            .label(name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    let labels = &mut chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw().map_err(failed)
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
