//! The cost of a port per packet, and what saturates it.

use super::machine::{LONGEST_FREE, MOST_CYCLES, expect, expect_count};
use serde::{Deserialize, Serialize};

/// Cycles per packet of a program that only forwards, by burst size and packet descriptor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    pub burst: Vec<u32>,
    pub own: Vec<f64>,
    pub mbuf: Vec<f64>,
    /// Whether mbufs were measured with DPDK. Otherwise their cost is computed from own descriptors and line
    /// costs.
    pub mbuf_measured: bool,
    /// The device for the port of the next three fields: a DPDK driver, or a NIC by its address. Missing for
    /// the in-memory port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The smallest ring (descriptors or free buffers) at which an echo reaches its full rate. Missing where
    /// it cannot be chosen; so are the next two. The model uses none of the three.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<u32>,
    /// The smallest batch at which the echo reaches its full rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Cycles of work per packet that do not slow down the echo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_cycles: Option<f64>,
}

impl Default for Port {
    fn default() -> Self {
        Port {
            burst: vec![32, 64, 128],
            own: vec![8.0; 3],
            mbuf: vec![10.0; 3],
            mbuf_measured: false,
            device: None,
            ring: None,
            batch: None,
            free_cycles: None,
        }
    }
}

impl Port {
    /// Rejects values that no measurement gives.
    pub fn check(&self) -> Result<(), String> {
        for costs in [&self.own, &self.mbuf] {
            if costs.len() != self.burst.len() {
                return Err("port: expected a number for each burst".to_string());
            }
            costs.iter().try_for_each(|cycles| expect("port, cycles", *cycles, 0.0..=MOST_CYCLES))?;
        }
        for (name, count) in [("port.ring", self.ring), ("port.batch", self.batch)] {
            expect_count(name, count.unwrap_or(1))?;
        }
        expect("port.free_cycles", self.free_cycles.unwrap_or(0.0), 0.0..=LONGEST_FREE)
    }
}
