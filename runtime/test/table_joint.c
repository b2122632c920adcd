/* Joint tables against two lists of their entries: each table has its own entries, records and default, in
 * whatever order keys are added to one, the other or both. */
#include <string.h>

#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

#define SHARED_KEYS (1u << 17)	/* more than two arrays of exact60.h have room for; the lower bits of a key are its number */
#define SHARED_DRAWN 600u	/* of the keys, for random steps: so few that they meet */
#define SHARED_STEPS 6000u
#define SHARED_VALUES 40u	/* different records of a table: a part of six bits has room for 63 */
#define PRIMARY 0u
#define SECONDARY 1u

struct shared_table {
	struct test_host memory;
	struct table_descriptor descriptor;
	struct writer *writer;
	uint32_t values[SHARED_KEYS];	/* one more than that of the key's entry; 0: there is none */
	uint32_t count;
	uint32_t miss;
};

struct shared_pair {
	struct shared_table tables[2];
	uint64_t random;
};

static struct table_descriptor
shared_descriptor(uint32_t structure, uint32_t key_bits, uint32_t secondary_bits, uint32_t which)
{
	struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);

	descriptor.primary = which == SECONDARY ? 7 : 0;
	descriptor.part_shift = which == SECONDARY ? 0 : secondary_bits;
	descriptor.part_bits = which == SECONDARY ? secondary_bits : 16 - secondary_bits;
	return descriptor;
}

/* The table begins without entries. */
static void
shared_begin_table(struct shared_pair *pair, uint32_t which)
{
	struct shared_table *table = &pair->tables[which];
	const struct table_host host = test_table_host(&table->memory);
	enum table_status status;

	table->memory = (struct test_host){ .allocations_left = UINT64_MAX };
	table->writer = writer_create_secondary(&table->descriptor, &host, which == SECONDARY ? pair->tables[PRIMARY].writer : NULL, &status);
	CHECK(status == TABLE_OK && table->writer != NULL);
	memset(table->values, 0, sizeof(table->values));
	table->count = 0;
	table->miss = 0;
}

static struct shared_pair *
shared_begin(uint32_t structure, uint32_t key_bits, uint32_t secondary_bits)
{
	struct shared_pair *pair = calloc(1, sizeof(*pair));

	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		pair->tables[which].descriptor = shared_descriptor(structure, key_bits, secondary_bits, which);
		shared_begin_table(pair, which);
	}
	return pair;
}

static void
shared_end_table(struct shared_table *table)
{
	writer_destroy(table->writer);
	CHECK(table->memory.bytes == 0);
}

static void
shared_end(struct shared_pair *pair)
{
	shared_end_table(&pair->tables[SECONDARY]);
	shared_end_table(&pair->tables[PRIMARY]);
	free(pair);
}

/* Zeros and ones are among them. */
static uint64_t
shared_key(const struct shared_pair *pair, uint32_t number)
{
	const uint64_t mask = ((uint64_t)1 << pair->tables[PRIMARY].descriptor.key_bits) - 1;
	uint64_t random = number;

	if (number == 0 || number == SHARED_KEYS - 1)
		return number == 0 ? 0 : mask;
	return (test_random(&random) * SHARED_KEYS | number) & mask;
}

static uint32_t
shared_draw(struct shared_pair *pair)
{
	const uint32_t drawn = (uint32_t)(test_random(&pair->random) % SHARED_DRAWN);

	return drawn == SHARED_DRAWN - 1 ? SHARED_KEYS - 1 : drawn;
}

static const struct exact48_array *
shared_array(const struct shared_pair *pair)
{
	const struct exact48_array *array = exact48_array((const void *)writer_table(pair->tables[PRIMARY].writer));

	CHECK(exact48_array((const void *)writer_table(pair->tables[SECONDARY].writer)) == array);
	return array;
}

static enum table_status
shared_try_insert(struct shared_pair *pair, uint32_t which, uint32_t number, uint32_t value)
{
	struct shared_table *table = &pair->tables[which];
	const struct test_record record = test_record(value);
	const uint64_t key = shared_key(pair, number);
	const enum table_status status = writer_insert(table->writer, &(const struct table_match){ .value = &key }, &record, NULL);

	CHECK((status == TABLE_EXISTS) == (table->values[number] != 0));
	if (status == TABLE_OK) {
		table->values[number] = value + 1;
		table->count++;
	}
	return status;
}

static void
shared_insert(struct shared_pair *pair, uint32_t which, uint32_t number, uint32_t value)
{
	const enum table_status status = shared_try_insert(pair, which, number, value);

	CHECK(status == TABLE_OK || status == TABLE_EXISTS);
}

static void
shared_modify(struct shared_pair *pair, uint32_t which, uint32_t number, uint32_t value)
{
	struct shared_table *table = &pair->tables[which];
	const struct test_record record = test_record(value);
	const uint64_t key = shared_key(pair, number);
	const enum table_status status = writer_modify(table->writer, &(const struct table_match){ .value = &key }, &record);

	CHECK(status == (table->values[number] != 0 ? TABLE_OK : TABLE_MISSING));
	if (status == TABLE_OK)
		table->values[number] = value + 1;
}

static void
shared_delete(struct shared_pair *pair, uint32_t which, uint32_t number)
{
	struct shared_table *table = &pair->tables[which];
	const uint64_t key = shared_key(pair, number);
	const enum table_status status = writer_delete(table->writer, &(const struct table_match){ .value = &key });

	CHECK(status == (table->values[number] != 0 ? TABLE_OK : TABLE_MISSING));
	if (status == TABLE_OK) {
		table->values[number] = 0;
		table->count--;
	}
}

static void
shared_check_found(const struct shared_table *table, uint32_t number, uint32_t found)
{
	const struct test_record *record = table_record(writer_table(table->writer), found);

	CHECK((found != 0) == (table->values[number] != 0));
	CHECK(found >> table->descriptor.part_bits == 0);
	CHECK(test_record_whole(record) && record->value == (table->values[number] != 0 ? table->values[number] - 1 : table->miss));
}

/* Looks a key up by all functions, and another key that no table has. */
static void
shared_check_key(struct shared_pair *pair, uint32_t number)
{
	const uint64_t key = shared_key(pair, number), other = key ^ SHARED_KEYS;

	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		struct shared_table *table = &pair->tables[which];
		const struct table_descriptor *descriptor = &table->descriptor;
		const uint32_t found = test_find(writer_table(table->writer), &key, 1);
		struct table_entry entry;

		shared_check_found(table, number, table_part(found, descriptor->part_shift, descriptor->part_bits));
		shared_check_found(table, number, writer_lookup(table->writer, &key));
		CHECK(found == test_find(writer_table(pair->tables[PRIMARY].writer), &key, 1));
		CHECK(test_find(writer_table(table->writer), &other, 1) == 0 && writer_lookup(table->writer, &other) == 0);
		if (writer_find(table->writer, &(const struct table_match){ .value = &key }, &entry) == TABLE_OK)
			CHECK(entry.match.value[0] == key && entry.number == writer_lookup(table->writer, &key) && entry.number != 0);
		else
			CHECK(table->values[number] == 0);
	}
}

static void
shared_check_group(struct shared_pair *pair, const uint32_t *numbers, uint32_t count)
{
	uint64_t keys[TEST_GROUP_MOST];
	uint32_t found[TEST_GROUP_MOST + 1];

	for (uint32_t i = 0; i < count; i++)
		keys[i] = shared_key(pair, numbers[i]);
	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		const struct shared_table *table = &pair->tables[which];
		const struct table_group group = { .count = count, .limbs = 1, .found = found };

		test_find_group(writer_table(table->writer), keys, 1, count, found);
		found[count] = UINT32_MAX;
		table_group_part(&group, table->descriptor.part_shift, table->descriptor.part_bits);
		for (uint32_t i = 0; i < count; i++)
			shared_check_found(table, numbers[i], found[i]);
		CHECK(found[count] == UINT32_MAX);
	}
}

/* All entries of each table, and no others; a word for each key that either has, and no other; nothing where there are none. */
static void
shared_check_entries(struct shared_pair *pair)
{
	const struct exact48_array *array = shared_array(pair);
	uint32_t expected = 0, words = 0, marks = 0;

	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		struct shared_table *table = &pair->tables[which];
		struct table_entry entry;
		uint32_t seen = 0;

		for (uint64_t cursor = 0; (cursor = writer_next(table->writer, cursor, &entry)) != 0; seen++) {
			const uint32_t number = (uint32_t)(entry.match.value[0] % SHARED_KEYS);

			CHECK(entry.match.value[0] == shared_key(pair, number) && entry.number != 0);
			CHECK(((const struct test_record *)entry.record)->value + 1 == table->values[number]);
		}
		CHECK(seen == table->count && writer_count(table->writer) == table->count);
	}
	for (uint32_t number = 0; number < SHARED_KEYS; number++)
		expected += pair->tables[PRIMARY].values[number] != 0 || pair->tables[SECONDARY].values[number] != 0;
	for (uint64_t slot = 0; slot < array->bucket_count * EXACT48_SLOTS; slot++) {
		const uint64_t word = array->buckets[slot / EXACT48_SLOTS].slots[slot % EXACT48_SLOTS];

		words += word >> EXACT48_KEY_BITS != 0;
		marks += word != 0 && word >> EXACT48_KEY_BITS == 0;
	}
	CHECK(words == expected && (words != 0 || marks == 0));
}

/* Every key, singly and in groups of all sizes. */
static void
shared_check_all(struct shared_pair *pair, uint32_t keys)
{
	uint32_t numbers[TEST_GROUP_MOST], count;

	for (uint32_t number = 0; number < keys; number += count) {
		count = (uint32_t)(test_random(&pair->random) % (TEST_GROUP_MOST + 1));
		if (count > keys - number)
			count = keys - number;
		for (uint32_t i = 0; i < count; i++) {
			numbers[i] = number + i;
			shared_check_key(pair, number + i);
		}
		shared_check_group(pair, numbers, count);
	}
	shared_check_key(pair, SHARED_KEYS - 1);
	shared_check_entries(pair);
}

static void
shared_step(struct shared_pair *pair, uint32_t grow)
{
	const uint32_t which = test_random(&pair->random) % 2 != 0 ? SECONDARY : PRIMARY, number = shared_draw(pair);
	const uint32_t value = (uint32_t)(test_random(&pair->random) % SHARED_VALUES);
	struct shared_table *table = &pair->tables[which];
	const struct test_record record = test_record(value);
	uint32_t numbers[TEST_GROUP_MOST];

	switch (test_random(&pair->random) % 8) {
	case 0:
		shared_modify(pair, which, number, value);
		break;
	case 1:
		CHECK(writer_set_default(table->writer, &record) == TABLE_OK);
		table->miss = value;
		break;
	case 2:
	case 3:
		if (grow)
			shared_delete(pair, which, number);
		else
			shared_insert(pair, which, number, value);
		break;
	default:
		if (grow)
			shared_insert(pair, which, number, value);
		else
			shared_delete(pair, which, number);
		break;
	}
	shared_check_key(pair, number);
	shared_check_key(pair, shared_draw(pair));
	for (uint32_t i = 0; i < TEST_GROUP_MOST; i++)
		numbers[i] = shared_draw(pair);
	shared_check_group(pair, numbers, (uint32_t)(test_random(&pair->random) % (TEST_GROUP_MOST + 1)));
}

/* Random steps in both tables, which grow and shrink the array. */
static void
shared_walk(struct shared_pair *pair)
{
	for (uint32_t step = 0; step < SHARED_STEPS && test_failures == 0; step++) {
		shared_step(pair, step / 1000 % 2 == 0);
		if (step % 500 == 0)
			shared_check_entries(pair);
		if (step % 700 == 350)
			writer_compact(pair->tables[step / 700 % 2].writer);
		if (step % 1700 == 850)
			CHECK(writer_reserve(pair->tables[step / 1700 % 2].writer, SHARED_KEYS / 2) == TABLE_OK);
	}
}

/* Clearing one table leaves the other's entries. When a secondary is destroyed, the primary's entries stay,
 * and a new secondary is empty. */
static void
shared_model(uint32_t structure, uint32_t key_bits, uint32_t secondary_bits)
{
	struct shared_pair *pair = shared_begin(structure, key_bits, secondary_bits);
	struct shared_table *primary = &pair->tables[PRIMARY], *secondary = &pair->tables[SECONDARY];

	shared_walk(pair);
	writer_clear(primary->writer);
	memset(primary->values, 0, sizeof(primary->values));
	primary->count = 0;
	shared_check_all(pair, SHARED_DRAWN);
	shared_walk(pair);
	shared_end_table(secondary);
	/* Another array, after the secondary was destroyed. */
	CHECK(writer_reserve(primary->writer, SHARED_KEYS) == TABLE_OK);
	shared_begin_table(pair, SECONDARY);
	shared_check_all(pair, SHARED_DRAWN);
	shared_walk(pair);
	writer_clear(primary->writer);
	shared_end_table(secondary);
	memset(primary->values, 0, sizeof(primary->values));
	primary->count = 0;
	shared_begin_table(pair, SECONDARY);
	shared_check_all(pair, SHARED_DRAWN);
	shared_end(pair);
}

/* Enough keys for several larger arrays: a third in both tables, a third in each one. Then fewer, and another
 * secondary. */
static void
shared_growth(uint32_t structure, uint32_t key_bits, uint32_t secondary_bits)
{
	struct shared_pair *pair = shared_begin(structure, key_bits, secondary_bits);
	const uint64_t least = shared_array(pair)->bucket_count;
	uint64_t most, before = least, arrays = 1;

	for (uint32_t number = 0; number < SHARED_KEYS; number++) {
		if (number % 3 != 0)
			shared_insert(pair, number % 2, number, number % SHARED_VALUES);
		if (number % 3 != 1)
			shared_insert(pair, 1 - number % 2, number, number / 2 % SHARED_VALUES);
		arrays += shared_array(pair)->bucket_count != before;
		before = shared_array(pair)->bucket_count;
	}
	CHECK(arrays >= 3);
	CHECK(pair->tables[PRIMARY].memory.bytes > SHARED_KEYS * sizeof(uint64_t) && pair->tables[SECONDARY].memory.bytes < SHARED_KEYS);
	shared_check_all(pair, SHARED_KEYS);
	for (uint32_t number = 1000; number < SHARED_KEYS - 1; number++)
		shared_delete(pair, PRIMARY, number);
	shared_check_all(pair, SHARED_KEYS);
	most = shared_array(pair)->bucket_count;
	writer_compact(pair->tables[PRIMARY].writer);
	CHECK(shared_array(pair)->bucket_count < most);
	shared_check_all(pair, SHARED_KEYS);
	shared_end_table(&pair->tables[SECONDARY]);
	shared_begin_table(pair, SECONDARY);
	shared_check_all(pair, SHARED_KEYS);
	writer_compact(pair->tables[SECONDARY].writer);
	CHECK(shared_array(pair)->bucket_count < (least < 1000 ? 1000 : least + 1));
	shared_check_all(pair, SHARED_KEYS);
	shared_end(pair);
}

/* The array may need room for all entries of both tables, and never for more. */
static void
shared_sizes(uint32_t secondary_size, uint64_t buckets)
{
	struct shared_pair *pair = calloc(1, sizeof(*pair));

	for (uint32_t which = PRIMARY; which <= SECONDARY; which++) {
		pair->tables[which].descriptor = shared_descriptor(STRUCTURE_EXACT48, 48, 8, which);
		pair->tables[which].descriptor.size = which == PRIMARY ? 100 : secondary_size;
		shared_begin_table(pair, which);
	}
	for (uint32_t number = 0; number < 150; number++)
		shared_insert(pair, number < 100 ? PRIMARY : SECONDARY, number, number % SHARED_VALUES);
	CHECK(shared_try_insert(pair, PRIMARY, 100, 0) == TABLE_FULL);
	CHECK(shared_try_insert(pair, SECONDARY, 0, 0) == (secondary_size != 0 ? TABLE_FULL : TABLE_OK));
	CHECK(shared_array(pair)->bucket_count == buckets);
	shared_check_all(pair, 200);
	shared_end(pair);
}

/* No memory for a larger array: what has a word needs none, in whichever table. */
static void
shared_without_memory(uint32_t structure, uint32_t key_bits)
{
	struct shared_pair *pair = shared_begin(structure, key_bits, 7);
	enum table_status status = TABLE_OK;
	uint32_t number, which = PRIMARY;

	for (number = 0; number < SHARED_VALUES; number++) {
		shared_insert(pair, PRIMARY, number, number);
		shared_insert(pair, SECONDARY, number, number);
	}
	CHECK(writer_reserve(pair->tables[SECONDARY].writer, 1000) == TABLE_OK);
	pair->tables[PRIMARY].memory.allocations_left = 0;
	pair->tables[SECONDARY].memory.allocations_left = 0;
	for (; status == TABLE_OK && number < SHARED_KEYS; number++) {
		which = test_random(&pair->random) % 2 != 0 ? SECONDARY : PRIMARY;
		status = shared_try_insert(pair, which, number, number % SHARED_VALUES);
	}
	number--;
	CHECK(status == TABLE_NO_MEMORY && number > 1000);
	CHECK(writer_reserve(pair->tables[SECONDARY].writer, SHARED_KEYS) == TABLE_NO_MEMORY);
	for (uint32_t other = SHARED_VALUES; other < number; other++) {
		if (other % 3 == 0)
			shared_insert(pair, pair->tables[PRIMARY].values[other] != 0 ? SECONDARY : PRIMARY, other, (other + 1) % SHARED_VALUES);
		else if (other % 3 == 1)
			shared_modify(pair, pair->tables[PRIMARY].values[other] != 0 ? PRIMARY : SECONDARY, other, (other + 2) % SHARED_VALUES);
	}
	shared_check_all(pair, number + 1);
	pair->tables[PRIMARY].memory.allocations_left = UINT64_MAX;
	CHECK(shared_try_insert(pair, which, number, 1) == TABLE_OK);
	shared_check_all(pair, number + 1);
	shared_end(pair);
}

/* A table's numbers come to an end where its bits do, and begin again where records are given up. */
static void
shared_exhaustion(uint32_t structure, uint32_t secondary_bits, uint32_t which)
{
	struct shared_pair *pair = shared_begin(structure, 48, secondary_bits);
	const uint32_t bits = pair->tables[which].descriptor.part_bits, most = (1u << bits) - 1;
	const struct test_record other = test_record(9999);
	const uint64_t key = shared_key(pair, 1);

	CHECK(most < SHARED_KEYS / 2);
	for (uint32_t number = 0; number < most + 2; number++)
		shared_insert(pair, 1 - which, number, 0);
	/* The first value is the default record's, so there are as many as numbers. */
	for (uint32_t number = 0; number < most; number++)
		shared_insert(pair, which, number, number);
	CHECK(shared_try_insert(pair, which, most, most) == TABLE_FULL);
	CHECK(writer_modify(pair->tables[which].writer, &(const struct table_match){ .value = &key }, &other) == (most > 1 ? TABLE_FULL : TABLE_MISSING));
	CHECK(writer_set_default(pair->tables[which].writer, &other) == TABLE_FULL);
	shared_insert(pair, which, most, most - 1);
	shared_check_all(pair, most + 2);
	if (most > 1) {
		shared_delete(pair, which, 1);
		CHECK(shared_try_insert(pair, which, most + 1, most) == TABLE_OK);
	}
	shared_check_all(pair, most + 2);
	shared_end(pair);
}

void
test_table_joint(void)
{
	static const uint32_t structures[] = { STRUCTURE_EXACT48, STRUCTURE_EXACT60 };

	for (uint32_t i = 0; i < 2 && test_failures == 0; i++) {
		shared_model(structures[i], i == 0 ? 48 : 60, 6);
		shared_model(structures[i], i == 0 ? 33 : 51, 10);
		shared_growth(structures[i], i == 0 ? 48 : 60, 8);
		shared_without_memory(structures[i], i == 0 ? 47 : 59);
		shared_exhaustion(structures[i], 1, SECONDARY);
		shared_exhaustion(structures[i], 3, SECONDARY);
		shared_exhaustion(structures[i], 8, SECONDARY);
		shared_exhaustion(structures[i], 13, PRIMARY);
		shared_exhaustion(structures[i], 15, PRIMARY);
	}
	shared_sizes(50, 39);
	shared_sizes(0, 64);
}
