/* When a table is marked empty: before its first entry and after its last, in each structure; and never to a
 * reader that has found an entry which was written after one of this table's. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "table_host.h"
#include "test.h"

#define LIMBS 5u
#define FEW 5u
#define READERS 2u
#define ROUNDS_LEAST 40u

static const struct {
	uint32_t structure, key_bits;
} empty_tables[] = {
	{ STRUCTURE_EXACT, 48 }, { STRUCTURE_EXACT, 256 }, { STRUCTURE_EXACT, 320 }, { STRUCTURE_DIR24_8, 32 }, { STRUCTURE_LPM_TRIE, 128 }, { STRUCTURE_LIST, 104 },
	{ STRUCTURE_EXACT48, 48 }, { STRUCTURE_EXACT60, 60 }, { STRUCTURE_DIR24_8_U16, 32 }, { STRUCTURE_DIR24_8_U8, 32 }, { STRUCTURE_DIRECT, 16 },
	{ STRUCTURE_COMPARE, 48 }, { STRUCTURE_SCAN, 104 }, { STRUCTURE_TUPLE_SPACE, 104 }, { STRUCTURE_PERFECT, 48 }, { STRUCTURE_BTREE, 64 },
	{ STRUCTURE_BIT_VECTOR, 104 },
};

struct empty_entry {
	uint64_t key[LIMBS], mask[LIMBS];
	struct table_match match;
	struct test_record record;
};

/* An entry that matches one key as a whole. */
static struct empty_entry *
empty_entry(struct empty_entry *entry, const struct table_descriptor *descriptor, uint32_t number)
{
	for (uint32_t limb = 0; limb < descriptor->key_limbs; limb++) {
		const uint32_t bits = descriptor->key_bits - 64 * limb < 64 ? descriptor->key_bits - 64 * limb : 64;

		entry->mask[limb] = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
		entry->key[limb] = (number + 3) * 0x0101010101010101ull & entry->mask[limb];
	}
	entry->match = (struct table_match){ .value = entry->key, .mask = entry->mask };
	entry->record = test_record(number);
	return entry;
}

/* What code that asks first would find. */
static uint32_t
empty_find(const struct table *table, const struct empty_entry *entry, uint32_t limbs)
{
	return table_is_empty(table) ? 0 : test_find(table, entry->key, limbs);
}

static void
empty_run(uint32_t structure, uint32_t key_bits, uint32_t own)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, own, 0);
	const struct table_host host = test_table_host(&memory);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	const struct table *table = writer_table(writer);
	struct empty_entry entries[FEW];

	CHECK(table_is_empty(table));
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < FEW; i++) {
			const struct empty_entry *entry = empty_entry(&entries[i], &descriptor, i);

			CHECK(writer_delete(writer, &entry->match) == TABLE_MISSING && table_is_empty(table) == (i == 0));
			CHECK(writer_insert(writer, &entry->match, &entry->record, NULL) == TABLE_OK);
			CHECK(writer_insert(writer, &entry->match, &entry->record, NULL) == TABLE_EXISTS);
			for (uint32_t j = 0; j <= i; j++)
				CHECK(empty_find(table, &entries[j], descriptor.key_limbs) != 0);
		}
		for (uint32_t i = 0; i < FEW && round < 2; i++) {
			CHECK(!table_is_empty(table));
			CHECK(writer_delete(writer, &entries[i].match) == TABLE_OK);
			CHECK(empty_find(table, &entries[i], descriptor.key_limbs) == 0);
		}
		CHECK(table_is_empty(table) == (round < 2));
	}
	writer_clear(writer);
	CHECK(table_is_empty(table));
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* A hidden table is empty for readers, whatever is written to it, and has its entries again when it is shown. */
static void
empty_hidden(uint32_t structure, uint32_t key_bits)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);
	const struct table_host host = test_table_host(&memory);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	const struct table *table = writer_table(writer);
	struct empty_entry entries[FEW];

	for (uint32_t i = 0; i < 2; i++)
		CHECK(writer_insert(writer, &empty_entry(&entries[i], &descriptor, i)->match, &entries[i].record, NULL) == TABLE_OK);
	writer_hide(writer);
	CHECK(table_is_empty(table) && writer_count(writer) == 2);
	CHECK(writer_insert(writer, &empty_entry(&entries[2], &descriptor, 2)->match, &entries[2].record, NULL) == TABLE_OK);
	CHECK(writer_delete(writer, &entries[0].match) == TABLE_OK && table_is_empty(table));
	writer_show(writer);
	for (uint32_t i = 0; i < 3; i++)
		CHECK((empty_find(table, &entries[i], descriptor.key_limbs) != 0) == (i != 0));
	writer_hide(writer);
	writer_clear(writer);
	writer_show(writer);
	CHECK(table_is_empty(table));
	CHECK(writer_insert(writer, &entries[0].match, &entries[0].record, NULL) == TABLE_OK && !table_is_empty(table));
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* An entry that finds no memory leaves the table as empty as it was. */
static void
empty_without_memory(uint32_t structure, uint32_t key_bits)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);
	const struct table_host host = test_table_host(&memory);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	enum table_status status = TABLE_NO_MEMORY;
	struct empty_entry entry;

	empty_entry(&entry, &descriptor, 1);
	for (uint64_t left = 0; status == TABLE_NO_MEMORY; left++) {
		memory.allocations_left = left;
		status = writer_insert(writer, &entry.match, &entry.record, NULL);
		CHECK(table_is_empty(writer_table(writer)) == (status != TABLE_OK));
	}
	writer_destroy(writer);
}

void
test_table_empty(void)
{
	for (size_t i = 0; i < sizeof(empty_tables) / sizeof(empty_tables[0]); i++) {
		empty_run(empty_tables[i].structure, empty_tables[i].key_bits, 0);
		empty_run(empty_tables[i].structure, empty_tables[i].key_bits, 1);
		empty_without_memory(empty_tables[i].structure, empty_tables[i].key_bits);
		empty_hidden(empty_tables[i].structure, empty_tables[i].key_bits);
	}
}

/* Two tables: a packet that finds something in the second goes on to the first, as a route leads to a next hop. The
 * next hop is written before the route, and deleted after it. */
struct empty_threads {
	const struct table *hops, *routes;
	struct empty_entry hop, route;
	uint32_t hop_limbs, route_limbs;
	uint64_t begun;	/* the last round whose route may be gone */
	uint32_t stop;
	struct empty_reader {
		_Alignas(64) uint64_t quiescent;
		uint32_t running, failures;
		uint64_t found;
		struct empty_threads *threads;
	} readers[READERS];
};

static void
empty_look_up(struct empty_reader *reader)
{
	const struct empty_threads *threads = reader->threads;
	const uint32_t route = empty_find(threads->routes, &threads->route, threads->route_limbs);
	const struct test_record *record = table_record(threads->routes, route);
	const uint32_t round = record->value, hop = route != 0 ? empty_find(threads->hops, &threads->hop, threads->hop_limbs) : 0;
	const struct test_record *next = table_record(threads->hops, hop);

	if (route == 0)
		return;
	if (!test_record_whole(record))
		reader->failures++;
	if (hop == 0)
		reader->failures += __atomic_load_n(&threads->begun, __ATOMIC_ACQUIRE) < round;
	else
		reader->failures += !test_record_whole(next) || next->value < round;
	reader->found += hop != 0;
}

static void *
empty_read(void *argument)
{
	struct empty_reader *reader = argument;

	while (!__atomic_load_n(&reader->threads->stop, __ATOMIC_ACQUIRE)) {
		for (uint32_t i = 0; i < 64; i++)
			empty_look_up(reader);
		__atomic_fetch_add(&reader->quiescent, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&reader->running, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void
empty_grace(void *argument)
{
	struct empty_threads *threads = argument;

	for (uint32_t i = 0; i < READERS; i++) {
		const struct empty_reader *reader = &threads->readers[i];
		const uint64_t before = __atomic_load_n(&reader->quiescent, __ATOMIC_SEQ_CST);

		while (__atomic_load_n(&reader->running, __ATOMIC_ACQUIRE) && __atomic_load_n(&reader->quiescent, __ATOMIC_ACQUIRE) == before)
			sched_yield();
	}
}

static void
empty_write(struct empty_threads *threads, struct writer *hops, struct writer *routes, double seconds)
{
	const uint64_t end = (uint64_t)clock() + (uint64_t)(seconds * CLOCKS_PER_SEC);

	for (uint32_t round = 1; (uint64_t)clock() < end || round < ROUNDS_LEAST; round++) {
		const struct test_record record = test_record(round);

		CHECK(writer_insert(hops, &threads->hop.match, &record, NULL) == TABLE_OK);
		CHECK(writer_insert(routes, &threads->route.match, &record, NULL) == TABLE_OK);
		for (uint32_t i = 0; i < 2 && round % 4 == 0; i++)
			empty_grace(threads);	/* the second one ends behind a burst that has seen both */
		__atomic_store_n(&threads->begun, round, __ATOMIC_RELEASE);
		CHECK(writer_delete(routes, &threads->route.match) == TABLE_OK);
		CHECK(writer_delete(hops, &threads->hop.match) == TABLE_OK);
	}
}

static void
empty_threads_run(uint32_t structure, uint32_t key_bits, double seconds)
{
	struct empty_threads threads = { .route_limbs = 1 };
	struct test_host memory = { .allocations_left = UINT64_MAX, .argument = &threads };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor of_hops = test_descriptor(structure, key_bits, 0, 0), of_routes = test_descriptor(STRUCTURE_DIRECT, 8, 0, 0);
	struct writer *hops = writer_create(&of_hops, &host, NULL), *routes = writer_create(&of_routes, &host, NULL);
	pthread_t readers[READERS];
	uint64_t found = 0;

	empty_entry(&threads.hop, &of_hops, 1);
	empty_entry(&threads.route, &of_routes, 1);
	threads.hop_limbs = of_hops.key_limbs;
	threads.hops = writer_table(hops);
	threads.routes = writer_table(routes);
	memory.grace = empty_grace;
	for (uint32_t i = 0; i < READERS; i++) {
		threads.readers[i] = (struct empty_reader){ .running = 1, .threads = &threads };
		pthread_create(&readers[i], NULL, empty_read, &threads.readers[i]);
	}
	empty_write(&threads, hops, routes, seconds);
	__atomic_store_n(&threads.stop, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < READERS; i++) {
		pthread_join(readers[i], NULL);
		CHECK(threads.readers[i].failures == 0);
		found += threads.readers[i].found;
	}
	CHECK(found > 0);
	memory.grace = NULL;
	writer_destroy(hops);
	writer_destroy(routes);
	CHECK(memory.bytes == 0);
}

void
test_table_empty_threads(void)
{
	const char *given = getenv("THREADS_SECONDS");

	for (size_t i = 0; i < sizeof(empty_tables) / sizeof(empty_tables[0]); i++)
		empty_threads_run(empty_tables[i].structure, empty_tables[i].key_bits, given != NULL ? strtod(given, NULL) : 0.02);
}
