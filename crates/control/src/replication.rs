//! Multicast groups and clone sessions, as a controller writes them, and their copies.

/// Where a copy goes, and what the program sees of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    pub port: u32,
    pub instance: u16,
}

/// A replica with its backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedReplica {
    pub primary: Replica,
    /// The first of them whose port has a link takes over while the primary's has none.
    pub backups: Vec<Replica>,
}

impl BackedReplica {
    /// The primary and its backups, in order of preference.
    pub fn candidates(&self) -> impl Iterator<Item = &Replica> {
        std::iter::once(&self.primary).chain(&self.backups)
    }

    /// The one that gets copies now; none while all ports are down.
    pub fn live(&self, is_down: impl Fn(u32) -> bool) -> Option<Replica> {
        // Without a backup the port layer drops what no link takes.
        if self.backups.is_empty() {
            return Some(self.primary);
        }
        self.candidates().find(|candidate| !is_down(candidate.port)).copied()
    }

    /// Whether the link of a port decides which candidate gets copies.
    pub fn depends_on(&self, port: u32) -> bool {
        !self.backups.is_empty() && self.candidates().any(|candidate| candidate.port == port)
    }
}

impl From<Replica> for BackedReplica {
    fn from(primary: Replica) -> BackedReplica {
        BackedReplica { primary, backups: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Multicast {
    pub replicas: Vec<BackedReplica>,
    /// What the controller attached to the group for itself.
    pub note: Vec<u8>,
}

impl From<Vec<Replica>> for Multicast {
    fn from(replicas: Vec<Replica>) -> Multicast {
        Multicast { replicas: replicas.into_iter().map(BackedReplica::from).collect(), note: Vec::new() }
    }
}

/// Where a clone session sends its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub target: SessionTarget,
    /// Bytes to which copies are cut; 0 for no limit. The program sees it as `CopyTruncation` and does the cutting.
    pub truncation_bytes: u32,
    /// What the controller attached to the session for itself.
    pub note: Vec<u8>,
}

impl Session {
    pub fn new(target: SessionTarget, truncation_bytes: u32) -> Session {
        Session { target, truncation_bytes, note: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    Members(Vec<BackedReplica>),
    /// The members that the multicast group has when the copy is made.
    Group(u32),
}

impl From<Vec<Replica>> for SessionTarget {
    fn from(replicas: Vec<Replica>) -> SessionTarget {
        SessionTarget::Members(replicas.into_iter().map(BackedReplica::from).collect())
    }
}
