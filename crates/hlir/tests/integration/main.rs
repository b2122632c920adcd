//! HLIR as other crates use it: its text, the verifier, and its analyses of effects, vector code and queues.

mod deferral;
mod docs;
mod generate;
mod hostile;
mod joints;
mod mistakes;
mod next_paths;
mod prefetches;
mod programs;
mod queues;
mod resolved;
mod round_trip;
