//! What the frontend knows of the packets that v1model clones: the metadata that was used, and the headers that were written, up to now.

use std::collections::BTreeSet;

use hlir::{HeaderId, VariableId};

use crate::lower::Lowering;
use crate::lower::effects::Touch;

impl Lowering<'_> {
    /// The variables of user and standard metadata that what was lowered so far uses: a slot has none before.
    pub fn used_metadata(&self) -> Vec<VariableId> {
        self.architecture.metadata.iter().filter_map(|slot| self.slots.variable(*slot)).collect()
    }

    /// Headers that have become valid or invalid since then.
    pub fn written_headers(&self, since: usize) -> BTreeSet<HeaderId> {
        let header = |touch: &Touch| match touch {
            Touch::Header(header) => Some(*header),
            Touch::Variable(_) | Touch::Field(_) => None,
        };
        self.log[since..].iter().filter_map(header).collect()
    }
}
