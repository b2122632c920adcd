//! What the experiments take for granted of the switch: state on several workers.

mod workers;
