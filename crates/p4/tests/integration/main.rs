//! The frontend as the driver uses it: texts are parsed, checked and lowered, or refused with messages.

mod lowering;
mod syntax;
