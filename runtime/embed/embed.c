/* A compiled pipeline for one thread of another program. All happens in the calling thread, so a grace period is a few
 * empty bursts: after them, the pipeline holds nothing that it found before. */
#include "embed/embed.h"
#include "packet/own_pool.h"
#include "port/region.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EMBED_OUTPUTS 1024u
#define EMBED_BUFFER_BYTES 4096u
#define EMBED_HEADROOM 128u

/* A table, and its host's pointer. */
struct embed_table {
	struct embedded *embedded;
	struct writer *writer;
	uint64_t elements;		/* of its direct counters and meters */
	uint32_t number;
};

struct embedded {
	struct worker worker;	/* first: callbacks get its address */
	struct shared shared;
	struct embedding embedding;
	void *library;
	const struct pipeline *pipeline;
	struct own_pool *own;
	struct embed_table *tables;
	const void **table_pointers;
	struct selection *selections;
	const struct selection **selection_pointers;
	const struct selector_group *no_group;
	struct counter_element **counters;
	struct meter_element **meters;
	void **externs;
	struct groups *_Atomic no_groups;
	size_t memory_bytes;
	uint32_t attached;
	uint32_t received;
	uint16_t ports[EMBED_OUTPUTS];
	uint16_t lengths[EMBED_OUTPUTS];
	void *packets[EMBED_OUTPUTS];
};

static void *
embed_allocate(void *host, size_t bytes)
{
	(void)host;
	return region_allocate(bytes);
}

static void
embed_release(void *host, void *memory, size_t bytes)
{
	(void)host;
	region_release(memory, bytes);
}

static void
embed_process(struct embedded *embedded, uint32_t count)
{
	struct burst burst = { count, embedded->ports, embedded->packets, embedded->lengths };

	embedded->received = 0;
	embedded->pipeline->process(&embedded->worker, &burst);
	embedded->worker.flush(&embedded->worker);
}

static void
embed_grace(void *host)
{
	const struct embed_table *table = host;

	for (uint32_t i = 0; table->embedded->attached && i < table->embedded->pipeline->held_bursts + 2; i++)
		embed_process(table->embedded, table->embedded->received);
}

/* Zeroed elements from the earlier count on; the earlier ones stay. */
static void *
embed_grow(void *old, uint64_t old_count, uint64_t count, size_t bytes)
{
	uint8_t *grown = realloc(old, count * bytes);

	if (grown != NULL)
		memset(grown + old_count * bytes, 0, (count - old_count) * bytes);
	return grown;
}

static int
embed_counter_indices(void *host, uint64_t count)
{
	struct embed_table *table = host;
	struct embedded *embedded = table->embedded;
	const struct pipeline *pipeline = embedded->pipeline;

	if (count <= table->elements)
		return 0;
	for (uint32_t i = 0; i < pipeline->counter_count; i++) {
		if (pipeline->counters[i].size != 0 || pipeline->counters[i].table != table->number)
			continue;
		void *grown = embed_grow(embedded->counters[i], table->elements, count, sizeof(struct counter_element));
		if (grown == NULL)
			return 1;
		embedded->counters[i] = grown;
	}
	for (uint32_t i = 0; i < pipeline->meter_count; i++) {
		if (pipeline->meters[i].size != 0 || pipeline->meters[i].table != table->number)
			continue;
		void *grown = embed_grow(embedded->meters[i], table->elements, count, sizeof(struct meter_element));
		if (grown == NULL)
			return 1;
		embedded->meters[i] = grown;
	}
	table->elements = count;
	return 0;
}

static void
embed_clear(void *host, uint32_t element)
{
	const struct embed_table *table = host;
	const struct embedded *embedded = table->embedded;
	const struct pipeline *pipeline = embedded->pipeline;

	for (uint32_t i = 0; i < pipeline->counter_count; i++) {
		if (pipeline->counters[i].size == 0 && pipeline->counters[i].table == table->number)
			embedded->counters[i][element] = (struct counter_element){ 0 };
	}
	for (uint32_t i = 0; i < pipeline->meter_count; i++) {
		if (pipeline->meters[i].size == 0 && pipeline->meters[i].table == table->number)
			embedded->meters[i][element] = (struct meter_element){ 0 };
	}
}

static void
embed_send(struct worker *worker)
{
	struct embedded *embedded = (struct embedded *)worker;
	const struct embedding *embedding = &embedded->embedding;

	for (uint32_t i = 0; i < worker->out.count; i++)
		embedding->send(embedding->context, worker->out.packets[i], worker->out.lengths[i], worker->out.ports[i]);
	own_free(embedded->own, worker->out.packets, worker->out.count);
	own_free(embedded->own, worker->freed.packets, worker->freed.count);
	worker->out.count = 0;
	worker->freed.count = 0;
}

static void
embed_digest(struct worker *worker, uint32_t digest, const uint64_t *values, uint32_t limbs)
{
	const struct embedding *embedding = &((struct embedded *)worker)->embedding;

	if (embedding->digest != NULL)
		embedding->digest(embedding->context, digest, values, limbs);
}

static void
embed_log(struct worker *worker, const char *format, const uint64_t *values, const uint32_t *widths, uint32_t count)
{
	(void)worker, (void)format, (void)values, (void)widths, (void)count;
}

static void
embed_fail(struct worker *worker, const char *text)
{
	(void)worker;
	fprintf(stderr, "assertion failed: %s\n", text);
	abort();
}

/* There is no control plane that could return the packet: the pipeline drops it. */
static void
embed_punt(struct worker *worker, void *packet, uint16_t length, const void *saved, uint32_t saved_bytes, uint32_t node)
{
	(void)worker, (void)packet, (void)length, (void)saved, (void)saved_bytes, (void)node;
}

/* The writer might need a grace period, and this is the middle of a burst: the program's insertion fails. */
static int
embed_insert(struct worker *worker, uint32_t table, const uint64_t *key, const void *record, uint32_t timer)
{
	(void)worker, (void)table, (void)key, (void)record, (void)timer;
	return 1;
}

/* Why the pipeline cannot run here, or NULL. */
static const char *
embed_refuse(const struct pipeline *pipeline)
{
	if (pipeline == NULL)
		return "the shared object is no pipeline";
	if (pipeline->version != ABI_VERSION || pipeline->layout != ABI_LAYOUT)
		return "the pipeline was compiled by another version of bacus";
	if (pipeline->descriptor != DESCRIPTOR_OWN)
		return "the pipeline's packets are mbufs: compile it with --descriptor own";
	for (uint32_t i = 0; i < pipeline->table_count; i++) {
		if (pipeline->tables[i].idle_timeout != IDLE_NONE)
			return "a table has idle timeouts, for which there is no control plane";
	}
	return pipeline->burst <= EMBED_OUTPUTS ? NULL : "the bursts of the pipeline are too large";
}

/* Tables with arrays of their own, then those that share one. 0 on success. */
static int
embed_make_tables(struct embedded *embedded, uint32_t joint)
{
	const struct pipeline *pipeline = embedded->pipeline;

	for (uint32_t i = 0; i < pipeline->table_count; i++) {
		const struct table_descriptor *descriptor = &pipeline->tables[i];
		struct embed_table *table = &embedded->tables[i];
		const struct table_host host = { embed_allocate, embed_release, embed_grace, embed_counter_indices, embed_clear, table };

		if ((descriptor->primary != 0) != joint)
			continue;
		*table = (struct embed_table){ embedded, NULL, 0, i };
		struct writer *primary = joint ? embedded->tables[descriptor->primary - 1].writer : NULL;
		table->writer = embed_counter_indices(table, 1) == 0 ? writer_create_secondary(descriptor, &host, primary, NULL) : NULL;
		if (table->writer == NULL)
			return 1;
		embedded->table_pointers[i] = writer_table(table->writer);
		embedded->selections[i].groups = &embedded->no_group;
		embedded->selection_pointers[i] = &embedded->selections[i];
	}
	return 0;
}

static int
embed_make_state(struct embedded *embedded)
{
	const struct pipeline *pipeline = embedded->pipeline;

	for (uint32_t i = 0; i < pipeline->counter_count; i++) {
		const uint64_t size = pipeline->counters[i].size;
		if (size != 0 && (embedded->counters[i] = calloc(size, sizeof(struct counter_element))) == NULL)
			return 1;
	}
	for (uint32_t i = 0; i < pipeline->meter_count; i++) {
		const uint64_t size = pipeline->meters[i].size;
		if (size != 0 && (embedded->meters[i] = calloc(size, sizeof(struct meter_element))) == NULL)
			return 1;
	}
	for (uint32_t i = 0; i < pipeline->register_count; i++) {
		const struct register_descriptor *declared = &pipeline->registers[i];
		struct state_array *array = &embedded->shared.registers[i];

		*array = (struct state_array){ declared->size, calloc(declared->size + 1, declared->element_bytes) };
		if (array->elements == NULL)
			return 1;
		for (uint64_t element = 0; declared->initial != NULL && element < declared->size; element++)
			memcpy(array->elements + element * declared->element_bytes, declared->initial, declared->element_bytes);
	}
	for (uint32_t i = 0; i < pipeline->extern_count; i++) {
		if ((embedded->externs[i] = pipeline->externs[i].create()) == NULL)
			return 1;
	}
	return 0;
}

/* Arrays of pointers and counts, one longer than needed: none has zero elements. */
static int
embed_make_arrays(struct embedded *embedded)
{
	const struct pipeline *pipeline = embedded->pipeline;
	const size_t tables = pipeline->table_count + (size_t)1;
	struct worker *worker = &embedded->worker;

	embedded->tables = calloc(tables, sizeof(*embedded->tables));
	embedded->table_pointers = calloc(tables, sizeof(*embedded->table_pointers));
	embedded->selections = calloc(tables, sizeof(*embedded->selections));
	embedded->selection_pointers = calloc(tables, sizeof(*embedded->selection_pointers));
	embedded->counters = calloc(pipeline->counter_count + (size_t)1, sizeof(*embedded->counters));
	embedded->meters = calloc(pipeline->meter_count + (size_t)1, sizeof(*embedded->meters));
	embedded->externs = calloc(pipeline->extern_count + (size_t)1, sizeof(*embedded->externs));
	embedded->shared.registers = calloc(pipeline->register_count + (size_t)1, sizeof(*embedded->shared.registers));
	worker->drops = calloc(pipeline->drop_count + (size_t)1, sizeof(*worker->drops));
	worker->hits = calloc(tables, sizeof(*worker->hits));
	worker->misses = calloc(tables, sizeof(*worker->misses));
	worker->edges = calloc(pipeline->edge_count + (size_t)1, sizeof(*worker->edges));
	worker->key_sketches = calloc(tables * KEY_SKETCH_WORDS, sizeof(*worker->key_sketches));
	worker->out.packets = calloc(EMBED_OUTPUTS, sizeof(*worker->out.packets));
	worker->out.lengths = calloc(EMBED_OUTPUTS, sizeof(*worker->out.lengths));
	worker->out.ports = calloc(EMBED_OUTPUTS, sizeof(*worker->out.ports));
	worker->freed.packets = calloc(EMBED_OUTPUTS, sizeof(*worker->freed.packets));
	worker->out.capacity = worker->freed.capacity = EMBED_OUTPUTS;
	return embedded->tables == NULL || embedded->table_pointers == NULL || embedded->selections == NULL
		|| embedded->selection_pointers == NULL || embedded->counters == NULL || embedded->meters == NULL || embedded->externs == NULL
		|| embedded->shared.registers == NULL || worker->drops == NULL || worker->hits == NULL || worker->misses == NULL
		|| worker->edges == NULL || worker->key_sketches == NULL || worker->out.packets == NULL || worker->out.lengths == NULL
		|| worker->out.ports == NULL || worker->freed.packets == NULL;
}

/* All that the pipeline needs before `attach`. 0 on success. */
static int
embed_make(struct embedded *embedded)
{
	const struct pipeline *pipeline = embedded->pipeline;
	struct worker *worker = &embedded->worker;
	struct shared *shared = &embedded->shared;

	embedded->own = own_create(embedded->embedding.buffers, EMBED_BUFFER_BYTES, EMBED_HEADROOM);
	if (embedded->own == NULL || embed_make_arrays(embedded) != 0)
		return 1;
	embedded->memory_bytes = (pipeline->worker_bytes + 63) / 64 * 64 + pipeline->copy_bytes * embedded->embedding.buffers + 64;
	worker->memory = region_allocate(embedded->memory_bytes);
	worker->port_count = embedded->embedding.ports;
	worker->shared = shared;
	worker->pool = &embedded->own->pool;
	worker->flush = embed_send;
	worker->counters = embedded->counters;
	shared->tables = embedded->table_pointers;
	shared->meters = embedded->meters;
	shared->groups = shared->sessions = &embedded->no_groups;
	shared->selections = embedded->selection_pointers;
	shared->externs = embedded->externs;
	shared->digest = embed_digest;
	shared->log = embed_log;
	shared->fail = embed_fail;
	shared->punt = embed_punt;
	shared->insert = embed_insert;
	return worker->memory == NULL || embed_make_state(embedded) != 0 || embed_make_tables(embedded, 0) != 0
		|| embed_make_tables(embedded, 1) != 0;
}

/* A name without `/` is that of a file here, not of an installed library. */
static void *
embed_load(const char *path)
{
	const size_t bytes = strlen(path) + sizeof("./");
	char *file = malloc(bytes);

	if (file == NULL)
		return NULL;
	snprintf(file, bytes, "%s%s", strchr(path, '/') != NULL ? "" : "./", path);
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	free(file);
	return library;
}

struct embedded *
embed_open(const char *path, const struct embedding *embedding, const char **why)
{
	struct embedded *embedded = aligned_alloc(_Alignof(struct embedded), sizeof(*embedded));

	*why = "no memory";
	if (embedded == NULL)
		return NULL;
	memset(embedded, 0, sizeof(*embedded));
	embedded->embedding = *embedding;
	embedded->library = embed_load(path);
	if (embedded->library == NULL) {
		const char *reason = dlerror();
		*why = reason != NULL ? reason : *why;
		embed_close(embedded);
		return NULL;
	}
	const struct pipeline *pipeline = dlsym(embedded->library, "bacus_pipeline");
	const char *refused = embed_refuse(pipeline);
	if (refused == NULL) {
		embedded->pipeline = pipeline;
		refused = embed_make(embedded) != 0 ? "no memory" : NULL;
	}
	if (refused == NULL && pipeline->attach != NULL && pipeline->attach(&embedded->worker) != 0)
		refused = "the pipeline refuses its worker";
	if (refused != NULL) {
		*why = refused;
		embed_close(embedded);
		return NULL;
	}
	embedded->attached = 1;
	return embedded;
}

/* Secondary tables are destroyed before their primaries. */
static void
embed_destroy_tables(struct embedded *embedded, uint32_t joint)
{
	for (uint32_t i = 0; embedded->tables != NULL && i < embedded->pipeline->table_count; i++) {
		if (embedded->tables[i].writer != NULL && (embedded->pipeline->tables[i].primary != 0) == joint)
			writer_destroy(embedded->tables[i].writer);
	}
}

static void
embed_free_state(struct embedded *embedded)
{
	const struct pipeline *pipeline = embedded->pipeline;

	for (uint32_t i = 0; embedded->counters != NULL && i < pipeline->counter_count; i++)
		free(embedded->counters[i]);
	for (uint32_t i = 0; embedded->meters != NULL && i < pipeline->meter_count; i++)
		free(embedded->meters[i]);
	for (uint32_t i = 0; embedded->shared.registers != NULL && i < pipeline->register_count; i++)
		free(embedded->shared.registers[i].elements);
	for (uint32_t i = 0; embedded->externs != NULL && i < pipeline->extern_count; i++) {
		if (embedded->externs[i] != NULL)
			pipeline->externs[i].destroy(embedded->externs[i]);
	}
}

void
embed_close(struct embedded *embedded)
{
	struct worker *worker = &embedded->worker;

	if (embedded->attached) {
		embed_flush(embedded);
		embedded->attached = 0;
		if (embedded->pipeline->detach != NULL)
			embedded->pipeline->detach(worker);
		embed_send(worker);
	}
	if (embedded->pipeline != NULL) {
		embed_destroy_tables(embedded, 1);
		embed_destroy_tables(embedded, 0);
		embed_free_state(embedded);
	}
	void *const arrays[] = {
		embedded->tables, (void *)embedded->table_pointers, embedded->selections, (void *)embedded->selection_pointers, embedded->counters,
		embedded->meters, embedded->externs, embedded->shared.registers, worker->drops, worker->hits, worker->misses, worker->edges,
		worker->key_sketches, worker->out.packets, worker->out.lengths, worker->out.ports, worker->freed.packets,
	};
	for (uint32_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		free(arrays[i]);
	if (worker->memory != NULL)
		region_release(worker->memory, embedded->memory_bytes);
	if (embedded->own != NULL)
		own_destroy(embedded->own);
	if (embedded->library != NULL)
		dlclose(embedded->library);
	free(embedded);
}

struct worker *
embed_worker(struct embedded *embedded)
{
	return &embedded->worker;
}

const struct pipeline *
embed_pipeline(const struct embedded *embedded)
{
	return embedded->pipeline;
}

struct writer *
embed_table(struct embedded *embedded, const char *name, const struct table_descriptor **descriptor)
{
	for (uint32_t i = 0; i < embedded->pipeline->table_count; i++) {
		*descriptor = &embedded->pipeline->tables[i];
		if (strcmp((*descriptor)->name, name) == 0)
			return embedded->tables[i].writer;
	}
	*descriptor = NULL;
	return NULL;
}

uint32_t
embed_action(const struct table_descriptor *table, const char *name)
{
	for (uint32_t i = 0; i < table->action_count; i++) {
		if (strcmp(table->actions[i].name, name) == 0)
			return i;
	}
	return EMBED_NONE;
}

int
embed_parameter(const struct table_descriptor *table, void *record, const char *name, uint64_t value)
{
	uint32_t number;

	memcpy(&number, record, sizeof(number));
	if (number >= table->action_count)
		return 1;
	const struct action *action = &table->actions[number];
	for (uint32_t i = 0; i < action->parameter_count; i++) {
		const struct parameter *parameter = &action->parameters[i];
		const uint32_t bytes = (parameter->width + 7) / 8;

		if (strcmp(parameter->name, name) != 0)
			continue;
		if (parameter->width > 64 || (parameter->width < 64 && value >> parameter->width != 0))
			return 1;
		for (uint32_t byte = 0; byte < bytes; byte++) {
			const uint32_t at = parameter->form == PARAMETER_BYTES ? bytes - 1 - byte : byte;
			((uint8_t *)record)[parameter->offset + at] = (uint8_t)(value >> 8 * byte);
		}
		return 0;
	}
	return 1;
}

int
embed_receive(struct embedded *embedded, const uint8_t *packet, uint16_t length, uint16_t port)
{
	struct pool *pool = &embedded->own->pool;

	if (length > own_capacity(embedded->own))
		return 1;
	void *buffer = pool->allocate(pool);
	if (buffer == NULL) {
		embed_flush(embedded);
		buffer = pool->allocate(pool);
	}
	if (buffer == NULL)
		return 1;
	memcpy(buffer, packet, length);
	embedded->packets[embedded->received] = buffer;
	embedded->lengths[embedded->received] = length;
	embedded->ports[embedded->received++] = port;
	if (embedded->received == embedded->pipeline->burst)
		embed_process(embedded, embedded->received);
	return 0;
}

void
embed_flush(struct embedded *embedded)
{
	embed_process(embedded, embedded->received);
	embed_process(embedded, 0);
}
