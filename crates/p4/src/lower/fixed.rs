//! Tables that are no tables: hidden from controllers, without keys, with one constant action. p4c prints statements as such tables; applying
//! one is calling its action, so they may be used where no table can be looked up, as in a deparser.

use super::objects::Object;
use super::{Lowered, Lowering};
use crate::ast::{DeclarationId, DeclarationKind, Expression, ExpressionKind, Property, PropertyValue};
use crate::check::{Callee, Checked};

/// The call of the one action that a table can do; nothing if it is a real table.
pub fn fixed_action<'a>(checked: &Checked<'a>, table: DeclarationId) -> Option<&'a Expression> {
    let declaration = checked.node(table).declaration()?;
    let DeclarationKind::Table(table) = &declaration.kind else { return None };
    if !declaration.attributes.has("hidden") || table.find("entries").is_some() {
        return None;
    }
    let keyless = match table.find("key").map(|property| &property.value) {
        Some(PropertyValue::Keys(keys)) => keys.is_empty(),
        _ => true,
    };
    match table.find("default_action")? {
        Property { is_constant: true, value: PropertyValue::Expression(action), .. } if keyless => Some(action),
        _ => None,
    }
}

impl<'a> Lowering<'a> {
    /// Calls the action of a table that can do nothing else. False if it is a real table.
    pub fn apply_fixed(&mut self, call: &'a Expression, table: DeclarationId) -> Lowered<bool> {
        let Some(action) = fixed_action(self.checked, table) else { return Ok(false) };
        let object = self.receiver_object(call)?;
        let Object::Table(instance) = self.object(object) else {
            return Err(self.internal(call.span, "the application of something that is no table"));
        };
        let Some(called) = self.checked.call(action).cloned() else {
            return Err(self.internal(action.span, "a default action that was not resolved"));
        };
        let Callee::Action(id) = called.callee else { return Ok(false) };
        let arguments = match &action.kind {
            ExpressionKind::Call { arguments, .. } => arguments.as_slice(),
            _ => &[],
        };
        self.in_scope(instance.scope.clone(), |lowering| {
            let passed = lowering.pass(&called, arguments)?;
            lowering.run_action(id, &called, passed)
        })?;
        Ok(true)
    }
}
