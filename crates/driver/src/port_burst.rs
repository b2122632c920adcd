//! How many packets a port of the network hands over at once: by a flag, a plan file or the default.

use crate::frontend::Loaded;
use crate::options::Passes;
use crate::plan_file::{PlanFile, PlanFiles};
use hlir::Plan;

/// How many packets a port of the network hands over at once.
pub struct PortBurst {
    flag: Option<u32>,
    /// Whether a file defines how many.
    is_written: bool,
}

impl PortBurst {
    /// Packets taken at once, unless a flag or a file defines how many.
    const DEFAULT: u32 = 32;

    /// With the flag and the files of a command, which the passes get.
    pub fn of(flag: Option<u32>, files: PlanFiles, loaded: &Loaded, passes: &mut Passes) -> PortBurst {
        // As with all that a plan decides: `--plan` replaces the one in the program's file.
        let given = files.written.as_ref().or(loaded.plan.as_ref());
        let is_written = given.into_iter().chain(&files.pinned).any(PlanFile::decides_burst);
        passes.ports.most_burst = flag.unwrap_or(PortBurst::DEFAULT);
        passes.burst = flag;
        passes.files = Some(files);
        PortBurst { flag, is_written }
    }

    /// The burst of a plan for such ports.
    pub fn of_plan(&self, plan: &Plan) -> u32 {
        let burst = if self.is_written && plan.burst > 0 { plan.burst } else { PortBurst::DEFAULT };
        self.flag.unwrap_or(burst)
    }
}
