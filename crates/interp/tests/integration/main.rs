//! The interpreter as a data plane: how many copies it makes of a packet, how fast it is, and of which packets it notes the steps.

mod copies;
mod lookups;
mod speed;
mod watch;
