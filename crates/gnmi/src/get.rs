//! Get: a snapshot of some paths.

use crate::clock::now_ns;
use crate::extension::check_extensions;
use crate::interfaces::{Interface, Interfaces};
use crate::json::{self, Form};
use crate::message::get_request::DataType;
use crate::message::{GetRequest, GetResponse, Notification, Update};
use crate::models::check_models;
use crate::path::{Answer, Pattern};
use crate::tree::{Access, Item, ROOT, names};
use std::collections::BTreeMap;
use tonic::Status;

/// # Errors
/// Malformed, unknown or absent paths; an encoding that is not supported.
pub fn get(switch: &dyn Interfaces, request: &GetRequest) -> Result<GetResponse, Status> {
    check_extensions(&request.extension)?;
    check_models(&request.use_models)?;
    let form = Form::parse(request.encoding)?;
    let kind = DataType::try_from(request.r#type)
        .map_err(|_| Status::invalid_argument(format!("there is no type of data {}", request.r#type)))?;
    let answer = Answer::new(request.prefix.as_ref())?;
    let mut patterns = Vec::new();
    for path in &request.path {
        patterns.push(Pattern::parse(request.prefix.as_ref(), Some(path))?);
    }
    if patterns.is_empty() {
        patterns.push(Pattern::parse(request.prefix.as_ref(), None)?);
    }
    let interfaces = switch.interfaces();
    let snapshot = Snapshot { interfaces: &interfaces, answer: &answer, form, kind, timestamp: now_ns() };
    let notification = patterns.iter().map(|pattern| snapshot.notification(pattern)).collect::<Result<_, _>>()?;
    Ok(GetResponse { notification, extension: Vec::new() })
}

struct Snapshot<'s> {
    interfaces: &'s [Interface],
    answer: &'s Answer,
    form: Form,
    kind: DataType,
    timestamp: i64,
}

impl Snapshot<'_> {
    fn notification(&self, pattern: &Pattern) -> Result<Notification, Status> {
        if pattern.is_missing(self.interfaces) {
            return Err(Status::not_found(format!("there is no {}", pattern.text())));
        }
        let mut items = pattern.items(self.interfaces);
        items.retain(|item| is_of_kind(item, self.kind));
        let update = match self.form {
            Form::Scalar => items.iter().map(|item| self.leaf(item)).collect(),
            Form::Json | Form::Ietf => self.nodes(pattern, &items),
        };
        let (timestamp, prefix) = (self.timestamp, self.answer.prefix());
        Ok(Notification { timestamp, prefix, update, ..Notification::default() })
    }

    fn leaf(&self, item: &Item<'_>) -> Update {
        let path = self.answer.leaf(&item.interface.name, item.leaf.path);
        Update { path: Some(path), val: Some(json::scalar(item.value())), duplicates: 0 }
    }

    /// An update for each topmost selected node, with all that is selected below it.
    fn nodes(&self, pattern: &Pattern, items: &[Item<'_>]) -> Vec<Update> {
        // By interface and names; nodes above the interfaces are of none.
        let mut nodes: BTreeMap<(Option<u32>, Vec<&str>), Vec<Item<'_>>> = BTreeMap::new();
        for item in items {
            let Some(depth) = pattern.depth(item.leaf, Some(&item.interface.name)) else { continue };
            let names = names(item.leaf)[..depth].to_vec();
            let port = (depth >= ROOT.len()).then_some(item.interface.port);
            nodes.entry((port, names)).or_default().push(*item);
        }
        let update = |((_, names), items): ((_, Vec<&str>), Vec<Item<'_>>)| Update {
            path: Some(self.answer.path(&items[0].interface.name, items[0].leaf.path, names.len())),
            val: Some(json::node(&items, names.len(), self.form)),
            duplicates: 0,
        };
        nodes.into_iter().map(update).collect()
    }
}

fn is_of_kind(item: &Item<'_>, kind: DataType) -> bool {
    match kind {
        DataType::All => true,
        DataType::Config => item.leaf.access == Access::Config,
        DataType::State | DataType::Operational => item.leaf.access == Access::State,
    }
}
