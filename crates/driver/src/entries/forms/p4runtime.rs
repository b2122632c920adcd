//! P4Runtime's `WriteRequest`, as text, as JSON or as bytes: what `bacus compile --p4runtime-entries-files` writes, and what controllers keep. Also
//! `ReadResponse`, as text or JSON: a new switch gets the same entities.

use super::attached::Owner;
use super::left_out::LeftOut;
use super::tree::{Node, Value as Written};
use hlir::interface::{SourceKey, SourceTable};
use hlir::{MatchKind, Program};
use std::cell::RefCell;
use std::collections::BTreeSet;
use stf::command::{Argument, Call, Control, EntryAction, GroupMember, Key, Member, Multicast, Value, Word};
use stf::{Aging, Mistake, Place};

/// Fields of a request, by which the form is recognised.
pub const FIELDS: [&str; 7] = ["updates", ENTITIES, "device_id", "role_id", "role", "election_id", "atomicity"];
/// The field of a response.
pub const ENTITIES: &str = "entities";

/// How values of bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    AsTheyAre,
    Base64,
}

pub struct Reader<'p> {
    pub program: &'p Program,
    pub bytes: Bytes,
    /// What has no effect here.
    pub left_out: RefCell<LeftOut>,
    /// Entries and default actions that are marked as the program's own.
    pub constant: RefCell<BTreeSet<Place>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Not in a request: a switch was found to have it.
    Found,
    Insert,
    Modify,
    Delete,
}

pub type Commands = Result<Vec<Control>, Mistake>;

/// The names of JSON as those of the protocol: `tableEntry` as `table_entry`.
pub fn with_proto_names(node: Node) -> Node {
    let named = |(name, node): (String, Node)| {
        let snake = name.chars().flat_map(|c| {
            let upper = c.is_ascii_uppercase();
            upper.then_some('_').into_iter().chain([c.to_ascii_lowercase()])
        });
        (snake.collect(), with_proto_names(node))
    };
    let value = match node.value {
        Written::Fields(fields) => Written::Fields(fields.into_iter().map(named).collect()),
        Written::List(items) => Written::List(items.into_iter().map(with_proto_names).collect()),
        other @ (Written::Text(_) | Written::Plain(_)) => other,
    };
    Node { value, ..node }
}

/// The same entities, each after those that it may refer to: a response has them in the order that was asked for.
fn in_order_of_reference(entities: &mut [&Node]) {
    entities.sort_by_key(|entity| match entity.fields().first().map(|(name, _)| name.as_str()) {
        Some("action_profile_member") => 0,
        Some("action_profile_group") => 1,
        Some("packet_replication_engine_entry") => 2,
        _ => 3,
    });
}

impl<'p> Reader<'p> {
    pub fn new(program: &'p Program, bytes: Bytes) -> Reader<'p> {
        Reader { program, bytes, left_out: RefCell::default(), constant: RefCell::default() }
    }

    pub fn commands(&self, root: &Node) -> Vec<Result<Control, Mistake>> {
        let unknown = root.only(&FIELDS).err().into_iter().map(Err);
        let each = |commands: Commands| match commands {
            Ok(controls) => controls.into_iter().map(Ok).collect(),
            Err(mistake) => vec![Err(mistake)],
        };
        let updates = root.all("updates").flat_map(|update| each(self.update(update)));
        let mut entities: Vec<&Node> = root.all(ENTITIES).collect();
        in_order_of_reference(&mut entities);
        let entities = entities.into_iter().flat_map(|entity| each(self.entity(Kind::Found, entity)));
        unknown.chain(updates).chain(entities).collect()
    }

    /// Leaves these fields out, with a warning for those that are set.
    fn leave_out(&self, message: &Node, fields: &[&str], why: &'static str) {
        let said = message.fields().iter().filter(|(name, node)| fields.contains(&name.as_str()) && !node.is_default());
        said.for_each(|(name, node)| self.left_out.borrow_mut().note(name, node.place, why));
    }

    fn update(&self, update: &Node) -> Commands {
        update.only(&["type", "entity"])?;
        let kind = update.needed("type")?.word("a type")?;
        let kind = match kind.text.as_str() {
            "INSERT" | "1" => Kind::Insert,
            "MODIFY" | "2" => Kind::Modify,
            "DELETE" | "3" => Kind::Delete,
            _ => return Err(Mistake::new(kind.place, "expected INSERT, MODIFY or DELETE")),
        };
        self.entity(kind, update.needed("entity")?)
    }

    fn entity(&self, kind: Kind, entity: &Node) -> Commands {
        entity.only(&[
            "table_entry",
            "packet_replication_engine_entry",
            "action_profile_member",
            "action_profile_group",
        ])?;
        match entity.fields() {
            [(name, entry)] => match name.as_str() {
                "table_entry" => self.table_entry(kind, entry),
                "packet_replication_engine_entry" => self.replication(kind, entry),
                "action_profile_member" => self.member(kind, entry),
                _ => self.group(kind, entry),
            },
            _ => Err(Mistake::new(entity.place, "expected one entity")),
        }
    }

    fn table_entry(&self, kind: Kind, entry: &Node) -> Commands {
        const WRITTEN: [&str; 10] = [
            "table_id",
            "match",
            "action",
            "priority",
            "is_default_action",
            "is_const",
            "idle_timeout_ns",
            "controller_metadata",
            "metadata",
            "meter_config",
        ];
        const READ: [&str; 3] = ["counter_data", "meter_counter_data", "time_since_last_hit"];
        if kind == Kind::Found {
            entry.only(&[&WRITTEN[..], &READ].concat())?;
            self.leave_out(entry, &READ, "is what packets had come to in the switch that was read");
        } else {
            entry.only(&WRITTEN)?;
        }
        let source = self.table(entry.needed("table_id")?)?;
        let table = Word { text: source.name.clone(), place: entry.place };
        if entry.field("is_const").is_some_and(Node::is_true) {
            self.constant.borrow_mut().insert(entry.place);
        }
        let action = || self.action(entry.needed("action")?);
        if entry.field("is_default_action").is_some_and(Node::is_true) {
            // Of a table that has no default action, a response has none.
            if kind == Kind::Found && entry.field("action").is_none() {
                return Ok(Vec::new());
            }
            return match action()? {
                EntryAction::Call(action) => {
                    let attached = self.attached(kind, entry, &Owner { table: table.clone(), entry: None })?;
                    Ok([Control::SetDefault { table, action }].into_iter().chain(attached).collect())
                }
                EntryAction::Member(word) | EntryAction::Group(word) => {
                    Err(Mistake::new(word.place, "a default action is no member of a profile and no group"))
                }
            };
        }
        let keys = self.keys(source, entry)?;
        let priority = entry.field("priority").map(|node| node.word("a priority")).transpose()?;
        let priority = priority.filter(|word| word.text != "0");
        let time = entry.field("idle_timeout_ns").map(|time| time.count("nanoseconds")).transpose()?;
        // A modification replaces the timeout, too: one that is left out is 0, as in every message of P4Runtime.
        let replaced = (kind == Kind::Modify && source.idle_timeout).then_some(0);
        let timeout = time.filter(|time| kind == Kind::Modify || *time != 0).or(replaced).map(|nanoseconds| {
            let (table, priority, keys) = (table.clone(), priority.clone(), keys.clone());
            Control::Aging(Aging::IdleTimeout { table, priority, keys, nanoseconds })
        });
        if kind == Kind::Delete {
            return Ok(vec![Control::Remove { table, priority, keys }]);
        }
        let owner = Owner { table: table.clone(), entry: Some((priority.clone(), keys.clone())) };
        let attached = self.attached(kind, entry, &owner)?;
        let written = match kind {
            Kind::Found | Kind::Insert => Control::Add { table, priority, keys, action: action()?, label: None },
            Kind::Modify | Kind::Delete => Control::Modify { table, priority, keys, action: action()? },
        };
        Ok([written].into_iter().chain(timeout).chain(attached).collect())
    }

    fn table(&self, id: &Node) -> Result<&SourceTable, Mistake> {
        let found = self.program.interface.tables.iter();
        self.with_id(id, "table", found.map(|table| (table.id, table)))
    }

    /// What has this id in the program's P4Info.
    fn with_id<T>(&self, id: &Node, what: &str, mut known: impl Iterator<Item = (u32, T)>) -> Result<T, Mistake> {
        let word = id.word(&format!("the id of a {what}"))?;
        let number = id.count(&format!("the id of a {what}"))?;
        let found = known.find(|(id, _)| u64::from(*id) == number);
        found.map(|(_, found)| found).ok_or_else(|| {
            let hint = "is the file of another program? `bacus compile --p4runtime-files` lists the ids of this one";
            Mistake::new(word.place, format!("there is no {what} with the id {}; {hint}", word.text))
        })
    }

    /// A value for every key of the table, in its order.
    fn keys(&self, source: &SourceTable, entry: &Node) -> Result<Vec<Key>, Mistake> {
        let mut values: Vec<Option<Value>> = vec![None; source.keys.len()];
        for field in entry.all("match") {
            field.only(&["field_id", "exact", "ternary", "lpm", "range", "optional"])?;
            let at = source.keys.iter().enumerate().map(|(at, key)| (key.id, at));
            let at = self.with_id(field.needed("field_id")?, "key", at)?;
            if values[at].is_some() {
                return Err(Mistake::new(field.place, format!("key `{}` is given twice", source.keys[at].name)));
            }
            values[at] = Some(self.key_value(&source.keys[at], field)?);
        }
        let any = |place: Place| Value::One(Word { text: "0b*".to_string(), place });
        let each = values.into_iter().zip(&source.keys);
        let keys = each.map(|(value, key)| match value {
            None if key.kind == MatchKind::Exact => {
                Err(Mistake::new(entry.place, format!("key `{}` is exact, and has no value", key.name)))
            }
            value => Ok(Key { name: None, value: value.unwrap_or_else(|| any(entry.place)) }),
        });
        keys.collect()
    }

    fn key_value(&self, key: &SourceKey, field: &Node) -> Result<Value, Mistake> {
        let kind = interp_name(key.kind);
        let wrong = || Mistake::new(field.place, format!("key `{}` is matched as {kind}", key.name));
        let found = field.field(kind).ok_or_else(wrong)?;
        let part = |name: &str| self.number(found.needed(name)?);
        Ok(match key.kind {
            MatchKind::Exact | MatchKind::Optional => Value::One(part("value")?),
            MatchKind::Ternary => Value::Masked(part("value")?, part("mask")?),
            MatchKind::Range => Value::Range(part("low")?, part("high")?),
            MatchKind::Lpm => Value::Prefix(part("value")?, found.needed("prefix_len")?.word("a prefix length")?),
        })
    }

    fn action(&self, node: &Node) -> Result<EntryAction, Mistake> {
        node.only(&["action", "action_profile_member_id", "action_profile_group_id"])?;
        if let Some(member) = node.field("action_profile_member_id") {
            return Ok(EntryAction::Member(member.word("a member")?));
        }
        if let Some(group) = node.field("action_profile_group_id") {
            return Ok(EntryAction::Group(group.word("a group")?));
        }
        Ok(EntryAction::Call(self.call(node.needed("action")?)?))
    }

    fn call(&self, node: &Node) -> Result<Call, Mistake> {
        node.only(&["action_id", "params"])?;
        let actions = self.program.interface.actions.iter().map(|action| (action.id, action));
        let action = self.with_id(node.needed("action_id")?, "action", actions)?;
        let argument = |param: &Node| {
            param.only(&["param_id", "value"])?;
            let known = action.parameters.iter().map(|parameter| (parameter.id, parameter.name.clone()));
            let text = self.with_id(param.needed("param_id")?, "parameter", known)?;
            let name = Some(Word { text, place: param.place });
            Ok(Argument { name, value: self.number(param.needed("value")?)? })
        };
        let name = Word { text: action.name.clone(), place: node.place };
        Ok(Call { name, arguments: node.all("params").map(argument).collect::<Result<_, _>>()? })
    }

    pub fn value(&self, node: &Node) -> Result<Vec<u8>, Mistake> {
        let wrong = || Mistake::new(node.place, "expected a value of bytes between quotes");
        let Written::Text(written) = &node.value else { return Err(wrong()) };
        match self.bytes {
            Bytes::AsTheyAre => Ok(written.clone()),
            Bytes::Base64 => base64(written).ok_or_else(wrong),
        }
    }

    /// The number that some bytes are, the highest first.
    fn number(&self, node: &Node) -> Result<Word, Mistake> {
        let bytes = self.value(node)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if digits.is_empty() {
            return Err(Mistake::new(node.place, "a value has at least one byte"));
        }
        Ok(Word { text: format!("0x{digits}"), place: node.place })
    }

    fn replication(&self, kind: Kind, entry: &Node) -> Commands {
        entry.only(&["multicast_group_entry", "clone_session_entry"])?;
        if let Some(entry) = entry.field("multicast_group_entry") {
            entry.only(&["multicast_group_id", "replicas", "metadata"])?;
            self.leave_out(entry, &["metadata"], "of a multicast group cannot be loaded from a file");
            let group = entry.needed("multicast_group_id")?.word("a multicast group")?;
            let members = if kind == Kind::Delete { Vec::new() } else { self.members(entry)? };
            return Ok(vec![Control::Multicast(Multicast::Whole { group, members })]);
        }
        let entry = entry.needed("clone_session_entry")?;
        entry.only(&["session_id", "replicas", "packet_length_bytes", "class_of_service"])?;
        self.leave_out(entry, &["class_of_service"], "has no effect: copies have no class of service here");
        let session = entry.needed("session_id")?.word("a session")?;
        if kind == Kind::Delete {
            return Ok(vec![Control::MirrorDelete { session }]);
        }
        let bytes = entry.field("packet_length_bytes").map(|node| node.word("a length")).transpose()?;
        Ok(vec![Control::MirrorToMembers { session, members: self.members(entry)?, bytes }])
    }

    fn members(&self, entry: &Node) -> Result<Vec<Member>, Mistake> {
        let member = |replica: &Node| {
            replica.only(&["egress_port", "port", "instance", "backup_replicas"])?;
            self.leave_out(replica, &["backup_replicas"], "cannot be loaded from a file: copies go to the first port");
            let port = match replica.field("port") {
                Some(bytes) => self.number(bytes)?,
                None => replica.needed("egress_port")?.word("a port")?,
            };
            let none = || Ok(Word { text: "0".to_string(), place: replica.place });
            let instance = replica.field("instance").map_or_else(none, |node| node.word("an instance"))?;
            Ok(Member { port, instance })
        };
        entry.all("replicas").map(member).collect()
    }

    fn profile(&self, entry: &Node) -> Result<Word, Mistake> {
        let objects = self.program.interface.objects.iter().map(|object| (object.id, object.name.clone()));
        let text = self.with_id(entry.needed("action_profile_id")?, "action profile", objects)?;
        Ok(Word { text, place: entry.place })
    }

    fn member(&self, kind: Kind, entry: &Node) -> Commands {
        entry.only(&["action_profile_id", "member_id", "action"])?;
        self.no_deletion(kind, entry)?;
        let (profile, id) = (self.profile(entry)?, entry.needed("member_id")?.word("a member")?);
        Ok(vec![Control::Member { profile, id, action: self.call(entry.needed("action")?)? }])
    }

    fn group(&self, kind: Kind, entry: &Node) -> Commands {
        const HEAVIEST: u32 = 1 << 16;
        entry.only(&["action_profile_id", "group_id", "members", "max_size"])?;
        self.no_deletion(kind, entry)?;
        let (profile, id) = (self.profile(entry)?, entry.needed("group_id")?.word("a group")?);
        let mut members = Vec::new();
        for member in entry.all("members") {
            member.only(&["member_id", "weight", "watch_port", "watch"])?;
            let weight = member.needed("weight")?;
            let number = weight.count("a weight")?;
            let number = u32::try_from(number).ok().filter(|number| (1..=HEAVIEST).contains(number));
            let wrong = || Mistake::new(weight.place, format!("expected a weight of 1 to {HEAVIEST}"));
            let watch = match (member.field("watch_port"), member.field("watch")) {
                (Some(bytes), _) if !bytes.is_default() => Some(self.number(bytes)?),
                (_, Some(number)) => Some(number.word("a port")?),
                _ => None,
            };
            let id = member.needed("member_id")?.word("a member")?;
            members.push(GroupMember { id, weight: number.ok_or_else(wrong)?, watch });
        }
        let max_size = entry.field("max_size").map(|size| size.word("a size")).transpose()?;
        Ok(vec![Control::Group { profile, id, members, max_size }])
    }

    fn no_deletion(&self, kind: Kind, entry: &Node) -> Result<(), Mistake> {
        if kind == Kind::Delete {
            return Err(Mistake::new(
                entry.place,
                "members and groups are made here, not deleted: leave both updates out",
            ));
        }
        Ok(())
    }
}

fn interp_name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
    }
}

/// The bytes of a base64 text, of either alphabet, with or without padding.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |last| last + 1);
    let mut bytes = Vec::new();
    if end % 4 == 1 {
        return None;
    }
    for four in text[..end].chunks(4) {
        let number = four.iter().try_fold(0, |number, byte| Some(number << 6 | digit(byte)?))?;
        let number: u32 = number << (6 * (4 - four.len()));
        bytes.extend(&number.to_be_bytes()[1..four.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        assert_eq!(base64(b"EgA="), Some(vec![0x12, 0]));
        assert_eq!(base64(b"Dw"), Some(vec![0x0f]));
        assert_eq!(base64(b"AAECAw=="), Some(vec![0, 1, 2, 3]));
        assert_eq!(base64(b"_-+/"), Some(vec![0xff, 0xef, 0xbf]));
        assert_eq!(base64(b"a!"), None);
    }
}
