//! P4Info, read: the interface of a program as its controller knows it, for programs that come without a source that has it.
//!
//! What P4Info does not have stays open: the tables that realise those of the interface, and the widths of translated types.

mod types;

use crate::message::config::{
    Action, ActionProfile, Counter, CounterSpec, DirectCounter, DirectMeter, MatchField, Meter, MeterSpec, P4Info,
    P4NamedType, Preamble, Table, TableActionCall, action_profile, action_ref, controller_packet_metadata,
    counter_spec, match_field, meter_spec, table,
};
use hlir::interface::{
    Detail, Interface, Physical, SizeSemantics, SourceAction, SourceActionUse, SourceDefault, SourceKey, SourceObject,
    SourceParameter, SourceSelector, SourceTable,
};
use hlir::{CounterUnit, MatchKind, MeterUnit, Notes, Scope};
use num_bigint::BigUint;

/// The interface that P4Info describes. No table of it is realised yet.
pub fn interface_of(info: &P4Info) -> Interface {
    let mut interface = Interface {
        tables: info.tables.iter().map(source_table).collect(),
        actions: info.actions.iter().map(source_action).collect(),
        types: info.type_info.as_ref().map(types::source_types).unwrap_or_default(),
        externs: info.type_info.is_some(),
        ..Interface::default()
    };
    interface.objects = objects(info);
    interface
}

fn named(preamble: &Option<Preamble>) -> (u32, String, String) {
    preamble.clone().map_or_else(Default::default, |preamble| (preamble.id, preamble.name, preamble.alias))
}

fn type_name(name: &Option<P4NamedType>) -> Option<String> {
    name.as_ref().map(|named| named.name.clone())
}

/// A number that is negative only in a wrong file counts as 0.
fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn width(bits: i32) -> u32 {
    u32::try_from(bits).unwrap_or(0)
}

fn source_table(table: &Table) -> SourceTable {
    let (id, name, alias) = named(&table.preamble);
    let uses = table.action_refs.iter().map(|used| SourceActionUse {
        action: used.id,
        scope: match used.scope() {
            action_ref::Scope::TableAndDefault => Scope::Everywhere,
            action_ref::Scope::TableOnly => Scope::TableOnly,
            action_ref::Scope::DefaultOnly => Scope::DefaultOnly,
        },
        notes: Notes::default(),
    });
    let constant = table.const_default_action_id != 0;
    let initial = table.initial_default_action.clone().or_else(|| {
        constant.then(|| TableActionCall { action_id: table.const_default_action_id, arguments: Vec::new() })
    });
    let value = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
    let default = initial.map(|call| SourceDefault {
        action: call.action_id,
        arguments: call.arguments.iter().map(|argument| value(&argument.value)).collect(),
        constant,
    });
    SourceTable {
        id,
        name,
        alias,
        keys: table.match_fields.iter().map(source_key).collect(),
        actions: uses.collect(),
        default,
        profile: (table.implementation_id != 0).then_some(table.implementation_id),
        direct: table.direct_resource_ids.clone(),
        size: (table.size > 0).then(|| count(table.size)),
        idle_timeout: table.idle_timeout_behavior() == table::IdleTimeoutBehavior::NotifyControl,
        entries_constant: table.is_const_table,
        entries_initial: table.has_initial_entries,
        physical: Physical::None,
        notes: Notes::default(),
    }
}

fn source_key(key: &MatchField) -> SourceKey {
    let kind = match &key.r#match {
        Some(match_field::Match::MatchType(kind)) => *kind,
        Some(match_field::Match::OtherMatchType(_)) | None => 0,
    };
    let kind = match match_field::MatchType::try_from(kind) {
        Ok(match_field::MatchType::Lpm) => MatchKind::Lpm,
        Ok(match_field::MatchType::Ternary) => MatchKind::Ternary,
        Ok(match_field::MatchType::Range) => MatchKind::Range,
        Ok(match_field::MatchType::Optional) => MatchKind::Optional,
        Ok(match_field::MatchType::Exact | match_field::MatchType::Unspecified) | Err(_) => MatchKind::Exact,
    };
    let (name, type_name, notes) = (key.name.clone(), type_name(&key.type_name), Notes::default());
    SourceKey { id: key.id, name, width: width(key.bitwidth), kind, type_name, notes }
}

fn source_action(action: &Action) -> SourceAction {
    let (id, name, alias) = named(&action.preamble);
    let parameters = action.params.iter().map(|parameter| SourceParameter {
        id: parameter.id,
        name: parameter.name.clone(),
        width: width(parameter.bitwidth),
        type_name: type_name(&parameter.type_name),
        notes: Notes::default(),
    });
    SourceAction { id, name, alias, parameters: parameters.collect(), notes: Notes::default() }
}

fn metadata(field: &controller_packet_metadata::Metadata) -> SourceParameter {
    let (name, type_name) = (field.name.clone(), type_name(&field.type_name));
    SourceParameter { id: field.id, name, width: width(field.bitwidth), type_name, notes: Notes::default() }
}

/// All objects, kind by kind.
fn objects(info: &P4Info) -> Vec<SourceObject> {
    let mut objects = Vec::new();
    let mut add = |preamble: &Option<Preamble>, detail: Detail| {
        let (id, name, alias) = named(preamble);
        objects.push(SourceObject { id, name, alias, detail, notes: Notes::default() });
    };
    for set in &info.value_sets {
        add(
            &set.preamble,
            Detail::ValueSet { size: count(set.size), keys: set.r#match.iter().map(source_key).collect() },
        );
    }
    for header in &info.controller_packet_metadata {
        let fields = header.metadata.iter().map(metadata).collect();
        add(&header.preamble, Detail::ControllerHeader { fields });
    }
    for profile in &info.action_profiles {
        let selector = profile.with_selector.then(|| selector(profile));
        let detail = Detail::ActionProfile { tables: profile.table_ids.clone(), size: count(profile.size), selector };
        add(&profile.preamble, detail);
    }
    for Counter { preamble, spec, size, index_type_name } in &info.counters {
        let (unit, index) = (counter_unit(spec), type_name(index_type_name));
        add(preamble, Detail::Counter { unit, size: count(*size), index });
    }
    for DirectCounter { preamble, spec, direct_table_id } in &info.direct_counters {
        add(preamble, Detail::DirectCounter { unit: counter_unit(spec), table: *direct_table_id });
    }
    for Meter { preamble, spec, size, index_type_name } in &info.meters {
        let (unit, index) = (meter_unit(spec), type_name(index_type_name));
        add(preamble, Detail::Meter { unit, size: count(*size), index });
    }
    for DirectMeter { preamble, spec, direct_table_id } in &info.direct_meters {
        add(preamble, Detail::DirectMeter { unit: meter_unit(spec), table: *direct_table_id });
    }
    for register in &info.registers {
        let (element, index) = (types::spec(register.type_spec.as_ref()), type_name(&register.index_type_name));
        add(&register.preamble, Detail::Register { element, size: count(register.size), index });
    }
    for digest in &info.digests {
        add(&digest.preamble, Detail::Digest { record: types::spec(digest.type_spec.as_ref()) });
    }
    objects
}

fn selector(profile: &ActionProfile) -> SourceSelector {
    let semantics = profile.selector_size_semantics.as_ref().map(|semantics| match semantics {
        action_profile::SelectorSizeSemantics::SumOfWeights(_) => SizeSemantics::SumOfWeights,
        action_profile::SelectorSizeSemantics::SumOfMembers(members) => {
            SizeSemantics::SumOfMembers((members.max_member_weight > 0).then(|| count(members.max_member_weight)))
        }
    });
    SourceSelector { largest_group: count(profile.max_group_size), semantics }
}

fn counter_unit(spec: &Option<CounterSpec>) -> CounterUnit {
    match spec.as_ref().map(CounterSpec::unit) {
        Some(counter_spec::Unit::Packets) => CounterUnit::Packets,
        Some(counter_spec::Unit::Bytes) => CounterUnit::Bytes,
        Some(counter_spec::Unit::Both | counter_spec::Unit::Unspecified) | None => CounterUnit::Both,
    }
}

fn meter_unit(spec: &Option<MeterSpec>) -> MeterUnit {
    match spec.as_ref().map(MeterSpec::unit) {
        Some(meter_spec::Unit::Packets) => MeterUnit::Packets,
        Some(meter_spec::Unit::Bytes | meter_spec::Unit::Unspecified) | None => MeterUnit::Bytes,
    }
}
