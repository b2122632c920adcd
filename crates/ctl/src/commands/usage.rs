//! How each command is written: what help, messages and completion have of it.

/// How a command is written.
pub struct Usage {
    pub name: &'static str,
    /// A line a form.
    pub forms: &'static [&'static str],
    pub about: &'static str,
}

const fn usage(name: &'static str, forms: &'static [&'static str], about: &'static str) -> Usage {
    Usage { name, forms, about }
}

pub const COMMANDS: &[Usage] = &[
    usage(
        "ports",
        &["ports [PORT ...]", "ports add N=DEVICE ...", "ports remove PORT ..."],
        "prints the ports with their links and counts, adds or removes ports; a port is a number or a device",
    ),
    usage("stats", &["stats"], "prints hits and misses of the tables, drops by reason, and what each worker has done"),
    usage("tables", &["tables"], "prints the tables, their keys and actions, and how much of their size is used"),
    usage("show", &["show TABLE [KEY:VALUE ...]"], "prints the entries with their counts, and the default action"),
    usage(
        "add",
        &["add TABLE KEY:VALUE ... ACTION(PARAMETER:VALUE, ...) [priority N] [timeout SECONDS]"],
        "inserts an entry; its action may be member=ID, group=ID or: one of ACTION(...)[*WEIGHT] [watch PORT], ...",
    ),
    usage(
        "modify",
        &["modify TABLE KEY:VALUE ... ACTION(...) [priority N] [timeout SECONDS]"],
        "gives an entry another action",
    ),
    usage("delete", &["delete TABLE KEY:VALUE ... [priority N]"], "deletes an entry"),
    usage("default", &["default TABLE ACTION(...)", "default TABLE reset"], "sets or resets the default action"),
    usage("clear", &["clear TABLE"], "deletes all entries of a table, except the program's"),
    usage(
        "counters",
        &["counters [NAME [INDEX]]", "counters reset NAME [INDEX]"],
        "prints counters, or sets them to 0; without a name, those that are not 0",
    ),
    usage(
        "meters",
        &[
            "meters [NAME [INDEX]]",
            "meters set NAME INDEX|KEY:VALUE ... cir N cburst N [pir N pburst N]",
            "meters reset NAME INDEX|KEY:VALUE ...",
        ],
        "prints, sets or resets the rates (per second) and bursts of meters",
    ),
    usage(
        "registers",
        &["registers [NAME [INDEX]]", "registers set NAME INDEX VALUE ..."],
        "prints or sets registers, a struct member by member; without a name, those that are not 0",
    ),
    usage(
        "members",
        &["members [PROFILE]", "members add|modify PROFILE ID ACTION(...)", "members delete PROFILE ID"],
        "prints or changes members of action profiles",
    ),
    usage(
        "groups",
        &[
            "groups [PROFILE]",
            "groups add|modify PROFILE ID MEMBER[*WEIGHT] [watch PORT] ... [size N]",
            "groups delete PROFILE ID",
        ],
        "prints or changes groups of action selectors; a member is left out while the port that it watches is down",
    ),
    usage(
        "multicast",
        &["multicast [ID]", "multicast add|modify ID PORT[:INSTANCE] ...", "multicast delete ID"],
        "prints or changes multicast groups",
    ),
    usage(
        "sessions",
        &["sessions [ID]", "sessions add|modify ID PORT[:INSTANCE] ... [length BYTES] [class N]", "sessions delete ID"],
        "prints or changes clone sessions",
    ),
    usage(
        "value-sets",
        &["value-sets [NAME]", "value-sets set|add|delete NAME VALUE[,VALUE] ..."],
        "prints or changes parser value sets",
    ),
    usage("digests", &["digests [NAME ...] [count N] [for SECONDS]"], "prints digests as they arrive"),
    usage(
        "packets",
        &["packets [count N] [for SECONDS]", "packets send HEX [FIELD:VALUE ...]"],
        "prints packet-ins as they arrive, or sends a packet-out",
    ),
    usage(
        "watch",
        &["watch [count N] [for SECONDS]"],
        "prints all events of the switch: packets, digests, idle entries",
    ),
    usage(
        "pipeline",
        &["pipeline show", "pipeline push PROGRAM [keep]"],
        "prints or replaces the running program; `keep` keeps what was written: entries and other state",
    ),
    usage(
        "batch",
        &["batch [rollback|atomic]"],
        "sends the writes up to `end` as one batch; rollback: all or none; atomic: packets see all or none, too",
    ),
    usage("end", &["end"], "sends the batch"),
];

/// The forms of a command, for a message.
pub fn usage_of(name: &str) -> Option<&'static Usage> {
    COMMANDS.iter().find(|usage| usage.name == name)
}
