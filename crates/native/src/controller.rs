//! Operations of a controller on a running switch other than writes: packet-in, packet-out, the age of entries.

use super::aging::hit_ns;
use super::{NativeEngine, table_refusal, translate};
use control::plane::EntryKey;
use control::{Refusal, RefusalKind};
use hlir::{NodeKind, TableId};
use runtime::events::Punted;
use runtime::{InjectError, ResumeError, WorkerPorts};

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Lets the program process a frame as one received by `port`.
    ///
    /// # Errors
    /// The queue is full, the frame too long, or there is no such port.
    pub fn inject(&mut self, port: u32, frame: &[u8]) -> Result<(), Refusal> {
        self.switch.inject(port, frame).map_err(|error| {
            let kind = match error {
                InjectError::Full => RefusalKind::Full,
                InjectError::TooLong { .. } | InjectError::NoPort { .. } => RefusalKind::Wrong,
            };
            Refusal::new(kind, error.to_string())
        })
    }

    /// Nanoseconds since a packet last hit the entry, since its timer was set, or since it was inserted. Tables without idle timeouts do not keep it.
    pub fn since_last_hit_ns(&self, key: &EntryKey) -> Result<u64, Refusal> {
        let declared = &self.program.tables[key.table];
        let Some(number) = self.table_number(key.table).filter(|_| declared.idle_timeout.is_some()) else {
            return Err(Refusal::wrong(format!("table `{}` has no idle timeout", declared.name)));
        };
        let table = &self.switch.tables()[number];
        let matches = translate::matches(table.description(), &key.matches, key.priority)?;
        let entry = table.find(&matches).map_err(|error| table_refusal(&declared.name, error))?;
        let in_joint = self.joint_hits(key.table).map_or(0, |times| hit_ns(&times, entry.counter_index));
        Ok(self.now_ns().saturating_sub(entry.last_hit_ns.max(in_joint)))
    }

    /// The table in which a packet found nothing, and where its lookup is done again; none if the program punted it for another reason.
    pub fn missed_table(&self, punted: &Punted) -> Option<TableId> {
        let name = self.pipeline.description().nodes.get(punted.node as usize)?;
        let mut node = self.compiled.nodes.iter().find(|(_, node)| node.name == *name)?.1;
        while let NodeKind::Block { next, .. } = &node.kind {
            node = &self.compiled.nodes[*next];
        }
        let NodeKind::Apply { table, .. } = &node.kind else { return None };
        let name = &self.compiled.tables[*table].name;
        self.program.tables.iter().find(|(_, table)| table.name == *name).map(|(id, _)| id)
    }

    /// Lets a punted packet go on where it stopped.
    ///
    /// # Errors
    /// `Full`: its worker has to take others first. Otherwise the pipeline that saved it does not run any more.
    pub fn resume(&mut self, punted: &Punted) -> Result<(), Refusal> {
        self.switch.resume(punted).map_err(|error| {
            let kind = match error {
                ResumeError::Full => RefusalKind::Full,
                ResumeError::OtherPipeline => RefusalKind::Missing,
            };
            Refusal::new(kind, error.to_string())
        })
    }
}
