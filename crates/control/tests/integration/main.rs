//! The control plane without a switch: its messages, the store of what controllers write, and joint tables behind each write.
#![allow(clippy::unwrap_used)]

mod described;
mod fact_writes;
mod facts;
mod joins;
mod places;
mod protocol;
mod published;
mod store;
