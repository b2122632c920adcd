//! Random plans. They are read whether or not they fit a program.

use super::Generator;
use hlir::Plan;
use hlir::plan::{
    Access, AccessMode, Alternative, Choice, Descriptor, Expectation, Hint, HotPath, Instrument, JoinChoice, JoinKind,
    JointTables, Loop, Placement, Prefetch, Queue, Reason, StageLookup, StagedPath, Structure, TablePlan,
};
use std::collections::BTreeMap;

impl Generator<'_> {
    pub fn plan(&mut self) -> Plan {
        Plan {
            descriptor: self.pick(&[Descriptor::Mbuf, Descriptor::Own]),
            burst: self.number(),
            hot_path: self.once_in(2).then(|| self.path()),
            loops: self.several(3, Self::plan_loop),
            next_paths: self.several(2, |it| {
                let loops = it.several(2, Self::plan_loop);
                StagedPath { path: it.path(), loops }
            }),
            tables: self.several(3, |it| TablePlan {
                table: it.name(),
                structure: it.pick(&Structure::ALL),
                reason: it.cost(),
            }),
            joints: self.several(2, |it| {
                let (table, primary, bits) = (it.name(), it.name(), it.number());
                JointTables { secondary: table, primary, bits, reason: it.cost() }
            }),
            joins: self.several(2, |it| {
                let (first, second, made) = (it.name(), it.name(), it.once_in(2));
                let kind = if it.once_in(2) { JoinKind::Table } else { JoinKind::Value };
                JoinChoice { first, second, kind, made, reason: it.cost() }
            }),
            queues: self.several(2, |it| {
                let (node, capacity, timeout) = (it.name(), it.number(), it.number());
                Queue { node, capacity, timeout, reason: it.cost() }
            }),
            accesses: self.once_in(2).then(|| self.pick(&[AccessMode::Base, AccessMode::Combined, AccessMode::Cached])),
            instrument: Instrument { edges: self.once_in(2) },
            expectations: self.several(2, |it| {
                let (table, least, most) = (it.name(), u64::from(it.number()), u64::from(it.number()));
                it.pick(&[
                    Expectation::Entries { table: table.clone(), least, most },
                    Expectation::Hits { table, tenths: least },
                    Expectation::OnPath { tenths: least },
                    Expectation::Pages { bytes: most },
                ])
            }),
        }
    }

    fn plan_loop(&mut self) -> Loop {
        Loop {
            node: self.name(),
            batch: self.number(),
            group: self.number(),
            vector: self.number(),
            lookups: self.several(2, |it| StageLookup { table: it.name(), reason: it.cost() }),
            prefetches: self.several(2, |it| it.request()),
            reason: self.cost(),
        }
    }

    fn path(&mut self) -> HotPath {
        let nodes = self.several(3, |it| it.name());
        let places = (0..nodes.len()).filter(|_| self.once_in(3)).collect::<Vec<usize>>();
        let actions = places.into_iter().map(|place| (place, self.name())).collect::<BTreeMap<usize, String>>();
        HotPath { nodes: nodes.into(), actions: actions.into(), reason: self.cost() }
    }

    fn request(&mut self) -> Prefetch {
        let access = match self.below(2) {
            0 => Access::Packet,
            _ => Access::Table(self.name()),
        };
        let behind = [Placement::WithLookups, Placement::WithCommit, Placement::WithKeys];
        let behind = self.pick(&behind);
        let placement = self.pick(&[Placement::OwnLoop, behind]);
        let hint = self.pick(&[Hint::T0, Hint::T1]);
        Prefetch { access, placement, distance: self.number(), hint, reason: self.cost() }
    }

    fn cost(&mut self) -> Option<Reason> {
        self.some(|it| Reason {
            cost: u64::from(it.number()) * u64::from(it.number()),
            alternatives: it.several(2, |it| {
                let (structure, name) = (it.pick(&Structure::ALL), it.name());
                let placement = it.pick(&[Placement::OwnLoop, Placement::WithLookups, Placement::WithKeys]);
                let choices = [
                    Choice::Structure(structure),
                    Choice::Placement(placement),
                    Choice::WithStage(name),
                    Choice::Group(it.number()),
                    Choice::Vector(it.number()),
                    Choice::Burst(it.number()),
                    Choice::Descriptor(Descriptor::Own),
                    Choice::NoPrefetch,
                    Choice::Unstaged,
                    Choice::Stage,
                    Choice::Scalar,
                    Choice::Spread,
                    Choice::Separate,
                    Choice::JointTable,
                    Choice::ByValue,
                    Choice::Unspecialised,
                    Choice::PacketByPacket,
                ];
                Alternative { choice: it.pick(&choices), cost: u64::from(it.number()) }
            }),
        })
    }
}
