//! The service `standard` of BMv2: tables, action profiles, counters, meters, registers, value sets, ports.
//!
//! Names, numbers and types are BMv2's (thrift_src/standard.thrift), so its clients can call it.

use crate::service::{Undeclared, service};
use crate::wire::{Binary, codes, message};
use std::collections::BTreeMap;

/// Numbers in network byte order, one for each parameter.
pub type ActionData = Vec<Binary>;

codes! {
    /// How a key is matched.
    MatchType {
        Exact = 0 "EXACT",
        Lpm = 1 "LPM",
        Ternary = 2 "TERNARY",
        Valid = 3 "VALID",
        Range = 4 "RANGE",
    }
}

message! { MatchExact { 1 key: Binary, } }
message! { MatchLpm { 1 key: Binary, 2 prefix_length: i32, } }
message! { MatchTernary { 1 key: Binary, 2 mask: Binary, } }
message! { MatchValid { 1 key: bool, } }
message! { MatchRange { 1 start: Binary, 2 end: Binary, } }
message! {
    /// One key of an entry; the field of its type is set.
    MatchParameter {
        1 kind: MatchType,
        2 exact: Option<MatchExact>,
        3 lpm: Option<MatchLpm>,
        4 ternary: Option<MatchTernary>,
        5 valid: Option<MatchValid>,
        6 range: Option<MatchRange>,
    }
}
message! {
    /// The smaller priority wins; it is -1 in the answers for tables without priorities.
    AddEntryOptions { 1 priority: Option<i32>, }
}
message! { CounterValue { 1 bytes: i64, 2 packets: i64, } }
message! {
    /// Bytes or packets a microsecond, and bytes or packets of a burst.
    MeterRate { 1 units_per_micros: f64, 2 burst_size: i32, }
}
message! { PortInfo { 1 port_num: i32, 2 iface_name: String, 3 is_up: bool, 4 extra: BTreeMap<String, String>, } }
message! {
    Crc16Config {
        1 polynomial: i16,
        2 initial_remainder: i16,
        3 final_xor_value: i16,
        4 data_reflected: bool,
        5 remainder_reflected: bool,
    }
}
message! {
    Crc32Config {
        1 polynomial: i32,
        2 initial_remainder: i32,
        3 final_xor_value: i32,
        4 data_reflected: bool,
        5 remainder_reflected: bool,
    }
}

codes! {
    /// What an entry refers to.
    ActionEntryType {
        Nothing = 0 "NONE",
        ActionData = 1 "ACTION_DATA",
        Member = 2 "MBR_HANDLE",
        Group = 3 "GRP_HANDLE",
    }
}

message! {
    ActionEntry {
        1 action_type: ActionEntryType,
        2 action_name: Option<String>,
        3 action_data: Option<ActionData>,
        4 mbr_handle: Option<i32>,
        5 grp_handle: Option<i32>,
    }
}
message! { EntryLife { 1 timeout_ms: i32, 2 time_since_hit_ms: i32, } }
message! {
    TableEntry {
        1 match_key: Vec<MatchParameter>,
        2 options: AddEntryOptions,
        3 entry_handle: i32,
        4 action_entry: ActionEntry,
        5 life: Option<EntryLife>,
    }
}
message! { ProfileMember { 1 mbr_handle: i32, 2 action_name: String, 3 action_data: ActionData, } }
message! { ProfileGroup { 1 grp_handle: i32, 2 mbr_handles: Vec<i32>, } }
message! {
    SwitchConfig {
        1 device_id: i64,
        2 thrift_port: i32,
        3 notifications_socket: Option<String>,
        4 elogger_socket: Option<String>,
        5 debugger_socket: Option<String>,
    }
}

codes! {
    TableCode {
        Full = 1 "TABLE_FULL",
        InvalidHandle = 2 "INVALID_HANDLE",
        ExpiredHandle = 3 "EXPIRED_HANDLE",
        CountersDisabled = 4 "COUNTERS_DISABLED",
        MetersDisabled = 5 "METERS_DISABLED",
        AgeingDisabled = 6 "AGEING_DISABLED",
        InvalidTableName = 7 "INVALID_TABLE_NAME",
        InvalidActionName = 8 "INVALID_ACTION_NAME",
        WrongTableType = 9 "WRONG_TABLE_TYPE",
        InvalidMember = 10 "INVALID_MBR_HANDLE",
        MemberStillUsed = 11 "MBR_STILL_USED",
        MemberAlreadyInGroup = 12 "MBR_ALREADY_IN_GRP",
        MemberNotInGroup = 13 "MBR_NOT_IN_GRP",
        InvalidGroup = 14 "INVALID_GRP_HANDLE",
        GroupStillUsed = 15 "GRP_STILL_USED",
        EmptyGroup = 16 "EMPTY_GRP",
        DuplicateEntry = 17 "DUPLICATE_ENTRY",
        BadMatchKey = 18 "BAD_MATCH_KEY",
        InvalidMeterOperation = 19 "INVALID_METER_OPERATION",
        DefaultActionIsConst = 20 "DEFAULT_ACTION_IS_CONST",
        DefaultEntryIsConst = 21 "DEFAULT_ENTRY_IS_CONST",
        NoDefaultEntry = 22 "NO_DEFAULT_ENTRY",
        InvalidProfileName = 23 "INVALID_ACTION_PROFILE_NAME",
        NoSelection = 24 "NO_ACTION_PROFILE_SELECTION",
        ImmutableEntries = 25 "IMMUTABLE_TABLE_ENTRIES",
        BadActionData = 26 "BAD_ACTION_DATA",
        NoTableKey = 27 "NO_TABLE_KEY",
        Error = 100 "ERROR",
    }
}
codes! { CounterCode { InvalidName = 1 "INVALID_COUNTER_NAME", InvalidIndex = 2 "INVALID_INDEX", Error = 3 "ERROR", } }
codes! {
    SwapCode { Disabled = 1 "CONFIG_SWAP_DISABLED", Ongoing = 2 "ONGOING_SWAP", NotOngoing = 3 "NO_ONGOING_SWAP", }
}
codes! {
    MeterCode {
        InvalidName = 1 "INVALID_METER_NAME",
        InvalidIndex = 2 "INVALID_INDEX",
        BadRates = 3 "BAD_RATES_LIST",
        InvalidRate = 4 "INVALID_INFO_RATE_VALUE",
        InvalidBurst = 5 "INVALID_BURST_SIZE_VALUE",
        Error = 6 "ERROR",
    }
}
codes! { RegisterCode { InvalidName = 1 "INVALID_REGISTER_NAME", InvalidIndex = 2 "INVALID_INDEX", Error = 3 "ERROR", } }
codes! { ValueSetCode { InvalidName = 1 "INVALID_PARSE_VSET_NAME", Error = 2 "ERROR", } }
codes! { LearnCode { InvalidId = 1 "INVALID_LIST_ID", InvalidName = 2 "INVALID_LIST_NAME", Error = 3 "ERROR", } }
codes! { PortCode { Error = 1 "ERROR", } }
codes! {
    CrcCode {
        InvalidName = 1 "INVALID_CALCULATION_NAME",
        WrongType = 2 "WRONG_TYPE_CALCULATION",
        InvalidConfig = 3 "INVALID_CONFIG",
    }
}
codes! {
    ToeplitzCode {
        InvalidName = 1 "INVALID_CALCULATION_NAME",
        WrongType = 2 "WRONG_TYPE_CALCULATION",
        InvalidKey = 3 "INVALID_KEY",
    }
}
codes! {
    ResourceType {
        Table = 0 "MATCH_TABLE",
        Profile = 1 "ACTION_PROFILE",
        Counter = 2 "COUNTER",
        Meter = 3 "METER",
        Register = 4 "REGISTER",
        Learning = 5 "LEARNING_LIST",
    }
}
codes! { IdCode { InvalidType = 0 "INVALID_RESOURCE_TYPE", InvalidName = 1 "INVALID_RESOURCE_NAME", } }

service! {
    /// The methods; `cxt_id` is 0 in every switch with one pipeline.
    Standard, StandardClient, "standard", {
        bm_mt_get_num_entries(1 cxt_id: i32, 2 table_name: String) -> i64, TableCode;
        bm_mt_clear_entries(1 cxt_id: i32, 2 table_name: String, 3 reset_default_entry: bool) -> (), TableCode;
        bm_mt_add_entry(
            1 cxt_id: i32, 2 table_name: String, 3 match_key: Vec<MatchParameter>,
            4 action_name: String, 5 action_data: ActionData, 6 options: AddEntryOptions
        ) -> i32, TableCode;
        bm_mt_set_default_action(1 cxt_id: i32, 2 table_name: String, 3 action_name: String, 4 action_data: ActionData) -> (), TableCode;
        bm_mt_reset_default_entry(1 cxt_id: i32, 2 table_name: String) -> (), TableCode;
        bm_mt_delete_entry(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32) -> (), TableCode;
        bm_mt_modify_entry(
            1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32,
            4 action_name: String, 5 action_data: ActionData
        ) -> (), TableCode;
        bm_mt_set_entry_ttl(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 timeout_ms: i32) -> (), TableCode;
        bm_mt_act_prof_add_member(1 cxt_id: i32, 2 act_prof_name: String, 3 action_name: String, 4 action_data: ActionData) -> i32, TableCode;
        bm_mt_act_prof_delete_member(1 cxt_id: i32, 2 act_prof_name: String, 3 mbr_handle: i32) -> (), TableCode;
        bm_mt_act_prof_modify_member(
            1 cxt_id: i32, 2 act_prof_name: String, 3 mbr_handle: i32,
            4 action_name: String, 5 action_data: ActionData
        ) -> (), TableCode;
        bm_mt_act_prof_create_group(1 cxt_id: i32, 2 act_prof_name: String) -> i32, TableCode;
        bm_mt_act_prof_delete_group(1 cxt_id: i32, 2 act_prof_name: String, 3 grp_handle: i32) -> (), TableCode;
        bm_mt_act_prof_add_member_to_group(1 cxt_id: i32, 2 act_prof_name: String, 3 mbr_handle: i32, 4 grp_handle: i32) -> (), TableCode;
        bm_mt_act_prof_remove_member_from_group(1 cxt_id: i32, 2 act_prof_name: String, 3 mbr_handle: i32, 4 grp_handle: i32) -> (), TableCode;
        bm_mt_act_prof_get_members(1 cxt_id: i32, 2 act_prof_name: String) -> Vec<ProfileMember>, TableCode;
        bm_mt_act_prof_get_member(1 cxt_id: i32, 2 act_prof_name: String, 3 mbr_handle: i32) -> ProfileMember, TableCode;
        bm_mt_act_prof_get_groups(1 cxt_id: i32, 2 act_prof_name: String) -> Vec<ProfileGroup>, TableCode;
        bm_mt_act_prof_get_group(1 cxt_id: i32, 2 act_prof_name: String, 3 grp_handle: i32) -> ProfileGroup, TableCode;
        bm_mt_indirect_add_entry(
            1 cxt_id: i32, 2 table_name: String, 3 match_key: Vec<MatchParameter>,
            4 mbr_handle: i32, 5 options: AddEntryOptions
        ) -> i32, TableCode;
        bm_mt_indirect_modify_entry(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 mbr_handle: i32) -> (), TableCode;
        bm_mt_indirect_delete_entry(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32) -> (), TableCode;
        bm_mt_indirect_set_entry_ttl(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 timeout_ms: i32) -> (), TableCode;
        bm_mt_indirect_set_default_member(1 cxt_id: i32, 2 table_name: String, 3 mbr_handle: i32) -> (), TableCode;
        bm_mt_indirect_reset_default_entry(1 cxt_id: i32, 2 table_name: String) -> (), TableCode;
        bm_mt_indirect_ws_add_entry(
            1 cxt_id: i32, 2 table_name: String, 3 match_key: Vec<MatchParameter>,
            4 grp_handle: i32, 5 options: AddEntryOptions
        ) -> i32, TableCode;
        bm_mt_indirect_ws_modify_entry(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 grp_handle: i32) -> (), TableCode;
        bm_mt_indirect_ws_set_default_group(1 cxt_id: i32, 2 table_name: String, 3 grp_handle: i32) -> (), TableCode;
        bm_mt_read_counter(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32) -> CounterValue, TableCode;
        bm_mt_reset_counters(1 cxt_id: i32, 2 table_name: String) -> (), TableCode;
        bm_mt_write_counter(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 value: CounterValue) -> (), TableCode;
        bm_mt_set_meter_rates(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32, 4 rates: Vec<MeterRate>) -> (), TableCode;
        bm_mt_get_meter_rates(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32) -> Vec<MeterRate>, TableCode;
        bm_mt_get_entries(1 cxt_id: i32, 2 table_name: String) -> Vec<TableEntry>, TableCode;
        bm_mt_get_entry(1 cxt_id: i32, 2 table_name: String, 3 entry_handle: i32) -> TableEntry, TableCode;
        bm_mt_get_default_entry(1 cxt_id: i32, 2 table_name: String) -> ActionEntry, TableCode;
        bm_mt_get_entry_from_key(
            1 cxt_id: i32, 2 table_name: String,
            3 match_key: Vec<MatchParameter>, 4 options: AddEntryOptions
        ) -> TableEntry, TableCode;
        bm_counter_read(1 cxt_id: i32, 2 counter_name: String, 3 index: i32) -> CounterValue, CounterCode;
        bm_counter_reset_all(1 cxt_id: i32, 2 counter_name: String) -> (), CounterCode;
        bm_counter_write(1 cxt_id: i32, 2 counter_name: String, 3 index: i32, 4 value: CounterValue) -> (), CounterCode;
        bm_learning_ack(1 cxt_id: i32, 2 list_id: i32, 3 buffer_id: i64, 4 sample_ids: Vec<i32>) -> (), LearnCode;
        bm_learning_ack_buffer(1 cxt_id: i32, 2 list_id: i32, 3 buffer_id: i64) -> (), LearnCode;
        bm_learning_set_timeout(1 cxt_id: i32, 2 list_id: i32, 3 timeout_ms: i32) -> (), LearnCode;
        bm_learning_set_buffer_size(1 cxt_id: i32, 2 list_id: i32, 3 nb_samples: i32) -> (), LearnCode;
        bm_load_new_config(1 config_str: String) -> (), SwapCode;
        bm_swap_configs() -> (), SwapCode;
        bm_meter_array_set_rates(1 cxt_id: i32, 2 meter_array_name: String, 3 rates: Vec<MeterRate>) -> (), MeterCode;
        bm_meter_set_rates(1 cxt_id: i32, 2 meter_array_name: String, 3 index: i32, 4 rates: Vec<MeterRate>) -> (), MeterCode;
        bm_meter_get_rates(1 cxt_id: i32, 2 meter_array_name: String, 3 index: i32) -> Vec<MeterRate>, MeterCode;
        bm_register_read(1 cxt_id: i32, 2 register_array_name: String, 3 idx: i32) -> i64, RegisterCode;
        bm_register_read_all(1 cxt_id: i32, 2 register_array_name: String) -> Vec<i64>, RegisterCode;
        bm_register_write(1 cxt_id: i32, 2 register_array_name: String, 3 index: i32, 4 value: i64) -> (), RegisterCode;
        bm_register_write_range(1 cxt_id: i32, 2 register_array_name: String, 3 start_index: i32, 4 end_index: i32, 5 value: i64) -> (), RegisterCode;
        bm_register_reset(1 cxt_id: i32, 2 register_array_name: String) -> (), RegisterCode;
        bm_parse_vset_add(1 cxt_id: i32, 2 parse_vset_name: String, 3 value: Binary) -> (), ValueSetCode;
        bm_parse_vset_remove(1 cxt_id: i32, 2 parse_vset_name: String, 3 value: Binary) -> (), ValueSetCode;
        bm_parse_vset_get(1 cxt_id: i32, 2 parse_vset_name: String) -> Vec<Binary>, ValueSetCode;
        bm_parse_vset_clear(1 cxt_id: i32, 2 parse_vset_name: String) -> (), ValueSetCode;
        bm_dev_mgr_add_port(1 iface_name: String, 2 port_num: i32, 3 pcap_path: String) -> (), PortCode;
        bm_dev_mgr_remove_port(1 port_num: i32) -> (), PortCode;
        bm_dev_mgr_show_ports() -> Vec<PortInfo>, PortCode;
        bm_mgmt_get_info() -> SwitchConfig, Undeclared;
        bm_set_crc16_custom_parameters(1 cxt_id: i32, 2 calc_name: String, 3 crc16_config: Crc16Config) -> (), CrcCode;
        bm_set_crc32_custom_parameters(1 cxt_id: i32, 2 calc_name: String, 3 crc32_config: Crc32Config) -> (), CrcCode;
        bm_set_toeplitz_hash_key(1 cxt_id: i32, 2 calc_name: String, 3 key: Binary) -> (), ToeplitzCode;
        bm_reset_state() -> (), Undeclared;
        bm_get_config() -> String, Undeclared;
        bm_get_config_md5() -> Binary, Undeclared;
        bm_get_id_from_name(1 cxt_id: i32, 2 resource_type: ResourceType, 3 resource_name: String) -> i32, IdCode;
        bm_serialize_state() -> Binary, Undeclared;
    }
}
