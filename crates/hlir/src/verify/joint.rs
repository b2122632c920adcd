//! Checks of joint exact tables: both can find their part of a key's word, and nothing else is stored in it.

use super::{Site, Verifier};
use crate::plan::{JointTables, Plan, Structure};
use crate::text::written_structure;
use crate::{Table, TableId};
use std::collections::HashSet;

impl Verifier<'_> {
    pub(super) fn shares(&mut self, plan: &Plan) {
        let mut joinable: HashSet<&str> = HashSet::new();
        for (index, joint) in plan.joints.iter().enumerate() {
            let site = Site::Joint(index as u32);
            for name in [&joint.secondary, &joint.primary] {
                if !joinable.insert(name) {
                    self.error(site, format!("table `{name}` is joint already: at most two tables have one array"));
                }
            }
            self.joint(site, joint, plan);
        }
    }

    fn joint(&mut self, site: Site, joint: &JointTables, plan: &Plan) {
        let Some((secondary, secondary_bits)) = self.joinable(site, &joint.secondary, plan) else { return };
        let Some((primary, primary_bits)) = self.joinable(site, &joint.primary, plan) else { return };
        if secondary_bits != primary_bits {
            let words = [secondary_bits, primary_bits].map(written_structure);
            let message = format!("`{}` is `{}`, and `{}` is `{}`", joint.secondary, words[0], joint.primary, words[1]);
            self.report(site, message, "joint tables have the same structure");
        } else if self.bits_of_key(secondary) != self.bits_of_key(primary) {
            let [secondary, primary] = [secondary, primary].map(|table| self.bits_of_key(table));
            let message =
                format!("keys of `{}` have {secondary} bits, those of `{}` {primary}", joint.secondary, joint.primary);
            self.report(site, message, "joint tables have keys of the same width");
        }
        if joint.bits == 0 || joint.bits >= JointTables::BITS {
            let message = format!("{} bits are no part of {}", joint.bits, JointTables::BITS);
            self.report(site, message, "each table has at least one, for the number of its record");
        }
    }

    /// A table of a joint array with its structure, if that is possible.
    fn joinable(&mut self, site: Site, name: &str, plan: &Plan) -> Option<(TableId, Structure)> {
        let found = self.program.tables.iter().find(|(_, table)| table.name == name);
        let Some((id, table)) = found else {
            self.error(site, format!("the program has no table `{name}`"));
            return None;
        };
        let Some(planned) = plan.tables.iter().find(|planned| planned.table == name) else {
            let hint = format!("write `table {name}: exact48`, or what else both tables have");
            self.report(site, format!("the plan has no structure for `{name}`"), &hint);
            return None;
        };
        if !planned.structure.traits().can_be_joint {
            let message = format!("`{name}` is `{}`", written_structure(planned.structure));
            self.report(site, message, "only tables of structure `exact48` or `exact60` can be joint");
            return None;
        }
        if let Some(why) = self.is_by_itself(id, table) {
            self.report(site, format!("`{name}` cannot be joint"), why);
            return None;
        }
        Some((id, planned.structure))
    }

    /// Why a table cannot be joint.
    fn is_by_itself(&self, id: TableId, table: &Table) -> Option<&'static str> {
        if table.add_on_miss {
            // Besides, concurrent insertions of two tables could not be ordered.
            return Some("packets insert entries into it");
        }
        self.program
            .has_own_records(id)
            .then_some("its entries are counted, metered or aged, so each has a number of its own")
    }

    fn bits_of_key(&self, table: TableId) -> u32 {
        self.key_widths(&self.program.tables[table]).iter().map(|(_, width)| width).sum()
    }
}
