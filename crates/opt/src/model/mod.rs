//! The performance model: cycles per packet, and latency, of a program under a plan; from the machine model
//! alone.
//!
//! ```text
//! cycles = floor(port) + staging + Σ node (issue + memory + mispredicted)
//! ```
//!
//! On one core these add up, since all of them use the same issue slots and fill buffers. Memory stalls
//! depend on the lines in flight, and these depend on the plan.
//! Symbols are those of docs/model.md. Units: cycles are ticks of the time stamp counter, per packet that the
//! switch receives; operations are x86 instructions; sizes are bytes, lines of 64 bytes where named so. A
//! share is a number of visits per received packet, so it may exceed 1 where packets visit a node several
//! times.
//!
//! | symbol | here |
//! |---|---|
//! | `P(b, d)` | [`Model::floor`] |
//! | `s_n`, `w_n`, `u_n` | `Traffic::node`, `Model::work`, `misprediction_rate` |
//! | `w_l`, `q`, `σ` | [`Shape`]: `operations`, `second_line`, `mispredictions` |
//! | `t_l` | `Model::unstaged_stalls`, `Model::stage_stalls` |
//! | `S` | [`Prediction::staging`] |

pub mod cache_line;
pub mod lookups;
pub mod memory;
mod next_path;
pub mod operations;
pub mod path;
pub mod records;
mod speculation;
pub mod stage;
pub mod stalls;
pub mod structures;
mod vector;

use crate::Inputs;
use crate::analyze::Traffic;
use crate::analyze::branch_probabilities;
use crate::analyze::decided::Decided;
use crate::analyze::drops::node_index;
use hlir::effects::{Part, Speculable};
use hlir::plan::{Descriptor, Structure};
use hlir::{Node, NodeId, NodeKind, Plan, Program, ResolvedPlan, TableId};
use lookups::{Lookup, Lookups};
use memory::Memory;
use operations::Operations;
use path::Path;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use structures::Shape;

/// Actions of entries are not counted. Mostly one action dominates, or actions come in runs, so only this
/// part of the mispredictions of random actions is left (fitted to l2l3acl, whose packets run the same action
/// of most tables).
const UNKNOWN_ACTIONS: f64 = 0.25;

/// Variables and headers up to which a packet's state stays in registers; and operations for each of them beyond
/// that: it is set to zero where a packet begins, stored and loaded again (fitted to p4c's PINS, DASH, fabric and
/// UP4 with empty tables, 56 to 107 variables and headers).
pub const REGISTERS: usize = 20;
const SPILLED: f64 = 3.0;

/// The cost of one node per packet received.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct NodeCost {
    pub share: f64,
    /// s · w · c_op, a grouped lookup's savings taken off. May be below 0 for a lookup of few operations.
    pub issue: f64,
    /// s · t: stalls of its lookup, mispredictions inside the lookup among them.
    pub memory: f64,
    /// s · u · c_br: mispredictions of the edge that the packet takes.
    pub mispredicted: f64,
}

impl NodeCost {
    pub fn cycles(&self) -> f64 {
        self.issue + self.memory + self.mispredicted
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Prediction {
    /// Cycles of the port, for a program that does nothing.
    pub floor: f64,
    /// Cycles of the stages themselves (spills, loops, side exits), less the operations that they save the
    /// nodes. May be negative.
    pub staging: f64,
    /// By node index.
    pub nodes: Vec<NodeCost>,
    /// Time of a packet in the switch.
    /// cycles · b · (1 + a) in nanoseconds: a packet is sent when its burst is done, and with software
    /// pipelining when the next one is.
    pub latency_ns: f64,
}

impl Prediction {
    /// Cycles per packet, including the port.
    pub fn cycles(&self) -> f64 {
        self.floor + self.staging + self.nodes.iter().map(NodeCost::cycles).sum::<f64>()
    }

    pub fn node(&self, node: NodeId) -> NodeCost {
        self.nodes.get(node_index(node)).copied().unwrap_or_default()
    }
}

/// How lookups are assumed to run while no stages are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Execution {
    PacketByPacket,
    /// In a stage, or packet by packet where that is cheaper.
    MaybeStaged,
}

pub struct Model<'a> {
    pub program: &'a Program,
    pub inputs: &'a Inputs,
    pub traffic: &'a Traffic,
    /// Operations of one visit, by node index.
    work: Vec<f64>,
    /// Variables and headers that a packet's nodes write. Others are constants in the code.
    members: usize,
    /// Mispredictions of one visit, by node index.
    misprediction_rates: Vec<f64>,
    /// All lookups that packets make, in order; and by node index, the number of its lookup.
    applied: Vec<(NodeId, TableId)>,
    lookup_of: Vec<Option<usize>>,
    /// Operations per packet without lookups, and cycles of mispredicted edges.
    node_operations: f64,
    mispredicted: f64,
    /// By lookup: operations that compute its key.
    key_operations: Vec<f64>,
    /// The shapes of tables by their plans: planners try a few structures for each, many times. Equal
    /// shapes are one.
    shape_cache: RefCell<HashMap<(TableId, Planned), Rc<Shape>>>,
    distinct_shapes: RefCell<Vec<Rc<Shape>>>,
    /// Plans evaluated so far, and costs of lookups computed for them.
    evaluations: Cell<usize>,
    costs: Cell<usize>,
    /// Values of all schedules made to count the steps of vector code.
    scheduled: Cell<usize>,
    /// Lookups of the last plan: planners evaluate many plans with the same structures.
    lookup_cache: RefCell<LookupCache>,
    /// The path that most packets follow.
    hot_path: OnceCell<Vec<NodeId>>,
    /// The last plan's path.
    path_cache: RefCell<PathCache<'a>>,
    /// Step counts of first stages as vector code.
    vector_cache: RefCell<VectorCache>,
    /// By node index. To know what can be deferred, all code behind the node is read: far too long for each plan.
    speculable_cache: Vec<OnceCell<Speculable>>,
}

/// A path by the names of its nodes.
type PathCache<'a> = Option<(Arc<[String]>, Rc<Path<'a>>)>;

/// The last path, and by the place of the cut and those of its lookups: none if the stage has no vector form.
type VectorCache = (Vec<NodeId>, HashMap<(usize, Vec<usize>), Option<vector::StepCounts>>);

/// The lookups for these planned tables, in order.
type LookupCache = Option<(Vec<Planned>, Rc<Lookups>)>;

/// A plan's decisions about a lookup's table: its structure, and the other table of a joint array.
pub type Planned = (Structure, Option<TableId>);

impl<'a> Model<'a> {
    pub fn new(program: &'a Program, inputs: &'a Inputs, traffic: &'a Traffic) -> Model<'a> {
        let operations = Operations::new(program);
        let (mut work, mut misprediction_rates) = (vec![0.0; program.nodes.len()], vec![0.0; program.nodes.len()]);
        let decided = Decided::of(program, traffic.order());
        let is_empty = |table: TableId| inputs.occupancy.of(&program.tables[table]).is_empty();
        for &node in traffic.order() {
            // An empty table is tested before its key is made (`Shape::empty`).
            let no_key = hlir::hot_path::table_of(program, node).filter(|table| is_empty(*table));
            work[node_index(node)] = operations.node(node, traffic) - no_key.map_or(0.0, |table| operations.key(table));
            misprediction_rates[node_index(node)] = misprediction_rate((program, inputs), node, traffic, &decided);
        }
        let looked_up = |node: &NodeId| hlir::hot_path::table_of(program, *node).map(|table| (*node, table));
        let applied: Vec<(NodeId, TableId)> = traffic.order().iter().filter_map(looked_up).collect();
        let mut lookup_of = vec![None; program.nodes.len()];
        applied.iter().enumerate().for_each(|(at, (node, _))| lookup_of[node_index(*node)] = Some(at));
        Model {
            program,
            inputs,
            traffic,
            node_operations: traffic.order().iter().map(|node| traffic.node(*node) * work[node_index(*node)]).sum(),
            mispredicted: traffic
                .order()
                .iter()
                .map(|node| traffic.node(*node) * misprediction_rates[node_index(*node)])
                .sum::<f64>()
                * inputs.machine.mispredict_cycles,
            members: written(program, traffic),
            key_operations: applied.iter().map(|(_, table)| operations.key(*table)).collect(),
            work,
            misprediction_rates,
            applied,
            lookup_of,
            shape_cache: RefCell::default(),
            distinct_shapes: RefCell::default(),
            evaluations: Cell::new(0),
            costs: Cell::new(0),
            scheduled: Cell::new(0),
            lookup_cache: RefCell::default(),
            hot_path: OnceCell::new(),
            path_cache: RefCell::default(),
            vector_cache: RefCell::default(),
            speculable_cache: vec![OnceCell::new(); program.nodes.len()],
        }
    }

    /// The path that most packets follow.
    pub fn hot_path(&self) -> &[NodeId] {
        self.hot_path.get_or_init(|| crate::analyze::hot_path::find(self.program, self.inputs, self.traffic))
    }

    /// A plan's hot path; none without one, or if the program lacks one of its nodes.
    pub fn path(&self, plan: &Plan) -> Option<Rc<Path<'a>>> {
        let path = plan.hot_path.as_ref()?;
        if let Some((names, known)) = &*self.path_cache.borrow()
            && Arc::ptr_eq(names, &path.nodes)
        {
            return Some(known.clone());
        }
        let found = Rc::new(Path::new(self, hlir::hot_path::nodes(self.program, path)?));
        *self.path_cache.borrow_mut() = Some((path.nodes.clone(), found.clone()));
        Some(found)
    }

    /// The same, or an empty path.
    fn path_or_empty(&self, plan: &Plan) -> Rc<Path<'a>> {
        self.path(plan).unwrap_or_else(|| Rc::new(Path::new(self, Vec::new())))
    }

    /// Whether the stages of a plan's hot path have a schedule.
    pub fn is_schedulable(&self, plan: &Plan) -> bool {
        let Some(path) = self.path(plan) else { return true };
        let Some(last) = path.names.stages(plan).iter().map(|stage| stage.place).max() else { return true };
        let reach = path.reach(self);
        if last > reach.place {
            return false;
        }
        // What was read must be kept for commit, which only a scheduled one does.
        let is_kept = || schedule::Schedule::of_plan(self.program, &ResolvedPlan::of(self.program, plan));
        reach.reads.is_none_or(|reads| reads >= last) || is_kept().is_none_or(|schedule| schedule.is_ok())
    }

    /// Whether a plan has stages, and packets that stay on its hot path commit by its schedule, not by the nodes of the plain
    /// program.
    pub fn commits_by_schedule(&self, plan: &Plan) -> bool {
        let schedule = schedule::Schedule::of_plan(self.program, &ResolvedPlan::of(self.program, plan));
        !plan.loops.is_empty() && schedule.is_some_and(|schedule| schedule.is_ok_and(|it| it.commit.is_ok()))
    }

    /// How many plans this model has evaluated: the effort of a planner.
    pub fn evaluations(&self) -> usize {
        self.evaluations.get()
    }

    /// How many values its schedules of vector code had.
    pub fn scheduled(&self) -> usize {
        self.scheduled.get()
    }

    fn count_scheduled(&self, values: usize) {
        self.scheduled.set(self.scheduled.get() + values);
    }

    pub fn memory(&self) -> Memory<'_> {
        Memory { machine: &self.inputs.machine }
    }

    /// Cycles of one operation in code that runs packet by packet.
    /// `c_op`. It is far below a cycle where independent instructions issue together; dependent ones are
    /// counted apart, in `Shape::step` and `Shape::chain`.
    pub fn operation(&self) -> f64 {
        self.inputs.machine.operation_cycles
    }

    /// Cycles of one operation under a plan.
    fn operation_under(&self, plan: &Plan) -> f64 {
        if plan.loops.is_empty() { self.operation() } else { self.inputs.machine.stages().operation_cycles }
    }

    pub fn work(&self, node: NodeId) -> f64 {
        self.work[node_index(node)]
    }

    /// Operations per packet without lookups.
    pub fn node_operations(&self) -> f64 {
        self.node_operations
    }

    /// Variables and headers that packets' nodes write, beyond those in registers.
    pub fn members_in_memory(&self) -> f64 {
        self.members.saturating_sub(REGISTERS) as f64
    }

    /// Operations on the part of a packet's state that is in memory, once for a packet that is not on the hot path.
    /// `state` of `S`. Registers hold some twenty members; each of the others is a store and a load, and set to
    /// zero where a packet begins.
    fn state_operations(&self) -> f64 {
        SPILLED * self.members_in_memory()
    }

    /// Keys in a joint array of two tables. Common keys are stored once.
    fn union_count(&self, table: TableId, partner: TableId) -> u64 {
        let [one, other] = [table, partner].map(|id| &self.program.tables[id]);
        let occupancy = &self.inputs.occupancy;
        let both = || occupancy.of(one).entries + occupancy.of(other).entries;
        occupancy.union_count(one, other).unwrap_or_else(both)
    }

    /// The shape of a table's lookups.
    fn shape(&self, table: TableId, planned: Planned) -> Rc<Shape> {
        if let Some(shape) = self.shape_cache.borrow().get(&(table, planned)) {
            return shape.clone();
        }
        let (structure, partner) = planned;
        let mut content = self.inputs.occupancy.of(&self.program.tables[table]);
        content.entries = partner.map_or(content.entries, |partner| self.union_count(table, partner));
        let vector = self.inputs.machine.vector_bytes();
        let mut shape = structures::shape(self.program, table, structure, &content, vector);
        // A profile that has seen all keys bounds what is touched: a table of millions of entries with a
        // thousand active keys is cached like one of a thousand.
        // In a joint array, packets touch the keys of the lookups in either table.
        let others = partner.map_or(Some(0), |partner| self.all_keys(partner));
        if let Some((keys, others)) = self.all_keys(table).zip(others) {
            shape.limit_to_keys(keys + others);
        }
        let mut distinct = self.distinct_shapes.borrow_mut();
        let known = distinct.iter().find(|known| ***known == shape).cloned();
        let shape = known.unwrap_or_else(|| {
            distinct.push(Rc::new(shape));
            distinct[distinct.len() - 1].clone()
        });
        self.shape_cache.borrow_mut().insert((table, planned), shape.clone());
        shape
    }

    /// All distinct keys of a table's lookups, if the profile has each of them often enough to know.
    fn all_keys(&self, table: TableId) -> Option<u64> {
        let profile = self.inputs.profile.as_ref()?;
        let applies = |(id, _): &(NodeId, &Node)| hlir::hot_path::table_of(self.program, *id) == Some(table);
        let nodes = self.program.nodes.iter().filter(applies);
        let lookups = nodes.map(|(id, node)| profile.arrived(&node.name, self.program.entry == Some(id))).sum();
        profile.all_keys(&self.program.tables[table].name, lookups)
    }

    /// Cycles per packet of a program that does nothing.
    pub fn floor(&self, plan: &Plan) -> f64 {
        let port = &self.inputs.machine.port;
        // `P(b, d)`: an echo under this burst and descriptor. All that a program adds is counted elsewhere.
        let costs = match plan.descriptor {
            Descriptor::Own => &port.own,
            Descriptor::Mbuf => &port.mbuf,
        };
        let burst = if plan.burst == 0 { self.inputs.machine.burst } else { plan.burst };
        let nearest = port.burst.iter().zip(costs).min_by_key(|(measured, _)| measured.abs_diff(burst));
        nearest.map_or(0.0, |(_, cycles)| *cycles)
    }

    /// The costs of a plan node by node.
    pub fn predict(&self, plan: &Plan) -> Prediction {
        self.count_evaluation();
        let lookups = self.lookups(plan);
        let mut nodes: Vec<NodeCost> = vec![NodeCost::default(); self.program.nodes.len()];
        let mispredict = self.inputs.machine.mispredict_cycles;
        let operation = self.operation_under(plan);
        for &node in self.traffic.order() {
            let share = self.traffic.node(node);
            let at = &mut nodes[node_index(node)];
            at.share = share;
            at.issue = share * self.work(node) * operation;
            at.mispredicted = share * self.misprediction_rates[node_index(node)] * mispredict;
        }
        for lookup in lookups.iter() {
            let at = &mut nodes[node_index(lookup.node)];
            at.issue += lookup.share * lookup.shape.operations * operation;
            at.memory = lookup.share * lookups.classes.unstaged_stalls(self, lookup);
        }
        if let Some(entry) = self.program.entry {
            nodes[node_index(entry)].issue += self.state_operations() * operation;
        }
        let staged = self.staged(plan, &lookups);
        for cost in &staged.lookups {
            let at = &mut nodes[node_index(lookups[cost.number].node)];
            at.memory = cost.memory;
            at.issue -= cost.saved;
        }
        let mut prediction = Prediction { floor: self.floor(plan), staging: staged.staging, nodes, latency_ns: 0.0 };
        prediction.latency_ns = self.latency_ns(plan, prediction.cycles());
        prediction
    }

    /// Cycles per packet of a plan with these lookups, as [`Model::predict`] has them: those of the program packet by packet, and the
    /// change that stages make. The plan's own tables are not read.
    pub fn cycles(&self, plan: &Plan, lookups: &Lookups) -> f64 {
        self.count_evaluation();
        let operation = self.operation_under(plan);
        let of_lookups = |(lookup, count): (&Lookup, &usize)| lookup.share * lookup.shape.operations * *count as f64;
        let classes = &lookups.classes;
        let looked_up: f64 = classes.examples.iter().zip(&classes.counts).map(of_lookups).sum();
        let state = if self.program.entry.is_some() { self.state_operations() } else { 0.0 };
        let issue = (self.node_operations + looked_up + state) * operation;
        let staged = self.staged(plan, lookups);
        let change = |cost: &stage::StagedCost| {
            let lookup = &lookups[cost.number];
            cost.memory - cost.saved - lookup.share * classes.unstaged_stalls(self, lookup)
        };
        let changed: f64 = staged.lookups.iter().map(change).sum();
        self.floor(plan) + issue + self.mispredicted + lookups.unstaged_cycles(self) + changed + staged.staging
    }

    /// Time of a packet in the switch, in nanoseconds. In a burst all packets wait for the last one: `b` packets' cycles, and
    /// as many more for each burst ahead.
    pub fn latency_ns(&self, plan: &Plan, cycles: f64) -> f64 {
        let burst = f64::from(if plan.burst == 0 { self.inputs.machine.burst } else { plan.burst });
        let depth = stage::pipeline_depth(plan);
        cycles * burst * f64::from(1 + depth) / self.inputs.machine.ticks_per_us * 1000.0
    }
}

/// Variables and headers that the nodes of packets write.
fn written(program: &Program, traffic: &Traffic) -> usize {
    let visited = traffic.order().iter().filter(|node| traffic.node(**node) > 0.0);
    let parts: BTreeSet<Part> = visited.flat_map(|node| hlir::effects::writes(program, *node)).collect();
    parts.len()
}

/// Branch mispredictions per visit: the share of the packets that leave the node other than most do.
/// `u_n` = min(½, 1 − max p_e). The predictor is taken to guess the most frequent edge; of two equally frequent
/// ones it guesses half right, whatever it does, so ½ is the most. What earlier branches decide, it remembers.
fn misprediction_rate((program, inputs): (&Program, &Inputs), id: NodeId, traffic: &Traffic, decided: &Decided) -> f64 {
    let share = traffic.node(id);
    if share <= 0.0 {
        return 0.0;
    }
    let node = &program.nodes[id];
    let minority = |shares: Vec<f64>| (1.0 - shares.into_iter().fold(0.0, f64::max)).clamp(0.0, 0.5);
    let targets = || -> Vec<f64> {
        let mut seen: Vec<NodeId> = Vec::new();
        for next in node.successors() {
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
        seen.into_iter().map(|next| traffic.edge(id, next) / share).chain([traffic.leaving(id) / share]).collect()
    };
    match &node.kind {
        NodeKind::Branch { condition, .. } if decided.has(condition) => 0.0,
        NodeKind::Branch { .. } | NodeKind::State { .. } | NodeKind::Block { .. } | NodeKind::Buffer { .. } => {
            minority(targets())
        }
        NodeKind::Apply { table, .. } => {
            let default = inputs.occupancy.default_action(&program.tables[*table]);
            traffic.lookup(id).map_or(0.0, |lookup| action_misprediction_rate(lookup, default))
        }
        NodeKind::Deparse { .. } => 0.0,
    }
}

/// The same for a lookup: hit or miss, and which action a hit runs.
/// `u` = min(½, min(h, 1 − h) + ¼ · (h − p_a)), h: share of hits, p_a: of hits that run the most frequent
/// action. Misses run the default action, so what they add to its share is taken off first.
fn action_misprediction_rate(lookup: &branch_probabilities::LookupOutcomes, default: usize) -> f64 {
    let hit = lookup.hit.clamp(0.0, 1.0);
    let of_hits = |(action, share): (usize, &f64)| if action == default { share - (1.0 - hit) } else { *share };
    let expected = lookup.actions.iter().enumerate().map(of_hits).fold(0.0, f64::max);
    (hit.min(1.0 - hit) + UNKNOWN_ACTIONS * (hit - expected).max(0.0)).min(0.5)
}
