//! The architectures that random programs are written for.

use crate::preprocess::include;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    V1model,
    Psa,
    Pna,
}

impl Architecture {
    /// A fifth of the programs is for PSA, a tenth for PNA.
    pub fn of_seed(seed: u64) -> Architecture {
        match seed % 10 {
            3 | 8 => Architecture::Psa,
            5 => Architecture::Pna,
            _ => Architecture::V1model,
        }
    }

    pub fn file(self) -> &'static str {
        match self {
            Architecture::V1model => "v1model.p4",
            Architecture::Psa => "psa.p4",
            Architecture::Pna => "pna.p4",
        }
    }

    /// A program as it is written to a file.
    pub fn standalone(self, program: &str) -> String {
        format!("#include <core.p4>\n#include <{}>\n\n{program}", self.file())
    }
}

/// The text of each architecture, with the marks of its origin.
pub struct Architectures {
    v1model: String,
    psa: String,
    pna: String,
}

impl Architectures {
    /// The files that come with the project, preprocessed.
    pub fn read() -> Result<Architectures, String> {
        let [v1model, psa, pna] =
            [Architecture::V1model, Architecture::Psa, Architecture::Pna].map(|known| include(known.file()));
        Ok(Architectures { v1model: v1model?, psa: psa?, pna: pna? })
    }

    /// The text of the program's `#include`.
    pub fn text(&self, architecture: Architecture) -> &str {
        match architecture {
            Architecture::V1model => &self.v1model,
            Architecture::Psa => &self.psa,
            Architecture::Pna => &self.pna,
        }
    }
}
