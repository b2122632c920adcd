//! A stack that is deep enough for programs at the limit of nesting.
//!
//! Trees are walked recursively. In a debug build a level of statements takes up to 12 kB in the parser alone, so the 2 MB
//! of a test's thread end near 100 levels, and real programs have 250 (a chain of `else` over the elements of an array).

/// Enough for `DEEPEST_NESTING` levels in a debug build, five times over. Memory is only used as far as a program is deep.
const STACK_BYTES: usize = 64 << 20;

/// Does the work on a stack of its own and returns what it returns. A whole compilation belongs in one of these.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.expect("the system has room for one more thread");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
