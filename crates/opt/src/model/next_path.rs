//! Further hot paths: what it changes that packets which leave the paths before take the stages of another one, rather
//! than the plain program.
//!
//! Of all packets, `x` come to a path, and `y` follow it to its last stage. From a group of `G` packets come `g = x · G`.
//!
//! ```text
//! N = x · (pick + Σ stages (loops · c_loop / g + (keys + state) · c_op) + c_loop / g) + vector
//!     + (x − y) · ½ · w_before · c_op
//!     − y · (c_br · (1 + Σ u_n) + (60 + 7 + 6 · known) · c_op) + Σ staged lookups y · (t_staged − t_plain − saved)
//! ```
//!
//! The first line is what the stages take, the second what is done twice, the third what is saved: side exits, mispredicted
//! branches up to the last stage, and stalls.

use super::Model;
use super::lookups::Lookups;
use super::stage::StageCosts;
use crate::analyze::drops::node_index;
use hlir::Plan;

/// Operations that copy a packet's address and length to a burst of its own, and its port back.
pub(super) const PICKED: f64 = 12.0;

impl Model<'_> {
    /// Cycles per packet of all next paths of a plan: negative where they save some.
    pub(super) fn next_paths(&self, plan: &Plan, lookups: &Lookups) -> f64 {
        if plan.next_paths.is_empty() {
            return 0.0;
        }
        let mut left = 1.0 - self.share_in_stages(plan);
        let mut sum = 0.0;
        for number in 0..plan.next_paths.len() {
            let mut path = plan.of_next_path(number);
            let stays = self.share_in_stages(&path).min(left);
            for stage in &mut path.loops {
                stage.group = ((left * f64::from(stage.group)).round() as u32).max(1);
            }
            sum += self.next_path(&path, (left, stays), lookups);
            left -= stays;
        }
        sum
    }

    /// Those of one path, whose plan has groups of the packets that come to it.
    fn next_path(&self, plan: &Plan, (comes, stays): (f64, f64), lookups: &Lookups) -> f64 {
        let operation = self.inputs.machine.stages().operation_cycles;
        let StageCosts { lookups: staged, .. } = self.staged(plan, lookups);
        let stalls = staged.iter().map(|cost| {
            let lookup = &lookups[cost.number];
            cost.memory - cost.saved - lookup.share * lookups.classes.unstaged_stalls(self, lookup)
        });
        let exit = self.side_exit_cycles();
        comes * (PICKED * operation) + self.staging_of_next(plan, (comes, stays), lookups)
            - stays * (exit + self.branches_of_next(plan))
            + stalls.sum::<f64>()
    }

    /// Cycles of mispredicted branches, for a packet, up to the last stage: a stage has none for each packet.
    fn branches_of_next(&self, plan: &Plan) -> f64 {
        let path = self.path_or_empty(plan);
        let last = path.names.stages(plan).iter().map(|stage| stage.place).max().unwrap_or(0);
        let rates = path.iter().take(last).map(|node| self.misprediction_rates[node_index(*node)]);
        rates.sum::<f64>() * self.inputs.machine.mispredict_cycles
    }
}
