//! The command `bacus` as users run it. All of its tests are one program: it is linked once, and all cores are busy until the last tests.
//!
//! Tests start in the order of their names. From `semantics` on they are short, so that no core waits for a long one at the end.
#![allow(clippy::unwrap_used)]

mod accounts;
mod applications;
mod architectures;
mod before_work;
mod bench;
mod bmv2_json;
mod calibrate;
mod capacity;
mod captures;
mod command;
mod control_bench;
mod ctl;
mod ctl_counts;
mod ctl_documented;
mod ctl_help;
mod ctl_mistakes;
mod ctl_ports;
mod ctl_state;
mod doctor;
mod documented;
mod drawn;
mod dropin;
mod embedding;
mod entries;
mod explain;
mod externs;
mod fmt;
mod gnmi;
mod groups;
mod many_ports;
mod miss_handler;
mod mistakes;
mod names;
mod namespaces;
mod network;
mod offloads;
mod packages;
mod pins;
mod plans;
mod port_kinds;
mod profile;
mod pushed;
mod run;
mod semantics;
mod silence;
mod specialised;
mod specialised_live;
mod stacks;
mod stat;
mod state;
mod switch;
mod value_joins;
mod vectors;
