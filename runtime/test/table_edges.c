/* What is not a match for a table, tables that are full, and memory that ends at any allocation. */
#include <string.h>

#include "table_host.h"
#include "test.h"

static enum table_status
edges_insert(struct writer *writer, uint64_t value, uint64_t mask, uint32_t record_value)
{
	const struct test_record record = test_record(record_value);

	return writer_insert(writer, &(const struct table_match){ .value = &value, .mask = &mask }, &record, NULL);
}

static struct writer *
edges_writer(struct test_host *memory, uint32_t structure, uint32_t key_bits, uint64_t size)
{
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, size);
	const struct table_host host = test_table_host(memory);

	return writer_create(&descriptor, &host, NULL);
}

static void
edges_matches(void)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *exact = edges_writer(&memory, STRUCTURE_EXACT, 9, 0), *dir = edges_writer(&memory, STRUCTURE_DIR24_8, 9, 0);
	struct writer *trie = edges_writer(&memory, STRUCTURE_LPM_TRIE, 9, 0), *list = edges_writer(&memory, STRUCTURE_LIST, 9, 0);
	struct table_entry entry;
	const uint64_t key = 0x1ff;

	CHECK(edges_insert(exact, 0x200, 0x1ff, 1) == TABLE_INVALID);
	CHECK(edges_insert(exact, 1, 0x1fe, 1) == TABLE_INVALID);
	CHECK(edges_insert(exact, 0x1ff, 0x1ff, 1) == TABLE_OK);
	CHECK(edges_insert(exact, 0x1ff, 0x1ff, 2) == TABLE_EXISTS);
	CHECK(edges_insert(dir, 1, 0x101, 1) == TABLE_INVALID);
	CHECK(edges_insert(dir, 1, 0x0ff, 1) == TABLE_INVALID);
	CHECK(edges_insert(trie, 1, 0x0ff, 1) == TABLE_INVALID);
	CHECK(edges_insert(trie, 1, 0x3ff, 1) == TABLE_INVALID);
	CHECK(edges_insert(list, 1, 0x2aa, 1) == TABLE_INVALID);
	/* Bits outside the mask do not count. */
	CHECK(edges_insert(dir, 0x1ff, 0x180, 1) == TABLE_OK);
	CHECK(edges_insert(dir, 0x180, 0x180, 1) == TABLE_EXISTS);
	CHECK(writer_find(dir, &(const struct table_match){ .value = &key, .mask = &(const uint64_t){ 0x180 } }, &entry) == TABLE_OK);
	CHECK(entry.match.value[0] == 0x180 && entry.match.mask[0] == 0x180 && entry.handle == 0);
	CHECK(writer_lookup(exact, &key) != 0 && writer_lookup(dir, &key) != 0 && writer_lookup(trie, &key) == 0 && writer_lookup(list, &key) == 0);
	CHECK(edges_writer(&memory, STRUCTURE_DIR24_8, 33, 0) == NULL);
	writer_destroy(exact);
	writer_destroy(dir);
	writer_destroy(trie);
	writer_destroy(list);
	CHECK(memory.bytes == 0);
}

/* Entries that any table of the structure has room for. */
static uint64_t
edges_room(uint32_t structure)
{
	return structure == STRUCTURE_COMPARE ? 32 : 1000;
}

/* Whether the structure can have keys this wide. */
static int
edges_has_keys(uint32_t structure, uint32_t key_bits)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = edges_writer(&memory, structure, key_bits, 0);

	if (writer != NULL)
		writer_destroy(writer);
	return writer != NULL;
}

/* Entries have room for so many records, the default's among them; then the table says that it is full, until one is gone. */
static void
edges_records(uint32_t structure, uint32_t most)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = edges_writer(&memory, structure, 24, 0);
	const uint64_t key = 0x1234, mask = 0xffffff;

	for (uint32_t i = 1; i < most; i++)
		CHECK(edges_insert(writer, i, mask, i) == TABLE_OK);
	CHECK(edges_insert(writer, most, mask, most) == TABLE_FULL);
	CHECK(edges_insert(writer, most, mask, 7) == TABLE_OK);
	CHECK(writer_lookup(writer, &key) != 0 || key >= most);
	CHECK(writer_delete(writer, &(const struct table_match){ .value = &mask, .mask = &mask }) == TABLE_MISSING);
	CHECK(writer_delete(writer, &(const struct table_match){ .value = &(const uint64_t){ 9 }, .mask = &mask }) == TABLE_OK);
	CHECK(edges_insert(writer, most + 1, mask, most) == TABLE_OK);
	CHECK(edges_insert(writer, most + 2, mask, most + 1) == TABLE_FULL);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Whatever allocation fails, the table stays as it was, and everything is given back. */
static void
edges_memory(uint32_t structure, uint32_t key_bits)
{
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, key_bits != 30 && structure != STRUCTURE_DIR24_8_U8, 0);
	uint32_t failed = 0;

	if (!edges_has_keys(structure, key_bits))
		return;
	for (uint64_t allowed = 0; allowed < 90; allowed++) {
		struct test_host memory = { .allocations_left = allowed };
		const struct table_host host = test_table_host(&memory);
		struct writer *writer = writer_create(&descriptor, &host, NULL);
		uint64_t mask[5] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };

		mask[(key_bits - 1) / 64] = key_bits % 64 == 0 ? UINT64_MAX : ((uint64_t)1 << key_bits % 64) - 1;
		for (uint32_t i = 0; writer != NULL && i < edges_room(structure) * 2 / 5; i++) {
			const uint64_t key[5] = { i * 0x9e3779b97f4a7c15ull & mask[0] };
			const struct test_record record = test_record(structure == STRUCTURE_DIR24_8_U8 ? i % 100 : i);
			const uint64_t before = writer_count(writer);
			const struct table_match match = { .value = key, .mask = mask };
			const enum table_status status = writer_insert(writer, &match, &record, NULL);
			const uint32_t number = writer_lookup(writer, key);

			CHECK(status == TABLE_OK || status == TABLE_NO_MEMORY || status == TABLE_EXISTS);
			CHECK(writer_count(writer) == before + (status == TABLE_OK));
			CHECK((number != 0) == (status != TABLE_NO_MEMORY));
			if (status == TABLE_OK)
				CHECK(((const struct test_record *)table_record(writer_table(writer), number))->value == record.value);
			failed += status == TABLE_NO_MEMORY;
		}
		if (writer != NULL)
			writer_destroy(writer);
		CHECK(memory.bytes == 0);
	}
	CHECK(failed != 0 || edges_room(structure) < 400);
}

static void
edges_full(uint32_t structure, uint64_t size)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = edges_writer(&memory, structure, 16, size);
	const uint64_t key = 7, room = edges_room(structure);

	for (uint64_t i = 0; i < room; i++)
		CHECK(edges_insert(writer, i, 0xffff, 1) == TABLE_OK);
	CHECK(edges_insert(writer, room, 0xffff, 1) == TABLE_FULL);
	CHECK(edges_insert(writer, 7, 0xffff, 1) == TABLE_EXISTS);
	CHECK(writer_delete(writer, &(const struct table_match){ .value = &key, .mask = &(const uint64_t){ 0xffff } }) == TABLE_OK);
	CHECK(edges_insert(writer, room, 0xffff, 1) == TABLE_OK);
	CHECK(edges_insert(writer, 7, 0xffff, 1) == TABLE_FULL);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Keys without bits: value sets and tables with an empty key match everything or nothing. */
static void
edges_empty_key(uint32_t structure)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = edges_writer(&memory, structure, 0, 0);
	const uint64_t key = 0;

	CHECK(writer != NULL);
	if (writer == NULL)
		return;
	CHECK(writer_lookup(writer, &key) == 0);
	CHECK(edges_insert(writer, 0, 0, 3) == TABLE_OK);
	CHECK(edges_insert(writer, 0, 0, 3) == TABLE_EXISTS);
	CHECK(writer_lookup(writer, &key) != 0);
	writer_destroy(writer);
}

void
test_table_edges(void)
{
	edges_matches();
	for (uint32_t structure = 0; structure < STRUCTURES; structure++) {
		edges_full(structure, edges_room(structure));
		edges_empty_key(structure);
		edges_memory(structure, 30);
		edges_memory(structure, 16);
		edges_memory(structure, 200);
	}
	edges_full(STRUCTURE_COMPARE, 0);
	edges_records(STRUCTURE_EXACT48, 65535);
	edges_records(STRUCTURE_PERFECT, 65535);
	edges_records(STRUCTURE_DIR24_8_U16, 32767);
	edges_records(STRUCTURE_DIR24_8_U8, 254);
}
