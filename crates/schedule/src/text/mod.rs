//! The text of a schedule. What is printed reads back as an equal schedule, and prints again as the same bytes.
//!
//! `order` lists the lines of a schedule, `print` writes them, `parse` reads them; tokens, symbols and the form of
//! names and numbers are those of HLIR. `docs/schedule.md` describes the text.

mod cursor;
mod names;
mod operation;
pub(crate) mod order;
mod parse;
mod places;
mod print;

pub use order::Part;
pub use parse::{Parsed, parse};
pub use places::{Places, Site};
pub use print::print;
