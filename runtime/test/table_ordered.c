/* Rules in order, looked up by groups of all sizes, while there come to be more of them, or fewer: what is compared side by side, what is left of a group,
 * and where one vector or one method of comparing ends. No rule fixes all of a chunk, so that none is in a bucket. */
#include <string.h>

#include "table_host.h"
#include "test.h"
#include "wide.h"

#define ORDERED_RULES 1100u
#define ORDERED_LIMBS 3u
#define ORDERED_BITS 0x1428142814281428ull	/* of a limb, which distinguish rules */

struct ordered_rule {
	uint64_t value[ORDERED_LIMBS];
	uint64_t mask[ORDERED_LIMBS];
	uint64_t high[ORDERED_LIMBS];
};

struct ordered {
	struct table_descriptor descriptor;
	struct writer *writer;
	struct ordered_rule rules[ORDERED_RULES];
	uint32_t first;		/* rules before it are not in the table */
	uint32_t gone;		/* one more than a rule that is not in it either; 0: none */
	uint32_t count;
	uint64_t random;
};

static uint64_t
ordered_field(const uint64_t *limbs, const struct key_field *field)
{
	return wide_slice64(limbs, 64 * ORDERED_LIMBS, field->shift, field->width);
}

static void
ordered_set(uint64_t *limbs, const struct key_field *field, uint64_t value)
{
	for (uint32_t i = 0; i < field->width; i++) {
		const uint32_t bit = field->shift + i;

		limbs[bit / 64] &= ~((uint64_t)1 << bit % 64);
		limbs[bit / 64] |= (value >> i & 1) << bit % 64;
	}
}

/* Few bits and ends of ranges differ, so that there are few classes, and no range is one value. */
static struct ordered_rule
ordered_rule(struct ordered *ordered)
{
	const uint32_t key_bits = ordered->descriptor.key_bits;
	struct ordered_rule rule = { { 0 }, { 0 }, { 0 } };

	for (uint32_t limb = 0; limb * 64 < key_bits; limb++) {
		rule.mask[limb] = ORDERED_BITS & test_random(&ordered->random) & test_random(&ordered->random);
		if (key_bits - limb * 64 < 64)
			rule.mask[limb] &= bits_mask(key_bits - limb * 64);
		rule.value[limb] = rule.mask[limb] & test_random(&ordered->random);
	}
	for (uint32_t i = 0; i < ordered->descriptor.field_count; i++) {
		const struct key_field *field = &ordered->descriptor.fields[i];
		const uint64_t eighth = (uint64_t)1 << (field->width - 3);
		const uint64_t low = test_random(&ordered->random) % 4, more = test_random(&ordered->random) % 4 + 1;

		ordered_set(rule.mask, field, 0);
		ordered_set(rule.value, field, low * eighth);
		ordered_set(rule.high, field, (low + more) * eighth - 1);
	}
	return rule;
}

/* A key like one of the rules, and in each range at an end of one of theirs, or next to it. */
static void
ordered_key(struct ordered *ordered, uint64_t *key)
{
	const uint32_t key_bits = ordered->descriptor.key_bits, number = (uint32_t)(test_random(&ordered->random) % (ordered->count + 1));

	for (uint32_t limb = 0; limb < ordered->descriptor.key_limbs; limb++) {
		key[limb] = test_random(&ordered->random);
		if (number < ordered->count)
			key[limb] = (key[limb] & ~ordered->rules[number].mask[limb]) | ordered->rules[number].value[limb];
		if (key_bits - limb * 64 < 64)
			key[limb] &= bits_mask(key_bits - limb * 64);
	}
	for (uint32_t i = 0; i < ordered->descriptor.field_count && ordered->count != 0; i++) {
		const struct key_field *field = &ordered->descriptor.fields[i];
		const struct ordered_rule *rule = &ordered->rules[number % ordered->count];
		const uint64_t draw = test_random(&ordered->random), end = draw % 2 ? ordered_field(rule->value, field) : ordered_field(rule->high, field);

		ordered_set(key, field, (end + (draw >> 8) % 8 / 7 - (draw >> 16) % 8 / 7) & bits_mask(field->width));
	}
}

/* The number of the first rule that matches, from 1 on; 0: none. */
static uint32_t
ordered_expected(const struct ordered *ordered, const uint64_t *key)
{
	for (uint32_t number = ordered->first; number < ordered->count; number++) {
		const struct ordered_rule *rule = &ordered->rules[number];
		uint64_t differ = number + 1 == ordered->gone, outside = 0;

		for (uint32_t limb = 0; limb < ordered->descriptor.key_limbs; limb++)
			differ |= (key[limb] ^ rule->value[limb]) & rule->mask[limb];
		for (uint32_t i = 0; i < ordered->descriptor.field_count; i++) {
			const struct key_field *field = &ordered->descriptor.fields[i];
			const uint64_t held = ordered_field(key, field);

			outside |= held < ordered_field(rule->value, field) || held > ordered_field(rule->high, field);
		}
		if ((differ | outside) == 0)
			return number + 1;
	}
	return 0;
}

static uint32_t
ordered_value(const struct ordered *ordered, uint32_t number)
{
	return ((const struct test_record *)table_record(writer_table(ordered->writer), number))->value;
}

/* Keys in memory of their own, so that reading beyond them is noticed, as is writing beyond what is found. */
static void
ordered_check(struct ordered *ordered)
{
	const uint32_t limbs = ordered->descriptor.key_limbs;
	const struct table *table = writer_table(ordered->writer);
	uint64_t keys[TEST_GROUP_MOST * ORDERED_LIMBS], *copy;
	uint32_t expected[TEST_GROUP_MOST], found[2 * TEST_GROUP_MOST];

	for (uint32_t i = 0; i < TEST_GROUP_MOST; i++) {
		ordered_key(ordered, keys + (size_t)i * limbs);
		expected[i] = ordered_expected(ordered, keys + (size_t)i * limbs);
		CHECK(ordered_value(ordered, test_find(table, keys + (size_t)i * limbs, limbs)) == expected[i]);
	}
	for (uint32_t count = 1; count <= TEST_GROUP_MOST; count++) {
		copy = malloc(count * limbs * sizeof(*copy));
		memcpy(copy, keys, count * limbs * sizeof(*copy));
		memset(found, 0xff, sizeof(found));
		test_find_group(table, copy, limbs, count, found);
		CHECK(found[count] == UINT32_MAX);
		for (uint32_t i = 0; i < count; i++)
			CHECK(ordered_value(ordered, found[i]) == expected[i]);
		free(copy);
	}
}

/* Whether something may end at so many rules: a block, a vector of a set or more of them, what is compared without buckets, or side by side. */
static int
ordered_is_edge(uint32_t count)
{
	return count < 18 || (count + 1) % 64 < 3 || count == 48 || count == 49 || count % 100 == 0;
}

static struct table_match
ordered_match(const struct ordered *ordered, uint32_t number)
{
	const struct ordered_rule *rule = &ordered->rules[number];

	return (struct table_match){ .value = rule->value, .mask = rule->mask, .high = rule->high, .priority = ORDERED_RULES - number };
}

static void
ordered_insert(struct ordered *ordered, uint32_t number)
{
	const struct table_match match = ordered_match(ordered, number);
	const struct test_record record = test_record(number + 1);

	CHECK(writer_insert(ordered->writer, &match, &record, NULL) == TABLE_OK);
}

static void
ordered_delete(struct ordered *ordered, uint32_t number)
{
	const struct table_match match = ordered_match(ordered, number);

	CHECK(writer_delete(ordered->writer, &match) == TABLE_OK);
}

static void
ordered_replace(struct ordered *ordered, uint32_t number, struct ordered_rule rule)
{
	ordered_delete(ordered, number);
	ordered->rules[number] = rule;
	ordered_insert(ordered, number);
}

/* Rules behind all others. */
static void
ordered_append(struct ordered *ordered)
{
	while (ordered->count < ORDERED_RULES) {
		if (ordered_is_edge(ordered->count))
			ordered_check(ordered);
		ordered->rules[ordered->count] = ordered_rule(ordered);
		ordered_insert(ordered, ordered->count++);
	}
}

/* The first of all go, and come again before all others: what is stored of each rule moves to the next place. */
static void
ordered_move(struct ordered *ordered)
{
	while (ordered->count - ordered->first > 200) {
		ordered_delete(ordered, ordered->first++);
		if (ordered_is_edge(ordered->count - ordered->first))
			ordered_check(ordered);
	}
	while (ordered->first > 0) {
		ordered_insert(ordered, --ordered->first);
		if (ordered_is_edge(ordered->count - ordered->first))
			ordered_check(ordered);
	}
}

/* A rule that allows every key, before others, which change meanwhile. */
static void
ordered_cover(struct ordered *ordered)
{
	static const uint32_t places[] = { 0, 100, 254, 255, 256, 700 };
	const uint32_t behind = ORDERED_RULES - 50;
	struct ordered_rule all = { .mask = { 0 } };

	for (uint32_t i = 0; i < ordered->descriptor.field_count; i++)
		ordered_set(all.high, &ordered->descriptor.fields[i], UINT64_MAX);
	for (uint32_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct ordered_rule covered = ordered->rules[places[i]];
		const struct test_record other = test_record(0), record = test_record(behind + 1), same = test_record(places[i] + 1);
		struct table_match match;

		ordered_replace(ordered, places[i], all);
		ordered_check(ordered);
		ordered_replace(ordered, behind, ordered_rule(ordered));
		match = ordered_match(ordered, behind);
		CHECK(writer_modify(ordered->writer, &match, &other) == TABLE_OK);
		ordered_check(ordered);
		CHECK(writer_modify(ordered->writer, &match, &record) == TABLE_OK);
		match = ordered_match(ordered, places[i]);
		CHECK(writer_modify(ordered->writer, &match, &same) == TABLE_OK);
		ordered_check(ordered);
		ordered_delete(ordered, places[i]);
		ordered->gone = places[i] + 1;
		ordered_check(ordered);
		ordered->gone = 0;
		ordered->rules[places[i]] = covered;
		ordered_insert(ordered, places[i]);
		ordered_check(ordered);
	}
}

static void
ordered_run(uint32_t structure, uint32_t key_bits, const struct key_field *ranges, uint32_t range_count)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	const struct table_host host = test_table_host(&memory);
	struct ordered *ordered = calloc(1, sizeof(*ordered));

	ordered->descriptor = test_descriptor(structure, key_bits, 0, 0);
	ordered->descriptor.fields = ranges;
	ordered->descriptor.field_count = range_count;
	ordered->writer = writer_create(&ordered->descriptor, &host, NULL);
	CHECK(ordered->writer != NULL);
	if (ordered->writer != NULL) {
		ordered_append(ordered);
		ordered_move(ordered);
		ordered_cover(ordered);
		writer_destroy(ordered->writer);
	}
	free(ordered);
	CHECK(memory.bytes == 0);
}

void
test_table_ordered(void)
{
	static const struct key_field ranges[] = {
		{ .name = "whole", .width = 16, .shift = 16, .kind = MATCH_RANGE }, { .name = "odd", .width = 9, .shift = 37, .kind = MATCH_RANGE },
		{ .name = "across", .width = 12, .shift = 59, .kind = MATCH_RANGE }, { .name = "wide", .width = 25, .shift = 90, .kind = MATCH_RANGE },
		{ .name = "word", .width = 32, .shift = 115, .kind = MATCH_RANGE },
	};
	/* One in each limb. */
	static const struct key_field neighbours[] = {
		{ .name = "last", .width = 16, .shift = 48, .kind = MATCH_RANGE }, { .name = "first", .width = 16, .shift = 64, .kind = MATCH_RANGE },
	};

	ordered_run(STRUCTURE_SCAN, 30, NULL, 0);
	ordered_run(STRUCTURE_SCAN, 128, NULL, 0);
	ordered_run(STRUCTURE_SCAN, 104, ranges, 2);
	ordered_run(STRUCTURE_SCAN, 104, neighbours, 2);
	ordered_run(STRUCTURE_SCAN, 150, ranges, 5);
	ordered_run(STRUCTURE_BIT_VECTOR, 40, NULL, 0);
	ordered_run(STRUCTURE_BIT_VECTOR, 104, ranges, 2);
	ordered_run(STRUCTURE_BIT_VECTOR, 140, ranges, 3);
	ordered_run(STRUCTURE_TUPLE_SPACE, 104, ranges, 2);
	ordered_run(STRUCTURE_TUPLE_SPACE, 104, neighbours, 2);
}
