//! The commit phase under what is known of its packets: none took a side exit, and each effect has its condition.
//! The expected commit is the same for packets that hit in every lookup and run the expected actions.

use crate::arrival::Leaf;
use crate::known::Known;
use crate::region::{Ended, Region};
use crate::run::{Run, Separation};
use crate::value::{Found, NO_MEMBER, Operation, Value};
use crate::{Commit, Does, Effect, LateLookup, Obstacle, Stage};
use hlir::NodeId;
use hlir::hot_path::has_lasting_outcome;
use std::collections::HashMap;

impl Run<'_> {
    /// The commit phase from a node on, and the expected one.
    pub fn committed(
        &mut self,
        stages: &[Stage],
        from: NodeId,
    ) -> std::result::Result<(Commit, Option<Commit>), Obstacle> {
        if let Some(deferred) = self.deferred.take() {
            return Err(deferred);
        }
        let region = Region::of(self.program, from);
        let region = region.ok_or(Obstacle { node: from, does: "leads to a cycle of the graph".into() })?;
        let taken = self.known_of(stages);
        let mut ended = self.ended(&region, &taken)?;
        self.decided_again(stages, &mut ended);
        let expected = self.expected(&taken, &ended);
        let commit = self.commit_of(&ended, taken);
        if !self.ends_all(&commit) {
            return Err(Obstacle { node: from, does: "has packets without an end".into() });
        }
        self.values.commit_in_words(&commit)?;
        let expected = expected.filter(|commit| self.values.commit_in_words(commit).is_ok());
        if !self.expected_stays(&commit.lookups) {
            return Err(Obstacle {
                node: from,
                does: "has an action, or leads to a node, that cannot be scheduled".into(),
            });
        }
        Ok((commit, expected))
    }

    /// What the region does with packets. Those that give a packet other headers than the rest take side exits, unless that is what
    /// the path's own packets do: then they are separated.
    fn ended(&mut self, region: &Region, taken: &Known) -> std::result::Result<Ended, Obstacle> {
        let (state, effects) = (self.state.clone(), self.effects.clone());
        let ended = self.region(region, taken);
        if ended.as_ref().is_ok_and(|ended| self.sends_expected(ended)) {
            return ended;
        }
        (self.state, self.effects, self.late) = (state, effects, Vec::new());
        let barred = self.barred;
        self.separation = Some(Separation::default());
        let separated = self.region(region, taken);
        self.separation = None;
        match separated {
            Ok(other) if ended.is_err() || self.sends_expected(&other) => Ok(other),
            Ok(_) | Err(_) => {
                self.barred = barred;
                ended
            }
        }
    }

    /// Whether some packets are sent that hit along the path and run its expected actions.
    fn sends_expected(&mut self, ended: &Ended) -> bool {
        let place = |node: &NodeId| self.path.nodes.iter().position(|on_path| on_path == node);
        let late = ended.lookups.iter().map(|late| late.node).filter(|node| place(node).is_some());
        let hits: Vec<NodeId> = self.lookups.iter().map(|lookup| lookup.node).chain(late).collect();
        let actions = hits.iter().filter_map(|node| Some((*node, *self.path.actions.get(&place(node)?)?))).collect();
        let mut known = Known::default().and_of_lookups(hits, actions);
        ended.leaves.iter().filter(|leaf| leaf.is_sent()).any(|leaf| {
            let stay = self.values.and_not(leaf.when, ended.exits);
            let stay = known.of(&mut self.values, stay);
            self.values.holds(stay) != Some(false)
        })
    }

    /// Whether the last end is that of all packets that are left.
    fn ends_all(&self, commit: &Commit) -> bool {
        commit.effects.last().is_some_and(|last| self.values.holds(last.when) == Some(true))
    }

    /// Whether a value depends on a lookup that no stage makes.
    pub fn is_decided_late(&self, value: Value) -> bool {
        self.values.needed([value]).into_iter().any(|needed| {
            let Operation::Lookup { node, .. } = self.values.of(needed) else { return false };
            !self.lookups.iter().any(|lookup| lookup.node == *node)
        })
    }

    /// Exits that a lookup decides whose default action may be another one by commit.
    fn decided_again(&mut self, stages: &[Stage], ended: &mut Ended) {
        for exit in stages.iter().flat_map(|stage| &stage.exits) {
            let needed = self.values.needed([exit.when]);
            let may_change = needed.iter().any(|value| {
                let Operation::Lookup { node, .. } = self.values.of(*value) else { return false };
                !has_lasting_outcome(self.program, *node)
            });
            if may_change {
                ended.exits = self.values.or(ended.exits, exit.when);
            }
        }
    }

    /// What is known of packets that come to the commit phase: they took no side exit of a stage.
    pub fn known_of(&mut self, stages: &[Stage]) -> Known {
        let mut known = Known::default();
        for exit in stages.iter().flat_map(|stage| &stage.exits) {
            known.assume(&mut self.values, exit.when, false);
        }
        known
    }

    /// Commit under the plan's expectations, if it has any.
    pub fn expected(&mut self, known: &Known, ended: &Ended) -> Option<Commit> {
        let actions = self.expected_actions();
        if actions.is_empty() {
            return None;
        }
        let hits = self.lookups.iter().map(|lookup| lookup.node).collect();
        let commit = self.commit_of(ended, known.clone().and_of_lookups(hits, actions));
        // All packets may exit that run the expected actions.
        let exits = self.values.holds(commit.exits) == Some(true);
        (self.ends_all(&commit) && !exits).then_some(Commit { missed: None, ..commit })
    }

    /// Commit with what is known of its packets.
    pub fn commit_of(&mut self, ended: &Ended, mut known: Known) -> Commit {
        // Exits of stages may be decided again.
        let exits = known.without_conditions().of(&mut self.values, ended.exits);
        known.assume(&mut self.values, exits, false);
        let values = &mut self.values;
        let lookups = ended.lookups.iter().map(|lookup| LateLookup {
            key: lookup.key.iter().map(|limb| known.of(values, *limb)).collect(),
            when: known.of(values, lookup.when),
            ..lookup.clone()
        });
        let lookups: Vec<LateLookup> = lookups.collect();
        let lookups = lookups.into_iter().filter(|lookup| self.values.holds(lookup.when) != Some(false)).collect();
        let common = common_effects(&ended.leaves);
        let mut effects = self.effects_under(common, &mut known);
        for leaf in self.by_likelihood(&ended.leaves) {
            effects.extend(self.effects_of(leaf, common.len(), &mut known));
        }
        self.end_all(&mut effects);
        Commit { exits, lookups, effects, missed: ended.missed.clone() }
    }

    /// Ends in the order in which packets are distinguished, choice by choice. The last one is that of packets that hit along
    /// the hot path, and run its expected actions.
    fn by_likelihood<'l>(&mut self, leaves: &'l [Leaf]) -> Vec<&'l Leaf> {
        let on_path = self.path.nodes.iter().enumerate();
        let actions = on_path.filter_map(|(place, node)| Some((*node, *self.path.actions.get(&place)?))).collect();
        let mut expected = Known::default().and_of_lookups(self.path.nodes.clone(), actions);
        let mut marked = Vec::new();
        for leaf in leaves {
            let when = expected.of(&mut self.values, leaf.when);
            let is_possible = leaf.is_sent() && self.values.holds(when) != Some(false);
            marked.push((if is_possible { leaf.on_path + 1 } else { 0 }, leaf));
        }
        by_choices(marked, 0)
    }

    /// The effects of packets with the same end, under what is known of them. From then on, others are left. Bytes of
    /// the packet are stored last.
    fn effects_of(&mut self, leaf: &Leaf, done: usize, known: &mut Known) -> Vec<Effect> {
        let when = known.of(&mut self.values, leaf.when);
        if self.values.holds(when) == Some(false) {
            return Vec::new();
        }
        let mut packets = known.clone();
        packets.assume(&mut self.values, when, true);
        known.assume(&mut self.values, when, false);
        // Lookups are counted where side exits are taken.
        let mut happen = if leaf.leaves() { Vec::new() } else { self.not_made(leaf, &mut packets) };
        let (end, before) = leaf.effects.split_last().expect("packets end");
        let (mut changes, others): (Vec<&Effect>, Vec<&Effect>) =
            before[done..].iter().partition(|effect| effect.does.is_change());
        if !leaf.is_sent() {
            changes.clear();
        }
        let end = Effect { when: self.values.bool(true), ..end.clone() };
        happen.extend(self.effects_under(others.into_iter().chain(changes).chain([&end]), &mut packets));
        for effect in &mut happen {
            effect.when = self.values.and(when, effect.when);
        }
        happen
    }

    /// Effects of packets: those that there are, with operands as they are where these happen.
    fn effects_under<'e>(&mut self, effects: impl IntoIterator<Item = &'e Effect>, known: &mut Known) -> Vec<Effect> {
        let (mut happen, mut moved) = (Vec::new(), 0);
        for effect in effects {
            let when = known.of(&mut self.values, effect.when);
            if self.values.holds(when) == Some(false) {
                continue;
            }
            let mut only = known.clone();
            only.assume(&mut self.values, when, true);
            let does = effect.does.with(|value| only.of(&mut self.values, value));
            if let Does::Move { bytes } = does {
                moved = bytes;
            }
            if !self.stores_what_is_there(&does, moved) {
                happen.push(Effect { when, node: effect.node, does });
            }
        }
        happen
    }

    /// The last end is that of all packets that are left.
    fn end_all(&mut self, effects: &mut [Effect]) {
        let Some(last) = effects.last().map(|last| last.when) else { return };
        let mut known = Known::default();
        known.assume(&mut self.values, last, true);
        let first =
            effects.iter().rposition(|effect| effect.does.is_end() && effect.when != last).map_or(0, |end| end + 1);
        for effect in &mut effects[first..] {
            effect.when = known.of(&mut self.values, effect.when);
        }
    }

    /// Lookups of the commit phase that these packets do not make. They were counted for all.
    fn not_made(&mut self, leaf: &Leaf, packets: &mut Known) -> Vec<Effect> {
        let last = self.path.stages.last().map_or(0, |stage| stage.place);
        let behind: Vec<NodeId> =
            self.lookups.iter().filter(|lookup| lookup.place >= last).map(|lookup| lookup.node).collect();
        let no = self.values.bool(false);
        let mut effects = Vec::new();
        for lookup in behind {
            let made = packets.of(&mut self.values, leaf.made.get(&lookup).copied().unwrap_or(no));
            let when = self.values.not(made);
            if self.values.holds(when) != Some(false) {
                effects.push(Effect { when, node: lookup, does: Does::NotMade { lookup } });
            }
        }
        effects
    }

    /// Whether all that packets do has a schedule that hit along the path and run its expected actions.
    pub fn expected_stays(&mut self, late: &[LateLookup]) -> bool {
        let on_path = |late: &&LateLookup| self.path.nodes.contains(&late.node);
        let late = late.iter().filter(on_path).map(|late| late.node);
        let hits: Vec<NodeId> = self.lookups.iter().map(|lookup| lookup.node).chain(late).collect();
        let place = |node: &NodeId| self.path.nodes.iter().position(|on_path| on_path == node);
        let expected = hits.iter().filter_map(|node| Some((*node, *self.path.actions.get(&place(node)?)?)));
        let actions = expected.collect();
        let mut known = Known::default().and_of_lookups(hits, actions);
        for is_empty in self.empty_groups(self.barred) {
            known.assume(&mut self.values, is_empty, false);
        }
        let barred = known.of(&mut self.values, self.barred);
        self.values.holds(barred) == Some(false)
    }

    /// Whether groups have no members: for each that a value needs.
    fn empty_groups(&mut self, value: Value) -> Vec<Value> {
        let mut of_groups = self.values.needed([value]);
        of_groups.retain(|needed| {
            matches!(self.values.of(*needed), Operation::Lookup { what: Found::Action, hash: Some(_), .. })
        });
        let no_member = self.values.word(NO_MEMBER.into(), 32);
        of_groups.into_iter().map(|runs| self.values.equal(runs, no_member)).collect()
    }

    /// The expected actions of lookups that stages make.
    fn expected_actions(&self) -> HashMap<NodeId, usize> {
        let expected = self.lookups.iter().filter_map(|lookup| {
            let action = self.path.actions.get(&lookup.place)?;
            Some((lookup.node, *action))
        });
        expected.collect()
    }

    /// Whether an effect stores the packet's own bits, if the packet begins so many bytes earlier.
    fn stores_what_is_there(&self, does: &Does, moved: i32) -> bool {
        let Does::Store { bit, value, .. } = does else { return false };
        let Operation::Packet { bit: own } = self.values.of(*value) else { return false };
        i64::from(*own) == as_it_arrived(*bit, moved)
    }
}

/// An end, and how far its packets follow the hot path.
type Marked<'l> = (usize, &'l Leaf);

/// Packets that have made the same choices are neighbours.
fn by_choices(leaves: Vec<Marked<'_>>, made: usize) -> Vec<&Leaf> {
    if let [(_, only)] = leaves[..] {
        return vec![only];
    }
    let mut groups: Vec<(Option<Value>, Vec<Marked<'_>>)> = Vec::new();
    for leaf in leaves {
        let choice = leaf.1.choices.get(made).copied();
        match groups.iter_mut().find(|(of, _)| choice.is_some() && *of == choice) {
            Some((_, group)) => group.push(leaf),
            None => groups.push((choice, vec![leaf])),
        }
    }
    groups.sort_by_key(|(_, group)| (group.iter().map(|(likely, _)| *likely).max(), group.len()));
    groups.into_iter().flat_map(|(_, group)| by_choices(group, made + 1)).collect()
}

/// The effects that packets have before any of them is distinguished.
fn common_effects(leaves: &[Leaf]) -> &[Effect] {
    let Some((first, others)) = leaves.split_first() else { return &[] };
    let is_common = |number: usize| {
        let effect = &first.effects[number];
        let is_early = !effect.does.is_end() && !effect.does.is_change();
        is_early && others.iter().all(|leaf| leaf.effects.get(number) == Some(effect))
    };
    let end = (0..first.effects.len()).find(|number| !is_common(*number)).unwrap_or(0);
    &first.effects[..end]
}

/// A bit of a packet that begins so many bytes earlier, as a bit of the packet as it arrived: negative in its headroom.
pub fn as_it_arrived(bit: u32, moved: i32) -> i64 {
    i64::from(bit) - 8 * i64::from(moved)
}
