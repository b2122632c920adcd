//! Chooses the packet descriptor: the program's own arrays where the ports take them, else DPDK's mbufs.

use super::{reason, with_model};
use crate::Inputs;
use hlir::plan::Descriptor;
use hlir::{Plan, Program};

/// A plan has no place for this choice's reason; [`costs`] computes it for `explain`.
pub fn choose(_: &Program, plan: &mut Plan, inputs: &Inputs) {
    let cheapest = if inputs.ports.own_descriptor { Descriptor::Own } else { Descriptor::Mbuf };
    plan.descriptor = inputs.constrained_descriptor.unwrap_or(cheapest);
}

/// Cycles per packet with the program's own descriptor and with DPDK's.
pub fn costs(program: &Program, plan: &Plan, inputs: &Inputs) -> Option<hlir::plan::Reason> {
    with_model(program, inputs, |model| {
        let cost = |descriptor| model.predict(&Plan { descriptor, ..plan.clone() }).cycles();
        let (other, name) = match plan.descriptor {
            Descriptor::Own => (Descriptor::Mbuf, "mbuf"),
            Descriptor::Mbuf => (Descriptor::Own, "own"),
        };
        reason(cost(plan.descriptor), [(name.to_string(), cost(other))])
    })
}
