//! `simple_switch_CLI`: BMv2's command line, over Thrift. Commands, messages and exit codes are those that scripts rely on.

mod commands;
mod config;
mod help;
mod json;
mod line;
mod problem;
mod session;
mod values;

use bm_runtime::Connection;
use bm_runtime::standard::StandardClient;
use clap::Parser;
use config::Config;
use line::Step;
use rustyline::error::ReadlineError;
use session::Session;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Control the tables of a running switch, as BMv2's command line does
#[derive(Parser)]
#[command(name = "simple_switch_CLI", after_help = "Commands come from standard input; `help` lists them.")]
struct Arguments {
    /// Port of the switch's Thrift server
    #[arg(long, value_name = "PORT", default_value_t = 9090)]
    thrift_port: u16,
    /// Address of the switch's Thrift server
    #[arg(long, value_name = "ADDRESS", default_value = "localhost")]
    thrift_ip: String,
    /// JSON of the program, instead of that of the switch
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Accepted; the switch has one replication engine
    #[arg(long, value_name = "NAME", value_parser = ["None", "SimplePre", "SimplePreLAG"])]
    pre: Option<String>,
}

const PROMPT: &str = "RuntimeCmd: ";

/// Runs the command line: reads commands until the end of the input.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let mut output = io::stdout().lock();
    match run(&arguments, &mut output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            drop(writeln!(output, "{sentence}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments, output: &mut dyn Write) -> Result<(), String> {
    let port = arguments.thrift_port;
    let connection = Connection::open(&arguments.thrift_ip, port).map_err(|_| {
        format!(
            "Could not connect to thrift client on port {port}\nMake sure the switch is running and that you have the \
             right port"
        )
    })?;
    let mut session = Session::new(connection, output);
    session.config = config(arguments, &mut session)?;
    let written = |error: io::Error| error.to_string();
    writeln!(session.output, "Control utility for runtime P4 table manipulation").map_err(written)?;
    if io::stdin().is_terminal() { at_terminal(&mut session) } else { of_lines(&mut session, io::stdin().lock()) }
}

/// The program: of the file, or as the switch describes it.
fn config(arguments: &Arguments, session: &mut Session) -> Result<Config, String> {
    let json = match &arguments.json {
        Some(path) => std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => {
            let written = |error: io::Error| error.to_string();
            writeln!(session.output, "Obtaining JSON from switch...").map_err(written)?;
            let json = StandardClient(&mut session.connection).bm_get_config();
            let json = json.map_err(|_| "Error when requesting JSON config from switch".to_string())?;
            writeln!(session.output, "Done").map_err(written)?;
            json
        }
    };
    Config::read(&json)
}

/// Runs the commands of a script. A blank line repeats the last command, as in BMv2.
fn of_lines(session: &mut Session, input: impl BufRead) -> Result<(), String> {
    for line in input.lines() {
        let line = line.map_err(|error| error.to_string())?;
        write!(session.output, "{PROMPT}").map_err(|error| error.to_string())?;
        if line::run(session, &line).map_err(|problem| problem.to_string())? == Step::End {
            return Ok(());
        }
    }
    writeln!(session.output, "{PROMPT}").map_err(|error| error.to_string())
}

fn at_terminal(session: &mut Session) -> Result<(), String> {
    let mut editor = rustyline::DefaultEditor::new().map_err(|error| error.to_string())?;
    loop {
        session.output.flush().map_err(|error| error.to_string())?;
        match editor.readline(PROMPT) {
            Ok(line) => {
                drop(editor.add_history_entry(&line));
                if line::run(session, &line).map_err(|problem| problem.to_string())? == Step::End {
                    return Ok(());
                }
            }
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Runs a script at a switch, for tests: what it prints.
///
/// # Errors
/// The switch does not answer.
pub fn output_of(address: std::net::SocketAddr, script: &str) -> Result<String, String> {
    let host = address.ip().to_string();
    let connection = Connection::open(&host, address.port()).map_err(|error| error.to_string())?;
    let mut printed = Vec::new();
    let mut session = Session::new(connection, &mut printed);
    let json = StandardClient(&mut session.connection).bm_get_config().map_err(|error| error.to_string())?;
    session.config = Config::read(&json)?;
    of_lines(&mut session, script.as_bytes())?;
    String::from_utf8(printed).map_err(|error| error.to_string())
}
