//! Chooses the packet descriptor: the program's own arrays where the ports take them, else DPDK's mbufs.

use super::{Planner, reason};
use hlir::Plan;
use hlir::plan::{Choice, Descriptor};

/// A plan has no place for this choice's reason; [`costs`] computes it for `explain`.
pub fn choose(planner: &Planner, plan: &mut Plan) {
    let inputs = planner.model.inputs;
    let cheapest = if inputs.ports.own_descriptor { Descriptor::Own } else { Descriptor::Mbuf };
    plan.descriptor = inputs.constrained_descriptor.unwrap_or(cheapest);
}

/// Cycles per packet with the program's own descriptor and with DPDK's.
pub fn costs(planner: &Planner, plan: &Plan) -> Option<hlir::plan::Reason> {
    let lookups = planner.model.lookups(plan);
    let cost = |descriptor| planner.model.cycles(&Plan { descriptor, ..plan.clone() }, &lookups);
    let other = match plan.descriptor {
        Descriptor::Own => Descriptor::Mbuf,
        Descriptor::Mbuf => Descriptor::Own,
    };
    reason(cost(plan.descriptor), [(Choice::Descriptor(other), cost(other))])
}
