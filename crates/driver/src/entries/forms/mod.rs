//! The forms in which people have entries, distinguished by what is in a file and not by its name.
//!
//! STF, scripts of `simple_switch_CLI`, the JSON of the p4lang tutorials, and P4Runtime's `WriteRequest` and `ReadResponse`: all become the same commands,
//! with the place of everything that is written. What cannot be loaded is a mistake, and what is left out is reported.

mod attached;
mod left_out;
mod p4runtime;
mod script;
mod tree;
mod tutorials;

use super::binary;
use hlir::{Entry, Program, TableId};
use left_out::LeftOut;
use p4runtime::Bytes;
use script::Script;
use std::collections::BTreeSet;
use stf::bind::{Act, Bound, Control};
use stf::command::{self, Kind};
use stf::{Command, Mistake, Place};
use tree::Node;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `bacusE1`
    Binary,
    Stf,
    Script,
    Tutorials,
    P4RuntimeText,
    P4RuntimeJson,
    P4RuntimeBytes,
}

/// The forms, for people.
pub const FORMS: &str = "STF, a script of simple_switch_CLI, the tutorials' runtime JSON, P4Runtime's WriteRequest (text, JSON, binary) or \
                         ReadResponse (text, JSON), or the binary form of `bacus entries`";

/// Commands of a file that configure a switch.
#[derive(Debug)]
pub struct Read {
    pub commands: Vec<Command>,
    /// What else is there, and why it has no effect.
    pub left_out: LeftOut,
    own: Own,
    /// Where entries and default actions are marked as the program's own.
    constant: BTreeSet<Place>,
}

/// What a file may have of the program's own: its entries and its constant default actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// Nothing.
    Unlisted,
    /// The same as the program.
    Listed,
    /// The same, or what a controller has made of it.
    AsFound,
}

/// What form a file has; or why none is known.
pub fn form(bytes: &[u8]) -> Result<Form, Mistake> {
    if bytes.starts_with(binary::MAGIC) {
        return Ok(Form::Binary);
    }
    if control::entries::is_request(bytes) {
        return Ok(Form::P4RuntimeBytes);
    }
    let start = Place { line: 1, column: 1 };
    let text = std::str::from_utf8(bytes).map_err(|_| Mistake::new(start, format!("expected entries: {FORMS}")))?;
    if text.trim_start().starts_with('{') {
        let root = tree::json(text)?;
        let has = |names: &[&str]| names.iter().any(|name| root.field(name).is_some());
        return if has(&tutorials::LISTS) {
            Ok(Form::Tutorials)
        } else if has(&["updates", p4runtime::ENTITIES]) {
            Ok(Form::P4RuntimeJson)
        } else {
            let lists = tutorials::LISTS.join("`, `");
            Err(Mistake::new(
                start,
                format!("expected `{lists}` of the tutorials, or `updates` or `entities` of P4Runtime"),
            ))
        };
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let ends = |c: char| c.is_whitespace() || c == '{' || c == ':';
    let mut firsts = lines.map(|line| line.split(ends).next().unwrap_or(line));
    match firsts.clone().next() {
        Some(first) if p4runtime::FIELDS.contains(&first) => Ok(Form::P4RuntimeText),
        _ => {
            let is_own = |first: &&str| script::OWN.contains(first) || is_of_stf_alone(first);
            Ok(if firsts.find(is_own).is_some_and(|first| script::OWN.contains(&first)) {
                Form::Script
            } else {
                Form::Stf
            })
        }
    }
}

/// Commands of STF that no script has.
fn is_of_stf_alone(first: &str) -> bool {
    const STF: [&str; 8] = ["add", "modify", "setdefault", "remove", "packet", "expect", "member", "group"];
    STF.contains(&first)
}

/// The commands of a file, or all its mistakes.
pub fn read(program: &Program, bytes: &[u8]) -> Result<Read, Vec<Mistake>> {
    let form = form(bytes).map_err(|mistake| vec![mistake])?;
    let text = || String::from_utf8_lossy(bytes);
    let one = |mistake| vec![mistake];
    match form {
        Form::Binary => Err(vec![Mistake::new(Place { line: 1, column: 1 }, "this is the binary form already")]),
        Form::Stf => stf(&text()),
        Form::Script => script(program, &text()),
        Form::Tutorials => {
            let commands = tutorials::commands(program, &tree::json(&text()).map_err(one)?);
            made(commands, LeftOut::default(), Own::Unlisted)
        }
        Form::P4RuntimeText => p4runtime(program, &tree::proto(&text()).map_err(one)?, Bytes::AsTheyAre),
        Form::P4RuntimeJson => {
            let root = p4runtime::with_proto_names(tree::json(&text()).map_err(one)?);
            p4runtime(program, &root, Bytes::Base64)
        }
        // Places are those of its text: bytes have no lines.
        Form::P4RuntimeBytes => {
            let root = tree::proto(&control::entries::text_of(bytes)).map_err(one)?;
            p4runtime(program, &root, Bytes::AsTheyAre)
        }
    }
}

fn p4runtime(program: &Program, root: &Node, bytes: Bytes) -> Result<Read, Vec<Mistake>> {
    let reader = p4runtime::Reader::new(program, bytes);
    let commands = reader.commands(root);
    let own = if root.field(p4runtime::ENTITIES).is_some() { Own::AsFound } else { Own::Listed };
    let read = made(commands, reader.left_out.into_inner(), own)?;
    Ok(Read { constant: reader.constant.into_inner(), ..read })
}

/// Commands in the places of what they are made of.
fn made(found: Vec<Result<command::Control, Mistake>>, left_out: LeftOut, own: Own) -> Result<Read, Vec<Mistake>> {
    let (mut commands, mut mistakes) = (Vec::new(), Vec::new());
    for control in found {
        match control {
            Ok(control) => commands.push(Command { place: place_of(&control), kind: Kind::Control(control) }),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    let constant = BTreeSet::new();
    if mistakes.is_empty() { Ok(Read { commands, left_out, own, constant }) } else { Err(mistakes) }
}

/// Where the first word of what these forms make is written.
fn place_of(control: &command::Control) -> Place {
    use command::Control::{
        Add, Aging, Attach, Group, Member, MirrorDelete, MirrorToMembers, Modify, Multicast, Remove, SetDefault,
    };
    let word = if let Add { table: word, .. }
    | Modify { table: word, .. }
    | SetDefault { table: word, .. }
    | Attach { table: word, .. }
    | Remove { table: word, .. }
    | Aging(stf::Aging::IdleTimeout { table: word, .. })
    | MirrorToMembers { session: word, .. }
    | MirrorDelete { session: word }
    | Multicast(command::Multicast::Whole { group: word, .. })
    | Member { profile: word, .. }
    | Group { profile: word, .. } = control
    {
        Some(word)
    } else {
        None
    };
    word.map_or(Place { line: 1, column: 1 }, |word| word.place)
}

fn script(program: &Program, text: &str) -> Result<Read, Vec<Mistake>> {
    let mut script = Script::new(program);
    let (mut commands, mut mistakes) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        match script.line(line, number) {
            Ok(more) => commands.extend(more),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() {
        Ok(Read { commands, left_out: script.left_out, own: Own::Unlisted, constant: BTreeSet::new() })
    } else {
        Err(mistakes)
    }
}

/// The commands of an STF file that make a switch what it is. Others test it.
fn stf(text: &str) -> Result<Read, Vec<Mistake>> {
    let mut left_out = LeftOut::default();
    let mut commands = stf::parse(text)?;
    commands.retain(|command| match no_configuration(&command.kind) {
        Some((name, why)) => {
            left_out.note(name, command.place, why);
            false
        }
        None => true,
    });
    Ok(Read { commands, left_out, own: Own::Unlisted, constant: BTreeSet::new() })
}

/// What does not configure a switch: its name, and what it does instead.
fn no_configuration(kind: &Kind) -> Option<(&'static str, &'static str)> {
    const TESTS: &str = "tests a switch, as `bacus stf` does";
    match kind {
        Kind::Packet { .. } => Some(("packet", TESTS)),
        Kind::Expect { .. } => Some(("expect", TESTS)),
        Kind::NoPacket => Some(("no_packet", TESTS)),
        Kind::ExpectDigest { .. } => Some(("expect_digest", TESTS)),
        Kind::ExpectIdle { .. } => Some(("expect_idle", TESTS)),
        Kind::Control(command::Control::CheckCounter { .. }) => Some(("check_counter", TESTS)),
        Kind::Control(command::Control::Clock { .. }) => {
            Some(("clock", "sets the clock of a test; a running switch has one"))
        }
        Kind::Control(command::Control::Seed { .. }) => Some(("seed", "seeds a test; `bacus run` has --seed")),
        Kind::Control(_) => None,
    }
}

impl Read {
    /// The commands with all names and values resolved. Entries that the program brings itself are there already.
    pub fn bind(&self, program: &Program) -> Result<Bound, Vec<Mistake>> {
        let mut bound = stf::bind(program, &self.commands)?;
        if self.own != Own::Unlisted {
            bound.steps.retain(|step| !repeats(program, &step.act));
        }
        if self.own == Own::AsFound {
            for step in &mut bound.steps {
                if let Act::Control(Control::Insert(table, entry)) = &step.act
                    && own_entry(program, *table, entry).is_some()
                {
                    step.act = Act::Control(Control::Modify(*table, entry.clone()));
                }
            }
        }
        bound.warnings.splice(0..0, self.left_out.warnings().into_iter().chain(self.not_constant(&bound)));
        Ok(bound)
    }

    /// What is marked as the program's own, which the program does not have: it is written as a controller's.
    fn not_constant(&self, bound: &Bound) -> Vec<Mistake> {
        let mut left_out = LeftOut::default();
        for step in bound.steps.iter().filter(|step| self.constant.contains(&step.place)) {
            if matches!(&step.act, Act::Control(Control::Insert(..) | Control::Modify(..) | Control::SetDefault(..))) {
                left_out.note("is_const", step.place, "has no effect: only what the program itself has is constant");
            }
        }
        left_out.warnings()
    }
}

/// The program's own entry with the key of this one.
fn own_entry<'p>(program: &'p Program, table: TableId, entry: &Entry) -> Option<&'p Entry> {
    let is_same = |own: &&Entry| own.matches == entry.matches && own.priority == entry.priority;
    program.tables[table].entries.iter().find(is_same)
}

/// Whether this only repeats what the program declares, and what may not even be repeated.
fn repeats(program: &Program, act: &Act) -> bool {
    if let Act::Control(Control::Insert(table, entry)) = act {
        own_entry(program, *table, entry).is_some_and(|own| own.action == entry.action)
    } else if let Act::Control(Control::SetDefault(table, call)) = act {
        let declared = &program.tables[*table];
        declared.default_constant && declared.default == *call
    } else {
        false
    }
}
