//! `bacus check`: finds all mistakes that one run can find.

use clap::Args;
use driver::failure::Failure;
use driver::frontend;
use driver::options::Source;

pub const EXAMPLES: &str = "\
Examples:
  bacus check router.p4
  bacus check -I p4include -D WITH_IPV6 router.p4
  bacus check --Werror --Wdisable=unused router.p4
  bacus check router.hlir

All errors and warnings go to standard error. The first line of each is as in
`router.p4(12): [--Werror=type-error] error: ...`. Without errors, nothing is printed.
The exit code is 1 if there is any error. Warnings change it only with --Werror.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    frontend::check(&arguments.source)
}
