//! The machine model that `bacus calibrate` writes: the cost of a cache line by working set and by lines in
//! flight.
//!
//! Cycles are those of the time stamp counter. Virtual machines misreport caches, so nothing here comes from
//! a manual. A wrong or missing file costs speed, never correctness: passes then use the default model,
//! [`Machine::default`].

use super::access::Access;
pub use super::port::Port;
use super::tlb::Tlb;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The version of the calibration method. Raise it when calibration measures something else, or measures it
/// so that the same machine gives other numbers: the model's constants are fitted to one method. A file of
/// another method is calibrated anew.
pub const METHOD: u32 = 11;

/// Bounds that no machine exceeds: cycles of an operation, a line or a branch misprediction, cycles between
/// two packets, clock rates, counts and sizes. With them, predictions stay finite and comparable.
const LEAST_CYCLES: f64 = 1e-6;
pub const MOST_CYCLES: f64 = 1e5;
pub const LONGEST_FREE: f64 = 1e9;
const MOST_TICKS_PER_US: f64 = 1e5;
const MOST_CORE_PER_TICK: f64 = 1e3;
const MOST_COUNT: u32 = 1 << 16;
pub const MOST_KB: u64 = 1 << 40;
const SMALLEST_PAGE: u64 = 4096;

/// A machine file. Unknown keys are errors, so that a misspelt key is not silently a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name of the processor as it reports it, with family and model.
    pub cpu: String,
    /// Time of the measurement: `2026-11-21T13:40:00Z`.
    pub calibrated: String,
    /// Method of the measurement: [`METHOD`] of the program that wrote the file.
    pub method: u32,
    /// Ticks of the time stamp counter per microsecond.
    pub ticks_per_us: f64,
    /// Core cycles per tick.
    pub core_per_tick: f64,
    /// Size of the pages that the measured memory had.
    pub page_bytes: u64,
    /// Half the interquartile range of the samples relative to their median; the median over all points.
    pub spread: f64,
    /// Size of the reorder buffer in instructions.
    pub window: u32,
    /// Lines in flight that saturate memory: the smallest measured count at which loads of the largest
    /// working set cost about their minimum.
    pub parallelism: u32,
    /// Outstanding misses of loads (miss registers). The model does not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses: Option<u32>,
    /// Packets per burst at which the first touch of each costs least.
    pub burst: u32,
    pub mispredict_cycles: f64,
    /// Cycles of one operation of generated code whose operands are in registers or L1.
    #[serde(default = "default_operation_cycles")]
    pub operation_cycles: f64,
    /// Bytes of the widest vectors. Missing in the default model; then code may use any vectors that the C
    /// compiler finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_bytes: Option<u32>,
    #[serde(default)]
    pub port: Port,
    /// Estimated in the default model.
    #[serde(default)]
    pub stages: Option<Stages>,
    /// Missing without suitable vectors: then no stage is planned as vector code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<VectorUnit>,
    /// Missing in the default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb: Option<Tlb>,
    pub lines: Lines,
}

/// What is read of a file first: the rest of it may have any form.
#[derive(Deserialize)]
struct Method {
    method: Option<u32>,
}

/// Cost of vector code in the first stage of the hot path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorUnit {
    /// Packets per vector: 8 or 16, whichever costs less per packet.
    pub packets: u32,
    /// Cycles of one vector operation.
    pub operation_cycles: f64,
}

/// Costs of the stages of a hot path, apart from memory stalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// Cycles of one operation in the loops of stages.
    pub operation_cycles: f64,
    /// Cycles of one prefetch: the line's address is stored, loaded again, and prefetched.
    #[serde(default)]
    pub prefetch_cycles: f64,
    /// Cycles of each loop over a group: one branch misprediction at its end, and the restart of the
    /// pipeline.
    pub loop_cycles: f64,
    /// Cycles per packet that software pipelining costs: the packet's state is kept until the next group has
    /// arrived.
    pub pipelining_cycles: f64,
}

/// Default for a machine whose file lacks it.
const DEFAULT_VECTOR_BYTES: u32 = 32;

/// Default share of a stream's cost that work between its lines does not hide.
const EXPOSED_SHARE: f64 = 0.5;

/// Default for a machine whose file lacks it.
fn default_operation_cycles() -> f64 {
    0.35
}

/// Cycles per cache line. Row `i` of a table is for `working_set_kb[i]`, column `j` for `in_flight[j]` lines
/// in flight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    pub working_set_kb: Vec<u64>,
    pub in_flight: Vec<u32>,
    pub load: Vec<Vec<f64>>,
    /// Empty if the processor has no gather instruction.
    #[serde(default)]
    pub gather: Vec<Vec<f64>>,
    pub prefetch_t0: Vec<Vec<f64>>,
    pub prefetch_t1: Vec<Vec<f64>>,
    /// A group of lines is prefetched to L1, then read. Estimated in the default model, as the next three.
    #[serde(default)]
    pub group_t0: Vec<Vec<f64>>,
    /// The same, prefetched to L2.
    #[serde(default)]
    pub group_t1: Vec<Vec<f64>>,
    /// A stream with a packet's work between its lines, this work included. Its excess over a line in L1 is
    /// exposed latency: no work hides it.
    #[serde(default)]
    pub busy_t0: Vec<Vec<f64>>,
    #[serde(default)]
    pub busy_t1: Vec<Vec<f64>>,
}

impl Default for Machine {
    /// The default machine model, for a host without calibration: a conservative recent server core with
    /// three cache levels.
    fn default() -> Self {
        let rows = |scale: f64| -> Vec<Vec<f64>> {
            let latency: [f64; 4] = [4.0, 12.0, 50.0, 300.0];
            latency
                .iter()
                .map(|cycles| [1.0, 4.0, 16.0, 64.0].map(|lines| (cycles / lines).max(1.0) * scale).to_vec())
                .collect()
        };
        Machine {
            cpu: "unknown".to_string(),
            calibrated: "never".to_string(),
            method: METHOD,
            ticks_per_us: 2500.0,
            core_per_tick: 1.0,
            page_bytes: 4096,
            spread: 0.0,
            window: 128,
            parallelism: 10,
            misses: None,
            burst: 32,
            mispredict_cycles: 15.0,
            operation_cycles: default_operation_cycles(),
            vector_bytes: None,
            port: Port::default(),
            stages: None,
            vector: None,
            tlb: None,
            lines: Lines {
                working_set_kb: vec![32, 512, 8 << 10, 256 << 10],
                in_flight: vec![1, 4, 16, 64],
                load: rows(1.0),
                gather: rows(1.2),
                prefetch_t0: rows(1.0),
                prefetch_t1: rows(1.0),
                group_t0: Vec::new(),
                group_t1: Vec::new(),
                busy_t0: Vec::new(),
                busy_t1: Vec::new(),
            },
        }
    }
}

impl Machine {
    /// Reads a machine file. The message names the mistake and its place.
    pub fn parse(text: &str) -> Result<Machine, String> {
        let Method { method } = toml::from_str(text).map_err(|error| with_position(&error, text))?;
        if method.is_some_and(|method| method != METHOD) {
            return Err("another `bacus calibrate` wrote it, which had another method".to_string());
        }
        let machine: Machine = toml::from_str(text).map_err(|error| with_position(&error, text))?;
        machine.check().map(|()| machine)
    }

    pub fn print(&self) -> String {
        toml::to_string(self).expect("a machine has nothing that TOML cannot express")
    }

    /// Bytes of the vectors that plans assume.
    pub fn vector_bytes(&self) -> u32 {
        self.vector_bytes.unwrap_or(DEFAULT_VECTOR_BYTES)
    }

    /// Rejects values that no measurement gives.
    fn check(&self) -> Result<(), String> {
        let lines = &self.lines;
        if !is_ascending(&lines.working_set_kb, MOST_KB) {
            return Err(format!("lines.working_set_kb: expected sizes that rise, from 1 to {MOST_KB}"));
        }
        let in_flight: Vec<u64> = lines.in_flight.iter().map(|count| u64::from(*count)).collect();
        if !is_ascending(&in_flight, u64::from(MOST_COUNT)) {
            return Err(format!("lines.in_flight: expected counts that rise, from 1 to {MOST_COUNT}"));
        }
        for access in Access::ALL {
            check_table(access, lines)?;
        }
        if let Some(tlb) = &self.tlb {
            tlb.check()?;
        }
        expect("ticks_per_us", self.ticks_per_us, 1.0..=MOST_TICKS_PER_US)?;
        expect("core_per_tick", self.core_per_tick, 1.0 / MOST_CORE_PER_TICK..=MOST_CORE_PER_TICK)?;
        self.check_cycles()?;
        self.port.check()?;
        if !matches!(self.vector_bytes, None | Some(16 | 32 | 64)) {
            return Err("vector_bytes: expected 16, 32 or 64".to_string());
        }
        if self.page_bytes < SMALLEST_PAGE || !self.page_bytes.is_power_of_two() {
            return Err(format!("page_bytes: expected a power of two, from {SMALLEST_PAGE} on"));
        }
        let counts = [("burst", self.burst), ("parallelism", self.parallelism), ("window", self.window)];
        let misses = ("misses", self.misses.unwrap_or(1));
        counts.into_iter().chain([misses]).try_for_each(|(name, count)| expect_count(name, count))
    }

    fn check_cycles(&self) -> Result<(), String> {
        expect("mispredict_cycles", self.mispredict_cycles, LEAST_CYCLES..=MOST_CYCLES)?;
        expect("operation_cycles", self.operation_cycles, LEAST_CYCLES..=MOST_CYCLES)?;
        if let Some(stages) = &self.stages {
            expect("stages.operation_cycles", stages.operation_cycles, LEAST_CYCLES..=MOST_CYCLES)?;
            expect("stages.prefetch_cycles", stages.prefetch_cycles, 0.0..=MOST_CYCLES)?;
            expect("stages.loop_cycles", stages.loop_cycles, 0.0..=MOST_CYCLES)?;
            expect("stages.pipelining_cycles", stages.pipelining_cycles, 0.0..=MOST_CYCLES)?;
        }
        let Some(vector) = &self.vector else { return Ok(()) };
        if !matches!(vector.packets, 8 | 16) {
            return Err("vector.packets: expected 8 or 16".to_string());
        }
        expect("vector.operation_cycles", vector.operation_cycles, LEAST_CYCLES..=MOST_CYCLES)
    }

    /// Cycles per line with `in_flight` lines of `working_set_bytes` in flight. Bilinear interpolation over
    /// the logarithms of both; outside the measured range, the nearest point.
    pub fn line_cycles(&self, access: Access, working_set_bytes: u64, in_flight: u32) -> f64 {
        if self.lines.table(access).is_empty() {
            return self.estimated(access, working_set_bytes, in_flight);
        }
        let table = self.lines.table(access);
        let (row, down) =
            locate_log(&self.lines.working_set_kb, |kb| *kb as f64 * 1024.0, working_set_bytes.max(1) as f64);
        let (column, right) = locate_log(&self.lines.in_flight, |count| f64::from(*count), f64::from(in_flight.max(1)));
        let columns = self.lines.in_flight.len();
        let at = |row: usize, column: usize| table[row.min(table.len() - 1)][column.min(columns - 1)];
        let upper = at(row, column) * (1.0 - right) + at(row, column + 1) * right;
        let lower = at(row + 1, column) * (1.0 - right) + at(row + 1, column + 1) * right;
        upper * (1.0 - down) + lower * down
    }

    /// Excess cycles of a line that is alone on its small page, where these pages have `span` bytes in total:
    /// the TLB misses. Zero if the file lacks it.
    pub fn tlb_miss_cycles(&self, access: Access, span: u64, in_flight: f64) -> f64 {
        self.tlb.as_ref().map_or(0.0, |tlb| tlb.cycles(access, span, in_flight))
    }

    /// Costs of stages, as measured or estimated: operations somewhat more expensive than in other code, and
    /// one branch misprediction with its restart per loop.
    pub fn stages(&self) -> Stages {
        let operation_cycles = self.operation_cycles * 1.25;
        let guess = Stages {
            operation_cycles,
            prefetch_cycles: 4.0 * operation_cycles,
            loop_cycles: self.mispredict_cycles * 1.25,
            pipelining_cycles: 24.0 * operation_cycles,
        };
        self.stages.unwrap_or(guess)
    }

    /// The machine that plans are made for: half of the time, other cores use half of the shared caches. A
    /// line costs the mean of its cost in this working set and in one twice as large. Of two plans, the one
    /// that is less sensitive to memory wins.
    pub fn with_shared_caches(&self) -> Machine {
        let mut machine = self.clone();
        for access in Access::ALL {
            let table = machine.lines.table_mut(access);
            for (row, kb) in table.iter_mut().zip(&self.lines.working_set_kb) {
                for (cycles, lines) in row.iter_mut().zip(&self.lines.in_flight) {
                    *cycles = (*cycles + self.line_cycles(access, kb << 11, *lines)) / 2.0;
                }
            }
        }
        machine
    }

    /// Estimates for missing curves. A group exposes the latency of its first line once, and costs the same
    /// from L2 as from L1. Work hides half of a stream.
    fn estimated(&self, access: Access, bytes: u64, lines: u32) -> f64 {
        let cycles = |access| self.line_cycles(access, bytes, lines);
        match access {
            Access::GroupT1 => cycles(Access::GroupT0),
            Access::BusyT0 => cycles(Access::PrefetchT0) * EXPOSED_SHARE,
            Access::BusyT1 => cycles(Access::PrefetchT1) * EXPOSED_SHARE,
            Access::Load | Access::Gather | Access::PrefetchT0 | Access::PrefetchT1 | Access::GroupT0 => {
                let stream = self.line_cycles(Access::PrefetchT0, bytes, lines.max(16));
                stream + self.line_cycles(Access::Load, bytes, 1) / f64::from(lines.max(1))
            }
        }
    }

    /// Latency of a load that overlaps with nothing.
    pub fn latency_cycles(&self, working_set_bytes: u64) -> f64 {
        self.line_cycles(Access::Load, working_set_bytes, 1)
    }
}

impl Lines {
    /// The measured curve of an access; empty if there is none.
    pub fn table_mut(&mut self, access: Access) -> &mut Vec<Vec<f64>> {
        match access {
            Access::Load => &mut self.load,
            Access::Gather => &mut self.gather,
            Access::PrefetchT0 => &mut self.prefetch_t0,
            Access::PrefetchT1 => &mut self.prefetch_t1,
            Access::GroupT0 => &mut self.group_t0,
            Access::GroupT1 => &mut self.group_t1,
            Access::BusyT0 => &mut self.busy_t0,
            Access::BusyT1 => &mut self.busy_t1,
        }
    }

    /// The measured curve of an access. Without gather instructions, loads replace gathers.
    pub fn table(&self, access: Access) -> &Vec<Vec<f64>> {
        match access {
            Access::Load => &self.load,
            Access::Gather if self.gather.is_empty() => &self.load,
            Access::Gather => &self.gather,
            Access::PrefetchT0 => &self.prefetch_t0,
            Access::PrefetchT1 => &self.prefetch_t1,
            Access::GroupT0 => &self.group_t0,
            Access::GroupT1 => &self.group_t1,
            Access::BusyT0 => &self.busy_t0,
            Access::BusyT1 => &self.busy_t1,
        }
    }
}

/// The message with line and column. The error's own form also quotes the line, and lines of these files are
/// long.
fn with_position(error: &toml::de::Error, text: &str) -> String {
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return error.message().to_string() };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    format!("line {line}, column {column}: {}", error.message())
}

pub fn is_ascending(sizes: &[u64], most: u64) -> bool {
    let rises = sizes.windows(2).all(|pair| pair[0] < pair[1]);
    rises && sizes.first().is_some_and(|first| *first > 0) && sizes.last().is_some_and(|last| *last <= most)
}

fn check_table(access: Access, lines: &Lines) -> Result<(), String> {
    let table = lines.table(access);
    if !matches!(access, Access::Load | Access::Gather | Access::PrefetchT0 | Access::PrefetchT1) && table.is_empty() {
        return Ok(());
    }
    let (rows, columns) = (lines.working_set_kb.len(), lines.in_flight.len());
    if table.len() != rows || table.iter().any(|row| row.len() != columns) {
        return Err(format!("lines, {}: expected {rows} rows of {columns} numbers", access.name()));
    }
    let name = format!("lines, {}", access.name());
    table.iter().flatten().try_for_each(|cycles| expect(&name, *cycles, LEAST_CYCLES..=MOST_CYCLES))
}

pub fn expect(name: &str, number: f64, range: RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&number) {
        return Ok(());
    }
    Err(format!("{name}: expected a number from {} to {}", range.start(), range.end()))
}

pub fn expect_count(name: &str, count: u32) -> Result<(), String> {
    expect(name, f64::from(count), 1.0..=f64::from(MOST_COUNT))
}

/// The last point that is not above `at`, and the fraction of the distance from it to the next point.
pub fn locate(points: &[f64], at: f64) -> (usize, f64) {
    let next = points.partition_point(|point| *point <= at);
    match (next.checked_sub(1), points.get(next)) {
        (None, _) => (0, 0.0),
        (Some(last), None) => (last, 0.0),
        (Some(before), Some(after)) => (before, (at - points[before]) / (after - points[before])),
    }
}

/// As [`locate`], by the logarithms of what is asked and of the points: only those of the neighbours are taken, since the
/// model asks for millions of lines.
fn locate_log<T>(points: &[T], value: impl Fn(&T) -> f64, at: f64) -> (usize, f64) {
    let next = points.partition_point(|point| value(point) <= at);
    match (next.checked_sub(1), points.get(next)) {
        (None, _) => (0, 0.0),
        (Some(last), None) => (last, 0.0),
        (Some(before), Some(after)) => {
            let (low, high) = (value(&points[before]).log2(), value(after).log2());
            (before, (at.log2() - low) / (high - low))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_prints_and_reads_back() {
        let machine = Machine::default();
        assert_eq!(Machine::parse(&machine.print()).as_ref(), Ok(&machine));
        let tlb = Tlb { span_kb: vec![1024, 2048], load: vec![0.5, 12.0], stream: vec![0.0, 2.0] };
        let machine = Machine { misses: Some(12), tlb: Some(tlb), ..machine };
        assert_eq!(Machine::parse(&machine.print()).as_ref(), Ok(&machine));
        let machine = Machine { vector: Some(VectorUnit { packets: 16, operation_cycles: 0.25 }), ..machine };
        assert_eq!(Machine::parse(&machine.print()).as_ref(), Ok(&machine));
        let device = Some("net_memif".to_string());
        let port = Port { device, ring: Some(256), batch: Some(32), free_cycles: Some(0.0), ..Port::default() };
        let machine = Machine { port, ..machine };
        assert_eq!(Machine::parse(&machine.print()), Ok(machine));
    }

    #[test]
    fn a_file_without_an_echo_has_no_rings() {
        let text = Machine::default().print();
        assert!(!text.contains("ring") && !text.contains("batch") && !text.contains("free_cycles"), "{text}");
    }

    #[test]
    fn a_file_of_another_method_is_rejected_whatever_is_in_it() {
        let text = Machine::default().print();
        let ours = format!("method = {METHOD}\n");
        let wrong = |line: &str| Machine::parse(&text.replace(&ours, line)).expect_err("it is of another method");
        assert!(wrong("method = 10\nlanes = 8\n").contains("another method"));
        assert!(wrong("").contains("missing field `method`"));
    }

    #[test]
    fn costs_lie_between_their_neighbours() {
        let machine = Machine::default();
        assert_eq!(machine.latency_cycles(32 << 10), 4.0);
        assert_eq!(machine.latency_cycles(1), 4.0);
        assert_eq!(machine.latency_cycles(1 << 40), 300.0);
        assert_eq!(machine.latency_cycles(128 << 10), 8.0);
        assert_eq!(machine.line_cycles(Access::Load, 256 << 20, 2), (300.0 + 75.0) / 2.0);
        assert_eq!(machine.line_cycles(Access::PrefetchT0, 256 << 20, 1000), 300.0 / 64.0);
    }

    #[test]
    fn half_of_a_stream_is_exposed_by_default() {
        let machine = Machine::default();
        let cycles = |access| machine.line_cycles(access, 256 << 20, 16);
        assert_eq!(cycles(Access::BusyT0), cycles(Access::PrefetchT0) / 2.0);
        let mut measured = machine.clone();
        measured.lines.busy_t1 = vec![vec![7.0; 4]; 4];
        assert_eq!(measured.line_cycles(Access::BusyT1, 256 << 20, 16), 7.0);
        assert_eq!(Machine::parse(&measured.print()), Ok(measured));
    }

    #[test]
    fn with_shared_caches_a_line_costs_the_mean_of_two_working_sets() {
        let machine = Machine::default();
        let shared = machine.with_shared_caches();
        assert_eq!(Machine::parse(&shared.print()).as_ref(), Ok(&shared));
        for access in Access::ALL {
            for kb in [256, 8192, 32768, 1 << 20] {
                let [alone, larger, mean] = [(&machine, kb << 10), (&machine, kb << 11), (&shared, kb << 10)]
                    .map(|(machine, bytes): (&Machine, u64)| machine.line_cycles(access, bytes, 16));
                let is_row = machine.lines.working_set_kb.contains(&kb);
                assert!(
                    !is_row || (mean - (alone + larger) / 2.0).abs() < 1e-9,
                    "{access:?} {kb}: {alone} {larger} {mean}"
                );
                assert!(mean >= alone, "{access:?} {kb}");
            }
        }
    }

    #[test]
    fn absurd_files_are_rejected_with_a_reason() {
        let text = Machine::default().print();
        let cases = [
            (text.replace("window = 128", "window = 0"), "window"),
            (text.replace("burst = 32\n", "burst = 32\nmisses = 0\n"), "misses"),
            (format!("{text}\n[tlb]\nspan_kb = [1024]\nload = [-1.0]\nstream = [0.0]\n"), "tlb.load"),
            (format!("{text}\n[tlb]\nspan_kb = [1024]\nload = [1.0]\nstream = []\n"), "tlb.stream"),
            (format!("{text}\n[tlb]\nspan_kb = [4, 4]\nload = [1.0, 1.0]\nstream = [0.0, 0.0]\n"), "tlb.span_kb"),
            (text.replace("ticks_per_us = 2500.0", "ticks_per_us = nan"), "ticks_per_us"),
            (text.replace("in_flight = [1, 4, 16, 64]", "in_flight = [1, 4, 4, 64]"), "in_flight"),
            (text.replace("300.0, ", ""), "rows of 4 numbers"),
            (text.replace("[lines]", "[vector]\npackets = 4\noperation_cycles = 1.0\n[lines]"), "vector"),
            (text.replace("[lines]", "[vector]\npackets = 8\noperation_cycles = 0.0\n[lines]"), "vector"),
            (text.replace("mbuf_measured", "ring = 0\nmbuf_measured"), "ring"),
            (text.replace("mbuf_measured", "free_cycles = -1.0\nmbuf_measured"), "free_cycles"),
            (text.replace("operation_cycles = 0.35", "operation_cycles = 1e300"), "operation_cycles"),
            (text.replace("mispredict_cycles = 15.0", "mispredict_cycles = 1e18"), "mispredict_cycles"),
            (text.replace("page_bytes = 4096", "page_bytes = 3"), "page_bytes"),
            (text.replace("ticks_per_us = 2500.0", "ticks_per_us = 1e12"), "ticks_per_us"),
            (text.replace("window = 128", "window = 4000000000"), "window"),
            (text.replace("own = [8.0, ", "own = [1e20, "), "port"),
            (text.replace("[32, 512, 8192, 262144]", "[32, 512, 8192, 9000000000000000000]"), "working_set_kb"),
            (
                text.replace(
                    "[lines]",
                    "[stages]\noperation_cycles = 1.0\nloop_cycles = 1e9\npipelining_cycles = 1.0\n[lines]",
                ),
                "loop_cycles",
            ),
            (text.replace("window", "windows"), "unknown field"),
            (text[..text.len() / 2].to_string(), ""),
        ];
        for (file, reason) in cases {
            let message = Machine::parse(&file).expect_err(&format!("accepted:\n{file}"));
            assert!(message.contains(reason), "`{message}` does not have `{reason}`");
        }
    }

    #[test]
    fn errors_of_a_machine_file_have_line_and_column() {
        let text = Machine::default().print();
        let wrong = |text: &str| Machine::parse(text).expect_err("it is no machine file");
        let line = text.lines().position(|line| line.starts_with("load = ")).expect("there are loads") + 1;
        let message = wrong(&text.replace("load = [", "load = [\"é\", é, "));
        assert!(message.starts_with(&format!("line {line}, column 14: ")) && !message.contains('\n'), "{message}");
        assert_eq!(wrong("cpu = \"a\"\n\ncpu = 4\n"), "line 3, column 1: duplicate key");
        assert_eq!(wrong("cpu = \"a\"\n"), "line 1, column 1: missing field `calibrated`");
    }
}
