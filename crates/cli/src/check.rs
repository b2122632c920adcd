//! `bacus check`: finds all mistakes that one run can find.

use clap::Args;
use driver::failure::Failure;
use driver::frontend;
use driver::options::Source;

pub const EXAMPLES: &str = "\
Examples:
  bacus check router.p4
  bacus check -I p4include -D WITH_IPV6 router.p4
  bacus check router.hlir

  bacus check --Werror --Wdisable=unused router.p4
  bacus check router.hlir

Mistakes go to standard error, the first line of each as `router.p4(12): [--Werror=type-error] error: ...`.
Exit code 1 if there is any; warnings alone are no failure, unless --Werror makes them errors.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    frontend::check(&arguments.source)
}
