//! Native code in a switch on in-memory ports, with programs compiled for the test: burst by burst, and under writes.

mod bulk;
mod copies;
mod dropping;
mod exchange;
mod fronts;
mod misses;
mod selector;
mod waiting;
