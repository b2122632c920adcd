//! A store made of its rows. A row that does not suit the program is left out and reported: what is whole is kept.

use super::entry::{CallRow, EntryRow};
use super::message::{CrcRow, DefaultRow, DigestRow, GroupRow, MulticastRow, NumberRow, RatesRow};
use super::message::{SessionRow, ValueSetRow};
use crate::Store;
use crate::store::check::{check_call, check_crc, check_match};
use crate::store::index;
use crate::store::row::{MeterElement, Row};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Match, Program, Scope};
use prost::Message;
use std::sync::Arc;

impl Store {
    /// A store of these rows alone, without the program's own entries that they lack. Gives a sentence for each row that cannot be one of
    /// this program.
    pub fn of_rows<'r>(
        program: Arc<Program>,
        rows: impl Iterator<Item = (&'r [u8], &'r [u8])>,
    ) -> (Store, Vec<String>) {
        let mut store = Store::new(program);
        store.tables.iter_mut().for_each(|table| table.empty());
        let mut refused = Vec::new();
        for (key, value) in rows {
            if let Err(sentence) = store.load(key, value) {
                refused.push(sentence);
            }
        }
        // Only now: members may have come behind the entries that refer to them.
        store.drop_dangling(&mut refused);
        (store, refused)
    }

    fn load(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let row = Row::of_key(key).ok_or("a row is of no kind that this version knows")?;
        let unknown = |what: &str, number: usize| format!("the program has no {what} number {number}");
        match row {
            Row::Entry(table, key) => {
                let declared = self.program.tables.values().nth(table).ok_or_else(|| unknown("table", table))?;
                let lost = |why: &str| format!("an entry of table `{}` {why}", declared.name);
                let row = decode::<EntryRow>(value).map_err(|why| lost(&why))?;
                self.tables[table].load(declared, key, row).map_err(|why| lost(&why))?;
            }
            Row::Default(table) => {
                let declared = self.program.tables.values().nth(table).ok_or_else(|| unknown("table", table))?;
                let row = decode::<DefaultRow>(value)?;
                let call = row.call.map(ActionCall::from);
                if let Some(call) = &call {
                    check_call(declared, call, Scope::TableOnly).map_err(|refusal| refusal.sentence)?;
                }
                let table = &mut self.tables[table];
                (table.default, table.default_metadata, table.default_member) = (call, row.metadata, row.member);
            }
            Row::Expiry(table, profile) => {
                let table = self.tables.get_mut(table).ok_or_else(|| unknown("table", table))?;
                table.expiry_ns.insert(profile, decode::<NumberRow>(value)?.number);
            }
            Row::Member(profile, member) => {
                let call = ActionCall::from(decode::<CallRow>(value)?);
                let of_profile = |table: &&hlir::Table| table.profile.map(index) == Some(profile);
                if let Some(table) = self.program.tables.values().find(of_profile) {
                    check_call(table, &call, Scope::DefaultOnly).map_err(|refusal| refusal.sentence)?;
                }
                let known = self.profiles.get_mut(profile).ok_or_else(|| unknown("action profile", profile))?;
                known.members.insert(member, call);
            }
            Row::Group(profile, group) => {
                let known = self.profiles.get_mut(profile).ok_or_else(|| unknown("action profile", profile))?;
                known.groups.insert(group, decode::<GroupRow>(value)?.into());
            }
            Row::ValueSet(set) => self.load_value_set(set, value)?,
            Row::Multicast(group) => drop(self.multicast.insert(group, decode::<MulticastRow>(value)?.into())),
            Row::Session(session) => drop(self.sessions.insert(session, decode::<SessionRow>(value)?.into())),
            Row::Meter(meter, element) => self.load_meter(meter, element, value)?,
            Row::ArrayRates(meter) => {
                let declared = self.program.meters.values().nth(meter).ok_or_else(|| unknown("meter", meter))?;
                if declared.table.is_none() {
                    return Err(format!("meter `{}` has no entries of a table", declared.name));
                }
                self.array_rates.insert(meter, decode::<RatesRow>(value)?.try_into()?);
            }
            Row::Crc(crc) => self.load_crc(crc, value)?,
            Row::Digest(digest) if digest < self.program.digests.len() => {
                self.records.digests.insert(digest, decode::<DigestRow>(value)?.into());
            }
            Row::Digest(digest) => return Err(unknown("digest", digest)),
            Row::Text(type_name, text) => {
                self.records.texts.insert((type_name, text), decode::<NumberRow>(value)?.number);
            }
        }
        Ok(())
    }

    fn load_crc(&mut self, crc: usize, value: &[u8]) -> Result<(), String> {
        let declared = self.program.crcs.values().nth(crc).ok_or("a CRC is not the program's")?;
        let parameters = decode::<CrcRow>(value)?.into();
        check_crc(declared, &parameters).map_err(|refusal| refusal.sentence)?;
        self.crcs.insert(crc, parameters);
        Ok(())
    }

    fn load_value_set(&mut self, set: usize, value: &[u8]) -> Result<(), String> {
        let declared = self.program.value_sets.values().nth(set).ok_or("a value set is not the program's")?;
        let rows = decode::<ValueSetRow>(value)?.members.into_iter();
        let members: Vec<Vec<Match>> =
            rows.map(|member| member.matches.into_iter().map(Match::from).collect()).collect();
        for member in &members {
            if member.len() != declared.fields.len() {
                return Err(format!("a member of value set `{}` has other fields", declared.name));
            }
            for (found, (name, width, kind)) in member.iter().zip(&declared.fields) {
                check_match(found, *kind, *width, name).map_err(|refusal| refusal.sentence)?;
            }
        }
        self.value_sets[set] = members;
        Ok(())
    }

    fn load_meter(&mut self, meter: usize, element: MeterElement, value: &[u8]) -> Result<(), String> {
        let declared = self.program.meters.values().nth(meter).ok_or("a meter is not the program's")?;
        let fits = match &element {
            MeterElement::Index(at) => *at < declared.size,
            MeterElement::Entry(table, key) => {
                declared.table.map(index) == Some(*table) && self.tables[*table].has_form(key)
            }
            MeterElement::Default(table) => declared.table.map(index) == Some(*table),
        };
        if !fits {
            return Err(format!("meter `{}` has no such element", declared.name));
        }
        self.meters.insert((meter, element), decode::<RatesRow>(value)?.try_into()?);
        Ok(())
    }

    /// Takes out entries whose member or group is missing, which was lost with a row, and the rates of entries that are missing.
    fn drop_dangling(&mut self, refused: &mut Vec<String>) {
        for (id, declared) in self.program.tables.iter() {
            let Some(profile) = declared.profile else { continue };
            let known = &self.profiles[index(profile)];
            let table = &mut self.tables[index(id)];
            let is_there = |action: &EntryAction| match action {
                EntryAction::Member(member) => known.members.contains_key(member),
                EntryAction::Group(group) => known.groups.contains_key(group),
                EntryAction::Call(_) | EntryAction::Set(_) => true,
            };
            let gone = table.retain(declared, is_there);
            refused
                .extend((0..gone).map(|_| format!("the action of an entry of table `{}` is missing", declared.name)));
        }
        let tables = &self.tables;
        self.meters.retain(|(_, element), _| match element {
            MeterElement::Entry(table, key) => tables[*table].contains(key),
            MeterElement::Index(_) | MeterElement::Default(_) => true,
        });
    }
}

fn decode<T: Message + Default>(value: &[u8]) -> Result<T, String> {
    T::decode(value).map_err(|error| format!("is not as this version writes it: {error}"))
}
