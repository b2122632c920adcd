//! What look-ups wait for: in their packet's turn as far as the core sees ahead, in a stage as the plan asks for their lines.
//!
//! A core computes while lines come. So of a stream of lines, only what takes longer than the loop around it is waited for; and of the time that a group's
//! last line needs, only what is longer than the look-ups before it.

use super::cache_line::{Area, Footprint};
use super::structures::Shape;
use super::{Lookup, Model};
use hlir::plan::{Access, Hint, Placement, Request};

/// Operations around a look-up in the loop of a stage.
const LOOP: f64 = 6.0;
/// Tables with fewer look-ups to a packet are not on the path of most packets.
const HOT_SHARE: f64 = 0.5;
/// A group as planners choose it.
const USUAL_GROUP: u32 = 32;
/// So many lines on their way that one more changes nothing.
const STEADY: f64 = 128.0;
/// Of the wrong guesses of a walk, those that are left where a stage takes one step of each packet after the other (counted in tries of IPv6).
const WALK_MISPREDICTED: f64 = 0.55;
/// Wrong guesses for each key of a group that is in its second line: how many there are is another number for each group (callgrind
/// counts 0.45 to 0.75 in l2fwd).
const SECOND_LINE_MISPREDICTED: f64 = 0.5;
/// Operations of making the address of a look-up's first line, where those of several keys are made together.
const ADDRESS: f64 = 6.0;
/// Operations of a request that comes with a packet's turn or keys, beyond those of one that comes with a look-up: those of several look-ups are made together
/// (l2fwd and ipv4fwd with tables in the first caches).
const PER_PACKET: f64 = 3.0;
/// Of two waits, the shorter is about as long if it is this part of the longer.
const SIMILAR: f64 = 0.5;
/// Of the window, what stands behind a load on average: so much is computed while its line comes.
const WINDOW_BEHIND_LOAD: f64 = 0.5;
/// A window that begins at a load has room for as many as there are distances between loads in it, and so many more, on average over where it may end.
const WINDOW_END: f64 = 0.5;
/// Of the window, what a core keeps of operations that all wait for lines: where they wait there is less room (fitted to a sweep of l2fwd and ipv4fwd).
const WINDOW_SHARE: f64 = 0.8;
/// Of two costs in a machine's file, the one is clearly less that is less by this part.
const NOISE: f64 = 0.1;

/// What the core sees at once, going packet by packet.
pub(super) struct RobWindow {
    /// Packets in the window.
    packets: f64,
    /// How long the first lines of a packet's look-ups take, the longest first, and how many of them take at least so long.
    latencies: Vec<(f64, f64)>,
}

impl RobWindow {
    /// Look-ups in sight that take about as long as one of so many cycles, less than one where a packet is longer than the window: while it waits for its line,
    /// shorter ones fill the window and no more.
    fn overlapping(&self, cycles: f64) -> f64 {
        let long = self.latencies.partition_point(|(other, _)| *other >= cycles * SIMILAR);
        let of_packet = long.checked_sub(1).map_or(0.0, |last| self.latencies[last].1);
        self.packets * of_packet
    }
}

/// New look-ups that wait for their first lines together, on average, where `room` (1 or more) fit into the window and a part of them, `second_line`, needs another
/// line. That it does is a wrong guess: what stands behind it begins when its first line has come, and waits together with its second one. With a wait of its
/// own for each second line, l2fwd with 16M entries was predicted a third too dear packet by packet (312 for 227 cycles, and 252 for 237 so).
fn lookups_per_stall(room: f64, second_line: f64) -> f64 {
    debug_assert!(room >= 1.0 && room.is_finite() && (0.0..=1.0).contains(&second_line), "{room} {second_line}");
    let unbroken = |room: f64| (1.0 - second_line).powf(room);
    let new = |room: f64| if second_line > f64::EPSILON { (1.0 - unbroken(room)) / second_line } else { room };
    // Waits that begin with a second line have room for one first line less.
    let (broken, again) = (1.0 - unbroken(room), 1.0 - unbroken(room - 1.0));
    let behind_second = broken / (1.0 + broken - again);
    (1.0 - behind_second) * new(room) + behind_second * new(room - 1.0)
}

/// Where a look-up's first line lies.
fn first(lookup: &Lookup) -> Footprint {
    lookup.working_sets.first().copied().unwrap_or(Footprint::even(Area::dense(0)))
}

/// A look-up of a stage.
pub(super) struct StagedLookup<'a> {
    pub lookup: &'a Lookup,
    pub request: Option<&'a Request>,
}

/// Parts of the work on a group, with which lines are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Lookups,
    Keys,
    Commit,
}

impl StagedLookup<'_> {
    fn is_pipelined(&self) -> bool {
        self.request.is_some_and(|request| request.placement.is_behind())
    }

    /// With what the first line is asked for.
    fn part(&self) -> Part {
        match self.request.map_or(Placement::None, |request| request.placement) {
            Placement::WithTurns => Part::Commit,
            Placement::WithConsumption => Part::Lookups,
            Placement::None | Placement::OwnLoop | Placement::WithKeys => Part::Keys,
        }
    }

    /// Where the first line lies.
    fn first(&self) -> Footprint {
        first(self.lookup)
    }

    /// Whether each level's lines are asked for by the level before: in a tree always, in a walk from node to node if the plan says so.
    fn is_level_by_level(&self) -> bool {
        let shape = &self.lookup.shape;
        shape.loops > 2.0 && (!shape.structure.is_walked() || self.request.is_some())
    }
}

impl Model<'_> {
    /// What the core sees at once, going packet by packet.
    pub(super) fn rob_window(&self, lookups: &[Lookup]) -> RobWindow {
        let memory = self.memory();
        let mut latencies: Vec<(f64, f64)> =
            lookups.iter().map(|lookup| (memory.latency(&first(lookup)), lookup.share)).collect();
        latencies.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut sum = 0.0;
        for (_, share) in &mut latencies {
            sum += *share;
            *share = sum;
        }
        RobWindow {
            packets: f64::from(self.inputs.machine.window) / self.packet_operations(lookups).max(1.0),
            latencies,
        }
    }

    /// A look-up in its packet's turn: other look-ups' lines are on their way as far as the window reaches, or the next wrong guess.
    pub(super) fn unstaged_stalls(&self, lookup: &Lookup, window: &RobWindow) -> f64 {
        let memory = self.memory();
        let shape = &lookup.shape;
        let overlapping = window.overlapping(memory.latency(&first(lookup)));
        let together =
            |loads: f64| lookups_per_stall((loads / (1.0 + shape.mispredictions)).max(1.0), shape.second_line);
        let at_once = together(overlapping).max(1.0);
        let lines = shape.lines.iter().zip(&lookup.working_sets).enumerate().map(|(at, (line, footprint))| {
            let load = |at_once: f64| line.frequency * memory.load(footprint, line.outstanding(at_once));
            if at > 0 || line.frequency > 1.0 {
                // Of what follows a first line, and of a walk, the end of the window sees nothing.
                return load(at_once);
            }
            let first = together(overlapping + WINDOW_END);
            // Less than one: waits for second lines have no room for a first one.
            load(first) / first.min(1.0)
        });
        let lines: f64 = lines.sum();
        let address_latency = shape.address_latency / self.inputs.machine.core_per_tick / at_once;
        let behind = f64::from(self.inputs.machine.window) * WINDOW_BEHIND_LOAD / (1.0 + shape.mispredictions);
        let steps = self.steps(lookup, at_once, self.operation());
        let stalls = (address_latency + lines + steps - behind * self.operation() / at_once).max(0.0);
        let mispredicted = (shape.second_line + shape.mispredictions) * self.inputs.machine.mispredict_cycles;
        stalls + self.chain_stalls(shape, window) + mispredicted
    }

    /// What a look-up's chain of operations takes longer than all that stands in the window with it; a wrong guess waits for its end anyway.
    fn chain_stalls(&self, shape: &Shape, window: &RobWindow) -> f64 {
        let machine = &self.inputs.machine;
        let chain = shape.chain / machine.core_per_tick;
        let overlapping = f64::from(machine.window) * self.operation();
        (chain - overlapping).max(0.0) / window.packets.max(1.0) / (1.0 + shape.mispredictions)
    }

    /// Steps of a look-up that each need the one before take time even where all lines are at hand: what that is beyond the operations.
    fn steps(&self, lookup: &Lookup, parallel: f64, operation: f64) -> f64 {
        let machine = &self.inputs.machine;
        let shape = &lookup.shape;
        let nearest = machine.latency_cycles(machine.lines.working_set_kb[0] << 10);
        let dependent: f64 = shape.lines.iter().filter(|line| line.parallel <= 1.0).map(|line| line.frequency).sum();
        let step = nearest + shape.step / machine.core_per_tick;
        let issued = shape.operations * operation;
        let steps = (dependent - 1.0).max(0.0) * step / parallel.max(1.0);
        (steps - issued).max(0.0)
    }

    /// What waiting for a look-up costs where it is made in the cheaper way: in its turn, or in a stage that asks for its line.
    pub(super) fn best_stalls(&self, lookup: &Lookup, window: &RobWindow) -> f64 {
        let unstaged = self.unstaged_stalls(lookup, window);
        if lookup.share < HOT_SHARE || hlir::effects::learns(self.program, lookup.table) {
            return unstaged;
        }
        let request = Request {
            access: Access::Table { table: self.program.tables[lookup.table].name.clone(), line: 0 },
            placement: Placement::OwnLoop,
            distance: USUAL_GROUP,
            hint: self.best_hint(lookup, Placement::OwnLoop, f64::from(USUAL_GROUP)),
            reason: None,
        };
        let request = can_prefetch(lookup).then_some(&request);
        let loops = lookup.shape.loops_cycles(&self.inputs.machine) / f64::from(USUAL_GROUP);
        let stalls: f64 = self.stage_stalls(USUAL_GROUP, &[StagedLookup { lookup, request }], 0.0, 0.0).iter().sum();
        // The look-up's operations are counted as those of a packet's turn; in a stage they cost what they cost there.
        let extra = self.inputs.machine.stages().operation_cycles - self.operation();
        unstaged.min(stalls - self.group_savings_cycles(lookup) + loops + lookup.shape.operations * extra)
    }

    /// What each look-up of a stage waits for, beside its operations. `keys` are the cycles of a packet in the loop before the look-ups, `commit_work` in the one
    /// behind them.
    pub(super) fn stage_stalls(&self, group: u32, made: &[StagedLookup], key_work: f64, commit_work: f64) -> Vec<f64> {
        let operation = self.inputs.machine.stages().operation_cycles;
        let group = f64::from(group.max(1));
        let issue: Vec<f64> = made.iter().map(|made| (operations(made.lookup) + LOOP) * operation).collect();
        let lookup_work: f64 = issue.iter().sum();
        let mut costs: Vec<f64> =
            made.iter().zip(&issue).map(|(made, issue)| self.unprefetched_stalls(made, group, *issue)).collect();
        let prefetched: Vec<usize> = (0..made.len()).filter(|at| made[*at].request.is_some()).collect();
        let Some(first) = prefetched.first() else { return costs };
        // Where one look-up waits for the next group, all do.
        let is_pipelined = made.iter().any(StagedLookup::is_pipelined);
        let request = self.inputs.machine.stages().prefetch_cycles;
        let lines = group * prefetched.len() as f64;
        let streams: Vec<f64> = prefetched.iter().map(|at| self.stream(&made[*at], lines, is_pipelined)).collect();
        let stream: f64 = streams.iter().sum();
        let work_per_line = (lookup_work + key_work + commit_work) / prefetched.len() as f64;
        let paid_in = |part: Part| prefetched.iter().zip(&streams).filter(move |(at, _)| made[**at].part() == part);
        let exposed =
            |part: Part| paid_in(part).map(|(at, _)| self.exposed(&made[*at], lines, work_per_line)).sum::<f64>();
        // What is computed meanwhile is not waited for, but for what nothing hides; nor, behind the last request, the next work while those lines come that are
        // on their way then.
        let arriving = |part: Part, next: f64| next.min(self.outstanding(paid_in(part).map(|(_, one)| *one)) / group);
        let streamed = |part: Part| paid_in(part).map(|(_, one)| one).sum::<f64>();
        // Where a line is, is made of its key with the key.
        let address = if is_pipelined { ADDRESS * operation } else { 0.0 };
        let key_stalls = (streamed(Part::Keys) - key_work - address * prefetched.len() as f64).max(exposed(Part::Keys));
        let commit_excess = streamed(Part::Commit) - commit_work;
        let commit_stalls = (commit_excess - arriving(Part::Commit, key_work + lookup_work)).max(exposed(Part::Commit));
        // Each look-up pays for a line of its own table, so these lines come during their own table's look-ups.
        let lookup_excess: f64 = paid_in(Part::Lookups).map(|(at, one)| (one - (issue[*at] - address)).max(0.0)).sum();
        let hidden_behind_lookups = arriving(Part::Lookups, commit_work + key_work).min(lookup_excess);
        let lookup_stalls = (lookup_excess - hidden_behind_lookups).max(exposed(Part::Lookups));
        // However requests are spread, work hides lines once.
        let beyond_all_work = if is_pipelined { stream - (lookup_work + key_work + commit_work) } else { 0.0 };
        let stalled = (lookup_stalls + key_stalls + commit_stalls).max(beyond_all_work);
        for (at, one) in prefetched.iter().zip(&streams) {
            let is_of_packet = made[*at].is_pipelined() && made[*at].part() != Part::Lookups;
            let request = request + if is_of_packet { PER_PACKET * operation } else { 0.0 };
            costs[*at] += if stream > 0.0 { one / stream * stalled } else { 0.0 } + request;
        }
        // Second lines are asked for behind all first ones, and come behind those: nothing hides them where any key needs one.
        let none_second: f64 = made.iter().map(|made| (1.0 - made.lookup.shape.second_line).powf(group)).product();
        costs[*first] += (1.0 - none_second) * hidden_behind_lookups;
        // What is done between asking for a line and reading it, a packet: with look-ups and turns, about all work on a group once. Look-ups follow keys:
        // of what these ask for, the first line is read behind all keys, and the last one asked for before all look-ups.
        let hiding = |part: Part| match part {
            _ if !is_pipelined => issue[*first],
            Part::Lookups | Part::Commit => lookup_work + key_work + commit_work + stalled,
            Part::Keys => lookup_work.min(key_work + key_stalls),
        };
        let exposed_latency =
            |at: &usize| self.last_line_stall(&made[*at], lines, group, is_pipelined) - hiding(made[*at].part());
        costs[*first] += prefetched.iter().map(exposed_latency).fold(0.0, f64::max);
        costs
    }

    /// First lines that are asked for, in a steady stream.
    fn stream(&self, made: &StagedLookup, lines: f64, is_pipelined: bool) -> f64 {
        let (memory, footprint) = (self.memory(), made.first());
        let Some(request) = made.request.filter(|_| !made.is_level_by_level()) else { return 0.0 };
        if is_pipelined {
            return memory.prefetch(request.hint, &footprint, lines);
        }
        memory.group(request.hint, &footprint, STEADY)
    }

    /// What is waited for of such a stream whatever is computed meanwhile, with so many cycles of work around each line.
    fn exposed(&self, made: &StagedLookup, lines: f64, work_per_line: f64) -> f64 {
        let Some(request) = made.request.filter(|_| made.is_pipelined() && !made.is_level_by_level()) else {
            return 0.0;
        };
        self.memory().exposed(request.hint, &made.first(), lines, work_per_line)
    }

    /// How long so many lines of these streams take to come as there can be on their way.
    fn outstanding(&self, streams: impl Iterator<Item = f64>) -> f64 {
        let (sum, count) =
            streams.filter(|one| *one > 0.0).fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
        sum / f64::max(count, 1.0) * f64::from(self.inputs.machine.parallelism)
    }

    /// What a group waits for the last line that it has asked for, a packet.
    fn last_line_stall(&self, made: &StagedLookup, lines: f64, group: f64, is_pipelined: bool) -> f64 {
        let (memory, footprint) = (self.memory(), made.first());
        let Some(request) = made.request.filter(|_| !is_pipelined) else { return memory.latency(&footprint) / group };
        let latencies = |lines: f64| memory.group(request.hint, &footprint, lines);
        (latencies(lines) - latencies(STEADY)).max(0.0) * lines / group
    }

    /// Lines that nobody has asked for are on their way as far as the window reaches; those of a tree's level are asked for by the level before.
    fn unprefetched_stalls(&self, made: &StagedLookup, group: f64, issue: f64) -> f64 {
        let memory = self.memory();
        let lookup = made.lookup;
        let shape = &lookup.shape;
        let operation = self.inputs.machine.stages().operation_cycles;
        // A walk goes from node to node for the whole group.
        let steps = if shape.structure.is_walked() { shape.loops } else { 1.0 };
        let seen = WINDOW_SHARE * f64::from(self.inputs.machine.window) / (operations(lookup) / steps + LOOP);
        let window = (seen / (1.0 + shape.mispredictions / steps)).clamp(1.0, group);
        let record = shape.lines.len().saturating_sub(1);
        let is_level_by_level = made.is_level_by_level();
        let is_prefetched = |at: usize| is_level_by_level && at < record || at == 0 && made.request.is_some();
        let all = || shape.lines.iter().zip(&lookup.working_sets).enumerate();
        let loaded: f64 = all()
            .filter(|(at, _)| !is_prefetched(*at))
            .map(|(_, (line, footprint))| line.frequency * memory.load(footprint, line.outstanding(window)))
            .sum();
        // The core is as far ahead as its window only where the addresses are there.
        let address_latency = shape.grouped_address_latency / self.inputs.machine.core_per_tick / window;
        let loaded = if is_prefetched(0) { loaded } else { address_latency + loaded };
        // A look-up that waits for its first line does so while others compute.
        let overlapping = if is_prefetched(0) { 0.0 } else { issue };
        // What a level of a tree computes is too little to hide a line, and waits for the level above itself.
        let level = if shape.structure.is_walked() { issue / shape.loops } else { 0.0 };
        let levels: f64 = all()
            .filter(|(at, _)| is_level_by_level && *at < record)
            .map(|(_, (line, footprint))| {
                let further = (line.frequency - 1.0).max(0.0) * memory.load(footprint, window);
                (memory.group(Hint::T0, footprint, group) - level).max(0.0) + further
            })
            .sum();
        // Second lines of a group are read together, behind all first ones.
        let seconds = (group * shape.second_line).clamp(1.0, window.max(1.0));
        let second_line = shape.second_line
            * (memory.load(&made.first(), seconds) + SECOND_LINE_MISPREDICTED * self.inputs.machine.mispredict_cycles);
        let parallel = if shape.group_savings.is_some() { group } else { window };
        let guessed = if shape.structure.is_walked() { WALK_MISPREDICTED } else { 1.0 };
        let mispredicted = guessed * shape.mispredictions * self.inputs.machine.mispredict_cycles;
        (loaded - overlapping).max(0.0) + levels + second_line + self.steps(lookup, parallel, operation) + mispredicted
    }

    /// What a look-up of a stage saves of its operations, where its structure looks up a group's keys at once.
    pub(super) fn group_savings_cycles(&self, lookup: &Lookup) -> f64 {
        lookup.shape.group_savings.unwrap_or(0.0) * self.inputs.machine.stages().operation_cycles
    }

    /// The hint with which a table's first line is cheapest, asked for at this place.
    pub fn best_hint(&self, lookup: &Lookup, placement: Placement, in_flight: f64) -> Hint {
        let memory = self.memory();
        let footprint = first(lookup);
        let cycles = |hint| match placement {
            Placement::OwnLoop => memory.group(hint, &footprint, in_flight),
            Placement::None | Placement::WithConsumption | Placement::WithTurns | Placement::WithKeys => {
                memory.prefetch(hint, &footprint, in_flight)
            }
        };
        let (near, far) = (cycles(Hint::T0), cycles(Hint::T1));
        // What stays in the first cache for a burst is in the way of the burst's packets, of which a calibration has none: in l2fwd with 64K to 512K entries,
        // lines that were asked for to the second one cost two cycles less, whatever the curves said (Zen 4).
        let is_near = if placement.is_behind() { near <= far * (1.0 - NOISE) } else { near * (1.0 - NOISE) <= far };
        if is_near { Hint::T0 } else { Hint::T1 }
    }
}

/// Whether the plan can ask for lines of a look-up before they are read.
pub(super) fn can_prefetch(lookup: &Lookup) -> bool {
    lookup.shape.structure.is_addressed() || lookup.shape.structure.is_walked()
}

/// Operations of a look-up in a group.
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
    fn second_lines_are_waited_for_with_the_look_ups_behind_them() {
        // Alone, a look-up waits for both lines.
        assert!((1.0 / lookups_per_stall(1.0, 0.25) - 1.25).abs() < 1e-9);
        // With room for others, less than for one line more: 0.312 where a wait of its own would make it 0.35.
        let latencies = |second_line| 1.0 / lookups_per_stall(4.0, second_line);
        assert_eq!(latencies(0.0), 0.25);
        assert!((latencies(0.1) - 0.312).abs() < 0.001, "{}", latencies(0.1));
        // Where each needs two, a first line comes with the second one of the look-up before.
        assert!((latencies(1.0) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sight_has_look_ups_that_take_about_as_long_and_less_than_one_of_a_long_packet() {
        // A look-up of 300 cycles, two of at least 200, three of at least 20; a quarter of a packet in the window, or four.
        let window = |packets| RobWindow { packets, latencies: vec![(300.0, 1.0), (200.0, 2.0), (20.0, 3.0)] };
        let overlapping = |packets| [300.0, 20.0].map(|cycles| window(packets).overlapping(cycles));
        assert_eq!((overlapping(0.25), overlapping(4.0)), ([0.5, 0.75], [8.0, 12.0]));
    }

    #[test]
    fn rules_wait_for_their_chain_where_the_window_has_nothing_else() {
        let parsed = parse_file(RULES).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let cycles = |structure, window| unstaged_stalls(&parsed.program, structure, window);
        for structure in [Structure::TupleSpace, Structure::Scan, Structure::BitVector] {
            assert!(cycles(structure, 64) > cycles(structure, 1024) + 5.0, "{structure:?}");
        }
    }
}
