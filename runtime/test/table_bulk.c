/* Entries that are inserted together are those that are inserted one by one, up to the first that is refused. */
#include <string.h>

#include "table_host.h"
#include "test.h"

#define BULK_ENTRIES 1000u

struct bulk {
	uint64_t values[BULK_ENTRIES];
	uint64_t masks[BULK_ENTRIES];
	struct table_match matches[BULK_ENTRIES];
	struct test_record records[BULK_ENTRIES];
};

static struct bulk bulk;

/* Random keys, or prefixes; the key of entry `again` is that of an earlier one. */
static void
bulk_fill(uint32_t key_bits, int prefixes, uint32_t again)
{
	const uint64_t all = UINT64_MAX >> (64 - key_bits);
	uint64_t random = key_bits;

	for (uint32_t i = 0; i < BULK_ENTRIES; i++) {
		const uint64_t below = prefixes ? test_random(&random) % key_bits / 2 : 0;

		bulk.masks[i] = all >> below << below;
		bulk.values[i] = test_random(&random) & bulk.masks[i];
		bulk.records[i] = test_record((uint32_t)(test_random(&random) % 50));
		bulk.matches[i] = (struct table_match){ .value = &bulk.values[i], .mask = &bulk.masks[i], .priority = i };
	}
	if (again != 0) {
		bulk.matches[again] = bulk.matches[again / 2];
		bulk.records[again] = bulk.records[again / 2];
	}
}

static void
bulk_check(uint32_t structure, uint32_t key_bits, int prefixes, uint32_t own, uint32_t again)
{
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, own, 0);
	struct test_host memory[2] = { { .allocations_left = UINT64_MAX }, { .allocations_left = UINT64_MAX } };
	const struct table_host hosts[2] = { test_table_host(&memory[0]), test_table_host(&memory[1]) };
	struct writer *one = writer_create(&descriptor, &hosts[0], NULL), *all = writer_create(&descriptor, &hosts[1], NULL);
	enum table_status status = TABLE_OK, together;
	uint32_t expected = 0, done = 0;

	bulk_fill(key_bits, prefixes, again);
	while (expected < BULK_ENTRIES && status == TABLE_OK) {
		status = writer_insert(one, &bulk.matches[expected], &bulk.records[expected], NULL);
		expected += status == TABLE_OK;
	}
	together = writer_insert_all(all, bulk.matches, bulk.records, BULK_ENTRIES, &done);
	CHECK(together == status && done == expected && writer_count(all) == expected);
	CHECK(again == 0 || (status == TABLE_EXISTS && expected <= again));
	for (uint32_t i = 0; i < BULK_ENTRIES; i++) {
		struct table_entry entry;
		const enum table_status found = writer_find(all, &bulk.matches[i], &entry);

		CHECK(found == writer_find(one, &bulk.matches[i], &entry));
		CHECK(writer_lookup(all, &bulk.values[i]) == writer_lookup(one, &bulk.values[i]));
		CHECK(i >= expected || (writer_find(all, &bulk.matches[i], &entry) == TABLE_OK && memcmp(entry.record, &bulk.records[i], sizeof(bulk.records[i])) == 0));
	}
	CHECK(writer_insert_all(all, bulk.matches, bulk.records, 0, &done) == TABLE_OK && done == 0);
	writer_destroy(one);
	writer_destroy(all);
	CHECK(memory[1].bytes == 0);
}

void
test_table_bulk(void)
{
	static const struct {
		uint32_t structure;
		uint32_t key_bits;
		int prefixes;
	} kinds[] = {
		{ STRUCTURE_EXACT, 64, 0 }, { STRUCTURE_EXACT48, 48, 0 }, { STRUCTURE_DIR24_8, 32, 1 }, { STRUCTURE_LPM_TRIE, 48, 1 },
		{ STRUCTURE_LIST, 32, 1 },
	};

	for (uint32_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		for (uint32_t own = 0; own < 2; own++) {
			bulk_check(kinds[kind].structure, kinds[kind].key_bits, kinds[kind].prefixes, own, 0);
			for (uint32_t again = 17; again < BULK_ENTRIES; again = 3 * again + 1)
				bulk_check(kinds[kind].structure, kinds[kind].key_bits, kinds[kind].prefixes, own, again);
		}
}
