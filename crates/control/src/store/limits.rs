//! How large the groups of a selector may be, given by the program.

use crate::plane::Group;
use crate::{Refusal, RefusalKind};
use hlir::interface::{Detail, ObjectKind, SizeSemantics, SourceObject, SourceSelector};
use hlir::{ActionSet, ProfileId, Program};

/// Weights of a group at most: what a selector's table has room for.
const LARGEST_GROUP: u64 = 65_536;

pub struct Limits<'p> {
    name: &'p str,
    /// Of all groups together; 0 for none.
    size: u64,
    /// Of one group; 0 for none.
    largest_group: u64,
    semantics: SizeSemantics,
}

impl<'p> Limits<'p> {
    pub fn of(program: &'p Program, profile: ProfileId) -> Limits<'p> {
        let name = program.profiles[profile].name.as_str();
        let is_it = |object: &&SourceObject| object.detail.kind() == ObjectKind::ActionProfile && object.name == name;
        let object = program.interface.objects.iter().find(is_it);
        let declared = match object.map(|object| &object.detail) {
            Some(Detail::ActionProfile { size, selector: Some(selector), .. }) => Some((*size, selector)),
            Some(_) | None => None,
        };
        let none = SourceSelector { largest_group: 0, semantics: None };
        let (size, SourceSelector { largest_group, semantics }) = declared.unwrap_or((0, &none));
        let semantics = semantics.unwrap_or(SizeSemantics::SumOfWeights);
        Limits { name, size, largest_group: *largest_group, semantics }
    }

    /// Whether a group has room for its own members.
    pub fn check_group(&self, number: u32, group: &Group) -> Result<(), Refusal> {
        let (largest, max_size) = (self.largest_group, u64::from(group.max_size));
        if largest > 0 && max_size > largest {
            let sentence = format!("the largest size of a group is from 1 to {largest}, not {max_size}");
            return Err(Refusal::wrong(sentence));
        }
        let room = [max_size, largest].into_iter().find(|room| *room > 0).unwrap_or(LARGEST_GROUP);
        self.check_weights(group.members.iter().map(|of| of.weight), room, &format!("group {number}"))
    }

    /// Whether an entry may have such a set.
    pub fn check_set(&self, set: &ActionSet) -> Result<(), Refusal> {
        let semantics = match (set.semantics, self.semantics) {
            (Some(SizeSemantics::SumOfWeights), _) => SizeSemantics::SumOfWeights,
            (Some(counted @ SizeSemantics::SumOfMembers(_)), SizeSemantics::SumOfWeights) => counted,
            (Some(SizeSemantics::SumOfMembers(_)) | None, of_selector) => of_selector,
        };
        let limits = Limits { semantics, ..*self };
        let weights = set.actions.iter().map(|action| action.weight);
        let (largest, size) = (self.largest_group, limits.size_by(weights.clone()));
        if largest > 0 && size > largest {
            return Err(Refusal::wrong(format!("a set has room for {largest}, not {size}")));
        }
        limits.check_weights(weights, LARGEST_GROUP, "a set")
    }

    /// Whether there is room for a group beside the others.
    pub fn check_room<'g>(&self, group: &Group, others: impl Iterator<Item = &'g Group>) -> Result<(), Refusal> {
        if self.size == 0 {
            return Ok(());
        }
        let taken: u64 = others.map(|other| self.size_of(other)).sum();
        if taken + self.size_of(group) > self.size {
            let sentence = format!("the groups of `{}` have room for {} in all", self.name, self.size);
            return Err(Refusal::new(RefusalKind::Full, sentence));
        }
        Ok(())
    }

    fn check_weights(&self, weights: impl Iterator<Item = u32> + Clone, room: u64, what: &str) -> Result<(), Refusal> {
        if let SizeSemantics::SumOfMembers(Some(heaviest)) = self.semantics
            && weights.clone().any(|weight| u64::from(weight) > heaviest)
        {
            return Err(Refusal::wrong(format!("the weight of a member is at most {heaviest}")));
        }
        let sum: u64 = weights.clone().map(u64::from).sum();
        let size = self.size_by(weights);
        if size > room || sum > LARGEST_GROUP {
            return Err(Refusal::new(RefusalKind::Full, format!("{what} has room for {room}, not {size}")));
        }
        Ok(())
    }

    fn size_of(&self, group: &Group) -> u64 {
        self.size_by(group.members.iter().map(|of| of.weight))
    }

    fn size_by(&self, weights: impl Iterator<Item = u32>) -> u64 {
        match self.semantics {
            SizeSemantics::SumOfMembers(_) => weights.count() as u64,
            SizeSemantics::SumOfWeights => weights.map(u64::from).sum(),
        }
    }
}
