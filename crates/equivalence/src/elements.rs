//! What packets leave behind: counters, those of entries too, and registers.

use super::Pair;
use control::plane::Element;
use control::{DataPlane, Refusal};
use hlir::{CounterId, TableId};
use std::collections::BTreeSet;

/// Elements that are compared although the interpreter's packets did not touch them.
const UNTOUCHED: u64 = 64;

impl Pair<'_, '_> {
    /// The first element of a counter or register that the engines do not have the same in.
    pub fn elements_differ(&mut self) -> Result<Option<String>, Refusal> {
        for (id, counter) in self.program.counters.iter() {
            let elements = match counter.table {
                Some(table) => self.entry_elements(table),
                None => self.indexed_elements(id, counter.size),
            };
            for element in elements {
                let expected = self.oracle.read_counter(id, &element)?;
                let found = self.engine.read_counter(id, &element)?;
                if expected != found {
                    let name = &counter.name;
                    return Ok(Some(format!(
                        "counter `{name}` at {element:?}: expected {expected:?}, found {found:?}"
                    )));
                }
            }
        }
        for (id, register) in self.program.registers.iter() {
            let touched = self.oracle.touched_registers(id);
            for index in touched.chain(0..register.size.min(UNTOUCHED)).collect::<BTreeSet<u64>>() {
                let expected = self.oracle.read_register(id, index)?;
                let found = self.engine.read_register(id, index)?;
                if expected != found {
                    let name = &register.name;
                    return Ok(Some(format!("register `{name}` at {index}: expected {expected}, found {found}")));
                }
            }
        }
        Ok(None)
    }

    fn indexed_elements(&self, counter: CounterId, size: u64) -> Vec<Element> {
        let touched = self.oracle.touched_counters(counter);
        let elements: BTreeSet<u64> = touched.chain(0..size.min(UNTOUCHED)).collect();
        elements.into_iter().map(Element::Index).collect()
    }

    /// The entries of a table, unless packets put some there: of those no controller has a key.
    fn entry_elements(&self, table: TableId) -> Vec<Element> {
        if hlir::effects::learns(self.program, table) {
            return Vec::new();
        }
        self.oracle.entry_keys(table).map(Element::Entry).collect()
    }
}
