/* The pipeline of l2fwd, as bacus compiled it. It is written to be read, but not to be edited. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "packet/own.h"
#include "walk.h"
#include "table/exact.h"
#include "table/dir24_8.h"
#include "table/lpm_trie.h"
#include "table/list.h"
#include "extern/group.h"
#include "extern/meter.h"
#include "extern/state.h"

/* What the program's author compares is not the C compiler's business. */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"

#define INLINE static inline __attribute__((always_inline))

/* Where a packet goes on. */
enum node {
	ENDED,
	AT_ARRIVAL,
	AT_PARSER_START,
	AT_INGRESS_SMAC,
	AT_INGRESS_DMAC,
	AT_INGRESS_END,
	AT_EGRESS_BEGIN,
	AT_EGRESS_IS_ECHO,
	AT_EGRESS_PRUNE,
	AT_EGRESS_END,
	AT_DEPARSER,
	AT_DEPARTURE,
};

enum drop {
	DROP_RE_ENTRY_BUDGET_0,
	DROP_PARSER_BUDGET_1,
	DROP_LOOP_BUDGET_2,
	DROP_NO_SUCH_PORT_3,
	DROP_EMPTY_MULTICAST_GROUP_4,
	DROP_NO_HEADROOM_5,
	DROP_SEGMENTED_PACKET_6,
	DROP_INGRESS_7,
	DROP_EGRESS_8,
};

struct ingress_smac_record {
	_Alignas(8) uint32_t action;
};

struct ingress_dmac_record {
	_Alignas(8) uint32_t action;
	union {
		struct {
			uint16_t port;
		} forward;
	};
};

/* What needs an address: headers that are not in the packet, wide numbers, bytes as they came in. */
struct scratch {
	uint8_t hdr_ethernet[14];
};

/* A packet on its way. Headers are pointers into the packet, or into scratch. */
struct state {
	struct packet packet;
	struct scratch *scratch;
	uint32_t cursor;	/* bytes that the parser has taken */
	uint32_t port;	/* ingress */
	uint8_t *hdr_ethernet;
	bool hdr_ethernet_valid;
	uint32_t standard_metadata_ingress_port;
	uint32_t standard_metadata_egress_spec;
	uint32_t standard_metadata_egress_port;
	uint32_t standard_metadata_instance_type;
	uint32_t standard_metadata_packet_length;
	uint32_t standard_metadata_mcast_grp;
	uint32_t standard_metadata_egress_rid;
	uint32_t standard_metadata_parser_error;
};

/* A copy, or a packet that will enter again. */
struct copy {
	struct copy *next;
	enum node at;
	struct state state;
	struct scratch scratch;
};

/* The worker's memory. */
struct memory {
	struct copy *copies;	/* free ones */
	struct scratch scratch;
};

/* What is at hand during a burst: a local variable, which no store to a packet can change. */
struct run {
	struct worker *worker;
	struct memory *memory;
	uint64_t clock_ns;
	const struct exact *ingress_smac;
	uint64_t ingress_smac_lookups;
	uint64_t ingress_smac_hits;
	const struct exact *ingress_dmac;
	uint64_t ingress_dmac_lookups;
	uint64_t ingress_dmac_hits;
};

BITS_INLINE uint64_t
ethernet_dst(const uint8_t *header)
{
	return bits_load_in(header, 14u, 0u, 48u);
}

BITS_INLINE uint64_t
ethernet_src(const uint8_t *header)
{
	return bits_load_in(header, 14u, 48u, 48u);
}

/* Memory for a copy, or NULL. */
static __attribute__((noinline)) struct copy *
copy_take(struct run *run)
{
	struct copy *copy = run->memory->copies;

	if (copy == NULL)
		return malloc(sizeof(*copy));
	run->memory->copies = copy->next;
	return copy;
}

/* The copy's packet has left. */
static void
copy_give(struct run *run, struct copy *copy)
{
	copy->next = run->memory->copies;
	run->memory->copies = copy;
}

/* A copy with the variables of `whole`, and `packet` for its bytes. */
static __attribute__((noinline)) struct copy *
copy_begin(struct run *run, const struct state *whole, struct packet packet)
{
	struct copy *const copy = copy_take(run);

	if (copy == NULL) {
		packet_drop(run->worker, &packet);
		return NULL;
	}
	copy->scratch = *whole->scratch;
	copy->state = *whole;
	copy->state.scratch = &copy->scratch;
	copy->state.packet = packet;
	return copy;
}

/* A copy that goes on as the packet is, headers included. */
static __attribute__((noinline)) struct copy *
copy_current(struct run *run, const struct state *whole)
{
	struct packet packet;
	struct copy *copy;

	if (!packet_copy(run->worker, &whole->packet, &packet))
		return NULL;
	copy = copy_begin(run, whole, packet);
	if (copy != NULL) {
		uint8_t *const data = packet_data(&copy->state.packet);
		const uint8_t *const old = packet_data(&whole->packet);
		if (whole->hdr_ethernet != NULL)
			copy->state.hdr_ethernet = whole->hdr_ethernet == whole->scratch->hdr_ethernet ? copy->scratch.hdr_ethernet : data + (whole->hdr_ethernet - old);
	}
	return copy;
}

static void walk_copy(struct run *run, struct copy *copy, enum node at);

/* arrival */
INLINE void
arrival(struct run *run, struct state *state)
{
	(void)run;
	state->standard_metadata_ingress_port = state->port & 511u;
	state->standard_metadata_packet_length = packet_length(&state->packet);
}

/* parser.start */
INLINE void
parser_start(struct run *run, struct state *state)
{
	(void)run;
	const uint32_t end1 = state->cursor + 14u;
	if (packet_contiguous(&state->packet) < end1) {
		state->standard_metadata_parser_error = 1u;
		return;
	}
	state->hdr_ethernet = packet_data(&state->packet) + state->cursor;
	state->hdr_ethernet_valid = true;
	state->cursor += 14u;
}

INLINE void
ingress_smac_key(struct run *run, struct state *state, uint64_t *key)
{
	(void)run;
	if (state->hdr_ethernet == NULL)
		state->hdr_ethernet = memset(state->scratch->hdr_ethernet, 0, 14u);
	key[0] = ethernet_src(state->hdr_ethernet);
}

INLINE void
ingress_smac_act(struct run *run, struct state *state, uint32_t found)
{
	const struct ingress_smac_record *const record = table_record_at(&run->ingress_smac->table, found, table_stride(sizeof(struct ingress_smac_record), 1));
	run->ingress_smac_hits += found != 0u;
	run->ingress_smac_lookups++;
	if (found != 0u)
		record_hit(record, run->clock_ns);
	if (record->action == 1u) {
		const uint64_t values1[2] = { ethernet_src(state->hdr_ethernet), state->standard_metadata_ingress_port };
		run->worker->shared->digest(run->worker, 0u, values1, 2u);
	}
}

/* ingress.smac: l2fwd.p4:49 */
INLINE void
ingress_smac(struct run *run, struct state *state)
{
	uint64_t key[1];
	uint64_t hash;

	ingress_smac_key(run, state, key);
	hash = exact_hash(run->ingress_smac, key, 1u);
	ingress_smac_act(run, state, exact_find(run->ingress_smac, exact_address(run->ingress_smac, hash), hash, key, 1u));
}

INLINE void
ingress_dmac_key(struct run *run, struct state *state, uint64_t *key)
{
	(void)run;
	key[0] = ethernet_dst(state->hdr_ethernet);
}

INLINE void
ingress_dmac_act(struct run *run, struct state *state, uint32_t found)
{
	const struct ingress_dmac_record *const record = table_record_at(&run->ingress_dmac->table, found, table_stride(sizeof(struct ingress_dmac_record), 1));
	run->ingress_dmac_hits += found != 0u;
	run->ingress_dmac_lookups++;
	if (found != 0u)
		counter_add(run->worker, 0u, UINT64_MAX, record_cell(record), packet_length(&state->packet));
	switch (record->action) {
	case 0u: {
		const uint32_t port = record->forward.port;
		state->standard_metadata_egress_spec = port;
		break;
	}
	case 1u:
		state->standard_metadata_mcast_grp = 1u;
		break;
	default:
		break;
	}
}

/* ingress.dmac: l2fwd.p4:50 */
INLINE void
ingress_dmac(struct run *run, struct state *state)
{
	uint64_t key[1];
	uint64_t hash;

	ingress_dmac_key(run, state, key);
	hash = exact_hash(run->ingress_dmac, key, 1u);
	ingress_dmac_act(run, state, exact_find(run->ingress_dmac, exact_address(run->ingress_dmac, hash), hash, key, 1u));
}

static __attribute__((noinline)) void
ingress_end_copy1(struct run *run, struct state whole, const struct member *member)
{
	struct copy *const copy = copy_current(run, &whole);
	struct state *state;

	if (copy == NULL)
		return;
	state = &copy->state;
	state->standard_metadata_instance_type = 5u;
	state->standard_metadata_egress_port = member->port & 511u;
	state->standard_metadata_egress_rid = member->instance & 0xffffu;
	walk_copy(run, copy, AT_EGRESS_BEGIN);
}
/* ingress.end */
INLINE enum node
ingress_end(struct run *run, struct state *state)
{
	if (state->standard_metadata_mcast_grp != 0u) {
		{
			const struct group *const group = group_find(run->worker->shared->groups, state->standard_metadata_mcast_grp);
			if (group == NULL || group->count == 0u) {
				walk_drop(run->worker, state->packet, DROP_EMPTY_MULTICAST_GROUP_4);
				return ENDED;
			}
			for (uint32_t i = 0u; i < group->count; i++)
				ingress_end_copy1(run, *state, &group->members[i]);
		}
		const struct packet gone2 = state->packet;
		packet_drop(run->worker, &gone2);
		return ENDED;
	}
	if (state->standard_metadata_egress_spec == 511u) {
		walk_drop(run->worker, state->packet, DROP_INGRESS_7);
		return ENDED;
	}
	state->standard_metadata_instance_type = 0u;
	state->standard_metadata_egress_port = state->standard_metadata_egress_spec;
	return AT_EGRESS_BEGIN;
}

/* egress.begin */
INLINE void
egress_begin(struct run *run, struct state *state)
{
	(void)run;
	state->standard_metadata_egress_spec = 0u;
}

/* egress.is_echo */
INLINE enum node
egress_is_echo(struct run *run, struct state *state)
{
	(void)run;
	if (state->standard_metadata_instance_type == 5u && state->standard_metadata_egress_port == state->standard_metadata_ingress_port)
		return AT_EGRESS_PRUNE;
	return AT_EGRESS_END;
}

/* egress.prune */
INLINE void
egress_prune(struct run *run, struct state *state)
{
	(void)run;
	state->standard_metadata_egress_spec = 511u;
	state->standard_metadata_mcast_grp = 0u;
}

/* egress.end */
INLINE enum node
egress_end(struct run *run, struct state *state)
{
	if (state->standard_metadata_egress_spec == 511u) {
		walk_drop(run->worker, state->packet, DROP_EGRESS_8);
		return ENDED;
	}
	return AT_DEPARSER;
}

/* deparser */
INLINE void
deparser(struct run *run, struct state *state)
{
	(void)run;
	state->cursor = 0u;
}

/* departure */
INLINE enum node
departure(struct run *run, struct state *state)
{
	walk_send(run->worker, state->packet, state->standard_metadata_egress_port, DROP_NO_SUCH_PORT_3);
	return ENDED;
}

/* The way of a packet through the graph. */
INLINE void
walk(struct run *run, struct state *state, enum node at)
{
	switch (at) {
	case AT_EGRESS_BEGIN:
		goto egress_begin;
	default:
		break;
	}
	arrival(run, state);
	parser_start(run, state);
	ingress_smac(run, state);
	ingress_dmac(run, state);
	if (ingress_end(run, state) == ENDED)
		return;
egress_begin: ;
	egress_begin(run, state);
	if (egress_is_echo(run, state) == AT_EGRESS_END)
		goto egress_end;
	egress_prune(run, state);
egress_end: ;
	if (egress_end(run, state) == ENDED)
		return;
	deparser(run, state);
	departure(run, state);
}

static __attribute__((noinline)) void
walk_copy(struct run *run, struct copy *copy, enum node at)
{
	walk(run, &copy->state, at);
	copy_give(run, copy);
}

static struct run
run_begin(struct worker *worker)
{
	const struct run run = {
		.worker = worker,
		.memory = worker->memory,
		.clock_ns = worker->clock_ns,
		.ingress_smac = worker->shared->tables[0],
		.ingress_dmac = worker->shared->tables[1],
	};

	return run;
}

static void
run_end(const struct run *run)
{
	run->worker->hits[0] += run->ingress_smac_hits;
	run->worker->misses[0] += run->ingress_smac_lookups - run->ingress_smac_hits;
	run->worker->hits[1] += run->ingress_dmac_hits;
	run->worker->misses[1] += run->ingress_dmac_lookups - run->ingress_dmac_hits;
}

/* A packet as it enters the graph. */
INLINE void
state_enter(struct state *state)
{
	(void)state;
}

INLINE struct state
state_begin(struct packet packet, uint16_t port, struct scratch *scratch, uint64_t number)
{
	const struct state state = {
		.packet = packet,
		.port = port,
		.scratch = scratch,
	};

	(void)number;
	return state;
}

static int
attach(struct worker *worker)
{
	(void)worker;
	return 0;
}

static void
detach(struct worker *worker)
{
	struct memory *const memory = worker->memory;

	while (memory->copies != NULL) {
		struct copy *const copy = memory->copies;

		memory->copies = copy->next;
		free(copy);
	}
}

static void
process(struct worker *worker, struct burst *burst)
{
	struct run run = run_begin(worker);
	const uint32_t count = burst->count;

	for (uint32_t i = 0u; i < count; i++) {
		struct state state = state_begin(packet_take(burst, i), burst->ports[i], &run.memory->scratch, worker->packet_number + i);

		state_enter(&state);
		walk(&run, &state, AT_ARRIVAL);
	}
	worker->packet_number += count;
	run_end(&run);
}

/* No node hands packets to the control plane, so none comes back. */
static void
resume(struct worker *worker, void *packet, uint16_t length, const void *saved, uint32_t node)
{
	const struct packet returned = packet_from(packet, length);

	(void)saved;
	(void)node;
	packet_drop(worker, &returned);
}

static const struct key_field ingress_smac_fields[] = {
	{ .name = "hdr.ethernet.src", .width = 48u, .shift = 0u, .kind = MATCH_EXACT },
};

static const struct action ingress_smac_actions[] = {
	{ .name = "NoAction", .parameter_count = 0u, .parameters = NULL },
	{ .name = "ingress.learn", .parameter_count = 0u, .parameters = NULL },
};

static const struct key_field ingress_dmac_fields[] = {
	{ .name = "hdr.ethernet.dst", .width = 48u, .shift = 0u, .kind = MATCH_EXACT },
};

static const struct parameter ingress_dmac_forward_parameters[] = {
	{ .name = "port", .width = 9u, .offset = offsetof(struct ingress_dmac_record, forward.port) },
};

static const struct action ingress_dmac_actions[] = {
	{ .name = "ingress.forward", .parameter_count = 1u, .parameters = ingress_dmac_forward_parameters },
	{ .name = "ingress.flood", .parameter_count = 0u, .parameters = NULL },
};

static const struct table_descriptor pipeline_tables[] = {
	{
		.name = "ingress.smac",
		.structure = STRUCTURE_EXACT,
		.key_bits = 48u,
		.key_limbs = 1u,
		.field_count = 1u,
		.fields = ingress_smac_fields,
		.action_count = 2u,
		.actions = ingress_smac_actions,
		.record_bytes = sizeof(struct ingress_smac_record),
		.records_own = 1u,
		.size = 0x1000ull,
		.idle_timeout = 1u,
		.source = 0u,
	},
	{
		.name = "ingress.dmac",
		.structure = STRUCTURE_EXACT,
		.key_bits = 48u,
		.key_limbs = 1u,
		.field_count = 1u,
		.fields = ingress_dmac_fields,
		.action_count = 2u,
		.actions = ingress_dmac_actions,
		.record_bytes = sizeof(struct ingress_dmac_record),
		.records_own = 1u,
		.size = 0x1000ull,
		.idle_timeout = 0u,
		.source = 1u,
	},
};

static const struct counter_descriptor pipeline_counters[] = {
	{ .name = "ingress.hits", .size = 0ull, .table = 1u },
};

static const char *const pipeline_drops[] = {
	"re-entry budget",
	"parser budget",
	"loop budget",
	"no such port",
	"empty multicast group",
	"no headroom",
	"segmented packet",
	"ingress",
	"egress",
};

static const char *const pipeline_nodes[] = {
	"arrival",
	"parser.start",
	"ingress.smac",
	"ingress.dmac",
	"ingress.end",
	"egress.begin",
	"egress.is_echo",
	"egress.prune",
	"egress.end",
	"deparser",
	"departure",
};

static const char *const pipeline_edges[] = {
	"arrival -> parser.start",
	"parser.start -> ingress.smac",
	"ingress.smac -> ingress.dmac",
	"ingress.dmac -> ingress.end",
	"ingress.end -> egress.begin",
	"egress.begin -> egress.is_echo",
	"egress.is_echo -> egress.prune",
	"egress.is_echo -> egress.end",
	"egress.prune -> egress.end",
	"egress.end -> deparser",
	"deparser -> departure",
};

extern const struct pipeline bacus_pipeline;

const struct pipeline bacus_pipeline = {
	.version = ABI_VERSION,
	.descriptor = PACKET_DESCRIPTOR,
	.layout = ABI_LAYOUT,
	.program = "l2fwd",
	.burst = 256u,
	.table_count = 2u,
	.counter_count = 1u,
	.meter_count = 0u,
	.register_count = 0u,
	.drop_count = 9u,
	.node_count = 11u,
	.edge_count = 11u,
	.tables = pipeline_tables,
	.counters = pipeline_counters,
	.meters = NULL,
	.registers = NULL,
	.drops = pipeline_drops,
	.nodes = pipeline_nodes,
	.edges = pipeline_edges,
	.saved_count = 0u,
	.saved_bytes = 0,
	.saved = NULL,
	.worker_bytes = sizeof(struct memory),
	.attach = attach,
	.detach = detach,
	.process = process,
	.resume = resume,
};
