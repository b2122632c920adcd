//! Vector code for the first stage of a hot path: operations that it saves per packet, and those that it
//! costs.
//! The term of `S`, in cycles per packet, mostly negative:
//!
//! ```text
//! v · c_v − (w_scalar + y · (w_keys + w_rewrites)) · c_op
//! v            vector instructions for a vector of packets, divided by its packets
//! w_scalar     saved for all packets: the scalar form of what is computed before the lookup
//! w_keys, ..   saved for packets that stay; those that exit compute it again
//! ```
//!
//! `c_v` and `c_op` differ: vector instructions issue on fewer ports, and the widest ones may lower the clock.

use super::Model;
use super::path::Path;
use hlir::hot_path::Stage;
use hlir::plan::Descriptor;
use hlir::{NodeId, Plan};
use schedule::vector::Step;
use schedule::{Lanes, Operation, Schedule, Value};
use std::collections::{BTreeMap, HashMap};

/// Operations per packet that load it: its address, its length, and its part of the loop. Fields of mbufs are
/// read one by one (counted in ipv4fwd).
const LOAD_PACKET: f64 = 1.8;
const LOAD_MBUF: f64 = 4.0;
/// Operations per row that transpose it, beside a load per packet: two unpack steps, and a byte swap of each
/// of four words.
const TRANSPOSE: f64 = 12.0;
/// Operations per packet that store a 32-bit part of a key. Keys of one limb are contiguous (counted in
/// ipv4fwd); limbs of keys with more than two are loaded and stored again per packet.
const STORE: f64 = 0.3;
const STORE_WIDE: f64 = 1.3;
/// Operations per packet that store a key of two limbs: sixteen transpose and store eight keys.
const STORE_TWO: f64 = 2.0;
const WORDS_PER_LIMB: usize = 2;
/// Load and store of bytes that an action writes.
const STORE_BYTES: f64 = 2.0;
/// Operations that gather a record or its number per packet: extract, load, insert. Uniform values are
/// gathered once, with as many vector operations.
const GATHER: f64 = 4.0;
/// Share of the operations before the cut that the commit phase repeats in any case: the addresses of
/// headers.
const COMMIT_SHARE: f64 = 0.1;

/// Lookups of a first stage that are counted; the keys of others cost the same either way.
const MOST_COUNTED: usize = 12;
/// Lookups before a first stage that is vector code, at most.
const MOST_BEFORE: usize = 12;
/// Lookups of a path, at most, whose commit phase is scheduled to count what is computed for it in advance. Behind more
/// of them that saves little, and each such schedule takes time that grows with the whole program.
const MOST_COMMITTED: usize = 32;

/// Operations of a first stage as vector code, per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorCost {
    /// Scalar operations saved for every packet; and those of keys, saved only for packets that stay on the
    /// path.
    pub saved: f64,
    pub keys: f64,
    /// Operations of actions that are computed in advance, for packets that stay: commit only stores the
    /// results.
    pub rewritten: f64,
    /// Vector operations, divided by the packets per vector.
    pub vector: f64,
}

impl Model<'_> {
    /// Packets per vector on this machine, if their cost was measured.
    pub fn vector_packets(&self) -> Option<u32> {
        // Vector code does not count edges.
        let measured = self.inputs.machine.vector.filter(|_| !self.inputs.constraints.instrument.edges);
        measured.map(|lanes| lanes.packets)
    }

    /// The cost of the plan's first stage with so many packets per vector. None without a hot path, or if the
    /// stage has no vector form.
    pub fn vector_cost(&self, plan: &Plan, packets: u32) -> Option<VectorCost> {
        let path = self.path(plan)?;
        let first = path.names.stages(plan).into_iter().next()?;
        self.stage_vector_cost(&path, &first, packets, plan.descriptor)
    }

    fn stage_vector_cost(
        &self,
        path: &Path,
        first: &Stage,
        packets: u32,
        descriptor: Descriptor,
    ) -> Option<VectorCost> {
        let counted = &first.looked_up[..first.looked_up.len().min(MOST_COUNTED)];
        let key = (first.place, counted.to_vec());
        if self.vector_cache.borrow().0 != **path {
            *self.vector_cache.borrow_mut() = (path.to_vec(), HashMap::new());
        }
        let known = self.vector_cache.borrow().1.get(&key).copied();
        let steps = known.unwrap_or_else(|| {
            let steps = self.counted_stage(path, first.place, counted);
            self.vector_cache.borrow_mut().1.insert(key, steps);
            steps
        });
        let StepCounts { rows, operators, reads, stores, rewritten } = steps?;
        let packets = f64::from(packets);
        // `w_scalar` before its discount: the nodes up to the cut, as often as packets visit them.
        let before = path.visited_before(first.place);
        let made = counted.iter().filter_map(|place| self.lookup_at(path[*place]));
        let keys: f64 = made.map(|number| self.key_operations[number]).sum();
        let load = match descriptor {
            Descriptor::Own => LOAD_PACKET,
            Descriptor::Mbuf => LOAD_MBUF,
        };
        // Rows: one load per packet and a transposition per vector; then one instruction per operator for all
        // packets.
        let vector = load + reads + (rows * (packets + TRANSPOSE) + operators) / packets;
        Some(VectorCost { saved: (1.0 - COMMIT_SHARE) * before - stores, keys, rewritten, vector })
    }

    /// The step counts of a first stage; none if it has no vector form.
    fn counted_stage(&self, path: &Path, place: usize, looked_up: &[usize]) -> Option<StepCounts> {
        let lookups = |nodes: &[NodeId]| nodes.iter().filter(|node| self.lookup_at(**node).is_some()).count();
        if lookups(&path[..place]) > MOST_BEFORE {
            return None;
        }
        let actions = match lookups(path) {
            0..=MOST_COMMITTED => self.expected_actions(path),
            _ => BTreeMap::new(),
        };
        let schedule = if actions.is_empty() {
            Schedule::of_first_alone(self.program, path, place, looked_up)
        } else {
            Schedule::of_first(self.program, path, &actions, place, looked_up)
        };
        let mut schedule = schedule.ok()?;
        self.count_scheduled(schedule.values.len());
        let lanes = schedule.vectorized().ok()?;
        let stored: Vec<Value> = lanes.kept.iter().map(|(value, _)| *value).collect();
        let staged = looked_up.iter().filter_map(|at| Some((at, actions.get(at)?)));
        let share: f64 = staged.map(|(at, action)| self.share_of_action(path[*at], *action)).product();
        let saved = (scalar(&schedule, &stored) - STORE_BYTES * stored.len() as f64).max(0.0);
        Some(StepCounts { rewritten: share * saved, ..counted(&lanes) })
    }

    /// By position on a path, the action that most packets run at the lookup there.
    fn expected_actions(&self, path: &Path) -> BTreeMap<usize, usize> {
        path.iter().enumerate().filter_map(|(at, node)| Some((at, self.expected_action(*node)?))).collect()
    }

    /// The action that most packets run at a lookup.
    fn expected_action(&self, node: NodeId) -> Option<usize> {
        let actions = &self.traffic.lookup(node)?.actions;
        let shares = actions.iter().enumerate();
        shares.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(action, _)| action)
    }

    fn share_of_action(&self, node: NodeId, action: usize) -> f64 {
        self.traffic.lookup(node).and_then(|lookup| lookup.actions.get(action).copied()).unwrap_or(0.0)
    }

    /// Cycles per packet that vector code adds: mostly negative. `on_path` is the share of the packets that
    /// stay on the path.
    ///
    /// ```text
    /// v · c_v − (w_before + y · (w_keys + w_rewrites)) · c_op
    /// ```
    pub(super) fn vector_cycles(&self, plan: &Plan, path: &Path, first: &Stage, on_path: f64) -> f64 {
        let planned = &plan.loops[first.number];
        if planned.vector < 2 {
            return 0.0;
        }
        let Some(cost) = self.stage_vector_cost(path, first, planned.vector, plan.descriptor) else { return 0.0 };
        // Scalar code that is saved would have run in the stage, at its cost of an operation.
        let saved = self.inputs.machine.stages().operation_cycles;
        // The remainder of a group runs packet by packet.
        let whole = f64::from(planned.group / planned.vector * planned.vector) / f64::from(planned.group.max(1));
        whole
            * (cost.vector * self.vector_operation(planned.vector)
                - (cost.saved + on_path * (cost.keys + cost.rewritten)) * saved)
    }

    /// Cycles of an operation on vectors of so many packets. A vector wider than the machine's counts as
    /// several.
    pub fn vector_operation(&self, packets: u32) -> f64 {
        let machine = &self.inputs.machine;
        let cycles = machine.vector.map_or(machine.operation_cycles, |lanes| lanes.operation_cycles);
        cycles * f64::from((4 * packets).div_ceil(machine.vector_bytes()))
    }
}

/// Operations that compute values packet by packet.
fn scalar(schedule: &Schedule, values: &[Value]) -> f64 {
    let needed = schedule.values.needed(values.iter().copied());
    let is_free = |value: &Value| matches!(schedule.values.of(*value), Operation::Constant(_));
    needed.iter().filter(|value| !is_free(value)).count() as f64
}

/// Step counts of a stage.
#[derive(Clone, Copy)]
pub(super) struct StepCounts {
    /// Rows that are loaded, and operators.
    rows: f64,
    operators: f64,
    /// Operations that read non-uniform values from tables.
    reads: f64,
    /// Operations per packet that store keys and bytes.
    stores: f64,
    rewritten: f64,
}

fn counted(lanes: &Lanes) -> StepCounts {
    let (mut operators, mut reads) = (0.0, 0.0);
    for (step, is_uniform) in lanes.steps.iter().zip(uniform_for_port(lanes)) {
        match step {
            Step::Word(_) | Step::Length | Step::Port | Step::Constant(_) => {}
            Step::Operate(..) | Step::Choose { .. } => operators += 1.0,
            Step::Register { .. } | Step::TableRead { .. } if is_uniform => operators += GATHER,
            Step::Register { .. } | Step::TableRead { .. } => reads += GATHER,
        }
    }
    let stores = |parts: usize| match parts.div_ceil(WORDS_PER_LIMB) {
        0 | 1 => parts as f64 * STORE,
        2 => STORE_TWO,
        _ => parts as f64 * STORE_WIDE,
    };
    let keys: f64 = lanes.keys.iter().map(|(_, key)| stores(key.len())).sum();
    let bytes = lanes.kept.len();
    StepCounts { rows: lanes.rows.len() as f64, operators, reads, stores: keys + bytes as f64 * STORE, rewritten: 0.0 }
}

/// Whether each step is uniform over the packets of one port: bursts mostly come from one port.
fn uniform_for_port(lanes: &Lanes) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::new();
    for step in &lanes.steps {
        let is_uniform = match step {
            Step::Word(_) | Step::Length => false,
            Step::Port
            | Step::Constant(_)
            | Step::Register { .. }
            | Step::TableRead { .. }
            | Step::Operate(..)
            | Step::Choose { .. } => step.operands().iter().all(|operand| uniform[*operand as usize]),
        };
        uniform.push(is_uniform);
    }
    uniform
}
