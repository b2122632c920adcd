//! The switch as a whole: its state, its program, its ports.

use crate::device::{Device, Work};
use crate::service::{Fault, Undeclared};
use crate::standard::{IdCode, PortCode, PortInfo, ResourceType, SwapCode};
use crate::{description, multicast};
use control::message::runtime::ForwardingPipelineConfig;
use control::message::switch::port::Link;
use control::plane::{CounterValue, EntryKey};
use control::{Refusal, Update, plane::Element};
use hlir::TableId;
use std::collections::BTreeMap;

/// Characters that the names of interfaces have; others make a device of another kind, which no client of the network may name.
fn is_interface(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    !name.is_empty() && name.len() < 16 && name.chars().all(is_plain)
}

impl Device {
    pub(crate) fn add_port(&self, name: &str, number: i32, pcap: &str) -> Result<(), Fault<PortCode>> {
        let number = u32::try_from(number).map_err(|_| PortCode::Error)?;
        if !is_interface(name) {
            (self.settings.log)(&format!("port {number}: `{name}` is no name of an interface"));
            return Err(PortCode::Error.into());
        }
        if !pcap.is_empty() {
            (self.settings.log)(&format!("port {number}: no capture is written to {pcap}"));
        }
        self.target.add_port(number, name).map_err(|refusal| self.port_refused(&refusal))
    }

    pub(crate) fn remove_port(&self, number: i32) -> Result<(), Fault<PortCode>> {
        self.target.remove_port(&number.to_string()).map_err(|refusal| self.port_refused(&refusal))
    }

    fn port_refused(&self, refusal: &Refusal) -> Fault<PortCode> {
        (self.settings.log)(&refusal.sentence);
        PortCode::Error.into()
    }

    pub(crate) fn ports(&self) -> Vec<PortInfo> {
        let report = self.target.report().unwrap_or_default();
        let shown = report.ports.iter().map(|port| PortInfo {
            port_num: port.number as i32,
            iface_name: port.device.clone(),
            is_up: port.link == i32::from(Link::Up),
            extra: BTreeMap::from([
                ("in_octets".to_string(), port.received_bytes.to_string()),
                ("in_packets".to_string(), port.received.to_string()),
                ("out_octets".to_string(), port.sent_bytes.to_string()),
                ("out_packets".to_string(), port.sent.to_string()),
            ]),
        });
        shown.collect()
    }

    /// What runs, as JSON: what was loaded if that is JSON, else a description of the program for clients.
    pub(crate) fn config(&self) -> String {
        let loaded = self.settings.pipelines.as_ref().map(p4runtime::Pipelines::device_config).unwrap_or_default();
        match String::from_utf8(loaded) {
            Ok(text) if text.trim_start().starts_with('{') => text,
            Ok(_) | Err(_) => match self.program() {
                Some(program) => format!("{:#}", description::of(&program)),
                None => "{}".to_string(),
            },
        }
    }

    /// Compiles a program; it runs from the next [`Device::swap`] on.
    pub(crate) fn load(&self, text: String) -> Result<(), Fault<SwapCode>> {
        let Some(pipelines) = &self.settings.pipelines else { return Err(SwapCode::Disabled.into()) };
        if pipelines.has_saved() {
            return Err(SwapCode::Ongoing.into());
        }
        if text.trim().is_empty() {
            return Err(Fault::Sentence("the program is empty: expected the JSON that p4c writes".to_string()));
        }
        let config = ForwardingPipelineConfig { p4_device_config: text.into_bytes(), ..Default::default() };
        pipelines.save(config).map_err(|refusal| {
            (self.settings.log)(&refusal.sentence);
            Fault::Sentence(refusal.sentence)
        })
    }

    pub(crate) fn swap(&self) -> Result<(), Fault<SwapCode>> {
        let Some(pipelines) = &self.settings.pipelines else { return Err(SwapCode::Disabled.into()) };
        if !pipelines.has_saved() {
            return Err(SwapCode::NotOngoing.into());
        }
        pipelines.commit().map_err(|refusal| Fault::Sentence(refusal.sentence))
    }

    /// The number of an object among those of its kind.
    pub(crate) fn id_of(&self, kind: ResourceType, name: &str) -> Result<i32, Fault<IdCode>> {
        let program = self.program().ok_or(IdCode::InvalidName)?;
        let names: Vec<&str> = match kind {
            ResourceType::Table => program.tables.iter().map(|(_, it)| it.name.as_str()).collect(),
            ResourceType::Profile => program.profiles.iter().map(|(_, it)| it.name.as_str()).collect(),
            ResourceType::Counter => program.counters.iter().map(|(_, it)| it.name.as_str()).collect(),
            ResourceType::Meter => program.meters.iter().map(|(_, it)| it.name.as_str()).collect(),
            ResourceType::Register => program.registers.iter().map(|(_, it)| it.name.as_str()).collect(),
            ResourceType::Learning => program.digests.iter().map(|(_, it)| it.name.as_str()).collect(),
        };
        let at = crate::device::find(name, names.iter().copied()).ok_or(IdCode::InvalidName)?;
        Ok(at as i32)
    }

    pub(crate) fn reset(&self) -> Result<(), Fault<Undeclared>> {
        self.work(Undeclared, |work| work.reset().map_err(|refusal| Fault::Sentence(refusal.sentence)))
    }
}

impl Work<'_> {
    /// The state at the start. Links and ports are as they are.
    fn reset(&mut self) -> Result<(), Refusal> {
        let program = self.program.clone();
        for (table, _) in program.tables.iter().filter(|(id, _)| program.join_of(*id).is_none()) {
            self.reset_table(table)?;
        }
        self.reset_profiles()?;
        for (set, _) in program.value_sets.iter() {
            self.write(&Update::SetValueSet { set, members: Vec::new() })?;
        }
        let groups: Vec<u32> = self.store().multicast_groups().map(|(group, _)| group).collect();
        for group in groups {
            self.write(&Update::SetMulticast { group, value: None })?;
        }
        let sessions: Vec<u32> = self.store().sessions().map(|(session, _)| session).collect();
        for session in sessions {
            self.write(&Update::SetSession { session, value: None })?;
        }
        let meters: Vec<_> = self.store().meters().map(|(meter, element, _)| (meter, element)).collect();
        for (meter, element) in meters {
            self.write(&Update::SetMeter { meter, element, rates: None })?;
        }
        self.state.nodes = multicast::Nodes::default();
        for (meter, _) in program.meters.iter() {
            self.set_array_rates(meter, None)?;
        }
        self.state.unreached.clear();
        self.reset_elements()
    }

    fn reset_table(&mut self, table: TableId) -> Result<(), Refusal> {
        let declared = self.declared(table).clone();
        if !declared.entries_constant {
            for key in self.store().written(table) {
                self.write(&Update::Delete(key))?;
            }
            self.switch.plane().clear_inserted(table)?;
            for entry in declared.entries.iter().filter(|entry| !entry.constant) {
                let key = EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
                match self.store().find(&key) {
                    None => self.write(&Update::Insert { table, entry: entry.clone() })?,
                    Some(stored) if stored.entry.action != entry.action => {
                        self.write(&Update::Modify { table, entry: entry.clone() })?;
                    }
                    Some(_) => {}
                }
            }
            self.forget_handles(table);
        }
        self.set_default_link(table, None)?;
        if *self.store().default_action(table) != declared.default {
            self.write(&Update::SetDefault { table, call: declared.default })?;
        }
        Ok(())
    }

    fn reset_profiles(&mut self) -> Result<(), Refusal> {
        let program = self.program.clone();
        for (profile, _) in program.profiles.iter() {
            let groups: Vec<u32> = self.store().groups(profile).map(|(group, _)| group).collect();
            for group in groups {
                self.write(&Update::DeleteGroup { profile, group })?;
            }
            let members: Vec<u32> = self.store().members(profile).map(|(member, _)| member).collect();
            for member in members {
                self.write(&Update::DeleteMember { profile, member })?;
            }
        }
        Ok(())
    }

    fn reset_elements(&mut self) -> Result<(), Refusal> {
        let program = self.program.clone();
        for (counter, declared) in program.counters.iter() {
            let elements: Vec<Element> = match declared.table {
                None => (0..declared.size).map(Element::Index).collect(),
                Some(table) => {
                    let keys = self.handles(table).iter().map(|(_, key)| Element::Entry(key.clone()));
                    keys.chain([Element::Default(table)]).collect()
                }
            };
            for element in elements {
                self.switch.plane().write_counter(counter, &element, CounterValue::default())?;
            }
        }
        for (register, declared) in program.registers.iter() {
            for index in 0..declared.size {
                self.switch.plane().write_register(register, index, &declared.initial)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_interface;

    #[test]
    fn only_interfaces_are_opened_for_clients_of_the_network() {
        assert!(["eth0", "s1-eth1", "veth.100", "a@b"].into_iter().all(is_interface));
        assert!(
            ["", "pcap:/etc/passwd,", "net_tap0,iface=x", "a/b", "much-too-long-name"]
                .into_iter()
                .all(|name| !is_interface(name))
        );
    }
}
