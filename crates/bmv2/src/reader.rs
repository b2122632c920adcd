//! The state of the reading: what was found in the JSON, and the program so far.

use std::collections::HashMap;

use hlir::build::Builder;
use hlir::build::v1model::Metadata;
use hlir::diagnostic::Diagnostic;
use hlir::{CounterId, DigestId, Interface, MeterId, Parameter, ProfileId, RegisterId, Statement, ValueSetId};

use crate::instances::Storage;
use crate::json::{At, Read};

/// The state of the reading.
pub struct Reader<'j> {
    pub root: At<'j>,
    pub builder: Builder,
    pub storage: Storage,
    pub metadata: Metadata,
    /// The statements of what is being lowered.
    pub body: Vec<Statement>,
    /// Widths of the parameters of the action being lowered.
    pub parameters: Vec<u32>,
    /// Actions by id.
    pub actions: HashMap<u64, Action<'j>>,
    pub calculations: HashMap<String, At<'j>>,
    pub counters: HashMap<String, CounterId>,
    pub meters: HashMap<String, MeterId>,
    pub registers: HashMap<String, RegisterId>,
    pub profiles: HashMap<String, ProfileId>,
    pub value_sets: HashMap<String, ValueSetId>,
    /// Learn lists by id.
    pub digests: HashMap<u64, (DigestId, At<'j>)>,
    /// The number in the JSON of each error of the program.
    pub error_numbers: Vec<u64>,
    /// The controller's view, if it came with the program.
    pub interface: Option<&'j Interface>,
    pub mistakes: Vec<Diagnostic>,
    /// How many variables of its own the reader has made.
    pub scratch: u32,
}

/// An action as the JSON has it; its statements are made for each table that uses it.
#[derive(Clone, Debug)]
pub struct Action<'j> {
    pub at: At<'j>,
    pub name: String,
    pub parameters: Vec<Parameter>,
}

impl Reader<'_> {
    /// HLIR's code of an error that has this number in the JSON.
    pub fn error_code(&self, number: u64) -> Option<u32> {
        self.error_numbers.iter().position(|known| *known == number).map(|code| code as u32)
    }

    /// Whether the JSON numbers errors as HLIR does.
    pub fn numbers_errors_alike(&self) -> bool {
        self.error_numbers.iter().enumerate().all(|(code, number)| code as u64 == *number)
    }

    /// Keeps a mistake and goes on.
    pub fn note<T>(&mut self, result: Read<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(mistake) => {
                self.mistakes.push(mistake);
                None
            }
        }
    }

    /// The statements that `lower` makes.
    pub fn statements(&mut self, lower: impl FnOnce(&mut Self) -> Read<()>) -> Read<Vec<Statement>> {
        let before = std::mem::take(&mut self.body);
        let result = lower(self);
        let made = std::mem::replace(&mut self.body, before);
        result.map(|()| made)
    }
}
