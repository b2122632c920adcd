//! What is compared: a program under several plans, and programs written by hand.
//!
//! A variant is a source of code and a descriptor. Plans are a list, so that a new one is a line.

use super::dpdk_tree::DpdkTree;
use super::entry::{Field, is_named};
use super::experiment::{Case, Experiment};
use super::freertr;
use super::machine_drift::Predictor;
use super::peers;
use super::traffic::Traffic;
use super::workload::{self, Workload};
use crate::options::{Beside, Options};
use control::DataPlane as _;
use control::plane::Frame;
use driver::compile;
use driver::entries;
use driver::externs::{self, Externs};
use driver::failure::Failure;
use driver::files;
use driver::frontend::{self, Loaded};
use driver::inputs;
use driver::options::Native;
use driver::plan_file::PlanFile;
use hlir::facts::Assumption;
use hlir::table::action_bit;
use hlir::{Plan, Program};
use native::translate;
use opt::inputs::prefix_coverage::Counter;
use opt::inputs::{Content, Cuts, Joins, KeySketch, Machine, Occupancy, Ports};
use opt::rewrite::join::with_joint_contents;
use opt::{Inputs, Run, Selection};
use runtime::{Descriptor, Pipeline};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The best plan of the program specialised for what its tables hold, and the plain one.
pub const SPECIALISED: &str = "specialised";
pub const SPECIALISED_PLAIN: &str = "specialised-plain";
/// The same program with stages wherever it can have them: a running switch measures both, and keeps the faster one.
pub const SPECIALISED_STAGED: &str = "specialised-staged";
/// The same, where entries that most packets hit are compared before the lookup.
pub const SPECIALISED_LEADING: &str = "specialised-leading";
/// Packets that the interpreter follows, to count the hits of entries.
const FOLLOWED: usize = 2048;

#[derive(Clone, Debug)]
pub enum Origin {
    /// Packet by packet, each table as its keys suggest.
    Plain,
    /// What the planners choose for this machine and these tables.
    Best,
    /// The same, with what a driver writes to mbufs copied into own descriptors.
    Copying,
    /// The program specialised for what its tables hold, with these passes beside.
    Specialised(Selection, Cuts),
    /// The same, where entries that most packets hit are compared before the lookup.
    Leading,
    /// A plan that a person has pinned.
    Pinned(PathBuf),
    /// A plan of an experiment.
    Made(Box<Plan>),
    /// Joins of an experiment, and how the program runs with them.
    Joined(Box<super::joins::Choice>),
    ByHand(&'static peers::Source),
}

impl Origin {
    /// Whether its port copies descriptors.
    pub fn copies(&self) -> bool {
        matches!(self, Origin::Copying)
    }
}

#[derive(Clone, Debug)]
pub struct Variant {
    pub name: String,
    pub origin: Origin,
    pub descriptor: Descriptor,
}

/// A variant that can be run, and the prediction of its cost.
pub struct Built {
    pub pipeline: Arc<Pipeline>,
    pub predictor: Option<Predictor>,
    /// Of one of ours: the program as its user wrote it, and as it was compiled.
    pub programs: Option<(Arc<Program>, Program)>,
    /// Of one by hand: records of default actions, by table.
    pub defaults: Vec<(usize, Vec<u8>)>,
    /// Its tries have path compression.
    pub compressed: bool,
}

fn suffixed(name: &str, descriptor: Descriptor) -> String {
    match descriptor {
        Descriptor::Own => name.to_string(),
        Descriptor::Mbuf => format!("{name}-mbuf"),
    }
}

/// A program of SWX is another peer if the library interprets it.
fn peer_name(source: &peers::Source, is_generated: bool) -> String {
    let how = if source.specification.is_some() && !is_generated { "-interpreted" } else { "" };
    format!("peer:{}{how}", source.name)
}

/// All variants of an application at a size: `plain` with the own descriptor first, which the others' packets are compared with.
pub fn of(case: &Case, size: u64, options: &Options) -> Vec<Variant> {
    let mut variants = Vec::new();
    if options.sweep {
        // The grid is made when the program is known.
        return vec![Variant { name: "plain".to_string(), origin: Origin::Plain, descriptor: Descriptor::Own }];
    }
    if case.experiment == Experiment::Metadata {
        return of_metadata().into_iter().filter(|variant| is_wanted(variant, options)).collect();
    }
    if let Some(own) = of_own_descriptor(case.experiment) {
        return own.into_iter().filter(|variant| is_wanted(variant, options)).collect();
    }
    for descriptor in [Descriptor::Own, Descriptor::Mbuf] {
        let mut add = |name: &str, origin| {
            variants.push(Variant { name: suffixed(name, descriptor), origin, descriptor });
        };
        add("plain", Origin::Plain);
        add("best", Origin::Best);
        // Made only where they are named: their traffic is counted anew.
        if is_specialised(options) {
            add(SPECIALISED, Origin::Specialised(Selection::All, Cuts::Chosen));
            add(SPECIALISED_STAGED, Origin::Specialised(Selection::All, Cuts::Possible));
            add(SPECIALISED_LEADING, Origin::Leading);
            add(SPECIALISED_PLAIN, Origin::Specialised(rewrites(), Cuts::Chosen));
        }
        for file in &options.plan {
            let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            add(&name, Origin::Pinned(file.clone()));
        }
    }
    variants.extend(peers::of(&case.application, size).map(|source| Variant {
        name: peer_name(source, options.dpdk.is_some()),
        origin: Origin::ByHand(source),
        descriptor: source.descriptor,
    }));
    if options.beside.is_some() {
        let origin = Origin::ByHand(&peers::FREERTR);
        variants.push(Variant { name: peers::FREERTR_NAME.to_string(), origin, descriptor: Descriptor::Own });
    }
    variants.retain(|variant| is_wanted(variant, options));
    variants
}

/// The best plan with each metadata model.
fn of_metadata() -> Vec<Variant> {
    let variant = |name: &str, origin, descriptor| Variant { name: name.to_string(), origin, descriptor };
    vec![
        variant("plain", Origin::Plain, Descriptor::Own),
        variant("copying", Origin::Copying, Descriptor::Own),
        variant("overlaying", Origin::Best, Descriptor::Mbuf),
        variant("exchange", Origin::Best, Descriptor::Own),
    ]
}

/// Of an experiment that has the own descriptor alone, and makes its own plans when the program is known: what there is beside them.
fn of_own_descriptor(experiment: Experiment) -> Option<Vec<Variant>> {
    let best = match experiment {
        Experiment::Join | Experiment::JoinSweep => Origin::Joined(Box::new(super::joins::Choice::best())),
        Experiment::Gains | Experiment::Ablation | Experiment::BatchSize | Experiment::Predicted => Origin::Best,
        Experiment::Trie(_) | Experiment::Cores | Experiment::Accesses | Experiment::Paths(_) => Origin::Best,
        Experiment::Programs
        | Experiment::Drops(_)
        | Experiment::GainsModel
        | Experiment::Peers
        | Experiment::Forwarders
        | Experiment::Metadata => return None,
    };
    let variant = |name: &str, origin| Variant { name: name.to_string(), origin, descriptor: Descriptor::Own };
    Some(vec![variant("plain", Origin::Plain), variant("best", best)])
}

/// Whether `--only` names a variant that is specialised.
fn is_specialised(options: &Options) -> bool {
    options.only.iter().any(|name| name.starts_with(SPECIALISED))
}

/// Whether a variant is measured with `--only`: `plain` always is.
pub fn is_wanted(variant: &Variant, options: &Options) -> bool {
    variant.name == "plain" || options.only.is_empty() || options.only.contains(&variant.name)
}

/// What is seen of one table: what is counted, hashes of different records and masks, and the names of actions.
#[derive(Default)]
struct Seen {
    content: Content,
    coverage: Option<Counter>,
    keys: Option<KeySketch>,
    records: HashSet<u64>,
    masks: HashSet<u64>,
    actions: BTreeSet<&'static str>,
}

/// The contents of the tables, for the planners, and facts about those whose entries are of files.
fn contents(program: &Program, workload: &Workload) -> Result<(Occupancy, Vec<Assumption>), Failure> {
    let found = |name: &str| program.tables.iter().find(|(_, table)| is_named(&table.name, name));
    let mut seen: BTreeMap<&'static str, Seen> = BTreeMap::new();
    let hash = |value: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        value(&mut hasher);
        hasher.finish()
    };
    (workload.entries)(&mut |entry| {
        let Seen { content, coverage, keys, records, masks, actions } =
            seen.entry(entry.table).or_insert_with(|| Seen {
                coverage: found(entry.table).and_then(|(id, _)| Counter::of(program, id)),
                keys: found(entry.table).and_then(|(id, _)| KeySketch::of(program, id)),
                ..Seen::default()
            });
        content.entries += 1;
        records.insert(hash(&|hasher| (entry.action, entry.arguments).hash(hasher)));
        masks.insert(hash(&|hasher| entry.fields.iter().for_each(|field| field.shape().hash(hasher))));
        actions.insert(entry.action);
        content.long_prefixes += u64::from(entry.fields.iter().any(|field| field.is_long_prefix()));
        if let (Some(counter), [Field::Lpm { value, prefix }]) = (coverage, entry.fields) {
            counter.add(*value as u32, *prefix);
        }
        let exact = |field: &Field| match field {
            Field::Exact(value) => *value as u64,
            Field::Wide(limbs) => limbs[0],
            Field::Lpm { .. } | Field::Ternary { .. } | Field::Range { .. } | Field::Any => 0,
        };
        keys.iter_mut().for_each(|keys| keys.add(entry.fields.iter().map(exact)));
        Ok(())
    })?;
    let (of_files, mut facts) = entries::contents(program, &workload.files)?;
    let mut occupancy = Occupancy { others_are_empty: true, ..of_files };
    for (name, Seen { mut content, coverage, keys, records, masks, actions }) in seen {
        content.coverage = coverage.and_then(|counter| counter.coverage(content.entries));
        content.records = records.len() as u64;
        content.masks = masks.len() as u64;
        content.is_known = true;
        if let Some((id, table)) = found(name) {
            facts.retain(|fact| fact.table != id);
            let numbered = table.actions.iter().enumerate();
            let run = numbered.filter(|(_, action)| actions.iter().any(|run| is_named(&action.name, run)));
            content.actions = run.fold(0, |set, (number, _)| set | action_bit(number));
            occupancy.tables.insert(table.name.clone(), content);
            occupancy.keys.extend(keys.map(|keys| (table.name.clone(), keys)));
        }
    }
    Ok((occupancy, facts))
}

/// That entries which most packets hit win before others. None where entries are not commands.
fn frequent(program: &Program, workload: &Workload) -> Result<Vec<Assumption>, Failure> {
    let are_commands =
        |origin: &entries::Origin| matches!(origin, entries::Origin::File(file) if entries::are_commands(file));
    if !workload.files.iter().all(are_commands) {
        return Ok(Vec::new());
    }
    let mut interpreter = interp::Switch::new(program, 0, interp::PORTS);
    for origin in &workload.files {
        if let entries::Origin::File(file) = origin {
            entries::configure(program, file, &mut interpreter)?;
        }
    }
    let trace = (workload.trace)(Traffic::Uniform);
    let frame = |packet: runtime::Packet| Frame { port: packet.port.into(), bytes: packet.bytes };
    let frames: Vec<Frame> = trace.packets().take(FOLLOWED).map(frame).collect();
    interpreter.start_counts();
    interpreter.process(&frames).map_err(|refusal| Failure::refusal("the packets", &refusal))?;
    Ok(driver::frequent::leading(&interpreter, interpreter.store()))
}

/// A program and the tables it is measured with: what is the same for all of its variants.
pub struct Subject {
    program: Arc<Program>,
    inputs: Inputs,
    native: Native,
    /// Of the program's own externs.
    externs: Externs,
    tree: Option<DpdkTree>,
    beside: Option<Beside>,
    /// With facts, and the traffic of the program that they leave.
    specialised: Option<Inputs>,
    /// The same with the entries that most packets hit, if there are such entries.
    leading: Option<Inputs>,
}

impl Subject {
    pub fn new(workload: &Workload, options: &Options) -> Result<Subject, Failure> {
        let Loaded { program, plan: _ } = frontend::load(&workload.source)?;
        let mut native = options.native.clone();
        native.externs.extend(workload.externs.iter().cloned());
        let externs = externs::find(&program, &native)?;
        let (occupancy, facts) = contents(&program, workload)?;
        let machine = inputs::machine(options.machine.as_deref());
        let profile = Some(super::profile::profile((&program, &program), workload, (&native, &externs))?);
        let ports = Ports { stream: Some(workload.stream), ..Ports::default() };
        let inputs = Inputs { machine, occupancy, profile, ports, ..Inputs::default() };
        let tree = options.dpdk.as_deref().map(DpdkTree::open).transpose()?;
        let counted = |inputs: &Inputs| {
            let mut left = program.clone();
            opt::optimize(&mut left, &mut Plan::default(), inputs, &Selection::All.counting(), None);
            let profile = super::profile::profile((&program, &left), workload, (&native, &externs))?;
            Ok::<_, Failure>((Inputs { profile: Some(profile), ..inputs.clone() }, left))
        };
        let (mut specialised, mut leading) = (None, None);
        if is_specialised(options) {
            let (inputs, left) = counted(&Inputs { facts, ..inputs.clone() })?;
            let frequent = frequent(&left, workload)?;
            if !frequent.is_empty() {
                leading =
                    Some(counted(&Inputs { facts: [&inputs.facts[..], &frequent].concat(), ..inputs.clone() })?.0);
            }
            specialised = Some(inputs);
        }
        Ok(Subject {
            program: Arc::new(program),
            inputs,
            native,
            externs,
            tree,
            beside: options.beside.clone(),
            specialised,
            leading,
        })
    }

    /// The program as its user wrote it.
    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn native(&self) -> &Native {
        &self.native
    }

    /// The plans of a sweep, the picks whatever is wanted beside them.
    pub fn grid(&self, options: &Options) -> Vec<Variant> {
        let mut points = self.made(super::sweep::grid);
        points.retain(|point| point.name.starts_with(super::sweep::PICKED) || is_wanted(point, options));
        points
    }

    /// The plans of which gains are measured.
    pub fn gains(&self) -> Vec<Variant> {
        self.made(super::speedup::plans)
    }

    /// The joins whose gains are measured.
    pub fn joins(&self) -> Vec<Variant> {
        let mut inputs = self.inputs.clone();
        inputs.ports.own_descriptor = true;
        let variant = |choice: super::joins::Choice| Variant {
            name: choice.name.clone(),
            origin: Origin::Joined(Box::new(choice)),
            descriptor: Descriptor::Own,
        };
        super::joins::choices(&self.program, &inputs).into_iter().map(variant).collect()
    }

    /// Each transformation with and without joins, on the papers' structures; with copies of packets, also by the burst at entry.
    pub fn ablation(&self) -> Vec<Variant> {
        let mut inputs = self.inputs.clone();
        inputs.ports.own_descriptor = true;
        let variant = |choice: super::joins::Choice| Variant {
            name: choice.name.clone(),
            origin: Origin::Joined(Box::new(choice)),
            descriptor: Descriptor::Own,
        };
        let mut variants: Vec<Variant> =
            super::joins::transformations(&self.program, &inputs).into_iter().map(variant).collect();
        if self.program.name.contains("chatserver") {
            variants.extend(self.made(super::papers::plans::entry_bursts));
        }
        variants
    }

    /// The program as passes leave it that change it, and what planners consult about it.
    pub fn rewritten(&self) -> (Program, Inputs) {
        let mut program = (*self.program).clone();
        opt::optimize(&mut program, &mut Plan::default(), &self.inputs, &rewrites(), None);
        let mut inputs = self.inputs.clone();
        inputs.ports.own_descriptor = true;
        (program, inputs)
    }

    pub fn made(&self, make: fn(&Program, &Inputs) -> Vec<super::sweep::Point>) -> Vec<Variant> {
        let (program, inputs) = self.rewritten();
        let variant = |point: super::sweep::Point| Variant {
            name: point.name,
            origin: Origin::Made(Box::new(point.plan)),
            descriptor: Descriptor::Own,
        };
        make(&program, &inputs).into_iter().map(variant).collect()
    }

    /// The machine that plans are made for.
    pub fn machine(&self) -> &Machine {
        &self.inputs.machine
    }

    pub fn build(&self, variant: &Variant) -> Result<Built, Failure> {
        match &variant.origin {
            Origin::Plain => self.planned(variant.descriptor, &rewrites(), None),
            Origin::Best | Origin::Copying => self.planned(variant.descriptor, &Selection::All, None),
            Origin::Specialised(passes, cuts) => {
                let inputs = self.specialised.as_ref().unwrap_or(&self.inputs);
                let inputs = Inputs { cuts: *cuts, ..inputs.clone() };
                self.planned_for(&inputs, (variant.descriptor, passes), None)
            }
            Origin::Leading => {
                let none = || Failure::input("no table has entries that most packets hit");
                let inputs = Inputs { cuts: Cuts::Possible, ..self.leading.clone().ok_or_else(none)? };
                self.planned_for(&inputs, (variant.descriptor, &Selection::All), None)
            }
            Origin::Pinned(file) => self.planned(variant.descriptor, &rewrites(), Some(self.written(file)?)),
            Origin::Made(plan) => {
                let built = self.planned(variant.descriptor, &rewrites(), Some((**plan).clone()))?;
                Ok(Built { compressed: variant.name != super::papers::plans::UNCOMPRESSED, ..built })
            }
            Origin::Joined(choice) => {
                let mut inputs = self.inputs.clone();
                inputs.ports.own_descriptor = variant.descriptor == Descriptor::Own;
                let (program, plan, inputs) = choice.planned(&self.program, &inputs);
                self.built(variant.descriptor, program, plan, inputs)
            }
            Origin::ByHand(source) => {
                let files = self.beside.iter().filter(|_| source.name == peers::FREERTR.name);
                let flags: Vec<String> = files.map(freertr::flags).collect::<Result<Vec<_>, _>>()?.concat();
                let pipeline = by_hand(source, (&self.native, &flags), self.tree.as_ref())?;
                let defaults = self.defaults(&pipeline)?;
                Ok(Built { pipeline, predictor: None, programs: None, defaults, compressed: true })
            }
        }
    }

    /// The plan of a file, if it suits the program.
    fn written(&self, file: &Path) -> Result<Plan, Failure> {
        let written = PlanFile::read(file)?;
        written.check(&self.rewritten().0)?;
        Ok(written.plan)
    }

    /// What the program does with packets that no entry matches.
    fn defaults(&self, pipeline: &Pipeline) -> Result<Vec<(usize, Vec<u8>)>, Failure> {
        let mut defaults = Vec::new();
        for (number, described) in pipeline.description().tables.iter().enumerate() {
            let Some((_, table)) = self.program.tables.iter().find(|(_, table)| table.name == described.name) else {
                continue;
            };
            let call = &table.default;
            let action = translate::action_number(described, &table.actions[call.action as usize].name);
            let action = action.map_err(|refusal| Failure::refusal(&table.name, &refusal))?;
            defaults.push((number, translate::record(described, action, call)));
        }
        Ok(defaults)
    }

    fn planned(&self, descriptor: Descriptor, passes: &Selection, pinned: Option<Plan>) -> Result<Built, Failure> {
        self.planned_for(&self.inputs, (descriptor, passes), pinned)
    }

    fn planned_for(
        &self,
        inputs: &Inputs,
        (descriptor, passes): (Descriptor, &Selection),
        pinned: Option<Plan>,
    ) -> Result<Built, Failure> {
        let (mut program, mut plan, mut inputs) = ((*self.program).clone(), Plan::default(), inputs.clone());
        inputs.ports.own_descriptor = descriptor == Descriptor::Own;
        if *passes == Selection::All {
            inputs.joins = Joins::Chosen;
        }
        opt::optimize(&mut program, &mut plan, &inputs, passes, None);
        let inputs = with_joint_contents(&program, &inputs);
        self.built(descriptor, program, pinned.unwrap_or(plan), inputs)
    }

    fn built(
        &self,
        descriptor: Descriptor,
        program: Program,
        mut plan: Plan,
        inputs: Inputs,
    ) -> Result<Built, Failure> {
        plan.descriptor = match descriptor {
            Descriptor::Own => hlir::plan::Descriptor::Own,
            Descriptor::Mbuf => hlir::plan::Descriptor::Mbuf,
        };
        let c = compile::emit(&program, &plan, &self.externs)?;
        let object = compile::object(&program.name, &c, plan.descriptor, (&self.native, &self.externs))?;
        let pipeline = Arc::new(Pipeline::load(&object)?);
        let programs = Some((self.program.clone(), program.clone()));
        let predictor = Some(Predictor { program, inputs, plan });
        Ok(Built { pipeline, predictor, programs, defaults: Vec::new(), compressed: true })
    }
}

/// Whether the plans of files suit each application that they are to be measured with: a mistake shows at once, and where it is.
pub fn check_plans(cases: &[Case], options: &Options) -> Result<(), Failure> {
    let pinned = |case: &Case| {
        let name = case.application.clone();
        let files = of(case, 0, options).into_iter().filter_map(|variant| match variant.origin {
            Origin::Pinned(file) => Some(file),
            Origin::Plain
            | Origin::Best
            | Origin::Copying
            | Origin::Specialised(..)
            | Origin::Leading
            | Origin::Made(_)
            | Origin::Joined(_)
            | Origin::ByHand(_) => None,
        });
        files.map(move |file| (name.clone(), file)).collect::<Vec<_>>()
    };
    let wanted: BTreeSet<(String, PathBuf)> = cases.iter().flat_map(pinned).collect();
    for (name, file) in &wanted {
        let mut program = frontend::load(&workload::source_of(name, options))?.program;
        opt::optimize(&mut program, &mut Plan::default(), &Inputs::default(), &rewrites(), None);
        PlanFile::read(file)?.check(&program).map_err(|failure| match failure {
            Failure::Input(text) => Failure::Input(format!(
                "{text}hint: it is to be measured with `{name}`; name the applications that it is for\n"
            )),
            Failure::Reported | Failure::Environment(_) => failure,
        })?;
    }
    Ok(())
}

/// The passes that change the program, without those that schedule it.
fn rewrites() -> Selection {
    let rewrite = |pass: &&opt::Pass| !matches!(pass.run, Run::Plan(_));
    Selection::Only(opt::PIPELINE.iter().filter(rewrite).map(|pass| pass.name.to_string()).collect())
}

/// A program written by hand, compiled with more flags and loaded.
pub fn by_hand(
    source: &peers::Source,
    (native, more): (&Native, &[String]),
    tree: Option<&DpdkTree>,
) -> Result<Arc<Pipeline>, Failure> {
    let cache = files::cache()?;
    let files = cache.unpack("peers", peers::FILES);
    let folder = files.map_err(|error| Failure::environment(format!("the cache cannot be used: {error}")))?;
    let compiler = compile::compiler(native)?;
    let mut flags: Vec<String> = source.flags.iter().map(|flag| flag.to_string()).collect();
    flags.push(format!("-I{}", folder.display()));
    flags.extend_from_slice(more);
    if source.descriptor == Descriptor::Mbuf {
        flags.push("-DPEER_MBUF".to_string());
    }
    if let Some(specification) = source.specification {
        flags.push(format!("-DSWX_SPEC=\"{}\"", folder.join(specification).display()));
        flags.extend(tree.into_iter().flat_map(|tree| tree.swx_flags(compiler.command(), &folder)));
    }
    let name = source.name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let object = compiler.by_hand(&cache, &name, &folder.join(source.file), source.descriptor, &flags)?;
    Ok(Arc::new(Pipeline::load(&object)?))
}
