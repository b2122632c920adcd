//! What leads to a path's first cut, run in lanes: what a packet is spared, and what it costs instead.

use super::Model;
use crate::analyze::drops::node_index;
use hlir::lanes::{Lanes, Step};
use hlir::path::Stage;
use hlir::plan::Descriptor;
use hlir::{NodeId, NodeKind, Plan};

/// Operations that take a packet of a burst: where its bytes are, and its part of the lengths and of the loop over those side by side. Of mbufs all that is
/// read one by one (counted in ipv4fwd).
const LOAD_PACKET: f64 = 1.8;
const LOAD_MBUF: f64 = 4.0;
/// Operations that transpose rows, beside a load for each packet: unpack twice, and turn the bytes of each of four words.
const TRANSPOSE: f64 = 12.0;
/// Operations for a packet that store a part of a key of 32 bits. Keys of one limb lie side by side (counted in ipv4fwd); of those of more than two each
/// limb is loaded and stored again for each packet.
const STORE: f64 = 0.3;
const STORE_WIDE: f64 = 1.3;
/// Operations for a packet that store a key of two limbs: sixteen transpose and store those of eight.
const STORE_TWO: f64 = 2.0;
const WORDS_PER_LIMB: usize = 2;
/// Load and store of bytes that an action writes.
const STORE_BYTES: f64 = 2.0;
/// Operations that read a record, or its number, for each of several packets: out of the vector, the load, and back. Where all ask the same it is done once,
/// and takes as many on vectors.
const GATHER: f64 = 4.0;
/// Part of the operations before the cut that a packet's turn does in any case: where its headers lie.
const COMMIT_SHARE: f64 = 0.1;

/// A first stage in lanes, a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorCost {
    /// Operations that a packet is spared, one that leaves the path too; and those of its keys, which only one that stays would have made.
    pub saved: f64,
    pub keys: f64,
    /// Operations that the action of one that stays would have made: what it writes is stored only.
    pub rewritten: f64,
    /// Operations on vectors, divided by the packets that a vector has.
    pub vector: f64,
}

impl Model<'_> {
    /// Packets that the machine's vectors have side by side, if plans can count on what that costs.
    pub fn vector_packets(&self) -> Option<u32> {
        // Lanes count no keys.
        let measured = self.inputs.machine.vector.filter(|_| !self.inputs.constraints.instrument.edges);
        measured.map(|lanes| lanes.packets)
    }

    /// The plan's first stage with so many packets side by side; none without a path, or where something has no form in lanes.
    pub fn vector_cost(&self, plan: &Plan, packets: u32) -> Option<VectorCost> {
        let path = hlir::path::nodes(self.program, plan.path.as_ref()?)?;
        let first = hlir::path::stages(self.program, plan, &path).into_iter().next()?;
        self.stage_vector_cost(&path, &first, packets, plan.descriptor)
    }

    fn stage_vector_cost(
        &self,
        path: &[NodeId],
        first: &Stage,
        packets: u32,
        descriptor: Descriptor,
    ) -> Option<VectorCost> {
        let key = (path[..=first.place].to_vec(), first.looked_up.clone());
        let known = self.vector_cache.borrow().get(&key).copied();
        let counted = known.unwrap_or_else(|| {
            let lanes = Lanes::of(self.program, path, first).ok();
            let counted = lanes
                .map(|lanes| StepCounts { rewritten: self.rewritten(path[first.place], &lanes), ..counted(&lanes) });
            self.vector_cache.borrow_mut().insert(key, counted);
            counted
        });
        let StepCounts { rows, operators, reads, stores, rewritten } = counted?;
        let packets = f64::from(packets);
        let before: f64 = path[..first.place]
            .iter()
            .map(|node| self.work[node_index(*node)] * self.traffic.node(*node).min(1.0))
            .sum();
        let operations = super::operations::Operations::new(self.program);
        let tables = first.looked_up.iter().filter_map(|place| hlir::path::table_of(self.program, path[*place]));
        let keys: f64 = tables.map(|table| operations.key(table)).sum();
        let load = match descriptor {
            Descriptor::Own => LOAD_PACKET,
            Descriptor::Mbuf => LOAD_MBUF,
        };
        let vector = load + reads + (rows * (packets + TRANSPOSE) + operators) / packets;
        Some(VectorCost { saved: (1.0 - COMMIT_SHARE) * before - stores, keys, rewritten, vector })
    }

    /// Operations of the look-up's actions that lanes leave no packet to do, for each packet: all that is known of them, but for the stores.
    fn rewritten(&self, node: NodeId, lanes: &Lanes) -> f64 {
        let NodeKind::Apply { table, .. } = self.program.nodes[node].kind else { return 0.0 };
        let operations = super::operations::Operations::new(self.program);
        let run = self.traffic.lookup(node).map(|lookup| lookup.actions.as_slice()).unwrap_or_default();
        let saved = lanes.rewrites.iter().map(|action| {
            let body = &self.program.tables[table].actions[action.action].body;
            let known = action.known.iter().map(|number| operations.body(std::slice::from_ref(&body[*number])));
            let share = run.get(action.action).copied().unwrap_or(0.0);
            share * (known.sum::<f64>() - STORE_BYTES * action.stores.len() as f64)
        });
        saved.sum()
    }

    /// Cycles that a stage in lanes adds to a packet: as a rule less than nothing. `on_path`: packets that stay there.
    pub(super) fn vector_cycles(&self, plan: &Plan, path: &[NodeId], first: &Stage, on_path: f64) -> f64 {
        let planned = &plan.loops[first.number];
        if planned.lanes < 2 {
            return 0.0;
        }
        let Some(cost) = self.stage_vector_cost(path, first, planned.lanes, plan.descriptor) else { return 0.0 };
        let saved = self.inputs.machine.stages().operation_cycles;
        // What is left of a group is run packet by packet.
        let whole = f64::from(planned.group / planned.lanes * planned.lanes) / f64::from(planned.group.max(1));
        whole
            * (cost.vector * self.vector_operation(planned.lanes)
                - (cost.saved + on_path * (cost.keys + cost.rewritten)) * saved)
    }

    /// Cycles of an operation on vectors of so many packets: longer ones than the machine has are several.
    pub fn vector_operation(&self, packets: u32) -> f64 {
        let machine = &self.inputs.machine;
        let cycles = machine.vector.map_or(machine.operation_cycles, |lanes| lanes.operation_cycles);
        cycles * f64::from((4 * packets).div_ceil(machine.vector_bytes()))
    }
}

/// What a stage in lanes has.
#[derive(Clone, Copy)]
pub(super) struct StepCounts {
    /// Rows that are loaded, and operators.
    rows: f64,
    operators: f64,
    /// Operations that read of tables what differs from packet to packet.
    reads: f64,
    /// Operations that store keys and bytes, for a packet.
    stores: f64,
    rewritten: f64,
}

fn counted(lanes: &Lanes) -> StepCounts {
    let (mut operators, mut reads) = (0.0, 0.0);
    for (step, is_uniform) in lanes.steps.iter().zip(uniform_for_port(lanes)) {
        match step {
            Step::Word(_) | Step::Length | Step::Port | Step::Constant(_) => {}
            Step::Operate(..) | Step::Choose { .. } => operators += 1.0,
            Step::OfTable { .. } if is_uniform => operators += GATHER,
            Step::OfTable { .. } => reads += GATHER,
        }
    }
    let stores = |parts: usize| match parts.div_ceil(WORDS_PER_LIMB) {
        0 | 1 => parts as f64 * STORE,
        2 => STORE_TWO,
        _ => parts as f64 * STORE_WIDE,
    };
    let keys: f64 = lanes.keys.iter().map(|(_, key)| stores(key.len())).sum();
    let bytes: usize = lanes.rewrites.iter().map(|action| action.stores.len()).sum();
    StepCounts { rows: lanes.rows.len() as f64, operators, reads, stores: keys + bytes as f64 * STORE, rewritten: 0.0 }
}

/// Of each step, whether all packets of one port have the same: bursts are as a rule of one.
fn uniform_for_port(lanes: &Lanes) -> Vec<bool> {
    let mut uniform: Vec<bool> = Vec::new();
    for step in &lanes.steps {
        let is_uniform = match step {
            Step::Word(_) | Step::Length => false,
            Step::Port | Step::Constant(_) | Step::OfTable { .. } | Step::Operate(..) | Step::Choose { .. } => {
                step.operands().iter().all(|operand| uniform[*operand as usize])
            }
        };
        uniform.push(is_uniform);
    }
    uniform
}
