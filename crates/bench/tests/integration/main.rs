//! What the experiments take for granted of the switch: state on several workers.

mod spread;
mod workers;
