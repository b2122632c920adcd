/* Sizes and offsets of everything in abi.h, as this compiler lays it out: what the host's mirror is tested against.
 * Part of the host, not of a pipeline. */
#include "abi.h"

struct place {
	const char *name;
	uint64_t bytes;
};

uint64_t abi_layout(void);
const struct place *abi_place(uint32_t number);

#define SIZE(type) { "sizeof " #type, sizeof(struct type) }
#define OFFSET(type, field) { #type "." #field, offsetof(struct type, field) }

static const struct place places[] = {
	SIZE(burst),
	OFFSET(burst, count), OFFSET(burst, ports), OFFSET(burst, packets), OFFSET(burst, lengths),
	SIZE(output),
	OFFSET(output, count), OFFSET(output, capacity), OFFSET(output, packets), OFFSET(output, lengths),
	OFFSET(output, ports),
	SIZE(released),
	OFFSET(released, count), OFFSET(released, capacity), OFFSET(released, packets),
	SIZE(counter_element),
	OFFSET(counter_element, packets), OFFSET(counter_element, bytes),
	SIZE(meter_element),
	OFFSET(meter_element, committed_rate), OFFSET(meter_element, committed_burst), OFFSET(meter_element, peak_rate),
	OFFSET(meter_element, peak_burst), OFFSET(meter_element, committed_tokens), OFFSET(meter_element, peak_tokens),
	OFFSET(meter_element, time_ns), OFFSET(meter_element, configured), OFFSET(meter_element, lock),
	SIZE(member),
	OFFSET(member, port), OFFSET(member, instance),
	SIZE(group),
	OFFSET(group, count), OFFSET(group, truncation), OFFSET(group, members),
	SIZE(group_slot),
	OFFSET(group_slot, number), OFFSET(group_slot, group),
	SIZE(groups),
	OFFSET(groups, mask), OFFSET(groups, slots),
	SIZE(selector_group),
	OFFSET(selector_group, count), OFFSET(selector_group, unused), OFFSET(selector_group, records),
	SIZE(selection),
	OFFSET(selection, groups),
	SIZE(state_array),
	OFFSET(state_array, count), OFFSET(state_array, elements),
	SIZE(shared),
	OFFSET(shared, tables), OFFSET(shared, registers), OFFSET(shared, meters), OFFSET(shared, groups),
	OFFSET(shared, sessions), OFFSET(shared, selections), OFFSET(shared, externs), OFFSET(shared, digest),
	OFFSET(shared, log), OFFSET(shared, fail), OFFSET(shared, punt),
	OFFSET(shared, insert),
	SIZE(pool),
	OFFSET(pool, handle), OFFSET(pool, allocate), OFFSET(pool, buffer_bytes), OFFSET(pool, headroom_bytes), OFFSET(pool, count),
	SIZE(worker),
	OFFSET(worker, id), OFFSET(worker, port_count), OFFSET(worker, clock_ns), OFFSET(worker, seed),
	OFFSET(worker, packet_number), OFFSET(worker, shared), OFFSET(worker, memory), OFFSET(worker, pool),
	OFFSET(worker, flush), OFFSET(worker, host), OFFSET(worker, out), OFFSET(worker, freed), OFFSET(worker, drops),
	OFFSET(worker, hits), OFFSET(worker, misses), OFFSET(worker, counters), OFFSET(worker, edges),
	OFFSET(worker, key_sketches), OFFSET(worker, quiescent),
	SIZE(key_field),
	OFFSET(key_field, name), OFFSET(key_field, width), OFFSET(key_field, shift), OFFSET(key_field, kind),
	OFFSET(key_field, mask),
	SIZE(left_out_key),
	OFFSET(left_out_key, name), OFFSET(left_out_key, width), OFFSET(left_out_key, kind), OFFSET(left_out_key, number),
	OFFSET(left_out_key, value),
	SIZE(parameter),
	OFFSET(parameter, name), OFFSET(parameter, width), OFFSET(parameter, offset), OFFSET(parameter, form),
	SIZE(action),
	OFFSET(action, name), OFFSET(action, parameter_count), OFFSET(action, parameters),
	SIZE(table_descriptor),
	OFFSET(table_descriptor, name), OFFSET(table_descriptor, structure), OFFSET(table_descriptor, key_bits),
	OFFSET(table_descriptor, key_limbs), OFFSET(table_descriptor, field_count), OFFSET(table_descriptor, fields),
	OFFSET(table_descriptor, left_out_count), OFFSET(table_descriptor, left_out),
	OFFSET(table_descriptor, action_count), OFFSET(table_descriptor, actions), OFFSET(table_descriptor, record_bytes),
	OFFSET(table_descriptor, records_own), OFFSET(table_descriptor, size), OFFSET(table_descriptor, idle_timeout),
	OFFSET(table_descriptor, source), OFFSET(table_descriptor, group_offset), OFFSET(table_descriptor, primary),
	OFFSET(table_descriptor, part_shift), OFFSET(table_descriptor, part_bits),
	SIZE(counter_descriptor),
	OFFSET(counter_descriptor, name), OFFSET(counter_descriptor, size), OFFSET(counter_descriptor, table),
	SIZE(meter_descriptor),
	OFFSET(meter_descriptor, name), OFFSET(meter_descriptor, size), OFFSET(meter_descriptor, table),
	OFFSET(meter_descriptor, bytes),
	SIZE(register_descriptor),
	OFFSET(register_descriptor, name), OFFSET(register_descriptor, size), OFFSET(register_descriptor, width),
	OFFSET(register_descriptor, element_bytes), OFFSET(register_descriptor, initial),
	SIZE(extern_descriptor),
	OFFSET(extern_descriptor, name), OFFSET(extern_descriptor, of_type), OFFSET(extern_descriptor, create),
	OFFSET(extern_descriptor, destroy),
	SIZE(saved_field),
	OFFSET(saved_field, name), OFFSET(saved_field, width), OFFSET(saved_field, offset),
	SIZE(pipeline),
	OFFSET(pipeline, version), OFFSET(pipeline, descriptor), OFFSET(pipeline, layout), OFFSET(pipeline, program),
	OFFSET(pipeline, burst), OFFSET(pipeline, table_count), OFFSET(pipeline, tables), OFFSET(pipeline, counter_count),
	OFFSET(pipeline, meter_count), OFFSET(pipeline, counters), OFFSET(pipeline, meters), OFFSET(pipeline, register_count),
	OFFSET(pipeline, drop_count), OFFSET(pipeline, registers), OFFSET(pipeline, drops), OFFSET(pipeline, node_count),
	OFFSET(pipeline, edge_count), OFFSET(pipeline, nodes), OFFSET(pipeline, edges), OFFSET(pipeline, saved_count),
	OFFSET(pipeline, saved_bytes), OFFSET(pipeline, saved), OFFSET(pipeline, worker_bytes), OFFSET(pipeline, copy_bytes),
	OFFSET(pipeline, extern_count), OFFSET(pipeline, held_bursts), OFFSET(pipeline, externs), OFFSET(pipeline, attach),
	OFFSET(pipeline, detach), OFFSET(pipeline, process), OFFSET(pipeline, resume),
};

uint64_t
abi_layout(void)
{
	return ABI_LAYOUT;
}

/* Place number `number`, or NULL behind the last. */
const struct place *
abi_place(uint32_t number)
{
	return number < sizeof(places) / sizeof(places[0]) ? &places[number] : NULL;
}
