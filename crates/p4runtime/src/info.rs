//! Whether the P4Info that a controller gives is one of the program.

use crate::failure::{Failure, Outcome};
use control::message::config::{MatchField, P4Info, Preamble, Table};
use std::collections::HashMap;

/// An object of P4Info: what it is, its name, and what of it has to agree.
type Described = HashMap<u32, (&'static str, String, Vec<(u32, String)>)>;

/// Whether everything that the controller knows is in the program, under the same id, and refers to what P4Info itself has. What the controller does
/// not know it cannot write.
///
/// # Errors
/// `INVALID_ARGUMENT`: the config cannot be realized (P4Runtime 1.5, 14).
pub fn check_info(given: &P4Info, own: &P4Info) -> Outcome {
    let (own, given_objects) = (described(own), described(given));
    check_references(given, &given_objects)?;
    for (id, (kind, name, parts)) in given_objects {
        let Some((_, _, own_parts)) =
            own.get(&id).filter(|(own_kind, own_name, _)| *own_kind == kind && *own_name == name)
        else {
            return Err(Failure::invalid(format!("P4Info has {kind} `{name}` with id {id:#x}, the program does not")));
        };
        if let Some((part, what)) = parts.iter().find(|part| !own_parts.contains(part)) {
            let sentence = format!("P4Info has part {part} of {kind} `{name}` as {what}, the program does not");
            return Err(Failure::invalid(sentence));
        }
    }
    Ok(())
}

/// The objects that a table of P4Info names by their ids. The default actions are among its actions.
fn references(table: &Table) -> Vec<(&'static str, u32)> {
    let default = table.initial_default_action.as_ref().map_or(0, |call| call.action_id);
    let default = [table.const_default_action_id, default].map(|id| ("action", id));
    let actions = table.action_refs.iter().map(|action| ("action", action.id));
    let direct = table.direct_resource_ids.iter().map(|id| ("direct object", *id));
    let known = default.into_iter().chain([("action profile", table.implementation_id)]).filter(|(_, id)| *id != 0);
    actions.chain(known).chain(direct).collect()
}

/// Whether P4Info has each object to which one of its objects refers.
fn check_references(info: &P4Info, objects: &Described) -> Outcome {
    let check = |of: &Option<Preamble>, (kind, id): (&str, u32)| {
        let is_it = |(of_kind, ..): &(&str, String, _)| match kind {
            "direct object" => of_kind.starts_with("direct "),
            kind => *of_kind == kind,
        };
        match objects.get(&id).is_some_and(is_it) {
            true => Ok(()),
            false => {
                let name = of.as_ref().map_or("", |preamble| preamble.name.as_str());
                Err(Failure::invalid(format!(
                    "`{name}` of P4Info refers to {kind} {id:#x}, which P4Info does not have"
                )))
            }
        }
    };
    for table in &info.tables {
        references(table).into_iter().try_for_each(|reference| check(&table.preamble, reference))?;
    }
    for profile in &info.action_profiles {
        profile.table_ids.iter().try_for_each(|id| check(&profile.preamble, ("table", *id)))?;
    }
    let counters = info.direct_counters.iter().map(|counter| (&counter.preamble, counter.direct_table_id));
    let meters = info.direct_meters.iter().map(|meter| (&meter.preamble, meter.direct_table_id));
    counters.chain(meters).try_for_each(|(preamble, id)| check(preamble, ("table", id)))
}

fn described(info: &P4Info) -> Described {
    let mut found = Described::new();
    let mut add = |kind, preamble: &Option<Preamble>, parts| {
        let preamble = preamble.clone().unwrap_or_default();
        found.insert(preamble.id, (kind, preamble.name, parts));
    };
    let keys = |keys: &[MatchField]| {
        let key = |key: &MatchField| (key.id, format!("{} bits matched {:?}", key.bitwidth, key.r#match));
        keys.iter().map(key).collect::<Vec<_>>()
    };
    for table in &info.tables {
        let refers = references(table).into_iter().map(|(kind, id)| (id, format!("its {kind}")));
        let parts: Vec<_> = keys(&table.match_fields).into_iter().chain(refers).collect();
        add("table", &table.preamble, parts);
    }
    for action in &info.actions {
        let parts = action.params.iter().map(|param| (param.id, format!("{} bits", param.bitwidth)));
        add("action", &action.preamble, parts.collect());
    }
    for header in &info.controller_packet_metadata {
        let parts = header.metadata.iter().map(|field| (field.id, format!("{} bits", field.bitwidth)));
        add("header", &header.preamble, parts.collect());
    }
    info.value_sets.iter().for_each(|set| add("value set", &set.preamble, keys(&set.r#match)));
    info.action_profiles.iter().for_each(|profile| add("action profile", &profile.preamble, Vec::new()));
    info.counters.iter().for_each(|counter| add("counter", &counter.preamble, Vec::new()));
    info.direct_counters.iter().for_each(|counter| add("direct counter", &counter.preamble, Vec::new()));
    info.meters.iter().for_each(|meter| add("meter", &meter.preamble, Vec::new()));
    info.direct_meters.iter().for_each(|meter| add("direct meter", &meter.preamble, Vec::new()));
    info.registers.iter().for_each(|register| add("register", &register.preamble, Vec::new()));
    info.digests.iter().for_each(|digest| add("digest", &digest.preamble, Vec::new()));
    found
}
