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
    usage("tables", &["tables"], "the tables, their keys and actions"),
    usage("show", &["show TABLE [KEY:VALUE ...]"], "entries with their counts, and the default action"),
    usage(
        "add",
        &["add TABLE KEY:VALUE ... ACTION(PARAMETER:VALUE, ...) [priority N] [timeout SECONDS]"],
        "a new entry; in place of the action, member=ID, group=ID, or one of ACTION(...)[*WEIGHT] [watch PORT], ...",
    ),
    usage(
        "modify",
        &["modify TABLE KEY:VALUE ... ACTION(...) [priority N] [timeout SECONDS]"],
        "another action for an entry",
    ),
    usage("delete", &["delete TABLE KEY:VALUE ... [priority N]"], "an entry goes"),
    usage(
        "default",
        &["default TABLE ACTION(...)", "default TABLE reset"],
        "what happens to packets that no entry matches",
    ),
    usage("clear", &["clear TABLE"], "all entries of a table go, but those of the program"),
    usage(
        "counters",
        &["counters [NAME [INDEX]]", "counters reset NAME [INDEX]"],
        "without a name, the cells that are not 0",
    ),
    usage(
        "meters",
        &[
            "meters [NAME [INDEX]]",
            "meters set NAME INDEX|KEY:VALUE ... cir N cburst N [pir N pburst N]",
            "meters reset NAME INDEX|KEY:VALUE ...",
        ],
        "rates a second, and bursts",
    ),
    usage(
        "registers",
        &["registers [NAME [INDEX]]", "registers set NAME INDEX VALUE ..."],
        "a struct's members stand one after the other; without a name, the cells that are not 0",
    ),
    usage(
        "members",
        &["members [PROFILE]", "members add|modify PROFILE ID ACTION(...)", "members delete PROFILE ID"],
        "members of action profiles",
    ),
    usage(
        "groups",
        &[
            "groups [PROFILE]",
            "groups add|modify PROFILE ID MEMBER[*WEIGHT] [watch PORT] ... [size N]",
            "groups delete PROFILE ID",
        ],
        "groups of action selectors; a member is left out while the port that it watches has no link",
    ),
    usage(
        "multicast",
        &["multicast [ID]", "multicast add|modify ID PORT[:INSTANCE] ...", "multicast delete ID"],
        "multicast groups",
    ),
    usage(
        "sessions",
        &["sessions [ID]", "sessions add|modify ID PORT[:INSTANCE] ... [length BYTES] [class N]", "sessions delete ID"],
        "clone sessions",
    ),
    usage(
        "value-sets",
        &["value-sets [NAME]", "value-sets set|add|delete NAME VALUE[,VALUE] ..."],
        "parser value sets",
    ),
    usage("digests", &["digests [NAME ...] [count N] [for SECONDS]"], "digests as they come"),
    usage(
        "packets",
        &["packets [count N] [for SECONDS]", "packets send HEX [FIELD:VALUE ...]"],
        "packets for the controller as they come, or one from it",
    ),
    usage("watch", &["watch [count N] [for SECONDS]"], "all that the switch tells: packets, digests, idle entries"),
    usage(
        "pipeline",
        &["pipeline show", "pipeline push PROGRAM [keep]"],
        "the running program; another one, with what was written or without",
    ),
    usage(
        "batch",
        &["batch [rollback|atomic]"],
        "what follows in the file, up to `end`, is written at once: all or nothing, or so that packets see all or nothing",
    ),
    usage("end", &["end"], "the batch is written"),
];

/// The forms of a command, for a message.
pub fn usage_of(name: &str) -> Option<&'static Usage> {
    COMMANDS.iter().find(|usage| usage.name == name)
}
