//! What the switch has done: lookups by table, drops by reason, packets by worker, and the balance of all packets.

use super::Session;
use super::input::Input;
use crate::failure::Failure;
use crate::names::Named as _;
use crate::output::{Cell, Form, Report};
use control::message::switch::{Count, ReportResponse, Table, Worker};

impl Session {
    pub fn stats(&mut self, input: &Input) -> Result<(), Failure> {
        input.finish()?;
        let report = self.report()?;
        let names = self.names_if_any()?;
        let size = |table: &Table| {
            let tables = names.iter().flat_map(|names| &names.info.tables);
            tables.filter(|known| known.name() == table.name).map(|known| known.size).next()
        };
        let mut tables = Report::new(&["table", "hits", "misses", "used", "size"]);
        for table in &report.tables {
            let counts = [table.hits, table.misses, table.entries].map(Cell::from);
            tables.row([vec![table.name.as_str().into()], counts.to_vec(), vec![size(table).into()]].concat());
        }
        let reports = [
            tables,
            counts(["dropped", "packets"], &report.drops),
            workers(&report.workers),
            counts(["event", "count"], &report.events),
            balance(&report),
            code(&report),
            facts(&report),
            sample(&report),
        ];
        let printed: Vec<String> = reports.iter().map(|report| report.print(self.form)).collect();
        let printed = printed.into_iter().filter(|text| !text.is_empty());
        // Tables of different columns need a line between them.
        let between = if self.form == Form::Json { "" } else { "\n" };
        let text = printed.collect::<Vec<_>>().join(between);
        (self.print)(&text);
        Ok(())
    }
}

fn counts(columns: [&str; 2], counts: &[Count]) -> Report {
    let mut report = Report::new(&columns);
    counts.iter().for_each(|count| report.row(vec![count.name.as_str().into(), count.count.into()]));
    report
}

fn workers(workers: &[Worker]) -> Report {
    let mut report = Report::new(&["worker", "packets_in", "packets_out", "idle_polls"]);
    for worker in workers {
        report.row(vec![worker.number.into(), worker.received.into(), worker.handed.into(), worker.idle_polls.into()]);
    }
    report
}

/// Which code runs, and why, where the switch specialises it.
fn code(report: &ReportResponse) -> Report {
    let mut code = Report::new(&["code", "loaded", "broken", "last"]);
    if let Some(it) = &report.code {
        let kind = if it.specialised { "specialised" } else { "generic" };
        code.row(vec![kind.into(), it.loaded.into(), it.broken.into(), it.last.as_str().into()]);
    }
    code
}

/// What specialised code takes for granted.
fn facts(report: &ReportResponse) -> Report {
    let mut facts = Report::new(&["specialised_for"]);
    report.code.iter().flat_map(|code| &code.facts).for_each(|fact| facts.row(vec![fact.as_str().into()]));
    facts
}

/// Where the packets part that specialised code was planned for.
fn sample(report: &ReportResponse) -> Report {
    let mut branches = Report::new(&["planned_for", "to", "packets", "of_sample"]);
    let sample = report.code.iter().filter_map(|code| code.sample.as_ref());
    for (sample, branch) in sample.flat_map(|sample| sample.branches.iter().map(move |branch| (sample, branch))) {
        let names = [branch.from.as_str(), branch.to.as_str()].map(Cell::from);
        branches.row([&names[..], &[branch.packets.into(), sample.packets.into()]].concat());
    }
    branches
}

/// Where each packet has gone: in + copies = out + dropped + not sent + to the controller.
fn balance(report: &ReportResponse) -> Report {
    let mut balance = Report::new(&["in", "copies", "out", "dropped", "not_sent", "to_controller"]);
    balance.row(vec![
        report.received.into(),
        // Below zero while packets are within the program.
        Cell::shown(report.copies.to_string(), report.copies.into()),
        report.sent.into(),
        report.drops.iter().map(|drop| drop.count).sum::<u64>().into(),
        report.not_sent.into(),
        report.to_controller.into(),
    ]);
    balance
}
