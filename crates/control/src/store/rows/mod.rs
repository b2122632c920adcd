//! The store as rows, keys with values, from which a log or a file of it is made.
//!
//! A row holds one object as it is now, by the numbers of the program. [`Store::rows`] has all of them. A store that keeps a journal notes the
//! rows that updates change; [`Store::take_changes`] has each as it is by then. [`Store::of_rows`] makes the store again.

pub mod entry;
mod load;
mod message;

use super::row::{Change, MeterElement, Row};
use super::{Store, index};
use crate::plane::Element;
use crate::update::{Record, Update};
use entry::CallRow;
use hlir::TableId;
use message::{CrcRow, DefaultRow, DigestRow, GroupRow, MatchRow, MatchesRow, MulticastRow, NumberRow, RatesRow};
use message::{SessionRow, ValueSetRow};
use prost::Message;

impl Store {
    /// From now on notes which rows change.
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_default();
    }

    /// The rows that have changed since the last time, as they are now, each once or several times.
    pub fn take_changes(&mut self) -> Vec<Change> {
        let rows = self.journal.as_mut().map(|journal| std::mem::take(&mut journal.0)).unwrap_or_default();
        rows.iter().map(|row| (row.key(), self.value(row))).collect()
    }

    /// All rows, in no order.
    pub fn rows(&self) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
        let tables = self.tables.iter().enumerate().flat_map(|(number, table)| {
            let entries = table.keys().map(move |key| Row::Entry(number, key.clone()));
            let expiry = table.expiry_ns.keys().map(move |profile| Row::Expiry(number, *profile));
            entries.chain(expiry).chain([Row::Default(number)])
        });
        let profiles = self.profiles.iter().enumerate().flat_map(|(number, profile)| {
            let members = profile.members.keys().map(move |member| Row::Member(number, *member));
            members.chain(profile.groups.keys().map(move |group| Row::Group(number, *group)))
        });
        let meters = self.meters.keys().map(|(meter, element)| Row::Meter(*meter, element.clone()));
        let texts = self.records.texts.keys().map(|(type_name, text)| Row::Text(type_name.clone(), text.clone()));
        let rows = tables
            .chain(profiles)
            .chain((0..self.value_sets.len()).map(Row::ValueSet))
            .chain(self.multicast.keys().map(|group| Row::Multicast(*group)))
            .chain(self.sessions.keys().map(|session| Row::Session(*session)))
            .chain(meters)
            .chain(self.records.digests.keys().map(|digest| Row::Digest(*digest)))
            .chain(self.array_rates.keys().map(|meter| Row::ArrayRates(*meter)))
            .chain(self.crcs.keys().map(|crc| Row::Crc(*crc)))
            .chain(texts);
        rows.filter_map(|row| Some((row.key(), self.value(&row)?)))
    }

    /// Notes what an update, which was kept, has changed.
    pub(super) fn note(&mut self, update: &Update) {
        if self.journal.is_some() {
            let rows = self.rows_of(update);
            self.journal.iter_mut().for_each(|journal| journal.0.extend(rows.iter().cloned()));
        }
    }

    fn rows_of(&self, update: &Update) -> Vec<Row> {
        let entry = |table: &TableId, matches: &[hlir::Match], priority| {
            Row::Entry(index(*table), self.tables[index(*table)].key(matches, priority))
        };
        let one = match update {
            Update::Insert { table, entry: of } | Update::Modify { table, entry: of } => {
                entry(table, &of.matches, of.priority)
            }
            Update::Delete(key) => return self.rows_of_deletion(entry(&key.table, &key.matches, key.priority)),
            Update::SetIdleTimeout { key, .. } | Update::Record(Record::Metadata { key, .. }) => {
                entry(&key.table, &key.matches, key.priority)
            }
            Update::SetDefault { table, .. }
            | Update::Record(Record::DefaultMetadata { table, .. } | Record::DefaultMember { table, .. }) => {
                Row::Default(index(*table))
            }
            Update::SetExpiry { table, profile, .. } => Row::Expiry(index(*table), *profile),
            Update::SetMember { profile, member, .. } | Update::DeleteMember { profile, member } => {
                Row::Member(index(*profile), *member)
            }
            Update::SetGroup { profile, group, .. } | Update::DeleteGroup { profile, group } => {
                Row::Group(index(*profile), *group)
            }
            Update::SetValueSet { set, .. } => Row::ValueSet(index(*set)),
            Update::SetCrc { crc, .. } => Row::Crc(index(*crc)),
            Update::SetMulticast { group, .. } => Row::Multicast(*group),
            Update::SetSession { session, .. } => Row::Session(*session),
            Update::SetMeter { meter, element, .. } => match self.meter_key(element) {
                Some(element) => Row::Meter(index(*meter), element),
                None => return Vec::new(),
            },
            Update::Record(Record::Digest { digest, .. }) => Row::Digest(index(*digest)),
            Update::Record(Record::ArrayRates { meter, .. }) => Row::ArrayRates(index(*meter)),
            Update::Record(Record::Text { type_name, text, .. }) => Row::Text(type_name.clone(), text.clone()),
            // Links are those of the ports when the switch starts again.
            Update::SetPort { .. } => return Vec::new(),
        };
        vec![one]
    }

    /// The rates of its meters go with an entry.
    fn rows_of_deletion(&self, row: Row) -> Vec<Row> {
        let mut rows = vec![row];
        if let Row::Entry(table, key) = &rows[0] {
            let (table, key) = (*table, key.clone());
            let of_table = |meter: &hlir::Meter| meter.table.map(index) == Some(table);
            let meters = self.program.meters.iter().filter(|(_, meter)| of_table(meter));
            rows.extend(meters.map(|(meter, _)| Row::Meter(index(meter), MeterElement::Entry(table, key.clone()))));
        }
        rows
    }

    fn meter_key(&self, element: &Element) -> Option<MeterElement> {
        Some(match element {
            Element::Index(at) => MeterElement::Index(*at),
            Element::Entry(key) => {
                let table = index(key.table);
                MeterElement::Entry(table, self.tables.get(table)?.key(&key.matches, key.priority))
            }
            Element::Default(table) => MeterElement::Default(index(*table)),
        })
    }

    /// A row as it is now; none if there is no such object.
    fn value(&self, row: &Row) -> Option<Vec<u8>> {
        Some(match row {
            Row::Entry(table, key) => self.tables[*table].entry_row(key)?.encode_to_vec(),
            Row::Default(table) => {
                let table = &self.tables[*table];
                let row = DefaultRow {
                    call: table.default.as_ref().map(CallRow::from),
                    metadata: table.default_metadata.clone(),
                    member: table.default_member,
                };
                (row != DefaultRow::default()).then(|| row.encode_to_vec())?
            }
            Row::Expiry(table, profile) => {
                NumberRow { number: *self.tables[*table].expiry_ns.get(profile)? }.encode_to_vec()
            }
            Row::Member(profile, member) => CallRow::from(self.profiles[*profile].members.get(member)?).encode_to_vec(),
            Row::Group(profile, group) => GroupRow::from(self.profiles[*profile].groups.get(group)?).encode_to_vec(),
            Row::ValueSet(set) => {
                let members = self.value_sets.get(*set).filter(|members| !members.is_empty())?.iter();
                let matches =
                    |member: &Vec<hlir::Match>| MatchesRow { matches: member.iter().map(MatchRow::from).collect() };
                ValueSetRow { members: members.map(matches).collect() }.encode_to_vec()
            }
            Row::Multicast(group) => MulticastRow::from(self.multicast.get(group)?).encode_to_vec(),
            Row::Session(session) => SessionRow::from(self.sessions.get(session)?).encode_to_vec(),
            Row::Meter(meter, element) => RatesRow::from(self.meters.get(&(*meter, element.clone()))?).encode_to_vec(),
            Row::ArrayRates(meter) => RatesRow::from(self.array_rates.get(meter)?).encode_to_vec(),
            Row::Crc(crc) => CrcRow::from(self.crcs.get(crc)?).encode_to_vec(),
            Row::Digest(digest) => DigestRow::from(self.records.digests.get(digest)?).encode_to_vec(),
            Row::Text(type_name, text) => {
                let number = *self.records.texts.get(&(type_name.clone(), text.clone()))?;
                NumberRow { number }.encode_to_vec()
            }
        })
    }
}
