//! What becomes of the driver's descriptor of a packet (*PacketMill*, section 4): three models, each with the best plan, on in-memory ports.

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Bars, Rows, case_name, finding, speedup};

const TIMES: (&str, Better) = ("times the packets a second", Better::More);
const MODELS: [&str; 3] = ["copying", "overlaying", "exchange"];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut bars: [Bars; 3] = Default::default();
    for (number, case) in cases.iter().enumerate() {
        for (model, bars) in MODELS.iter().zip(&mut bars) {
            let Some(row) = rows.row(*case, model) else { continue };
            let what = format!("cycles per packet, {model}");
            // The model knows no copies: what it predicts is the program's own descriptor.
            let both = (row.cycles, row.committed.filter(|_| *model != "copying"));
            reading.findings.push(finding(case_name(*case), &what, ("cycles", Better::Less), None, both));
            if let Some(copying) = rows.row(*case, "copying") {
                bars.push(number, None, speedup(copying, row));
            }
        }
        let Some(exchange) = rows.row(*case, "exchange") else { continue };
        for model in &MODELS[..2] {
            let Some(row) = rows.row(*case, model) else { continue };
            let what = format!("exchange against {model}");
            let (measured, predicted) = speedup(row, exchange);
            let both = (measured, predicted.filter(|_| *model != "copying"));
            reading.findings.push(finding(case_name(*case), &what, TIMES, None, both));
        }
    }
    let names = cases.iter().map(|case| case_name(*case)).collect();
    let mut figure = Figure::bars("Metadata models", "packets a second, as a multiple of copying", names);
    for (colour, (model, bars)) in MODELS.iter().zip(bars).enumerate() {
        figure.add(model, Role::Measured, colour, bars.measured);
    }
    reading.figures.push(figure);
    reading.notes.push(
        "no device: the in-memory ports write to each packet what a NIC and its driver write, so the differences are \
         those of the descriptors alone"
            .into(),
    );
    reading
}
