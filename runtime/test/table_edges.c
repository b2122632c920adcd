/* What is not a match for a table, tables that are full, and memory that ends at any allocation. */
#include <string.h>

#include "table/dir24_8.h"
#include "table/exact.h"
#include "table/exact60.h"
#include "table/scan.h"
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

/* Entries have room for so many records, the default's among them; then the table is full, until one is gone. */
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

#define ALONE_PORTS 128u
#define ALONE_MANY 5u		/* rules of port 7 and of port 90; other ports have one */
#define ALONE_RULES (ALONE_PORTS + 2 * (ALONE_MANY - 1))

/* Rule `number` of a list that fixes all of a port, some of an address above it, and a range between them where there is one. */
static void
edges_alone_rule(uint32_t number, uint32_t has_range, uint64_t *value, uint64_t *mask, uint64_t *high)
{
	const uint32_t more = number < ALONE_PORTS ? 0 : number - ALONE_PORTS;
	const uint64_t port = number < ALONE_PORTS ? number : more < ALONE_MANY - 1 ? 7 : 90, low = number % 16 * 100;

	*value = port * 257 | (uint64_t)(number % 3) << 32 | (has_range ? low << 16 : 0);
	*mask = 0xffff | (uint64_t)(number % 2 ? 0x3 : 0x1) << 32 | (has_range ? 0 : 0xfull << 16);
	*high = low + 50 + 400 * (number % 2);
}

static uint32_t
edges_alone_expected(uint64_t key, uint32_t has_range)
{
	for (uint32_t number = ALONE_RULES; number-- != 0;) {	/* the last has precedence */
		uint64_t value, mask, high;
		const uint64_t middle = key >> 16 & 0xffff;

		edges_alone_rule(number, has_range, &value, &mask, &high);
		if (((key ^ value) & mask) != 0)
			continue;
		if (!has_range || (middle >= (value >> 16 & 0xffff) && middle <= high))
			return number + 1;
	}
	return 0;
}

/* Rules that are few or alone in their buckets, with and without a range, one lookup at a time and in groups. */
static void
edges_alone(uint32_t structure, uint32_t has_range)
{
	static const struct key_field fields[] = {
		{ .name = "address", .width = 32, .shift = 32, .kind = MATCH_TERNARY }, { .name = "range", .width = 16, .shift = 16, .kind = MATCH_RANGE },
		{ .name = "port", .width = 16, .shift = 0, .kind = MATCH_TERNARY },
	};
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	struct table_descriptor descriptor = test_descriptor(structure, 64, 0, 0);
	struct writer *writer;
	uint64_t random = 1, keys[TEST_GROUP_MOST];
	uint32_t found[TEST_GROUP_MOST];

	descriptor.fields = fields;
	descriptor.field_count = has_range ? 3 : 0;
	writer = writer_create(&descriptor, &host, NULL);
	CHECK(writer != NULL);
	for (uint32_t number = 0; writer != NULL && number < ALONE_RULES; number++) {
		const struct test_record record = test_record(number + 1);
		uint64_t value, mask, high;

		edges_alone_rule(number, has_range, &value, &mask, &high);
		high <<= 16;
		CHECK(writer_insert(writer, &(const struct table_match){ .value = &value, .mask = &mask, .high = &high, .priority = number }, &record, NULL) == TABLE_OK);
	}
	for (uint32_t round = 0; writer != NULL && round < 200; round++) {
		for (uint32_t i = 0; i < TEST_GROUP_MOST; i++) {
			const uint64_t draw = test_random(&random), port = round % 2 ? draw % 140 : draw % 3 ? 7 : 90;

			keys[i] = port * 257 | (draw >> 16 & 3) << 32 | (has_range ? (draw >> 24) % 2200 : (draw >> 24) % 2) << 16;
		}
		test_find_group(writer_table(writer), keys, 1, TEST_GROUP_MOST, found);
		for (uint32_t i = 0; i < TEST_GROUP_MOST; i++) {
			const uint32_t expected = edges_alone_expected(keys[i], has_range), number = test_find(writer_table(writer), &keys[i], 1);

			CHECK(found[i] == number && (number != 0) == (expected != 0));
			CHECK(number == 0 || ((const struct test_record *)table_record(writer_table(writer), number))->value == expected);
		}
	}
	if (writer != NULL)
		writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

#define EDGES_MASK(KEY_BITS) (UINT64_MAX >> (64 - (KEY_BITS)))

#define BLANK_FILLERS 12u	/* more than a bucket holds */

/* A key's first bucket. */
static const void *
edges_bucket(const struct table *table, uint64_t key)
{
	const void *structure = table;

	if (table->structure == STRUCTURE_EXACT60)
		return exact60_address(structure, exact60_hash(structure, &key, 1));
	return exact48_address(structure, exact48_hash(structure, &key, 1));
}

/* Keys that begin in the same bucket as `key`. */
static void
edges_beside(const struct table *table, uint64_t key, uint64_t *fillers)
{
	const void *bucket = edges_bucket(table, key);
	uint32_t count = 0;

	for (uint64_t filler = 1; count < BLANK_FILLERS; filler++)
		if (filler != key && edges_bucket(table, filler) == bucket)
			fillers[count++] = filler;
}

/* A key whose word looks like a place without an entry, behind such places: it comes in place of one of the fillers; those from `first` to `last` go. */
static void
edges_blank(uint32_t structure, uint64_t key, uint32_t place, uint32_t first, uint32_t last)
{
	const uint32_t key_bits = structure == STRUCTURE_EXACT60 ? 60 : 48;
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = edges_writer(&memory, structure, key_bits, 0);
	uint32_t found[TEST_GROUP_MOST];
	uint64_t fillers[BLANK_FILLERS], asked[TEST_GROUP_MOST];

	CHECK(writer_reserve(writer, 100) == TABLE_OK);
	edges_beside(writer_table(writer), key, fillers);
	for (uint32_t i = 0; i < BLANK_FILLERS; i++)
		CHECK(edges_insert(writer, fillers[i], EDGES_MASK(key_bits), 7) == TABLE_OK);
	CHECK(writer_delete(writer, &(const struct table_match){ .value = &fillers[place] }) == TABLE_OK);
	CHECK(edges_insert(writer, key, EDGES_MASK(key_bits), 1) == TABLE_OK);
	for (uint32_t i = first; i <= last; i++)
		CHECK(i == place || writer_delete(writer, &(const struct table_match){ .value = &fillers[i] }) == TABLE_OK);
	for (uint32_t count = 1; count <= TEST_GROUP_MOST; count++) {
		for (uint32_t i = 0; i < count; i++)
			asked[i] = i % 4 == 0 ? key : i % 4 == 1 ? key ^ 1 << 20 : fillers[(i + count) % BLANK_FILLERS];
		test_find_group(writer_table(writer), asked, 1, count, found);
		for (uint32_t i = 0; i < count; i++) {
			CHECK(found[i] == test_find(writer_table(writer), &asked[i], 1));
			CHECK(i % 4 > 1 || (found[i] != 0) == (i % 4 == 0));
		}
	}
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

#define LINES_MOST 70u

/* Addresses that are computed together are those of the keys one by one, and good until the array is replaced. */
#define EDGES_LINES(NAME, STRUCTURE, KEY_BITS)                                                                                  \
	static void                                                                                                             \
	edges_lines_##NAME(void)                                                                                                \
	{                                                                                                                       \
		struct test_host memory = { .allocations_left = UINT64_MAX };                                                   \
		struct writer *writer = edges_writer(&memory, STRUCTURE, KEY_BITS, 0);                                          \
		const struct NAME *table = (const void *)writer_table(writer);                                                  \
		uint64_t random = 7, keys[LINES_MOST];                                                                          \
		const void *addresses[LINES_MOST + 1];                                                                          \
		uint32_t replaced = 0;                                                                                          \
                                                                                                                                \
		for (uint32_t round = 0; round < 40; round++) {                                                                 \
			const struct NAME##_lines lines = NAME##_lines(table);                                                  \
                                                                                                                                \
			CHECK(NAME##_is_at(table, &lines));                                                                     \
			for (uint32_t i = 0; i < LINES_MOST; i++)                                                               \
				keys[i] = test_random(&random) >> (64 - (KEY_BITS));                                            \
			for (uint32_t count = round; count <= LINES_MOST; count += 7) {                                         \
				memset(addresses, 0, sizeof(addresses));                                                        \
				NAME##_addresses(&lines, keys, addresses, count);                                               \
				for (uint32_t i = 0; i < count; i++)                                                            \
					CHECK(addresses[i] == NAME##_address(table, NAME##_hash(table, &keys[i], 1)));          \
				CHECK(addresses[count] == NULL);                                                                \
			}                                                                                                       \
			for (uint32_t i = 0; i < LINES_MOST; i++)                                                               \
				CHECK(edges_insert(writer, keys[i], EDGES_MASK(KEY_BITS), i % 9) == TABLE_OK);                  \
			replaced += !NAME##_is_at(table, &lines);                                                               \
		}                                                                                                               \
		CHECK(replaced > 2 && replaced < 20);                                                                           \
		writer_destroy(writer);                                                                                         \
		CHECK(memory.bytes == 0);                                                                                       \
	}

EDGES_LINES(exact, STRUCTURE_EXACT, 64)
EDGES_LINES(exact48, STRUCTURE_EXACT48, 48)

/* The same of arrays over a key's first bits, which are never replaced. */
#define EDGES_PLACES(NAME, STRUCTURE)                                                                                           \
	static void                                                                                                             \
	edges_places_##NAME(uint32_t key_bits)                                                                                  \
	{                                                                                                                       \
		struct test_host memory = { .allocations_left = UINT64_MAX };                                                   \
		struct writer *writer = edges_writer(&memory, STRUCTURE, key_bits, 0);                                          \
		const struct dir24_8 *table = (const void *)writer_table(writer);                                               \
		const struct NAME##_lines lines = NAME##_lines(table);                                                          \
		const void *addresses[LINES_MOST + 1];                                                                          \
		uint64_t random = 7, keys[LINES_MOST];                                                                          \
                                                                                                                                \
		for (uint32_t count = 0; count <= LINES_MOST; count++) {                                                        \
			for (uint32_t i = 0; i < count; i++)                                                                    \
				keys[i] = test_random(&random) >> (64 - key_bits);                                              \
			if (count != 0)                                                                                         \
				CHECK(edges_insert(writer, keys[0], EDGES_MASK(key_bits), count % 9) == TABLE_OK);              \
			memset(addresses, 0, sizeof(addresses));                                                                \
			NAME##_addresses(&lines, keys, addresses, count);                                                       \
			for (uint32_t i = 0; i < count; i++)                                                                    \
				CHECK(addresses[i] == NAME##_address(table, NAME##_hash(table, &keys[i], 1)));                  \
			CHECK(addresses[count] == NULL);                                                                        \
		}                                                                                                               \
		writer_destroy(writer);                                                                                         \
		CHECK(memory.bytes == 0);                                                                                       \
	}

EDGES_PLACES(dir24_8, STRUCTURE_DIR24_8)
EDGES_PLACES(dir24_8_u16, STRUCTURE_DIR24_8_U16)
EDGES_PLACES(dir24_8_u8, STRUCTURE_DIR24_8_U8)

#define BETWEEN_RULES 200u

/* Prefixes that only the bits before their common end distinguish: each has a bucket of its own. */
static void
edges_between(uint32_t width, uint32_t length)
{
	const struct key_field fields[] = {
		{ .name = "address", .width = width, .shift = 8, .kind = MATCH_TERNARY }, { .name = "protocol", .width = 8, .shift = 0, .kind = MATCH_TERNARY },
	};
	const uint64_t below = ((uint64_t)1 << (8 + width - length)) - 1, mask = EDGES_MASK(8 + width) & ~below;
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	struct table_descriptor descriptor = test_descriptor(STRUCTURE_SCAN, 8 + width, 0, 0);
	const struct scan_array *array;
	struct writer *writer;
	uint64_t random = length;

	descriptor.fields = fields;
	descriptor.field_count = 2;
	writer = writer_create(&descriptor, &host, NULL);
	CHECK(writer != NULL);
	if (writer == NULL)
		return;
	for (uint64_t number = 0; number < BETWEEN_RULES; number++)
		CHECK(edges_insert(writer, (uint64_t)0x0a << width | number * (below + 1), mask, (uint32_t)number + 1) == TABLE_OK);
	array = ((const struct scan *)(const void *)writer_table(writer))->array;
	CHECK(array->rest_count == 0 && array->partition_count == 1 && array->single_count == 1 && array->partitions[0].expected == 1);
	for (uint64_t number = 0; number < 2 * BETWEEN_RULES; number++) {
		const uint64_t key = (uint64_t)0x0a << width | number * (below + 1) | (test_random(&random) & below);
		const uint32_t found = test_find(writer_table(writer), &key, 1);

		CHECK((found != 0) == (number < BETWEEN_RULES));
		CHECK(found == 0 || ((const struct test_record *)table_record(writer_table(writer), found))->value == number + 1);
	}
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

void
test_table_edges(void)
{
	for (uint32_t length = 20; length <= 28; length += 4)
		edges_between(32, length);
	for (uint32_t length = 24; length <= 40; length += 16)
		edges_between(48, length);
	for (uint32_t place = 0; place < BLANK_FILLERS; place++)
		for (uint32_t last = 0; last < BLANK_FILLERS; last++) {
			edges_blank(STRUCTURE_EXACT48, 0, place, last / 2, last);
			edges_blank(STRUCTURE_EXACT48, EXACT48_KEY, place, last / 2, last);
			edges_blank(STRUCTURE_EXACT60, exact60_key(5, EXACT60_BUCKETS_LEAST, EXACT60_IS_FIRST), place, last / 2, last);
			edges_blank(STRUCTURE_EXACT60, exact60_key(5, EXACT60_BUCKETS_LEAST, EXACT48_KEY), place, last / 2, last);
		}
	edges_lines_exact();
	edges_lines_exact48();
	edges_places_dir24_8(32);
	edges_places_dir24_8(20);
	edges_places_dir24_8_u16(32);
	edges_places_dir24_8_u8(32);
	for (uint32_t has_range = 0; has_range < 2; has_range++) {
		edges_alone(STRUCTURE_SCAN, has_range);
		edges_alone(STRUCTURE_BIT_VECTOR, has_range);
		edges_alone(STRUCTURE_TUPLE_SPACE, has_range);
		edges_alone(STRUCTURE_LIST, has_range);
	}
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
	edges_records(STRUCTURE_EXACT60, 65535);
	edges_records(STRUCTURE_PERFECT, 65535);
	edges_records(STRUCTURE_DIR24_8_U16, 32767);
	edges_records(STRUCTURE_DIR24_8_U8, 254);
}
