//! The interpreter as a data plane: how many copies it makes of a packet, and how fast it is.

mod copies;
mod speed;
