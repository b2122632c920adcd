//! The schedule of a plan as it is carried out: with vector code of the first stage if the plan has it so, and accesses
//! to the packet as the plan has them.

use crate::access::Accesses;
use crate::text::Part;
use crate::{Lanes, LanesExits, Obstacle, Schedule, Value};
use hlir::Program;
use hlir::plan::AccessMode;
use hlir::resolved::ResolvedPlan;

pub struct Planned {
    pub schedule: Schedule,
    /// The first stage as vector code, if the plan has it so; or why it has none.
    pub lanes: Option<Result<Lanes, &'static str>>,
    /// The side exits of the vector code, if some are bulk drops.
    pub exits: Option<LanesExits>,
    mode: AccessMode,
}

impl Planned {
    /// None without a hot path.
    pub fn of(program: &Program, plan: &ResolvedPlan) -> Option<Result<Planned, Obstacle>> {
        let path = plan.path.as_ref()?;
        let mut schedule = match Schedule::of_plan(program, plan)? {
            Ok(schedule) => schedule,
            Err(obstacle) => return Some(Err(obstacle)),
        };
        let lanes = (path.vector > 1).then(|| schedule.vectorized());
        let made = lanes.as_ref().and_then(|lanes| lanes.as_ref().ok());
        let exits = made.and_then(|lanes| schedule.lanes_exits(lanes));
        let mut planned = Planned { schedule, lanes, exits, mode: path.accesses };
        let (first, kept) = (planned.first(), planned.kept());
        planned.schedule.combine_accesses(path.accesses, first, &kept);
        Some(Ok(planned))
    }

    /// The vector code of the first stage.
    pub fn vector(&self) -> Option<&Lanes> {
        self.lanes.as_ref()?.as_ref().ok()
    }

    /// Values of the expected commit that the vector code computes.
    pub fn kept(&self) -> Vec<Value> {
        self.vector().iter().flat_map(|lanes| &lanes.kept).map(|(value, _)| *value).collect()
    }

    /// The first stage that runs packet by packet.
    fn first(&self) -> usize {
        usize::from(self.vector().is_some())
    }

    /// Accesses to the bytes of a packet that follows the hot path, by part.
    pub fn accesses(&self) -> Vec<(Part, Accesses)> {
        let rows = self.vector().map(|lanes| (Part::Stage(0), Accesses::of_rows(&lanes.rows)));
        rows.into_iter().chain(self.schedule.accesses(self.mode, self.first(), &self.kept())).collect()
    }
}
