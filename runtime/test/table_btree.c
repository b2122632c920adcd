/* Trees of btree.h that grow and shrink: which of their levels have windows, and that with them and without, while entries come and go and memory ends, every
 * key finds its longest prefix. */
#include <string.h>

#include "table/btree.h"
#include "table_host.h"
#include "test.h"

#define TREE_PREFIXES 6000u
#define TREE_LIMBS 2u
#define TREE_BLOCKS 8u
#define TREE_HOLDERS 300u

struct tree_prefix {
	uint64_t value[TREE_LIMBS];	/* low limb first */
	uint32_t length;
	uint32_t is_in;
};

struct tree {
	struct test_host memory;
	struct table_descriptor descriptor;
	struct writer *writer;
	struct tree_prefix prefixes[TREE_PREFIXES];
	uint32_t count;
	uint64_t random;
};

static uint64_t
tree_draw(struct tree *tree, uint64_t most)
{
	return test_random(&tree->random) % most;
}

static void
tree_mask(uint32_t bits, uint32_t length, uint64_t *mask)
{
	for (uint32_t limb = 0; limb < TREE_LIMBS; limb++)
		mask[limb] = 0;
	for (uint32_t bit = bits - length; bit < bits; bit++)
		mask[bit / 64] |= (uint64_t)1 << bit % 64;
}

/* A prefix of the upper 64 bits of a key, or of all of its bits if there are fewer. */
static struct tree_prefix
tree_prefix(const struct tree *tree, uint64_t upper, uint32_t length)
{
	const uint32_t limbs = tree->descriptor.key_limbs;
	struct tree_prefix prefix = { .length = length, .is_in = 0 };
	uint64_t mask[TREE_LIMBS];

	tree_mask(tree->descriptor.key_bits, length, mask);
	prefix.value[limbs - 1] = upper;
	for (uint32_t limb = 0; limb < TREE_LIMBS; limb++)
		prefix.value[limb] &= mask[limb];
	return prefix;
}

/* As in routers: few blocks of 16 bits, providers in them, and what providers announce of theirs. */
static struct tree_prefix
tree_provided(struct tree *tree)
{
	static const uint32_t lengths[8] = { 48, 48, 48, 48, 44, 40, 36, 32 };
	const uint64_t holder = tree_draw(tree, TREE_HOLDERS), block = 0x2000 + holder % TREE_BLOCKS * 77;

	return tree_prefix(tree, block << 48 | (holder * 0x9e37 & 0xffff) << 32 | tree_draw(tree, (uint64_t)1 << 32), lengths[tree_draw(tree, 8)]);
}

/* As nowhere: of any length, far from each other. */
static struct tree_prefix
tree_scattered(struct tree *tree)
{
	const uint32_t bits = tree->descriptor.key_bits < 64 ? tree->descriptor.key_bits : 64;

	return tree_prefix(tree, test_random(&tree->random) >> (64 - bits), bits - (uint32_t)tree_draw(tree, bits / 4));
}

/* Hosts within a network of 64 bits: they end in trees of their own. */
static struct tree_prefix
tree_deep(struct tree *tree)
{
	struct tree_prefix prefix = tree_prefix(tree, (uint64_t)0x2000 << 48 | tree_draw(tree, 4), 64);
	uint64_t mask[TREE_LIMBS];

	prefix.length += 1 + (uint32_t)tree_draw(tree, 64);
	tree_mask(128, prefix.length, mask);
	prefix.value[0] = test_random(&tree->random) & 0xffffffffffffull & mask[0];
	return prefix;
}

static enum table_status
tree_insert(struct tree *tree, struct tree_prefix *prefix)
{
	const struct test_record record = test_record((uint32_t)(prefix - tree->prefixes) + 1);
	uint64_t mask[TREE_LIMBS];
	enum table_status status;

	tree_mask(tree->descriptor.key_bits, prefix->length, mask);
	status = writer_insert(tree->writer, &(const struct table_match){ .value = prefix->value, .mask = mask }, &record, NULL);
	prefix->is_in = status == TABLE_OK;
	return status;
}

static void
tree_remove(struct tree *tree, struct tree_prefix *prefix)
{
	uint64_t mask[TREE_LIMBS];

	tree_mask(tree->descriptor.key_bits, prefix->length, mask);
	CHECK(writer_delete(tree->writer, &(const struct table_match){ .value = prefix->value, .mask = mask }) == TABLE_OK);
	prefix->is_in = 0;
}

/* So many more prefixes that are drawn alike. */
static void
tree_grow(struct tree *tree, uint32_t count, struct tree_prefix (*draw)(struct tree *))
{
	for (const uint32_t all = tree->count + count; tree->count < all; tree->count++) {
		enum table_status status;

		tree->prefixes[tree->count] = draw(tree);
		status = tree_insert(tree, &tree->prefixes[tree->count]);
		CHECK(status == TABLE_OK || status == TABLE_EXISTS);
	}
}

/* The number of the longest prefix, from 1 on; 0: none. */
static uint32_t
tree_expected(const struct tree *tree, const uint64_t *key)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_prefix *prefix = &tree->prefixes[i];
		uint64_t mask[TREE_LIMBS];

		if (!prefix->is_in || (best != 0 && prefix->length <= tree->prefixes[best - 1].length))
			continue;
		tree_mask(tree->descriptor.key_bits, prefix->length, mask);
		if (((prefix->value[0] ^ key[0]) & mask[0]) == 0 && ((prefix->value[1] ^ key[1]) & mask[1]) == 0)
			best = i + 1;
	}
	return best;
}

/* The first or last key of a prefix, or one beside it. */
static void
tree_key(struct tree *tree, uint64_t *key)
{
	const struct tree_prefix *prefix = &tree->prefixes[tree_draw(tree, tree->count)];
	const uint64_t draw = tree_draw(tree, 5), limb = prefix->length <= 64 ? tree->descriptor.key_limbs - 1 : 0;
	uint64_t mask[TREE_LIMBS];

	tree_mask(tree->descriptor.key_bits, prefix->length, mask);
	for (uint32_t i = 0; i < tree->descriptor.key_limbs; i++)
		key[i] = prefix->value[i] | (draw < 2 ? 0 : draw == 4 ? test_random(&tree->random) & ~mask[i] : ~mask[i]);
	key[limb] += draw == 1 ? UINT64_MAX : draw == 3;
	if (tree->descriptor.key_bits < 64)
		key[0] &= ((uint64_t)1 << tree->descriptor.key_bits) - 1;
}

static void
tree_check(struct tree *tree)
{
	const struct table *table = writer_table(tree->writer);
	const uint32_t limbs = tree->descriptor.key_limbs;

	for (uint32_t round = 0; round < 4; round++) {
		uint64_t keys[TEST_GROUP_MOST * TREE_LIMBS] = { 0 };
		uint32_t found[TEST_GROUP_MOST];

		for (uint32_t i = 0; i < TEST_GROUP_MOST; i++)
			tree_key(tree, keys + (size_t)i * limbs);
		test_find_group(table, keys, limbs, TEST_GROUP_MOST - round, found);
		for (uint32_t i = 0; i < TEST_GROUP_MOST - round; i++) {
			uint64_t key[TREE_LIMBS] = { 0 };
			uint32_t expected;

			memcpy(key, keys + (size_t)i * limbs, limbs * sizeof(*key));
			expected = tree_expected(tree, key);
			CHECK((found[i] == 0) == (expected == 0));
			CHECK(found[i] == 0 || ((const struct test_record *)table_record(table, found[i]))->value == expected);
			CHECK(test_find(table, key, limbs) == found[i]);
		}
	}
}

static const struct btree_top *
tree_top(const struct tree *tree)
{
	return ((const struct btree *)(const void *)writer_table(tree->writer))->top;
}

static uint64_t
tree_windows(const struct tree *tree)
{
	return tree_top(tree)->windows;
}

static struct tree *
tree_make(uint32_t key_bits)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	struct table_host host;

	tree->memory.allocations_left = UINT64_MAX;
	tree->random = key_bits;
	tree->descriptor = test_descriptor(STRUCTURE_BTREE, key_bits, 0, 0);
	host = test_table_host(&tree->memory);
	tree->writer = writer_create(&tree->descriptor, &host, NULL);
	return tree;
}

static void
tree_end(struct tree *tree)
{
	writer_destroy(tree->writer);
	CHECK(tree->memory.bytes == 0);
	free(tree);
}

/* Windows come when prefixes are close, go when others come between them, and come back when these have gone. */
static void
tree_lives(uint32_t key_bits)
{
	struct tree *tree = tree_make(key_bits);
	uint32_t provided;

	CHECK(tree_windows(tree) == 0);
	for (uint32_t i = 0; i < 10; i++) {
		tree_grow(tree, 150, tree_provided);
		tree_check(tree);
	}
	CHECK(tree_windows(tree) != 0);
	provided = tree->count;
	for (uint32_t i = 0; i < 10; i++) {
		tree_grow(tree, key_bits > 64 ? 350 : 400, tree_scattered);
		tree_check(tree);
	}
	CHECK(tree_windows(tree) == 0);
	if (key_bits > 64)
		tree_grow(tree, 300, tree_deep);
	tree_check(tree);
	for (uint32_t i = provided; i < tree->count; i++) {
		if (tree->prefixes[i].is_in && tree->prefixes[i].length <= 64)
			tree_remove(tree, &tree->prefixes[i]);
		if (i % 500 == 0)
			tree_check(tree);
	}
	writer_compact(tree->writer);
	CHECK(tree_windows(tree) == 2);
	tree_check(tree);
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->prefixes[i].is_in)
			tree_remove(tree, &tree->prefixes[i]);
	/* Leaves that empty are not kept. */
	CHECK(tree_top(tree)->height <= 2);
	tree_check(tree);
	tree_end(tree);
}

/* A window shows all of a key of at most 32 bits. */
static void
tree_is_narrow(uint32_t key_bits)
{
	struct tree *tree = tree_make(key_bits);

	tree_grow(tree, 1000, tree_scattered);
	tree_check(tree);
	writer_compact(tree->writer);
	CHECK(tree_windows(tree) == 2);
	tree_check(tree);
	tree_end(tree);
}

/* Whatever allocation fails while another tree is built, the old one stays, and nothing is lost. (All fail where pieces of memory are apart:
 * `run-separate`.) */
static void
tree_runs_out(uint32_t key_bits)
{
	struct tree *tree = tree_make(key_bits);
	uint32_t failed = 0;

	tree_grow(tree, 700, tree_provided);
	writer_compact(tree->writer);
	tree_grow(tree, 400, tree_scattered);
	for (uint32_t left = 0; left < 150; left++) {
		const struct btree_top *before = tree_top(tree);
		enum table_status status;

		tree->prefixes[tree->count] = left % 3 == 0 && key_bits > 64 ? tree_deep(tree) : tree_scattered(tree);
		tree->memory.allocations_left = left / 2;
		if (left % 2 == 0) {
			status = tree_insert(tree, &tree->prefixes[tree->count++]);
			CHECK(status == TABLE_OK || status == TABLE_NO_MEMORY || status == TABLE_EXISTS);
		} else {
			writer_compact(tree->writer);
		}
		tree->memory.allocations_left = UINT64_MAX;
		failed += tree_top(tree) == before;
		tree_check(tree);
	}
	CHECK(failed != 0);
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->prefixes[i].is_in)
			tree_remove(tree, &tree->prefixes[i]);
	tree_end(tree);
}

#define TREE_RANGES 300u

static struct table_match
tree_range(const uint64_t *ends)
{
	static const uint64_t none = 0;

	return (struct table_match){ .value = &ends[0], .mask = &none, .high = &ends[1] };
}

/* Ranges that come and go leave no cuts behind for ever, wherever leaves began. */
static void
tree_forgets(void)
{
	static const struct key_field field = { .name = "range", .width = 64, .shift = 0, .kind = MATCH_RANGE };
	struct tree *tree = tree_make(64);
	struct table_host host = test_table_host(&tree->memory);
	uint64_t ranges[TREE_RANGES][2] = { { 0 } };
	uint64_t most = 0;

	writer_destroy(tree->writer);
	tree->descriptor.fields = &field;
	tree->descriptor.field_count = 1;
	tree->writer = writer_create(&tree->descriptor, &host, NULL);
	for (uint32_t i = 0; i < 20 * TREE_RANGES; i++) {
		uint64_t *range = ranges[i < TREE_RANGES ? i : tree_draw(tree, TREE_RANGES)];
		const struct table_match match = tree_range(range);
		const struct test_record record = test_record(i);

		if (i >= TREE_RANGES)
			CHECK(writer_delete(tree->writer, &match) == TABLE_OK);
		range[0] = test_random(&tree->random);
		range[1] = range[0] + test_random(&tree->random) % (UINT64_MAX - range[0]);
		CHECK(writer_insert(tree->writer, &match, &record, NULL) == TABLE_OK);
		most = tree_top(tree)->height > most ? tree_top(tree)->height : most;
	}
	CHECK(most <= 3);
	for (uint32_t i = 0; i < TREE_RANGES; i++) {
		const struct table_match match = tree_range(ranges[i]);

		CHECK(writer_delete(tree->writer, &match) == TABLE_OK);
	}
	writer_compact(tree->writer);
	CHECK(tree_top(tree)->height == 0 && tree_windows(tree) == 0);
	tree_end(tree);
}

void
test_table_btree(void)
{
	tree_lives(64);
	tree_lives(128);
	tree_is_narrow(32);
	tree_is_narrow(20);
	tree_runs_out(64);
	tree_runs_out(128);
	tree_forgets();
}
