/* Every structure against a list of entries with linear search: the same random insertions, changes,
 * deletions and lookups. */
#include <string.h>

#include "table_host.h"
#include "test.h"
#include "wide.h"

#define MODEL_LIMBS 5u
#define MODEL_ENTRIES 600u
#define MODEL_RESERVED 60000u	/* entries for which no structure's first array is large enough */

struct model_entry {
	uint64_t value[MODEL_LIMBS];
	uint64_t mask[MODEL_LIMBS];
	uint64_t high[MODEL_LIMBS];
	uint32_t priority;
	uint64_t order;
	uint32_t record;
	uint32_t handle;
};

struct model {
	struct table_descriptor descriptor;
	const struct key_field *ranges;
	uint32_t range_count;
	uint32_t spread;	/* bits of a key that vary: few, so that entries meet */
	uint32_t uncompressed;	/* a trie with a node for every six bits */
	struct model_entry entries[MODEL_ENTRIES];
	uint32_t count;
	uint64_t order;
	uint32_t miss;
	uint64_t random;
	struct writer *writer;
};

static int
model_is_dir24_8(const struct model *model)
{
	const uint32_t structure = model->descriptor.structure;

	return structure == STRUCTURE_DIR24_8 || structure == STRUCTURE_DIR24_8_U16 || structure == STRUCTURE_DIR24_8_U8;
}

static void
model_key(struct model *model, uint64_t *key)
{
	const uint32_t bits = model->descriptor.key_bits;

	memset(key, 0, MODEL_LIMBS * sizeof(*key));
	for (uint32_t i = 0; i < model->spread; i++) {
		const uint32_t bit = (uint32_t)((uint64_t)i * bits / model->spread);

		key[bit / 64] |= (test_random(&model->random) & 1) << bit % 64;
	}
}

static void
model_prefix(const struct model *model, uint32_t length, uint64_t *mask)
{
	memset(mask, 0, MODEL_LIMBS * sizeof(*mask));
	for (uint32_t bit = model->descriptor.key_bits - length; bit < model->descriptor.key_bits; bit++)
		mask[bit / 64] |= (uint64_t)1 << bit % 64;
}

static int
model_field_bit(const struct model *model, uint32_t bit)
{
	for (uint32_t i = 0; i < model->range_count; i++)
		if (bit >= model->ranges[i].shift && bit < model->ranges[i].shift + model->ranges[i].width)
			return 1;
	return 0;
}

static void
model_range(struct model *model, const struct key_field *field, struct model_entry *entry)
{
	uint64_t low = test_random(&model->random) & bits_mask(field->width), high = test_random(&model->random) & bits_mask(field->width);

	if (low > high) {
		const uint64_t other = low;

		low = high;
		high = other;
	}
	for (uint32_t i = 0; i < field->width; i++) {
		const uint32_t bit = field->shift + i;

		entry->value[bit / 64] &= ~((uint64_t)1 << bit % 64);
		entry->value[bit / 64] |= (low >> i & 1) << bit % 64;
		entry->high[bit / 64] |= (high >> i & 1) << bit % 64;
		entry->mask[bit / 64] &= ~((uint64_t)1 << bit % 64);
	}
}

/* A match for the table, as it will be given back. */
static void
model_match(struct model *model, struct model_entry *entry)
{
	const uint32_t bits = model->descriptor.key_bits;
	uint32_t least;

	memset(entry, 0, sizeof(*entry));
	model_key(model, entry->value);
	switch (test_matching(&model->descriptor)) {
	case TEST_EXACT:
		model_prefix(model, bits, entry->mask);
		break;
	case TEST_PRIORITISED:
		model_key(model, entry->mask);
		if (test_random(&model->random) % 2)
			model_prefix(model, bits, entry->mask);
		entry->priority = (uint32_t)(test_random(&model->random) % 4);
		break;
	case TEST_PREFIX:
		/* Short prefixes cover millions of entries of dir24_8, so there they are rare. */
		least = model_is_dir24_8(model) && bits > 16 && test_random(&model->random) % 128 != 0 ? bits - 16 : 0;
		model_prefix(model, least + (uint32_t)(test_random(&model->random) % (bits - least + 1)), entry->mask);
		break;
	}
	for (uint32_t i = 0; i < MODEL_LIMBS; i++)
		entry->value[i] &= entry->mask[i];
	for (uint32_t i = 0; i < model->range_count; i++)
		model_range(model, &model->ranges[i], entry);
}

static int
model_range_matches(const struct key_field *field, const struct model_entry *entry, const uint64_t *key)
{
	const uint64_t held = wide_slice64(key, 64 * MODEL_LIMBS, field->shift, field->width);

	return held >= wide_slice64(entry->value, 64 * MODEL_LIMBS, field->shift, field->width) &&
	       held <= wide_slice64(entry->high, 64 * MODEL_LIMBS, field->shift, field->width);
}

static int
model_matches(const struct model *model, const struct model_entry *entry, const uint64_t *key)
{
	for (uint32_t i = 0; i < MODEL_LIMBS; i++)
		if ((key[i] ^ entry->value[i]) & entry->mask[i])
			return 0;
	for (uint32_t i = 0; i < model->range_count; i++)
		if (!model_range_matches(&model->ranges[i], entry, key))
			return 0;
	return 1;
}

static uint32_t
model_weight(const struct model_entry *entry)
{
	uint32_t weight = 0;

	for (uint32_t i = 0; i < MODEL_LIMBS; i++)
		weight += (uint32_t)__builtin_popcountll(entry->mask[i]);
	return weight;
}

static const struct model_entry *
model_lookup(const struct model *model, const uint64_t *key)
{
	const struct model_entry *best = NULL;

	for (uint32_t i = 0; i < model->count; i++) {
		const struct model_entry *entry = &model->entries[i];

		if (!model_matches(model, entry, key))
			continue;
		if (best == NULL)
			best = entry;
		else if (test_matching(&model->descriptor) != TEST_PRIORITISED)
			best = model_weight(entry) > model_weight(best) ? entry : best;
		else if (entry->priority > best->priority || (entry->priority == best->priority && entry->order < best->order))
			best = entry;
	}
	return best;
}

static struct model_entry *
model_same(struct model *model, const struct model_entry *wanted)
{
	for (uint32_t i = 0; i < model->count; i++) {
		struct model_entry *entry = &model->entries[i];

		if (memcmp(entry->value, wanted->value, sizeof(entry->value)) == 0 && memcmp(entry->mask, wanted->mask, sizeof(entry->mask)) == 0 &&
		    memcmp(entry->high, wanted->high, sizeof(entry->high)) == 0 && entry->priority == wanted->priority)
			return entry;
	}
	return NULL;
}

static struct table_match
model_given(const struct model_entry *entry)
{
	return (struct table_match){ .value = entry->value, .mask = entry->mask, .high = entry->high, .priority = entry->priority };
}

static void
model_insert(struct model *model, struct model_entry *entry, uint32_t value)
{
	const struct test_record record = test_record(value);
	const struct table_match match = model_given(entry);
	const enum table_status status = writer_insert(model->writer, &match, &record, &entry->handle);

	if (model_same(model, entry) != NULL) {
		CHECK(status == TABLE_EXISTS);
	} else if (model->count == writer_capacity(model->writer)) {
		CHECK(status == TABLE_FULL);
	} else {
		CHECK(status == TABLE_OK);
		CHECK((entry->handle != 0) == (model->descriptor.records_own != 0));
		entry->record = value;
		entry->order = model->order++;
		model->entries[model->count++] = *entry;
	}
}

static void
model_modify(struct model *model, const struct model_entry *entry, uint32_t value)
{
	const struct test_record record = test_record(value);
	const struct table_match match = model_given(entry);
	struct model_entry *same = model_same(model, entry);
	const enum table_status status = writer_modify(model->writer, &match, &record);

	CHECK(status == (same != NULL ? TABLE_OK : TABLE_MISSING));
	if (same != NULL)
		same->record = value;
}

static void
model_delete(struct model *model, const struct model_entry *entry)
{
	const struct table_match match = model_given(entry);
	struct model_entry *same = model_same(model, entry);
	const enum table_status status = writer_delete(model->writer, &match);

	CHECK(status == (same != NULL ? TABLE_OK : TABLE_MISSING));
	if (same != NULL)
		*same = model->entries[--model->count];
}

static void
model_check_key(const struct model *model, const uint64_t *key)
{
	const struct model_entry *expected = model_lookup(model, key);
	const uint32_t number = writer_lookup(model->writer, key);
	const struct test_record *record = table_record(writer_table(model->writer), number);

	CHECK(number == test_find(writer_table(model->writer), key, model->descriptor.key_limbs));
	CHECK((number != 0) == (expected != NULL));
	CHECK(test_record_whole(record));
	CHECK(record->value == (expected != NULL ? expected->record : model->miss));
	if (model->descriptor.records_own)
		CHECK(record_counter_index(record) == (expected != NULL ? expected->handle : 0));
}

/* Keys that were looked up one by one, once more as a group. In memory of their own, so that reading beyond them is noticed. */
static void
model_check_group(const struct model *model, const uint64_t *keys, uint32_t count)
{
	const uint32_t limbs = model->descriptor.key_limbs;
	uint64_t *copy = malloc(count * limbs * sizeof(*copy));
	uint32_t found[TEST_GROUP_MOST];

	memcpy(copy, keys, count * limbs * sizeof(*copy));
	test_find_group(writer_table(model->writer), copy, limbs, count, found);
	for (uint32_t i = 0; i < count; i++)
		CHECK(found[i] == writer_lookup(model->writer, keys + (size_t)i * limbs));
	free(copy);
}

static void
model_check_entries(struct model *model)
{
	struct table_entry entry, again;
	uint64_t cursor = 0;
	uint32_t seen = 0;

	while ((cursor = writer_next(model->writer, cursor, &entry)) != 0) {
		struct model_entry key = { .priority = entry.match.priority };
		const struct model_entry *same;

		memcpy(key.value, entry.match.value, model->descriptor.key_limbs * sizeof(uint64_t));
		memcpy(key.mask, entry.match.mask, model->descriptor.key_limbs * sizeof(uint64_t));
		memcpy(key.high, entry.match.high, model->descriptor.key_limbs * sizeof(uint64_t));
		same = model_same(model, &key);
		CHECK(same != NULL);
		CHECK(same == NULL || (same->record == ((const struct test_record *)entry.record)->value && same->handle == entry.handle));
		if (entry.handle != 0) {
			CHECK(writer_find_handle(model->writer, entry.handle, &again) == TABLE_OK);
			CHECK(again.number == entry.number);
		}
		seen++;
	}
	CHECK(seen == model->count);
	CHECK(writer_count(model->writer) == model->count);
}

/* A key that an entry matches, in half of the cases. */
static void
model_probe(struct model *model, uint64_t *key)
{
	model_key(model, key);
	if (model->count != 0 && test_random(&model->random) % 2) {
		const struct model_entry *entry = &model->entries[test_random(&model->random) % model->count];

		for (uint32_t limb = 0; limb < MODEL_LIMBS; limb++)
			key[limb] = (key[limb] & ~entry->mask[limb]) | (entry->value[limb] & entry->mask[limb]);
	} else {
		for (uint32_t bit = 0; bit < model->descriptor.key_bits; bit++)
			if (model_field_bit(model, bit) && test_random(&model->random) % 2)
				key[bit / 64] ^= (uint64_t)1 << bit % 64;
	}
}

/* Groups of all sizes; now and then, for all that they find is looked up singly as well. */
static void
model_probe_group(struct model *model)
{
	const uint32_t limbs = model->descriptor.key_limbs, count = (uint32_t)(test_random(&model->random) % (TEST_GROUP_MOST + 1));
	uint64_t keys[TEST_GROUP_MOST * MODEL_LIMBS], key[MODEL_LIMBS];

	if (test_random(&model->random) % 8 != 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		model_probe(model, key);
		memcpy(keys + (size_t)i * limbs, key, limbs * sizeof(*key));
	}
	model_check_group(model, keys, count);
}

static void
model_step(struct model *model, uint32_t grow)
{
	struct model_entry entry;
	uint64_t key[MODEL_LIMBS];

	model_match(model, &entry);
	if (model->count != 0 && test_random(&model->random) % 2)
		entry = model->entries[test_random(&model->random) % model->count];
	switch (test_random(&model->random) % 8) {
	case 0:
		model_modify(model, &entry, (uint32_t)test_random(&model->random) % 50);
		break;
	case 1:
		model->miss = (uint32_t)test_random(&model->random) % 50;
		CHECK(writer_set_default(model->writer, &(const struct test_record){
			.action = model->miss % 7, .value = model->miss, .check = model->miss * 0x9e3779b97f4a7c15ull }) == TABLE_OK);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		if (grow && model->count < MODEL_ENTRIES - 1)
			model_insert(model, &entry, (uint32_t)test_random(&model->random) % 50);
		else
			model_delete(model, &entry);
		break;
	default:
		if (!grow && model->count < MODEL_ENTRIES - 1)
			model_insert(model, &entry, (uint32_t)test_random(&model->random) % 50);
		else
			model_delete(model, &entry);
		break;
	}
	for (uint32_t i = 0; i < 4; i++) {
		model_probe(model, key);
		model_check_key(model, key);
	}
	model_probe_group(model);
}

static void
model_run(struct model *model, uint32_t steps)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	enum table_status status;

	model->writer = writer_create(&model->descriptor, &host, &status);
	CHECK(status == TABLE_OK && model->writer != NULL);
	if (model->writer == NULL)
		return;
	if (model->uncompressed)
		CHECK(writer_compress_paths(model->writer, 0) == TABLE_OK);
	for (uint32_t step = 0; step < steps; step++) {
		model_step(model, step / 1000 % 2 == 0);
		if (step % 500 == 0)
			model_check_entries(model);
		if (step % 1700 == 0)
			writer_compact(model->writer);
		if (step % 1700 == 850 && test_matching(&model->descriptor) == TEST_EXACT)
			CHECK(writer_reserve(model->writer, MODEL_RESERVED) == TABLE_OK);
	}
	CHECK(writer_counter_indices(model->writer) <= (model->descriptor.records_own ? memory.counter_indices : 1));
	writer_clear(model->writer);
	model->count = 0;
	model_check_entries(model);
	writer_destroy(model->writer);
	CHECK(memory.bytes == 0);
}

static const struct key_field acl_ranges[] = {
	{ .name = "source port", .width = 5, .shift = 3, .kind = MATCH_RANGE },
	{ .name = "destination port", .width = 16, .shift = 56, .kind = MATCH_RANGE },
};

static const struct key_field three_ranges[] = {
	{ .name = "wide", .width = 32, .shift = 40, .kind = MATCH_RANGE },
	{ .name = "narrow", .width = 8, .shift = 8, .kind = MATCH_RANGE },
	{ .name = "middle", .width = 17, .shift = 100, .kind = MATCH_RANGE },
};

static const struct key_field port_range[] = { { .name = "port", .width = 16, .shift = 0, .kind = MATCH_RANGE } };
static const struct key_field long_range[] = { { .name = "long", .width = 64, .shift = 0, .kind = MATCH_RANGE } };

static const struct key_field wide_range[] = { { .name = "all", .width = 6, .shift = 0, .kind = MATCH_RANGE } };

void
test_table_model(void)
{
	static const struct {
		uint32_t structure, key_bits, spread, own, size, range_count;
		const struct key_field *ranges;
	} cases[] = {
		{ STRUCTURE_EXACT, 8, 8, 0, 0, 0, NULL },	{ STRUCTURE_EXACT, 48, 9, 1, 100, 0, NULL },
		{ STRUCTURE_EXACT, 64, 10, 0, 0, 0, NULL },	{ STRUCTURE_EXACT, 104, 10, 1, 0, 0, NULL },
		{ STRUCTURE_EXACT, 128, 9, 0, 300, 0, NULL },	{ STRUCTURE_EXACT, 129, 9, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT, 192, 10, 1, 300, 0, NULL },	{ STRUCTURE_EXACT, 256, 10, 1, 0, 0, NULL },
		{ STRUCTURE_EXACT, 250, 9, 0, 0, 0, NULL },	{ STRUCTURE_EXACT, 257, 9, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT, 320, 10, 1, 200, 0, NULL },	{ STRUCTURE_DIR24_8, 9, 7, 0, 0, 0, NULL },
		{ STRUCTURE_DIR24_8, 26, 8, 0, 200, 0, NULL },	{ STRUCTURE_DIR24_8, 27, 8, 1, 200, 0, NULL },
		{ STRUCTURE_LPM_TRIE, 5, 5, 0, 0, 0, NULL },	{ STRUCTURE_LPM_TRIE, 32, 9, 1, 150, 0, NULL },
		{ STRUCTURE_LPM_TRIE, 128, 7, 0, 0, 0, NULL },	{ STRUCTURE_LPM_TRIE, 150, 4, 1, 0, 0, NULL },
		{ STRUCTURE_LPM_TRIE, 64, 12, 0, 0, 0, NULL },	{ STRUCTURE_LPM_TRIE, 320, 5, 0, 0, 0, NULL },
		{ STRUCTURE_LIST, 8, 6, 0, 0, 0, NULL },	{ STRUCTURE_LIST, 64, 7, 1, 250, 0, NULL },
		{ STRUCTURE_LIST, 104, 7, 0, 0, 2, acl_ranges },	{ STRUCTURE_LIST, 300, 6, 1, 100, 2, acl_ranges },
		{ STRUCTURE_LIST, 6, 4, 0, 0, 1, wide_range },
		{ STRUCTURE_BTREE, 5, 5, 0, 0, 0, NULL },	{ STRUCTURE_BTREE, 32, 9, 1, 150, 0, NULL },
		{ STRUCTURE_BTREE, 64, 12, 0, 0, 0, NULL },	{ STRUCTURE_BTREE, 128, 7, 0, 0, 0, NULL },
		{ STRUCTURE_BTREE, 128, 12, 1, 0, 0, NULL },	{ STRUCTURE_BTREE, 70, 9, 0, 300, 0, NULL },
		{ STRUCTURE_BTREE, 16, 16, 0, 0, 1, port_range },	{ STRUCTURE_BTREE, 64, 9, 1, 0, 1, long_range },
		{ STRUCTURE_BTREE, 6, 6, 0, 40, 1, wide_range },
		{ STRUCTURE_PERFECT, 48, 10, 1, 0, 0, NULL },	{ STRUCTURE_PERFECT, 40, 9, 0, 300, 0, NULL },
		{ STRUCTURE_DIRECT, 12, 10, 0, 0, 0, NULL },	{ STRUCTURE_DIRECT, 20, 9, 1, 300, 0, NULL },
		{ STRUCTURE_COMPARE, 48, 6, 0, 30, 0, NULL },	{ STRUCTURE_COMPARE, 128, 5, 1, 32, 0, NULL },
		{ STRUCTURE_SCAN, 8, 6, 0, 0, 0, NULL },	{ STRUCTURE_SCAN, 64, 7, 1, 250, 0, NULL },
		{ STRUCTURE_SCAN, 104, 7, 0, 0, 2, acl_ranges },	{ STRUCTURE_SCAN, 300, 6, 1, 100, 2, acl_ranges },
		{ STRUCTURE_SCAN, 6, 4, 0, 0, 1, wide_range },	{ STRUCTURE_SCAN, 130, 6, 0, 0, 3, three_ranges },
		{ STRUCTURE_BIT_VECTOR, 8, 6, 0, 0, 0, NULL },	{ STRUCTURE_BIT_VECTOR, 64, 7, 1, 250, 0, NULL },
		{ STRUCTURE_BIT_VECTOR, 104, 7, 0, 0, 2, acl_ranges },	{ STRUCTURE_BIT_VECTOR, 300, 6, 1, 100, 2, acl_ranges },
		{ STRUCTURE_BIT_VECTOR, 6, 4, 0, 0, 1, wide_range },
		{ STRUCTURE_TUPLE_SPACE, 8, 6, 0, 0, 0, NULL },	{ STRUCTURE_TUPLE_SPACE, 64, 7, 1, 250, 0, NULL },
		{ STRUCTURE_TUPLE_SPACE, 104, 7, 0, 0, 2, acl_ranges },	{ STRUCTURE_TUPLE_SPACE, 300, 6, 1, 100, 2, acl_ranges },
		{ STRUCTURE_TUPLE_SPACE, 6, 4, 0, 0, 1, wide_range },	{ STRUCTURE_TUPLE_SPACE, 104, 7, 0, 0, 1, port_range },
		{ STRUCTURE_TUPLE_SPACE, 128, 8, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT48, 48, 10, 1, 0, 0, NULL },	{ STRUCTURE_EXACT48, 48, 12, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT48, 9, 9, 1, 100, 0, NULL },	{ STRUCTURE_EXACT48, 33, 8, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT60, 60, 10, 1, 0, 0, NULL },	{ STRUCTURE_EXACT60, 51, 12, 0, 0, 0, NULL },
		{ STRUCTURE_EXACT60, 9, 9, 1, 100, 0, NULL },
		{ STRUCTURE_DIR24_8_U16, 9, 7, 0, 0, 0, NULL },	{ STRUCTURE_DIR24_8_U16, 32, 8, 1, 200, 0, NULL },
		{ STRUCTURE_DIR24_8_U16, 26, 8, 0, 0, 0, NULL },	{ STRUCTURE_DIR24_8_U8, 8, 8, 1, 200, 0, NULL },
		{ STRUCTURE_DIR24_8_U8, 32, 8, 0, 0, 0, NULL },	{ STRUCTURE_DIR24_8_U8, 27, 8, 1, 200, 0, NULL },
	};

	const size_t count = sizeof(cases) / sizeof(cases[0]);

	/* Then tries again, without path compression. */
	for (size_t number = 0; number < 2 * count; number++) {
		const size_t i = number % count;
		struct model *model;

		if (number >= count && cases[i].structure != STRUCTURE_LPM_TRIE)
			continue;
		model = calloc(1, sizeof(*model));
		model->uncompressed = number >= count;

		model->descriptor = test_descriptor(cases[i].structure, cases[i].key_bits, cases[i].own, cases[i].size);
		model->descriptor.fields = model->ranges = cases[i].ranges;
		model->descriptor.field_count = model->range_count = cases[i].range_count;
		model->spread = cases[i].spread;
		model->random = i;
		model_run(model, 6000);
		if (test_failures != 0)
			fprintf(stderr, "in case %zu\n", i);
		free(model);
		if (test_failures != 0)
			return;
	}
}
