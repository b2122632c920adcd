//! Checks what the types of a program cannot say: widths, places of statements, edges, entries; and whether a plan fits its program.

mod kinds;
mod site;

pub use kinds::WIDEST;
pub use site::{Body, Places, Site};

pub(crate) use kinds::Kinds;

use crate::Binary;

pub(crate) fn symbol(operator: Binary) -> &'static str {
    crate::text::symbol(operator)
}
