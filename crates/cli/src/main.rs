//! The command `bacus`.

fn main() {}
