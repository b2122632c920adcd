/* Large tables: each has every entry, and no other. */
#include <time.h>

#include "table/exact.h"
#include "table/exact60.h"
#include "table_host.h"
#include "test.h"

static void
size_exact(uint32_t key_bits, uint64_t count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(STRUCTURE_EXACT, key_bits, 0, count);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key[5] = { i * 4096, i, i };
		const struct test_record record = test_record((uint32_t)i % 1000);

		wrong += writer_insert(writer, &(const struct table_match){ .value = key }, &record, NULL) != TABLE_OK;
	}
	CHECK(wrong == 0);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key[5] = { i * 4096, i, i }, other[5] = { i * 4096 + 1, i, i };
		const struct test_record *record = table_record(writer_table(writer), writer_lookup(writer, key));

		wrong += record->value != i % 1000 || writer_lookup(writer, other) != 0;
	}
	CHECK(wrong == 0);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

static void
size_list(uint64_t count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(STRUCTURE_LIST, 32, 0, 0);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	uint64_t random = 0, wrong = 0;
	const clock_t start = clock();

	for (uint64_t i = 0; i < count; i++) {
		const struct test_record record = test_record((uint32_t)i % 1000);
		const struct table_match match = { .value = &i, .priority = (uint32_t)test_random(&random) % 50 };

		wrong += writer_insert(writer, &match, &record, NULL) != TABLE_OK;
	}
	CHECK(wrong == 0);
	/* Quadratic in seconds would be minutes here. */
	CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 5.0);
	for (uint64_t i = 0; i < count; i += 97) {
		const struct test_record *record = table_record(writer_table(writer), writer_lookup(writer, &i));

		wrong += record->value != i % 1000;
	}
	CHECK(wrong == 0);
	writer_clear(writer);
	CHECK(writer_count(writer) == 0);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Thousands of rules that all keys match: one bucket of tuples holds them. */
static void
size_tuple_space(uint32_t count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(STRUCTURE_TUPLE_SPACE, 104, 0, 0);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	const uint64_t key[2] = { 5, 6 }, mask[2] = { 0, 0 };
	const struct table_match best = { .value = key, .mask = mask, .priority = count };
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct test_record record = test_record(i);
		const struct table_match match = { .value = key, .mask = mask, .priority = count - i };

		wrong += writer_insert(writer, &match, &record, NULL) != TABLE_OK;
	}
	CHECK(wrong == 0);
	CHECK(writer_modify(writer, &best, &(const struct test_record){ .action = 1, .value = 99999 }) == TABLE_OK);
	CHECK(((const struct test_record *)table_record(writer_table(writer), writer_lookup(writer, key)))->value == 99999);
	CHECK(writer_delete(writer, &best) == TABLE_OK);
	CHECK(((const struct test_record *)table_record(writer_table(writer), writer_lookup(writer, key)))->value == 1);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Entries that are replaced again and again stay about as close together as they were loaded. */
static void
size_replaced(uint32_t structure, uint32_t own)
{
	enum { COUNT = 8192, ROUNDS = 8 };
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(structure, 32, own, 0);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	const uint64_t mask = structure == STRUCTURE_DIR24_8 ? 0xfffff000 : 0xffffffff;
	uint64_t wrong = 0;
	uint32_t value = 0, highest = 0;

	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < COUNT; i++) {
			const uint64_t key = (uint64_t)i << 12;
			const struct test_record record = test_record(value++);
			const struct table_match match = { .value = &key, .mask = &mask };

			wrong += (round == 0 ? writer_insert(writer, &match, &record, NULL) : writer_modify(writer, &match, &record)) != TABLE_OK;
		}
	for (uint32_t i = 0; i < COUNT; i++) {
		const uint64_t key = (uint64_t)i << 12;
		const uint32_t number = writer_lookup(writer, &key);
		const struct test_record *record = table_record(writer_table(writer), number);

		wrong += record->value != (ROUNDS - 1) * COUNT + i;
		highest = number > highest ? number : highest;
	}
	CHECK(wrong == 0);
	/* By 1 in 32, and some more as in a small table. */
	CHECK(highest <= COUNT + COUNT / 32 + 128);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Fills a table key by key. */
static uint64_t
size_fill(struct writer *writer, uint64_t count)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key[5] = { i * 4096, i, i };
		const struct test_record record = test_record((uint32_t)i % 1000);

		wrong += writer_insert(writer, &(const struct table_match){ .value = key }, &record, NULL) != TABLE_OK;
	}
	return wrong;
}

/* Bytes of the array that readers see. */
static uint64_t
size_array(const struct writer *writer)
{
	const struct table *table = writer_table(writer);

	if (table->structure == STRUCTURE_EXACT)
		return ((const struct exact *)(const void *)table)->array->bytes;
	return ((const struct exact48 *)(const void *)table)->array->bytes;	/* as those of exact60 begin, too */
}

/* Loaded and then made small, a table is as small as one whose size was reserved before, and has its entries. */
static void
size_compact(uint32_t structure, uint32_t key_bits, uint64_t count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);
	struct writer *grown = writer_create(&descriptor, &host, NULL), *reserved = writer_create(&descriptor, &host, NULL);
	uint64_t wrong = 0, before;

	CHECK(writer_reserve(reserved, count) == TABLE_OK);
	CHECK(size_fill(grown, count) == 0 && size_fill(reserved, count) == 0);
	before = size_array(grown);
	writer_compact(grown);
	CHECK(size_array(grown) < before * 9 / 10);
	CHECK(size_array(grown) == size_array(reserved));
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t key[5] = { i * 4096, i, i };
		const struct test_record *record = table_record(writer_table(grown), writer_lookup(grown, key));

		wrong += record->value != i % 1000;
	}
	CHECK(wrong == 0);
	writer_destroy(grown);
	writer_destroy(reserved);
	CHECK(memory.bytes == 0);
}

/* A table's reserved size is the size of its array: it does not grow until so many entries are there. Then, without memory for a larger one, an
 * array that is as full as is good for lookups takes more. */
static void
size_reserved(uint32_t structure, uint32_t key_bits, uint64_t count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);
	struct writer *writer = writer_create(&descriptor, &host, NULL);
	const struct test_record record = test_record(1);
	uint64_t bytes, refused = 0;

	CHECK(writer_reserve(writer, count) == TABLE_OK);
	bytes = size_array(writer);
	CHECK(size_fill(writer, count) == 0);
	CHECK(size_array(writer) == bytes);
	memory.allocations_left = 0;
	for (uint64_t i = count; i < count + count / 8; i++) {
		const uint64_t key[5] = { i * 4096, i, i };

		refused += writer_insert(writer, &(const struct table_match){ .value = key }, &record, NULL) != TABLE_OK;
	}
	CHECK(refused == 0);
	memory.allocations_left = UINT64_MAX;
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* An item of at most a line lies in one; the model counts on it (`item_bytes` in hashes.rs). */
static void
size_items(void)
{
	const size_t bytes[] = { 64, 64, 64, 72 };

	for (uint32_t limbs = 5; limbs <= 8; limbs++)
		CHECK(exact_item_bytes(limbs) == bytes[limbs - 5]);
}

void
test_table_size(void)
{
	size_items();
	size_exact(64, 200000);
	size_exact(128, 50000);
	size_exact(192, 50000);
	size_exact(320, 50000);
	size_list(10000);
	size_tuple_space(8200);	/* more than 12 bits of pairs */
	for (uint32_t own = 0; own < 2; own++) {
		size_replaced(STRUCTURE_EXACT, own);
		size_replaced(STRUCTURE_EXACT48, own);
		size_replaced(STRUCTURE_DIR24_8, own);
	}
	for (uint64_t count = 32750; count < 32780; count += 6)
		size_reserved(STRUCTURE_EXACT48, 48, count);
	size_reserved(STRUCTURE_EXACT48, 48, 49000);
	size_reserved(STRUCTURE_EXACT60, 60, 32760);
	size_reserved(STRUCTURE_EXACT60, 60, 49000);
	size_reserved(STRUCTURE_EXACT, 128, 49000);
	size_reserved(STRUCTURE_EXACT, 64, 8000);
	size_compact(STRUCTURE_EXACT48, 48, 10000);
	size_compact(STRUCTURE_EXACT48, 48, 60000);
	size_compact(STRUCTURE_EXACT60, 60, 60000);
	size_compact(STRUCTURE_EXACT, 64, 40000);
	size_compact(STRUCTURE_EXACT, 128, 40000);
}
