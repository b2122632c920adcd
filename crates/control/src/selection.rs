//! Groups of action selectors, as a controller writes them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMember {
    pub member: u32,
    /// How often it is among the choices of the selector.
    pub weight: u32,
    /// The member is left out while this port has no link.
    pub watch: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Group {
    pub members: Vec<GroupMember>,
    /// Weights, or members if the selector counts these, at most; for good. 0 leaves it to the selector.
    pub max_size: u32,
    /// What the controller attached to the group for itself.
    pub note: Vec<u8>,
}

impl From<&[u32]> for Group {
    /// A member that is listed several times has that weight.
    fn from(members: &[u32]) -> Group {
        let mut group = Group::default();
        for member in members {
            match group.members.iter_mut().find(|known| known.member == *member) {
                Some(known) => known.weight += 1,
                None => group.members.push(GroupMember { member: *member, weight: 1, watch: None }),
            }
        }
        group
    }
}
