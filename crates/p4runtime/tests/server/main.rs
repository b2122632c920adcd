//! The server over loopback, clause by clause: docs/p4runtime.md lists the test of each. One program, since linking the server takes longer than a file.
#![allow(deprecated)]

mod arbitration;
mod batches;
mod documented;
mod links;
mod listening;
mod objects;
mod pipeline;
mod protocol;
mod reconcile;
mod refused_links;
mod rig;
mod silent;
mod streams;
mod tables;
