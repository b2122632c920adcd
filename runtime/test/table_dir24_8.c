/* Groups of dir24_8.h, which prefixes longer than 24 bits end in: stored in a line while they are few pieces, and in an array beyond; replaced while
 * readers may still be in them; and found from entries of one byte by links that outlive them. */
#include <string.h>

#include "table/dir24_8.h"
#include "table_host.h"
#include "test.h"

#define ROUTES_BLOCKS 3u	/* of the first array's entries, whose prefixes come and go */
#define ROUTES_PREFIXES 400u
#define ROUTES_COVER 8u	/* one of so many is no longer than 24 bits */
#define ROUTES_CHANGES 8000u
#define ROUTES_BITS 32u
#define ROUTES_SEEN 512u
#define LINKS_ALIVE 40u
#define LINKS_CHANGES 20000u
#define LINKS_GONE 4096u

struct routes_prefix {
	uint64_t value;
	uint32_t length;
	uint32_t is_in;
};

/* The line of a group as a reader saw it. */
struct routes_seen {
	uint32_t group;
	uint8_t line[TABLE_LINE];
};

struct routes {
	struct test_host memory;
	struct writer *writer;
	struct routes_prefix prefixes[ROUTES_PREFIXES];
	struct routes_seen seen[ROUTES_SEEN];	/* since readers were waited for */
	uint32_t seen_count;
	uint64_t random;
};

static uint64_t
routes_mask(uint32_t length)
{
	return length == 0 ? 0 : UINT32_MAX & ~(((uint64_t)1 << (ROUTES_BITS - length)) - 1);
}

static enum table_status
routes_insert(struct writer *writer, uint64_t value, uint32_t length, uint32_t record_value)
{
	const struct test_record record = test_record(record_value);
	const uint64_t mask = routes_mask(length);

	return writer_insert(writer, &(const struct table_match){ .value = &value, .mask = &mask }, &record, NULL);
}

static enum table_status
routes_remove(struct writer *writer, uint64_t value, uint32_t length)
{
	const uint64_t mask = routes_mask(length);

	return writer_delete(writer, &(const struct table_match){ .value = &value, .mask = &mask });
}

/* The value of a key's record; 0: it finds none. */
static uint32_t
routes_found(const struct writer *writer, uint64_t key)
{
	const uint32_t number = test_find(writer_table(writer), &key, 1);

	return number == 0 ? 0 : ((const struct test_record *)table_record(writer_table(writer), number))->value;
}

static struct writer *
routes_writer(struct test_host *memory, uint32_t structure)
{
	const struct table_descriptor descriptor = test_descriptor(structure, ROUTES_BITS, 0, 0);
	const struct table_host host = test_table_host(memory);

	return writer_create(&descriptor, &host, NULL);
}

/* Few records, so that prefixes side by side may have the same. */
static uint32_t
routes_record(uint32_t prefix)
{
	return 1 + prefix % 100;
}

static uint32_t
routes_expected(const struct routes *routes, uint64_t key)
{
	uint32_t best = ROUTES_PREFIXES;

	for (uint32_t i = 0; i < ROUTES_PREFIXES; i++) {
		const struct routes_prefix *prefix = &routes->prefixes[i];

		if (prefix->is_in && ((key ^ prefix->value) & routes_mask(prefix->length)) == 0 &&
		    (best == ROUTES_PREFIXES || prefix->length > routes->prefixes[best].length))
			best = i;
	}
	return best == ROUTES_PREFIXES ? 0 : routes_record(best);
}

/* All keys of a block, one by one and in groups. */
static void
routes_check(const struct routes *routes, uint64_t block)
{
	const struct table *table = writer_table(routes->writer);
	uint64_t keys[TEST_GROUP_MOST];
	uint32_t found[TEST_GROUP_MOST];

	for (uint64_t rest = 0; rest < 256; rest += TEST_GROUP_MOST) {
		for (uint32_t i = 0; i < TEST_GROUP_MOST; i++)
			keys[i] = block << 8 | (rest + i);
		test_find_group(table, keys, 1, TEST_GROUP_MOST, found);
		for (uint32_t i = 0; i < TEST_GROUP_MOST; i++) {
			CHECK(routes_found(routes->writer, keys[i]) == routes_expected(routes, keys[i]));
			CHECK(found[i] == test_find(table, &keys[i], 1));
		}
	}
}

/* How the group of a block is stored: in a line, in an array, or there is none. */
enum routes_form { ROUTES_NONE, ROUTES_LINE, ROUTES_ARRAY, ROUTES_FORMS };

static const uint8_t *
routes_line(const struct dir24_8 *table, uint32_t group)
{
	return (const uint8_t *)table->pieces + (size_t)group * TABLE_LINE;
}

/* A reader comes to its end: whatever took the place of the groups that it has seen, these are as they were. */
static void
routes_grace(void *argument)
{
	struct routes *routes = argument;

	for (uint32_t i = 0; i < routes->seen_count; i++) {
		const struct routes_seen *seen = &routes->seen[i];

		CHECK(memcmp(routes_line((const void *)writer_table(routes->writer), seen->group), seen->line, TABLE_LINE) == 0);
	}
	routes->seen_count = 0;
}

#define ROUTES_GROUP(NAME, GROUP)                                                                                       \
	/* 0: there is none. */                                                                                         \
	static uint32_t routes_group_##NAME(const struct dir24_8 *table, uint64_t block, size_t *ends)                  \
	{                                                                                                               \
		const uint64_t key = block << 8;                                                                        \
		const uint32_t entry = NAME##_first(NAME##_address(table, key));                                        \
                                                                                                                        \
		*ends = sizeof(((struct NAME##_pieces *)0)->ends);                                                      \
		return entry < (GROUP) ? 0 : NAME##_group(table, entry, key);                                           \
	}

ROUTES_GROUP(dir24_8, DIR24_8_GROUP)
ROUTES_GROUP(dir24_8_u16, DIR24_8_U16_GROUP)
ROUTES_GROUP(dir24_8_u8, DIR24_8_U8_GROUP)

/* A reader comes to a block and sees the group there, if there is one. */
static enum routes_form
routes_see(struct routes *routes, uint32_t structure, uint64_t block)
{
	const struct dir24_8 *table = (const void *)writer_table(routes->writer);
	size_t ends;
	const uint32_t group = structure == STRUCTURE_DIR24_8_U8    ? routes_group_dir24_8_u8(table, block, &ends)
			       : structure == STRUCTURE_DIR24_8_U16 ? routes_group_dir24_8_u16(table, block, &ends)
								    : routes_group_dir24_8(table, block, &ends);

	if (group == 0)
		return ROUTES_NONE;
	if (routes->seen_count < ROUTES_SEEN) {
		struct routes_seen *seen = &routes->seen[routes->seen_count++];

		seen->group = group;
		memcpy(seen->line, routes_line(table, group), TABLE_LINE);
	}
	return routes_line(table, group)[ends - 1] == 0 ? ROUTES_ARRAY : ROUTES_LINE;
}

/* Prefixes come and go, sometimes more of them, sometimes fewer, so that groups take all forms. Some are shorter and cover whole groups. */
static void
routes_change(uint32_t structure)
{
	struct routes routes = { .memory = { .allocations_left = UINT64_MAX }, .random = structure };
	static const uint32_t chances[4] = { 80, 5, 1, 1 };
	uint32_t forms[ROUTES_FORMS] = { 0 };

	routes.memory.grace = routes_grace;
	routes.memory.argument = &routes;
	routes.writer = routes_writer(&routes.memory, structure);
	for (uint32_t i = 0; i < ROUTES_PREFIXES; i++) {
		const uint64_t block = 0x0a0000 + test_random(&routes.random) % ROUTES_BLOCKS;
		const uint32_t length = i % ROUTES_COVER == 0 ? 16 + (uint32_t)(test_random(&routes.random) % 9) : 25 + (uint32_t)(test_random(&routes.random) % 8);
		struct routes_prefix *prefix = &routes.prefixes[i];

		*prefix = (struct routes_prefix){ .value = (block << 8 | test_random(&routes.random) % 256) & routes_mask(length), .length = length };
		for (uint32_t earlier = 0; earlier < i; earlier++)
			if (routes.prefixes[earlier].value == prefix->value && routes.prefixes[earlier].length == length)
				prefix->length = 0;
	}
	for (uint32_t change = 0; change < ROUTES_CHANGES; change++) {
		/* Those that cover groups change more often, and are there as often as not, also of blocks that have no groups. */
		const uint32_t step = test_random(&routes.random) % 4 == 0 ? ROUTES_COVER : 1;
		struct routes_prefix *prefix = &routes.prefixes[test_random(&routes.random) % (ROUTES_PREFIXES / step) * step];
		const uint32_t comes = prefix->length <= 24 ? 50 : chances[change / 500 % 4];

		if (prefix->length == 0)
			continue;
		if (prefix->is_in && test_random(&routes.random) % 100 >= comes) {
			CHECK(routes_remove(routes.writer, prefix->value, prefix->length) == TABLE_OK);
			prefix->is_in = 0;
		} else if (!prefix->is_in && test_random(&routes.random) % 100 < comes) {
			CHECK(routes_insert(routes.writer, prefix->value, prefix->length, routes_record((uint32_t)(prefix - routes.prefixes))) == TABLE_OK);
			prefix->is_in = 1;
		}
		if (change % 4 == 0)
			routes_check(&routes, 0x0a0000 + change / 4 % ROUTES_BLOCKS);
		forms[routes_see(&routes, structure, 0x0a0000 + change % ROUTES_BLOCKS)]++;
	}
	CHECK(forms[ROUTES_NONE] != 0 && forms[ROUTES_LINE] > ROUTES_CHANGES / 20 && forms[ROUTES_ARRAY] > ROUTES_CHANGES / 20);
	for (uint32_t i = 0; i < ROUTES_PREFIXES; i++)
		if (routes.prefixes[i].is_in)
			CHECK(routes_remove(routes.writer, routes.prefixes[i].value, routes.prefixes[i].length) == TABLE_OK);
	for (uint32_t block = 0; block < ROUTES_BLOCKS; block++)
		CHECK(routes_see(&routes, structure, 0x0a0000 + block) == ROUTES_NONE);
	writer_destroy(routes.writer);
	CHECK(routes.memory.bytes == 0);
}

/* Entries that led to a group when a reader saw them, which has not been waited for since. */
struct links {
	const struct dir24_8 *table;
	uint32_t gone[LINKS_GONE];
	uint32_t count;
	uint32_t most;
	const struct dir24_8_links *array;	/* that a reader took when the last one had come to its end, with its form; NULL: none yet */
	uint32_t shift;
	uint32_t mask;
};

/* A reader comes to its end; the last that it does is to look up what it has seen. */
static void
links_grace(void *argument)
{
	struct links *links = argument;

	for (uint32_t i = 0; i < links->count; i++)
		CHECK(dir24_8_u8_second(links->table, DIR24_8_U8_GROUP, (uint64_t)links->gone[i] << 8 | 7) != 0);
	CHECK(links->array == NULL || (links->array->shift == links->shift && links->array->mask == links->mask));
	links->most = links->count > links->most ? links->count : links->most;
	links->count = 0;
	links->array = links->table->links;
	if (links->array != NULL) {
		links->shift = links->array->shift;
		links->mask = links->array->mask;
	}
}

/* Few groups, each time of other keys: links to deleted groups are found while a reader may follow them, and then make room. */
static void
links_outlive(void)
{
	struct links links = { .table = NULL };
	struct test_host memory = { .allocations_left = UINT64_MAX, .grace = links_grace, .argument = &links };
	struct writer *writer = routes_writer(&memory, STRUCTURE_DIR24_8_U8);
	uint32_t alive[LINKS_ALIVE];
	uint64_t random = 1;

	links.table = (const void *)writer_table(writer);
	for (uint32_t change = 0; change < LINKS_CHANGES && test_failures == 0; change++) {
		uint32_t *place = &alive[change % LINKS_ALIVE];

		if (change >= LINKS_ALIVE) {
			CHECK(routes_found(writer, (uint64_t)*place << 8 | 7) == 1 + *place % 200);
			CHECK(routes_remove(writer, (uint64_t)*place << 8 | 7, 32) == TABLE_OK);
			CHECK(routes_found(writer, (uint64_t)*place << 8 | 7) == 0);
			CHECK(links.count < LINKS_GONE);
			links.gone[links.count++] = *place;
		}
		*place = ((uint32_t)(test_random(&random) % 0x1000) << 12 | change) & 0xffffff;
		CHECK(routes_insert(writer, (uint64_t)*place << 8 | 7, 32, 1 + *place % 200) == TABLE_OK);
	}
	CHECK(memory.graces < LINKS_CHANGES / 4 && links.most > LINKS_ALIVE / 8 && links.table->links->mask < 16 * LINKS_ALIVE);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* As many groups as entries have numbers for: the next is refused, those that are there still change, and one that goes makes room. */
static void
routes_are_full(uint32_t structure, uint64_t most)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = routes_writer(&memory, structure);
	enum table_status status = TABLE_OK;
	uint64_t count = 0;

	while (status == TABLE_OK && count < 0x10000) {
		status = routes_insert(writer, count << 8, 25, 1 + (uint32_t)count % 100);
		count += status == TABLE_OK;
	}
	CHECK(status == TABLE_FULL && count == most);
	CHECK(routes_insert(writer, count << 8, 24, 7) == TABLE_OK && routes_found(writer, count << 8) == 7);
	for (uint64_t block = 0; block < count; block += count / 50) {
		CHECK(routes_insert(writer, block << 8 | 9, 32, 77) == TABLE_OK);
		CHECK(routes_found(writer, block << 8 | 9) == 77 && routes_found(writer, block << 8 | 8) == 1 + (uint32_t)block % 100);
	}
	CHECK(routes_insert(writer, 0, 8, 55) == TABLE_OK);
	for (uint64_t block = 0; block < count; block++)
		CHECK(routes_found(writer, block << 8 | 200) == 55);
	CHECK(routes_remove(writer, 0, 8) == TABLE_OK && routes_found(writer, 200) == 0);
	CHECK(routes_remove(writer, 0x100, 25) == TABLE_OK);
	CHECK(routes_insert(writer, count << 8, 25, 3) == TABLE_OK && routes_found(writer, count << 8) == 3);
	CHECK(routes_insert(writer, (count + 1) << 8, 25, 3) == TABLE_FULL);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

void
test_table_dir24_8(void)
{
	routes_change(STRUCTURE_DIR24_8);
	routes_change(STRUCTURE_DIR24_8_U16);
	routes_change(STRUCTURE_DIR24_8_U8);
	links_outlive();
	routes_are_full(STRUCTURE_DIR24_8_U16, 32262);
}
