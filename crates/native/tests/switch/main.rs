//! Native code in a switch on in-memory ports, with programs compiled for the test: burst by burst, and under writes.

mod atomic;
mod batches;
mod beginnings;
mod bulk;
mod bulk_drop;
mod copies;
mod crcs;
mod empty;
mod exchange;
mod joins;
mod key_from_lookup;
mod last_hits;
mod learns_wide;
mod links;
mod meters;
mod misses;
mod queues;
mod selector;
mod specialised;
mod values;
