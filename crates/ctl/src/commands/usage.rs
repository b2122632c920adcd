//! How each command is written: what help, messages and completion have of it.

use super::bmv2;
use stf::command::Word;
use stf::{Mistake, Place, names};

/// How a command is written.
pub struct Usage {
    pub name: &'static str,
    /// A line a form.
    pub forms: &'static [&'static str],
    pub about: &'static str,
    pub examples: &'static [&'static str],
}

const fn usage(
    name: &'static str,
    forms: &'static [&'static str],
    about: &'static str,
    examples: &'static [&'static str],
) -> Usage {
    Usage { name, forms, about, examples }
}

pub const COMMANDS: &[Usage] = &[
    usage(
        "ports",
        &["ports [PORT ...]", "ports add N=DEVICE ...", "ports remove PORT ..."],
        "prints the ports with their links and counts, adds or removes ports; a port is a number or a device",
        &["ports", "ports eth1", "ports add 3=eth3", "ports remove eth3"],
    ),
    usage(
        "stats",
        &["stats"],
        "prints hits and misses of the tables, drops by reason, and what each worker has done",
        &["stats"],
    ),
    usage(
        "tables",
        &["tables"],
        "prints the tables, their keys and actions, and how much of their size is used",
        &["tables"],
    ),
    usage(
        "show",
        &["show TABLE [KEY:VALUE ...]"],
        "prints the entries with their counts, and the default action",
        &["show routes", "show routes 10.0.0.0/8"],
    ),
    usage(
        "lookup",
        &["lookup TABLE KEY:VALUE ..."],
        "prints the entry that a packet with this key hits, or the default action",
        &["lookup routes 10.1.2.3"],
    ),
    usage(
        "add",
        &["add TABLE KEY:VALUE ... ACTION(PARAMETER:VALUE, ...) [priority N] [timeout SECONDS] [metadata 0xHEX]"],
        "inserts an entry; its action may be member=ID, group=ID or: one of ACTION(...)[*WEIGHT] [watch PORT], ...",
        &[
            "add routes hdr.ipv4.dst:10.0.0.0/8 forward(port:eth1)",
            "add acl src:10.0.0.0&&&255.0.0.0 drop() priority 5",
        ],
    ),
    usage(
        "modify",
        &["modify TABLE KEY:VALUE ... ACTION(...) [priority N] [timeout SECONDS] [metadata 0xHEX]"],
        "gives an entry another action",
        &["modify routes 10.0.0.0/8 forward(port:2)"],
    ),
    usage("delete", &["delete TABLE KEY:VALUE ... [priority N]"], "deletes an entry", &["delete routes 10.0.0.0/8"]),
    usage(
        "default",
        &["default TABLE ACTION(...)", "default TABLE reset"],
        "sets or resets the default action",
        &["default routes drop()"],
    ),
    usage(
        "clear",
        &["clear TABLE", "clear all"],
        "deletes all entries of a table, except constant ones; `all`: everything that was written or counted",
        &["clear routes"],
    ),
    usage(
        "dump",
        &["dump"],
        "prints the state as commands: `ctl -f` gives it to another switch that runs the program",
        &["dump"],
    ),
    usage(
        "counters",
        &[
            "counters [NAME [INDEX]]",
            "counters set NAME INDEX|KEY:VALUE ...|default [packets N] [bytes N]",
            "counters reset NAME [INDEX]|KEY:VALUE ...|default",
        ],
        "prints or sets counters; without a name, prints those that are not 0",
        &["counters dropped 3", "counters reset dropped"],
    ),
    usage(
        "meters",
        &[
            "meters [NAME [INDEX]]",
            "meters set NAME INDEX|KEY:VALUE ...|default cir N cburst N [pir N pburst N]",
            "meters reset NAME INDEX|KEY:VALUE ...|default",
        ],
        "prints, sets or resets the rates (per second) and bursts of meters",
        &["meters set rates 2 cir 1000 cburst 100"],
    ),
    usage(
        "registers",
        &["registers [NAME [INDEX]]", "registers set NAME INDEX VALUE ..."],
        "prints or sets registers, a struct member by member; without a name, those that are not 0",
        &["registers set seen 3 77"],
    ),
    usage(
        "members",
        &["members [PROFILE [ID]]", "members add|modify PROFILE ID ACTION(...)", "members delete PROFILE ID"],
        "prints or changes members of action profiles",
        &["members add uplinks 1 forward(port:1)"],
    ),
    usage(
        "groups",
        &[
            "groups [PROFILE [ID]]",
            "groups add|modify PROFILE ID MEMBER[*WEIGHT] [watch PORT] ... [size N]",
            "groups delete PROFILE ID",
        ],
        "prints or changes groups of action selectors; a member is left out while the port that it watches is down",
        &["groups add uplinks 9 1 2*3 watch eth2"],
    ),
    usage(
        "multicast",
        &["multicast [ID]", "multicast add|modify ID PORT[:INSTANCE][|BACKUP] ...", "multicast delete ID"],
        "prints or changes multicast groups; a backup replaces ports that are down",
        &["multicast add 4 eth1 2:7"],
    ),
    usage(
        "sessions",
        &["sessions [ID]", "sessions add|modify ID PORT[:INSTANCE] ... [length BYTES] [class N]", "sessions delete ID"],
        "prints or changes clone sessions",
        &["sessions add 5 eth1 length 64"],
    ),
    usage(
        "value-sets",
        &["value-sets [NAME]", "value-sets set|add|delete NAME VALUE[,VALUE] ..."],
        "prints or changes parser value sets",
        &["value-sets set tagged 0x8100 0x88a8"],
    ),
    usage(
        "digests",
        &[
            "digests [NAME ...] [count N] [for SECONDS]",
            "digests add|modify NAME [list RECORDS] [timeout SECONDS] [ack SECONDS]",
            "digests delete NAME",
        ],
        "prints digests as they arrive, or changes how they are gathered for the primary controller",
        &["digests count 10", "digests add station_t list 64 timeout 0.1 ack 1"],
    ),
    usage(
        "packets",
        &["packets [count N] [for SECONDS]", "packets send HEX [FIELD:VALUE ...]"],
        "prints packet-ins as they arrive, or sends a packet-out",
        &["packets for 10", "packets send 001122334455 66778899aabb 0800 egress_port:eth1"],
    ),
    usage(
        "watch",
        &["watch [count N] [for SECONDS]"],
        "prints all events of the switch: packets, digests, idle entries",
        &["watch"],
    ),
    usage(
        "pipeline",
        &["pipeline show", "pipeline push PROGRAM [keep]"],
        "prints or replaces the running program; `keep` keeps what was written: entries and other state",
        &["pipeline push router.p4 keep"],
    ),
    usage(
        "batch",
        &["batch [rollback|atomic]"],
        "sends the writes up to `end` as one batch; rollback: all or none; atomic: packets see all or none, too",
        &["batch rollback"],
    ),
    usage("end", &["end"], "sends the batch", &["end"]),
];

/// The forms of a command, for a message.
pub fn usage_of(name: &str) -> Option<&'static Usage> {
    COMMANDS.iter().find(|usage| usage.name == name)
}

/// A line for each command.
pub fn list() -> String {
    let line = |usage: &Usage| format!("  {:<10}  {}\n", usage.name, usage.about);
    let lines: String = COMMANDS.iter().map(line).collect();
    format!("{lines}\n`help COMMAND` or `COMMAND --help` prints the forms of a command, with examples\n")
}

/// Forms, meaning and examples of a command.
///
/// # Errors
/// There is no such command.
pub fn help_on(name: &str) -> Result<String, Mistake> {
    let Some(usage) = usage_of(name) else {
        let place = Place { line: 1, column: "help ".len() as u32 + 1 };
        return Err(unknown(&Word { text: name.to_string(), place }));
    };
    let lines = |lines: &[&str]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    Ok(format!("{}\n\nUsage:\n{}\nExamples:\n{}", usage.about, lines(usage.forms), lines(usage.examples)))
}

/// There is no such command: one of BMv2's command line leads to the one that does the same.
pub fn unknown(command: &Word) -> Mistake {
    match bmv2::hint(&command.text) {
        Some(hint) => Mistake::new(command.place, format!("`{}` is a command of BMv2; here: {hint}", command.text)),
        None => names::unknown(command, "command", COMMANDS.iter().map(|usage| usage.name)),
    }
}
