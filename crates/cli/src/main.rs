//! The command `bacus`: reads files, calls the crates in order, reports what went wrong. It decides nothing about programs or packets.

#![deny(clippy::print_stdout)]

mod bench;
mod calibrate;
mod capacity;
mod check;
mod compile;
mod connection;
mod control_bench;
mod ctl;
mod doctor;
mod dropin;
mod entries;
mod explain;
mod fmt;
mod interpreted;
mod lsp_server;
mod manual;
mod p4info_files;
mod run;
mod show;
mod stat;
mod stf;
mod trace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

const ABOUT: &str = "Compiles P4_16 programs to software switches, and runs them";

const EXAMPLES: &str = "\
Examples:
  bacus check router.p4                          find errors
  bacus fmt router.p4                            format it
  bacus show router.p4 | less                    the intermediate representation (HLIR)
  bacus compile router.p4 -o router.so           native code for this machine
  bacus explain router.p4                        the plan, and the reasons for it
  bacus stf router.p4 tests/*.stf                test the program with packets
  bacus entries router.p4 routes.json            check files of entries
  bacus run router.p4 --entries routes.stf --port 0=veth0 --port 1=veth1
  bacus ctl show routes                          entries of the running switch
  bacus stat                                     its counts and rates, renewed each second
  bacus trace --match 'dropped' --count 3        the path of three packets that it drops

Exit codes:
  0  success
  1  an input is wrong (a program, an entry, a file), or a test failed
  2  the command line cannot be understood
  3  the machine lacks something: a compiler, DPDK, a device, room on the disk";

#[derive(Parser)]
#[command(name = "bacus", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Find the errors in a program
    #[command(after_help = check::EXAMPLES)]
    Check(check::Arguments),
    /// Format programs
    #[command(after_help = fmt::EXAMPLES)]
    Fmt(fmt::Arguments),
    /// Serve an editor: diagnostics, definitions, types, costs
    #[command(after_help = lsp_server::EXAMPLES)]
    Lsp(lsp_server::Arguments),
    /// Compile a program to native code, or to C
    #[command(after_help = compile::EXAMPLES)]
    Compile(compile::Arguments),
    /// Print a program as HLIR, the intermediate representation
    #[command(after_help = show::EXAMPLES)]
    Show(show::Arguments),
    /// Print the plan, the reasons for it, the traffic and the predicted cost
    #[command(after_help = explain::EXAMPLES)]
    Explain(explain::Arguments),
    /// Report how many entries each table takes in so much memory
    #[command(after_help = capacity::EXAMPLES)]
    Capacity(capacity::Arguments),
    /// Check files of entries, and write them in the compact form
    #[command(after_help = entries::EXAMPLES)]
    Entries(entries::Arguments),
    /// Run a program as a switch: on NICs, interfaces, captures
    #[command(after_help = run::EXAMPLES)]
    Run(Box<run::Arguments>),
    /// Control a running switch: entries, counters, meters, registers, packets, its program
    #[command(after_help = ctl::help(), disable_help_flag = true)]
    Ctl(ctl::Arguments),
    /// Watch a running switch: ports, tables, drops, workers
    #[command(after_help = stat::EXAMPLES)]
    Stat(stat::Arguments),
    /// Show the path of packets through a running switch: states, values, entries, drops
    #[command(after_help = trace::EXAMPLES)]
    Trace(trace::Arguments),
    /// Find what this machine lacks for a fast switch, what it costs, and the command that mends it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(doctor::Arguments),
    /// Test a program with packets: STF files, or random ones on both engines
    #[command(after_help = stf::EXAMPLES)]
    Stf(stf::Arguments),
    /// Measure this machine for the performance model: cache lines, overlapping misses, ports
    #[command(after_help = calibrate::EXAMPLES)]
    Calibrate(calibrate::Arguments),
    /// Write the manual pages
    #[command(after_help = manual::EXAMPLES)]
    Manual(manual::Arguments),
    /// Measure applications, and compare them with programs written by hand
    #[command(after_help = bench::EXAMPLES)]
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    if let Some(name) = dropin::Name::of(std::env::args_os().next().as_ref()) {
        return name.run();
    }
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Fmt(arguments) => fmt::run(arguments),
        Command::Lsp(arguments) => lsp_server::run(arguments),
        Command::Compile(arguments) => compile::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Capacity(arguments) => capacity::run(arguments),
        Command::Entries(arguments) => entries::run(arguments),
        Command::Run(arguments) => run::run(arguments),
        Command::Ctl(arguments) => return ctl::run(arguments),
        Command::Stat(arguments) => return stat::run(arguments),
        Command::Trace(arguments) => return trace::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Stf(arguments) => stf::run(arguments),
        Command::Calibrate(arguments) => calibrate::run(arguments),
        Command::Manual(arguments) => manual::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
    };
    match result {
        Ok(()) => driver::stdout::end(),
        Err(failure) => failure.report(),
    }
}
