//! Counters, meters, registers, digests, value sets, profiles and controller headers of P4Info.

use super::annotations::Annotations;
use super::tables::{match_field, type_name};
use super::types::data_type;
use super::{Translations, preamble};
use crate::message::config::{
    ActionProfile, ControllerPacketMetadata, Counter, CounterSpec, Digest, DirectCounter, DirectMeter, Meter,
    MeterSpec, P4Info, Register, ValueSet, action_profile, controller_packet_metadata, counter_spec, meter_spec,
};
use crate::number::{int32, int64};
use hlir::interface::{Detail, SizeSemantics, SourceObject, SourceParameter, SourceSelector};
use hlir::{CounterUnit, MeterUnit};

/// Annotations that a profile has as fields.
const OF_PROFILES: [&str; 3] = ["max_group_size", "selector_size_semantics", "max_member_weight"];

/// Adds an object to the list of its kind.
pub fn add(object: &SourceObject, translations: &Translations<'_>, info: &mut P4Info) {
    let fields: &[&str] = if matches!(object.detail, Detail::ActionProfile { .. }) { &OF_PROFILES } else { &[] };
    let preamble = preamble(object.id, &object.name, &object.alias, &object.notes, fields);
    match &object.detail {
        Detail::ValueSet { size, keys } => info.value_sets.push(ValueSet {
            preamble,
            r#match: keys.iter().map(|key| match_field(key, translations)).collect(),
            size: int32(*size),
        }),
        Detail::ControllerHeader { fields } => info.controller_packet_metadata.push(ControllerPacketMetadata {
            preamble,
            metadata: fields.iter().map(|field| metadata(field, translations)).collect(),
        }),
        Detail::ActionProfile { tables, size, selector } => info.action_profiles.push(ActionProfile {
            preamble,
            table_ids: tables.clone(),
            with_selector: selector.is_some(),
            size: int64(*size),
            max_group_size: selector.as_ref().map_or(0, |selector| int32(selector.largest_group)),
            selector_size_semantics: selector.as_ref().and_then(semantics),
            ..ActionProfile::default()
        }),
        Detail::Counter { unit, size, index } => {
            let (spec, index_type_name) = (counter_spec(*unit), type_name(index));
            info.counters.push(Counter { preamble, spec, size: int64(*size), index_type_name });
        }
        Detail::DirectCounter { unit, table } => {
            info.direct_counters.push(DirectCounter { preamble, spec: counter_spec(*unit), direct_table_id: *table });
        }
        Detail::Meter { unit, size, index } => {
            let (spec, index_type_name) = (meter_spec(*unit), type_name(index));
            info.meters.push(Meter { preamble, spec, size: int64(*size), index_type_name });
        }
        Detail::DirectMeter { unit, table } => {
            info.direct_meters.push(DirectMeter { preamble, spec: meter_spec(*unit), direct_table_id: *table });
        }
        Detail::Register { element, size, index } => {
            let (type_spec, index_type_name) = (Some(data_type(element)), type_name(index));
            info.registers.push(Register { preamble, type_spec, size: int32(*size), index_type_name });
        }
        Detail::Digest { record } => info.digests.push(Digest { preamble, type_spec: Some(data_type(record)) }),
    }
}

fn semantics(selector: &SourceSelector) -> Option<action_profile::SelectorSizeSemantics> {
    Some(match selector.semantics? {
        SizeSemantics::SumOfWeights => {
            action_profile::SelectorSizeSemantics::SumOfWeights(action_profile::SumOfWeights {})
        }
        SizeSemantics::SumOfMembers(weight) => {
            let max_member_weight = weight.map_or(0, int32);
            action_profile::SelectorSizeSemantics::SumOfMembers(action_profile::SumOfMembers { max_member_weight })
        }
    })
}

fn counter_spec(unit: CounterUnit) -> Option<CounterSpec> {
    let unit = match unit {
        CounterUnit::Packets => counter_spec::Unit::Packets,
        CounterUnit::Bytes => counter_spec::Unit::Bytes,
        CounterUnit::Both => counter_spec::Unit::Both,
    };
    Some(CounterSpec { unit: unit.into() })
}

fn meter_spec(unit: MeterUnit) -> Option<MeterSpec> {
    let unit = match unit {
        MeterUnit::Packets => meter_spec::Unit::Packets,
        MeterUnit::Bytes => meter_spec::Unit::Bytes,
    };
    Some(MeterSpec { unit: unit.into(), ..MeterSpec::default() })
}

fn metadata(field: &SourceParameter, translations: &Translations<'_>) -> controller_packet_metadata::Metadata {
    let annotations = Annotations::of(&field.notes, &[]);
    controller_packet_metadata::Metadata {
        id: field.id,
        name: field.name.clone(),
        annotations: annotations.plain,
        bitwidth: translations.width(field.type_name.as_deref(), field.width),
        type_name: type_name(&field.type_name),
        structured_annotations: annotations.structured,
        ..controller_packet_metadata::Metadata::default()
    }
}
