//! The service `standard`.

use crate::convert::read_call;
use crate::device::Device;
use crate::elements::split;
use crate::learning::Learning;
use crate::service::{Fault, Undeclared};
use crate::standard::{
    ActionData, ActionEntry, AddEntryOptions, CounterCode, CounterValue, Crc16Config, Crc32Config, CrcCode, IdCode,
    LearnCode, MatchParameter, MeterCode, MeterRate, PortCode, PortInfo, ProfileGroup, ProfileMember, RegisterCode,
    ResourceType, Standard, SwapCode, SwitchConfig, TableCode, TableEntry, ToeplitzCode, ValueSetCode,
};
use crate::state_file;
use crate::tables::{Answer, Kind};
use crate::wire::Binary;
use hlir::entry::EntryAction;
use hlir::{Program, Scope};
use md5::{Digest as _, Md5};
use std::sync::Arc;

/// Of every name, while no program runs.
const NO_TABLE: TableCode = TableCode::InvalidTableName;
const NO_PROFILE: TableCode = TableCode::InvalidProfileName;

const TOEPLITZ: &str = "there is no hash of Toeplitz here";

impl Device {
    /// Does something with the lists of digests.
    fn learn(
        &self,
        work: impl FnOnce(&Learning, &Arc<Program>) -> Result<(), LearnCode>,
    ) -> Result<(), Fault<LearnCode>> {
        let Some(learning) = &self.learning else {
            (self.settings.log)("digests go to P4Runtime's subscribers: there are no learning lists to acknowledge");
            return Err(LearnCode::InvalidId.into());
        };
        let program = self.program().ok_or(LearnCode::InvalidId)?;
        work(learning, &program).map_err(Fault::from)
    }
}

impl Standard for Device {
    fn bm_mt_get_num_entries(&self, _: i32, table: String) -> Answer<i64> {
        self.work(NO_TABLE, |work| work.entry_count(&table))
    }

    fn bm_mt_clear_entries(&self, _: i32, table: String, default_too: bool) -> Answer<()> {
        self.work(NO_TABLE, |work| work.clear_entries(&table, default_too))
    }

    fn bm_mt_add_entry(
        &self,
        _: i32,
        table: String,
        key: Vec<MatchParameter>,
        action: String,
        data: ActionData,
        options: AddEntryOptions,
    ) -> Answer<i32> {
        self.work(NO_TABLE, |work| {
            work.add_entry((&table, Kind::Direct), (&key, &options), |declared| {
                read_call(declared, &action, &data, Scope::DefaultOnly).map(EntryAction::Call)
            })
        })
    }

    fn bm_mt_set_default_action(&self, _: i32, table: String, action: String, data: ActionData) -> Answer<()> {
        self.work(NO_TABLE, |work| work.set_default(&table, &action, &data))
    }

    fn bm_mt_reset_default_entry(&self, _: i32, table: String) -> Answer<()> {
        self.work(NO_TABLE, |work| work.reset_default(&table))
    }

    fn bm_mt_delete_entry(&self, _: i32, table: String, handle: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.delete_entry((&table, Kind::Direct), handle))
    }

    fn bm_mt_modify_entry(&self, _: i32, table: String, handle: i32, action: String, data: ActionData) -> Answer<()> {
        self.work(NO_TABLE, |work| {
            work.modify_entry((&table, Kind::Direct), handle, |declared| {
                read_call(declared, &action, &data, Scope::DefaultOnly).map(EntryAction::Call)
            })
        })
    }

    fn bm_mt_set_entry_ttl(&self, _: i32, table: String, handle: i32, timeout_ms: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.set_entry_timeout(&table, handle, timeout_ms))
    }

    fn bm_mt_act_prof_add_member(&self, _: i32, profile: String, action: String, data: ActionData) -> Answer<i32> {
        self.work(NO_PROFILE, |work| work.add_member(&profile, &action, &data))
    }

    fn bm_mt_act_prof_delete_member(&self, _: i32, profile: String, member: i32) -> Answer<()> {
        self.work(NO_PROFILE, |work| work.delete_member(&profile, member))
    }

    fn bm_mt_act_prof_modify_member(
        &self,
        _: i32,
        profile: String,
        member: i32,
        action: String,
        data: ActionData,
    ) -> Answer<()> {
        self.work(NO_PROFILE, |work| work.modify_member(&profile, member, &action, &data))
    }

    fn bm_mt_act_prof_create_group(&self, _: i32, profile: String) -> Answer<i32> {
        self.work(NO_PROFILE, |work| work.create_group(&profile))
    }

    fn bm_mt_act_prof_delete_group(&self, _: i32, profile: String, group: i32) -> Answer<()> {
        self.work(NO_PROFILE, |work| work.delete_group(&profile, group))
    }

    fn bm_mt_act_prof_add_member_to_group(&self, _: i32, profile: String, member: i32, group: i32) -> Answer<()> {
        self.work(NO_PROFILE, |work| work.add_to_group(&profile, member, group))
    }

    fn bm_mt_act_prof_remove_member_from_group(&self, _: i32, profile: String, member: i32, group: i32) -> Answer<()> {
        self.work(NO_PROFILE, |work| work.remove_from_group(&profile, member, group))
    }

    fn bm_mt_act_prof_get_members(&self, _: i32, profile: String) -> Answer<Vec<ProfileMember>> {
        self.work(NO_PROFILE, |work| work.members(&profile))
    }

    fn bm_mt_act_prof_get_member(&self, _: i32, profile: String, member: i32) -> Answer<ProfileMember> {
        self.work(NO_PROFILE, |work| work.member(&profile, member))
    }

    fn bm_mt_act_prof_get_groups(&self, _: i32, profile: String) -> Answer<Vec<ProfileGroup>> {
        self.work(NO_PROFILE, |work| work.groups(&profile))
    }

    fn bm_mt_act_prof_get_group(&self, _: i32, profile: String, group: i32) -> Answer<ProfileGroup> {
        self.work(NO_PROFILE, |work| work.group(&profile, group))
    }

    fn bm_mt_indirect_add_entry(
        &self,
        _: i32,
        table: String,
        key: Vec<MatchParameter>,
        member: i32,
        options: AddEntryOptions,
    ) -> Answer<i32> {
        self.work(NO_TABLE, |work| {
            work.add_entry((&table, Kind::Indirect), (&key, &options), |_| Ok(EntryAction::Member(member as u32)))
        })
    }

    fn bm_mt_indirect_modify_entry(&self, _: i32, table: String, handle: i32, member: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| {
            work.modify_entry((&table, Kind::Indirect), handle, |_| Ok(EntryAction::Member(member as u32)))
        })
    }

    fn bm_mt_indirect_delete_entry(&self, _: i32, table: String, handle: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.delete_entry((&table, Kind::Indirect), handle))
    }

    fn bm_mt_indirect_set_entry_ttl(&self, _: i32, table: String, handle: i32, timeout_ms: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.set_entry_timeout(&table, handle, timeout_ms))
    }

    fn bm_mt_indirect_set_default_member(&self, _: i32, table: String, member: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.set_default_member(&table, member))
    }

    fn bm_mt_indirect_reset_default_entry(&self, _: i32, table: String) -> Answer<()> {
        self.work(NO_TABLE, |work| work.reset_default(&table))
    }

    fn bm_mt_indirect_ws_add_entry(
        &self,
        _: i32,
        table: String,
        key: Vec<MatchParameter>,
        group: i32,
        options: AddEntryOptions,
    ) -> Answer<i32> {
        self.work(NO_TABLE, |work| {
            work.add_entry((&table, Kind::WithSelector), (&key, &options), |_| Ok(EntryAction::Group(group as u32)))
        })
    }

    fn bm_mt_indirect_ws_modify_entry(&self, _: i32, table: String, handle: i32, group: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| {
            work.modify_entry((&table, Kind::WithSelector), handle, |_| Ok(EntryAction::Group(group as u32)))
        })
    }

    fn bm_mt_indirect_ws_set_default_group(&self, _: i32, table: String, group: i32) -> Answer<()> {
        self.work(NO_TABLE, |work| work.refuse_default_group(&table, group))
    }

    fn bm_mt_read_counter(&self, _: i32, table: String, handle: i32) -> Answer<CounterValue> {
        self.work(NO_TABLE, |work| work.read_direct_counter(&table, handle))
    }

    fn bm_mt_reset_counters(&self, _: i32, table: String) -> Answer<()> {
        self.work(NO_TABLE, |work| work.reset_direct_counters(&table))
    }

    fn bm_mt_write_counter(&self, _: i32, table: String, handle: i32, value: CounterValue) -> Answer<()> {
        self.work(NO_TABLE, |work| work.write_direct_counter(&table, handle, &value))
    }

    fn bm_mt_set_meter_rates(&self, _: i32, table: String, handle: i32, rates: Vec<MeterRate>) -> Answer<()> {
        self.work(NO_TABLE, |work| work.set_direct_rates(&table, handle, &rates))
    }

    fn bm_mt_get_meter_rates(&self, _: i32, table: String, handle: i32) -> Answer<Vec<MeterRate>> {
        self.work(NO_TABLE, |work| work.direct_rates(&table, handle))
    }

    fn bm_mt_get_entries(&self, _: i32, table: String) -> Answer<Vec<TableEntry>> {
        self.work(NO_TABLE, |work| work.entries(&table))
    }

    fn bm_mt_get_entry(&self, _: i32, table: String, handle: i32) -> Answer<TableEntry> {
        self.work(NO_TABLE, |work| work.entry(&table, handle))
    }

    fn bm_mt_get_default_entry(&self, _: i32, table: String) -> Answer<ActionEntry> {
        self.work(NO_TABLE, |work| work.default_entry(&table))
    }

    fn bm_mt_get_entry_from_key(
        &self,
        _: i32,
        table: String,
        key: Vec<MatchParameter>,
        options: AddEntryOptions,
    ) -> Answer<TableEntry> {
        self.work(NO_TABLE, |work| work.entry_from_key(&table, &key, &options))
    }

    fn bm_counter_read(&self, _: i32, counter: String, index: i32) -> Result<CounterValue, Fault<CounterCode>> {
        self.work(CounterCode::InvalidName, |work| work.read_counter(&counter, index))
    }

    fn bm_counter_reset_all(&self, _: i32, counter: String) -> Result<(), Fault<CounterCode>> {
        self.work(CounterCode::InvalidName, |work| work.reset_counter(&counter))
    }

    fn bm_counter_write(
        &self,
        _: i32,
        counter: String,
        index: i32,
        value: CounterValue,
    ) -> Result<(), Fault<CounterCode>> {
        self.work(CounterCode::InvalidName, |work| work.write_counter(&counter, index, &value))
    }

    fn bm_learning_ack(&self, _: i32, list: i32, buffer: i64, records: Vec<i32>) -> Result<(), Fault<LearnCode>> {
        self.learn(|learning, program| learning.acknowledge(program, list, buffer, Some(&records)))
    }

    fn bm_learning_ack_buffer(&self, _: i32, list: i32, buffer: i64) -> Result<(), Fault<LearnCode>> {
        self.learn(|learning, program| learning.acknowledge(program, list, buffer, None))
    }

    fn bm_learning_set_timeout(&self, _: i32, list: i32, timeout_ms: i32) -> Result<(), Fault<LearnCode>> {
        // Without a timeout, a list waits until it is full.
        let timeout_ns = if timeout_ms > 0 { timeout_ms as u64 * 1_000_000 } else { u64::MAX };
        self.learn(|learning, program| learning.set(program, list, |config| config.timeout_ns = timeout_ns))
    }

    fn bm_learning_set_buffer_size(&self, _: i32, list: i32, size: i32) -> Result<(), Fault<LearnCode>> {
        let largest_list = size.max(1);
        self.learn(|learning, program| learning.set(program, list, |config| config.largest_list = largest_list as _))
    }

    fn bm_load_new_config(&self, config: String) -> Result<(), Fault<SwapCode>> {
        self.load(config)
    }

    fn bm_swap_configs(&self) -> Result<(), Fault<SwapCode>> {
        self.swap()
    }

    fn bm_meter_array_set_rates(&self, _: i32, meter: String, rates: Vec<MeterRate>) -> Result<(), Fault<MeterCode>> {
        self.work(MeterCode::InvalidName, |work| work.set_all_rates(&meter, &rates))
    }

    fn bm_meter_set_rates(
        &self,
        _: i32,
        meter: String,
        index: i32,
        rates: Vec<MeterRate>,
    ) -> Result<(), Fault<MeterCode>> {
        self.work(MeterCode::InvalidName, |work| work.set_rates(&meter, index, &rates))
    }

    fn bm_meter_get_rates(&self, _: i32, meter: String, index: i32) -> Result<Vec<MeterRate>, Fault<MeterCode>> {
        self.work(MeterCode::InvalidName, |work| work.rates(&meter, index))
    }

    fn bm_register_read(&self, _: i32, register: String, index: i32) -> Result<i64, Fault<RegisterCode>> {
        self.work(RegisterCode::InvalidName, |work| {
            let values = work.read_register(&register, index, Some(index.saturating_add(1)))?;
            Ok(*values.first().ok_or(RegisterCode::InvalidIndex)?)
        })
    }

    fn bm_register_read_all(&self, _: i32, register: String) -> Result<Vec<i64>, Fault<RegisterCode>> {
        self.work(RegisterCode::InvalidName, |work| work.read_register(&register, 0, None))
    }

    fn bm_register_write(&self, _: i32, register: String, index: i32, value: i64) -> Result<(), Fault<RegisterCode>> {
        self.work(RegisterCode::InvalidName, |work| {
            work.write_register(&register, (index, Some(index.saturating_add(1))), Some(value))
        })
    }

    fn bm_register_write_range(
        &self,
        _: i32,
        register: String,
        start: i32,
        end: i32,
        value: i64,
    ) -> Result<(), Fault<RegisterCode>> {
        self.work(RegisterCode::InvalidName, |work| work.write_register(&register, (start, Some(end)), Some(value)))
    }

    fn bm_register_reset(&self, _: i32, register: String) -> Result<(), Fault<RegisterCode>> {
        self.work(RegisterCode::InvalidName, |work| work.write_register(&register, (0, None), None))
    }

    fn bm_parse_vset_add(&self, _: i32, set: String, value: Binary) -> Result<(), Fault<ValueSetCode>> {
        self.work(ValueSetCode::InvalidName, |work| {
            work.change_value_set(&set, |members, fields| {
                let member = split(&value, fields)?;
                if !members.contains(&member) {
                    members.push(member);
                }
                Ok(())
            })
        })
    }

    fn bm_parse_vset_remove(&self, _: i32, set: String, value: Binary) -> Result<(), Fault<ValueSetCode>> {
        self.work(ValueSetCode::InvalidName, |work| {
            work.change_value_set(&set, |members, fields| {
                let gone = split(&value, fields)?;
                members.retain(|member| *member != gone);
                Ok(())
            })
        })
    }

    fn bm_parse_vset_get(&self, _: i32, set: String) -> Result<Vec<Binary>, Fault<ValueSetCode>> {
        self.work(ValueSetCode::InvalidName, |work| work.value_set_members(&set))
    }

    fn bm_parse_vset_clear(&self, _: i32, set: String) -> Result<(), Fault<ValueSetCode>> {
        self.work(ValueSetCode::InvalidName, |work| {
            work.change_value_set(&set, |members, _| {
                members.clear();
                Ok(())
            })
        })
    }

    fn bm_dev_mgr_add_port(&self, name: String, number: i32, pcap: String) -> Result<(), Fault<PortCode>> {
        self.add_port(&name, number, &pcap)
    }

    fn bm_dev_mgr_remove_port(&self, number: i32) -> Result<(), Fault<PortCode>> {
        self.remove_port(number)
    }

    fn bm_dev_mgr_show_ports(&self) -> Result<Vec<PortInfo>, Fault<PortCode>> {
        Ok(self.ports())
    }

    fn bm_mgmt_get_info(&self) -> Result<SwitchConfig, Fault<Undeclared>> {
        Ok(SwitchConfig {
            device_id: self.settings.device_id as i64,
            thrift_port: i32::from(self.port),
            notifications_socket: self.learning.as_ref().map(|learning| learning.address().to_string()),
            ..SwitchConfig::default()
        })
    }

    fn bm_set_crc16_custom_parameters(&self, _: i32, crc: String, config: Crc16Config) -> Result<(), Fault<CrcCode>> {
        self.work(CrcCode::InvalidName, |work| work.set_crc(&crc, 16, crate::hashes::parameters_16(&config)))
    }

    fn bm_set_crc32_custom_parameters(&self, _: i32, crc: String, config: Crc32Config) -> Result<(), Fault<CrcCode>> {
        self.work(CrcCode::InvalidName, |work| work.set_crc(&crc, 32, crate::hashes::parameters_32(&config)))
    }

    fn bm_set_toeplitz_hash_key(&self, _: i32, _: String, _: Binary) -> Result<(), Fault<ToeplitzCode>> {
        (self.settings.log)(TOEPLITZ);
        Err(ToeplitzCode::WrongType.into())
    }

    fn bm_reset_state(&self) -> Result<(), Fault<Undeclared>> {
        self.learning.iter().for_each(|learning| learning.reset());
        self.reset()
    }

    fn bm_get_config(&self) -> Result<String, Fault<Undeclared>> {
        Ok(self.config())
    }

    fn bm_get_config_md5(&self) -> Result<Binary, Fault<Undeclared>> {
        Ok(Binary(Md5::digest(self.config()).to_vec()))
    }

    fn bm_get_id_from_name(&self, _: i32, kind: ResourceType, name: String) -> Result<i32, Fault<IdCode>> {
        self.id_of(kind, &name)
    }

    fn bm_serialize_state(&self) -> Result<Binary, Fault<Undeclared>> {
        self.work(Undeclared, |work| Ok(Binary(state_file::write(work.store()).into_bytes())))
    }
}
