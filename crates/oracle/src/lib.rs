//! A second opinion on the compiler: random programs, a separate evaluator of the syntax tree, and the comparison of the two.
//!
//! The interpreter of HLIR and native code both follow the same lowering, so what lowering gets wrong they get wrong alike. The evaluator
//! here follows the parser only. See docs/oracle.md.

pub mod architecture;
pub mod compare;
pub mod custom;
pub mod drive;
pub mod evaluate;
pub mod generate;
pub mod preprocess;
pub mod reduce;
pub mod routers;
pub mod scheduled;
pub mod stf;
