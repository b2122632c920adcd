//! A plan by ids instead of names, with what follows from its lines: which stage makes which lookup, which lookups are
//! speculative, whether groups are software pipelined.
//!
//! It is made once, from a plan that the verifier accepts, and whatever carries out the plan reads it. A line that
//! names what the program lacks is left out: the verifier has reported it.

use crate::hot_path;
use crate::plan::{Access, AccessMode, Descriptor, Hint, Instrument, Loop, Placement, Structure};
use crate::{NodeId, Plan, Program, TableId};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPlan {
    pub descriptor: Descriptor,
    /// Packets per burst; 0 takes what the port delivers.
    pub burst: u32,
    /// None without a hot path, or if no loop cuts it.
    pub path: Option<ResolvedPath>,
    /// The paths of packets that leave this one, each for those that leave all before it.
    pub next_paths: Vec<ResolvedPath>,
    /// Loops that are no stage of the hot path, in the order of the plan.
    pub loops: Vec<ResolvedLoop>,
    pub queues: Vec<ResolvedQueue>,
    pub joints: Vec<ResolvedJoint>,
    pub instrument: Instrument,
    structures: HashMap<TableId, Structure>,
}

/// A hot path that is cut into stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    pub nodes: Vec<NodeId>,
    /// By position on the path: the action that all entries are expected to run, by its number in the table.
    pub actions: BTreeMap<usize, usize>,
    /// In the order of the path; at least one.
    pub stages: Vec<ResolvedStage>,
    /// Positions of the lookups that are made speculatively, in order.
    pub speculative: Vec<usize>,
    /// Packets per group, from 1 to 64.
    pub group: u32,
    /// Packets per vector in the first stage; 1 for scalar code.
    pub vector: u32,
    /// The hint with which the packets' first lines are prefetched before the first stage, if they are.
    pub packets: Option<Hint>,
    pub accesses: AccessMode,
}

/// A stage: the nodes from the cut before to its own, and then its lookups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedStage {
    /// Position of its node on the path.
    pub place: usize,
    /// In the order of the path.
    pub lookups: Vec<StagedLookup>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedLookup {
    /// Position of its node on the path.
    pub place: usize,
    pub table: TableId,
    /// None if its lines are loaded when the lookup reads them.
    pub prefetch: Option<LinePrefetch>,
}

/// How the lines of a lookup are prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePrefetch {
    pub placement: Placement,
    pub hint: Hint,
}

/// Nodes that run for all packets of a list before the next loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedLoop {
    pub node: NodeId,
    pub batch: u32,
    /// Packets whose memory accesses are issued together.
    pub group: u32,
    pub packets: Option<Hint>,
    /// Of the lines of its own lookup.
    pub prefetch: Option<LinePrefetch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedQueue {
    pub node: NodeId,
    pub capacity: u32,
    /// Bursts until a flush.
    pub timeout: u32,
}

/// Two tables in one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedJoint {
    pub secondary: TableId,
    pub primary: TableId,
    pub secondary_bits: u32,
    pub primary_bits: u32,
}

impl ResolvedPlan {
    pub fn of(program: &Program, plan: &Plan) -> ResolvedPlan {
        let path = path(program, plan);
        let staged = |node: NodeId| {
            path.as_ref().is_some_and(|path| path.stages.iter().any(|stage| path.nodes[stage.place] == node))
        };
        let loops = plan.loops.iter().filter_map(|lp| other_loop(program, lp)).filter(|lp| !staged(lp.node)).collect();
        let queues = plan.queues.iter().filter_map(|queue| {
            let node = node_named(program, &queue.node)?;
            Some(ResolvedQueue { node, capacity: queue.capacity, timeout: queue.timeout })
        });
        let joints = plan.joints.iter().filter_map(|joint| {
            let [secondary, primary] = [&joint.secondary, &joint.primary].map(|name| table_named(program, name));
            let [secondary_bits, primary_bits] = [&joint.secondary, &joint.primary].map(|name| joint.part(name).1);
            Some(ResolvedJoint { secondary: secondary?, primary: primary?, secondary_bits, primary_bits })
        });
        let structures = plan.tables.iter().rev();
        let structures =
            structures.filter_map(|line| Some((table_named(program, &line.table)?, line.structure))).collect();
        ResolvedPlan {
            descriptor: plan.descriptor,
            burst: plan.burst,
            loops,
            queues: queues.collect(),
            joints: joints.collect(),
            instrument: plan.instrument,
            structures,
            next_paths: (0..plan.next_paths.len())
                .filter_map(|number| self::path(program, &plan.of_next_path(number)))
                .collect(),
            path,
        }
    }

    /// The plan whose only hot path is the next one of a number, from 0 on.
    pub fn of_next_path(&self, number: usize) -> ResolvedPlan {
        let (path, next_paths) = (Some(self.next_paths[number].clone()), Vec::new());
        ResolvedPlan { path, next_paths, ..self.clone() }
    }

    /// The structure that the plan gives a table, or the one that its keys suggest.
    pub fn structure(&self, program: &Program, table: TableId) -> Structure {
        self.structures.get(&table).copied().unwrap_or_else(|| Structure::of_keys(&program.held_keys(table)))
    }

    /// The joint tables that a table belongs to, if any.
    pub fn joint_of(&self, table: TableId) -> Option<&ResolvedJoint> {
        self.joints.iter().find(|joint| joint.secondary == table || joint.primary == table)
    }

    /// The loop that begins at a node, if it is no stage of the hot path.
    pub fn loop_at(&self, node: NodeId) -> Option<&ResolvedLoop> {
        self.loops.iter().find(|lp| lp.node == node)
    }
}

impl ResolvedPath {
    /// The first stage, as [`crate::vector`] takes it.
    pub fn first_cut(&self) -> hot_path::Stage {
        let first = &self.stages[0];
        let looked_up = first.lookups.iter().map(|lookup| lookup.place).collect();
        hot_path::Stage { number: 0, place: first.place, looked_up }
    }

    /// Whether lookups are made one group after their prefetches.
    pub fn is_pipelined(&self) -> bool {
        let mut prefetches = self.stages.first().into_iter().flat_map(|stage| &stage.lookups);
        prefetches.any(|lookup| lookup.prefetch.is_some_and(|prefetch| prefetch.placement.is_pipelined()))
    }

    /// The number of the stage that makes the lookup of a position, if one does.
    pub fn stage_of(&self, place: usize) -> Option<usize> {
        self.stages.iter().position(|stage| stage.lookups.iter().any(|lookup| lookup.place == place))
    }
}

impl ResolvedJoint {
    /// The bits of a table's record number in a lookup's result: the first, and how many.
    pub fn part(&self, table: TableId) -> (u32, u32) {
        if self.secondary == table { (0, self.secondary_bits) } else { (self.secondary_bits, self.primary_bits) }
    }
}

fn node_named(program: &Program, name: &str) -> Option<NodeId> {
    program.nodes.iter().find(|(_, node)| node.name == name).map(|(id, _)| id)
}

fn table_named(program: &Program, name: &str) -> Option<TableId> {
    program.tables.iter().find(|(_, table)| table.name == name).map(|(id, _)| id)
}

fn path(program: &Program, plan: &Plan) -> Option<ResolvedPath> {
    let planned = plan.hot_path.as_ref()?;
    let nodes = hot_path::nodes(program, planned)?;
    let cuts = hot_path::stages(program, plan, &nodes);
    let speculative = hot_path::speculative(program, &nodes, &cuts);
    let first = &plan.loops[cuts.first()?.number];
    let group = cuts.iter().map(|cut| plan.loops[cut.number].group).min().unwrap_or(1).clamp(1, 64);
    let stage = |cut: &hot_path::Stage| {
        let lookup = |place: &usize| {
            let table = hot_path::table_of(program, nodes[*place])?;
            let prefetch = line_prefetch(program, &plan.loops[cut.number], table);
            Some(StagedLookup { place: *place, table, prefetch })
        };
        ResolvedStage { place: cut.place, lookups: cut.looked_up.iter().filter_map(lookup).collect() }
    };
    Some(ResolvedPath {
        stages: cuts.iter().map(stage).collect(),
        actions: (0..nodes.len())
            .filter_map(|place| Some((place, hot_path::action(program, planned, place)?)))
            .collect(),
        speculative,
        group,
        vector: first.vector,
        packets: packet_prefetch(first),
        accesses: plan.accesses.unwrap_or_default(),
        nodes,
    })
}

fn other_loop(program: &Program, lp: &Loop) -> Option<ResolvedLoop> {
    let node = node_named(program, &lp.node)?;
    let prefetch = hot_path::table_of(program, node).and_then(|table| line_prefetch(program, lp, table));
    Some(ResolvedLoop { node, batch: lp.batch, group: lp.group, packets: packet_prefetch(lp), prefetch })
}

fn line_prefetch(program: &Program, lp: &Loop, table: TableId) -> Option<LinePrefetch> {
    let found = lp.prefetch_of(&program.tables[table].name)?;
    Some(LinePrefetch { placement: found.placement, hint: found.hint })
}

fn packet_prefetch(lp: &Loop) -> Option<Hint> {
    let found = lp.prefetches.iter().find(|it| it.access == Access::Packet)?;
    Some(found.hint)
}
