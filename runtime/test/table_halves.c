/* A writer that runs between the two halves of a grouped lookup, as far as it may before the reader has ended
 * its burst: it moves keys and replaces the array. A key that was not in its first line must not be missed. */
#include "table/exact.h"
#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

#define HALVES_MOST 64u
#define KEY_BITS 48u
#define HALVES_EVERY 7u		/* inserts from one burst to the next if no reader waits for them */
#define HALVES_TRIES 512u	/* keys of which those are taken that are in their second lines */

/* A reader that has looked into first lines. */
struct halves_reader {
	const struct table *table;
	const void *array;
	struct table_group group;
	uint64_t keys[HALVES_MOST], second;
	uint32_t found[HALVES_MOST];
	uint32_t gone, entries;	/* keys with a number from `gone` on and below `entries` are there */
	uint32_t next, replaced;
};

static uint64_t
halves_key(uint64_t number)
{
	return (number + 1) * 0x9e3779b97f4aull & (UINT64_MAX >> (64 - KEY_BITS));
}

static void
halves_insert(struct writer *writer, uint64_t key)
{
	const uint64_t mask = UINT64_MAX >> (64 - KEY_BITS);
	const struct test_record record = test_record((uint32_t)(key % 1000));

	CHECK(writer_insert(writer, &(const struct table_match){ .value = &key, .mask = &mask }, &record, NULL) == TABLE_OK);
}

static void
halves_delete(struct writer *writer, uint64_t key)
{
	const uint64_t mask = UINT64_MAX >> (64 - KEY_BITS);

	CHECK(writer_delete(writer, &(const struct table_match){ .value = &key, .mask = &mask }) == TABLE_OK);
}

/* Wherever the writer waits for its readers, and every few inserts, the reader ends its burst and begins the next: of `count` keys that are all there, mostly
 * in their second lines. Bursts that begin only where an array was just replaced would find all in first lines, of which there are then twice as many. */
#define HALVES(NAME, STRUCTURE)                                                                                                         \
	static void                                                                                                                     \
	halves_begin_##NAME(struct halves_reader *reader)                                                                               \
	{                                                                                                                               \
		const struct NAME *table = (const void *)reader->table;                                                                 \
                                                                                                                                        \
		for (uint32_t i = 0, tries = 0; i < reader->group.count; tries++) {                                                     \
			const uint32_t from = reader->gone + HALVES_EVERY + 1, number = from + reader->next++ % (reader->entries - from);\
			const uint64_t key = halves_key(number), hash = NAME##_hash(table, &key, 1);                                    \
                                                                                                                                        \
			reader->keys[i] = key;                                                                                          \
			if (tries >= HALVES_TRIES || NAME##_find_in(table, NAME##_address(table, hash), hash, &key, 1) == 0)            \
				i++;                                                                                                    \
		}                                                                                                                       \
		reader->array = NAME##_array(table);                                                                                    \
		reader->second = NAME##_find_firsts(table, reader->array, &reader->group);                                              \
	}                                                                                                                               \
                                                                                                                                        \
	static void                                                                                                                     \
	halves_end_##NAME(void *argument)                                                                                               \
	{                                                                                                                               \
		struct halves_reader *reader = argument;                                                                                \
		const struct NAME *table = (const void *)reader->table;                                                                 \
                                                                                                                                        \
		if (reader->array == NULL)                                                                                              \
			return;                                                                                                         \
		reader->replaced += (const void *)NAME##_array(table) != reader->array;                                                 \
		NAME##_find_seconds(table, reader->array, &reader->group, reader->second);                                              \
		for (uint32_t i = 0; i < reader->group.count; i++) {                                                                    \
			const struct test_record *record = table_record(reader->table, reader->found[i]);                               \
                                                                                                                                        \
			CHECK(reader->found[i] != 0 && record->value == reader->keys[i] % 1000);                                        \
		}                                                                                                                       \
		halves_begin_##NAME(reader);                                                                                            \
	}                                                                                                                               \
                                                                                                                                        \
	static void                                                                                                                     \
	halves_##NAME(uint32_t count, uint32_t is_far, uint32_t entries, uint32_t replaced)                                             \
	{                                                                                                                               \
		struct halves_reader reader = { .group = { .count = count, .limbs = 1, .is_far = is_far } };                            \
		struct test_host memory = { .allocations_left = UINT64_MAX, .grace = halves_end_##NAME, .argument = &reader };          \
		const struct table_host host = test_table_host(&memory);                                                                \
		const struct table_descriptor descriptor = test_descriptor(STRUCTURE, KEY_BITS, 0, 0);                                  \
		struct writer *writer = writer_create(&descriptor, &host, NULL);                                                        \
                                                                                                                                        \
		reader.group.keys = reader.keys;                                                                                        \
		reader.group.found = reader.found;                                                                                      \
		reader.table = writer_table(writer);                                                                                    \
		for (uint32_t i = 0; i < entries + replaced; i++) {                                                                     \
			if (i >= entries)                                                                                               \
				halves_delete(writer, halves_key(reader.gone++));                                                       \
			halves_insert(writer, halves_key(i));                                                                           \
			reader.entries = i + 1;                                                                                         \
			if (i == 2 * HALVES_EVERY)                                                                                      \
				halves_begin_##NAME(&reader);                                                                           \
			else if (i % HALVES_EVERY == 0)                                                                                 \
				halves_end_##NAME(&reader);                                                                             \
		}                                                                                                                       \
		CHECK(reader.replaced > 2);                                                                                             \
		reader.array = NULL;                                                                                                    \
		writer_destroy(writer);                                                                                                 \
		CHECK(memory.bytes == 0);                                                                                               \
	}

HALVES(exact, STRUCTURE_EXACT)
HALVES(exact48, STRUCTURE_EXACT48)
HALVES(exact60, STRUCTURE_EXACT60)

void
test_table_halves(void)
{
	for (uint32_t count = 1; count <= HALVES_MOST; count += 7)
		for (uint32_t is_far = 0; is_far < 2; is_far++) {
			halves_exact(count, is_far, 3000, 3000);
			halves_exact48(count, is_far, 3000, 3000);
		}
	/* Arrays of exact48 and exact60 are dense from 512 KB on: only there do keys go back from their second buckets. That of exact60 begins there, and is replaced
	 * for the third time by 196,609 keys. */
	for (uint32_t is_far = 0; is_far < 2; is_far++) {
		halves_exact48(HALVES_MOST, is_far, 49000, 300000);
		halves_exact60(HALVES_MOST, is_far, 390000, 100000);
	}
}
