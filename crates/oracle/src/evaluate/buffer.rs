//! What the control plane configures behind a pipeline: multicast groups and the sessions that clones and mirrored packets use.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::{Run, unsupported};

#[derive(Default)]
pub struct Buffer {
    /// The members of multicast groups: replica and port.
    groups: BTreeMap<u32, Vec<(u32, u32)>>,
    /// Nodes of multicast groups, by number: a replica and its ports.
    nodes: Vec<(u32, Vec<u32>)>,
    sessions: BTreeMap<BigInt, Destination>,
}

/// Where the copies of a session go.
#[derive(Clone, Copy)]
enum Destination {
    Port(u32),
    Group(u32),
}

impl Buffer {
    pub fn add_session(&mut self, session: BigInt, port: u32) {
        self.sessions.insert(session, Destination::Port(port));
    }

    pub fn add_session_of_group(&mut self, session: BigInt, group: u32) {
        self.sessions.insert(session, Destination::Group(group));
    }

    pub fn add_node(&mut self, replica: u32, ports: Vec<u32>) {
        self.nodes.push((replica, ports));
    }

    pub fn add_to_group(&mut self, group: u32, node: usize) -> Run<()> {
        let Some((replica, ports)) = self.nodes.get(node) else { return unsupported(format!("node {node}")) };
        let members = ports.iter().map(|port| (*replica, *port));
        self.groups.entry(group).or_default().extend(members);
        Ok(())
    }

    /// The members of a group, each a replica and a port; none of one that does not exist.
    pub(super) fn members(&self, group: u32) -> Vec<(u32, u32)> {
        self.groups.get(&group).cloned().unwrap_or_default()
    }

    /// The copies that a session makes, each an instance and a port; none if it does not exist.
    pub(super) fn copies(&self, session: &BigInt) -> Vec<(u32, u32)> {
        match self.sessions.get(session) {
            Some(Destination::Port(port)) => vec![(0, *port)],
            Some(Destination::Group(group)) => self.members(*group),
            None => Vec::new(),
        }
    }

    /// The port of a session of v1model.
    pub(super) fn session_port(&self, session: &BigInt) -> Run<Option<u32>> {
        match self.sessions.get(session) {
            Some(Destination::Port(port)) => Ok(Some(*port)),
            Some(Destination::Group(_)) => unsupported("a session with a group in v1model"),
            None => Ok(None),
        }
    }
}
