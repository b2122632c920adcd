//! Checks of tables that share an array: that a word of one key can be told apart by both, and that nothing else stands in it.

use super::{Site, Verifier};
use crate::plan::{JointTables, Plan, Structure};
use crate::text::written_structure;
use crate::{Table, TableId};
use std::collections::HashSet;

impl Verifier<'_> {
    pub(super) fn shares(&mut self, plan: &Plan) {
        let mut sharing: HashSet<&str> = HashSet::new();
        for (index, share) in plan.joints.iter().enumerate() {
            let site = Site::Joint(index as u32);
            for name in [&share.secondary, &share.primary] {
                if !sharing.insert(name) {
                    self.error(site, format!("table `{name}` shares already: an array is of two tables at most"));
                }
            }
            self.share(site, share, plan);
        }
    }

    fn share(&mut self, site: Site, share: &JointTables, plan: &Plan) {
        let Some((guest, guests)) = self.sharing(site, &share.secondary, plan) else { return };
        let Some((owner, owners)) = self.sharing(site, &share.primary, plan) else { return };
        if guests != owners {
            let words = [guests, owners].map(written_structure);
            let message = format!("`{}` is `{}`, and `{}` is `{}`", share.secondary, words[0], share.primary, words[1]);
            self.report(site, message, "tables that share an array have the same structure");
        } else if self.bits_of_key(guest) != self.bits_of_key(owner) {
            let [guest, owner] = [guest, owner].map(|table| self.bits_of_key(table));
            let message =
                format!("keys of `{}` have {guest} bits, those of `{}` {owner}", share.secondary, share.primary);
            self.report(site, message, "tables that share an array have keys of as many bits");
        }
        if share.bits == 0 || share.bits >= JointTables::BITS {
            let message = format!("{} bits are no part of {}", share.bits, JointTables::BITS);
            self.report(site, message, "each table has at least one, for the number of its record");
        }
    }

    /// A table that a plan lets share an array, and its structure, if it can.
    fn sharing(&mut self, site: Site, name: &str, plan: &Plan) -> Option<(TableId, Structure)> {
        let found = self.program.tables.iter().find(|(_, table)| table.name == name);
        let Some((id, table)) = found else {
            self.error(site, format!("the program has no table `{name}`"));
            return None;
        };
        let Some(planned) = plan.tables.iter().find(|planned| planned.table == name) else {
            let hint = format!("write `table {name}: exact48`, or what else both tables have");
            self.report(site, format!("the plan does not say which structure `{name}` has"), &hint);
            return None;
        };
        if !matches!(planned.structure, Structure::Exact48 | Structure::Exact60) {
            let message = format!("`{name}` is `{}`", written_structure(planned.structure));
            self.report(site, message, "only tables of structure `exact48` or `exact60` share an array");
            return None;
        }
        if let Some(why) = self.is_by_itself(id, table) {
            self.report(site, format!("`{name}` can share no array"), why);
            return None;
        }
        Some((id, planned.structure))
    }

    /// Why nothing else may stand where this table's entries do.
    fn is_by_itself(&self, id: TableId, table: &Table) -> Option<&'static str> {
        if table.add_on_miss {
            // Nor could it be told who waits for whom: a worker that inserts is known by its table.
            return Some("packets put entries into it");
        }
        self.program
            .has_own_records(id)
            .then_some("its entries are counted, metered or aged, so each has a number of its own")
    }

    fn bits_of_key(&self, table: TableId) -> u32 {
        self.key_widths(&self.program.tables[table]).iter().map(|(_, width)| width).sum()
    }
}
