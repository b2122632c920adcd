//! Which keys, parameters and fields are texts for controllers (`@p4runtime_translation(…, string)`).
//!
//! The store has the numbers of texts. A number means the same in another program only where the type has the same name in both.

use hlir::Program;
use hlir::interface::{Definition, Detail, Interface, SourceKey, SourceParameter, Translation};

/// The name of a type of texts.
fn text_type<'i>(interface: &'i Interface, type_name: &Option<String>) -> Option<&'i str> {
    let name = type_name.as_deref()?;
    let declared = interface.types.iter().find(|declared| declared.name == name)?;
    let is_text = matches!(&declared.definition, Definition::Translated { to: Translation::Text, .. });
    is_text.then_some(declared.name.as_str())
}

/// Whether places of the same name are of the same type of texts, or of none.
fn same<'i>(
    [from, to]: [&'i Interface; 2],
    old: impl Iterator<Item = (&'i str, &'i Option<String>)>,
    new: impl Iterator<Item = (&'i str, &'i Option<String>)> + Clone,
) -> bool {
    let mut old = old;
    old.all(|(name, type_name)| {
        let other = new.clone().find(|(other, _)| *other == name);
        other.is_none_or(|(_, other)| text_type(from, type_name) == text_type(to, other))
    })
}

fn keys(keys: &[SourceKey]) -> impl Iterator<Item = (&str, &Option<String>)> + Clone {
    keys.iter().map(|key| (key.name.as_str(), &key.type_name))
}

fn parameters(parameters: &[SourceParameter]) -> impl Iterator<Item = (&str, &Option<String>)> + Clone {
    parameters.iter().map(|parameter| (parameter.name.as_str(), &parameter.type_name))
}

/// Whether a table's keys have the texts in both programs. What controllers do not see has none.
pub fn same_keys(from: &Program, to: &Program, table: &str) -> bool {
    let both = [&from.interface, &to.interface];
    let [old, new] = both.map(|interface| interface.tables.iter().find(|declared| declared.name == table));
    old.zip(new).is_none_or(|(old, new)| same(both, keys(&old.keys), keys(&new.keys)))
}

/// The same for an action's parameters.
pub fn same_parameters(from: &Program, to: &Program, action: &str) -> bool {
    let both = [&from.interface, &to.interface];
    let [old, new] = both.map(|interface| interface.actions.iter().find(|declared| declared.name == action));
    old.zip(new).is_none_or(|(old, new)| same(both, parameters(&old.parameters), parameters(&new.parameters)))
}

/// The same for a value set's fields, which go by their places.
pub fn same_fields(from: &Program, to: &Program, set: &str) -> bool {
    let both = [&from.interface, &to.interface];
    let [old, new] = both.map(|interface| fields(interface, set));
    let Some((old, new)) = old.zip(new) else { return true };
    let of_type = |interface, field: &'_ SourceKey| text_type(interface, &field.type_name).map(str::to_string);
    old.iter().zip(new).all(|(old, new)| of_type(both[0], old) == of_type(both[1], new))
}

fn fields<'i>(interface: &'i Interface, set: &str) -> Option<&'i [SourceKey]> {
    interface.objects.iter().filter(|object| object.name == set).find_map(|object| {
        let Detail::ValueSet { keys, .. } = &object.detail else { return None };
        Some(keys.as_slice())
    })
}
