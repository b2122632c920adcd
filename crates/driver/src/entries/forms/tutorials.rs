//! The JSON by which the p4lang tutorials configure a switch (`s1-runtime.json`): table entries, multicast groups and clone sessions by name.

use super::tree::{Node, Value as Written};
use hlir::{MatchKind, Program};
use stf::command::{Argument, Call, Control, EntryAction, Key, Member, Multicast, Value, Word};
use stf::{Mistake, names};

/// The lists, by whose names the form is recognised.
pub const LISTS: [&str; 3] = ["table_entries", "multicast_group_entries", "clone_session_entries"];
/// The key by which the tutorials' own tools choose the switch to start.
const TOOLS: [&str; 3] = ["target", "p4info", "bmv2_json"];

pub fn commands(program: &Program, root: &Node) -> Vec<Result<Control, Mistake>> {
    let known: Vec<&str> = LISTS.into_iter().chain(TOOLS).collect();
    let mut found: Vec<Result<Control, Mistake>> = only(root, &known).err().into_iter().map(Err).collect();
    found.extend(root.all("table_entries").map(|entry| table_entry(program, entry)));
    found.extend(root.all("multicast_group_entries").map(group));
    found.extend(root.all("clone_session_entries").map(session));
    found
}

/// JSON has no comments: fields for them are let alone.
fn only(node: &Node, known: &[&str]) -> Result<(), Mistake> {
    let comments = node.fields().iter().map(|(name, _)| name.as_str());
    let comments = comments.filter(|name| name.starts_with('_') || name.starts_with("comment"));
    node.only(&known.iter().copied().chain(comments).collect::<Vec<_>>())
}

fn table_entry(program: &Program, entry: &Node) -> Result<Control, Mistake> {
    only(entry, &["table", "match", "default_action", "action_name", "action_params", "priority"])?;
    let table = entry.needed("table")?.word("the name of a table")?;
    let action = Call {
        name: entry.needed("action_name")?.word("the name of an action")?,
        arguments: match entry.field("action_params") {
            Some(parameters) => parameters.fields().iter().map(argument).collect::<Result<_, _>>()?,
            None => Vec::new(),
        },
    };
    if entry.field("default_action").is_some_and(Node::is_true) {
        return match entry.field("match").filter(|keys| !keys.fields().is_empty()) {
            Some(keys) => Err(Mistake::new(keys.place, "a default action has no keys")),
            None => Ok(Control::SetDefault { table, action }),
        };
    }
    let keys = match entry.field("match") {
        Some(keys) => keys.fields().iter().map(|field| key(program, &table, field)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let priority = entry.field("priority").map(|node| node.word("a priority")).transpose()?;
    Ok(Control::Add { table, priority, keys, action: EntryAction::Call(action), label: None })
}

fn argument((name, value): &(String, Node)) -> Result<Argument, Mistake> {
    let name = Word { text: name.clone(), place: value.place };
    Ok(Argument { name: Some(name), value: number(value)? })
}

fn number(node: &Node) -> Result<Word, Mistake> {
    let word = node.word("a number or an address")?;
    let text = match word.text.as_str() {
        "true" => "1".to_string(),
        "false" => "0".to_string(),
        _ => word.text,
    };
    Ok(Word { text, place: word.place })
}

/// The table defines what two values in a list are.
fn key(program: &Program, table: &Word, (name, value): &(String, Node)) -> Result<Key, Mistake> {
    let tables = &program.interface.tables;
    let index = names::find(table, "table", tables.iter().map(|table| table.name.as_str()))?;
    let keys: Vec<&str> = tables[index].keys.iter().map(|key| key.name.as_str()).collect();
    let name = Word { text: name.clone(), place: value.place };
    let kind = tables[index].keys[names::find_key(&name, &keys)?].kind;
    let value = match &value.value {
        Written::List(items) => match (items.as_slice(), kind) {
            ([one], _) => Value::One(number(one)?),
            ([value, length], MatchKind::Lpm) => Value::Prefix(number(value)?, number(length)?),
            ([value, mask], MatchKind::Ternary) => Value::Masked(number(value)?, number(mask)?),
            ([low, high], MatchKind::Range) => Value::Range(number(low)?, number(high)?),
            (_, MatchKind::Exact | MatchKind::Optional) => {
                return Err(Mistake::new(value.place, format!("key `{}` takes one value", name.text)));
            }
            (_, MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range) => {
                let takes = "[value, length], [value, mask] or [low, high]";
                return Err(Mistake::new(value.place, format!("key `{}` takes two values: {takes}", name.text)));
            }
        },
        Written::Text(_) | Written::Plain(_) | Written::Fields(_) => Value::One(number(value)?),
    };
    Ok(Key { name: Some(name), value })
}

fn group(entry: &Node) -> Result<Control, Mistake> {
    only(entry, &["multicast_group_id", "replicas"])?;
    let group = number(entry.needed("multicast_group_id")?)?;
    Ok(Control::Multicast(Multicast::Whole { group, members: members(entry)? }))
}

fn session(entry: &Node) -> Result<Control, Mistake> {
    only(entry, &["clone_session_id", "replicas", "packet_length_bytes"])?;
    let session = number(entry.needed("clone_session_id")?)?;
    let bytes = entry.field("packet_length_bytes").map(number).transpose()?;
    Ok(Control::MirrorToMembers { session, members: members(entry)?, bytes })
}

fn members(entry: &Node) -> Result<Vec<Member>, Mistake> {
    let member = |replica: &Node| {
        only(replica, &["egress_port", "instance"])?;
        let port = number(replica.needed("egress_port")?)?;
        let none = || Ok(Word { text: "0".to_string(), place: replica.place });
        Ok(Member { port, instance: replica.field("instance").map_or_else(none, number)? })
    };
    entry.all("replicas").map(member).collect()
}
