//! What the data plane gets of what was written, while some ports have no link.
//!
//! The live replicas of a multicast group follow from two things: from the group as it was written, and from the links. So do the choices
//! of a selector's group. So an update for a port changes objects that it does not name. [`Store::derived`] names them; the data plane
//! then writes each as the store has it now.

use super::profiles::has;
use super::{Store, index};
use crate::Update;
use crate::plane::{BackedReplica, Replica, SessionTarget};
use hlir::entry::EntryAction;
use hlir::{ActionCall, ActionSet, Entry, Match, ProfileId, TableId};

/// An object that the data plane has as the store derives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derived {
    /// A group of a selector.
    Group(ProfileId, u32),
    /// The set of an entry of the table, by its number.
    Set(TableId, u32),
    Multicast(u32),
    Session(u32),
}

impl Store {
    pub fn is_down(&self, port: u32) -> bool {
        self.ports_down.contains(&port)
    }

    /// The actions of which a group's selector chooses, each as often as it has weight; none if there is no such group.
    pub fn choices(&self, profile: ProfileId, group: u32) -> Option<Vec<(&ActionCall, u32)>> {
        let members = &self.profiles[index(profile)].members;
        let written = self.group(profile, group)?.members.iter();
        let live = written.filter(|of| of.watch.is_none_or(|port| !self.is_down(port)));
        Some(live.filter_map(|of| Some((members.get(&of.member)?, of.weight))).collect())
    }

    /// The number of the set that this entry has.
    pub fn set_number(&self, table: TableId, entry: &Entry) -> Option<u32> {
        match entry.action {
            EntryAction::Set(_) => {
                let table = &self.tables[index(table)];
                table.set_of(&table.key(&entry.matches, entry.priority))
            }
            EntryAction::Call(_) | EntryAction::Member(_) | EntryAction::Group(_) => None,
        }
    }

    /// The numbers of all sets of a table.
    pub fn sets(&self, table: TableId) -> impl Iterator<Item = u32> {
        self.tables[index(table)].sets.iter().map(|(number, _)| number)
    }

    /// The actions of which a selector chooses for the entry with this set, each as often as it has weight; none if no entry has it.
    pub fn set_choices(&self, table: TableId, number: u32) -> Option<Vec<(&ActionCall, u32)>> {
        let written = self.tables[index(table)].sets.get(number)?.actions.iter();
        let live = written.filter(|action| action.watch.is_none_or(|port| !self.is_down(port)));
        Some(live.map(|action| (&action.call, action.weight)).collect())
    }

    /// The replicas that get a copy of a packet to this multicast group.
    pub fn replicas(&self, group: u32) -> Vec<Replica> {
        self.multicast(group).map(|value| self.live_replicas(&value.replicas)).unwrap_or_default()
    }

    /// The replicas that copies of a clone session become, and the bytes to which they are cut.
    pub fn session_members(&self, session: u32) -> Option<(Vec<Replica>, u32)> {
        let session = self.session(session)?;
        let members = match &session.target {
            SessionTarget::Members(members) => self.live_replicas(members),
            SessionTarget::Group(group) => self.replicas(*group),
        };
        Some((members, session.truncation_bytes))
    }

    /// The objects that the data plane has otherwise once this update is kept.
    pub fn derived(&self, update: &Update) -> Vec<Derived> {
        match update {
            Update::Insert { table, entry } | Update::Modify { table, entry } => {
                self.set_and_released(*table, &entry.matches, entry.priority)
            }
            Update::Delete(key) => self.set_and_released(key.table, &key.matches, key.priority),
            Update::SetMember { profile, member, .. } => {
                let using = self.groups(*profile).filter(|(_, group)| has(group, *member));
                using.map(|(group, _)| Derived::Group(*profile, group)).collect()
            }
            Update::SetGroup { profile, group, .. } | Update::DeleteGroup { profile, group } => {
                vec![Derived::Group(*profile, *group)]
            }
            Update::SetMulticast { group, .. } => self.with_followers(*group).collect(),
            Update::SetSession { session, .. } => vec![Derived::Session(*session)],
            Update::SetPort { port, .. } => self.depending_on(*port),
            Update::SetDefault { .. }
            | Update::SetIdleTimeout { .. }
            | Update::SetExpiry { .. }
            | Update::DeleteMember { .. }
            | Update::SetValueSet { .. }
            | Update::SetCrc { .. }
            | Update::SetMeter { .. }
            | Update::Record(_) => Vec::new(),
        }
    }

    pub(super) fn set_port(&mut self, port: u32, up: bool) -> Update {
        let was_down = if up { self.ports_down.remove(&port) } else { !self.ports_down.insert(port) };
        Update::SetPort { port, up: !was_down }
    }

    /// The set of an entry, and those that no entry has any more since the latest update.
    fn set_and_released(&self, table: TableId, matches: &[Match], priority: u32) -> Vec<Derived> {
        let store = &self.tables[index(table)];
        if store.sets.is_unused() {
            return Vec::new();
        }
        let set = store.set_of(&store.key(matches, priority)).into_iter();
        set.chain(store.sets.released().iter().copied()).map(|number| Derived::Set(table, number)).collect()
    }

    fn live_replicas(&self, replicas: &[BackedReplica]) -> Vec<Replica> {
        replicas.iter().filter_map(|replica| replica.live(|port| self.is_down(port))).collect()
    }

    /// A multicast group, and the sessions that send to it.
    fn with_followers(&self, group: u32) -> impl Iterator<Item = Derived> {
        let follows = move |target: &SessionTarget| *target == SessionTarget::Group(group);
        let sessions = self.sessions().filter(move |(_, session)| follows(&session.target));
        std::iter::once(Derived::Multicast(group)).chain(sessions.map(|(session, _)| Derived::Session(session)))
    }

    fn depending_on(&self, port: u32) -> Vec<Derived> {
        let watching = self.program.profiles.iter().flat_map(|(profile, _)| {
            let watching =
                self.groups(profile).filter(|(_, group)| group.members.iter().any(|of| of.watch == Some(port)));
            watching.map(move |(group, _)| Derived::Group(profile, group))
        });
        let sets = self.program.tables.iter().flat_map(|(table, _)| {
            let watches = |set: &ActionSet| set.actions.iter().any(|action| action.watch == Some(port));
            let sets = self.tables[index(table)].sets.iter().filter(move |(_, set)| watches(set));
            sets.map(move |(number, _)| Derived::Set(table, number))
        });
        let depend = |replicas: &[BackedReplica]| replicas.iter().any(|replica| replica.depends_on(port));
        let groups = self.multicast_groups().filter(|(_, value)| depend(&value.replicas));
        let sessions = self.sessions().filter(|(_, session)| match &session.target {
            SessionTarget::Members(members) => depend(members),
            SessionTarget::Group(_) => false,
        });
        let groups = groups.flat_map(|(group, _)| self.with_followers(group));
        watching.chain(sets).chain(groups).chain(sessions.map(|(session, _)| Derived::Session(session))).collect()
    }
}
