//! The cells as a picture: for each application and traffic, cycles a packet over the entries, a curve a variant.

use super::report::Record;
use plotters::coord::Shift;
use plotters::prelude::*;

const WIDTH: u32 = 560;
const HEIGHT: u32 = 420;
const COLUMNS: usize = 2;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub fn svg(records: &[Record]) -> Result<String, String> {
    let panels = panels(records);
    let rows = panels.len().div_ceil(COLUMNS).max(1);
    let mut svg = String::new();
    {
        let root =
            SVGBackend::with_string(&mut svg, (WIDTH * COLUMNS as u32, HEIGHT * rows as u32)).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        for (area, (title, rows)) in root.split_evenly((rows, COLUMNS)).iter().zip(&panels) {
            panel(area, title, rows)?;
        }
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("the picture cannot be drawn: {error}")
}

fn panels(records: &[Record]) -> Vec<(String, Vec<&Record>)> {
    let mut panels: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let title = format!("{}, {}, {}", record.cell.application, record.cell.experiment, record.traffic);
        match panels.iter_mut().find(|(known, _)| *known == title) {
            Some((_, rows)) => rows.push(record),
            None => panels.push((title, vec![record])),
        }
    }
    panels
}

/// A variant's cycles over the entries, at its best burst.
fn curve(rows: &[&Record], variant: &str) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for row in rows.iter().filter(|row| row.variant == variant) {
        let entries = row.cell.size as f64;
        match points.iter_mut().find(|(at, _)| *at == entries) {
            Some((_, cycles)) => *cycles = cycles.min(row.cycles),
            None => points.push((entries, row.cycles)),
        }
    }
    points
}

fn panel(area: &Area<'_>, title: &str, rows: &[&Record]) -> Result<(), String> {
    let sizes = rows.iter().map(|row| row.cell.size as f64);
    let (first, last) = sizes.fold((f64::MAX, 1.0f64), |(low, high), size| (low.min(size), high.max(size)));
    let top = rows.iter().map(|row| row.cycles).fold(1.0, f64::max) * 1.3;
    let bottom = rows.iter().map(|row| row.limit.min(row.floor)).fold(f64::MAX, f64::min).max(1.0) * 0.8;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 16))
        .margin(10)
        .x_label_area_size(34)
        .y_label_area_size(50)
        .build_cartesian_2d((first * 0.8..last * 1.25).log_scale(), (bottom..top).log_scale())
        .map_err(failed)?;
    chart.configure_mesh().max_light_lines(1).x_desc("entries").y_desc("cycles a packet").draw().map_err(failed)?;
    let mut variants: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if !variants.contains(&row.variant.as_str()) {
            variants.push(&row.variant);
        }
    });
    for (number, variant) in variants.iter().enumerate() {
        let colour = Palette99::pick(number).to_rgba();
        let series = LineSeries::new(curve(rows, variant), colour.stroke_width(2)).point_size(3);
        chart
            .draw_series(series)
            .map_err(failed)?
            .label(*variant)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    let labels = &mut chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8)).draw().map_err(failed)
}
