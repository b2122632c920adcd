//! Files of BMv2's command line (`simple_switch_CLI`): each of its commands becomes those of `ctl` that do the same.
//!
//! P4Runtime knows neither handles nor nodes of multicast groups. They are kept here, numbered as BMv2 does from the first command of the file.

use super::input::Input;
use super::slots::Slots;
use crate::names::{self, Named as _, Names};
use control::Rate;
use control::message::config::{MatchField, Table, match_field};
use match_field::MatchType;
use std::collections::BTreeMap;
use stf::Mistake;
use stf::command::Word;

/// In BMv2 the smaller priority wins; in P4Runtime the larger does.
const LARGEST_PRIORITY: u32 = 0x7fff_ffff;

/// What the commands of a file have made.
#[derive(Default)]
pub struct Script {
    tables: BTreeMap<String, Slots>,
    /// Replicas of each node.
    nodes: Vec<String>,
    /// Nodes of each group that there is.
    groups: BTreeMap<String, Vec<usize>>,
}

type Lines = Result<Vec<String>, Mistake>;

impl Script {
    /// What `ctl` does instead of the command; none where it is not one of those.
    pub fn lines(&mut self, command: &str, input: &mut Input, names: &Names) -> Result<Option<Vec<String>>, Mistake> {
        let lines = match command {
            "table_add" => self.add(input, names)?,
            "table_modify" => self.modify(input, names)?,
            "table_delete" => self.delete(input, names)?,
            "table_clear" => self.clear(input, names)?,
            "table_set_default" => {
                let table = input.needs("a table")?;
                vec![format!("default {} {}", table.text, action(input)?)]
            }
            "table_reset_default" => vec![format!("default {} reset", input.needs("a table")?.text)],
            "table_dump" => vec![format!("show {}", input.needs("a table")?.text)],
            "table_info" | "table_num_entries" | "table_show_actions" => {
                let table = input.needs("a table")?;
                names::find(&table, "table", &names.info.tables)?;
                vec!["tables".into()]
            }
            "show_tables" | "show_actions" => vec!["tables".into()],
            "show_ports" => vec!["ports".into()],
            "switch_info" => vec!["pipeline show".into()],
            "mc_dump" => vec!["multicast".into()],
            "mc_mgrp_create" | "mc_node_create" | "mc_node_update" | "mc_node_associate" | "mc_node_dissociate"
            | "mc_mgrp_destroy" => self.multicast(command, input)?,
            "mirroring_add" => {
                let (session, port) = (input.needs("a session")?, input.needs("a port")?);
                vec![format!("sessions add {} {}", session.text, port.text)]
            }
            "mirroring_delete" => vec![format!("sessions delete {}", input.needs("a session")?.text)],
            "mirroring_get" => vec![format!("sessions {}", input.needs("a session")?.text)],
            "register_read" | "counter_read" | "meter_get_rates" | "register_write" | "counter_write"
            | "counter_reset" | "meter_set_rates" => elements(command, input)?,
            _ => return Ok(None),
        };
        input.finish()?;
        Ok(Some(lines))
    }

    fn add(&mut self, input: &mut Input, names: &Names) -> Lines {
        let word = input.needs("a table")?;
        let table = names::find(&word, "table", &names.info.tables)?;
        let name = input.needs("an action")?;
        let mut keys = Vec::new();
        loop {
            match input.needs("a key, or `=>`")? {
                end if end.text == "=>" => break,
                given => keys.push(key(table.match_fields.get(keys.len()), &given.text)),
            }
        }
        let mut arguments = input.rest();
        let priority = match table.match_fields.iter().any(has_priority) {
            true => priority(arguments.pop().ok_or_else(|| input.expected("a priority"))?)?,
            false => String::new(),
        };
        self.slots(table).add((keys.join(" "), priority.clone()));
        Ok(vec![format!("add {} {} {}{priority}", word.text, keys.join(" "), call(&name, &arguments))])
    }

    fn slots(&mut self, table: &Table) -> &mut Slots {
        self.tables.entry(table.name().to_string()).or_default()
    }

    fn modify(&mut self, input: &mut Input, names: &Names) -> Lines {
        let word = input.needs("a table")?;
        let table = names::find(&word, "table", &names.info.tables)?;
        let name = input.needs("an action")?;
        let handle = input.needs("a handle")?;
        let (keys, priority) =
            self.slots(table).entry(number(&handle)).ok_or_else(|| no_entry(&handle, table))?.clone();
        input.one_of(&["=>"]);
        Ok(vec![format!("modify {} {keys} {}{priority}", word.text, call(&name, &input.rest()))])
    }

    fn delete(&mut self, input: &mut Input, names: &Names) -> Lines {
        let word = input.needs("a table")?;
        let table = names::find(&word, "table", &names.info.tables)?;
        let handle = input.needs("a handle")?;
        let (keys, priority) = self.slots(table).remove(number(&handle)).ok_or_else(|| no_entry(&handle, table))?;
        Ok(vec![format!("delete {} {keys}{priority}", word.text)])
    }

    fn clear(&mut self, input: &mut Input, names: &Names) -> Lines {
        let word = input.needs("a table")?;
        let table = names::find(&word, "table", &names.info.tables)?;
        self.slots(table).clear();
        Ok(vec![format!("clear {}", word.text)])
    }

    /// A group is written when it gets its first node, and anew with each change.
    fn multicast(&mut self, command: &str, input: &mut Input) -> Lines {
        if command == "mc_node_create" {
            let replicas = replicas(&input.needs("a replication id")?, &input.rest())?;
            self.nodes.push(replicas);
            return Ok(Vec::new());
        }
        let first = input.needs(if command == "mc_node_update" { "a node" } else { "a group" })?;
        match command {
            "mc_mgrp_create" => {
                self.groups.insert(first.text, Vec::new());
                Ok(Vec::new())
            }
            "mc_mgrp_destroy" => {
                let was_written = self.groups.remove(&first.text).is_none_or(|nodes| !nodes.is_empty());
                Ok(was_written.then(|| format!("multicast delete {}", first.text)).into_iter().collect())
            }
            "mc_node_update" => {
                let node = self.node(&first)?;
                let instance = self.nodes[node].rsplit(':').next().unwrap_or("0").to_string();
                self.nodes[node] = replicas(&Word { text: instance, place: first.place }, &input.rest())?;
                let with_node = self.groups.iter().filter(|(_, nodes)| nodes.contains(&node));
                Ok(with_node.map(|(group, nodes)| self.written("modify", group, nodes)).collect())
            }
            _ => {
                let handle = input.needs("a node")?;
                let node = self.node(&handle)?;
                self.associate(command, (&first, node))
            }
        }
    }

    fn associate(&mut self, command: &str, (group, node): (&Word, usize)) -> Lines {
        let missing = || Mistake::new(group.place, format!("this file has created no group {}", group.text));
        let nodes = self.groups.get_mut(&group.text).ok_or_else(missing)?;
        let was_empty = nodes.is_empty();
        match command {
            "mc_node_associate" => nodes.push(node),
            _ => nodes.retain(|other| *other != node),
        }
        let nodes = nodes.clone();
        Ok(vec![match (was_empty, nodes.is_empty()) {
            (_, true) => format!("multicast delete {}", group.text),
            (true, false) => self.written("add", &group.text, &nodes),
            (false, false) => self.written("modify", &group.text, &nodes),
        }])
    }

    fn node(&self, handle: &Word) -> Result<usize, Mistake> {
        let number = handle.text.parse().ok().filter(|number| *number < self.nodes.len());
        number.ok_or_else(|| Mistake::new(handle.place, format!("this file has created no node {}", handle.text)))
    }

    fn written(&self, verb: &str, group: &str, nodes: &[usize]) -> String {
        let replicas: Vec<&str> = nodes.iter().map(|node| self.nodes[*node].as_str()).collect();
        format!("multicast {verb} {group} {}", replicas.join(" "))
    }
}

/// The number of a handle; of what is no number, one that no entry has.
fn number(handle: &Word) -> u64 {
    handle.text.parse().unwrap_or(u64::MAX)
}

fn no_entry(handle: &Word, table: &Table) -> Mistake {
    let message = format!(
        "this file has added no entry {} to table `{}`: handles are numbered from its first command; \
         `delete TABLE KEY:VALUE ...` names entries by their keys",
        handle.text,
        table.name()
    );
    Mistake::new(handle.place, message)
}

/// `PORT:INSTANCE` of each port.
fn replicas(instance: &Word, ports: &[Word]) -> Result<String, Mistake> {
    if let Some(port) = ports.iter().find(|port| port.text == "|") {
        return Err(Mistake::new(port.place, "there are no link aggregation groups here: name the ports themselves"));
    }
    Ok(ports.iter().map(|port| format!("{}:{}", port.text, instance.text)).collect::<Vec<_>>().join(" "))
}

/// Commands on elements of counters, meters and registers.
fn elements(command: &str, input: &mut Input) -> Lines {
    let name = input.needs("a name")?.text;
    if command == "counter_reset" {
        return Ok(vec![format!("counters reset {name}")]);
    }
    if command == "register_read" && input.is_at_end() {
        return Ok(vec![format!("registers {name}")]);
    }
    let index = input.needs("an index")?.text;
    Ok(vec![match command {
        "register_read" => format!("registers {name} {index}"),
        "counter_read" => format!("counters {name} {index}"),
        "meter_get_rates" => format!("meters {name} {index}"),
        "register_write" => format!("registers set {name} {index} {}", input.needs("a value")?.text),
        "counter_write" => {
            let (packets, bytes) = (input.needs("packets")?, input.needs("bytes")?);
            format!("counters set {name} {index} packets {} bytes {}", packets.text, bytes.text)
        }
        _ => {
            let (committed, peak) = (rate(&input.needs("RATE:BURST")?)?, rate(&input.needs("RATE:BURST")?)?);
            format!(
                "meters set {name} {index} cir {} cburst {} pir {} pburst {}",
                committed.0, committed.1, peak.0, peak.1
            )
        }
    }])
}

/// BMv2 has rates in packets or bytes a microsecond, P4Runtime in whole ones a second.
fn rate(word: &Word) -> Result<(u64, u64), Mistake> {
    let wrong = || {
        Mistake::new(
            word.place,
            format!("expected RATE:BURST, a rate in packets or bytes a microsecond, found `{}`", word.text),
        )
    };
    let (rate, burst) = word.text.split_once(':').ok_or_else(wrong)?;
    let rate = rate.parse().ok().and_then(Rate::from_micros).ok_or_else(wrong)?;
    // Checked first: rates above the largest are read as that, which has a fraction.
    if i64::try_from(rate.whole()).is_err() {
        let sentence = format!(
            "the rate of `{}` is too large: it is in packets or bytes a microsecond, of which P4Runtime has at most {} a second",
            word.text,
            i64::MAX
        );
        return Err(Mistake::new(word.place, sentence));
    }
    if rate.fraction() != 0 {
        let sentence =
            format!("P4Runtime has no fractions of a packet or byte a second: a rate of {rate} is set by Thrift");
        return Err(Mistake::new(word.place, sentence));
    }
    Ok((rate.whole(), burst.parse().map_err(|_| wrong())?))
}

/// An action and its parameters, up to the end of the line.
fn action(input: &mut Input) -> Result<String, Mistake> {
    let name = input.needs("an action")?;
    input.one_of(&["=>"]);
    Ok(call(&name, &input.rest()))
}

fn call(name: &Word, arguments: &[Word]) -> String {
    let arguments: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    format!("{}({})", name.text, arguments.join(", "))
}

fn priority(word: Word) -> Result<String, Mistake> {
    let wrong = || Mistake::new(word.place, format!("expected a priority, found `{}`", word.text));
    let given: u32 = word.text.parse().map_err(|_| wrong())?;
    // P4Runtime's are larger than 0.
    let larger = LARGEST_PRIORITY.checked_sub(given).filter(|larger| *larger > 0).ok_or_else(wrong)?;
    Ok(format!(" priority {larger}"))
}

fn match_type(field: &MatchField) -> Option<MatchType> {
    match field.r#match {
        Some(match_field::Match::MatchType(kind)) => MatchType::try_from(kind).ok(),
        Some(match_field::Match::OtherMatchType(_)) | None => None,
    }
}

fn has_priority(field: &MatchField) -> bool {
    matches!(match_type(field), Some(MatchType::Ternary | MatchType::Range | MatchType::Optional))
}

/// A key as `ctl` writes it. What matches anything is left out in P4Runtime.
fn key(field: Option<&MatchField>, text: &str) -> String {
    let is_zero = |digits: &str| !digits.is_empty() && digits.trim_start_matches("0x").chars().all(|c| c == '0');
    let mask = text.split_once("&&&").map(|(_, mask)| mask);
    let prefix = text.split_once('/').map(|(_, prefix)| prefix);
    let matches_all = mask.or(prefix).is_some_and(is_zero);
    match field.and_then(match_type) {
        Some(MatchType::Ternary | MatchType::Lpm) if matches_all => "*".into(),
        Some(MatchType::Range) => text.replace("->", ".."),
        Some(_) | None => text.into(),
    }
}
