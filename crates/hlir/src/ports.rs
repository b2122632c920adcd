//! The port numbers of a program: how many bits they have, and which of them drops.

use crate::program::Program;
use crate::{Binary, Effect, Expression, NodeKind, Rule};
use num_bigint::BigUint;

/// The numbers that ports of a program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortNumbers {
    /// Bits of the widest port by which the program sends. Nothing if it sends nowhere, or if any number of 32 bits is a port.
    bits: Option<u32>,
    /// The number that means dropping, as 511 does in v1model.
    drop: Option<u32>,
}

impl PortNumbers {
    /// Bits of a port number.
    pub fn bits(&self) -> u32 {
        self.bits.unwrap_or(u32::BITS)
    }

    /// Why the program cannot name a port of this number.
    pub fn unnamed(&self, port: u32) -> Option<String> {
        let bits = self.bits.filter(|bits| port >> bits != 0)?;
        Some(format!("there is no port {port}: port numbers have {bits} bits in this program"))
    }

    /// Why no device can be connected to a port of this number.
    pub fn unusable(&self, port: u32) -> Option<String> {
        let drops = || format!("port {port} is the drop port of this program: a packet that is sent there is dropped");
        self.unnamed(port).or_else(|| (self.drop == Some(port)).then(drops))
    }
}

impl Program {
    /// How many bits a port has that packets are sent by: those of the architecture's port numbers, which may be written in more.
    pub fn port_width(&self, port: &Expression) -> u32 {
        if let Expression::Extend { operand, signed: false, .. } = port {
            return self.port_width(operand);
        }
        self.expression_type(port, &[]).width()
    }

    /// The numbers that ports may have.
    pub fn port_numbers(&self) -> PortNumbers {
        let sent = self.buffers().flatten().filter_map(|rule| {
            let Effect::Send { port } = &rule.effect else { return None };
            Some(self.port_width(port))
        });
        // Numbers of 32 bits need no check.
        let bits = sent.max().filter(|bits| *bits < 32);
        let largest = bits.map(|bits| (1u32 << bits) - 1);
        let drop = largest.filter(|largest| self.buffers().any(|rules| drops_by(rules, *largest)));
        PortNumbers { bits, drop }
    }

    fn buffers(&self) -> impl Iterator<Item = &[Rule]> {
        self.nodes.values().filter_map(|node| {
            let NodeKind::Buffer { rules, .. } = &node.kind else { return None };
            Some(rules.as_slice())
        })
    }
}

/// Whether a rule drops by this port number, and another takes what was compared with it as the port of the packet.
fn drops_by(rules: &[Rule], number: u32) -> bool {
    let dropping = rules.iter().filter(|rule| matches!(rule.effect, Effect::Drop { .. }));
    let compared: Vec<&Expression> = dropping.filter_map(|rule| equal_to(&rule.condition, number)).collect();
    let ports = rules.iter().flat_map(|rule| match &rule.effect {
        Effect::Unicast { set, .. } => set.iter().map(|(_, value)| value).collect(),
        Effect::Send { port } => vec![port],
        Effect::Drop { .. }
        | Effect::Punt { .. }
        | Effect::Replicate { .. }
        | Effect::Clone { .. }
        | Effect::Resubmit { .. }
        | Effect::Recirculate { .. } => Vec::new(),
    });
    ports.into_iter().any(|port| compared.iter().any(|compared| reads(port, compared)))
}

/// What is compared with the number.
fn equal_to(condition: &Expression, number: u32) -> Option<&Expression> {
    let Expression::Binary { operator: Binary::Equal, left, right } = condition else { return None };
    let is_number =
        |it: &Expression| matches!(it, Expression::Constant { value, .. } if *value == BigUint::from(number));
    match (is_number(left), is_number(right)) {
        (false, true) => Some(left),
        (true, false) => Some(right),
        (true, true) | (false, false) => None,
    }
}

fn reads(value: &Expression, read: &Expression) -> bool {
    let mut found = false;
    value.walk(&mut |part| found |= part == read);
    found
}
