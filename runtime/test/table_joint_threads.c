/* One thread writes two joint tables, two threads read both. As in table_threads.c, permanent entries must
 * always be found with one of their records; here also while the other table gains or loses the same key. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

#define READERS 2u
#define KEYS_SMALL 256u
#define KEYS_LARGE 50300u	/* as in table_threads.c: they fill the first array of exact60.h, now more and now less */
#define ALWAYS_LARGE 48000u
#define BURST 20u
#define PAUSE_MOST 50u	/* chances for the writer to go on */
#define SECONDARY_BITS 8u
#define KINDS 61u		/* of keys, as records distinguish them: with three versions of each, a part of eight bits has numbers for all */
#define VERSIONS 3u
#define PRIMARY 0u
#define SECONDARY 1u

struct shared_threads;

struct shared_reader {
	_Alignas(64) uint64_t quiescent;
	uint32_t running;
	uint32_t failures;
	uint64_t found;
	uint64_t absent;
	uint64_t random;
	struct shared_threads *threads;
};

struct shared_threads {
	struct table_descriptor descriptors[2];
	struct writer *writers[2];
	const struct table *tables[2];
	uint32_t count;
	uint32_t always;	/* keys below it are always in one table or the other, or in both */
	uint32_t pace;		/* writes from one change of the array's size to the next */
	uint32_t rounds;	/* such changes, at least */
	uint64_t keys[KEYS_LARGE];
	uint32_t stop;
	uint64_t written;
	struct shared_reader readers[READERS];
};

static int
shared_is_always(const struct shared_threads *threads, uint32_t which, uint32_t number)
{
	return number < threads->always && number % 3 != (which == PRIMARY ? 1 : 2);
}

static struct test_record
shared_record(uint32_t which, uint32_t number, uint64_t version)
{
	return test_record(2 * (number % KINDS) + which + (uint32_t)(version % VERSIONS << 16));
}

static void
shared_check(struct shared_reader *reader, uint32_t which, uint32_t number, uint32_t found)
{
	const struct shared_threads *threads = reader->threads;
	const struct test_record *record = table_record(threads->tables[which], found);

	if (found == 0 && shared_is_always(threads, which, number))
		reader->failures++;
	if (found != 0 && (!test_record_whole(record) || (record->value & 0xffff) != 2 * (number % KINDS) + which))
		reader->failures++;
	reader->found += found != 0;
	reader->absent += found == 0;
}

/* What one lookup found, for both tables. */
static void
shared_check_parts(struct shared_reader *reader, uint32_t number, uint32_t found)
{
	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		const struct table_descriptor *descriptor = &reader->threads->descriptors[which];

		shared_check(reader, which, number, table_part(found, descriptor->part_shift, descriptor->part_bits));
	}
}

/* Lets the writer go on, now and then, as in table_threads.c. */
static void
shared_pause(struct shared_reader *reader)
{
	const uint64_t *written = &reader->threads->written, before = __atomic_load_n(written, __ATOMIC_RELAXED);
	uint32_t tries = test_random(&reader->random) % 2 == 0 ? PAUSE_MOST : 0;

	while (tries-- != 0 && __atomic_load_n(written, __ATOMIC_RELAXED) == before)
		sched_yield();
}

/* A group whose halves may have something between them. */
#define SHARED_FIND_GROUP(NAME)                                                                                                 \
	static void                                                                                                             \
	shared_find_group_##NAME(struct shared_reader *reader, const struct table *held, const struct table_group *group)       \
	{                                                                                                                       \
		const struct NAME *table = (const void *)held;                                                                  \
		const struct NAME##_array *array = NAME##_array(table);                                                         \
		const uint64_t second = NAME##_find_firsts(table, array, group);                                                \
                                                                                                                                \
		shared_pause(reader);                                                                                           \
		NAME##_find_seconds(table, array, group, second);                                                               \
	}

SHARED_FIND_GROUP(exact48)
SHARED_FIND_GROUP(exact60)

static void
shared_look_up(struct shared_reader *reader)
{
	const struct shared_threads *threads = reader->threads;
	const uint32_t which = test_random(&reader->random) % 2 != 0 ? SECONDARY : PRIMARY;
	const struct table_descriptor *descriptor = &threads->descriptors[which];
	uint32_t numbers[BURST], found[BURST];
	uint64_t keys[BURST];
	const struct table_group group = { .count = 1 + (uint32_t)(test_random(&reader->random) % BURST), .limbs = 1, .keys = keys, .found = found };

	for (uint32_t i = 0; i < group.count; i++) {
		numbers[i] = (uint32_t)(test_random(&reader->random) % threads->count);
		keys[i] = threads->keys[numbers[i]];
		shared_check_parts(reader, numbers[i], test_find(threads->tables[which], &keys[i], 1));
	}
	if (descriptor->structure == STRUCTURE_EXACT48)
		shared_find_group_exact48(reader, threads->tables[which], &group);
	else
		shared_find_group_exact60(reader, threads->tables[which], &group);
	table_group_part(&group, descriptor->part_shift, descriptor->part_bits);
	for (uint32_t i = 0; i < group.count; i++)
		shared_check(reader, which, numbers[i], found[i]);
}

static void *
shared_read(void *argument)
{
	struct shared_reader *reader = argument;

	while (!__atomic_load_n(&reader->threads->stop, __ATOMIC_ACQUIRE)) {
		shared_look_up(reader);
		__atomic_fetch_add(&reader->quiescent, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&reader->running, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void
shared_grace(void *argument)
{
	struct shared_threads *threads = argument;

	for (uint32_t i = 0; i < READERS; i++) {
		const struct shared_reader *reader = &threads->readers[i];
		const uint64_t before = __atomic_load_n(&reader->quiescent, __ATOMIC_SEQ_CST);

		while (__atomic_load_n(&reader->running, __ATOMIC_ACQUIRE) && __atomic_load_n(&reader->quiescent, __ATOMIC_ACQUIRE) == before)
			sched_yield();
	}
}

/* Inserts, changes or deletes one entry of either table. */
static void
shared_write_one(struct shared_threads *threads, uint64_t *random, uint64_t version)
{
	const uint32_t which = test_random(random) % 2 != 0 ? SECONDARY : PRIMARY;
	const uint32_t from = test_random(random) % 2 != 0 ? threads->always : 0;
	const uint32_t number = from + (uint32_t)(test_random(random) % (threads->count - from));
	const struct table_match match = { .value = &threads->keys[number] };
	const struct test_record record = shared_record(which, number, version);
	enum table_status status;

	if (shared_is_always(threads, which, number)) {
		CHECK(writer_modify(threads->writers[which], &match, &record) == TABLE_OK);
	} else if (test_random(random) % 2 != 0) {
		status = writer_insert(threads->writers[which], &match, &record, NULL);
		CHECK(status == TABLE_OK || status == TABLE_EXISTS);
	} else {
		status = writer_delete(threads->writers[which], &match);
		CHECK(status == TABLE_OK || status == TABLE_MISSING);
	}
}

static void
shared_write(struct shared_threads *threads, double seconds)
{
	const uint64_t end = (uint64_t)clock() + (uint64_t)(seconds * CLOCKS_PER_SEC);
	uint64_t random = 1, version = 0;

	while (((uint64_t)clock() < end || version / threads->pace < threads->rounds) && test_failures == 0) {
		struct writer *writer = threads->writers[version / threads->pace / 2 % 2];

		shared_write_one(threads, &random, ++version);
		__atomic_store_n(&threads->written, version, __ATOMIC_RELAXED);
		if (version % threads->pace != 0)
			continue;
		if (version / threads->pace % 2 != 0)
			writer_compact(writer);
		else
			CHECK(writer_reserve(writer, threads->count * 2 + version / 1000 % 4000) == TABLE_OK);
	}
}

static void
shared_fill(struct shared_threads *threads)
{
	uint64_t random = threads->count;

	for (uint32_t number = 0; number < threads->count; number++) {
		threads->keys[number] = (test_random(&random) << 16 | number) & (((uint64_t)1 << threads->descriptors[PRIMARY].key_bits) - 1);
		for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
			const struct table_match match = { .value = &threads->keys[number] };
			const struct test_record record = shared_record(which, number, 0);

			if (shared_is_always(threads, which, number))
				CHECK(writer_insert(threads->writers[which], &match, &record, NULL) == TABLE_OK);
		}
	}
}

/* As in table_threads.c: THREADS_SECONDS sets the time. */
static double
shared_seconds(void)
{
	const char *given = getenv("THREADS_SECONDS");

	return given != NULL ? strtod(given, NULL) : 0.4;
}

static void
shared_run_threads(struct shared_threads *threads, double seconds)
{
	pthread_t readers[READERS];

	for (uint32_t i = 0; i < READERS; i++) {
		threads->readers[i] = (struct shared_reader){ .running = 1, .threads = threads, .random = i };
		pthread_create(&readers[i], NULL, shared_read, &threads->readers[i]);
	}
	shared_write(threads, seconds);
	__atomic_store_n(&threads->stop, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < READERS; i++) {
		pthread_join(readers[i], NULL);
		CHECK(threads->readers[i].failures == 0);
		CHECK(threads->readers[i].found > 0 && threads->readers[i].absent > 0);
	}
}

static void
shared_run(uint32_t structure, uint32_t key_bits, uint32_t count)
{
	struct shared_threads *threads = aligned_alloc(64, sizeof(*threads));
	struct test_host memories[2];

	memset(threads, 0, sizeof(*threads));
	threads->count = count;
	threads->always = count == KEYS_LARGE ? ALWAYS_LARGE : count / 2;
	threads->pace = count == KEYS_LARGE ? 250 : 1000;
	threads->rounds = count == KEYS_LARGE ? 16 : 4;
	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		const struct table_host host = test_table_host(&memories[which]);

		memories[which] = (struct test_host){ .allocations_left = UINT64_MAX, .argument = threads };
		threads->descriptors[which] = test_descriptor(structure, key_bits, 0, 0);
		threads->descriptors[which].primary = which == SECONDARY;
		threads->descriptors[which].part_shift = which == SECONDARY ? 0 : SECONDARY_BITS;
		threads->descriptors[which].part_bits = which == SECONDARY ? SECONDARY_BITS : 16 - SECONDARY_BITS;
		threads->writers[which] = writer_create_secondary(&threads->descriptors[which], &host, which == SECONDARY ? threads->writers[PRIMARY] : NULL, NULL);
		threads->tables[which] = writer_table(threads->writers[which]);
	}
	shared_fill(threads);
	for (uint32_t which = PRIMARY; which <= SECONDARY; which++)
		memories[which].grace = shared_grace;
	shared_run_threads(threads, count == KEYS_LARGE ? 3 * shared_seconds() : shared_seconds());
	for (uint32_t which = SECONDARY + 1; which-- != PRIMARY;) {
		CHECK(memories[which].graces > 0);
		memories[which].grace = NULL;
		writer_destroy(threads->writers[which]);
		CHECK(memories[which].bytes == 0);
	}
	free(threads);
}

void
test_table_joint_threads(void)
{
	shared_run(STRUCTURE_EXACT48, 48, KEYS_SMALL);
	shared_run(STRUCTURE_EXACT60, 60, KEYS_SMALL);
	shared_run(STRUCTURE_EXACT60, 55, KEYS_LARGE);
}
