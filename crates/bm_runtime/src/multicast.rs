//! Multicast groups of nodes: the store has the copies of a group, the nodes and link aggregation groups are kept here. And mirroring sessions.

use crate::device::Work;
use crate::replication::{MirroringCode, MirroringSession, MulticastCode};
use crate::service::Fault;
use control::plane::{Replica, Session, SessionTarget};
use control::{Refusal, Update};
use std::collections::BTreeMap;

type Answer<T> = Result<T, Fault<MulticastCode>>;

/// Ports are numbers of at most so many bits.
const MOST_PORTS: usize = 1 << 16;

/// The largest number of a link aggregation group in BMv2 (`McSimplePreLAG::LAG_MAX_ENTRIES`).
const LARGEST_LAG: u32 = 256;
/// BMv2 has no hash of the packet yet: this constant chooses the port of a link aggregation group.
const LAG_HASH: usize = 0xff;

/// Where a node sends its copies.
#[derive(Default)]
struct Targets {
    ports: Vec<u32>,
    /// Of link aggregation groups, one port each.
    lags: Vec<u32>,
}

struct Node {
    instance: u16,
    targets: Targets,
    group: Option<u32>,
}

/// What clients have made.
#[derive(Default)]
pub struct Nodes {
    nodes: BTreeMap<i32, Node>,
    /// The nodes of each group, in the order in which they were associated.
    groups: BTreeMap<u32, Vec<i32>>,
    /// The ports of each link aggregation group.
    lags: BTreeMap<u32, Vec<u32>>,
}

/// The ports of a map, or its link aggregation groups: number 0 is at its end.
fn ports(map: &str) -> Option<Vec<u32>> {
    if map.len() > MOST_PORTS || map.bytes().any(|digit| !matches!(digit, b'0' | b'1')) {
        return None;
    }
    Some((0..).zip(map.bytes().rev()).filter(|(_, digit)| *digit == b'1').map(|(port, _)| port).collect())
}

fn targets(map: &str, lags: &str) -> Answer<Targets> {
    let numbers = |map| ports(map).ok_or(MulticastCode::Error);
    Ok(Targets { ports: numbers(map)?, lags: numbers(lags)? })
}

impl Nodes {
    fn replicas(&self, group: u32) -> Vec<Replica> {
        let nodes = self.groups.get(&group).into_iter().flatten().filter_map(|node| self.nodes.get(node));
        let replica = |node: &Node, port| Replica { port, instance: node.instance };
        nodes.flat_map(|node| self.ports(&node.targets).map(|port| replica(node, port))).collect()
    }

    /// The ports themselves, then one of each link aggregation group that has any.
    fn ports<'a>(&'a self, targets: &'a Targets) -> impl Iterator<Item = u32> + 'a {
        let chosen = targets.lags.iter().filter_map(|lag| {
            let members = self.lags.get(lag).filter(|members| !members.is_empty())?;
            Some(members[LAG_HASH % members.len()])
        });
        targets.ports.iter().copied().chain(chosen)
    }

    /// The groups that send to a link aggregation group.
    fn with_lag(&self, lag: u32) -> Vec<u32> {
        let nodes = self.nodes.values().filter(|node| node.targets.lags.contains(&lag));
        let groups: std::collections::BTreeSet<u32> = nodes.filter_map(|node| node.group).collect();
        groups.into_iter().collect()
    }

    fn node(&mut self, handle: i32) -> Answer<&mut Node> {
        Ok(self.nodes.get_mut(&handle).ok_or(MulticastCode::InvalidNode)?)
    }

    /// As BMv2 has them: nodes of the second level have the ports of one node each.
    fn dump(&self) -> serde_json::Value {
        let groups = self.groups.iter().map(|(group, nodes)| serde_json::json!({ "id": group, "l1_handles": nodes }));
        let nodes = self
            .nodes
            .iter()
            .map(|(handle, node)| serde_json::json!({ "handle": handle, "rid": node.instance, "l2_handle": handle }));
        let ports = self.nodes.iter().map(|(handle, Node { targets, .. })| {
            serde_json::json!({ "handle": handle, "ports": targets.ports, "lags": targets.lags })
        });
        let lags = self.lags.iter().map(|(lag, ports)| serde_json::json!({ "id": lag, "ports": ports }));
        serde_json::json!({
            "mgrps": groups.collect::<Vec<_>>(),
            "l1_handles": nodes.collect::<Vec<_>>(),
            "l2_handles": ports.collect::<Vec<_>>(),
            "lags": lags.collect::<Vec<_>>(),
        })
    }
}

impl Work<'_> {
    fn multicast_group(&self, group: i32) -> Answer<u32> {
        let known = u32::try_from(group).ok().filter(|group| self.state.nodes.groups.contains_key(group));
        Ok(known.ok_or(MulticastCode::InvalidGroupHandle)?)
    }

    /// The store has a group as its nodes are now.
    fn write_group(&mut self, group: u32) -> Answer<()> {
        let replicas = self.state.nodes.replicas(group);
        let value = Some(replicas.into());
        Ok(self.write(&Update::SetMulticast { group, value }).map_err(|_| MulticastCode::Error)?)
    }

    /// As in BMv2, a group that is there stays as it is.
    pub fn create_multicast(&mut self, group: i32) -> Answer<i32> {
        let number = u32::try_from(group).ok().filter(|group| (1..MOST_PORTS as u32).contains(group));
        let number = number.ok_or(MulticastCode::InvalidGroup)?;
        if self.state.nodes.groups.contains_key(&number) {
            return Ok(group);
        }
        self.write_group(number)?;
        self.state.nodes.groups.insert(number, Vec::new());
        Ok(group)
    }

    /// As in BMv2, a group that is not there is none that has to be deleted.
    pub fn destroy_multicast(&mut self, group: i32) -> Answer<()> {
        let Ok(group) = self.multicast_group(group) else { return Ok(()) };
        self.write(&Update::SetMulticast { group, value: None }).map_err(|_| MulticastCode::Error)?;
        for node in self.state.nodes.groups.remove(&group).unwrap_or_default() {
            self.state.nodes.node(node)?.group = None;
        }
        Ok(())
    }

    pub fn create_node(&mut self, rid: i32, map: &str, lags: &str) -> Answer<i32> {
        let targets = targets(map, lags)?;
        let instance = u16::try_from(rid).map_err(|_| MulticastCode::Error)?;
        let nodes = &mut self.state.nodes.nodes;
        let handle = nodes.keys().zip(0..).find(|(used, at)| *used != at).map_or(nodes.len() as i32, |(_, at)| at);
        nodes.insert(handle, Node { instance, targets, group: None });
        Ok(handle)
    }

    pub fn update_node(&mut self, handle: i32, map: &str, lags: &str) -> Answer<()> {
        let targets = targets(map, lags)?;
        let node = self.state.nodes.node(handle)?;
        node.targets = targets;
        let group = node.group;
        group.map_or(Ok(()), |group| self.write_group(group))
    }

    pub fn associate(&mut self, group: i32, handle: i32) -> Answer<()> {
        let group = self.multicast_group(group)?;
        let node = self.state.nodes.node(handle)?;
        if node.group.is_some() {
            return Err(MulticastCode::Error.into());
        }
        node.group = Some(group);
        self.state.nodes.groups.entry(group).or_default().push(handle);
        self.write_group(group)
    }

    pub fn dissociate(&mut self, group: i32, handle: i32) -> Answer<()> {
        let group = self.multicast_group(group)?;
        let node = self.state.nodes.node(handle)?;
        if node.group != Some(group) {
            return Err(MulticastCode::Error.into());
        }
        node.group = None;
        self.state.nodes.groups.entry(group).or_default().retain(|other| *other != handle);
        self.write_group(group)
    }

    pub fn destroy_node(&mut self, handle: i32) -> Answer<()> {
        if let Some(group) = self.state.nodes.node(handle)?.group {
            self.dissociate(group as i32, handle)?;
        }
        self.state.nodes.nodes.remove(&handle);
        Ok(())
    }

    /// Sets the ports of a link aggregation group, also for the nodes that have it already.
    pub fn set_lag(&mut self, lag: i16, map: &str) -> Answer<()> {
        let lag = u32::try_from(lag).ok().filter(|lag| *lag <= LARGEST_LAG).ok_or(MulticastCode::Error)?;
        let members = ports(map).ok_or(MulticastCode::Error)?;
        self.state.nodes.lags.insert(lag, members);
        self.state.nodes.with_lag(lag).into_iter().try_for_each(|group| self.write_group(group))
    }

    pub fn multicast_entries(&self) -> String {
        self.state.nodes.dump().to_string()
    }

    pub fn set_mirroring(&mut self, session: i32, config: &MirroringSession) -> Result<(), Refusal> {
        let number = |given: i32, what: &str| {
            u32::try_from(given).map_err(|_| Refusal::wrong(format!("{given} is no number of a {what}")))
        };
        let target = match (config.port, config.mgid) {
            (_, Some(group)) => SessionTarget::Group(number(group, "multicast group")?),
            (Some(port), None) => vec![Replica { port: number(port, "port")?, instance: 0 }].into(),
            (None, None) => Vec::new().into(),
        };
        let session = number(session, "session")?;
        self.write(&Update::SetSession { session, value: Some(Session::new(target, 0)) })
    }

    /// False if there is no such session.
    pub fn delete_mirroring(&mut self, session: i32) -> Result<bool, Refusal> {
        let session = session as u32;
        if self.store().session(session).is_none() {
            return Ok(false);
        }
        self.write(&Update::SetSession { session, value: None }).map(|()| true)
    }

    pub fn mirroring(&mut self, session: i32) -> Result<MirroringSession, Fault<MirroringCode>> {
        let session = self.store().session(session as u32).ok_or(MirroringCode::NotFound)?;
        Ok(match &session.target {
            SessionTarget::Group(group) => MirroringSession { port: None, mgid: Some(*group as i32) },
            SessionTarget::Members(members) => {
                MirroringSession { port: members.first().map(|member| member.primary.port as i32), mgid: None }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ports;

    #[test]
    fn port_0_is_at_the_end_of_a_map() {
        assert_eq!(ports("1011"), Some(vec![0, 1, 3]));
        assert_eq!(ports(""), Some(vec![]));
        assert_eq!(ports("12"), None);
    }
}
