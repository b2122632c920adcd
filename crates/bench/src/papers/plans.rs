//! The plans that the experiments compare, beside those of gains and joins: group sizes, batch sizes, bursts at entry, and hot paths.

use crate::speedup::papers_structures;
use crate::sweep::{self, Point};
use hlir::plan::{AccessMode, Placement};
use hlir::{Plan, Program};
use opt::Inputs;

/// The burst of *Model*'s experiments.
pub const BURST: u32 = 32;
/// Sizes of the groups that are prefetched at once.
pub const GROUPS: [u32; 4] = [4, 8, 16, 32];
/// Bursts of *Model*, figure 5.
pub const BURSTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Larger batches are prefetched in parts: the core has room for so many outstanding misses at most.
const LARGEST_GROUP: u32 = 64;
/// Bursts at entry with copies by four: Bmax, and Bmax/4.
pub const ENTRY: [u32; 2] = [64, 16];

/// A trie with path compression, and one with a node for every six bits.
pub const COMPRESSED: &str = "trie:compressed";
pub const UNCOMPRESSED: &str = "trie:uncompressed";

/// *Model*, 4.6: the same plan for both tries.
pub fn tries(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut pinned = inputs.clone();
    pinned.constraints.tables = papers_structures(program);
    let plan = sweep::planned(program, &pinned);
    [COMPRESSED, UNCOMPRESSED].map(|name| Point { name: name.to_string(), plan: plan.clone() }).into()
}

/// What accesses are compared by: each mode, as plans name it.
pub const MODES: [(&str, AccessMode); 3] =
    [("base", AccessMode::Base), ("pac", AccessMode::Combined), ("cgpc", AccessMode::Cached)];

/// With a first stage in vector code, which reads rows whatever the mode.
pub fn in_vectors(mode: &str) -> String {
    format!("vector, {mode}")
}

/// *Optimizing Packet Accesses*, table 2: the same stages packet by packet.
pub fn accesses(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut points = Vec::new();
    let planned = sweep::planned(program, inputs);
    if planned.loops.iter().any(|stage| stage.vector > 1) {
        for (name, mode) in &MODES {
            add(&mut points, program, in_vectors(name), Plan { accesses: Some(*mode), ..planned.clone() });
        }
    }
    let mut staged = if planned.loops.is_empty() { sweep::staged(program, inputs) } else { planned };
    staged.loops.iter_mut().for_each(|stage| stage.vector = 1);
    for (name, mode) in MODES {
        add(&mut points, program, name.to_string(), Plan { accesses: Some(mode), ..staged.clone() });
    }
    points
}

/// The best plan packet by packet, and with one hot path.
pub const IN_TURN: &str = "best:packet";
pub const ONE_PATH: &str = "best:one-path";

/// What several hot paths are compared with: the same plan, whose packets that leave the first path run the plain program; and packet by packet.
pub fn paths(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let several = sweep::planned(program, inputs);
    let one = Plan { next_paths: Vec::new(), ..several.clone() };
    let in_turn = several.packet_by_packet();
    [(IN_TURN, in_turn), (ONE_PATH, one)].map(|(name, plan)| Point { name: name.to_string(), plan }).into()
}

/// Inputs with the papers' structures and a burst.
fn pinned(program: &Program, inputs: &Inputs, burst: u32) -> Inputs {
    let mut pinned = inputs.clone();
    pinned.constraints.tables = papers_structures(program);
    pinned.constraints.burst = burst;
    pinned
}

/// Packet by packet; in stages, as far as the program has any.
fn both(program: &Program, inputs: &Inputs, burst: u32) -> (Plan, Plan) {
    let inputs = pinned(program, inputs, burst);
    let planned = sweep::planned(program, &inputs);
    let staged = Plan { tables: planned.tables.clone(), ..sweep::staged(program, &inputs) };
    (planned.packet_by_packet(), staged)
}

fn add(points: &mut Vec<Point>, program: &Program, name: String, plan: Plan) {
    if hlir::verify::verify_plan(program, &plan).is_empty() {
        points.push(Point { name, plan });
    }
}

/// *Model*, 4.2 and 4.3: packet by packet, batches alone, and prefetches by group size. Groups of eight with a prefetch before every lookup are what G-Opt's
/// transformation makes of such code.
pub fn groups(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let (in_turn, staged) = both(program, inputs, BURST);
    let mut points = vec![Point { name: "papers:packet".to_string(), plan: in_turn }];
    if !staged.loops.is_empty() {
        add(&mut points, program, "papers:B".to_string(), sweep::placed(&staged, BURST, None));
        for group in GROUPS {
            let plan = sweep::placed(&staged, group, Some(Placement::OwnLoop));
            add(&mut points, program, format!("papers:B+P:{group}"), plan);
        }
    }
    points
}

/// *Model*, figure 5: each batch size, without prefetches and with them.
pub fn batches(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut points = Vec::new();
    for burst in BURSTS {
        let (in_turn, staged) = both(program, inputs, burst);
        if burst == 1 || staged.loops.is_empty() {
            // A batch of one packet has nothing to be batched with.
            points.push(Point { name: format!("B:{burst}"), plan: in_turn.clone() });
            points.push(Point { name: format!("B+P:{burst}"), plan: in_turn });
            continue;
        }
        add(&mut points, program, format!("B:{burst}"), sweep::placed(&staged, burst.min(LARGEST_GROUP), None));
        let prefetched = sweep::placed(&staged, burst.min(LARGEST_GROUP), Some(Placement::OwnLoop));
        add(&mut points, program, format!("B+P:{burst}"), prefetched);
    }
    points
}

/// *P4+BACUS*, section 6: the same plan with bursts at entry of Bmax, and of a quarter of that.
pub fn entry_bursts(program: &Program, inputs: &Inputs) -> Vec<Point> {
    let mut points = Vec::new();
    for burst in ENTRY {
        let plan = sweep::planned(program, &pinned(program, inputs, burst));
        add(&mut points, program, format!("entry:{burst}"), plan);
    }
    points
}
