//! A profile of what the interpreter has counted.

use hlir::{NodeId, Program};
use interp::Counted;
use opt::inputs::Profile;

/// By the names of the program that the interpreter ran.
pub fn profile(program: &Program, counted: &Counted) -> Profile {
    let mut profile = Profile::default();
    let name = |node: NodeId| program.nodes[node].name.as_str();
    counted.edges().for_each(|((from, to), packets)| profile.add(name(from), name(to), packets));
    for (id, table) in program.tables.iter() {
        let (hits, misses) = counted.lookups(id);
        if hits + misses > 0 {
            profile.hits.insert(table.name.clone(), hits);
            profile.misses.insert(table.name.clone(), misses);
        }
    }
    profile
}
