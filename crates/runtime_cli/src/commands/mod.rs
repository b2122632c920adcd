//! The commands by name.

mod dump;
mod elements;
mod hashes;
mod multicast;
mod profiles;
mod switch;
mod tables;

use crate::session::Run;

/// Name, arguments, what it does, and how.
#[rustfmt::skip]
pub const COMMANDS: &[(&str, &str, &str, Run)] = &[
    ("show_tables", "", "List the tables of the program", tables::show_tables),
    ("show_actions", "", "List the actions of the program", tables::show_actions),
    ("table_show_actions", "<table>", "List the actions of a table", tables::table_show_actions),
    ("table_info", "<table>", "Show the keys and actions of a table", tables::table_info),
    ("table_set_default", "<table> <action> [parameter ...]", "Set the default action of a table", tables::set_default),
    ("table_reset_default", "<table>", "Restore the default action of a table", tables::reset_default),
    ("table_num_entries", "<table>", "Count the entries of a table", tables::num_entries),
    ("table_clear", "<table>", "Delete all entries of a table, but not its default action", tables::clear),
    ("table_add", "<table> <action> <key ...> => [parameter ...] [priority]", "Add an entry to a table", tables::add),
    ("table_set_timeout", "<table> <handle> <milliseconds>", "Set the idle timeout of an entry", tables::set_timeout),
    ("table_modify", "<table> <action> <handle> [parameter ...]", "Give an entry another action", tables::modify),
    ("table_delete", "<table> <handle>", "Delete an entry of a table", tables::delete),
    ("table_indirect_add", "<table> <key ...> => <member> [priority]", "Add an entry that refers to a member", tables::indirect_add),
    ("table_indirect_add_with_group", "<table> <key ...> => <group> [priority]", "Add an entry that refers to a group", tables::indirect_add_with_group),
    ("table_indirect_delete", "<table> <handle>", "Delete an entry of an indirect table", tables::indirect_delete),
    ("table_indirect_set_default", "<table> <member>", "Set the default member of an indirect table", tables::indirect_set_default),
    ("table_indirect_set_default_with_group", "<table> <group>", "Set the default group of an indirect table", tables::indirect_set_default_group),
    ("table_indirect_reset_default", "<table>", "Restore the default action of an indirect table", tables::indirect_reset_default),
    ("table_dump", "<table>", "Print the entries of a table", dump::table),
    ("table_dump_entry", "<table> <handle>", "Print an entry of a table", dump::entry),
    ("table_dump_entry_from_key", "<table> <key ...> [priority]", "Print the entry of a table with these keys", dump::entry_from_key),
    ("table_dump_member", "<table> <member>", "Print a member of a table's profile", dump::table_member),
    ("table_dump_group", "<table> <group>", "Print a group of a table's profile", dump::table_group),
    ("act_prof_create_member", "<profile> <action> [parameter ...]", "Make a member of an action profile", profiles::create_member),
    ("act_prof_delete_member", "<profile> <member>", "Delete a member of an action profile", profiles::delete_member),
    ("act_prof_modify_member", "<profile> <action> <member> [parameter ...]", "Give a member another action", profiles::modify_member),
    ("act_prof_create_group", "<profile>", "Make a group of an action selector", profiles::create_group),
    ("act_prof_delete_group", "<profile> <group>", "Delete a group of an action selector", profiles::delete_group),
    ("act_prof_add_member_to_group", "<profile> <member> <group>", "Add a member to a group", profiles::add_to_group),
    ("act_prof_remove_member_from_group", "<profile> <member> <group>", "Remove a member from a group", profiles::remove_from_group),
    ("act_prof_dump", "<profile>", "Print the members and groups of a profile", dump::profile),
    ("act_prof_dump_member", "<profile> <member>", "Print a member of a profile", dump::member),
    ("act_prof_dump_group", "<profile> <group>", "Print a group of a profile", dump::group),
    ("table_indirect_create_member", "<table> <action> [parameter ...]", "Make a member of a table", profiles::table_create_member),
    ("table_indirect_delete_member", "<table> <member>", "Delete a member of a table", profiles::table_delete_member),
    ("table_indirect_modify_member", "<table> <action> <member> [parameter ...]", "Give a member of a table another action", profiles::table_modify_member),
    ("table_indirect_create_group", "<table>", "Make a group of a table", profiles::table_create_group),
    ("table_indirect_delete_group", "<table> <group>", "Delete a group of a table", profiles::table_delete_group),
    ("table_indirect_add_member_to_group", "<table> <member> <group>", "Add a member to a group of a table", profiles::table_add_to_group),
    ("table_indirect_remove_member_from_group", "<table> <member> <group>", "Remove a member from a group of a table", profiles::table_remove_from_group),
    ("mc_mgrp_create", "<group>", "Make a multicast group", multicast::create),
    ("mc_mgrp_destroy", "<group>", "Delete a multicast group", multicast::destroy),
    ("mc_node_create", "<rid> <port ...> [ | <lag ...> ]", "Make a multicast node", multicast::node_create),
    ("mc_node_update", "<node> <port ...> [ | <lag ...> ]", "Give a multicast node other ports", multicast::node_update),
    ("mc_node_associate", "<group> <node>", "Add a node to a multicast group", multicast::associate),
    ("mc_node_dissociate", "<group> <node>", "Remove a node from a multicast group", multicast::dissociate),
    ("mc_node_destroy", "<node>", "Delete a multicast node", multicast::node_destroy),
    ("mc_set_lag_membership", "<lag> <port ...>", "Set the ports of a link aggregation group", multicast::set_lag),
    ("mc_dump", "", "Print the multicast groups", multicast::dump),
    ("mirroring_add", "<session> <port>", "Mirror the packets of a session to a port", multicast::mirroring_add),
    ("mirroring_add_mc", "<session> <group>", "Mirror the packets of a session to a multicast group", multicast::mirroring_add_group),
    ("mirroring_delete", "<session>", "Delete a mirroring session", multicast::mirroring_delete),
    ("mirroring_get", "<session>", "Print a mirroring session", multicast::mirroring_get),
    ("counter_read", "<counter> <index>", "Print the value of a counter", elements::counter_read),
    ("counter_write", "<counter> <index> <packets> <bytes>", "Set the value of a counter", elements::counter_write),
    ("counter_reset", "<counter>", "Set all values of a counter to 0", elements::counter_reset),
    ("meter_array_set_rates", "<meter> <rate:burst> <rate:burst>", "Set the rates of all meters of an array", elements::meter_array_set_rates),
    ("meter_set_rates", "<meter> <index> <rate:burst> <rate:burst>", "Set the rates of a meter, in units a microsecond", elements::meter_set_rates),
    ("meter_get_rates", "<meter> <index>", "Print the rates of a meter", elements::meter_get_rates),
    ("register_read", "<register> [index]", "Print an element of a register, or all", elements::register_read),
    ("register_write", "<register> <index> <value>", "Set an element of a register", elements::register_write),
    ("register_reset", "<register>", "Set all elements of a register to 0", elements::register_reset),
    ("show_pvs", "", "List the parser value sets of the program", elements::show_value_sets),
    ("pvs_add", "<set> <value>", "Add a value to a parser value set", elements::value_set_add),
    ("pvs_remove", "<set> <value>", "Remove a value from a parser value set", elements::value_set_remove),
    ("pvs_get", "<set>", "Print the values of a parser value set", elements::value_set_get),
    ("pvs_clear", "<set>", "Remove all values of a parser value set", elements::value_set_clear),
    ("port_add", "<interface> <port> [capture]", "Open an interface as a port", switch::port_add),
    ("port_remove", "<port>", "Close a port", switch::port_remove),
    ("show_ports", "", "List the ports", switch::show_ports),
    ("switch_info", "", "Print the device id and the sockets of the switch", switch::info),
    ("reset_state", "", "Restore the state at the start; the program stays", switch::reset_state),
    ("load_new_config_file", "<file>", "Load another program; swap_configs runs it", switch::load_config),
    ("swap_configs", "", "Run the program that was loaded last", switch::swap_configs),
    ("write_config_to_file", "<file>", "Write the JSON of the program to a file", switch::write_config),
    ("serialize_state", "<file>", "Write the state of the switch to a file", switch::serialize_state),
    ("set_crc16_parameters", "<name> <polynomial> <initial> <final> <reflect data> <reflect remainder>", "Change a CRC of 16 bits", hashes::set_crc16),
    ("set_crc32_parameters", "<name> <polynomial> <initial> <final> <reflect data> <reflect remainder>", "Change a CRC of 32 bits", hashes::set_crc32),
    ("set_toeplitz_hash_key", "<name> <key>", "Change the key of a Toeplitz hash", hashes::set_toeplitz_key),
    ("set_queue_depth", "<packets> [port [priority]]", "Set the depth of egress queues", switch::set_queue_depth),
    ("set_queue_rate", "<packets a second> [port [priority]]", "Set the rate of egress queues", switch::set_queue_rate),
    ("get_time_elapsed", "", "Print the microseconds since the switch started", switch::time_elapsed),
    ("get_time_since_epoch", "", "Print the microseconds since the epoch", switch::time_since_epoch),
    ("shell", "<command>", "Run a command of the shell", switch::shell),
];

/// What a command does; none for a name that is no command.
pub fn find(name: &str) -> Option<Run> {
    COMMANDS.iter().find(|(known, ..)| *known == name).map(|(.., run)| *run)
}
