/* Two tables of exact keys one behind the other, the second's keys known when the first has answered, beside two of rte_hash. */
#include <rte_hash.h>

#include "exact.h"
#include "kernels.h"
#include "table/exact48.h"

#define BURSTS (SAMPLE / BURST)
#define OURS_DEPENDENT 4u	/* kernels */

BEGIN_TOGETHER(exact48)

/* The second's key is made of what the first found and of the first key. */
struct dependent {
	const struct exact48 *first;
	const struct exact48 *second;
	const struct rte_hash *first_hash;
	const struct rte_hash *second_hash;
	uint64_t entries;
};

INLINE uint64_t
dependent_key(uint32_t value, uint64_t key, uint64_t entries)
{
	return key48(((value + key) & 0xffffffff) * entries >> 32);
}

static void
dependent_draw(struct sample *sample, const void *context)
{
	const struct dependent *tables = context;

	for (uint32_t i = 0; i < SAMPLE; i++) {
		const uint64_t entry = (random_next() >> 32) * tables->entries >> 32, key = key48(entry);
		const uint64_t second = ((exact_value(entry) + key) & 0xffffffff) * tables->entries >> 32;

		sample->keys[i] = sample->padded[2 * (size_t)i] = key;
		sample->keys[SAMPLE + i] = key48(second);	/* for the floor: lookups make their own */
		sample->padded_pointers[i] = sample->padded + 2 * (size_t)i;
		sample->expected[i] = exact_value(second);
	}
}

/* What a number of the first table's means: two loads more, as in a program whose second key comes from the first action's data. */
INLINE uint32_t
dependent_value(const struct table *table, uint32_t number)
{
	return ((const uint32_t *)table_record_at(table, number, RECORD_BYTES))[1];
}

/* A burst on its way through both tables. */
struct dependent_flight {
	struct flight first;
	struct flight second;
	uint64_t first_late;		/* a bit for each key that may be in its second bucket */
	uint64_t second_late;
	uint64_t keys[BURST];		/* for the second table */
	uint32_t numbers[BURST];	/* that the first one found */
};

/* A burst's lookups in one of the tables, whose lines were requested. Each pays for a line of a later burst, if there is one. */
INLINE struct table_group
dependent_group(const struct flight *flight, const uint64_t *keys, uint32_t *found, const struct flight *later, enum request request)
{
	return (struct table_group){
		.count = BURST, .limbs = 1, .is_far = 1, .keys = keys, .hashes = flight->hashes, .addresses = flight->address, .found = found,
		.requests = later != NULL ? later->address : NULL, .request_count = later != NULL ? BURST : 0, .request_far = request == REQUEST_FAR,
	};
}

/* The keys for the second table, of what the first one found. */
INLINE void
dependent_keys(const struct dependent *tables, const struct sample *sample, uint32_t from, struct dependent_flight *flight)
{
	for (uint32_t i = 0; i < BURST; i++)
		flight->keys[i] = dependent_key(dependent_value(&tables->first->table, flight->numbers[i]), sample->keys[from + i], tables->entries);
}

/* All of a burst's lookups in the second table. */
INLINE void
dependent_second(const struct dependent *tables, struct sample *sample, uint32_t from, struct dependent_flight *flight, enum request request)
{
	struct table_group group;

	dependent_keys(tables, sample, from, flight);
	exact48_1_begin(tables->second, flight->keys, &flight->second, request);
	group = dependent_group(&flight->second, flight->keys, sample->found + from, NULL, request);
	exact48_find_group(tables->second, &group);
}

static void
dependent_requested(const void *of, struct sample *sample)
{
	const struct dependent *tables = of;

	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		struct dependent_flight flight;
		struct table_group group;

		exact48_1_begin(tables->first, sample->keys + from, &flight.first, REQUEST_NEAR);
		group = dependent_group(&flight.first, sample->keys + from, flight.numbers, NULL, REQUEST_NEAR);
		exact48_find_group(tables->first, &group);
		dependent_second(tables, sample, from, &flight, REQUEST_NEAR);
	}
}

/* The first table's lines one burst ahead. Those of the second are requested when its keys are known: what has been found waits for no other burst. */
static void
dependent_first_ahead_far(const void *of, struct sample *sample)
{
	const struct dependent *tables = of;
	struct dependent_flight flights[2];

	exact48_1_begin(tables->first, sample->keys, &flights[0].first, REQUEST_FAR);
	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		struct dependent_flight *flight = &flights[from / BURST % 2];
		struct flight *newest = from + BURST < SAMPLE ? &flights[from / BURST % 2 ^ 1].first : NULL;
		struct table_group group = dependent_group(&flight->first, sample->keys + from, flight->numbers, newest, REQUEST_FAR);

		if (newest != NULL)
			exact48_1_begin(tables->first, sample->keys + from + BURST, newest, REQUEST_NONE);
		exact48_find_group(tables->first, &group);
		dependent_second(tables, sample, from, flight, REQUEST_FAR);
	}
}

/* The bursts in progress at once, and how far ahead lines are prefetched: one or two bursts, in either table. */
struct dependent_way {
	struct dependent_flight flights[AHEAD_MOST + 3];
	uint32_t ahead;
	enum request request;
};

INLINE struct dependent_flight *
dependent_flight(struct dependent_way *way, uint32_t number)
{
	return &way->flights[number % (way->ahead + 3)];
}

/* A burst's first buckets in the first table. */
INLINE void
dependent_first_buckets(const struct dependent *tables, struct sample *sample, struct dependent_way *way, uint32_t number)
{
	struct dependent_flight *flight = dependent_flight(way, number);
	const uint32_t later = number + way->ahead;
	struct flight *newest = later < BURSTS ? &dependent_flight(way, later)->first : NULL;
	const struct table_group group = dependent_group(&flight->first, sample->keys + number * BURST, flight->numbers, newest, way->request);

	if (newest != NULL)
		exact48_1_begin(tables->first, sample->keys + later * BURST, newest, REQUEST_NONE);
	flight->first_late = exact48_find_firsts(tables->first, exact48_array(tables->first), &group);
}

/* Its second buckets there, and where its lookups in the second table are. The lines of the first bursts are not prefetched. */
INLINE void
dependent_turn(const struct dependent *tables, struct sample *sample, struct dependent_way *way, uint32_t number)
{
	struct dependent_flight *flight = dependent_flight(way, number);
	const struct table_group group = dependent_group(&flight->first, sample->keys + number * BURST, flight->numbers, NULL, way->request);

	exact48_find_seconds(tables->first, exact48_array(tables->first), &group, flight->first_late);
	dependent_keys(tables, sample, number * BURST, flight);
	exact48_1_begin(tables->second, flight->keys, &flight->second, REQUEST_NONE);
	for (uint32_t i = 0; number < way->ahead && i < BURST; i++)
		request_line(flight->second.address[i], way->request);
}

/* First buckets in the second table. */
INLINE void
dependent_second_buckets(const struct dependent *tables, struct sample *sample, struct dependent_way *way, uint32_t number)
{
	struct dependent_flight *flight = dependent_flight(way, number);
	const struct flight *later = number + way->ahead < BURSTS ? &dependent_flight(way, number + way->ahead)->second : NULL;
	const struct table_group group = dependent_group(&flight->second, flight->keys, sample->found + number * BURST, later, way->request);

	flight->second_late = exact48_find_firsts(tables->second, exact48_array(tables->second), &group);
}

/* Second buckets there. */
INLINE void
dependent_end(const struct dependent *tables, struct sample *sample, struct dependent_way *way, uint32_t number)
{
	struct dependent_flight *flight = dependent_flight(way, number);
	const struct table_group group = dependent_group(&flight->second, flight->keys, sample->found + number * BURST, NULL, way->request);

	exact48_find_seconds(tables->second, exact48_array(tables->second), &group, flight->second_late);
}

/* Both tables' lines are requested in turn with the lookups of older bursts, and second buckets are read a burst later. */
INLINE void
dependent_ahead_to(const struct dependent *tables, struct sample *sample, uint32_t ahead, enum request request)
{
	struct dependent_way way = { .ahead = ahead, .request = request };

	for (uint32_t number = 0; number < ahead; number++)
		exact48_1_begin(tables->first, sample->keys + number * BURST, &way.flights[number].first, request);
	for (uint32_t number = 0; number < BURSTS + ahead + 2; number++) {
		if (number < BURSTS)
			dependent_first_buckets(tables, sample, &way, number);
		if (number >= 1 && number - 1 < BURSTS)
			dependent_turn(tables, sample, &way, number - 1);
		if (number >= 1 + ahead && number - 1 - ahead < BURSTS)
			dependent_second_buckets(tables, sample, &way, number - 1 - ahead);
		if (number >= 2 + ahead)
			dependent_end(tables, sample, &way, number - 2 - ahead);
	}
}

static void
dependent_ahead(const void *of, struct sample *sample)
{
	dependent_ahead_to(of, sample, 1, REQUEST_NEAR);
}

static void
dependent_two_ahead_far(const void *of, struct sample *sample)
{
	dependent_ahead_to(of, sample, 2, REQUEST_FAR);
}

/* Those in the first table, then those in the second one. */
static void
dependent_lines(struct sample *sample, const void *context)
{
	const struct dependent *tables = context;

	sample->steps = 2;
	for (uint32_t i = 0; i < SAMPLE; i++) {
		sample->lines[0][i] = exact48_address(tables->first, exact48_hash(tables->first, sample->keys + i, 1));
		sample->lines[1][i] = exact48_address(tables->second, exact48_hash(tables->second, sample->keys + SAMPLE + i, 1));
	}
}

static void
dependent_hash(const void *of, struct sample *sample)
{
	const struct dependent *tables = of;

	for (uint32_t from = 0; from < SAMPLE; from += BURST) {
		static uint64_t keys[BURST][2];
		const void *pointers[BURST];
		void *data[BURST];
		uint64_t hits;

		rte_hash_lookup_bulk_data(tables->first_hash, sample->padded_pointers + from, BURST, &hits, data);
		for (uint32_t i = 0; i < BURST; i++) {
			keys[i][0] = dependent_key((uint32_t)(uintptr_t)data[i], sample->padded[2 * (size_t)(from + i)], tables->entries);
			pointers[i] = keys[i];
		}
		rte_hash_lookup_bulk_data(tables->second_hash, pointers, BURST, &hits, data);
		for (uint32_t i = 0; i < BURST; i++)
			sample->found[from + i] = (uint32_t)(uintptr_t)data[i];
	}
}

static void
dependent_decode(const void *of, struct sample *sample)
{
	table_decode(&((const struct dependent *)of)->second->table, sample);
}

static void
dependent_row(const char *name, uint64_t entries)
{
	struct writer *writers[2];
	struct rte_hash *hash;
	struct dependent tables = { .entries = entries };
	struct row row = { .name = name, .entries = entries, .draw = dependent_draw, .lines = dependent_lines, .context = &tables };
	const struct kernel kernels[1 + OURS_DEPENDENT] = {
		{ "rte_hash 16 B, two", dependent_hash, &tables, BY_DPDK, NULL },
		{ "exact48 requested, two", dependent_requested, &tables, BY_US, dependent_decode },
		{ "exact48 one ahead, T1, two", dependent_first_ahead_far, &tables, BY_US, dependent_decode },
		{ "exact48 both ahead, late, two", dependent_ahead, &tables, BY_US, dependent_decode },
		{ "exact48 both two ahead, T1, late, two", dependent_two_ahead_far, &tables, BY_US, dependent_decode },
	};

	if (!row_wanted(name))
		return;
	random_begin();
	writers[0] = exact_make(STRUCTURE_EXACT48, entries, 48);
	writers[1] = exact_make(STRUCTURE_EXACT48, entries, 48);
	hash = hash_make(entries, 16, 48);
	tables.first_hash = hash;
	/* Another one with the same entries, so that two tables take the room of two. */
	tables.second_hash = hash_make(entries, 16, 48);
	tables.first = (const void *)writer_table(writers[0]);
	tables.second = (const void *)writer_table(writers[1]);
	{
		struct writer *few[2] = { exact_make(STRUCTURE_EXACT48, FEW, 48), exact_make(STRUCTURE_EXACT48, FEW, 48) };
		struct dependent small = { .first = (const void *)writer_table(few[0]), .second = (const void *)writer_table(few[1]), .entries = FEW };
		struct row issue = { .draw = dependent_draw, .context = &small };
		struct kernel ours[OURS_DEPENDENT];

		for (uint32_t i = 0; i < OURS_DEPENDENT; i++) {
			ours[i] = kernels[1 + i];
			ours[i].table = &small;
		}
		row.issue = row_cost(&issue, ours, OURS_DEPENDENT);
		writer_destroy(few[0]);
		writer_destroy(few[1]);
	}
	row.lines_each = exact_lines_each(tables.first, entries, 48);
	row_run(&row, kernels, 1 + OURS_DEPENDENT);
	rte_hash_free(hash);
	rte_hash_free((struct rte_hash *)(uintptr_t)tables.second_hash);
	writer_destroy(writers[0]);
	writer_destroy(writers[1]);
}

void
bench_dependent(void)
{
	if (!options.quick)
		dependent_row("exact 48 bits, two of 16M", 1u << 24);
}
