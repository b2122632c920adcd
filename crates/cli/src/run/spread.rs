//! Several workers and a program's state: how packets come to the workers of their flows. A program whose flows would not see their state as with one worker is
//! refused.

use clap::ValueEnum;
use hlir::Program;
use opt::analyze::origin::Origin;
use opt::analyze::sharing::{self, Sharing, Workers};
use opt::analyze::spread::{self, At, Step};
use runtime::{SpreadKind, SpreadStep};

/// What spreads packets over workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Spread {
    /// The NICs spread packets by what the program's state needs
    Nic,
    /// The workers: one that receives a packet of another one hands it over
    Software,
    /// Any way: of two concurrent updates, one may be lost
    Any,
}

/// The workers of a switch, and the user's settings of them.
#[derive(Clone, Copy, Debug)]
pub struct Spreading {
    pub workers: u32,
    pub by: Option<Spread>,
}

/// How packets come to the workers of a program.
#[derive(Clone, Debug, Default)]
pub struct Spreads {
    /// By which workers hand packets over: none where they keep what they receive.
    pub steps: Vec<SpreadStep>,
    /// What the user should know.
    pub note: Option<String>,
}

const WHY: &str = "`bacus explain --all` has each object's class, docs/run.md what it means";

impl Spreading {
    /// How the packets of a program come to its workers.
    ///
    /// # Errors
    /// So many workers would not keep the program's state as one does.
    pub fn of(&self, program: &Program) -> Result<Spreads, String> {
        let workers = self.workers;
        if workers == 1 || self.by == Some(Spread::Any) {
            return Ok(Spreads::default());
        }
        let objects = sharing::objects(program);
        match sharing::workers(&objects) {
            Workers::Any => Ok(self.of_any()),
            Workers::SpreadBy(_) if self.by == Some(Spread::Nic) => Ok(Spreads::default()),
            Workers::SpreadBy(origin) => self.by_fields(program, &origin),
            Workers::One(why) if objects.iter().all(may_lock) => {
                let note = Some(format!("warning: --workers {workers}: {why}\nhint: {WHY}"));
                Ok(Spreads { note, ..self.of_any() })
            }
            Workers::One(why) => {
                let way = "start one worker, or add --spread any where a lost update does no harm";
                Err(format!("--workers {workers}: state asks for one worker: {why}\nhint: {way}; {WHY}"))
            }
        }
    }

    /// Where state is right on any worker, its packets are spread if the user asks for it.
    fn of_any(&self) -> Spreads {
        let steps = if self.by == Some(Spread::Software) { raw(&spread::flows()) } else { Vec::new() };
        Spreads { steps, note: None }
    }

    fn by_fields(&self, program: &Program, origin: &Origin) -> Result<Spreads, String> {
        let found = match origin.fields.is_empty() {
            true => Err("it is computed, and workers read fields".to_string()),
            false => spread::steps(program, &origin.fields),
        };
        let (workers, by) = (self.workers, &origin.text);
        match found {
            Ok(steps) => {
                let more = "--spread nic is faster where the NICs spread them so";
                let note = format!("note: --workers {workers}: the workers spread packets by {by}; {more}");
                Ok(Spreads { steps: raw(&steps), note: self.by.is_none().then_some(note) })
            }
            Err(why) => {
                let way = "make the NICs spread them so and add --spread nic, or start one worker";
                let text =
                    format!("state is right only if packets are spread by {by}, which the workers cannot do: {why}");
                Err(format!("--workers {workers}: {text}\nhint: {way}; {WHY}"))
            }
        }
    }
}

/// Functions of externs may lock by themselves, which the program does not show.
fn may_lock(shared: &sharing::Shared) -> bool {
    shared.object.starts_with("extern ") || !matches!(shared.sharing, Sharing::OneWorker(_))
}

/// Steps as a port layer has them.
fn raw(steps: &[Step]) -> Vec<SpreadStep> {
    let of = |kind, at, otherwise, (mask, low, high)| {
        let (bit, width) = if let At::Packet { bit, width } = at { (bit, width) } else { (0, 0) };
        SpreadStep { kind, bit, width, otherwise, mask, low, high }
    };
    let step = |step: &Step| match step {
        Step::Test { at, mask, low, high, otherwise } => {
            of(SpreadKind::Test, *at, *otherwise as u32, (*mask, *low, *high))
        }
        Step::Mix(at) => of(SpreadKind::Mix, *at, 0, (0, 0, 0)),
        Step::Done => of(SpreadKind::Done, At::Port, 0, (0, 0, 0)),
        Step::Keep => of(SpreadKind::Keep, At::Port, 0, (0, 0, 0)),
    };
    steps.iter().map(step).collect()
}
