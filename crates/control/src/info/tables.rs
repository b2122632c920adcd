//! Tables and actions of P4Info.

use super::annotations::Annotations;
use super::{Translations, USUAL_SIZE, preamble};
use crate::message::config::{
    Action, ActionRef, MatchField, P4NamedType, Table, TableActionCall, action, action_ref, match_field, table,
    table_action_call,
};
use crate::number::{int64, padded};
use hlir::interface::{
    Interface, SourceAction, SourceActionUse, SourceDefault, SourceKey, SourceParameter, SourceTable,
};
use hlir::{MatchKind, Scope};

pub fn table(source: &SourceTable, interface: &Interface, translations: &Translations<'_>) -> Table {
    let behavior = match source.idle_timeout {
        true => table::IdleTimeoutBehavior::NotifyControl,
        false => table::IdleTimeoutBehavior::NoTimeout,
    };
    let constant = source.default.as_ref().filter(|default| default.constant);
    Table {
        preamble: preamble(source.id, &source.name, &source.alias, &source.notes, &[]),
        match_fields: source.keys.iter().map(|key| match_field(key, translations)).collect(),
        action_refs: source.actions.iter().map(action_ref).collect(),
        const_default_action_id: constant.map_or(0, |default| default.action),
        initial_default_action: source.default.as_ref().map(|default| initial_default(default, interface)),
        implementation_id: source.profile.unwrap_or(0),
        direct_resource_ids: source.direct.clone(),
        size: int64(source.size.filter(|size| *size > 0).unwrap_or(USUAL_SIZE)),
        idle_timeout_behavior: behavior.into(),
        is_const_table: source.entries_constant,
        has_initial_entries: source.entries_initial,
        ..Table::default()
    }
}

fn initial_default(default: &SourceDefault, interface: &Interface) -> TableActionCall {
    let found = interface.actions.iter().find(|action| action.id == default.action);
    let parameters = found.map_or(&[][..], |action| &action.parameters);
    let arguments = parameters.iter().zip(&default.arguments).map(|(parameter, value)| table_action_call::Argument {
        param_id: parameter.id,
        value: padded(value, parameter.width),
    });
    TableActionCall { action_id: default.action, arguments: arguments.collect() }
}

pub fn match_field(key: &SourceKey, translations: &Translations<'_>) -> MatchField {
    let annotations = Annotations::of(&key.notes, &["match"]);
    let kind = match key.kind {
        MatchKind::Exact => match_field::MatchType::Exact,
        MatchKind::Lpm => match_field::MatchType::Lpm,
        MatchKind::Ternary => match_field::MatchType::Ternary,
        MatchKind::Range => match_field::MatchType::Range,
        MatchKind::Optional => match_field::MatchType::Optional,
    };
    MatchField {
        id: key.id,
        name: key.name.clone(),
        annotations: annotations.plain,
        bitwidth: translations.width(key.type_name.as_deref(), key.width),
        doc: annotations.doc,
        type_name: type_name(&key.type_name),
        structured_annotations: annotations.structured,
        r#match: Some(match_field::Match::MatchType(kind.into())),
        ..MatchField::default()
    }
}

pub fn type_name(name: &Option<String>) -> Option<P4NamedType> {
    name.clone().map(|name| P4NamedType { name })
}

fn action_ref(used: &SourceActionUse) -> ActionRef {
    let annotations = Annotations::of(&used.notes, &[]);
    let scope = match used.scope {
        Scope::Everywhere => action_ref::Scope::TableAndDefault,
        Scope::TableOnly => action_ref::Scope::TableOnly,
        Scope::DefaultOnly => action_ref::Scope::DefaultOnly,
    };
    ActionRef {
        id: used.action,
        annotations: annotations.plain,
        scope: scope.into(),
        structured_annotations: annotations.structured,
        ..ActionRef::default()
    }
}

pub fn action(source: &SourceAction, translations: &Translations<'_>) -> Action {
    Action {
        preamble: preamble(source.id, &source.name, &source.alias, &source.notes, &[]),
        params: source.parameters.iter().map(|parameter| parameter_of(parameter, translations)).collect(),
    }
}

fn parameter_of(parameter: &SourceParameter, translations: &Translations<'_>) -> action::Param {
    let annotations = Annotations::of(&parameter.notes, &[]);
    action::Param {
        id: parameter.id,
        name: parameter.name.clone(),
        annotations: annotations.plain,
        bitwidth: translations.width(parameter.type_name.as_deref(), parameter.width),
        doc: annotations.doc,
        type_name: type_name(&parameter.type_name),
        structured_annotations: annotations.structured,
        ..action::Param::default()
    }
}
