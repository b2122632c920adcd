/* exact60.h without whole keys: missing bits are restored from the position of the word, and addresses and
 * words of many keys equal those of single keys. */
#include <string.h>

#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

#define WORDS_KEYS 40u	/* of one bucket: in it, and in others */
#define WORDS_MOST 70u

static struct writer *
words_writer(struct test_host *memory, uint32_t own)
{
	const struct table_descriptor descriptor = test_descriptor(STRUCTURE_EXACT60, 60, own, 0);
	const struct table_host host = test_table_host(memory);

	return writer_create(&descriptor, &host, NULL);
}

static const struct exact60 *
words_table(const struct writer *writer)
{
	return (const void *)writer_table(writer);
}

static enum table_status
words_insert(struct writer *writer, uint64_t key, uint32_t value)
{
	const struct test_record record = test_record(value);

	return writer_insert(writer, &(const struct table_match){ .value = &key }, &record, NULL);
}

/* The keys from `from` on are found, each with its number as its value, and the others are not. */
static void
words_find(const struct writer *writer, const uint64_t *keys, uint32_t from)
{
	for (uint32_t i = 0; i < WORDS_KEYS; i++) {
		const uint32_t number = test_find(writer_table(writer), &keys[i], 1);

		CHECK((number != 0) == (i >= from));
		CHECK(number == 0 || ((const struct test_record *)table_record(writer_table(writer), number))->value == i);
	}
}

/* They are the entries, and there are no others. */
static void
words_list(struct writer *writer, const uint64_t *keys, uint32_t from)
{
	struct table_entry entry;
	uint32_t seen = 0;

	for (uint64_t cursor = 0; (cursor = writer_next(writer, cursor, &entry)) != 0; seen++) {
		const uint32_t value = ((const struct test_record *)entry.record)->value;

		CHECK(value >= from && value < WORDS_KEYS && entry.match.value[0] == keys[value]);
	}
	CHECK(seen == WORDS_KEYS - from);
}

/* A hash that chooses the bucket: the first one that does, the last one, and others. */
static uint64_t
words_hash(uint64_t bucket, uint64_t count, uint32_t i, uint64_t *random)
{
	const uint64_t first = ((bucket << 32) + count - 1) / count, last = (((bucket + 1) << 32) - 1) / count;
	const uint64_t choice = i == 0 ? first : i == 1 ? last : first + test_random(random) % (last - first + 1);
	const uint64_t below = i == 0 ? 0 : i == 1 ? UINT64_MAX : test_random(random);

	return choice << EXACT60_BUCKET_SHIFT | (below & ((1ull << EXACT60_BUCKET_SHIFT) - 1));
}

/* Keys of one bucket, which has room for few of them: wherever they go, and into whatever array, they come back as they were. */
static void
words_back(uint64_t bucket, uint64_t size, uint32_t own)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = words_writer(&memory, own);
	uint64_t keys[WORDS_KEYS], random = bucket, count;

	CHECK(writer_reserve(writer, size) == TABLE_OK);
	count = words_table(writer)->words.array->bucket_count;
	for (uint32_t i = 0; i < WORDS_KEYS; i++) {
		const uint64_t hash = words_hash(bucket, count, i, &random), rest = hash & EXACT60_REST;

		keys[i] = exact60_key(bucket, count, exact60_first_word(hash));
		CHECK(keys[i] <= EXACT60_KEY && exact60_hash_of(keys[i]) == hash && exact60_first_index(hash, count) == bucket);
		CHECK(exact60_second_index(hash, count) != bucket && exact60_second_index(hash, count) < count);
		CHECK(exact60_key(exact60_second_index(hash, count), count, rest) == keys[i]);
		CHECK(words_insert(writer, keys[i], i) == TABLE_OK);
		CHECK(words_insert(writer, keys[i], i) == TABLE_EXISTS);
	}
	words_find(writer, keys, 0);
	words_list(writer, keys, 0);
	CHECK(writer_reserve(writer, 3 * size) == TABLE_OK);
	words_find(writer, keys, 0);
	words_list(writer, keys, 0);
	for (uint32_t i = 0; i < WORDS_KEYS; i++) {
		CHECK(writer_delete(writer, &(const struct table_match){ .value = &keys[i] }) == TABLE_OK);
		words_find(writer, keys, i + 1);
	}
	words_list(writer, keys, WORDS_KEYS);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Addresses and words of so many keys at once. */
static void
words_firsts(const struct exact60 *table, uint32_t count, uint64_t *random)
{
	const struct exact60_lines lines = exact60_lines(table);
	const struct exact48_array *array = table->words.array;
	const void *addresses[WORDS_MOST + 1] = { NULL }, *again[WORDS_MOST];
	uint64_t keys[WORDS_MOST], words[WORDS_MOST + 1] = { 0 };

	for (uint32_t i = 0; i < count; i++)
		keys[i] = test_random(random) & EXACT60_KEY;
	exact60_addresses(&lines, keys, addresses, count);
	exact60_firsts(array->buckets, array->bucket_count, keys, again, words, count);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t hash = exact60_hash(table, &keys[i], 1);

		CHECK(addresses[i] == exact60_address(table, hash) && addresses[i] == again[i] && words[i] == exact60_first_word(hash));
		CHECK(exact60_key((uint64_t)((const struct exact48_bucket *)addresses[i] - array->buckets), array->bucket_count, words[i]) == keys[i]);
	}
	CHECK(addresses[count] == NULL && words[count] == 0);
}

/* Lines are good until the array is replaced: the first one is for tens of thousands of entries. */
static void
words_lines(void)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = words_writer(&memory, 0);
	uint64_t random = 9;

	for (uint64_t size = 1000; size < 1000000; size *= 10) {
		const struct exact60_lines lines = exact60_lines(words_table(writer));

		CHECK(writer_reserve(writer, size) == TABLE_OK);
		CHECK(exact60_is_at(words_table(writer), &lines) == (size < 40000));
		for (uint32_t count = 0; count <= WORDS_MOST; count++)
			words_firsts(words_table(writer), count, &random);
	}
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

void
test_table_exact60(void)
{
	for (uint64_t number = 0; number < 10; number++) {
		words_back(number * 910, 1000, number % 2 != 0);
		words_back(number * 4999, 300000, number % 2 != 0);
	}
	words_back(EXACT60_BUCKETS_LEAST - 1, 1000, 0);
	words_lines();
}
