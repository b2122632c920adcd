/* Memory and grace periods for tables under test. */
#include "table_host.h"

#include <stdlib.h>
#include <string.h>

#include "table/bit_vector.h"
#include "table/btree.h"
#include "table/compare.h"
#include "table/dir24_8.h"
#include "table/direct.h"
#include "table/exact.h"
#include "table/exact60.h"
#include "table/list.h"
#include "table/lpm_trie.h"
#include "table/perfect.h"
#include "table/scan.h"
#include "table/tuple_space.h"

static void *
test_allocate(void *argument, size_t bytes)
{
	struct test_host *host = argument;
	uint8_t *memory, *aligned;

	if (host->allocations_left == 0)
		return NULL;
	if (host->allocations_left != UINT64_MAX)
		host->allocations_left--;
	/* calloc, since large arrays are mostly never touched. How far the piece was moved is stored before it. */
	memory = calloc(1, bytes + 64);
	if (memory == NULL)
		return NULL;
	host->bytes += bytes;
	aligned = memory + 64 - (uintptr_t)memory % 64;
	aligned[-1] = (uint8_t)(aligned - memory);
	return aligned;
}

static void
test_release(void *argument, void *memory, size_t bytes)
{
	struct test_host *host = argument;

	host->bytes -= bytes;
	free((uint8_t *)memory - ((const uint8_t *)memory)[-1]);
}

static void
test_grace(void *argument)
{
	struct test_host *host = argument;

	host->graces++;
	if (host->grace != NULL)
		host->grace(host->argument);
}

static int
test_counter_indices(void *argument, uint64_t count)
{
	struct test_host *host = argument;

	host->counter_indices = count;
	return 0;
}

static void
test_clear(void *argument, uint32_t counter_index)
{
	struct test_host *host = argument;

	host->cleared = counter_index;
}

struct table_host
test_table_host(struct test_host *host)
{
	return (struct table_host){
		.allocate = test_allocate, .release = test_release, .grace = test_grace, .counter_indices = test_counter_indices, .clear = test_clear, .host = host,
	};
}

struct table_descriptor
test_descriptor(uint32_t structure, uint32_t key_bits, uint32_t own, uint64_t size)
{
	return (struct table_descriptor){
		.name = "test", .structure = structure, .key_bits = key_bits, .key_limbs = key_bits == 0 ? 1 : (key_bits + 63) / 64,
		.record_bytes = TEST_RECORD_BYTES, .records_own = own, .size = size,
	};
}

enum test_matching
test_matching(const struct table_descriptor *descriptor)
{
	switch ((enum structure)descriptor->structure) {
	case STRUCTURE_EXACT:
	case STRUCTURE_EXACT48:
	case STRUCTURE_EXACT60:
	case STRUCTURE_PERFECT:
	case STRUCTURE_DIRECT:
	case STRUCTURE_COMPARE:
		return TEST_EXACT;
	case STRUCTURE_DIR24_8:
	case STRUCTURE_DIR24_8_U16:
	case STRUCTURE_DIR24_8_U8:
	case STRUCTURE_LPM_TRIE:
		return TEST_PREFIX;
	case STRUCTURE_BTREE:
		return descriptor->field_count != 0 ? TEST_PRIORITISED : TEST_PREFIX;
	case STRUCTURE_LIST:
	case STRUCTURE_SCAN:
	case STRUCTURE_BIT_VECTOR:
	case STRUCTURE_TUPLE_SPACE:
	case STRUCTURES:
		break;
	}
	return TEST_PRIORITISED;
}

#define TEST_FIND(NAME)                                                                                                             \
	NAME##_find((const void *)table, NAME##_address((const void *)table, NAME##_hash((const void *)table, key, limbs)),         \
		NAME##_hash((const void *)table, key, limbs), key, limbs)

uint32_t
test_find(const struct table *table, const uint64_t *key, uint32_t limbs)
{
	switch ((enum structure)table->structure) {
	case STRUCTURE_EXACT:
		return TEST_FIND(exact);
	case STRUCTURE_EXACT48:
		return TEST_FIND(exact48);
	case STRUCTURE_EXACT60:
		return TEST_FIND(exact60);
	case STRUCTURE_DIR24_8:
		return TEST_FIND(dir24_8);
	case STRUCTURE_DIR24_8_U16:
		return TEST_FIND(dir24_8_u16);
	case STRUCTURE_DIR24_8_U8:
		return TEST_FIND(dir24_8_u8);
	case STRUCTURE_LPM_TRIE:
		return TEST_FIND(lpm_trie);
	case STRUCTURE_LIST:
		return TEST_FIND(list);
	case STRUCTURE_BTREE:
		return TEST_FIND(btree);
	case STRUCTURE_PERFECT:
		return TEST_FIND(perfect);
	case STRUCTURE_DIRECT:
		return TEST_FIND(direct);
	case STRUCTURE_COMPARE:
		return TEST_FIND(compare);
	case STRUCTURE_SCAN:
		return TEST_FIND(scan);
	case STRUCTURE_BIT_VECTOR:
		return TEST_FIND(bit_vector);
	case STRUCTURE_TUPLE_SPACE:
		return TEST_FIND(tuple_space);
	case STRUCTURES:
		break;
	}
	return 0;
}

/* Groups of different sizes, as different plans would have them: with or without hashes and addresses; with requests. */
#define TEST_FIND_GROUP(NAME, TABLE)                                                                                            \
	static void                                                                                                             \
	test_group_##NAME(const struct TABLE *table, const uint64_t *keys, uint32_t limbs, uint32_t count, uint32_t *found)     \
	{                                                                                                                       \
		uint64_t hashes[TEST_GROUP_MOST];                                                                               \
		const void *addresses[TEST_GROUP_MOST];                                                                         \
		const struct table_group group = {                                                                              \
			.count = count, .limbs = limbs, .keys = keys, .hashes = count % 5 != 0 ? hashes : NULL,                 \
			.addresses = count % 2 != 0 ? addresses : NULL, .found = found,                                         \
			.requests = count % 3 != 0 ? addresses : NULL, .request_count = count / 2,                              \
			.walks_ahead = count % 4 != 0, .is_far = count % 11 % 2,                                                \
			.pairs = count % 2, .request_far = count % 3 % 2,                                                       \
		};                                                                                                              \
                                                                                                                                \
		for (uint32_t i = 0; i < count; i++) {                                                                          \
			hashes[i] = NAME##_hash(table, keys + (size_t)i * limbs, limbs);                                        \
			addresses[i] = NAME##_address(table, hashes[i]);                                                        \
		}                                                                                                               \
		NAME##_find_group(table, &group);                                                                               \
	}

TEST_FIND_GROUP(exact, exact)
TEST_FIND_GROUP(exact48, exact48)
TEST_FIND_GROUP(exact60, exact60)
TEST_FIND_GROUP(dir24_8, dir24_8)
TEST_FIND_GROUP(dir24_8_u16, dir24_8)
TEST_FIND_GROUP(dir24_8_u8, dir24_8)
TEST_FIND_GROUP(lpm_trie, lpm_trie)
TEST_FIND_GROUP(btree, btree)
TEST_FIND_GROUP(perfect, perfect)
TEST_FIND_GROUP(scan, scan)
TEST_FIND_GROUP(bit_vector, bit_vector)
TEST_FIND_GROUP(tuple_space, tuple_space)

void
test_find_group(const struct table *table, const uint64_t *keys, uint32_t limbs, uint32_t count, uint32_t *found)
{
	switch ((enum structure)table->structure) {
	case STRUCTURE_EXACT:
		test_group_exact((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_EXACT48:
		test_group_exact48((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_EXACT60:
		test_group_exact60((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_DIR24_8:
		test_group_dir24_8((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_DIR24_8_U16:
		test_group_dir24_8_u16((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_DIR24_8_U8:
		test_group_dir24_8_u8((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_LPM_TRIE:
		test_group_lpm_trie((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_BTREE:
		test_group_btree((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_SCAN:
		test_group_scan((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_BIT_VECTOR:
		test_group_bit_vector((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_TUPLE_SPACE:
		test_group_tuple_space((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_PERFECT:
		test_group_perfect((const void *)table, keys, limbs, count, found);
		return;
	case STRUCTURE_LIST:
	case STRUCTURE_DIRECT:
	case STRUCTURE_COMPARE:
	case STRUCTURES:
		break;
	}
	for (uint32_t i = 0; i < count; i++)
		found[i] = test_find(table, keys + (size_t)i * limbs, limbs);
}

struct test_record
test_record(uint32_t value)
{
	return (struct test_record){ .action = value % 7, .value = value, .check = value * 0x9e3779b97f4a7c15ull };
}

int
test_record_whole(const void *record)
{
	const struct test_record *held = record;

	return held->action == held->value % 7 && held->check == held->value * 0x9e3779b97f4a7c15ull;
}
