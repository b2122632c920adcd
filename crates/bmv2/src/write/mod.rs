//! A program of v1model as BMv2's JSON, which `simple_switch` runs and other tools read: the other direction of [`crate::read`].
//!
//! The program is HLIR as it was lowered: its graph has what the JSON has (parser states, tables, conditions, blocks of statements), and names its
//! objects as the controller does. Stacks, unions and structs are headers and scalars already. What the JSON cannot express is an error.

mod calls;
mod checksums;
mod code;
mod expressions;
mod objects;
mod parser;
mod pipelines;
mod requests;
mod sets;
mod storage;
mod tables;
mod writer;

use hlir::Program;
use serde_json::{Value, json};
pub use writer::Unsayable;
use writer::{Writer, Written};

/// The version of the format that is written: that of p4c.
const VERSION: [u32; 2] = [2, 23];

/// Writes a program, which is as it was lowered: no pass has rewritten it.
///
/// # Errors
/// The program is none of v1model, or has a construct that the JSON has no form for.
pub fn write(program: &Program) -> Result<Value, Unsayable> {
    let name = &program.architecture;
    if name != "v1model" {
        let construct = format!("a program for the architecture `{name}` (only those for v1model can)");
        return Err(Unsayable { construct, origin: None });
    }
    let mut writer = Writer::new(program);
    writer.program()
}

impl Writer<'_> {
    fn program(&mut self) -> Written<Value> {
        let no_entry = || Unsayable { construct: "a program without a main package".to_string(), origin: None };
        let entry = self.program.entry.ok_or_else(no_entry)?;
        let parser = self.parser(entry)?;
        let pipelines = self.pipelines()?;
        let deparser = self.deparser()?;
        let errors: Vec<Value> =
            self.program.errors.iter().enumerate().map(|(number, name)| json!([name, number])).collect();
        Ok(json!({
            "__meta__": { "version": VERSION, "compiler": "bacus" },
            "program": format!("{}.p4", self.program.name),
            "parsers": [parser],
            "deparsers": [deparser],
            "pipelines": pipelines,
            "parse_vsets": self.value_sets()?,
            "counter_arrays": self.counters()?,
            "meter_arrays": self.meters()?,
            "register_arrays": self.registers()?,
            "learn_lists": self.learn_lists(),
            "field_lists": self.field_lists(),
            "actions": self.actions,
            "calculations": self.calculations,
            "checksums": self.checksums,
            "errors": errors,
            "enums": [],
            "force_arith": [],
            "extern_instances": [],
            "header_union_types": [],
            "header_unions": [],
            "header_union_stacks": [],
            "field_aliases": storage::aliases(),
            "header_stacks": self.storage.stacks(),
            // Last: what was written may have added scalars.
            "headers": self.storage.headers(),
            "header_types": self.storage.types(),
        }))
    }
}
