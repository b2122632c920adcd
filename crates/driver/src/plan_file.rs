//! Plans that a person has written, with the places of their decisions, for messages about them.

use crate::failure::Failure;
use crate::files;
use hlir::diagnostic::Diagnostic;
use hlir::plan::Descriptor;
use hlir::source::{SourceMap, Span};
use hlir::verify::{Places, Site, verify_pins_at, verify_plan_at};
use hlir::{Plan, Program};
use std::path::Path;

#[derive(Clone, Debug)]
pub struct PlanFile {
    pub plan: Plan,
    places: Places,
    map: SourceMap,
}

/// The files that a command's flags name.
#[derive(Clone, Debug, Default)]
pub struct PlanFiles {
    /// Of `--plan`.
    pub written: Option<PlanFile>,
    /// Of `--pin`.
    pub pinned: Option<PlanFile>,
}

impl PlanFiles {
    pub fn read(plan: Option<&Path>, pin: Option<&Path>) -> Result<PlanFiles, Failure> {
        let read = |file: Option<&Path>| file.map(PlanFile::read).transpose();
        Ok(PlanFiles { written: read(plan)?, pinned: read(pin)? })
    }

    pub fn iter(&self) -> impl Iterator<Item = &PlanFile> {
        self.written.iter().chain(&self.pinned)
    }
}

impl PlanFile {
    /// The plan of a file, which may have a program beside it.
    pub fn read(path: &Path) -> Result<PlanFile, Failure> {
        let text = files::text(path)?;
        let map = SourceMap::new(&path.display().to_string(), &text);
        let parsed = hlir::text::parse_file(&text).map_err(|diagnostics| Failure::diagnostics(&diagnostics, &map))?;
        let name = path.display();
        let plan = parsed.plan.ok_or_else(|| Failure::input(format!("{name}: there is no `plan {{ ... }}` in it")))?;
        Ok(PlanFile { plan, places: parsed.places, map })
    }

    /// The plan that followed a program.
    pub fn of(plan: Plan, places: Places, map: SourceMap) -> PlanFile {
        PlanFile { plan, places, map }
    }

    /// The descriptor, if the file has it.
    pub fn descriptor(&self) -> Option<Descriptor> {
        self.places.has(Site::Descriptor).then_some(self.plan.descriptor)
    }

    /// Whether the file decides how many packets a burst has: by its own line, or a stage's batch does.
    pub fn decides_burst(&self) -> bool {
        self.plan.burst > 0 || !self.plan.loops.is_empty()
    }

    /// What is wrong with it for this program, or cannot be emitted, at its place.
    pub fn check(&self, program: &Program) -> Result<(), Failure> {
        self.stop_at(wrong(program, &self.plan, &self.places))
    }

    /// What is wrong with its decisions whatever is planned beside them.
    pub fn check_alone(&self, program: &Program) -> Result<(), Failure> {
        let mut wrong = verify_pins_at(program, &self.plan, &self.places);
        if self.places.has(Site::Burst) && self.plan.burst == 0 {
            let error = Diagnostic::error("the plan: a burst of 0 packets is none to plan for");
            let hint = "pin a burst of at least 1, or leave it out to let it be chosen";
            wrong.push(error.label(self.places.get(Site::Burst), "").hint(hint));
        }
        self.stop_at(wrong)
    }

    /// The same of a plan into which this one's decisions were put. What is wrong is at a decision of this file, or is wrong because of one.
    pub fn check_in(&self, program: &Program, plan: &Plan) -> Result<(), Failure> {
        self.check_alone(program)?;
        let places = self.places_in(plan);
        let wrong = wrong(program, plan, &places).into_iter().map(|error| match error.span().is_none() {
            true => error.label(self.culprit(program, plan), "this does not fit the planned rest"),
            false => error,
        });
        self.stop_at(wrong.collect())
    }

    /// Refuses what the command's ports, or its flags, have decided otherwise.
    pub fn check_ports(&self, descriptor: Option<Descriptor>, burst: Option<u32>) -> Result<(), Failure> {
        let mut wrong = Vec::new();
        if let (Some(written), Some(packets)) = (self.descriptor(), descriptor)
            && written != packets
        {
            let word = hlir::text::written_descriptor;
            let error = Diagnostic::error(format!("the plan: packets are of descriptor `{}` here", word(packets)));
            let error = error.label(self.places.get(Site::Descriptor), format!("not `{}`", word(written)));
            wrong.push(error.hint(
                "leave it out, or give the command another `--descriptor` or `--metadata`, whichever flag it has",
            ));
        }
        if let Some(burst) = burst.filter(|burst| self.places.has(Site::Burst) && *burst != self.plan.burst) {
            let error = Diagnostic::error(format!("the plan: `--burst` is {burst} packets"));
            let error = error.label(self.places.get(Site::Burst), format!("not {}", self.plan.burst));
            wrong.push(error.hint("leave one of them out"));
        }
        self.stop_at(wrong)
    }

    fn stop_at(&self, wrong: Vec<Diagnostic>) -> Result<(), Failure> {
        if wrong.is_empty() { Ok(()) } else { Err(Failure::diagnostics(&wrong, &self.map)) }
    }

    /// The places of a plan's parts in this file; none for those that it does not have.
    fn places_in(&self, plan: &Plan) -> Places {
        let mut places = Places::default();
        let mut put = |to: Site, from: Site| {
            if self.places.has(from) {
                places.set(to, self.places.get(from));
            }
        };
        for site in [Site::Descriptor, Site::Burst, Site::HotPath, Site::Accesses, Site::Instrument] {
            put(site, site);
        }
        let own = &self.plan;
        for (to, from) in pairs(&plan.loops, &own.loops, |lp| &lp.node) {
            put(Site::Loop(to), Site::Loop(from));
            for lookup in 0..own.loops[from as usize].lookups.len() as u32 {
                put(Site::Lookup(to, lookup), Site::Lookup(from, lookup));
            }
            for request in 0..own.loops[from as usize].prefetches.len() as u32 {
                put(Site::Prefetch(to, request), Site::Prefetch(from, request));
            }
        }
        if plan.next_paths == own.next_paths {
            for number in 0..own.next_paths.len() {
                put(Site::NextPath(number as u32), Site::NextPath(number as u32));
            }
        }
        for (to, from) in pairs(&plan.tables, &own.tables, |table| &table.table) {
            put(Site::TablePlan(to), Site::TablePlan(from));
        }
        for (to, from) in pairs(&plan.joints, &own.joints, |share| &share.secondary) {
            put(Site::Joint(to), Site::Joint(from));
        }
        for (to, from) in pairs(&plan.joins, &own.joins, |join| &join.first) {
            put(Site::JoinChoice(to), Site::JoinChoice(from));
        }
        for (to, from) in pairs(&plan.queues, &own.queues, |queue| &queue.node) {
            put(Site::Queue(to), Site::Queue(from));
        }
        if plan.next_paths == own.next_paths {
            (0..own.next_paths.len()).for_each(|number| places.add_next_path(self.places.of_next_path(number)));
        }
        places
    }

    /// The decision of this file without which less would be wrong with a plan; the whole file's, if it is no single one.
    fn culprit(&self, program: &Program, plan: &Plan) -> Span {
        let count = |plan: &Plan| wrong(program, plan, &Places::default()).len();
        let all = count(plan);
        let own = &self.plan;
        let mut without: Vec<(Site, Plan)> = Vec::new();
        for (to, from) in pairs(&plan.loops, &own.loops, |lp| &lp.node) {
            let mut other = plan.clone();
            other.loops.remove(to as usize);
            // Where the file has no burst, it is the batch of its stages.
            other.burst = own.burst;
            without.push((Site::Loop(from), other));
        }
        for (to, from) in pairs(&plan.queues, &own.queues, |queue| &queue.node) {
            let mut other = plan.clone();
            other.queues.remove(to as usize);
            without.push((Site::Queue(from), other));
        }
        for number in 0..own.next_paths.len().min(plan.next_paths.len()) {
            let mut other = plan.clone();
            other.next_paths.remove(number);
            without.push((Site::NextPath(number as u32), other));
        }
        if own.hot_path.is_some() {
            without.push((Site::HotPath, Plan { hot_path: None, next_paths: Vec::new(), ..plan.clone() }));
        }
        let culprit = without.into_iter().find(|(_, other)| count(other) < all).map(|(site, _)| site);
        self.places.get(culprit.unwrap_or(Site::Plan))
    }
}

fn wrong(program: &Program, plan: &Plan, places: &Places) -> Vec<Diagnostic> {
    let wrong = verify_plan_at(program, plan, places);
    if wrong.is_empty() { emit::refused(program, plan, places) } else { wrong }
}

/// The parts of a plan that are of the same name in this file, by their numbers: the first there with the first here, and so on.
fn pairs<T>(plan: &[T], own: &[T], name: fn(&T) -> &String) -> Vec<(u32, u32)> {
    let mut left: Vec<usize> = (0..own.len()).collect();
    let mut pairs = Vec::new();
    for (to, part) in plan.iter().enumerate() {
        if let Some(at) = left.iter().position(|from| name(&own[*from]) == name(part)) {
            pairs.push((to as u32, left.remove(at) as u32));
        }
    }
    pairs
}
