//! Scripts of `simple_switch_CLI`, BMv2's command line: `table_add`, `mc_mgrp_create`, `register_write`, …
//!
//! Commands that STF has too are read as STF has them. Handles are numbered as BMv2 does, so that `table_delete` and `table_modify` find their entries.

use super::left_out::LeftOut;
use hlir::{Program, Table};
use std::collections::BTreeMap;
use stf::command::{Argument, Call, Control, Elements, EntryAction, GroupMember, Key, Kind, Value, Word};
use stf::{Aging, COMMANDS, Command, Mistake, Place, names, parse_line};

/// Commands that no STF file has, by which the form is recognised.
pub const OWN: [&str; 25] = [
    "table_add",
    "table_set_default",
    "table_reset_default",
    "table_delete",
    "table_modify",
    "table_clear",
    "table_indirect_add",
    "table_indirect_add_with_group",
    "table_set_timeout",
    "table_dump",
    "table_info",
    "table_num_entries",
    "table_dump_entry",
    "act_prof_create_member",
    "act_prof_create_group",
    "act_prof_add_member_to_group",
    "act_prof_remove_member_from_group",
    "act_prof_modify_member",
    "pvs_add",
    "pvs_clear",
    "counter_reset",
    "set_queue_depth",
    "set_queue_rate",
    "show_tables",
    "reset_state",
];

/// Commands that do something which cannot be done here, and why.
const CANNOT: [(&str, &str); 14] = [
    ("set_queue_depth", "queues are those of the devices"),
    ("set_queue_rate", "queues are those of the devices"),
    ("load_new_config_file", "the program is the one that is compiled"),
    ("swap_configs", "the program is the one that is compiled"),
    ("write_config_to_file", "the program is the one that is compiled"),
    ("serialize_state", "the state is not kept"),
    ("port_add", "ports are those of --port"),
    ("port_remove", "ports are those of --port"),
    ("mc_mgrp_destroy", "leave out what made the group"),
    ("mc_node_destroy", "leave out what made the node"),
    ("mc_node_dissociate", "leave out what associated the node"),
    ("act_prof_delete_member", "leave out what made the member"),
    ("act_prof_delete_group", "leave out what made the group"),
    ("pvs_remove", "leave out what added the value"),
];

/// Commands that only print, or end the command line.
const PRINTS: [&str; 20] = [
    "help",
    "exit",
    "quit",
    "EOF",
    "history",
    "switch_info",
    "show_tables",
    "show_actions",
    "show_ports",
    "show_pvs",
    "table_info",
    "table_dump",
    "table_num_entries",
    "table_dump_entry",
    "table_dump_entry_from_key",
    "table_dump_group",
    "table_dump_member",
    "table_show_actions",
    "mc_dump",
    "pvs_get",
];

/// In these the smaller number wins; here the larger does.
const LARGEST_PRIORITY: u32 = 0x7fff_ffff;

/// An entry that a handle is for: what `remove` needs.
#[derive(Clone)]
struct Handled {
    priority: Option<Word>,
    keys: Vec<Key>,
}

/// The slots of a table's handles. One that is free again is taken first, with another version.
#[derive(Default)]
struct Handles {
    slots: Vec<(u64, Option<Handled>)>,
    /// Slots of entries that the program brings.
    own: usize,
}

pub struct Script<'p> {
    program: &'p Program,
    handles: BTreeMap<usize, Handles>,
    /// Members of groups made so far, by profile: a number each.
    groups: BTreeMap<String, Vec<Vec<Word>>>,
    members: BTreeMap<String, u32>,
    value_sets: BTreeMap<String, Vec<Vec<Value>>>,
    pub left_out: LeftOut,
}

type Controls = Result<Vec<Control>, Mistake>;

/// The words of one line, from left to right.
struct Words {
    words: Vec<Word>,
    next: usize,
    end: Place,
}

impl<'p> Script<'p> {
    pub fn new(program: &'p Program) -> Script<'p> {
        let (handles, groups, members) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Script { program, handles, groups, members, value_sets: BTreeMap::new(), left_out: LeftOut::default() }
    }

    /// The commands of one line.
    pub fn line(&mut self, text: &str, number: u32) -> Result<Vec<Command>, Mistake> {
        let mut words = Words::of(text, number);
        let Ok(command) = words.take("a command") else { return Ok(Vec::new()) };
        let place = command.place;
        let controls = match command.text.as_str() {
            "table_add" => self.table_add(&mut words)?,
            "table_indirect_add" | "table_indirect_add_ws" => self.indirect_add(&mut words, EntryAction::Member)?,
            "table_indirect_add_with_group" => self.indirect_add(&mut words, EntryAction::Group)?,
            "table_set_default" => self.set_default(&mut words)?,
            "table_reset_default" => self.reset_default(&mut words)?,
            "table_modify" => self.table_modify(&mut words)?,
            "table_delete" => self.table_delete(&mut words)?,
            "table_set_timeout" => self.table_set_timeout(&mut words)?,
            "reset_state" => {
                self.left_out.note(&command.text, place, "has nothing to do: a switch begins without state");
                Vec::new()
            }
            "table_clear" => self.table_clear(&mut words)?,
            "act_prof_create_member" => self.create_member(&mut words)?,
            "act_prof_modify_member" => self.modify_member(&mut words)?,
            "act_prof_create_group" => self.create_group(&mut words)?,
            "act_prof_add_member_to_group" => self.change_group(&mut words, |members, member| members.push(member))?,
            "act_prof_remove_member_from_group" => self.change_group(&mut words, |members, member| {
                members.retain(|other| other.text != member.text);
            })?,
            "pvs_add" => self.value_set_add(&mut words)?,
            "pvs_clear" => self.value_set_clear(&mut words)?,
            "counter_reset" => self.counter_reset(&mut words)?,
            prints if PRINTS.contains(&prints) => {
                self.left_out.note(&command.text, place, "only prints");
                return Ok(Vec::new());
            }
            _ => return self.of_stf(text, number, &command),
        };
        words.finish()?;
        Ok(controls.into_iter().map(|control| Command { place, kind: Kind::Control(control) }).collect())
    }

    /// A command that STF has, too.
    fn of_stf(&self, text: &str, number: u32, command: &Word) -> Result<Vec<Command>, Mistake> {
        const SHARED: [&str; 17] = [
            "mirroring_add",
            "mirroring_add_mc",
            "mirroring_delete",
            "mirroring_get",
            "mc_mgrp_create",
            "mc_node_create",
            "mc_node_update",
            "mc_node_associate",
            "counter_read",
            "counter_write",
            "register_read",
            "register_write",
            "register_reset",
            "meter_get_rates",
            "meter_set_rates",
            "set_crc16_parameters",
            "set_crc32_parameters",
        ];
        let is_shared = SHARED.contains(&command.text.as_str()) || command.text == "meter_array_set_rates";
        if !is_shared {
            return Err(Mistake::new(command.place, self.refused(&command.text)));
        }
        if let Some(column) = text.chars().position(|c| c == '|') {
            let place = Place { line: number, column: column as u32 + 1 };
            return Err(Mistake::new(place, "there are no link aggregation groups here: name the ports themselves"));
        }
        let commands: Vec<Command> = parse_line(text, number)?.into_iter().collect();
        for command in &commands {
            self.check_object(command)?;
        }
        Ok(commands)
    }

    /// Objects are named by whole parts, as tables are; STF is less strict.
    fn check_object(&self, command: &Command) -> Result<(), Mistake> {
        let Kind::Control(Control::Elements(elements)) = &command.kind else { return Ok(()) };
        let program = self.program;
        match elements {
            Elements::CounterRead { counter, .. } | Elements::CounterWrite { counter, .. } => {
                names::find(counter, "counter", program.counters.iter().map(|(_, known)| known.name.as_str()))?
            }
            Elements::RegisterRead { register, .. }
            | Elements::RegisterWrite { register, .. }
            | Elements::RegisterReset { register } => {
                names::find(register, "register", program.registers.iter().map(|(_, known)| known.name.as_str()))?
            }
            Elements::MeterRates { meter, .. } | Elements::SetMeterRates { meter, .. } => {
                names::find(meter, "meter", program.meters.iter().map(|(_, known)| known.name.as_str()))?
            }
        };
        Ok(())
    }

    /// The whole name of a value set.
    fn value_set(&self, word: &Word) -> Result<String, Mistake> {
        let sets = self.program.value_sets.iter().map(|(_, known)| known.name.as_str());
        let index = names::find(word, "value set", sets.clone())?;
        Ok(sets.clone().nth(index).unwrap_or(&word.text).to_string())
    }

    fn refused(&self, command: &str) -> String {
        if let Some((_, why)) = CANNOT.iter().find(|(name, _)| *name == command) {
            return format!("`{command}` cannot be done here: {why}");
        }
        let hint = names::nearest(command, OWN.into_iter().chain(COMMANDS));
        let hint = hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("`{command}` is no command{hint}")
    }

    /// A table that packets reach, by its number; nothing for one that they do not.
    fn table(&self, word: &Word) -> Result<Option<(usize, &'p Table)>, Mistake> {
        let reached = self.program.tables.iter().map(|(_, table)| table.name.as_str());
        let sources = self.program.interface.tables.iter().map(|table| table.name.as_str());
        let gone: Vec<&str> = sources.filter(|name| !reached.clone().any(|other| other == *name)).collect();
        let index = names::find(word, "table", reached.chain(gone))?;
        Ok(self.program.tables.iter().nth(index).map(|(_, table)| (index, table)))
    }

    fn handles(&mut self, index: usize, table: &Table) -> &mut Handles {
        let own = table.entries.len();
        self.handles.entry(index).or_insert_with(|| Handles { slots: vec![(0, None); own], own })
    }

    fn table_add(&mut self, words: &mut Words) -> Controls {
        let name = words.take("a table")?;
        let Some((index, table)) = self.table(&name)? else { return words.passed() };
        let action = words.take("an action")?;
        let keys = words.keys()?;
        let parameters = action_parameters(table, &action)?;
        let arguments = words.arguments(parameters)?;
        let priority = words.priority(table)?;
        let action = EntryAction::Call(Call { name: action, arguments });
        Ok(self.added(index, table, Control::Add { table: name, priority, keys, action, label: None }))
    }

    fn indirect_add(&mut self, words: &mut Words, action: fn(Word) -> EntryAction) -> Controls {
        let name = words.take("a table")?;
        let Some((index, table)) = self.table(&name)? else { return words.passed() };
        let keys = words.keys()?;
        let action = action(words.take("a handle")?);
        let priority = words.priority(table)?;
        Ok(self.added(index, table, Control::Add { table: name, priority, keys, action, label: None }))
    }

    /// The entry has the first handle that is free.
    fn added(&mut self, index: usize, table: &Table, control: Control) -> Vec<Control> {
        if let Control::Add { priority, keys, .. } = &control {
            let handled = Some(Handled { priority: priority.clone(), keys: keys.clone() });
            let handles = self.handles(index, table);
            let own = handles.own;
            match handles.slots.iter_mut().skip(own).find(|(_, entry)| entry.is_none()) {
                Some((_, free)) => *free = handled,
                None => handles.slots.push((0, handled)),
            }
        }
        vec![control]
    }

    /// Where the entry of a handle is: BMv2 counts the uses of a slot above its number.
    fn slot(&mut self, index: usize, table: &Table, handle: &Word) -> Result<&mut (u64, Option<Handled>), Mistake> {
        let missing = || Mistake::new(handle.place, format!("table `{}` has no entry {}", table.name, handle.text));
        let number: u64 = handle.text.parse().map_err(|_| missing())?;
        let (version, at) = (number >> 24, (number & 0xff_ffff) as usize);
        let handles = self.handles(index, table);
        if at < handles.own {
            let message = format!("entry {at} of table `{}` is the program's own: write it by its keys", table.name);
            return Err(Mistake::new(handle.place, message));
        }
        let found = handles.slots.get_mut(at).filter(|(found, entry)| *found == version && entry.is_some());
        found.ok_or_else(missing)
    }

    fn table_modify(&mut self, words: &mut Words) -> Controls {
        let name = words.take("a table")?;
        let Some((index, table)) = self.table(&name)? else { return words.passed() };
        let (action, handle) = (words.take("an action")?, words.take("a handle")?);
        let arguments = words.arguments(action_parameters(table, &action)?)?;
        let Some(Handled { priority, keys }) = self.slot(index, table, &handle)?.1.clone() else {
            return Ok(Vec::new());
        };
        let action = EntryAction::Call(Call { name: action, arguments });
        Ok(vec![Control::Modify { table: name, priority, keys, action }])
    }

    fn table_delete(&mut self, words: &mut Words) -> Controls {
        let name = words.take("a table")?;
        let Some((index, table)) = self.table(&name)? else { return words.passed() };
        let handle = words.take("a handle")?;
        let slot = self.slot(index, table, &handle)?;
        slot.0 += 1;
        let Some(Handled { priority, keys }) = slot.1.take() else { return Ok(Vec::new()) };
        Ok(vec![Control::Remove { table: name, priority, keys }])
    }

    fn table_set_timeout(&mut self, words: &mut Words) -> Controls {
        let table = words.take("a table")?;
        let Some((index, found)) = self.table(&table)? else { return words.passed() };
        let (handle, time) = (words.take("a handle")?, words.take("a time in milliseconds")?);
        let nanoseconds = time.text.parse().ok().and_then(|time: u64| time.checked_mul(1_000_000));
        let nanoseconds = nanoseconds.ok_or_else(|| Mistake::new(time.place, "expected a number of milliseconds"))?;
        let Some(Handled { priority, keys }) = self.slot(index, found, &handle)?.1.clone() else {
            return Ok(Vec::new());
        };
        Ok(vec![Control::Aging(Aging::IdleTimeout { table, priority, keys, nanoseconds })])
    }

    fn table_clear(&mut self, words: &mut Words) -> Controls {
        let name = words.take("a table")?;
        let Some((index, table)) = self.table(&name)? else { return words.passed() };
        let slots = self.handles(index, table).slots.iter_mut();
        let gone = slots.filter_map(|(version, entry)| {
            let Handled { priority, keys } = entry.take()?;
            *version += 1;
            Some(Control::Remove { table: name.clone(), priority, keys })
        });
        Ok(gone.collect())
    }

    fn set_default(&mut self, words: &mut Words) -> Controls {
        let table = words.take("a table")?;
        let Some((_, found)) = self.table(&table)? else { return words.passed() };
        let name = words.take("an action")?;
        let arguments = words.arguments(action_parameters(found, &name)?)?;
        Ok(vec![Control::SetDefault { table, action: Call { name, arguments } }])
    }

    fn reset_default(&mut self, words: &mut Words) -> Controls {
        let table = words.take("a table")?;
        let Some((_, found)) = self.table(&table)? else { return Ok(Vec::new()) };
        let name = Word { text: found.actions[found.default.action as usize].name.clone(), place: table.place };
        let word = |text| Argument { name: None, value: Word { text, place: table.place } };
        let arguments = found.default.arguments.iter().map(|value| word(value.to_string())).collect();
        Ok(vec![Control::SetDefault { table, action: Call { name, arguments } }])
    }

    /// The table of a profile, whose actions its members have.
    fn profile(&self, word: &Word) -> Result<(String, Option<&'p Table>), Mistake> {
        let profiles = self.program.profiles.iter();
        let index = names::find(word, "action profile", profiles.clone().map(|(_, profile)| profile.name.as_str()))?;
        let (id, profile) = profiles.clone().nth(index).expect("the index is that of one of the profiles");
        let table = self.program.tables.values().find(|table| table.profile == Some(id));
        Ok((profile.name.clone(), table))
    }

    fn create_member(&mut self, words: &mut Words) -> Controls {
        let profile = words.take("an action profile")?;
        let (key, table) = self.profile(&profile)?;
        let Some(table) = table else { return words.passed() };
        let name = words.take("an action")?;
        let arguments = words.arguments(action_parameters(table, &name)?)?;
        let next = self.members.entry(key).or_default();
        let id = Word { text: next.to_string(), place: profile.place };
        *next += 1;
        Ok(vec![Control::Member { profile, id, action: Call { name, arguments } }])
    }

    fn modify_member(&mut self, words: &mut Words) -> Controls {
        let profile = words.take("an action profile")?;
        let (_, table) = self.profile(&profile)?;
        let Some(table) = table else { return words.passed() };
        let (name, id) = (words.take("an action")?, words.take("a handle")?);
        let arguments = words.arguments(action_parameters(table, &name)?)?;
        Ok(vec![Control::Member { profile, id, action: Call { name, arguments } }])
    }

    fn create_group(&mut self, words: &mut Words) -> Controls {
        let profile = words.take("an action profile")?;
        let groups = self.groups.entry(self.profile(&profile)?.0).or_default();
        let id = Word { text: groups.len().to_string(), place: profile.place };
        groups.push(Vec::new());
        Ok(vec![Control::Group { profile, id, members: Vec::new(), max_size: None }])
    }

    fn change_group(&mut self, words: &mut Words, change: fn(&mut Vec<Word>, Word)) -> Controls {
        let profile = words.take("an action profile")?;
        let (member, id) = (words.take("a member")?, words.take("a group")?);
        let groups = self.groups.entry(self.profile(&profile)?.0).or_default();
        let found = id.text.parse().ok().and_then(|at: usize| groups.get_mut(at));
        let members = found.ok_or_else(|| Mistake::new(id.place, format!("there is no group {}", id.text)))?;
        change(members, member);
        let members = members.iter().cloned().map(GroupMember::from).collect();
        Ok(vec![Control::Group { profile, id, members, max_size: None }])
    }

    fn value_set_add(&mut self, words: &mut Words) -> Controls {
        let set = words.take("a value set")?;
        let member = words.value()?;
        let members = self.value_sets.entry(self.value_set(&set)?).or_default();
        members.push(vec![member]);
        Ok(vec![Control::ValueSet { members: members.clone(), set }])
    }

    fn value_set_clear(&mut self, words: &mut Words) -> Controls {
        let set = words.take("a value set")?;
        self.value_sets.remove(&self.value_set(&set)?);
        Ok(vec![Control::ValueSet { set, members: Vec::new() }])
    }

    fn counter_reset(&mut self, words: &mut Words) -> Controls {
        let counter = words.take("a counter")?;
        let counters: Vec<&hlir::Counter> = self.program.counters.values().collect();
        let index = names::find(&counter, "counter", counters.iter().map(|counter| counter.name.as_str()))?;
        let elements = counters[index].size;
        let word = |text: String| Word { text, place: counter.place };
        let zero = |index: u64| Elements::CounterWrite {
            counter: counter.clone(),
            index: word(index.to_string()),
            packets: word("0".to_string()),
            bytes: word("0".to_string()),
        };
        Ok((0..elements).map(|index| Control::Elements(zero(index))).collect())
    }
}

/// How many values an action of a table takes.
fn action_parameters(table: &Table, action: &Word) -> Result<usize, Mistake> {
    let what = format!("action of table `{}` called", table.name);
    let index = names::find(action, &what, table.actions.iter().map(|action| action.name.as_str()))?;
    Ok(table.actions[index].parameters.len())
}

impl Words {
    fn of(text: &str, line: u32) -> Words {
        let mut words: Vec<Word> = Vec::new();
        let mut inside = false;
        let uncommented = text.split('#').next().unwrap_or_default();
        for (at, c) in uncommented.chars().enumerate() {
            if c.is_whitespace() {
                inside = false;
                continue;
            }
            if !inside {
                words.push(Word { text: String::new(), place: Place { line, column: at as u32 + 1 } });
            }
            inside = true;
            words.iter_mut().last().into_iter().for_each(|word| word.text.push(c));
        }
        let end = Place { line, column: uncommented.trim_end().chars().count() as u32 + 1 };
        Words { words, next: 0, end }
    }

    fn peek(&self) -> Option<&Word> {
        self.words.get(self.next)
    }

    fn take(&mut self, what: &str) -> Result<Word, Mistake> {
        let word = self.peek().cloned();
        self.next += 1;
        word.ok_or_else(|| Mistake::new(self.end, format!("expected {what}, the line ends")))
    }

    /// What concerns a table that no packet reaches has no effect, whatever it is.
    fn passed(&mut self) -> Controls {
        self.next = self.words.len();
        Ok(Vec::new())
    }

    fn finish(&self) -> Result<(), Mistake> {
        match self.peek() {
            Some(word) => {
                let found = format!("expected the end of the line, found `{}`", word.text);
                Err(Mistake::new(word.place, found))
            }
            None => Ok(()),
        }
    }

    /// Keys, up to `=>`.
    fn keys(&mut self) -> Result<Vec<Key>, Mistake> {
        let mut keys = Vec::new();
        while self.peek().is_none_or(|word| word.text != "=>") {
            if self.peek().is_none() {
                return Err(Mistake::new(self.end, "expected `=>` after the keys, but the line ends"));
            }
            keys.push(Key { name: None, value: self.value()? });
        }
        self.next += 1;
        Ok(keys)
    }

    /// `V`, `V/LENGTH`, `V&&&MASK` or `LOW->HIGH`.
    fn value(&mut self) -> Result<Value, Mistake> {
        let word = self.take("a value")?;
        let split = |mark: &str| {
            let (left, right) = word.text.split_once(mark)?;
            let skipped = (left.chars().count() + mark.len()) as u32;
            let place = Place { column: word.place.column + skipped, ..word.place };
            let left = number(Word { text: left.to_string(), place: word.place });
            Some((left, number(Word { text: right.to_string(), place })))
        };
        if let Some((value, mask)) = split("&&&") {
            return Ok(Value::Masked(value, mask));
        }
        if let Some((low, high)) = split("->") {
            return Ok(Value::Range(low, high));
        }
        if let Some((value, length)) = split("/") {
            return Ok(Value::Prefix(value, length));
        }
        Ok(Value::One(number(word)))
    }

    fn arguments(&mut self, count: usize) -> Result<Vec<Argument>, Mistake> {
        let argument = |at: usize, words: &mut Words| {
            let what = format!("{count} values for the action, found {at}: the next");
            Ok(Argument { name: None, value: number(words.take(&what)?) })
        };
        (0..count).map(|at| argument(at, self)).collect()
    }

    /// The priority after the values: a smaller number wins.
    fn priority(&mut self, table: &Table) -> Result<Option<Word>, Mistake> {
        if !table.has_priorities() {
            return Ok(None);
        }
        let word = self.take("a priority, since the table has ternary, range or optional keys")?;
        let number: Option<u32> = word.text.parse().ok().filter(|number| *number <= LARGEST_PRIORITY);
        let number = number
            .ok_or_else(|| Mistake::new(word.place, format!("expected a priority of 0 to {LARGEST_PRIORITY}")))?;
        Ok(Some(Word { text: (LARGEST_PRIORITY - number).to_string(), place: word.place }))
    }
}

/// Truths are numbers here.
fn number(word: Word) -> Word {
    let text = match word.text.as_str() {
        "true" | "True" => "1".to_string(),
        "false" | "False" => "0".to_string(),
        _ => return word,
    };
    Word { text, ..word }
}
