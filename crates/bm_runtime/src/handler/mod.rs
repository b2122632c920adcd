//! The services' methods: each does its work with the switch in its hands.

mod replication;
mod standard;
