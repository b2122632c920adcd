//! The emitter as planners and the driver use it: which C it writes, and that compilers take it without a warning.

mod bulk_send;
mod compile;
mod compilers;
mod constant_entries;
// The generator is a part of the tests of `hlir`, which use all of it.
#[path = "../../../hlir/tests/integration/generate/mod.rs"]
#[allow(dead_code)]
mod generate;
mod golden;
mod header_aliasing;
mod installed;
mod large_nodes;
mod names;
mod random;
mod references;
mod unsupported;
mod words;
