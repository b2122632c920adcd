//! Where the fields of keys lie in packed keys, and how those of joint entries are put together of them: nothing but
//! bytes moves when an entry is translated.

use super::Key;
use crate::store::bytes::Bytes;
use crate::store::packed::{self, Field};
use hlir::entry::EntryAction;
use hlir::join::{FirstAction, Join, SecondKey, evaluate};
use hlir::value::Value;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use std::ops::Range;

/// The key that a source entry shares with entries of the other source: the values of the second table's keys
/// that the first table has as well, or determines.
pub type SharedKey = Bytes;

/// An action of a table with its data, packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub action: u32,
    pub data: Bytes,
}

impl Call {
    /// The hidden action that does nothing.
    pub fn slow() -> Call {
        Call { action: Join::SLOW, data: Bytes::from(&[][..]) }
    }
}

/// The keys of a table.
#[derive(Clone, Debug)]
pub struct Keys {
    fields: Vec<Field>,
    has_priorities: bool,
}

impl Keys {
    pub fn of(program: &Program, table: TableId) -> Keys {
        Keys { fields: program.key_kinds(table), has_priorities: program.tables[table].has_priorities() }
    }

    pub fn pack(&self, matches: &[Match], priority: u32) -> Key {
        packed::key(matches, if self.has_priorities { priority } else { 0 }, self.fields.iter().copied())
    }

    pub fn unpack(&self, key: &Key) -> (Vec<Match>, u32) {
        packed::unpacked(key, &self.fields)
    }

    /// Where each field lies in a packed key.
    fn places(&self) -> Vec<Range<usize>> {
        let mut at = packed::PRIORITY_BYTES;
        let place = |field: &Field| {
            let begin = at;
            at += packed::field_bytes(field);
            begin..at
        };
        self.fields.iter().map(place).collect()
    }
}

/// An action's data as a controller writes them, packed.
pub fn packed_call(program: &Program, table: TableId, call: &ActionCall) -> Call {
    let parameters = &program.tables[table].actions[call.action as usize].parameters;
    let numbers = call.arguments.iter().zip(parameters.iter().map(|parameter| parameter.width));
    Call { action: call.action, data: packed::data(numbers) }
}

/// The entry of a table that packed bytes are.
pub fn unpacked_entry(program: &Program, table: TableId, key: &Key, call: &Call) -> Entry {
    let (matches, priority) = Keys::of(program, table).unpack(key);
    let action = EntryAction::Call(unpacked_call(program, table, call));
    Entry { matches, priority, action, constant: false }
}

/// The action of a table that packed data are of.
pub fn unpacked_call(program: &Program, table: TableId, call: &Call) -> ActionCall {
    let mut data = &call.data[..];
    let parameters = &program.tables[table].actions[call.action as usize].parameters;
    let arguments = parameters.iter().map(|parameter| packed::take(&mut data, parameter.width)).collect();
    ActionCall { action: call.action, arguments }
}

/// Where the shared value of a key of the second table comes from in an entry of the first.
#[derive(Clone, Debug)]
enum Origin {
    /// These bytes of its key.
    Key(Range<usize>),
    /// The next of the determined values, with so many bytes.
    Determined(usize),
}

/// How the parts of joint entries are made of those of source entries.
#[derive(Clone, Debug)]
pub struct Layout {
    first: Vec<Origin>,
    /// Of the shared values in the second table's key.
    second: Vec<Range<usize>>,
    /// Of those that only the second table has.
    own: Vec<Range<usize>>,
    /// Widths of the first table's action data, by action.
    widths: Vec<Vec<u32>>,
}

impl Layout {
    pub fn new(program: &Program, join: &Join) -> Layout {
        let first = &program.tables[join.first];
        let [first_places, second_places] = [join.first, join.second].map(|table| Keys::of(program, table).places());
        let mut layout = Layout {
            first: Vec::new(),
            second: Vec::new(),
            own: Vec::new(),
            widths: (0..first.actions.len()).map(|action| first.parameter_widths(action)).collect(),
        };
        for (key, place) in join.keys.iter().zip(second_places) {
            match key {
                SecondKey::Determined => layout.first.push(Origin::Determined(place.len())),
                SecondKey::Joint(index) => match first_places.get(*index as usize) {
                    Some(of_first) => layout.first.push(Origin::Key(of_first.clone())),
                    None => {
                        layout.own.push(place);
                        continue;
                    }
                },
            }
            layout.second.push(place);
        }
        layout
    }

    /// Whether an entry of the first table fixes all keys of the second.
    pub fn is_fixed(&self) -> bool {
        self.own.is_empty()
    }

    /// The shared values of an entry of the first table with this action.
    pub fn of_first(&self, key: &Key, call: &Call, action: &FirstAction) -> Option<SharedKey> {
        let mut rest = &call.data[..];
        let value = |width: &u32| Value::big(&packed::take(&mut rest, *width), *width);
        // Only determined values need the data as numbers.
        let data: Vec<Value> = match action.determined.is_empty() {
            true => Vec::new(),
            false => self.widths.get(call.action as usize)?.iter().map(value).collect(),
        };
        let (mut shared_key, mut determined) = (Vec::new(), action.determined.iter());
        for origin in &self.first {
            match origin {
                Origin::Key(place) => shared_key.extend_from_slice(&key[place.clone()]),
                Origin::Determined(bytes) => {
                    let end = shared_key.len() + bytes;
                    shared_key.extend(evaluate(determined.next()?, &data)?.bits.to_big().to_bytes_le());
                    shared_key.resize(end, 0);
                }
            }
        }
        Some(Bytes::from(&shared_key[..]))
    }

    /// The shared values of an entry of the second table.
    pub fn of_second(&self, key: &Key) -> SharedKey {
        joined(key, &[], self.second.iter().cloned())
    }

    pub fn joint_key(&self, first: &Key, second: Option<&Key>) -> Key {
        match second {
            Some(second) if !self.is_fixed() => joined(second, first, self.own.iter().cloned()),
            Some(_) | None => first.clone(),
        }
    }
}

/// These bytes, then some places of others.
fn joined(of: &[u8], before: &[u8], places: impl Iterator<Item = Range<usize>> + Clone) -> Bytes {
    let length = before.len() + places.clone().map(|place| place.len()).sum::<usize>();
    Bytes::filled(length, |room| {
        let (front, mut rest) = room.split_at_mut(before.len());
        front.copy_from_slice(before);
        for place in places {
            let (part, behind) = rest.split_at_mut(place.len());
            part.copy_from_slice(&of[place]);
            rest = behind;
        }
    })
}

/// The data of both sources, each with its entry's counter index behind.
pub fn joined_data(sources: [(&[u8], Option<u32>); 2]) -> Bytes {
    let size = |(data, counter_index): &(&[u8], Option<u32>)| {
        data.len() + counter_index.map_or(0, |counter_index| counter_index.to_le_bytes().len())
    };
    Bytes::filled(sources.iter().map(size).sum(), |mut rest| {
        for (data, counter_index) in sources {
            let counter_index = counter_index.map(u32::to_le_bytes);
            for part in [data].into_iter().chain(counter_index.as_ref().map(|counter_index| &counter_index[..])) {
                let (here, behind) = rest.split_at_mut(part.len());
                here.copy_from_slice(part);
                rest = behind;
            }
        }
    })
}
