/* A program of DPDK's SWX pipeline library as a peer. Its specification is SWX_SPEC, with ENTRIES for the size of the tables that grow; packets come
 * from the burst and leave by the worker's lists through a port type of ours; tables are filled through their own operations, since the library's
 * control interface searches a list for each entry.
 *
 * With SWX_COMPILE (a command that makes a shared object of a file of C; it needs a DPDK source tree) the library writes the program as C, and
 * that is what runs; else it interprets it. Building from such an object takes port types of the library only, so ours is put in place of those
 * when it is done. */
#ifndef BACUS_PEER_SWX_H
#define BACUS_PEER_SWX_H

#define ALLOW_EXPERIMENTAL_API
#include "dpdk.h"

#include <rte_ring.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include <rte_swx_port.h>
#include <rte_swx_table_em.h>
#include <rte_swx_table_wm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swx_read.h"

#define SWX_PORTS 512u
#define SWX_THREADS 16u		/* packets that the library works on by turns */
#define SWX_INSTRUCTIONS 32u	/* between two looks at whether the burst is done */
#define SWX_ETHERNET 14u
#define SWX_DATA 32u		/* bytes of an action's data, at most */

/* What the port puts before each frame, for programs with SWX_FRAME: SWX has no other way to learn it. Network order. */
struct swx_frame {
	uint16_t port;
	uint16_t rest;		/* bytes behind the Ethernet header */
	uint16_t ones;		/* room for a checksum */
	uint16_t unused;
};

#ifndef SWX_FRAME
#define SWX_FRAME 0
#endif

/* Where packets come from and go to. */
struct swx_queue {
	struct worker *worker;
	const struct burst *burst;
	uint32_t next;
	uint32_t count;
	uint32_t polls;		/* that found nothing */
};

/* An exact table, or one of wildcards: rules of values and masks. */
struct swx_table {
	const char *name;
	uint32_t is_exact;
	struct rte_swx_table_params params;	/* of wildcards, as the library finds them out of the specification */
	struct rte_swx_table_entry_list rules;
	struct rte_swx_table_state *state;
};

struct swx {
	struct rte_swx_pipeline *pipeline;
	struct swx_queue queue;
	uint16_t numbers[SWX_PORTS];
	struct swx_table *tables;
	uint32_t table_count;
	int socket;
};

static struct swx swx;

static void *
swx_port_create(void *port)
{
	return port;
}

static void
swx_port_free(void *port)
{
	(void)port;
}

static void
swx_drop(void *packet)
{
	struct released *freed = &swx.queue.worker->freed;

	freed->packets[freed->count++] = packet;
}

/* The next packet of the burst. A frame without a whole Ethernet header goes no further: SWX would not see that it is short. */
static int
swx_receive(void *port, struct rte_swx_pkt *pkt)
{
	struct swx_queue *queue = port;

	while (queue->next < queue->count) {
		struct rte_mbuf *packet = queue->burst->packets[queue->next];
		const uint32_t before = SWX_FRAME ? sizeof(struct swx_frame) : 0;

		if (__builtin_expect(packet->data_len < SWX_ETHERNET, 0)) {
			swx_drop(packet);
			queue->next++;
			continue;
		}
		if (SWX_FRAME) {
			const struct swx_frame frame = { __builtin_bswap16(queue->burst->ports[queue->next]),
							 __builtin_bswap16((uint16_t)(packet->data_len - SWX_ETHERNET)), 0xffff, 0 };

			memcpy(rte_pktmbuf_mtod(packet, uint8_t *) - sizeof(frame), &frame, sizeof(frame));
		}
		*pkt = (struct rte_swx_pkt){ packet, packet->buf_addr, packet->data_off - before, packet->pkt_len + before };
		queue->next++;
		return 1;
	}
	queue->polls++;
	return 0;
}

static void
swx_send(void *port, struct rte_swx_pkt *pkt)
{
	const uint16_t number = *(const uint16_t *)port;
	struct output *out = &swx.queue.worker->out;
	struct rte_mbuf *packet = pkt->handle;

	packet->data_off = (uint16_t)pkt->offset;
	packet->data_len = (uint16_t)(pkt->length + packet->data_len - packet->pkt_len);
	packet->pkt_len = pkt->length;
	out->packets[out->count] = packet;
	out->ports[out->count++] = number;
}

/* None of our programs makes copies. */
static void
swx_clone(void *port, struct rte_swx_pkt *pkt)
{
	(void)port;
	(void)pkt;
}

static void
swx_clone_part(void *port, struct rte_swx_pkt *pkt, uint32_t bytes)
{
	(void)port;
	(void)pkt;
	(void)bytes;
}

static void
swx_in_counts(void *port, struct rte_swx_port_in_stats *counts)
{
	(void)port;
	memset(counts, 0, sizeof(*counts));
}

static void
swx_out_counts(void *port, struct rte_swx_port_out_stats *counts)
{
	(void)port;
	memset(counts, 0, sizeof(*counts));
}

static struct rte_swx_port_in_ops swx_in = { swx_port_create, swx_port_free, swx_receive, swx_in_counts };
static struct rte_swx_port_out_ops swx_out = { swx_port_create, swx_port_free, swx_send, swx_clone, swx_clone_part, NULL, swx_out_counts };

static int
swx_fail(const char *what, const char *why, uint32_t line)
{
	fprintf(stderr, "SWX: %s: %s (line %u)\n", what, why == NULL ? "refused" : why, line);
	return -1;
}

/* The specification, its tables with room for `entries`. An exact table has twice as many places: its buckets of four overflow where it is full. */
static FILE *
swx_specification(uint64_t entries)
{
	static char text[1 << 16], filled[1 << 16];
	FILE *file = fopen(SWX_SPEC, "r");
	const char *from = text;
	size_t used = 0;

	if (file == NULL)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (const char *hole; (hole = strstr(from, "ENTRIES")) != NULL; from = hole + strlen("ENTRIES"))
		used += (size_t)snprintf(filled + used, sizeof(filled) - used, "%.*s%llu", (int)(hole - from), from,
					 (unsigned long long)(2 * entries + 64));
	used += (size_t)snprintf(filled + used, sizeof(filled) - used, "%s", from);
	return fmemopen(filled, used, "r");
}

#ifdef SWX_COMPILE

/* swx_ports.c */
void swx_connect(struct rte_swx_pipeline *pipeline, const struct rte_swx_port_in_ops *in, void *queue, const struct rte_swx_port_out_ops *out,
		 uint16_t *numbers, uint32_t count);

/* Writes the program as C and compiles it. */
static int
swx_generate(FILE *specification, const char *c, const char *object)
{
	const char *why = NULL;
	char command[4096];
	uint32_t line = 0;
	FILE *file = fopen(c, "w");
	int status;

	if (file == NULL)
		return -1;
	status = rte_swx_pipeline_codegen(specification, file, &line, &why);
	fclose(file);
	if (status != 0)
		return swx_fail("rte_swx_pipeline_codegen", why, line);
	snprintf(command, sizeof(command), "%s -o '%s' '%s' 1>&2", SWX_COMPILE, object, c);
	return system(command) == 0 ? 0 : swx_fail(command, "failed", 0);
}

/* Ports that the library knows, to be replaced. */
static FILE *
swx_any_ports(const char *ring)
{
	static char text[1 << 16];
	size_t used = (size_t)snprintf(text, sizeof(text), "port in 0 ring %s bsz 1\n", ring);

	for (uint32_t port = 0; port < SWX_PORTS; port++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "port out %u sink file none\n", port);
	return fmemopen(text, used, "r");
}

static int
swx_build_from(const char *name, const char *object)
{
	FILE *ports;
	int status;

	if (rte_ring_create(name, 64, SOCKET_ID_ANY, 0) == NULL)
		return peer_fail("rte_ring_create");
	ports = swx_any_ports(name);
	status = ports == NULL ? -1 : rte_swx_pipeline_build_from_lib(&swx.pipeline, name, object, ports, swx.socket);
	if (ports != NULL)
		fclose(ports);
	if (status != 0)
		return swx_fail("rte_swx_pipeline_build_from_lib", NULL, 0);
	swx_connect(swx.pipeline, &swx_in, &swx.queue, &swx_out, swx.numbers, SWX_PORTS);
	return 0;
}

static int
swx_build(const char *name, FILE *specification)
{
	char folder[32], c[64], object[64];
	int status;

	snprintf(folder, sizeof(folder), "/tmp/swx%d", getpid());
	if (mkdir(folder, 0700) != 0)
		return swx_fail(folder, "cannot be made", 0);
	snprintf(c, sizeof(c), "%s/program.c", folder);
	snprintf(object, sizeof(object), "%s/program.so", folder);
	status = swx_generate(specification, c, object) || swx_build_from(name, object) ? -1 : 0;
	(void)unlink(c);
	(void)unlink(object);
	(void)rmdir(folder);
	return status;
}

#else

static int
swx_build(const char *name, FILE *specification)
{
	struct swx_line at = { .text = "" };

	if (rte_swx_pipeline_config(&swx.pipeline, name, swx.socket) != 0 ||
	    rte_swx_pipeline_port_in_type_register(swx.pipeline, "burst", &swx_in) != 0 ||
	    rte_swx_pipeline_port_out_type_register(swx.pipeline, "burst", &swx_out) != 0 ||
	    rte_swx_pipeline_port_in_config(swx.pipeline, 0, "burst", &swx.queue) != 0)
		return swx_fail("rte_swx_pipeline_config", NULL, 0);
	for (uint32_t port = 0; port < SWX_PORTS; port++)
		if (rte_swx_pipeline_port_out_config(swx.pipeline, port, "burst", &swx.numbers[port]) != 0)
			return swx_fail("rte_swx_pipeline_port_out_config", NULL, 0);
	if (swx_read(swx.pipeline, specification, &at) != 0)
		return swx_fail(SWX_SPEC, at.text, 0);
	return rte_swx_pipeline_build(swx.pipeline) == 0 ? 0 : swx_fail("rte_swx_pipeline_build", NULL, 0);
}

#endif

/* Where the library keeps each of our tables. */
static int
swx_find_tables(void)
{
	struct rte_swx_table_state *states;
	struct rte_swx_ctl_pipeline_info pipeline;
	struct rte_swx_ctl_table_info info;

	if (rte_swx_ctl_pipeline_info_get(swx.pipeline, &pipeline) != 0 || rte_swx_pipeline_table_state_get(swx.pipeline, &states) != 0)
		return -1;
	for (uint32_t i = 0; i < swx.table_count; i++) {
		struct swx_table *table = &swx.tables[i];

		TAILQ_INIT(&table->rules);
		for (uint32_t number = 0; number < pipeline.n_tables; number++)
			if (rte_swx_ctl_table_info_get(swx.pipeline, number, &info) == 0 && strcmp(info.name, table->name) == 0)
				table->state = &states[number];
		if (table->state == NULL)
			return swx_fail(table->name, "no such table", 0);
	}
	return 0;
}

/* `bytes`: memory for all tables. */
static int
swx_open(struct swx_table *tables, uint32_t table_count, uint64_t entries, size_t bytes)
{
	FILE *specification = swx_specification(entries);
	char name[32];
	int status;

	if (specification == NULL)
		return swx_fail(SWX_SPEC, "cannot be read", 0);
	swx.tables = tables;
	swx.table_count = table_count;
	swx.socket = peer_heap(bytes);
	for (uint32_t port = 0; port < SWX_PORTS; port++)
		swx.numbers[port] = (uint16_t)port;
	status = swx_build(peer_name(name, sizeof(name), "swx"), specification) || swx_find_tables() ? -1 : 0;
	fclose(specification);
	return status;
}

/* What an exact table with room for so many takes: buckets of 32 bytes for four keys and as many to overflow into, keys, data, stacks. */
static inline size_t
swx_exact_bytes(uint64_t entries)
{
	uint64_t buckets = 1;

	while (buckets < (2 * entries + 64 + 3) / 4)
		buckets *= 2;
	return buckets * (2 * 32 + 4) + (2 * entries + 64) * (8 + 4 + 32) + ((size_t)4 << 20);
}

/* Actions are numbered in the order of the specification. */
static inline int64_t
swx_action(const char *name)
{
	struct rte_swx_ctl_action_info info;

	for (uint32_t action = 0; rte_swx_ctl_action_info_get(swx.pipeline, action, &info) == 0; action++)
		if (strcmp(info.name, name) == 0)
			return action;
	return swx_fail(name, "no such action", 0);
}

/* `data` as the action has it, SWX_DATA bytes. A rule's `key` and `mask` have the table's key size; the smallest priority wins. */
struct swx_entry {
	uint8_t key[32];
	uint8_t mask[32];
	uint32_t priority;
	const char *action;
	uint8_t data[SWX_DATA];
};

/* Numbers as headers (and what is copied to them whole) and as metadata have them. */
static inline void
swx_put_header(uint8_t *bytes, uint64_t value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> (8 * (count - 1 - i)));
}

static inline void
swx_put_metadata(uint8_t *bytes, uint64_t value, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(value >> (8 * i));
}

/* A prefix of `bytes` as a rule: of those that match, the longest wins. */
static inline void
swx_put_prefix(struct swx_entry *entry, const struct table_match *match, uint32_t bytes)
{
	const uint32_t part = bytes < 8 ? bytes : 8;

	for (uint32_t at = 0; at < bytes; at += part) {
		const uint32_t limb = (bytes - at - part) / 8;

		swx_put_header(entry->key + at, match->value[limb], part);
		swx_put_header(entry->mask + at, match->mask[limb], part);
		entry->priority += 8 * part - (uint32_t)__builtin_popcountll(match->mask[limb]);
	}
}

static inline int
swx_insert(struct swx_table *table, const struct swx_entry *entry)
{
	const int64_t action = swx_action(entry->action);
	struct swx_entry *kept = (struct swx_entry *)(uintptr_t)entry;
	struct rte_swx_table_entry *rule, exact = { .key = kept->key, .action_data = kept->data, .action_id = (uint64_t)action };

	if (action < 0)
		return -1;
	if (table->is_exact)
		return rte_swx_table_exact_match_ops.add(table->state->obj, &exact) == 0 ? 0 : swx_fail(table->name, "full", 0);
	kept = malloc(sizeof(*kept));
	rule = malloc(sizeof(*rule));
	if (kept == NULL || rule == NULL)
		return -1;
	*kept = *entry;
	*rule = (struct rte_swx_table_entry){ .key = kept->key, .key_mask = kept->mask, .key_priority = kept->priority,
					      .action_id = (uint64_t)action, .action_data = kept->data };
	TAILQ_INSERT_TAIL(&table->rules, rule, node);
	return 0;
}

/* Tables of wildcards are built of all their rules. */
static inline int
swx_ready(void)
{
	for (uint32_t i = 0; i < swx.table_count; i++) {
		struct swx_table *table = &swx.tables[i];
		void *built;

		if (table->is_exact)
			continue;
		built = rte_swx_table_wildcard_match_ops.create(&table->params, &table->rules, NULL, swx.socket);
		if (built == NULL)
			return swx_fail(table->name, "rte_acl does not take these rules", 0);
		rte_swx_table_wildcard_match_ops.free(table->state->obj);
		table->state->obj = built;
	}
	return 0;
}

/* The library works on several packets by turns, so that some of a burst are still in it when it has taken the last. An empty burst ends them:
 * nothing is left when each of its threads has polled without receiving a packet. The library itself frees the packets that it drops. */
static void
swx_process(struct worker *worker, struct burst *burst)
{
	struct swx_queue *queue = &swx.queue;

	queue->worker = worker;
	queue->burst = burst;
	queue->next = 0;
	queue->count = burst->count;
	queue->polls = 0;
	while (queue->next < queue->count)
		rte_swx_pipeline_run(swx.pipeline, SWX_INSTRUCTIONS);
	while (burst->count == 0 && queue->polls != SWX_THREADS) {
		queue->polls = 0;
		rte_swx_pipeline_run(swx.pipeline, SWX_THREADS);
	}
}

#endif
