//! What is settled when a packet of the hot path commits: it goes on along the path wherever it did so in the
//! speculative phase. The C compiler is told, so that it drops the checks.

use super::HotPath;
use hlir::NodeKind;

impl HotPath<'_> {
    /// Whether a packet of the hot path goes on along it at a place: it was there in the speculative phase, and lookups
    /// up to there have the same outcome. The default action's record could be another one by now, and so could a
    /// group's member.
    pub(super) fn is_settled(&self, place: usize) -> bool {
        place < self.last() && (0..=place).all(|before| self.has_lasting_outcome(before))
    }

    fn has_lasting_outcome(&self, place: usize) -> bool {
        let NodeKind::Apply { table, .. } = &self.unit.node(self.nodes[place]).kind else { return true };
        let declared = &self.unit.program.tables[*table];
        declared.default_constant && declared.profile.is_none() && !self.unit.learns(*table)
    }
}
