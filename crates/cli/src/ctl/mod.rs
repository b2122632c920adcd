//! `bacus ctl`: the flags of the client, its scripts and its help.

pub mod messages;
mod prompt;

use crate::connection::Connection;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use control::message::runtime::{ForwardingPipelineConfig, forwarding_pipeline_config::Cookie};
use ctl::{COMMANDS, Client, Failure, Form, Session, Settings};
use driver::frontend;
use driver::options::{Source, Warnings};
use driver::stdout;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Beside those of the session.
const COMPLETION: &str = "completion";

const EXAMPLES: &str = "\
Examples:
  bacus ctl                                     a prompt with history and completion
  bacus ctl add --help                          help on a command
  bacus ctl tables
  bacus ctl add routes 10.0.0.0/8 'forward(port:1, dst:00:00:00:00:00:02, src:00:00:00:00:00:01)'
  bacus ctl show routes
  bacus ctl delete routes hdr.ipv4.dst:10.0.0.0/8
  bacus ctl packets send 001122334455 66778899aabb 0800 egress_port:1
  bacus ctl -f routes.ctl --keep-going          commands of a file, a line each
  bacus ctl --connect 192.0.2.1:9559 --json counters | jq .packets
  bacus ctl completion bash > ~/.local/share/bash-completion/completions/bacus";

const VALUES: &str = "\
Names may be shortened to their last parts: routes for Router.routes. Values:
  7, 0x1f, 10.0.0.0/8, 00:11:22:33:44:55, 2001:db8::/32, VALUE&&&MASK, LOW..HIGH, *
Shells need quotes around parentheses and &&&.

Exit codes:
  0  success
  1  the switch has refused the command, or has no such object
  2  the command cannot be understood
  3  no switch answers";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// P4Runtime role [default: none]
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    role: String,
    /// Replace the primary controller, if there is one
    #[arg(long)]
    force: bool,
    /// Execute the commands of a file, one per line; `-` is standard input
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "command")]
    file: Option<PathBuf>,
    /// Continue after a command of the file that fails
    #[arg(long, requires = "file")]
    keep_going: bool,
    /// Print columns separated by tabs
    #[arg(long, conflicts_with = "json")]
    tsv: bool,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
    /// With `pipeline push`: keep entries and other written state
    #[arg(long, requires = "command")]
    keep: bool,
    /// With `pipeline push`: search included files here
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// With `pipeline push`: define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = driver::flags::definition)]
    define: Vec<String>,
    /// Print help; behind a command, help on it
    #[arg(short, long)]
    help: bool,
    /// A command of the list below; without one, a prompt
    #[arg(value_name = "COMMAND", hide_possible_values = true, value_parser = CommandParser)]
    command: Option<String>,
    /// Arguments of the command
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
}

/// Takes any word: the session knows what a wrong one may mean. Shells complete those that there are.
#[derive(Clone)]
struct CommandParser;

impl TypedValueParser for CommandParser {
    type Value = String;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        Ok(value.to_string_lossy().into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = COMMANDS.iter().map(|usage| usage.name).chain([COMPLETION]);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

/// The commands with their forms, and examples.
pub fn help() -> String {
    let mut text = "Commands:\n".to_string();
    for usage in COMMANDS {
        usage.forms.iter().for_each(|form| text.push_str(&format!("  {form}\n")));
        text.push_str(&format!("      {}\n", usage.about));
    }
    text.push_str("  help [COMMAND]\n      prints help; also COMMAND --help\n");
    text.push_str("  completion bash|zsh|fish\n      prints a completion script for the shell\n");
    format!("{text}\n{EXAMPLES}\n\n{VALUES}")
}

pub fn run(arguments: &Arguments) -> ExitCode {
    match arguments.command.as_deref() {
        command if arguments.help => return print_help(command),
        Some(COMPLETION) => return completion(&arguments.words),
        Some("help") => return print_help(arguments.words.first().map(String::as_str)),
        Some(_) | None => {}
    }
    if arguments.command.is_none() && arguments.file.is_none() && std::io::stdin().is_terminal() {
        return prompt(arguments);
    }
    let lines = match script(arguments) {
        Ok(lines) => lines,
        Err(failure) => return failure.report(),
    };
    let settings = match settings(arguments) {
        Ok(settings) => settings,
        Err(failure) => return failure.report(),
    };
    let session = settings.and_then(|settings| open(arguments, &settings));
    let mut session = match session {
        Ok(session) => session,
        Err(failure) => return messages::print_plainly(&failure),
    };
    let mut worst = None;
    let file = arguments.file.as_deref();
    if file.is_some() {
        session.gather(arguments.keep_going);
    }
    // Behind the last line, what was gathered is written.
    for (number, line) in (1..).zip(lines.lines().map(Some).chain([None])) {
        for failure in execute(&mut session, line, number, arguments) {
            let code = messages::print_failure(&failure, line.unwrap_or(""), number, file);
            if !arguments.keep_going || matches!(failure, Failure::Unreachable(_)) {
                return code;
            }
            worst = worst.or(Some(code));
        }
    }
    if session.has_open_batch() {
        eprintln!("error: the last batch has no `end`: nothing of it was written");
        return worst.unwrap_or(ExitCode::from(2));
    }
    worst.unwrap_or_else(stdout::end)
}

/// Executes a line, behind those that were gathered where it does more than write. What has failed, in the order of the lines.
fn execute(session: &mut Session, line: Option<&str>, number: u32, arguments: &Arguments) -> Vec<Failure> {
    let mut failures = Vec::new();
    if line.is_none_or(|line| !ctl::only_writes(line)) {
        failures.extend(flush(session));
    }
    let Some(line) = line.filter(|_| failures.is_empty() || arguments.keep_going) else { return failures };
    let executed = match arguments.file {
        Some(_) => session.execute_in_file(line, number),
        None => session.execute(line, number),
    };
    messages::print_warnings(&session.take_warnings(), arguments.file.as_deref());
    if let Err(failure) = executed {
        failures.extend(flush(session));
        failures.push(failure);
    }
    // Nothing comes behind a lost connection.
    failures.sort_by_key(|failure| matches!(failure, Failure::Unreachable(_)));
    failures
}

/// Writes what was gathered: the lines that the switch refuses, then the connection if it is lost behind them.
fn flush(session: &mut Session) -> impl Iterator<Item = Failure> {
    std::iter::from_fn(|| session.flush().err())
}

/// Commands as the user types them.
fn prompt(arguments: &Arguments) -> ExitCode {
    match settings(arguments) {
        Err(failure) => failure.report(),
        Ok(settings) => match settings.and_then(|settings| open(arguments, &settings)) {
            Ok(session) => prompt::run(session),
            Err(failure) => messages::print_plainly(&failure),
        },
    }
}

/// Help on one command, or on all.
fn print_help(command: Option<&str>) -> ExitCode {
    let text = match command {
        None => {
            let mut bacus = crate::Arguments::command();
            bacus.build();
            let command = bacus.find_subcommand_mut("ctl").expect("it is a command of bacus");
            command.render_long_help().to_string()
        }
        Some(command) => match ctl::help_on(command) {
            Ok(text) => text,
            Err(mistake) => {
                eprintln!("error: {}", mistake.message);
                return ExitCode::from(2);
            }
        },
    };
    match stdout::print(&text) {
        Ok(()) => stdout::end(),
        Err(failure) => failure.report(),
    }
}

fn open(arguments: &Arguments, settings: &Settings) -> Result<Session, Failure> {
    let form = match (arguments.tsv, arguments.json) {
        (true, _) => Form::Tsv,
        (_, true) => Form::Json,
        (false, false) => Form::Text,
    };
    let print = |text: &str| {
        if let Some(lines) = text.strip_suffix('\n') {
            stdout::line(format_args!("{lines}"));
        }
    };
    let (include, define) = (arguments.include.clone(), arguments.define.clone());
    let compile = move |program: &str| config(program, &include, &define);
    Ok(Session::new(Client::connect(settings)?, form, Box::new(print), Box::new(compile)))
}

/// The commands, a line each.
fn script(arguments: &Arguments) -> Result<String, driver::failure::Failure> {
    match (&arguments.file, &arguments.command) {
        (Some(file), _) if file.as_os_str() == "-" => standard_input(),
        (None, None) => standard_input(),
        (Some(file), _) => {
            std::fs::read_to_string(file).map_err(|error| driver::failure::Failure::unreadable(file, &error))
        }
        (None, command) => {
            let words: Vec<&str> = command.iter().chain(&arguments.words).map(String::as_str).collect();
            let keep = if arguments.keep { " keep" } else { "" };
            // A line end would begin another command.
            Ok(words.join(" ").replace('\n', " ") + keep)
        }
    }
}

fn standard_input() -> Result<String, driver::failure::Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map(|_| text).map_err(|error| driver::failure::Failure::unreadable(Path::new("standard input"), &error))
}

fn settings(arguments: &Arguments) -> Result<Result<Settings, Failure>, driver::failure::Failure> {
    let settings = arguments.connection.settings()?;
    Ok(settings.map(|settings| Settings { role: arguments.role.clone(), force: arguments.force, ..settings }))
}

/// The program as HLIR, so that the switch needs none of the files that it includes.
fn config(program: &str, include: &[PathBuf], define: &[String]) -> Result<ForwardingPipelineConfig, Failure> {
    let source = Source {
        program: PathBuf::from(program),
        include: include.to_vec(),
        define: define.to_vec(),
        undefine: Vec::new(),
        warnings: Warnings::default(),
    };
    let loaded = frontend::load(&source).map_err(|failure| match failure {
        driver::failure::Failure::Input(text) | driver::failure::Failure::Environment(text) => Failure::Program(text),
        driver::failure::Failure::Reported => Failure::refused("the program cannot be compiled"),
    })?;
    let text = hlir::text::print_file(&loaded.program, loaded.plan.as_ref().map(|file| &file.plan));
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Ok(ForwardingPipelineConfig {
        p4info: Some(control::p4info(&loaded.program)),
        p4_device_config: text.into_bytes(),
        cookie: Some(Cookie { cookie: hasher.finish() }),
    })
}

fn completion(words: &[String]) -> ExitCode {
    let shell = match words {
        [word] => word.parse::<Shell>().ok(),
        _ => None,
    };
    let Some(shell) = shell else {
        eprintln!("error: `completion` takes the name of a shell: bash, zsh or fish");
        return ExitCode::from(2);
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::Arguments::command(), "bacus", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if shell == Shell::Fish {
        // For fish, values of positions are left out.
        text.extend(COMMANDS.iter().map(|usage| {
            let (name, about) = (usage.name, usage.about.replace('\'', ""));
            format!("complete -c bacus -n \"__fish_bacus_using_subcommand ctl\" -f -a {name} -d '{about}'\n")
        }));
    }
    if let Err(failure) = stdout::print(&text) {
        return failure.report();
    }
    stdout::end()
}
