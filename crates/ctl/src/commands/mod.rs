//! The commands, a line each: what they are called, and the session that executes them.

mod bmv2;
mod clear;
mod complete;
mod digests;
mod dump;
mod elements;
mod entries;
mod input;
mod lookup;
mod pipeline;
mod ports;
mod profiles;
mod replication;
mod script;
mod sets;
mod slots;
mod stats;
mod stream;
mod usage;
mod write;

pub use usage::{COMMANDS, Usage, help_on, usage_of};
pub use write::only_writes;

use crate::client::Client;
use crate::failure::Failure;
use crate::names::{Names, PortName};
use crate::output::{Form, Report};
use control::message::runtime::ForwardingPipelineConfig;
use input::Input;
use std::rc::Rc;
use stf::{Mistake, Place};
use write::Batch;

/// Makes of a program's file what is pushed.
pub type Compile = Box<dyn Fn(&str) -> Result<ForwardingPipelineConfig, Failure>>;

pub struct Session {
    client: Client,
    names: Option<Rc<Names>>,
    form: Form,
    print: Box<dyn FnMut(&str)>,
    compile: Compile,
    warnings: Vec<Mistake>,
    /// What is written since `batch`, until `end`.
    batch: Option<Batch>,
    /// What commands of BMv2 have made in a file.
    script: script::Script,
    /// Of the command that is executed.
    line: u32,
}

impl Session {
    pub fn new(client: Client, form: Form, print: Box<dyn FnMut(&str)>, compile: Compile) -> Session {
        Session {
            client,
            names: None,
            form,
            print,
            compile,
            warnings: Vec::new(),
            batch: None,
            script: script::Script::default(),
            line: 0,
        }
    }

    /// Ends what a command has begun, so that between two commands of a prompt this is no primary controller, and reads the
    /// switch anew for the next one: another controller may have changed its program or ports.
    pub fn leave(&mut self) {
        self.names = None;
        self.client.leave();
    }

    /// What may be at the end of a line, and the byte at which it begins.
    pub fn complete(&mut self, line: &str) -> (usize, Vec<String>) {
        // Without a switch, commands alone are completed.
        let names = self.names_if_any().ok().flatten();
        complete::candidates(names.as_deref(), line)
    }

    /// Executes the command of one line, which has this number. An empty line is none.
    ///
    /// # Errors
    /// A mistake with its place, or the switch's message.
    pub fn execute(&mut self, text: &str, number: u32) -> Result<(), Failure> {
        let mut input = Input::new(text, number);
        self.line = number;
        let Some(command) = input.word() else { return Ok(()) };
        if asks_for_help(text) {
            return self.print_help(Some(&command.text).filter(|command| *command != "help").map(String::as_str));
        }
        match command.text.as_str() {
            "help" => self.print_help(input.word().map(|word| word.text).as_deref()),
            "ports" => self.ports(&mut input),
            "stats" => self.stats(&input),
            "tables" => self.tables(&input),
            "show" => self.show(&input),
            "lookup" => self.lookup(&input),
            "add" | "modify" | "delete" => self.write_entry(&command.text, &input),
            "default" => self.set_default(&input),
            "clear" => self.clear(&mut input),
            "dump" => self.dump(&input),
            "counters" => self.counters(&mut input),
            "meters" => self.meters(&mut input),
            "registers" => self.registers(&mut input),
            "members" => self.members(&mut input),
            "groups" => self.groups(&mut input),
            "multicast" => self.multicast(&mut input),
            "sessions" => self.sessions(&mut input),
            "value-sets" => self.value_sets(&mut input),
            "digests" => self.digests(&mut input),
            "packets" => self.packets(&mut input),
            "watch" => self.watch(&input),
            "pipeline" => self.pipeline(&mut input),
            "batch" => self.begin_batch(&mut input),
            "end" => self.end_batch(&input),
            _ => Err(usage::unknown(&command).into()),
        }
    }

    /// Executes a line of a file. Commands of BMv2's command line are those that do the same.
    ///
    /// # Errors
    /// As `execute`.
    pub fn execute_in_file(&mut self, text: &str, number: u32) -> Result<(), Failure> {
        let mut input = Input::new(text, number);
        let Some(command) = input.word().filter(|command| bmv2::hint(&command.text).is_some()) else {
            return self.execute(text, number);
        };
        let names = self.names()?;
        let place = command.place;
        let Some(lines) = self.script.lines(&command.text, &mut input, &names)? else {
            return self.execute(text, number);
        };
        // Places in what was made of the line are none in the file.
        let of_file = |failure| match failure {
            Failure::Mistake(mistake) => Failure::Mistake(Mistake { place, ..mistake }),
            Failure::Refused(_) | Failure::Program(_) | Failure::Unreachable(_) => failure,
        };
        lines.iter().try_for_each(|line| self.execute(line, number).map_err(of_file))
    }

    /// From now on gathers the writes of lines, until [`Session::flush`].
    pub fn gather(&mut self, keeps_going: bool) {
        self.client.gather(keeps_going);
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// Of lines that were executed before, each with its number.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.client.flush()
    }

    /// Whether a batch was begun that has no end.
    pub fn has_open_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// What is odd in the lines since the last call, though it is executed.
    pub fn take_warnings(&mut self) -> Vec<Mistake> {
        std::mem::take(&mut self.warnings)
    }

    fn names(&mut self) -> Result<Rc<Names>, Failure> {
        self.names_if_any()?.ok_or_else(no_pipeline)
    }

    /// The names of the program; none if the switch has no pipeline yet.
    fn names_if_any(&mut self) -> Result<Option<Rc<Names>>, Failure> {
        if self.names.is_none() {
            let config = self.client.config()?;
            // Only a switch of bacus reports the devices of its ports.
            let ports = self.client.report()?.unwrap_or_default().ports;
            let ports = ports.into_iter().map(|port| PortName { number: port.number, device: port.device }).collect();
            self.names = config.and_then(|config| config.p4info).map(|info| Rc::new(Names { info, ports }));
        }
        Ok(self.names.clone())
    }

    fn print_help(&mut self, command: Option<&str>) -> Result<(), Failure> {
        let text = match command {
            Some(command) => help_on(command)?,
            None => usage::list(),
        };
        (self.print)(&text);
        Ok(())
    }

    fn print(&mut self, report: &Report) {
        let text = report.print(self.form);
        (self.print)(&text);
    }
}

/// Whether the line is `COMMAND --help`.
fn asks_for_help(text: &str) -> bool {
    text.split_whitespace().skip(1).any(|word| word == "--help")
}

fn no_pipeline() -> Failure {
    Failure::refused("the switch has no pipeline yet: `pipeline push PROGRAM` gives it one")
}

fn mistake<T>(place: Place, message: impl Into<String>) -> Result<T, Failure> {
    Err(Mistake::new(place, message).into())
}
