//! The performance model: predicted cycles a packet, and latency, of a program under a plan, from the machine's file alone.
//!
//! A packet costs what its port costs, its operations, its mispredicted branches, and the lines that it waits for; on one core these add up, for they use the
//! same issue slots and fill buffers. How long lines are waited for depends on how many are on their way together, and that is what a plan decides.

pub mod cache_line;
pub mod memory;
pub mod operations;
pub mod records;
mod speculation;
pub mod stage;
pub mod stalls;
pub mod structures;
mod vector;

use crate::Inputs;
use crate::analyze::Traffic;
use crate::analyze::branch_probabilities;
use crate::analyze::drops::node_index;
use crate::analyze::hot_path;
use cache_line::{Area, Footprint};
use hlir::plan::{Descriptor, Structure};
use hlir::{Node, NodeId, NodeKind, Plan, Program, TableId};
use memory::{Memory, Touched};
use operations::Operations;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use structures::Shape;

/// Which actions a table's entries have, nobody has counted. One of them is usually rare, or they come in runs: so much is left of the surprise that there
/// would be if each packet had another one (fitted to l2l3acl, whose packets all run the same action of most tables).
const UNKNOWN_ACTIONS: f64 = 0.25;

/// What one node costs each packet that comes from a port.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct NodeCost {
    pub share: f64,
    pub issue: f64,
    pub memory: f64,
    pub mispredicted: f64,
}

impl NodeCost {
    pub fn cycles(&self) -> f64 {
        self.issue + self.memory + self.mispredicted
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Prediction {
    /// Of the port, for a program that does nothing.
    pub floor: f64,
    /// What the stages themselves cost, packets put aside and taken up again, less the operations that they spare the nodes: below zero where that is more.
    pub staging: f64,
    /// By node number.
    pub nodes: Vec<NodeCost>,
    /// How long a packet is in the switch.
    pub latency_ns: f64,
}

impl Prediction {
    /// Cycles a packet, the port's included.
    pub fn cycles(&self) -> f64 {
        self.floor + self.staging + self.nodes.iter().map(NodeCost::cycles).sum::<f64>()
    }

    pub fn node(&self, node: NodeId) -> NodeCost {
        self.nodes.get(node_index(node)).copied().unwrap_or_default()
    }
}

/// A look-up of the program, with its table's shape under a plan.
pub struct Lookup {
    pub node: NodeId,
    pub table: TableId,
    pub shape: Shape,
    pub share: f64,
    /// Where each of its lines lies, with the working sets that its areas effectively are part of.
    pub working_sets: Vec<Footprint>,
}

pub struct Model<'a> {
    pub program: &'a Program,
    pub inputs: &'a Inputs,
    pub traffic: &'a Traffic,
    /// Operations of one visit, by node number.
    work: Vec<f64>,
    /// Share of a node's packets whose way its branch predictor does not guess.
    misprediction_rates: Vec<f64>,
    /// The look-ups of the structures that were asked for last: planners try many plans with the same ones.
    lookup_cache: RefCell<LookupCache>,
    /// The path that was asked for last, and what goes on along each of its edges.
    edge_share_cache: RefCell<EdgeShareCache>,
    /// What was asked for of first stages in lanes.
    vector_cache: RefCell<VectorCache>,
}

/// By the path up to the cut, and the places that are looked up there: what the stage has, if it can be run in lanes.
type VectorCache = HashMap<(Vec<NodeId>, Vec<usize>), Option<vector::StepCounts>>;

/// A path, and a share for each of its edges.
type EdgeShareCache = Option<(Vec<NodeId>, Rc<[f64]>)>;

/// Structures of the look-ups that packets make, in order, with whom their tables share an array, and the look-ups.
type LookupCache = Option<(Vec<Planned>, Rc<[Lookup]>)>;

/// What a plan says about the table of a look-up.
type Planned = (Structure, Option<TableId>);

impl<'a> Model<'a> {
    pub fn new(program: &'a Program, inputs: &'a Inputs, traffic: &'a Traffic) -> Model<'a> {
        let operations = Operations::new(program);
        let (mut work, mut misprediction_rates) = (vec![0.0; program.nodes.len()], vec![0.0; program.nodes.len()]);
        for &node in traffic.order() {
            work[node_index(node)] = operations.node(node, traffic);
            misprediction_rates[node_index(node)] = misprediction_rate(program, node, traffic);
        }
        Model {
            program,
            inputs,
            traffic,
            work,
            misprediction_rates,
            lookup_cache: RefCell::default(),
            edge_share_cache: RefCell::default(),
            vector_cache: RefCell::default(),
        }
    }

    /// For each edge of a path, the share of the packets that came all the way and go on along it.
    fn shares_along(&self, path: &[NodeId]) -> Rc<[f64]> {
        let mut asked = self.edge_share_cache.borrow_mut();
        match &*asked {
            Some((last, shares)) if last == path => shares.clone(),
            _ => {
                let shares: Rc<[f64]> = hot_path::edge_shares(self.program, self.inputs, self.traffic, path).into();
                *asked = Some((path.to_vec(), shares.clone()));
                shares
            }
        }
    }

    pub fn memory(&self) -> Memory<'_> {
        Memory { machine: &self.inputs.machine }
    }

    /// Cycles of one operation of code that takes packets one by one.
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

    /// Operations of a packet, tables' structures included.
    pub fn packet_operations(&self, lookups: &[Lookup]) -> f64 {
        let nodes: f64 = self.traffic.order().iter().map(|node| self.traffic.node(*node) * self.work(*node)).sum();
        nodes + lookups.iter().map(|lookup| lookup.share * lookup.shape.operations).sum::<f64>()
    }

    /// All look-ups that packets make, in order.
    pub fn lookups(&self, plan: &Plan) -> Rc<[Lookup]> {
        let planned: HashMap<&str, Structure> =
            plan.tables.iter().rev().map(|planned| (planned.table.as_str(), planned.structure)).collect();
        let structure = |table: TableId| {
            let planned = planned.get(self.program.tables[table].name.as_str());
            planned.copied().unwrap_or_else(|| Structure::usual(&self.program.key_kinds(table)))
        };
        let applied = |node: &NodeId| hlir::path::table_of(self.program, *node).map(|table| (*node, table));
        let applied: Vec<(NodeId, TableId)> = self.traffic.order().iter().filter_map(applied).collect();
        let wanted: Vec<Planned> =
            applied.iter().map(|(_, table)| (structure(*table), self.partner(plan, *table))).collect();
        if let Some((lookup_cache, lookups)) = &*self.lookup_cache.borrow()
            && *lookup_cache == wanted
        {
            return lookups.clone();
        }
        let lookups = self.with_working_sets(&applied, &wanted);
        *self.lookup_cache.borrow_mut() = Some((wanted, lookups.clone()));
        lookups
    }

    /// The table that has the same array.
    fn partner(&self, plan: &Plan, table: TableId) -> Option<TableId> {
        let name = &self.program.tables[table].name;
        let share = plan.share_of(name)?;
        let other = if share.table == *name { &share.owner } else { &share.table };
        self.program.tables.iter().find(|(_, table)| table.name == *other).map(|(id, _)| id)
    }

    /// What an array holds that two tables share: of keys that both have, one.
    fn union_count(&self, table: TableId, partner: TableId) -> u64 {
        let [one, other] = [table, partner].map(|id| &self.program.tables[id]);
        let occupancy = &self.inputs.occupancy;
        let both = || occupancy.of(one).entries + occupancy.of(other).entries;
        occupancy.union_count(one, other).unwrap_or_else(both)
    }

    fn with_working_sets(&self, applied: &[(NodeId, TableId)], planned: &[Planned]) -> Rc<[Lookup]> {
        let mut lookups: Vec<Lookup> = Vec::new();
        for (&(node, table), &(structure, partner)) in applied.iter().zip(planned) {
            let mut content = self.inputs.occupancy.of(&self.program.tables[table]);
            content.entries = partner.map_or(content.entries, |partner| self.union_count(table, partner));
            let vector = self.inputs.machine.vector_bytes();
            let mut shape = structures::shape(self.program, table, structure, &content, vector);
            // In an array of two tables, packets touch what they ask either for.
            let others = partner.map_or(Some(0), |partner| self.all_keys(partner));
            if let Some((keys, others)) = self.all_keys(table).zip(others) {
                shape.limit_to_keys(keys + others);
            }
            lookups.push(Lookup { node, table, shape, share: self.traffic.node(node), working_sets: Vec::new() });
        }
        let shares = |table: TableId| lookups.iter().filter(move |other| other.table == table).map(|other| other.share);
        let of_lookup = |(lookup, (_, partner)): (&Lookup, &Planned)| {
            // Of an array that two tables share, each has a part as large as it is touched often: they are touched alike then, and both together are all.
            let all = |partner: TableId| shares(lookup.table).chain(shares(partner)).sum::<f64>();
            let own = partner.map_or(1.0, |partner| lookup.share / all(partner).max(f64::MIN_POSITIVE));
            let parts = std::iter::once(own).chain(std::iter::repeat(1.0));
            let lines =
                lookup.shape.lines.iter().map(|line| (line.footprint, line.frequency * lookup.share)).zip(parts);
            let touched = |((footprint, frequency), own): ((Footprint, f64), f64)| {
                let bytes = move |area: Area| (area.bytes as f64 * own) as u64;
                footprint.areas().map(move |(part, area)| Touched { bytes: bytes(area), frequency: frequency * part })
            };
            lines.flat_map(touched).collect::<Vec<Touched>>()
        };
        let stream = self.inputs.ports.stream.map(Touched::of_stream);
        let touched: Vec<Touched> = lookups.iter().zip(planned).flat_map(of_lookup).chain(stream).collect();
        let mut sets = memory::working_sets(&touched).into_iter();
        for lookup in &mut lookups {
            let mut among = |area: Area| {
                let bytes = sets.next().expect("each area has a working set");
                // What stands between touches lies on pages of its own.
                Area { bytes, span: area.span + bytes.saturating_sub(area.bytes) }
            };
            lookup.working_sets = lookup.shape.lines.iter().map(|line| line.footprint.map(&mut among)).collect();
        }
        lookups.into()
    }

    /// All different keys that packets ask a table for, where a profile has seen each of them often enough to know.
    fn all_keys(&self, table: TableId) -> Option<u64> {
        let profile = self.inputs.profile.as_ref()?;
        let applies = |(id, _): &(NodeId, &Node)| hlir::path::table_of(self.program, *id) == Some(table);
        let nodes = self.program.nodes.iter().filter(applies);
        let lookups = nodes.map(|(id, node)| profile.arrived(&node.name, self.program.entry == Some(id))).sum();
        profile.all_keys(&self.program.tables[table].name, lookups)
    }

    /// What look-ups cost a packet, by table, each made in the cheaper way: their structures' operations, and waiting for them.
    pub fn lookup_cycles(&self, plan: &Plan) -> BTreeMap<TableId, f64> {
        let lookups = self.lookups(plan);
        let window = self.rob_window(&lookups);
        let mut cycles = BTreeMap::new();
        for lookup in &*lookups {
            let issue = lookup.shape.operations * self.operation();
            let sum: &mut f64 = cycles.entry(lookup.table).or_default();
            *sum += lookup.share * (issue + self.best_stalls(lookup, &window));
        }
        cycles
    }

    /// Cycles that a program which does nothing costs a packet.
    pub fn floor(&self, plan: &Plan) -> f64 {
        let port = &self.inputs.machine.port;
        let costs = match plan.descriptor {
            Descriptor::Own => &port.own,
            Descriptor::Mbuf => &port.mbuf,
        };
        let burst = if plan.burst == 0 { self.inputs.machine.burst } else { plan.burst };
        let nearest = port.burst.iter().zip(costs).min_by_key(|(lookup_cache, _)| lookup_cache.abs_diff(burst));
        nearest.map_or(0.0, |(_, cycles)| *cycles)
    }

    pub fn predict(&self, plan: &Plan) -> Prediction {
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
        for lookup in &*lookups {
            nodes[node_index(lookup.node)].issue += lookup.share * lookup.shape.operations * operation;
        }
        let staging = self.add_stalls(plan, &lookups, &mut nodes);
        let mut prediction = Prediction { floor: self.floor(plan), staging, nodes, latency_ns: 0.0 };
        let burst = f64::from(if plan.burst == 0 { self.inputs.machine.burst } else { plan.burst });
        let depth = stage::pipeline_depth(plan);
        prediction.latency_ns =
            prediction.cycles() * burst * f64::from(1 + depth) / self.inputs.machine.ticks_per_us * 1000.0;
        prediction
    }
}

/// How often, for each packet at a node, the jump out of it goes another way than usual.
fn misprediction_rate(program: &Program, id: NodeId, traffic: &Traffic) -> f64 {
    let share = traffic.node(id);
    if share <= 0.0 {
        return 0.0;
    }
    let node = &program.nodes[id];
    let usual = |shares: Vec<f64>| (1.0 - shares.into_iter().fold(0.0, f64::max)).clamp(0.0, 0.5);
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
        NodeKind::Branch { .. } | NodeKind::State { .. } | NodeKind::Block { .. } | NodeKind::Buffer { .. } => {
            usual(targets())
        }
        NodeKind::Apply { table, .. } => traffic
            .lookup(id)
            .map_or(0.0, |lookup| action_misprediction_rate(lookup, program.tables[*table].default.action as usize)),
        NodeKind::Deparse { .. } => 0.0,
    }
}

/// The same of a look-up: whether it hits, and of those that do, which action they run.
fn action_misprediction_rate(lookup: &branch_probabilities::LookupOutcomes, default: usize) -> f64 {
    let hit = lookup.hit.clamp(0.0, 1.0);
    let of_hits = |(action, share): (usize, &f64)| if action == default { share - (1.0 - hit) } else { *share };
    let usual = lookup.actions.iter().enumerate().map(of_hits).fold(0.0, f64::max);
    (hit.min(1.0 - hit) + UNKNOWN_ACTIONS * (hit - usual).max(0.0)).min(0.5)
}
