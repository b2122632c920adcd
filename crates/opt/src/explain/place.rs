//! Positions in the source, as a reader of the program knows them.

use hlir::{NodeId, Program};

/// The file without its folders, and the line: `router.p4:41`. Empty for nodes of the architecture.
pub fn place(program: &Program, id: NodeId) -> String {
    let origin = program.nodes[id].notes.origin.as_ref();
    origin.map(|origin| format!("{}:{}", base(&origin.file), origin.line)).unwrap_or_default()
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default()
}
