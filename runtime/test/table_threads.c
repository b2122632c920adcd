/* One thread writes as fast as it can, two read. Permanent entries must always be found, with one of their
 * past or present records and never a torn one. Other entries are found with their own record or not at all. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table/compare.h"
#include "table/exact.h"
#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

#define READERS 2u
#define ENTRIES 256u	/* a quarter of a table's entries is always in it */
#define ENTRIES_RULES 600u
/* exact60.h begins with an array for 49,152 entries. About half of those that come and go are there, so all together are as many as fill it, now more and now
 * less: it is replaced again and again, and before that so full that entries move between their buckets. */
#define ENTRIES_MOST 50300u
#define PERMANENT_MOST 48000u
#define UNCOVERED UINT32_MAX	/* no entry allows every key */
#define BURST 20u	/* at most */
#define LIMBS_MOST 5u
#define PAUSE_MOST 50u	/* chances for the writer to go on */

/* A group that waits over the end of a burst, as packets do where a group behind is looked up, and their lines of that time. */
struct threads_kept {
	uint32_t count;
	uint32_t entries[TEST_GROUP_MOST];
	uint64_t keys[TEST_GROUP_MOST];
	const void *addresses[TEST_GROUP_MOST];
	union {
		struct exact_lines exact;
		struct exact48_lines exact48;
		struct exact60_lines exact60;
	} lines;
	uint64_t replaced;	/* groups whose lines had gone */
};

struct threads_reader;
typedef void threads_find(struct threads_reader *reader);

struct threads_reader {
	_Alignas(64) uint64_t quiescent;
	uint32_t running;
	uint32_t failures;
	uint64_t found;
	uint64_t of_one_action;
	struct threads *threads;
	uint64_t random;
	struct threads_kept kept;
};

struct threads {
	struct table_descriptor descriptor;
	const struct table *table;
	threads_find *find_kept;	/* NULL: the structure's lines are not kept */
	uint32_t entries, permanent;
	uint32_t pace;	/* writes from one change of the table's size to the next */
	uint32_t rounds;	/* such changes, at least */
	uint32_t cover;	/* an entry that allows every key, behind the permanent ones and before all others, or UNCOVERED */
	uint64_t keys[ENTRIES_MOST][LIMBS_MOST];
	uint64_t values[ENTRIES_MOST][LIMBS_MOST];
	uint64_t masks[ENTRIES_MOST][LIMBS_MOST];
	uint64_t highs[ENTRIES_MOST][LIMBS_MOST];
	uint32_t stop;
	uint64_t written;
	struct threads_reader readers[READERS];
};

/* Groups that were looked up while a table was marked as having one action. */
static uint64_t threads_of_one_action;

/* A record has its key and its version. Only the first of those that come and go runs another action than the others. */
static struct test_record
threads_record(const struct threads *threads, uint32_t key, uint32_t version)
{
	struct test_record record = test_record(key | version << 16);

	while (record.action != (key == threads->permanent))
		record = test_record(record.value + (1u << 16));
	return record;
}

static void
threads_check(struct threads_reader *reader, uint32_t entry, uint32_t number)
{
	const struct threads *threads = reader->threads;
	const struct test_record *record = table_record(threads->table, number);

	if (number == 0 && entry < threads->permanent)
		reader->failures++;
	if (number != 0 && entry >= threads->permanent && (record->value & 0xffff) == threads->cover)
		entry = threads->cover;
	if (number != 0 && (!test_record_whole(record) || (record->value & 0xffff) != entry))
		reader->failures++;
	if (number != 0 && threads->descriptor.records_own)
		record_hit(record, reader->quiescent);
	reader->found += number != 0;
}

/* Lets the writer go on, now and then: there may be one processor for all, and a lookup is over before anything has changed. The writer may be waiting for
 * this reader, or be making a large array. */
static void
threads_pause(struct threads_reader *reader)
{
	const uint64_t *written = &reader->threads->written, before = __atomic_load_n(written, __ATOMIC_RELAXED);
	uint32_t tries = test_random(&reader->random) % 2 == 0 ? PAUSE_MOST : 0;

	while (tries-- != 0 && __atomic_load_n(written, __ATOMIC_RELAXED) == before)
		sched_yield();
}

/* Draws a group. */
static void
threads_keep(struct threads_reader *reader)
{
	struct threads_kept *kept = &reader->kept;

	kept->count = 1 + (uint32_t)(test_random(&reader->random) % TEST_GROUP_MOST);
	for (uint32_t i = 0; i < kept->count; i++) {
		kept->entries[i] = (uint32_t)(test_random(&reader->random) % reader->threads->entries);
		kept->keys[i] = reader->threads->keys[kept->entries[i]][0];
	}
}

/* The group that was kept is looked up, and the next one is kept. */
#define THREADS_FIND_KEPT(NAME)                                                                                                 \
	static void                                                                                                             \
	threads_find_kept_##NAME(struct threads_reader *reader)                                                                 \
	{                                                                                                                       \
		const struct NAME *table = (const void *)reader->threads->table;                                                \
		const struct NAME##_array *array = NAME##_array(table);                                                         \
		struct threads_kept *kept = &reader->kept;                                                                      \
		const int is_at = kept->count != 0 && NAME##_is_at(table, &kept->lines.NAME);                                   \
		uint32_t found[TEST_GROUP_MOST];                                                                                \
		const struct table_group group = {                                                                              \
			.count = kept->count, .limbs = 1, .keys = kept->keys, .addresses = is_at ? kept->addresses : NULL,      \
			.found = found, .is_far = kept->count % 2,                                                              \
		};                                                                                                              \
		uint64_t second;                                                                                                \
                                                                                                                                \
		threads_pause(reader);                                                                                          \
		second = NAME##_find_firsts(table, array, &group);                                                              \
		threads_pause(reader);                                                                                          \
		NAME##_find_seconds(table, array, &group, second);                                                              \
		for (uint32_t i = 0; i < kept->count; i++)                                                                      \
			threads_check(reader, kept->entries[i], found[i]);                                                      \
		kept->replaced += kept->count != 0 && !is_at;                                                                   \
		threads_keep(reader);                                                                                           \
		kept->lines.NAME = NAME##_lines(table);                                                                         \
		NAME##_addresses(&kept->lines.NAME, kept->keys, kept->addresses, kept->count);                                  \
	}

THREADS_FIND_KEPT(exact)
THREADS_FIND_KEPT(exact48)
THREADS_FIND_KEPT(exact60)

/* What looks up the groups that are kept, or NULL. */
static threads_find *
threads_find_kept(const struct table_descriptor *descriptor)
{
	if (descriptor->key_limbs != 1)
		return NULL;
	switch (descriptor->structure) {
	case STRUCTURE_EXACT:
		return threads_find_kept_exact;
	case STRUCTURE_EXACT48:
		return threads_find_kept_exact48;
	case STRUCTURE_EXACT60:
		return threads_find_kept_exact60;
	default:
		return NULL;
	}
}

static void
threads_look_up(struct threads_reader *reader)
{
	const struct threads *threads = reader->threads;
	const uint32_t limbs = threads->descriptor.key_limbs;
	const uint32_t count = 1 + (uint32_t)(test_random(&reader->random) % BURST);	/* so groups have hashes and addresses, or make them */
	uint64_t keys[BURST * LIMBS_MOST];
	uint32_t entries[BURST], found[BURST], is_one_action;

	for (uint32_t i = 0; i < count; i++) {
		entries[i] = (uint32_t)(test_random(&reader->random) % threads->entries);
		memcpy(keys + (size_t)i * limbs, threads->keys[entries[i]], limbs * sizeof(*keys));
		if (reader->found % 2 == 0)
			threads_check(reader, entries[i], test_find(threads->table, threads->keys[entries[i]], limbs));
	}
	test_find_group(threads->table, keys, limbs, count, found);
	is_one_action = table_runs_only(threads->table, 0);
	for (uint32_t i = 0; i < count; i++) {
		threads_check(reader, entries[i], found[i]);
		if (is_one_action && found[i] != 0 && record_action(table_record(threads->table, found[i])) != 0)
			reader->failures++;
	}
	reader->of_one_action += is_one_action;
}

static void *
threads_read(void *argument)
{
	struct threads_reader *reader = argument;

	while (!__atomic_load_n(&reader->threads->stop, __ATOMIC_ACQUIRE)) {
		if (reader->threads->find_kept != NULL) {
			reader->threads->find_kept(reader);
			threads_pause(reader);	/* what is kept has been for some time when the burst ends */
		}
		threads_look_up(reader);
		__atomic_fetch_add(&reader->quiescent, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&reader->running, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void
threads_grace(void *argument)
{
	struct threads *threads = argument;

	for (uint32_t i = 0; i < READERS; i++) {
		const struct threads_reader *reader = &threads->readers[i];
		const uint64_t before = __atomic_load_n(&reader->quiescent, __ATOMIC_SEQ_CST);

		while (__atomic_load_n(&reader->running, __ATOMIC_ACQUIRE) && __atomic_load_n(&reader->quiescent, __ATOMIC_ACQUIRE) == before)
			sched_yield();
	}
}

/* Keys that differ from each other, each an entry's only one. */
static void
threads_keys(struct threads *threads)
{
	const struct table_descriptor *descriptor = &threads->descriptor;
	uint64_t random = descriptor->structure;

	for (uint32_t i = 0; i < threads->entries; i++)
		for (uint32_t limb = 0; limb < descriptor->key_limbs; limb++) {
			const uint32_t bits = descriptor->key_bits - 64 * limb < 64 ? descriptor->key_bits - 64 * limb : 64;
			const uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

			threads->keys[i][limb] = threads->values[i][limb] = (test_random(&random) << 10 | i) & mask;
			threads->masks[i][limb] = i == threads->cover ? 0 : mask;
			if (i == threads->cover)
				threads->values[i][limb] = 0;
		}
}

/* Blocks of keys, one for each passing entry; permanent ones lie within the first of them and go before, so what passes cuts the keys anew on both sides
 * of what stays. */
static void
threads_ranges(struct threads *threads)
{
	const uint64_t block = (uint64_t)1 << (threads->descriptor.key_bits - 8);

	for (uint32_t i = 0; i < threads->entries; i++) {
		const int stays = i < threads->permanent;
		const uint64_t low = block * (stays ? i : i - threads->permanent);

		threads->values[i][0] = low + (stays ? block / 4 : 0);
		threads->highs[i][0] = low + (stays ? block / 2 : block) - 1;
		threads->keys[i][0] = threads->values[i][0];
	}
}

static struct table_match
threads_match(const struct threads *threads, uint32_t entry)
{
	return (struct table_match){
		.value = threads->values[entry], .mask = threads->masks[entry],
		.priority = entry < threads->permanent ? 2 : entry == threads->cover,
		.high = threads->descriptor.field_count != 0 ? threads->highs[entry] : NULL,
	};
}

/* One of those that are always there in a quarter of the cases. */
static uint32_t
threads_drawn(const struct threads *threads, uint64_t *random)
{
	if (test_random(random) % 4 == 0)
		return (uint32_t)(test_random(random) % threads->permanent);
	return threads->permanent + (uint32_t)(test_random(random) % (threads->entries - threads->permanent));
}

static void
threads_write(struct threads *threads, struct writer *writer, double seconds)
{
	uint64_t random = 1, version = 0;
	const uint64_t end = (uint64_t)clock() + (uint64_t)(seconds * CLOCKS_PER_SEC);

	/* However slow the machine is, a large table's array is replaced so often that readers see it. */
	while (((uint64_t)clock() < end || version / threads->pace < threads->rounds) && test_failures == 0) {
		const int is_cover = threads->cover != UNCOVERED && test_random(&random) % 16 == 0;
		const uint32_t entry = is_cover ? threads->cover : threads_drawn(threads, &random);
		const struct table_match match = threads_match(threads, entry);
		const struct test_record record = threads_record(threads, entry, (uint32_t)(++version & 0x7fff));

		if (entry < threads->permanent) {
			CHECK(writer_modify(writer, &match, &record) == TABLE_OK);
		} else if (test_random(&random) % 2) {
			const enum table_status status = writer_insert(writer, &match, &record, NULL);

			CHECK(status == TABLE_OK || status == TABLE_EXISTS);
		} else {
			const enum table_status status = writer_delete(writer, &match);

			CHECK(status == TABLE_OK || status == TABLE_MISSING);
		}
		__atomic_store_n(&threads->written, version, __ATOMIC_RELAXED);
		if (version % threads->pace != 0)
			continue;
		if (version / threads->pace % 2)
			writer_compact(writer);
		else
			CHECK(writer_reserve(writer, writer_count(writer) * 2 + version / 1000 % 4000) == TABLE_OK);
	}
}

/* A table's share of the time: how long its writer writes. A large one has three. */
static double
threads_seconds(void)
{
	const char *given = getenv("THREADS_SECONDS");

	return given != NULL ? strtod(given, NULL) : 0.4;
}

static void
threads_run_with(uint32_t structure, uint32_t key_bits, uint32_t own, uint32_t entries, uint32_t cover, const struct key_field *range)
{
	struct threads *threads = aligned_alloc(64, sizeof(*threads));
	struct test_host memory = { .allocations_left = UINT64_MAX, .argument = threads };
	const struct table_host host = test_table_host(&memory);
	struct writer *writer;
	pthread_t readers[READERS];
	const int is_large = entries == ENTRIES_MOST;
	uint32_t failures = 0;
	uint64_t replaced = 0;

	memset(threads, 0, sizeof(*threads));
	threads->descriptor = test_descriptor(structure, key_bits, own, 0);
	threads->descriptor.action_count = 2;	/* of seven that there are */
	threads->entries = entries;
	threads->permanent = is_large ? PERMANENT_MOST : entries / 4;
	threads->pace = is_large ? 250 : 1000;
	threads->rounds = is_large ? 16 : 0;
	threads->find_kept = threads_find_kept(&threads->descriptor);
	threads->cover = cover;
	threads_keys(threads);
	if (range != NULL) {
		threads->descriptor.fields = range;
		threads->descriptor.field_count = 1;
		threads_ranges(threads);
	}
	writer = writer_create(&threads->descriptor, &host, NULL);
	threads->table = writer_table(writer);
	for (uint32_t entry = 0; entry < threads->permanent; entry++) {
		const struct table_match match = threads_match(threads, entry);
		const struct test_record record = threads_record(threads, entry, 0);

		CHECK(writer_insert(writer, &match, &record, NULL) == TABLE_OK);
	}
	memory.grace = threads_grace;
	for (uint32_t i = 0; i < READERS; i++) {
		threads->readers[i] = (struct threads_reader){ .running = 1, .threads = threads, .random = i };
		pthread_create(&readers[i], NULL, threads_read, &threads->readers[i]);
	}
	threads_write(threads, writer, is_large ? 3 * threads_seconds() : threads_seconds());
	__atomic_store_n(&threads->stop, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < READERS; i++) {
		pthread_join(readers[i], NULL);
		failures += threads->readers[i].failures;
		CHECK(threads->readers[i].found > 0);
		threads_of_one_action += threads->readers[i].of_one_action;
		replaced += threads->readers[i].kept.replaced;
	}
	CHECK(failures == 0);
	CHECK(!is_large || replaced > 0);
	CHECK(memory.graces > 0);
	memory.grace = NULL;
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
	free(threads);
}

static void
threads_run(uint32_t structure, uint32_t key_bits, uint32_t own)
{
	threads_run_with(structure, key_bits, own, ENTRIES, UNCOVERED, NULL);
}

static const struct key_field threads_port = { .name = "port", .width = 16, .shift = 0, .kind = MATCH_RANGE };
static const struct key_field threads_long = { .name = "long", .width = 64, .shift = 0, .kind = MATCH_RANGE };

void
test_table_threads(void)
{
	threads_run(STRUCTURE_EXACT, 48, 0);
	threads_run(STRUCTURE_EXACT, 64, 1);
	threads_run(STRUCTURE_EXACT, 104, 1);
	threads_run(STRUCTURE_EXACT, 150, 0);
	threads_run(STRUCTURE_EXACT, 256, 1);
	threads_run(STRUCTURE_EXACT, 320, 0);
	threads_run(STRUCTURE_DIR24_8, 16, 1);
	threads_run(STRUCTURE_DIR24_8, 27, 0);
	threads_run(STRUCTURE_LPM_TRIE, 32, 0);
	threads_run(STRUCTURE_LPM_TRIE, 128, 1);
	threads_run(STRUCTURE_LIST, 104, 0);
	threads_run(STRUCTURE_LIST, 32, 1);
	threads_run(STRUCTURE_BTREE, 64, 0);
	threads_run(STRUCTURE_BTREE, 128, 1);
	threads_run_with(STRUCTURE_BTREE, 16, 0, ENTRIES, UNCOVERED, &threads_port);
	threads_run_with(STRUCTURE_BTREE, 64, 1, ENTRIES, UNCOVERED, &threads_long);
	threads_run_with(STRUCTURE_COMPARE, 48, 0, COMPARE_MOST, UNCOVERED, NULL);
	threads_run_with(STRUCTURE_COMPARE, 104, 1, COMPARE_MOST, UNCOVERED, NULL);
	threads_run(STRUCTURE_PERFECT, 48, 0);
	threads_run(STRUCTURE_DIRECT, 16, 1);
	threads_run(STRUCTURE_SCAN, 104, 0);
	threads_run(STRUCTURE_BIT_VECTOR, 104, 0);
	threads_run(STRUCTURE_BIT_VECTOR, 40, 1);
	threads_run(STRUCTURE_TUPLE_SPACE, 104, 0);
	threads_run(STRUCTURE_TUPLE_SPACE, 200, 1);
	threads_run_with(STRUCTURE_SCAN, 104, 0, ENTRIES_RULES, ENTRIES_RULES - 1, NULL);
	threads_run_with(STRUCTURE_BIT_VECTOR, 104, 0, ENTRIES_RULES, ENTRIES_RULES - 1, NULL);
	threads_run_with(STRUCTURE_TUPLE_SPACE, 104, 0, ENTRIES_RULES, ENTRIES_RULES - 1, NULL);
	threads_run(STRUCTURE_EXACT48, 48, 0);
	threads_run(STRUCTURE_EXACT48, 40, 1);
	threads_run_with(STRUCTURE_EXACT60, 60, 0, ENTRIES_MOST, UNCOVERED, NULL);
	threads_run_with(STRUCTURE_EXACT60, 55, 1, ENTRIES_MOST, UNCOVERED, NULL);
	threads_run(STRUCTURE_DIR24_8_U16, 27, 0);
	threads_run(STRUCTURE_DIR24_8_U8, 32, 0);
	CHECK(threads_of_one_action > 0);
}
