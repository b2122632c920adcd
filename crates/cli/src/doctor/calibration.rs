//! The age of the machine file, and whether this machine still agrees with it.

use super::finding::{Finding, State};
use super::measured::{BYTES, Measured};
use driver::machine_file;
use opt::inputs::{Access, Machine};
use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const OF: &str = "calibration";
/// A kernel, a microcode or a host has changed by then.
const OLD_DAYS: u64 = 180;
/// A point that differs by more is another machine's.
const FAR: f64 = 1.3;
const MEND: &str = "bacus calibrate";

pub fn check(measured: &Measured) -> Finding {
    match machine_file::calibrated_file() {
        None => missing(measured),
        Some(path) => of_file(&path, measured),
    }
}

fn missing(measured: &Measured) -> Finding {
    let finding = Finding::new(OF, State::Slower, "none: plans are made for the default machine model").mended(MEND);
    match measured.line {
        Some(line) => finding.costs(format!("{} in the default model", compared(line, &Machine::default()))),
        None => finding,
    }
}

/// A line of 64 MB as it was measured now, beside that of a machine file.
fn compared(now: f64, machine: &Machine) -> String {
    format!("a line of {} MB takes {now:.0} cycles here, and {:.0}", BYTES >> 20, in_file(machine))
}

fn in_file(machine: &Machine) -> f64 {
    machine.line_cycles(Access::Load, BYTES as u64, 1)
}

fn of_file(path: &Path, measured: &Measured) -> Finding {
    let text = fs::read_to_string(path).unwrap_or_default();
    match Machine::parse(&text) {
        Err(message) => {
            Finding::new(OF, State::Slower, format!("{} is not used: {message}", path.display())).mended(MEND)
        }
        Ok(machine) => of_machine(&path.display().to_string(), &machine, (&machine_file::cpu(), today()), measured),
    }
}

fn of_machine(file: &str, machine: &Machine, (cpu, today): (&str, u64), measured: &Measured) -> Finding {
    if machine.cpu != cpu {
        let text = format!("{file} is not used: it was measured on {}, this is {cpu}", machine.cpu);
        return Finding::new(OF, State::Slower, text).mended(MEND);
    }
    let Some(days) = days(&machine.calibrated).map(|day| today.saturating_sub(day)) else {
        return Finding::new(OF, State::Note, format!("{file} has no date that can be read")).mended(MEND);
    };
    let text = format!("{file}, {days} days old");
    let differs = measured.line.filter(|now| now / in_file(machine) > FAR || in_file(machine) / now > FAR);
    match differs {
        Some(now) => Finding::new(OF, State::Slower, text)
            .costs(format!("plans are for another machine: {} in the file", compared(now, machine)))
            .mended(format!("{MEND}, on an idle machine")),
        None if days > OLD_DAYS => Finding::new(OF, State::Note, text).mended(MEND),
        None => Finding::ok(OF, text),
    }
}

fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// Days since 1970 of a time such as `2026-11-21T13:40:00Z`, by the proleptic Gregorian calendar.
fn days(time: &str) -> Option<u64> {
    let date = time.split('T').next()?;
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that leap days end a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days() {
        assert_eq!(days("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(days("2000-02-29T00:00:00Z"), Some(951_782_400 / 86_400));
        assert_eq!(days("2026-11-21T13:39:59Z"), Some(1_795_268_399 / 86_400));
        assert_eq!([days(""), days("yesterday"), days("2026-13-01T")], [None; 3]);
    }

    #[test]
    fn a_file_is_of_this_processor_young_and_true() {
        let mut machine =
            Machine { cpu: "here".to_string(), calibrated: "2026-11-21T00:00:00Z".to_string(), ..Machine::default() };
        let day = days(&machine.calibrated).expect("it is a date");
        let line = in_file(&machine);
        let state = |machine: &Machine, today: u64, line: f64| {
            let measured = Measured { line: Some(line), ..Measured::default() };
            of_machine("x.toml", machine, ("here", today), &measured).state
        };
        assert_eq!(state(&machine, day + 10, line), State::Ok);
        assert_eq!(state(&machine, day + 200, line), State::Note);
        assert_eq!(state(&machine, day + 10, line * 2.0), State::Slower);
        assert_eq!(state(&machine, day + 10, line / 2.0), State::Slower);
        machine.cpu = "there".to_string();
        assert_eq!(state(&machine, day + 10, line), State::Slower);
    }
}
