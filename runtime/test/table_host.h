/* A host for tables under test: counts memory, so that what is not given back shows, and grace periods. */
#ifndef BACUS_TEST_TABLE_HOST_H
#define BACUS_TEST_TABLE_HOST_H

#include "table/writer.h"

struct test_host {
	uint64_t bytes;
	uint64_t graces;
	uint64_t counter_indices;
	uint64_t cleared;
	uint64_t allocations_left;	/* before memory ends; UINT64_MAX: never */
	void (*grace)(void *argument);	/* NULL: no readers */
	void *argument;
};

struct table_host test_table_host(struct test_host *host);

/* A descriptor of this structure and key, without fields. */
struct table_descriptor test_descriptor(uint32_t structure, uint32_t key_bits, uint32_t own, uint64_t size);

/* How the entries of a table match. */
enum test_matching { TEST_EXACT, TEST_PREFIX, TEST_PRIORITISED };

enum test_matching test_matching(const struct table_descriptor *descriptor);

/* One lookup by the stages that generated code would use. */
uint32_t test_find(const struct table *table, const uint64_t *key, uint32_t limbs);

#define TEST_GROUP_MOST 64u

/* All keys at once, where the structure has a function for that; else one by one. */
void test_find_group(const struct table *table, const uint64_t *keys, uint32_t limbs, uint32_t count, uint32_t *found);

#define TEST_RECORD_BYTES 16u

/* A record that shows when half of it is another one's. */
struct test_record {
	uint32_t action;
	uint32_t value;
	uint64_t check;
};

struct test_record test_record(uint32_t value);
/* 0: torn. */
int test_record_whole(const void *record);

#endif
