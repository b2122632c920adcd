//! The commands of BMv2's command line (`simple_switch_CLI`), and those that do the same here.

#[rustfmt::skip]
const HINTS: &[(&str, &str)] = &[
    ("table_add", "add TABLE KEY:VALUE ... ACTION(PARAMETER:VALUE, ...) [priority N], where the largest priority wins"),
    ("table_set_default", "default TABLE ACTION(...)"),
    ("table_reset_default", "default TABLE reset"),
    ("table_modify", "modify TABLE KEY:VALUE ... ACTION(...): entries are named by their keys, not by handles"),
    ("table_delete", "delete TABLE KEY:VALUE ...: entries are named by their keys, not by handles"),
    ("table_clear", "clear TABLE"),
    ("table_dump", "show TABLE"),
    ("table_dump_entry", "show TABLE KEY:VALUE ..."),
    ("table_dump_entry_from_key", "show TABLE KEY:VALUE ..., or `lookup` for the entry that a packet hits"),
    ("table_dump_group", "groups PROFILE ID"),
    ("table_dump_member", "members PROFILE ID"),
    ("table_info", "tables"),
    ("table_num_entries", "tables, in the column `used`"),
    ("table_show_actions", "tables, in the column `actions`"),
    ("table_set_timeout", "modify TABLE KEY:VALUE ... ACTION(...) timeout SECONDS"),
    ("table_indirect_add", "add TABLE KEY:VALUE ... member=ID"),
    ("table_indirect_add_with_group", "add TABLE KEY:VALUE ... group=ID"),
    ("table_indirect_delete", "delete TABLE KEY:VALUE ..."),
    ("table_indirect_set_default", "default TABLE ACTION(...), which tables with an action profile refuse"),
    ("table_indirect_set_default_with_group", "default TABLE ACTION(...), which tables with an action profile refuse"),
    ("table_indirect_reset_default", "default TABLE reset"),
    ("show_tables", "tables"),
    ("show_actions", "tables, in the column `actions`"),
    ("show_ports", "ports"),
    ("show_pvs", "value-sets"),
    ("port_add", "ports add N=DEVICE"),
    ("port_remove", "ports remove PORT"),
    ("act_prof_create_member", "members add PROFILE ID ACTION(...)"),
    ("act_prof_modify_member", "members modify PROFILE ID ACTION(...)"),
    ("act_prof_delete_member", "members delete PROFILE ID"),
    ("act_prof_create_group", "groups add PROFILE ID MEMBER ..."),
    ("act_prof_add_member_to_group", "groups modify PROFILE ID MEMBER ..., with all members"),
    ("act_prof_remove_member_from_group", "groups modify PROFILE ID MEMBER ..., with all members"),
    ("act_prof_delete_group", "groups delete PROFILE ID"),
    ("act_prof_dump", "members PROFILE, and groups PROFILE"),
    ("act_prof_dump_group", "groups PROFILE ID"),
    ("act_prof_dump_member", "members PROFILE ID"),
    ("mc_mgrp_create", "multicast add ID PORT[:INSTANCE] ...: a group is written with all its ports"),
    ("mc_mgrp_destroy", "multicast delete ID"),
    ("mc_node_create", "multicast add ID PORT[:INSTANCE] ...: a group is written with all its ports"),
    ("mc_node_update", "multicast modify ID PORT[:INSTANCE] ..., with all ports"),
    ("mc_node_associate", "multicast modify ID PORT[:INSTANCE] ..., with all ports"),
    ("mc_node_dissociate", "multicast modify ID PORT[:INSTANCE] ..., with all ports"),
    ("mc_node_destroy", "multicast modify ID PORT[:INSTANCE] ..., with all ports"),
    ("mc_dump", "multicast"),
    ("mirroring_add", "sessions add ID PORT"),
    ("mirroring_add_mc", "sessions add ID PORT[:INSTANCE] ..., with all ports"),
    ("mirroring_delete", "sessions delete ID"),
    ("mirroring_get", "sessions ID"),
    ("counter_read", "counters NAME INDEX; counts of entries are in `show TABLE`"),
    ("counter_write", "counters set NAME INDEX packets N bytes N"),
    ("counter_reset", "counters reset NAME"),
    ("meter_set_rates", "meters set NAME INDEX cir N cburst N pir N pburst N, per second"),
    ("meter_array_set_rates", "meters set NAME INDEX cir N cburst N pir N pburst N, for each index"),
    ("meter_get_rates", "meters NAME INDEX"),
    ("register_read", "registers NAME INDEX"),
    ("register_write", "registers set NAME INDEX VALUE"),
    ("register_reset", "registers set NAME INDEX 0, for each index; `clear all` resets the whole state"),
    ("pvs_add", "value-sets add NAME VALUE"),
    ("pvs_remove", "value-sets delete NAME VALUE"),
    ("pvs_clear", "value-sets set NAME"),
    ("pvs_get", "value-sets NAME"),
    ("load_new_config_file", "pipeline push PROGRAM [keep]"),
    ("swap_configs", "pipeline push PROGRAM [keep]"),
    ("switch_info", "pipeline show"),
    ("reset_state", "clear all"),
    ("serialize_state", "dump"),
    ("write_config_to_file", "dump"),
];

/// The command that does what the one of BMv2 does.
pub fn hint(name: &str) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == name).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::usage_of;

    #[test]
    fn hints_begin_with_a_command_that_there_is() {
        for (name, hint) in HINTS {
            let first: String = hint.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').collect();
            assert!(usage_of(&first).is_some(), "{name}: {hint}");
        }
    }
}
