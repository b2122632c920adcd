//! BMv2's JSON, which `p4c-bm2-ss` writes and `simple_switch` runs, as a second language of programs: it is lowered to HLIR,
//! and written from HLIR ([`write`]).
//!
//! What is read and what is refused: docs/bmv2_json.md. The format is that of behavioral-model's `docs/JSON_format.md` and
//! `src/bm_sim/P4Objects.cpp`. A mistake names its place in the JSON: `pipelines[0].tables[3].key[0]`.

// Values of JSON, and expressions, have many variants; most questions concern one or two of them.
#![allow(clippy::wildcard_enum_match_arm)]

mod actions;
mod checksums;
mod copies;
mod data;
mod expressions;
mod instances;
mod interface;
mod json;
mod jumps;
mod objects;
mod operands;
mod parser;
mod pipelines;
mod primitives;
mod program;
mod reader;
mod requests;
mod select;
mod stateful;
mod storage;
mod tables;
mod write;

use std::collections::HashMap;

use hlir::diagnostic::Diagnostic;
use hlir::{Interface, Program};
pub use program::NEWEST_VERSION;
use serde::de::IgnoredAny;
pub use write::{Unsayable, write};

/// Whether a text is JSON, and so not P4 or HLIR.
pub fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

/// Whether a text is JSON of something else: it is valid, and has none of a program's parts.
pub fn is_other_json(text: &str) -> bool {
    serde_json::from_str::<HashMap<String, IgnoredAny>>(text)
        .is_ok_and(|root| ["__meta__", "pipelines", "parsers"].iter().all(|part| !root.contains_key(*part)))
}

/// Lowers a program of BMv2's JSON, called `name`: letters, digits and `_`. `interface` is the controller's view that comes with the program;
/// without it, one is made of the names in the JSON.
///
/// # Errors
/// All mistakes that can be found in one run, each with its place in the JSON.
pub fn read(text: &str, name: &str, interface: Option<&Interface>) -> Result<Program, Vec<Diagnostic>> {
    let root = json::parse(text).map_err(|mistake| vec![mistake])?;
    program::read(&root, name, interface)
}
