//! Several workers and a program's state: a start in which flows would not see their state as with one worker is refused.

use clap::ValueEnum;
use driver::failure::Failure;
use hlir::Program;
use opt::analyze::sharing::{self, Sharing, Workers};

/// What the user answers for where packets are spread over workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Spread {
    /// The NICs spread packets by what the program's state needs
    Nic,
    /// Any way: of two concurrent updates, one may be lost
    Any,
}

/// Whether so many workers keep the program's state as one would.
pub fn check(program: &Program, workers: u32, spread: Option<Spread>) -> Result<(), Failure> {
    const WHY: &str = "`bacus explain --all` has each object's class, docs/run.md what it means";
    if workers == 1 || spread == Some(Spread::Any) {
        return Ok(());
    }
    let objects = sharing::objects(program);
    match sharing::workers(&objects) {
        Workers::Any => Ok(()),
        Workers::SpreadBy(_) if spread == Some(Spread::Nic) => Ok(()),
        Workers::SpreadBy(fields) => {
            let way = "make the NICs spread them so and add --spread nic, or start one worker";
            Err(Failure::input(format!(
                "--workers {workers}: state is right only if packets are spread by {fields}\nhint: {way}; {WHY}"
            )))
        }
        Workers::One(why) if objects.iter().all(may_lock) => {
            eprintln!("warning: --workers {workers}: {why}\nhint: {WHY}");
            Ok(())
        }
        Workers::One(why) => {
            let way = "start one worker, or add --spread any where a lost update does no harm";
            Err(Failure::input(format!("--workers {workers}: state asks for one worker: {why}\nhint: {way}; {WHY}")))
        }
    }
}

/// Functions of externs may lock by themselves, which the program does not show.
fn may_lock(shared: &sharing::Shared) -> bool {
    shared.object.starts_with("extern ") || !matches!(shared.sharing, Sharing::OneWorker(_))
}
