//! What passes want to know of a program: where its packets go, and what holds there.

pub mod along;
pub mod doom;
pub mod facts;
pub mod flow;
pub mod split;
pub mod traffic;

pub use traffic::Traffic;
