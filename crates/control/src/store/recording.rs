//! Records of a controller: what it attaches to entries and default actions, how it wants digests, the rates of direct meters' arrays,
//! and the numbers of texts.

use super::{Store, id_of, index};
use crate::plane::{DigestConfig, MeterRates};
use crate::{Record, Refusal, Update};
use hlir::{DigestId, MeterId, TableId};
use std::collections::BTreeMap;

impl Store {
    /// What is attached to a table's default action.
    pub fn default_metadata(&self, table: TableId) -> &[u8] {
        &self.tables[index(table)].default_metadata
    }

    /// How the records of a digest are wanted; none for not at all.
    pub fn digest(&self, digest: DigestId) -> Option<DigestConfig> {
        self.records.digests.get(&index(digest)).copied()
    }

    /// The digests whose records are wanted.
    pub fn digests(&self) -> impl Iterator<Item = (DigestId, DigestConfig)> {
        self.records.digests.iter().map(|(digest, config)| (id_of(*digest), *config))
    }

    /// The rates that new entries get in a direct meter; none for green. Clients of BMv2's Thrift set them for the whole array.
    pub fn array_rates(&self, meter: MeterId) -> Option<MeterRates> {
        self.array_rates.get(&index(meter)).copied()
    }

    /// The numbers of texts, with the names of their types.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.records.texts.iter().map(|((type_name, text), number)| (type_name.as_str(), text.as_str(), *number))
    }

    /// Keeps a record. Gives the one that was there.
    pub(super) fn record(&mut self, record: &Record) -> Result<Update, Refusal> {
        let before = match record {
            Record::Metadata { key, metadata } => {
                self.check_entry(key)?;
                let table = &mut self.tables[index(key.table)];
                let packed = table.key(&key.matches, key.priority);
                Record::Metadata { key: key.clone(), metadata: table.set_metadata(&packed, metadata) }
            }
            Record::DefaultMetadata { table, metadata } => {
                let kept = &mut self.tables[index(*table)].default_metadata;
                Record::DefaultMetadata { table: *table, metadata: std::mem::replace(kept, metadata.clone()) }
            }
            Record::DefaultMember { table, member } => {
                self.check_default_member(*table, *member)?;
                let kept = &mut self.tables[index(*table)].default_member;
                Record::DefaultMember { table: *table, member: std::mem::replace(kept, *member) }
            }
            Record::ArrayRates { meter, rates } => {
                let rates = put(&mut self.array_rates, index(*meter), *rates);
                Record::ArrayRates { meter: *meter, rates }
            }
            Record::Digest { digest, config } => {
                let config = put(&mut self.records.digests, index(*digest), *config);
                Record::Digest { digest: *digest, config }
            }
            Record::Text { type_name, text, number } => {
                let number = put(&mut self.records.texts, (type_name.clone(), text.clone()), *number);
                Record::Text { type_name: type_name.clone(), text: text.clone(), number }
            }
        };
        Ok(Update::Record(before))
    }

    /// The records of digests, meters, texts and default actions for another program: those of names that it has.
    pub(super) fn carry_records(&self, new: &mut Store) {
        for (id, declared) in self.program.digests.iter() {
            let found = new.program.digests.iter().find(|(_, digest)| digest.name == declared.name);
            if let Some((digest, config)) = found.map(|(digest, _)| digest).zip(self.digest(id)) {
                new.records.digests.insert(index(digest), config);
            }
        }
        for (id, declared) in self.program.meters.iter() {
            let is_it = |meter: &hlir::Meter| meter.name == declared.name && meter.table.is_some();
            let found = new.program.meters.iter().find(|(_, meter)| is_it(meter));
            if let Some((meter, rates)) = found.map(|(meter, _)| meter).zip(self.array_rates(id)) {
                new.array_rates.insert(index(meter), rates);
            }
        }
        for (id, declared) in self.program.tables.iter() {
            let found = new.program.tables.iter().find(|(_, table)| table.name == declared.name);
            let Some((table, _)) = found else { continue };
            new.tables[index(table)].default_metadata.clone_from(&self.tables[index(id)].default_metadata);
            new.tables[index(table)].default_member = self.tables[index(id)].default_member;
        }
        new.records.texts.clone_from(&self.records.texts);
    }
}

fn put<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}
