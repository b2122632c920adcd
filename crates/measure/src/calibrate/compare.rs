//! Whether two machine files agree: which of their points differ by more than two runs on an idle machine do.

use super::measure::size_name;
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use std::fmt::Write as _;

/// Points may differ by so much, relative to the smaller.
const CLOSE: f64 = 0.1;
/// Or by so many cycles: with costs of one or two, a tenth is less than the clock resolves.
const CYCLES: f64 = 0.25;

/// A point of both files.
struct Point {
    name: String,
    one: f64,
    other: f64,
    agrees: bool,
}

impl Point {
    fn new(name: String, one: f64, other: f64) -> Point {
        let apart = (one - other).abs();
        Point { name, one, other, agrees: apart <= one.min(other) * CLOSE || apart <= CYCLES }
    }

    /// How far the other is from the one, relative to it; costs of nothing are as close as a clock resolves.
    fn error(&self) -> f64 {
        if self.one == self.other { 0.0 } else { self.other / self.one.max(CYCLES) - 1.0 }
    }

    /// Something of which only some values were tried, each twice the one before or less: the next one is as close as can be.
    fn step(name: &str, one: u32, other: u32) -> Point {
        let agrees = one.max(other) <= 2 * one.min(other);
        Point { name: name.to_string(), one: f64::from(one), other: f64::from(other), agrees }
    }
}

/// Messages about two files, and whether they agree.
pub fn compare(one: &Machine, other: &Machine) -> (String, bool) {
    let points = points(one, other);
    let apart: Vec<&Point> = points.iter().filter(|point| !point.agrees).collect();
    let mut text = String::new();
    if one.cpu != other.cpu {
        let _ = writeln!(text, "two processors: {} and {}", one.cpu, other.cpu);
    }
    for point in &apart {
        let (Point { name, one, other, .. }, error) = (point, point.error() * 100.0);
        let _ = writeln!(text, "{name:<58} {one:>9.2} {other:>9.2} {error:>+6.0} %");
    }
    let mut errors: Vec<f64> = points.iter().map(|point| point.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let _ = writeln!(
        text,
        "{} of {} points agree within {:.0} %; half of them differ by less than {:.1} %",
        points.len() - apart.len(),
        points.len(),
        CLOSE * 100.0,
        errors[errors.len() / 2] * 100.0
    );
    (text, apart.is_empty())
}

fn points(one: &Machine, other: &Machine) -> Vec<Point> {
    let mut points = vec![
        Point::new("ticks a microsecond".to_string(), one.ticks_per_us, other.ticks_per_us),
        Point::new("core cycles per tick".to_string(), one.core_per_tick, other.core_per_tick),
        Point::new("cycles of a mispredicted branch".to_string(), one.mispredict_cycles, other.mispredict_cycles),
        // A hundred operations are a packet's.
        Point::new("a hundred operations".to_string(), one.operation_cycles * 100.0, other.operation_cycles * 100.0),
        Point::step("instructions in the window", one.window, other.window),
        Point::step("lines in flight that are enough", one.parallelism, other.parallelism),
        Point::step("packets to a burst that are enough", one.burst, other.burst),
    ];
    if let (Some(one), Some(other)) = (one.misses, other.misses) {
        points.push(Point::step("misses at a time", one, other));
    }
    if let (Some(one), Some(other)) = (&one.tlb, &other.tlb) {
        for (kb, (a, b)) in one.span_kb.iter().zip(one.load.iter().zip(&other.load)) {
            points.push(Point::new(format!("a line more pages away, {}, loaded", size_name(*kb)), *a, *b));
        }
        for (kb, (a, b)) in one.span_kb.iter().zip(one.stream.iter().zip(&other.stream)) {
            points.push(Point::new(format!("a line more pages away, {}, in a stream", size_name(*kb)), *a, *b));
        }
    }
    for (burst, (a, b)) in one.port.burst.iter().zip(one.port.own.iter().zip(&other.port.own)) {
        points.push(Point::new(format!("port, bursts of {burst}"), *a, *b));
    }
    points.extend(of_echo(&one.port, &other.port));
    if one.port.mbuf_measured && other.port.mbuf_measured {
        for (burst, (a, b)) in one.port.burst.iter().zip(one.port.mbuf.iter().zip(&other.port.mbuf)) {
            points.push(Point::new(format!("port with mbufs, bursts of {burst}"), *a, *b));
        }
    }
    let (stages, beside) = (one.stages(), other.stages());
    let of_stages = [
        // As above.
        ("a hundred operations in stages", stages.operation_cycles * 100.0, beside.operation_cycles * 100.0),
        ("a request", stages.prefetch_cycles, beside.prefetch_cycles),
        ("a loop over a group", stages.loop_cycles, beside.loop_cycles),
        ("a packet that waits for the next group", stages.pipelining_cycles, beside.pipelining_cycles),
    ];
    points.extend(of_stages.map(|(name, a, b)| Point::new(name.to_string(), a, b)));
    if let (Some(one), Some(other)) = (one.vector, other.vector) {
        points.push(Point::step("packets to a vector", one.packets, other.packets));
        let cycles = [one, other].map(|lanes| lanes.operation_cycles * 100.0);
        points.push(Point::new("a hundred operations in lanes".to_string(), cycles[0], cycles[1]));
    }
    let (lines, others) = (&one.lines, &other.lines);
    for access in Access::ALL {
        let rows = lines.working_set_kb.iter().zip(lines.table(access).iter().zip(others.table(access)));
        for (kb, (row, next)) in rows {
            for (count, (a, b)) in lines.in_flight.iter().zip(row.iter().zip(next)) {
                points.push(Point::new(
                    format!("{}, {}, {count} lines in flight", access.name(), size_name(*kb)),
                    *a,
                    *b,
                ));
            }
        }
    }
    points
}

/// What saturates an echo, if both files have it for the same port.
fn of_echo(one: &Port, other: &Port) -> Vec<Point> {
    if one.device != other.device {
        return Vec::new();
    }
    let step = |name, one: Option<u32>, other: Option<u32>| Some(Point::step(name, one?, other?));
    let free = |one: Option<f64>, other: Option<f64>| {
        Some(Point::new("cycles of work that are free".to_string(), one?, other?))
    };
    let points = [
        step("a ring that is enough", one.ring, other.ring),
        step("packets taken at once that are enough", one.batch, other.batch),
        free(one.free_cycles, other.free_cycles),
    ];
    points.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cost_nothing_is_compared_with_the_least_that_a_clock_measures() {
        let error = |one, other| Point::new(String::new(), one, other).error();
        assert_eq!((error(0.0, 0.0), error(0.0, 1.0), error(2.0, 3.0)), (0.0, 3.0, 0.5));
    }

    #[test]
    fn a_point_that_moved_is_named() {
        let one = Machine::default();
        assert!(compare(&one, &one).1);
        let mut other = one.clone();
        other.lines.load[3][0] *= 1.5;
        let (text, agrees) = compare(&one, &other);
        assert!(
            !agrees && text.contains("load, ") && text.contains("1 lines in flight") && text.contains("+50 %"),
            "{text}"
        );
    }

    #[test]
    fn echoes_of_the_same_port_are_compared() {
        let port = |device: &str, ring, free| Port {
            device: Some(device.to_string()),
            ring,
            batch: Some(32),
            free_cycles: Some(free),
            ..Port::default()
        };
        let agree =
            |one: &Port, other: &Port| of_echo(one, other).iter().map(|point| point.agrees).collect::<Vec<bool>>();
        let one = port("net_memif", Some(64), 30.0);
        assert_eq!(agree(&one, &port("net_memif", Some(128), 40.0)), [true, true, false]);
        assert_eq!(agree(&one, &port("net_memif", None, 31.0)), [true, true]);
        assert_eq!(agree(&one, &port("net_ring", Some(512), 90.0)), [true; 0]);
    }

    #[test]
    fn a_quarter_of_a_cycle_and_a_step_are_no_difference() {
        assert!(Point::new(String::new(), 1.0, 1.2).agrees && !Point::new(String::new(), 10.0, 11.2).agrees);
        assert!(Point::step("", 32, 64).agrees && !Point::step("", 32, 128).agrees);
    }
}
