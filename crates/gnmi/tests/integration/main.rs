//! Tests of the gNMI service.

mod get;
mod protocol;
mod rig;
mod set;
mod subscribe;
