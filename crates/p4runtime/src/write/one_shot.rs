//! Action sets of an entry (one-shot selector programming).

use super::Writer;
use super::group::weight;
use crate::failure::{Failure, Outcome};
use crate::port::PortReader;
use crate::schema::TableSchema;
use control::message::runtime::{
    ActionProfileAction, ActionProfileActionSet, action_profile_action, action_profile_action_set,
};
use hlir::interface::SizeSemantics;
use hlir::{ActionSet, Scope, WeightedCall};

impl<'a> Writer<'a> {
    pub(super) fn action_set(&self, table: &TableSchema, given: &ActionProfileActionSet) -> Outcome<ActionSet> {
        use action_profile_action_set::{ActionSelectionMode as Mode, SizeSemantics as Size};
        let mode = given.action_selection_mode();
        if mode == Mode::Random {
            return Err(Failure::unsupported("selectors of this switch choose by a hash"));
        }
        let semantics = match given.size_semantics() {
            Size::DefaultSizeDeterminedByActionSelector => None,
            Size::SumOfWeights => Some(SizeSemantics::SumOfWeights),
            Size::SumOfMembers => Some(SizeSemantics::SumOfMembers(None)),
        };
        let mut ports = PortReader::new(self.ports, self.schema);
        let actions = given.action_profile_actions.iter().map(|action| self.weighted(table, action, &mut ports));
        let actions = actions.collect::<Outcome<Vec<WeightedCall>>>()?;
        let note = ports.note(if mode == Mode::Hash { &[Mode::Hash as u8] } else { &[] });
        Ok(ActionSet { actions, semantics, note })
    }

    fn weighted(
        &self,
        table: &TableSchema,
        given: &ActionProfileAction,
        ports: &mut PortReader<'_>,
    ) -> Outcome<WeightedCall> {
        use action_profile_action::WatchKind;
        let action = given.action.as_ref().ok_or_else(|| Failure::invalid("an action of the set is not set"))?;
        let call = table.actions.read(action, Scope::DefaultOnly, &self.schema.dictionaries)?;
        let watch = match &given.watch_kind {
            Some(WatchKind::WatchPort(port)) => ports.watched(port)?,
            Some(WatchKind::Watch(port)) => Some(ports.watched_number(*port)?),
            None => None,
        };
        Ok(WeightedCall { call, weight: weight(given.weight)?, watch })
    }
}
