//! Set: enables and disables interfaces. All changes of a request are made, or none.

use crate::clock::now_ns;
use crate::extension::check_extensions;
use crate::interfaces::{Interface, Interfaces, Refusal};
use crate::message::update_result::Operation;
use crate::message::{Path, SetRequest, SetResponse, TypedValue, Update, UpdateResult, typed_value};
use crate::path::Pattern;
use crate::tree::{Access, ENABLED, ID, KEY, LEAVES, ROOT};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use tonic::Status;

/// What `enabled` is if it was never configured.
const DEFAULT: bool = true;

/// # Errors
/// Nothing has changed.
pub fn set(switch: &dyn Interfaces, request: &SetRequest) -> Result<SetResponse, Status> {
    check_extensions(&request.extension)?;
    if !request.union_replace.is_empty() {
        return Err(Status::unimplemented("union_replace is not supported: use replace or update"));
    }
    let interfaces = switch.interfaces();
    let mut changes = Changes { prefix: request.prefix.as_ref(), interfaces: &interfaces, enabled: BTreeMap::new() };
    let mut response = Vec::new();
    let mut done = |path: Option<&Path>, op: Operation| {
        response.push(UpdateResult { path: path.cloned(), op: op.into() });
    };
    for path in &request.delete {
        changes.delete(path)?;
        done(Some(path), Operation::Delete);
    }
    for update in &request.replace {
        changes.replace(update)?;
        done(update.path.as_ref(), Operation::Replace);
    }
    for update in &request.update {
        changes.update(update)?;
        done(update.path.as_ref(), Operation::Update);
    }
    apply(switch, &interfaces, &changes.enabled)?;
    Ok(SetResponse { prefix: request.prefix.clone(), response, timestamp: now_ns(), extension: Vec::new() })
}

/// What a request asks for.
struct Changes<'r> {
    prefix: Option<&'r Path>,
    interfaces: &'r [Interface],
    /// By the interface's name.
    enabled: BTreeMap<String, bool>,
}

impl Changes<'_> {
    /// An interface is the switch's own: what is deleted is its configuration.
    fn delete(&mut self, path: &Path) -> Result<(), Status> {
        let pattern = Pattern::parse(self.prefix, Some(path))?;
        if !LEAVES.iter().any(|leaf| leaf.access == Access::Config && pattern.depth(leaf, None).is_some()) {
            return Err(Status::invalid_argument(format!("{} is read-only", pattern.text())));
        }
        self.reset(&pattern);
        Ok(())
    }

    /// Gives all selected interfaces their default.
    fn reset(&mut self, pattern: &Pattern) {
        let items = pattern.items(self.interfaces);
        let names = items.iter().filter(|item| item.leaf.path == ENABLED).map(|item| item.interface.name.clone());
        self.enabled.extend(names.map(|name| (name, DEFAULT)));
    }

    fn replace(&mut self, update: &Update) -> Result<(), Status> {
        self.reset(&Pattern::parse(self.prefix, update.path.as_ref())?);
        self.update(update)
    }

    fn update(&mut self, update: &Update) -> Result<(), Status> {
        let pattern = Pattern::parse(self.prefix, update.path.as_ref())?;
        let names = pattern.names();
        let is_above_list = names.len() < ROOT.len() && names == ROOT[..names.len()];
        if !pattern.is_single() && !is_above_list {
            return Err(Status::invalid_argument(format!("{} is not the path of one node", pattern.text())));
        }
        let value = json(update.val.as_ref())?;
        match pattern.interface() {
            Some(interface) => self.node(interface, &names[ROOT.len()..], &value),
            None => self.list(&names, &value),
        }
    }

    /// A value above the interfaces: each is an element of the list, with its name.
    fn list(&mut self, names: &[&str], value: &Json) -> Result<(), Status> {
        let mut value = value;
        for name in &ROOT[names.len()..] {
            let members = members(value)?;
            let [(only, child)] = members[..] else {
                return Err(Status::unimplemented(format!("the value must have the one member `{name}`")));
            };
            if only != *name {
                return Err(Status::unimplemented(format!("the switch has no `{only}`")));
            }
            value = child;
        }
        let list = value.as_array().ok_or_else(|| Status::invalid_argument("the list of interfaces is no array"))?;
        for interface in list {
            let name = members(interface)?.into_iter().find(|(name, _)| *name == KEY);
            let name = name.and_then(|(_, value)| value.as_str());
            let name = name.ok_or_else(|| Status::invalid_argument(format!("an interface has no `{KEY}`")))?;
            self.node(name, &[], interface)?;
        }
        Ok(())
    }

    /// A value within an interface: of a leaf, or an object with several.
    fn node(&mut self, interface: &str, path: &[&str], value: &Json) -> Result<(), Status> {
        let known = self.interfaces.iter().find(|known| known.name == interface);
        let known = known.ok_or_else(|| Status::not_found(format!("there is no interface `{interface}`")))?;
        if !value.is_object() {
            return self.leaf(known, path, value);
        }
        for (name, value) in members(value)? {
            self.node(interface, &[path, &[name]].concat(), value)?;
        }
        Ok(())
    }

    fn leaf(&mut self, interface: &Interface, path: &[&str], value: &Json) -> Result<(), Status> {
        let text = path.join("/");
        let Some(leaf) = LEAVES.iter().find(|leaf| leaf.path == path) else {
            return Err(Status::unimplemented(format!("the switch has no leaf `{text}` of an interface")));
        };
        if leaf.access == Access::State {
            return Err(Status::invalid_argument(format!("`{text}` is read-only")));
        }
        if leaf.path == ENABLED {
            let enabled = value.as_bool();
            let enabled = enabled.ok_or_else(|| Status::invalid_argument(format!("`{text}` is true or false")))?;
            self.enabled.insert(interface.name.clone(), enabled);
            return Ok(());
        }
        let is_same = match leaf.path == ID {
            true => value.as_u64() == Some(u64::from(interface.port)),
            false => value.as_str() == Some(&interface.name),
        };
        match is_same {
            true => Ok(()),
            false => Err(Status::invalid_argument(format!("`{text}` of an interface cannot be changed"))),
        }
    }
}

/// Names of models before those of members are left out.
fn members(value: &Json) -> Result<Vec<(&str, &Json)>, Status> {
    let object = value.as_object().ok_or_else(|| Status::invalid_argument("the value is no JSON object"))?;
    Ok(object.iter().map(|(name, value)| (name.rsplit(':').next().unwrap_or_default(), value)).collect())
}

/// Scalars are JSON's.
fn json(value: Option<&TypedValue>) -> Result<Json, Status> {
    let value = value.and_then(|value| value.value.as_ref());
    let value = value.ok_or_else(|| Status::invalid_argument("an update has no value, or one of an unknown kind"))?;
    match value {
        typed_value::Value::BoolVal(truth) => Ok(Json::Bool(*truth)),
        typed_value::Value::StringVal(text) => Ok(Json::String(text.clone())),
        typed_value::Value::UintVal(number) => Ok(Json::from(*number)),
        typed_value::Value::IntVal(number) => Ok(Json::from(*number)),
        typed_value::Value::JsonVal(text) | typed_value::Value::JsonIetfVal(text) => serde_json::from_slice(text)
            .map_err(|error| Status::invalid_argument(format!("the value is no JSON: {error}"))),
        #[allow(deprecated)]
        typed_value::Value::FloatVal(_)
        | typed_value::Value::DoubleVal(_)
        | typed_value::Value::BytesVal(_)
        | typed_value::Value::AsciiVal(_) => Err(Status::invalid_argument("no leaf takes a value of this kind")),
    }
}

/// Takes everything back if one change fails.
fn apply(switch: &dyn Interfaces, before: &[Interface], wanted: &BTreeMap<String, bool>) -> Result<(), Status> {
    let is_other = |interface: &&Interface| wanted.get(&interface.name).is_some_and(|now| *now != interface.enabled);
    let changed: Vec<&Interface> = before.iter().filter(is_other).collect();
    for (index, interface) in changed.iter().enumerate() {
        let Err(refusal) = switch.set_enabled(&interface.name, !interface.enabled) else { continue };
        for undone in &changed[..index] {
            // A failure here leaves the port in its own state.
            drop(switch.set_enabled(&undone.name, undone.enabled));
        }
        return Err(status(&interface.name, refusal));
    }
    Ok(())
}

fn status(name: &str, refusal: Refusal) -> Status {
    match refusal {
        Refusal::NoSuchInterface => Status::not_found(format!("there is no interface `{name}`")),
        Refusal::NotPresent => Status::failed_precondition(format!("the device of `{name}` was removed")),
        Refusal::Failed(why) => Status::aborted(format!("`{name}` cannot be changed: {why}")),
    }
}
