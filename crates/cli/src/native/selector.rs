//! Groups of action selectors: each table of the profile has the members' records as its own entries would have them.

use super::{NativeEngine, Replay, index, table_refusal};
use hlir::entry::EntryAction;
use hlir::{Entry, ProfileId, TableId};
use interp::engine::Refusal;
use runtime::{Lane, abi};

impl<L: Lane> NativeEngine<'_, L> {
    /// What a table has for an entry: an action with its data, or the slot of a group.
    pub(super) fn entry_record(&self, number: usize, id: TableId, entry: &Entry) -> Result<Vec<u8>, Refusal> {
        let EntryAction::Group(group) = entry.action else {
            return self.record(number, id, &self.call_of(id, entry)?);
        };
        let table = &self.switch.tables()[number];
        let slot = table.group_slot(group).ok_or_else(|| Refusal::wrong(format!("there is no group {group}")))?;
        let at = table.description().group_offset as usize;
        let mut record = vec![0u8; table.description().record_bytes as usize];
        record[..4].copy_from_slice(&abi::SELECTOR_GROUP.to_le_bytes());
        record[at..at + 4].copy_from_slice(&slot.to_le_bytes());
        Ok(record)
    }

    /// The records of a group's members in one table.
    fn group_records(&self, number: usize, id: TableId, members: &[u32]) -> Result<Vec<Vec<u8>>, Refusal> {
        let profile = self.program.tables[id].profile.map_or(0, |profile| index(profile) as u32);
        let record = |member: &u32| {
            let call = self.members.get(&(profile, *member));
            self.record(number, id, call.ok_or_else(|| Refusal::wrong(format!("there is no member {member}")))?)
        };
        members.iter().map(record).collect()
    }

    /// Leaves every table of the profile with what the group has now.
    pub(super) fn write_group(&self, profile: ProfileId, group: u32) -> Result<(), Refusal> {
        let users = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        for (id, declared) in users {
            let Some(number) = self.table_number(id) else { continue };
            let members = self.groups.get(&(index(profile) as u32, group));
            let records = members.map(|members| self.group_records(number, id, members)).transpose()?;
            let written = self.switch.tables()[number].set_group(group, records.as_deref());
            written.map_err(|error| table_refusal(&declared.name, error))?;
        }
        Ok(())
    }

    /// A table that is new has no groups: all of its profile are written to it.
    pub(super) fn write_groups(&self, number: usize, id: TableId) -> Result<(), Refusal> {
        let declared = &self.program.tables[id];
        let Some(profile) = declared.profile.map(|profile| index(profile) as u32) else { return Ok(()) };
        for ((_, group), members) in self.groups.range((profile, 0)..=(profile, u32::MAX)) {
            let records = self.group_records(number, id, members)?;
            let written = self.switch.tables()[number].set_group(*group, Some(&records));
            written.map_err(|error| table_refusal(&declared.name, error))?;
        }
        Ok(())
    }
}

impl<L: Replay> NativeEngine<'_, L> {
    /// Members of groups follow when a member changes.
    pub(super) fn rewrite_groups_of(&self, profile: ProfileId, member: u32) -> Result<(), Refusal> {
        let of_profile = (index(profile) as u32, 0)..=(index(profile) as u32, u32::MAX);
        let using = self.groups.range(of_profile).filter(|(_, members)| members.contains(&member));
        let groups: Vec<u32> = using.map(|((_, group), _)| *group).collect();
        groups.into_iter().try_for_each(|group| self.write_group(profile, group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Native, Passes, Source};
    use crate::{compile, entries, frontend};
    use hlir::ActionCall;
    use interp::Engine;
    use runtime::{Buffers, MemoryPort, Settings, Trace};
    use std::path::{Path, PathBuf};

    const GROUP: &str = "\
member paths 1 send(port:1, mark:1)
member paths 2 send(port:2, mark:2)
group paths 7 1 2
add spread hdr.flow.kind:1 group=7
";

    #[test]
    fn members_and_groups_change_under_traffic_and_every_packet_finds_one() {
        const PACKETS: u64 = 200_000;
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures/v1model_selectors.p4");
        let loaded = frontend::load(&Source::plain(&program)).expect("the test's program is one");
        let program = loaded.program.clone();
        let (pipeline, compiled) = compile::pipeline(loaded, &Passes::default(), &Native::default(), |plan| {
            plan.descriptor = hlir::plan::Descriptor::Own;
            plan.burst = 32;
        })
        .unwrap_or_else(|failure| panic!("it compiles: {failure:?}"));
        let lanes = || (0..2).map(|_| MemoryPort::new(Buffers::default())).collect();
        let settings = Settings { ports: 8, seed: 0 };
        let mut engine = NativeEngine::new((&program, &compiled), pipeline, settings, lanes).unwrap();
        let file: PathBuf = std::env::temp_dir().join(format!("bacus-selector-{}.stf", std::process::id()));
        std::fs::write(&file, GROUP).unwrap();
        entries::configure(&program, &file, &mut engine).unwrap();
        std::fs::remove_file(&file).unwrap();
        let (profile, _) = program.profiles.iter().find(|(_, profile)| profile.selector.is_some()).unwrap();
        for worker in 0..2 {
            let frames = [[1u8, 0, 1, 0], [1, 0, 2, 0], [1, 0, 3, 0]];
            let trace = Trace::new(frames.iter().map(|frame| (0, frame.as_slice())));
            engine.switch().lane(worker).unwrap().load(trace, PACKETS, 0);
        }
        engine.switch().start();
        let send = |port: u32| ActionCall { action: 0, arguments: vec![port.into(), 1u32.into()] };
        let mut changes = 0u32;
        while engine.switch().is_running() || changes < 20 {
            engine.set_member(profile, 1 + changes % 2, &send(1 + changes % 3)).unwrap();
            let members: &[u32] = if changes.is_multiple_of(2) { &[1] } else { &[2, 1, 2] };
            engine.set_group(profile, 7, members).unwrap();
            changes += 1;
        }
        engine.switch().join();
        for worker in 0..2 {
            let counts = engine.switch().lane(worker).unwrap().counts();
            assert_eq!((counts.received, counts.sent), (PACKETS, PACKETS));
            assert!((PACKETS..=3 * PACKETS).contains(&counts.sent_ports), "{} {changes}", counts.sent_ports);
        }
        assert_eq!(engine.switch().drops().iter().sum::<u64>(), 0);
    }
}
