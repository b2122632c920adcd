//! Action profiles and selectors (PSA 1.2, 7.11 and 7.12): entries name a member, or a group of which a hash chooses a member.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use p4::ast::{self, ExpressionKind, PropertyValue};

use super::environment::{Binding, Env};
use super::externs::Object;
use super::machine::Machine;
use super::portable::{Portable, portable_digest};
use super::table::{ActionCall, Table};
use super::value::Value;
use super::{Run, unsupported};

/// What the control plane has put into a profile.
#[derive(Default)]
pub struct Profile {
    /// Each an action by name, with its data.
    members: BTreeMap<u32, (String, Vec<(String, BigInt)>)>,
    groups: BTreeMap<u32, Vec<u32>>,
}

/// What an entry runs.
#[derive(Clone)]
pub enum Target {
    Call(ActionCall),
    Member(u32),
    Group(u32),
}

impl<'a> Machine<'a> {
    pub fn add_member(&mut self, profile: &str, member: u32, action: String, data: Vec<(String, BigInt)>) {
        self.profiles.entry(profile.to_string()).or_default().members.insert(member, (action, data));
    }

    pub fn add_group(&mut self, profile: &str, group: u32, members: Vec<u32>) {
        self.profiles.entry(profile.to_string()).or_default().groups.insert(group, members);
    }

    /// The profile or selector that a table names: its control-plane name and its object.
    pub(super) fn implementation(&mut self, table: &'a ast::Table, env: &Env<'a>) -> Run<Option<(String, usize)>> {
        for property in &table.properties {
            let PropertyValue::Expression(value) = &property.value else { continue };
            if !matches!(property.name.as_str(), "psa_implementation" | "pna_implementation") {
                continue;
            }
            let ExpressionKind::Path(path) = &value.kind else { return unsupported("a profile without a name") };
            return match self.lookup(path, env)? {
                Binding::Instance(instance) => Ok(instance.object.map(|object| (instance.path.clone(), object))),
                _ => unsupported(format!("profile {path}")),
            };
        }
        Ok(None)
    }

    /// The action of a chosen entry. 7.12: of a group, the member by the hash of the keys of kind `selector`; of one without members, the
    /// table's `psa_empty_group_action`.
    pub(super) fn called(&self, table: &Table<'a>, target: &Target, keys: &[Value]) -> Run<Option<ActionCall>> {
        let (member, (name, _)) = match (target, &table.implementation) {
            (Target::Call(call), _) => return Ok(Some(call.clone())),
            (Target::Member(member), Some(profile)) => (*member, profile),
            (Target::Group(group), Some(profile)) => {
                let members = self.contents(&profile.0).and_then(|known| known.groups.get(group));
                let members = members.map_or(&[][..], |members| members);
                if members.is_empty() {
                    return Ok(table.empty_group.clone());
                }
                let hash = self.selected(table, profile.1, keys)? % members.len();
                (members[usize::try_from(&hash).unwrap_or(0)], profile)
            }
            _ => return unsupported("a member of a table without a profile"),
        };
        match self.contents(name).and_then(|profile| profile.members.get(&member)) {
            Some((action, data)) => table.named_call(action, data).map(Some),
            None => unsupported(format!("no member {member} of {name}")),
        }
    }

    /// The contents of a profile, which the control plane may name by the end of its name.
    fn contents(&self, name: &str) -> Option<&Profile> {
        let fits = |known: &&String| *known == name || name.ends_with(&format!(".{known}"));
        self.profiles.iter().find(|(known, _)| fits(known)).map(|(_, profile)| profile)
    }

    fn selected(&self, table: &Table<'a>, object: usize, keys: &[Value]) -> Run<BigInt> {
        let Object::Portable(Portable::Selector { algorithm, width }) = &self.objects[object] else {
            return unsupported("a group of a profile that is no selector");
        };
        let mut bits = Vec::new();
        let selectors = table.key_names().zip(keys).filter(|((_, kind), _)| *kind == "selector");
        selectors.for_each(|(_, value)| value.append_bits(&mut bits));
        Ok(portable_digest(algorithm, &bits)? % (BigInt::from(1) << *width))
    }
}
