//! What may be at the end of a line that is typed: commands, names of the program, keys, actions, parameters, ports.

use super::usage::COMMANDS;
use crate::field::Field;
use crate::names::{Named, Names, PortName};
use control::message::config::{ActionProfile, Table};

/// Commands of the prompt alone.
const PROMPT: [&str; 2] = ["help", "exit"];

/// The words that may follow, and the byte of the line where they begin. `line` ends at the cursor.
pub fn candidates(names: Option<&Names>, line: &str) -> (usize, Vec<String>) {
    let start = line.rfind(|c: char| c.is_whitespace() || c == '(' || c == ',').map_or(0, |at| at + 1);
    let (before, typed) = line.split_at(start);
    let words: Vec<&str> = before.split_whitespace().collect();
    let all = match (words.split_first(), names) {
        (None, _) => COMMANDS.iter().map(|usage| usage.name).chain(PROMPT).map(whole).collect(),
        (Some((&"help", [])), _) => COMMANDS.iter().map(|usage| usage.name.to_string()).collect(),
        (Some((command, rest)), Some(names)) => behind(names, command, rest, before, typed),
        (Some(_), None) => Vec::new(),
    };
    // The value of a key or parameter begins behind its colon.
    let value = typed.rfind(':').map_or(0, |at| at + 1);
    let start = if all.iter().any(|word| word.contains(':')) || value == 0 { start } else { start + value };
    let typed = &line[start..];
    (start, all.into_iter().filter(|word| word.starts_with(typed)).collect())
}

/// A word with nothing of its own behind it.
fn whole(word: &str) -> String {
    format!("{word} ")
}

fn aliases<T: Named>(objects: &[T]) -> Vec<String> {
    objects.iter().map(|object| whole(object.alias())).collect()
}

fn words_of(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| whole(word)).collect()
}

fn devices(names: &Names) -> Vec<String> {
    names.ports.iter().map(|port| whole(&port.device)).collect()
}

/// What may follow a command and these words.
fn behind(names: &Names, command: &str, words: &[&str], before: &str, typed: &str) -> Vec<String> {
    let info = &names.info;
    match (command, words) {
        ("show" | "lookup" | "add" | "modify" | "delete" | "default", []) => aliases(&info.tables),
        ("clear", []) => [aliases(&info.tables), words_of(&["all"])].concat(),
        ("show" | "lookup" | "add" | "modify" | "delete" | "default", [table, given @ ..]) => {
            let table = info.tables.iter().find(|known| known.name() == *table || known.alias() == *table);
            table.map(|table| of_entry(names, table, command, given, before, typed)).unwrap_or_default()
        }
        ("ports", []) => [devices(names), words_of(&["add", "remove"])].concat(),
        ("ports", ["add", ..]) => Vec::new(),
        ("ports", _) | ("multicast" | "sessions", ["add" | "modify", _, ..]) => devices(names),
        ("counters", []) => {
            [words_of(&["set", "reset"]), aliases(&info.counters), aliases(&info.direct_counters)].concat()
        }
        ("counters", ["set" | "reset"]) => [aliases(&info.counters), aliases(&info.direct_counters)].concat(),
        ("meters", []) => [words_of(&["set", "reset"]), aliases(&info.meters), aliases(&info.direct_meters)].concat(),
        ("meters", ["set" | "reset"]) => [aliases(&info.meters), aliases(&info.direct_meters)].concat(),
        ("registers", []) => [words_of(&["set"]), aliases(&info.registers)].concat(),
        ("registers", ["set"]) => aliases(&info.registers),
        ("members" | "groups", []) => [words_of(&["add", "modify", "delete"]), aliases(&info.action_profiles)].concat(),
        ("members" | "groups", ["add" | "modify" | "delete"]) => aliases(&info.action_profiles),
        ("members", ["add" | "modify", profile, _]) => {
            let is_named = |known: &&ActionProfile| known.name() == *profile || known.alias() == *profile;
            let table = info.action_profiles.iter().find(is_named).and_then(|known| names.table_of_profile(known));
            table.map(|table| actions(names, table)).unwrap_or_default()
        }
        ("multicast" | "sessions", []) => words_of(&["add", "modify", "delete"]),
        ("value-sets", []) => [words_of(&["set", "add", "delete"]), aliases(&info.value_sets)].concat(),
        ("value-sets", ["set" | "add" | "delete"]) => aliases(&info.value_sets),
        ("digests", []) => [words_of(&["add", "modify", "delete"]), aliases(&info.digests)].concat(),
        ("digests", ["add" | "modify", _, ..]) => words_of(&["list", "timeout", "ack"]),
        ("digests", _) => aliases(&info.digests),
        ("packets", []) => words_of(&["send", "count", "for"]),
        ("packets", ["send", _, ..]) => fields(&names.packet_header("packet_out"), typed),
        ("pipeline", []) => words_of(&["show", "push"]),
        ("batch", []) => words_of(&["rollback", "atomic"]),
        _ => Vec::new(),
    }
}

fn actions(names: &Names, table: &Table) -> Vec<String> {
    let alias = |id: u32| names.action(id).map(|action| format!("{}(", action.alias()));
    table.action_refs.iter().filter_map(|action| alias(action.id)).collect()
}

/// `NAME:` of each field, or behind the name of a port its devices.
fn fields(fields: &[Field], typed: &str) -> Vec<String> {
    let Some((name, _)) = typed.split_once(':') else {
        return fields.iter().map(|field| format!("{}:", field.name)).collect();
    };
    let field = fields.iter().find(|field| field.name == name && name.to_ascii_lowercase().contains("port"));
    field.map(|field| field.ports.iter().map(port_value).collect()).unwrap_or_default()
}

/// A port as the value of a key or parameter: by the number where the device has characters that end a value, as `net_tap0,iface=tap0` has.
fn port_value(port: &PortName) -> String {
    let is_plain = port.device.chars().all(|c| c.is_alphanumeric() || "_-.@".contains(c));
    if is_plain { port.device.clone() } else { port.number.to_string() }
}

/// The keys that are not given yet, and what may follow them; within parentheses the parameters of the action.
fn of_entry(names: &Names, table: &Table, command: &str, given: &[&str], before: &str, typed: &str) -> Vec<String> {
    let open = before.rfind('(').filter(|open| !before[*open..].contains(')'));
    if let Some(open) = open {
        let name = before[..open].rsplit(char::is_whitespace).next().unwrap_or("");
        let action = names.info.actions.iter().find(|action| action.alias() == name || action.name() == name);
        return action.map(|action| fields(&names.parameters(action), typed)).unwrap_or_default();
    }
    let keys = names.keys(&table.match_fields);
    if typed.contains(':') {
        return fields(&keys, typed);
    }
    let has_action = given.iter().any(|word| word.contains('('));
    let is_given = |key: &Field| given.iter().any(|word| word.starts_with(&format!("{}:", key.name)));
    let mut words = Vec::new();
    if command != "default" && !has_action {
        words.extend(keys.iter().filter(|key| !is_given(key)).map(|key| format!("{}:", key.name)));
    }
    match command {
        "default" => words.extend(actions(names, table).into_iter().chain([whole("reset")])),
        "add" | "modify" if !has_action => words.extend(actions(names, table)),
        "add" | "modify" => words.extend(words_of(&["priority", "timeout"])),
        "delete" => words.extend(words_of(&["priority"])),
        _ => {}
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::message::config::{Action, ActionRef, MatchField, P4Info, Preamble, action::Param};

    fn preamble(id: u32, name: &str, alias: &str) -> Option<Preamble> {
        Some(Preamble { id, name: name.to_string(), alias: alias.to_string(), ..Preamble::default() })
    }

    fn names() -> Names {
        let key = |id, name: &str| MatchField { id, name: name.to_string(), bitwidth: 32, ..MatchField::default() };
        let table = Table {
            preamble: preamble(1, "Router.routes", "routes"),
            match_fields: vec![key(1, "hdr.ipv4.dst"), key(2, "meta.ingress_port")],
            action_refs: vec![ActionRef { id: 7, ..ActionRef::default() }],
            ..Table::default()
        };
        let param = |id, name: &str| Param { id, name: name.to_string(), bitwidth: 9, ..Param::default() };
        let action = Action {
            preamble: preamble(7, "Router.forward", "forward"),
            params: vec![param(1, "port"), param(2, "queue")],
        };
        let info = P4Info { tables: vec![table], actions: vec![action], ..P4Info::default() };
        let ports = [(1, "eth1"), (2, "eth2"), (3, "net_tap0,iface=tap0")];
        let ports = ports.map(|(number, device)| PortName { number, device: device.to_string() });
        Names { info, ports: ports.to_vec() }
    }

    /// The line with its cursor, completed by each word.
    fn completed(line: &str) -> Vec<String> {
        let (start, words) = candidates(Some(&names()), line);
        words.iter().map(|word| format!("{}{word}", &line[..start])).collect()
    }

    #[test]
    fn commands_tables_keys_actions_and_ports_are_completed() {
        assert_eq!(completed("sh"), ["show "]);
        assert_eq!(completed("help sho"), ["help show"]);
        assert_eq!(completed("show "), ["show routes "]);
        assert_eq!(completed("add routes hdr"), ["add routes hdr.ipv4.dst:"]);
        let port = "add routes hdr.ipv4.dst:10.0.0.1 meta.ingress_port:";
        assert_eq!(completed("add routes hdr.ipv4.dst:10.0.0.1 m"), [port]);
        assert_eq!(completed(&format!("{port}eth2")), [format!("{port}eth2")]);
        assert_eq!(completed("add routes 10.0.0.1 fo"), ["add routes 10.0.0.1 forward("]);
        assert_eq!(completed("add routes 10.0.0.1 forward(p"), ["add routes 10.0.0.1 forward(port:"]);
        let forward = "add routes 10.0.0.1 forward(port:";
        assert_eq!(completed(forward), ["eth1", "eth2", "3"].map(|port| format!("{forward}{port}")));
        assert_eq!(completed("add routes 1 forward(port:1, q"), ["add routes 1 forward(port:1, queue:"]);
        assert_eq!(completed("add routes 1 forward(1,2) p"), ["add routes 1 forward(1,2) priority "]);
        assert_eq!(completed("default routes re"), ["default routes reset "]);
        assert_eq!(completed("ports eth"), ["ports eth1 ", "ports eth2 "]);
        assert_eq!(completed("show nothing "), Vec::<String>::new());
    }

    #[test]
    fn commands_are_completed_without_a_switch() {
        assert_eq!(candidates(None, "tab"), (0, vec!["tables ".to_string()]));
        assert_eq!(candidates(None, "show x"), (5, Vec::new()));
    }
}
