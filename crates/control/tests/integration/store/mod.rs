//! The store of what a controller writes: it keeps, refuses, takes back, and derives what the data plane gets.

mod carrying;
mod groups;
mod meters;
mod refusing;
mod replication;
mod sets;

use control::{Inverse, Refusal, RefusalKind, Store, Update};
use std::sync::Arc;

const PROGRAM: &str = include_str!("program.hlir");

fn program() -> Arc<hlir::Program> {
    let program = hlir::text::parse_program(PROGRAM).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(hlir::verify::verify(&program), []);
    Arc::new(program)
}

fn store() -> Store {
    Store::new(program())
}

/// Applies an update and gives what takes it back.
fn apply(store: &mut Store, update: &Update) -> Inverse {
    store
        .apply(update)
        .unwrap_or_else(|refusal| panic!("{refusal}: {update:?}"))
        .expect("the store knows what was there")
}

/// Refuses an update; gives the kind and the sentence.
fn refused(store: &mut Store, update: &Update) -> (RefusalKind, String) {
    let Refusal { kind, sentence } = store.apply(update).expect_err("it does not suit");
    (kind, sentence)
}

fn set_port(store: &mut Store, port: u32, up: bool) -> Vec<control::store::Derived> {
    let update = Update::SetPort { port, up };
    apply(store, &update);
    store.derived(&update)
}
