//! Stall cycles of lookups: unstaged ones overlap within the reorder-buffer window; staged ones follow the
//! plan's prefetches.
//!
//! A core computes while lines arrive. Of a stream of prefetches, only the part that exceeds the surrounding
//! work stalls. Of the latency of a group's last line, only the part that exceeds the lookups before it
//! stalls.
//!
//! Symbols as in docs/model.md: ROB = instructions in the reorder buffer, σ = mispredictions inside a lookup,
//! q = share of lookups that read a second line, G = packets of a group, w_l = operations of a lookup.
//! Cycles per lookup; the caller multiplies by the share. `k` is what the reorder buffer reaches: lookups that
//! begin while one waits. `/ (1 + σ)`: behind a mispredicted branch nothing of later packets has begun.

use super::Model;
use super::cache_line::{Area, Footprint};
use super::lookups::{Classes, Lookup, Lookups};
use super::memory::{busy, grouped, streamed};
use super::structures::Shape;
use crate::inputs::Access;
use hlir::plan::{Access as Accessed, Hint, Placement, Prefetch, Structure};

/// Operations around a lookup in the loop of a stage.
const LOOP: f64 = 6.0;
/// Tables with fewer lookups per packet are not on the hot path.
const HOT_SHARE: f64 = 0.5;
/// The default group size of plans.
const DEFAULT_GROUP: u32 = 32;
/// Lines in flight from which on one more changes nothing.
const STEADY: f64 = 128.0;
/// Share of a trie walk's mispredictions that is left where a stage takes one step of each packet after the other
/// (counted in tries of IPv6).
const WALK_MISPREDICTED: f64 = 0.55;
/// Mispredictions per key of a group that is in its second line: their number varies from group to group
/// (callgrind counts 0.45 to 0.75 in l2fwd).
const SECOND_LINE_MISPREDICTED: f64 = 0.5;
/// Operations that compute the address of a lookup's first line, where those of several keys are computed
/// together.
const ADDRESS: f64 = 6.0;
/// Operations of a prefetch interleaved with commit or key computation, beyond one interleaved with lookups:
/// the latter compute several addresses together (l2fwd and ipv4fwd with tables in L1 and L2).
const PER_PACKET: f64 = 3.0;
/// Two latencies are similar if the shorter is at least this part of the longer.
const SIMILAR: f64 = 0.5;
/// Average part of the window behind a load: so much is computed while its line arrives.
const WINDOW_BEHIND_LOAD: f64 = 0.5;
/// A window that begins at a load fits as many loads as distances between loads, and on average this many
/// more, depending on where it ends.
const WINDOW_END: f64 = 0.5;
/// Mispredictions of a lookup in a tuple space packet by packet: whether a key's bucket has no rule, one pair of them or two (fitted to the
/// neighbour table of pins_middleblock, 64 entries, where `exact` takes 77 cycles less).
const RULES_OF_BUCKET: f64 = 0.5;
/// Part of the window that is usable for operations that all wait for lines (fitted to a sweep of l2fwd and
/// ipv4fwd).
const WINDOW_SHARE: f64 = 0.8;
/// Relative difference from which on two costs of a machine file differ clearly.
const NOISE: f64 = 0.1;

/// The reorder-buffer window of code that runs packet by packet.
pub(super) struct RobWindow {
    /// Packets per window: ROB / operations per packet.
    packets: f64,
    /// Latencies of the first lines of a packet's lookups, longest first, each with the number of lookups
    /// that take at least as long.
    latencies: Vec<(f64, f64)>,
}

impl RobWindow {
    /// Lookups in the window with about this latency or a longer one; below 1 where a packet is longer than
    /// the window. Shorter ones fill the window while the long one is outstanding, but do not overlap with
    /// it.
    fn overlapping(&self, cycles: f64) -> f64 {
        let long = self.latencies.partition_point(|(other, _)| *other >= cycles * SIMILAR);
        let of_packet = long.checked_sub(1).map_or(0.0, |last| self.latencies[last].1);
        self.packets * of_packet
    }
}

/// Average number of new lookups whose first lines share one stall, where `room` >= 1 lookups fit into the
/// window and a share `second_line` of them reads a second line: N(k, q) of docs/model.md.
///
/// A second line is a misprediction: what follows begins only when the first line has arrived, and overlaps
/// with the second one. If each second line had a stall of its own, the prediction for l2fwd with 16M entries
/// would be a third too high (312 for 227 cycles measured; with this formula 252 for 237).
fn lookups_per_stall(room: f64, second_line: f64) -> f64 {
    debug_assert!(room >= 1.0 && room.is_finite() && (0.0..=1.0).contains(&second_line), "{room} {second_line}");
    let unbroken = |room: f64| (1.0 - second_line).powf(room);
    let new = |room: f64| if second_line > f64::EPSILON { (1.0 - unbroken(room)) / second_line } else { room };
    // A stall that begins with a second line has room for one first line less. `behind_second` is the
    // stationary share of such stalls.
    let (broken, again) = (1.0 - unbroken(room), 1.0 - unbroken(room - 1.0));
    let behind_second = broken / (1.0 + broken - again);
    (1.0 - behind_second) * new(room) + behind_second * new(room - 1.0)
}

/// The footprint of a lookup's first line.
pub(super) fn first(lookup: &Lookup) -> Footprint {
    lookup.working_sets.first().copied().unwrap_or(Footprint::even(Area::dense(0)))
}

/// A lookup of a stage.
pub(super) struct StagedLookup<'a> {
    pub lookup: &'a Lookup,
    pub prefetch: Option<&'a Prefetch>,
}

/// The part of a group's work that a prefetch is interleaved with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Lookups,
    Keys,
    Commit,
}

impl StagedLookup<'_> {
    fn is_pipelined(&self) -> bool {
        self.prefetch.is_some_and(|prefetch| prefetch.placement.is_pipelined())
    }

    /// The work that the first line's prefetch is interleaved with.
    fn part(&self) -> Part {
        match self.prefetch.map(|prefetch| prefetch.placement) {
            Some(Placement::WithCommit) => Part::Commit,
            Some(Placement::WithLookups) => Part::Lookups,
            None | Some(Placement::OwnLoop | Placement::WithKeys) => Part::Keys,
        }
    }

    /// The footprint of the first line.
    fn first(&self) -> Footprint {
        first(self.lookup)
    }

    /// Whether each level's lines are prefetched by the level before: always in a tree, and in a trie walk if
    /// the plan prefetches it.
    fn is_level_by_level(&self) -> bool {
        let shape = &self.lookup.shape;
        shape.loops > 2.0 && (!shape.structure.is_walked() || self.prefetch.is_some())
    }
}

/// `σ` packet by packet. In a stage, other lookups of the group go on meanwhile.
fn unstaged_mispredictions(shape: &Shape) -> f64 {
    // In an empty table no bucket is looked at: the default action's record is the only line.
    let is_empty = shape.lines.len() == 1;
    let of_buckets = if shape.structure == Structure::TupleSpace && !is_empty { RULES_OF_BUCKET } else { 0.0 };
    shape.mispredictions.max(of_buckets)
}

impl Model<'_> {
    /// The reorder-buffer window of code that runs packet by packet.
    /// Of classes of lookups, with the number of lookups in each.
    pub(super) fn rob_window(&self, classes: &[Lookup], counts: &[usize]) -> RobWindow {
        let memory = self.memory();
        let share = |(lookup, count): (&Lookup, &usize)| lookup.share * *count as f64;
        let latency = |of: (&Lookup, &usize)| (memory.latency(&first(of.0)), share(of));
        let mut latencies: Vec<(f64, f64)> = classes.iter().zip(counts).map(latency).collect();
        latencies.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut sum = 0.0;
        for (_, share) in &mut latencies {
            sum += *share;
            *share = sum;
        }
        let lookups = classes.iter().zip(counts).map(|of| share(of) * of.0.shape.operations);
        let operations = self.node_operations + lookups.sum::<f64>();
        RobWindow { packets: f64::from(self.inputs.machine.window) / operations.max(1.0), latencies }
    }

    /// Stalls of a lookup packet by packet. Other lookups overlap within the window, up to the next
    /// misprediction: k / (1 + σ).
    ///
    /// ```text
    /// n   = N(max(1, k / (1 + σ)), q)                  first lines of one stall
    /// t_l = max(0, begin/n + Σ_lines f · E_load(line, n) + steps − ½ · ROB · c_op / ((1 + σ) · n))
    ///       + chain + (q + σ) · c_br
    /// ```
    pub(super) fn unstaged_stalls(&self, lookup: &Lookup, window: &RobWindow) -> f64 {
        self.count_cost();
        let memory = self.memory();
        let shape = &lookup.shape;
        let mispredictions = unstaged_mispredictions(shape);
        let overlapping = window.overlapping(memory.latency(&first(lookup)));
        let together = |loads: f64| lookups_per_stall((loads / (1.0 + mispredictions)).max(1.0), shape.second_line);
        let at_once = together(overlapping).max(1.0);
        let lines = shape.lines.iter().zip(&*lookup.working_sets).enumerate().map(|(at, (line, footprint))| {
            let load = |at_once: f64| line.frequency * memory.load(footprint, line.outstanding(at_once));
            if at > 0 || line.frequency > 1.0 {
                // The gain at the window's end is only for first lines, not for later ones or for walks.
                return load(at_once);
            }
            let first = together(overlapping + WINDOW_END);
            // Below 1 where stalls for second lines leave no room for a first one.
            load(first) / first.min(1.0)
        });
        let lines: f64 = lines.sum();
        // `begin / o`: the chains of lookups in flight run side by side. In core cycles, hence the ratio of
        // clocks.
        let address_latency = shape.address_latency / self.inputs.machine.core_per_tick / at_once;
        // `½ · ROB / (1 + σ)`: instructions that execute while the line comes; what they cost is no stall.
        let behind = f64::from(self.inputs.machine.window) * WINDOW_BEHIND_LOAD / (1.0 + mispredictions);
        let steps = self.steps(lookup, at_once, self.operation());
        let stalls = (address_latency + lines + steps - behind * self.operation() / at_once).max(0.0);
        let mispredicted = (shape.second_line + mispredictions) * self.inputs.machine.mispredict_cycles;
        stalls + self.chain_stalls(shape, window) + mispredicted
    }

    /// Excess of a lookup's dependency chain over everything else in the window. A misprediction waits for
    /// the chain's end anyway.
    fn chain_stalls(&self, shape: &Shape, window: &RobWindow) -> f64 {
        let machine = &self.inputs.machine;
        let mispredictions = unstaged_mispredictions(shape);
        let chain = shape.chain / machine.core_per_tick;
        let overlapping = f64::from(machine.window) * self.operation();
        (chain - overlapping).max(0.0) / window.packets.max(1.0) / (1.0 + mispredictions)
    }

    /// Dependent steps of a lookup take time even with all lines in L1: L1 latency and `step` each. Returns
    /// the excess over the issued operations.
    fn steps(&self, lookup: &Lookup, parallel: f64, operation: f64) -> f64 {
        let machine = &self.inputs.machine;
        let shape = &lookup.shape;
        let nearest = machine.latency_cycles(machine.lines.working_set_kb[0] << 10);
        let dependent: f64 = shape.lines.iter().filter(|line| line.parallel <= 1.0).map(|line| line.frequency).sum();
        // A line in L1 is a load latency, and then what computes the next address: both in a chain.
        let step = nearest + shape.step / machine.core_per_tick;
        let issued = shape.operations * operation;
        let steps = (dependent - 1.0).max(0.0) * step / parallel.max(1.0);
        (steps - issued).max(0.0)
    }

    /// Stalls of a lookup, unstaged or in a stage with prefetches, whichever is cheaper.
    pub(super) fn best_stalls(&self, lookup: &Lookup, classes: &Classes) -> f64 {
        let unstaged = classes.unstaged_stalls(self, lookup);
        if lookup.share < HOT_SHARE {
            return unstaged;
        }
        let prefetch = Prefetch {
            access: Accessed::Table(self.program.tables[lookup.table].name.clone()),
            placement: Placement::OwnLoop,
            distance: DEFAULT_GROUP,
            hint: self.cheapest_hint(classes, lookup, Placement::OwnLoop, f64::from(DEFAULT_GROUP)),
            reason: None,
        };
        let prefetch = can_prefetch(lookup).then_some(&prefetch);
        let loops = lookup.shape.loops_cycles(&self.inputs.machine) / f64::from(DEFAULT_GROUP);
        let alone = [StagedLookup { lookup, prefetch }];
        let stalls: f64 = self.stage_stalls(classes, DEFAULT_GROUP, &alone, (0.0, 0.0)).iter().sum();
        // The lookup's operations are counted at the cost outside of stages. In a stage they cost this much
        // more.
        let extra = self.inputs.machine.stages().operation_cycles - self.operation();
        unstaged.min(stalls - self.group_savings_cycles(lookup) + loops + lookup.shape.operations * extra)
    }

    /// Stalls of each lookup of a stage, beside its operations. `key_work` are the cycles per packet in the
    /// loop before the lookups, `commit_work` those in the loop after them.
    ///
    /// ```text
    /// own loop   Σt = max(0, Σ E_group(l, 128) − keys) + last + prefetches
    /// pipelined  Σt = max(Σ over parts x_part, Σ E_prefetch(l, lines) − (lookups + keys + commit)) + prefetches
    ///            x_part = max(Σ_{l in part} E_prefetch(l, lines) − cycles of the part − next, exposed)
    /// ```
    pub(super) fn stage_stalls(
        &self,
        classes: &Classes,
        group: u32,
        made: &[StagedLookup],
        (key_work, commit_work): (f64, f64),
    ) -> Vec<f64> {
        let operation = self.inputs.machine.stages().operation_cycles;
        let group = f64::from(group.max(1));
        // `C_lookups`, one for each lookup, with the six operations of the loop around it.
        let issue: Vec<f64> = made.iter().map(|made| (operations(made.lookup) + LOOP) * operation).collect();
        let lookup_work: f64 = issue.iter().sum();
        let unprefetched = |(made, issue): (&StagedLookup, &f64)| {
            let key = (made.lookup, made.prefetch.is_some(), group);
            classes.unprefetched(key, || self.unprefetched_stalls(made, group, *issue))
        };
        let mut costs: Vec<f64> = made.iter().zip(&issue).map(unprefetched).collect();
        let prefetched: Vec<usize> = (0..made.len()).filter(|at| made[*at].prefetch.is_some()).collect();
        let Some(first) = prefetched.first() else { return costs };
        // If one lookup is pipelined, all lookups of the stage are made one group later.
        let is_pipelined = made.iter().any(StagedLookup::is_pipelined);
        let prefetch = self.inputs.machine.stages().prefetch_cycles;
        let lines = group * prefetched.len() as f64;
        let streams: Vec<f64> =
            prefetched.iter().map(|at| self.stream(classes, &made[*at], lines, is_pipelined)).collect();
        let stream: f64 = streams.iter().sum();
        let work_per_line = (lookup_work + key_work + commit_work) / prefetched.len() as f64;
        let paid_in = |part: Part| prefetched.iter().zip(&streams).filter(move |(at, _)| made[**at].part() == part);
        let exposed = |part: Part| {
            paid_in(part).map(|(at, _)| self.exposed(classes, &made[*at], lines, work_per_line)).sum::<f64>()
        };
        // Work hides the lines that arrive meanwhile, except for their exposed latency. After the last
        // prefetch of a part, the lines still outstanding arrive during the next part.
        let arriving = |part: Part, next: f64| next.min(self.outstanding(paid_in(part).map(|(_, one)| *one)) / group);
        let streamed = |part: Part| paid_in(part).map(|(_, one)| one).sum::<f64>();
        // The line's address is computed with the key.
        let address = if is_pipelined { ADDRESS * operation } else { 0.0 };
        let key_stalls = (streamed(Part::Keys) - key_work - address * prefetched.len() as f64).max(exposed(Part::Keys));
        let commit_excess = streamed(Part::Commit) - commit_work;
        let commit_stalls = (commit_excess - arriving(Part::Commit, key_work + lookup_work)).max(exposed(Part::Commit));
        // Each lookup prefetches a line of its own table, so these lines arrive during that table's lookups.
        let lookup_excess: f64 = paid_in(Part::Lookups).map(|(at, one)| (one - (issue[*at] - address)).max(0.0)).sum();
        let hidden_behind_lookups = arriving(Part::Lookups, commit_work + key_work).min(lookup_excess);
        let lookup_stalls = (lookup_excess - hidden_behind_lookups).max(exposed(Part::Lookups));
        // However prefetches are interleaved, work hides each line once: the sum of all streams less all work
        // is a lower bound.
        let beyond_all_work = if is_pipelined { stream - (lookup_work + key_work + commit_work) } else { 0.0 };
        let stalled = (lookup_stalls + key_stalls + commit_stalls).max(beyond_all_work);
        for (at, one) in prefetched.iter().zip(&streams) {
            let is_of_packet = made[*at].is_pipelined() && made[*at].part() != Part::Lookups;
            let prefetch = prefetch + if is_of_packet { PER_PACKET * operation } else { 0.0 };
            costs[*at] += if stream > 0.0 { one / stream * stalled } else { 0.0 } + prefetch;
        }
        // Second lines are prefetched after all first ones, and arrive after them. If any key of the group
        // needs one, nothing hides it.
        let none_second: f64 = made.iter().map(|made| (1.0 - made.lookup.shape.second_line).powf(group)).product();
        costs[*first] += (1.0 - none_second) * hidden_behind_lookups;
        // Work per packet between a prefetch and its read. Interleaved with lookups or commit, it is about
        // all work on a group. Lookups follow the keys directly: the first line prefetched with keys is read
        // after all keys, the last one is prefetched just before the lookups.
        let hiding = |part: Part| match part {
            _ if !is_pipelined => issue[*first],
            Part::Lookups | Part::Commit => lookup_work + key_work + commit_work + stalled,
            Part::Keys => lookup_work.min(key_work + key_stalls),
        };
        let exposed_latency = |at: &usize| {
            self.last_line_stall(classes, &made[*at], (lines, group), is_pipelined) - hiding(made[*at].part())
        };
        costs[*first] += prefetched.iter().map(exposed_latency).fold(0.0, f64::max);
        costs
    }

    /// Cycles per line of the first lines, as a steady stream of prefetches.
    /// A level-by-level lookup has no stream: its lines are counted in `unprefetched_stalls`.
    fn stream(&self, classes: &Classes, made: &StagedLookup, lines: f64, is_pipelined: bool) -> f64 {
        let Some(prefetch) = made.prefetch.filter(|_| !made.is_level_by_level()) else { return 0.0 };
        if is_pipelined {
            return classes.first_line(self, made.lookup, streamed(prefetch.hint), lines);
        }
        classes.first_line(self, made.lookup, grouped(prefetch.hint), STEADY)
    }

    /// Exposed latency of such a stream, whatever is computed meanwhile, with `work_per_line` cycles around
    /// each line.
    fn exposed(&self, classes: &Classes, made: &StagedLookup, lines: f64, work_per_line: f64) -> f64 {
        let Some(prefetch) = made.prefetch.filter(|_| made.is_pipelined() && !made.is_level_by_level()) else {
            return 0.0;
        };
        let part = self.memory().exposed_part(prefetch.hint, work_per_line);
        classes.first_line(self, made.lookup, busy(prefetch.hint), lines) * part
    }

    /// Cycles until the lines that can be outstanding at once have arrived.
    /// `M` lines at the mean cost of the streams: what the work of the next part can hide at most.
    fn outstanding(&self, streams: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) =
            streams.filter(|one| *one > 0.0).fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        sum / f64::max(count, 1.0) * f64::from(self.inputs.machine.parallelism)
    }

    /// Latency of the last line of a group that is prefetched as a whole, per packet.
    /// `last`: E_group of this many lines beyond that of 128 is what the group pays for having an end.
    fn last_line_stall(
        &self,
        classes: &Classes,
        made: &StagedLookup,
        (lines, group): (f64, f64),
        is_pipelined: bool,
    ) -> f64 {
        let first = |access, lines: f64| classes.first_line(self, made.lookup, access, lines);
        let Some(prefetch) = made.prefetch.filter(|_| !is_pipelined) else { return first(Access::Load, 1.0) / group };
        let latencies = |lines: f64| first(grouped(prefetch.hint), lines);
        (latencies(lines) - latencies(STEADY)).max(0.0) * lines / group
    }

    /// Stalls of lines without prefetch: they overlap within the window. Lines of a tree's levels are
    /// prefetched by the level before.
    fn unprefetched_stalls(&self, made: &StagedLookup, group: f64, issue: f64) -> f64 {
        self.count_cost();
        let memory = self.memory();
        let lookup = made.lookup;
        let shape = &lookup.shape;
        let operation = self.inputs.machine.stages().operation_cycles;
        // A walk goes through the nodes level by level for the whole group.
        let steps = if shape.structure.is_walked() { shape.loops } else { 1.0 };
        // `0.8 · ROB / (w_l + 6)`: lookups that the buffer holds, no more than the group has.
        let seen = WINDOW_SHARE * f64::from(self.inputs.machine.window) / (operations(lookup) / steps + LOOP);
        let window = (seen / (1.0 + shape.mispredictions / steps)).clamp(1.0, group);
        let record = shape.lines.len().saturating_sub(1);
        let is_level_by_level = made.is_level_by_level();
        let prefetches_records = self.prefetches_records(made);
        let is_prefetched = |at: usize| {
            is_level_by_level && at < record
                || at == 0 && made.prefetch.is_some()
                || at > 0 && at == record && prefetches_records
        };
        let all = || shape.lines.iter().zip(&*lookup.working_sets).enumerate();
        let loaded: f64 = all()
            .filter(|(at, _)| !is_prefetched(*at))
            .map(|(_, (line, footprint))| line.frequency * memory.load(footprint, line.outstanding(window)))
            .sum();
        // The window looks ahead only where addresses are known.
        let address_latency = shape.grouped_address_latency / self.inputs.machine.core_per_tick / window;
        let loaded = if is_prefetched(0) { loaded } else { address_latency + loaded };
        // Other lookups of the group compute while a first line is outstanding.
        let overlapping = if is_prefetched(0) { 0.0 } else { issue };
        // The work on one level of a tree is too little to hide a line, and depends on the level above.
        let level = if shape.structure.is_walked() { issue / shape.loops } else { 0.0 };
        let levels: f64 = all()
            .filter(|(at, _)| is_level_by_level && *at < record)
            .map(|(_, (line, footprint))| {
                let further = (line.frequency - 1.0).max(0.0) * memory.load(footprint, window);
                (memory.group(Hint::T0, footprint, group) - level).max(0.0) + further
            })
            .sum();
        // The records of a group are prefetched by its lookups.
        let record = lookup.working_sets.get(record).filter(|_| prefetches_records);
        let record = record.map(|record| memory.group(Hint::T0, record, group));
        let record = record.map_or(0.0, |line| line + self.inputs.machine.stages().prefetch_cycles);
        // Second lines of a group are read together, after all first ones.
        let seconds = (group * shape.second_line).clamp(1.0, window.max(1.0));
        let second_line = shape.second_line
            * (memory.load(&made.first(), seconds) + SECOND_LINE_MISPREDICTED * self.inputs.machine.mispredict_cycles);
        let parallel = if shape.group_savings.is_some() { group } else { window };
        let guessed = if shape.structure.is_walked() { WALK_MISPREDICTED } else { 1.0 };
        let mispredicted = guessed * shape.mispredictions * self.inputs.machine.mispredict_cycles;
        let lines = (loaded - overlapping).max(0.0) + levels + second_line + record;
        lines + self.steps(lookup, parallel, operation) + mispredicted
    }

    /// Whether a stage prefetches the records that it finds: in hash tables whose first lines it prefetches, and whose
    /// entries have a record each.
    fn prefetches_records(&self, made: &StagedLookup) -> bool {
        let lookup = made.lookup;
        let own = self.program.has_own_records(lookup.table) && lookup.shape.structure.has_two_lines();
        own && made.prefetch.is_some()
    }

    /// Cycles that a lookup saves where its structure looks up a whole group at once.
    pub(super) fn group_savings_cycles(&self, lookup: &Lookup) -> f64 {
        lookup.shape.group_savings.unwrap_or(0.0) * self.inputs.machine.stages().operation_cycles
    }

    /// The prefetch hint with minimum cost for a table's first line at this placement.
    pub fn best_hint(&self, lookups: &Lookups, lookup: &Lookup, placement: Placement, in_flight: f64) -> Hint {
        self.cheapest_hint(&lookups.classes, lookup, placement, in_flight)
    }

    fn cheapest_hint(&self, classes: &Classes, lookup: &Lookup, placement: Placement, in_flight: f64) -> Hint {
        let access = |hint| match placement {
            Placement::OwnLoop => grouped(hint),
            Placement::WithLookups | Placement::WithCommit | Placement::WithKeys => streamed(hint),
        };
        let cycles = |hint| classes.first_line(self, lookup, access(hint), in_flight);
        let (near, far) = (cycles(Hint::T0), cycles(Hint::T1));
        // Lines that stay in L1 for a burst evict the burst's packets, and a calibration has no packets. In
        // l2fwd with 64K to 512K entries, prefetches to L2 cost two cycles less, whatever the curves were
        // (Zen 4). So pipelined prefetches prefer L2.
        let is_near = if placement.is_pipelined() { near <= far * (1.0 - NOISE) } else { near * (1.0 - NOISE) <= far };
        if is_near { Hint::T0 } else { Hint::T1 }
    }
}

/// Whether a plan can prefetch lines of a lookup.
pub(super) fn can_prefetch(lookup: &Lookup) -> bool {
    lookup.shape.structure.is_addressed() || lookup.shape.structure.is_walked()
}

/// Operations of a lookup in a group.
fn operations(lookup: &Lookup) -> f64 {
    (lookup.shape.operations - lookup.shape.group_savings.unwrap_or(0.0)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::{RobWindow, lookups_per_stall};
    use crate::Inputs;
    use crate::analyze::Traffic;
    use crate::model::Model;
    use hlir::plan::{Structure, TablePlan};
    use hlir::text::parse_file;
    use hlir::{Plan, Program};

    const RULES: &str = "\
program rules for none

variable x: 32

table rules {
  key x: ternary
  action permit() {}
  default permit()
  size 1000
}

entry rules

node rules: apply rules -> queue

node queue: buffer { send 32w1 }
";

    fn unstaged_stalls(program: &Program, structure: Structure, window: u32) -> f64 {
        let mut inputs = Inputs::default();
        inputs.machine.window = window;
        let traffic = Traffic::estimate(program, &inputs);
        let model = Model::new(program, &inputs, &traffic);
        let tables = vec![TablePlan { table: "rules".to_string(), structure, reason: None }];
        model.predict(&Plan { tables, ..Plan::default() }).cycles()
    }

    #[test]
    fn second_lines_overlap_with_later_lookups() {
        // Alone, a lookup stalls for both lines.
        assert!((1.0 / lookups_per_stall(1.0, 0.25) - 1.25).abs() < 1e-9);
        // With room for others, a second line costs less than a stall of its own: 0.312 instead of 0.35.
        let latencies = |second_line| 1.0 / lookups_per_stall(4.0, second_line);
        assert_eq!(latencies(0.0), 0.25);
        assert!((latencies(0.1) - 0.312).abs() < 0.001, "{}", latencies(0.1));
        // Where each lookup needs two lines, a first line overlaps with the second one of the lookup before.
        assert!((latencies(1.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_window_counts_lookups_of_similar_latency() {
        // One lookup of 300 cycles, two of at least 200, three of at least 20; a quarter of a packet in the
        // window, or four.
        let window = |packets| RobWindow { packets, latencies: vec![(300.0, 1.0), (200.0, 2.0), (20.0, 3.0)] };
        let overlapping = |packets| [300.0, 20.0].map(|cycles| window(packets).overlapping(cycles));
        assert_eq!((overlapping(0.25), overlapping(4.0)), ([0.5, 0.75], [8.0, 12.0]));
    }

    #[test]
    fn rules_expose_their_dependency_chain_in_a_small_window() {
        let parsed = parse_file(RULES).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let cycles = |structure, window| unstaged_stalls(&parsed.program, structure, window);
        for structure in [Structure::TupleSpace, Structure::Scan, Structure::BitVector] {
            assert!(cycles(structure, 64) > cycles(structure, 1024) + 5.0, "{structure:?}");
        }
    }
}
