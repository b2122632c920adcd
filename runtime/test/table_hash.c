/* Hash tables spread keys that are not random: as evenly as random ones, or nearly so. Real keys are numbered from some address on, at fixed distances, or made
 * of two numbers. */
#include <string.h>

#include "table/exact.h"
#include "table/exact60.h"
#include "table/perfect.h"
#include "table/records.h"
#include "table/rules.h"
#include "table_host.h"
#include "test.h"

#define HASH_KEYS 20000u
#define HASH_KEYS_MOST 60000u	/* for arrays that are not small even if they hold nothing */
#define HASH_MANY 16384u
#define HASH_WIDTH 28u	/* bits that differ */

#define HASH_LIMBS_MOST 5u

static uint64_t
hash_mask(uint32_t bits)
{
	return UINT64_MAX >> (64 - bits);
}

/* Inserts a key whose limbs are whole, but for the first one of `key_bits`, if there is no other. */
static enum table_status
hash_insert(struct writer *writer, const uint64_t *key, uint32_t key_bits)
{
	uint64_t mask[HASH_LIMBS_MOST];
	const struct test_record record = test_record((uint32_t)(key[0] % 9));

	memset(mask, 0xff, sizeof(mask));
	mask[0] = key_bits < 64 ? hash_mask(key_bits) : UINT64_MAX;
	return writer_insert(writer, &(const struct table_match){ .value = key, .mask = mask }, &record, NULL);
}

static struct writer *
hash_writer(struct test_host *memory, uint32_t structure, uint32_t key_bits)
{
	const struct table_descriptor descriptor = test_descriptor(structure, key_bits, 0, 0);
	const struct table_host host = test_table_host(memory);

	return writer_create(&descriptor, &host, NULL);
}

/* Key number `i` of each kind. */
typedef uint64_t hash_kind(uint64_t i, uint32_t parameter);

/* Numbered, at a distance. */
static uint64_t
hash_distant(uint64_t i, uint32_t distance)
{
	return 0x020000000000 + i * distance;
}

/* Numbered, above bits that are always zero. */
static uint64_t
hash_shifted(uint64_t i, uint32_t shift)
{
	return i << shift;
}

/* Two numbers, of which the lower one takes ten bits. */
static uint64_t
hash_of_two(uint64_t i, uint32_t shift)
{
	return (i & 0x3ff) | i >> 10 << shift;
}

/* Scattered by an odd multiplier, within 40 bits. */
static uint64_t
hash_scattered(uint64_t i, uint32_t seed)
{
	uint64_t random = seed;
	const uint64_t multiplier = test_random(&random) << 20 ^ test_random(&random);

	return 0x020000000000 | ((i * (multiplier | 1)) & hash_mask(40));
}

/* Numbered in one of several limbs, the others being alike. */
static void
hash_key_of_limbs(uint64_t *key, uint64_t i, uint32_t limbs, uint32_t place)
{
	for (uint32_t limb = 0; limb < limbs; limb++)
		key[limb] = limb == place ? i : 0x1234567 + limb;
}

static uint32_t
hash_is_first(const struct table *table, uint32_t structure, const uint64_t *key, uint32_t limbs)
{
	const struct exact48 *narrow = (const void *)table;
	const struct exact60 *hashed = (const void *)table;
	const struct exact *wide = (const void *)table;
	uint64_t hash;

	if (structure == STRUCTURE_EXACT48) {
		hash = exact48_hash(narrow, key, 1);
		return exact48_find_in(narrow, exact48_address(narrow, hash), hash, key, 1) != 0;
	}
	if (structure == STRUCTURE_EXACT60) {
		hash = exact60_hash(hashed, key, 1);
		return exact60_find_in(hashed, exact60_address(hashed, hash), hash, key, 1) != 0;
	}
	hash = exact_hash(wide, key, limbs);
	return exact_find_in(wide, exact_address(wide, hash), hash, key, limbs) != 0;
}

/* Whether one who does not find the key in its first bucket looks into the second. */
static uint32_t
hash_goes_on(const struct table *table, uint32_t structure, const uint64_t *key)
{
	const struct exact48 *narrow = (const void *)table;
	const struct exact60 *hashed = (const void *)table;
	const struct exact *wide = (const void *)table;

	if (structure == STRUCTURE_EXACT48)
		return exact48_overflowed(exact48_address(narrow, exact48_hash(narrow, key, 1))) != 0;
	if (structure == STRUCTURE_EXACT60)
		return exact60_overflowed(exact60_address(hashed, exact60_hash(hashed, key, 1))) != 0;
	return exact_overflowed(exact_address(wide, exact_hash(wide, key, 1))) != 0;
}

static uint32_t
hash_count(uint32_t structure)
{
	return structure == STRUCTURE_EXACT60 ? HASH_KEYS_MOST : HASH_KEYS;
}

/* Of as many keys of `limbs` limbs, how many of a thousand are in their second buckets in a table that is as small as can be. */
static uint32_t
hash_seconds(uint32_t structure, uint32_t key_bits, const uint64_t *keys, uint32_t limbs)
{
	const uint32_t count = hash_count(structure);
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = hash_writer(&memory, structure, key_bits);
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++)
		CHECK(hash_insert(writer, keys + (size_t)i * limbs, key_bits) == TABLE_OK);
	writer_compact(writer);
	for (uint32_t i = 0; i < count; i++)
		first += hash_is_first(writer_table(writer), structure, keys + (size_t)i * limbs, limbs);
	writer_destroy(writer);
	return (count - first) * 1000 / count;
}

/* The same for random keys: the fewer slots a line has, the more. */
static uint32_t
hash_expected(uint32_t structure, uint32_t limbs)
{
	return structure != STRUCTURE_EXACT ? 66 : exact_slots(limbs) == 3 ? 219 : 135;
}

static uint64_t hash_keys[HASH_KEYS_MOST * HASH_LIMBS_MOST];

static void
hash_check(uint32_t structure, uint32_t key_bits, hash_kind kind, uint32_t parameter)
{
	for (uint32_t i = 0; i < hash_count(structure); i++)
		hash_keys[i] = kind(i, parameter);
	CHECK(hash_seconds(structure, key_bits, hash_keys, 1) < hash_expected(structure, 1) * 5 / 4);
}

static void
hash_spreads_limbs(uint32_t limbs)
{
	for (uint32_t place = 0; place < limbs; place++) {
		for (uint32_t i = 0; i < HASH_KEYS; i++)
			hash_key_of_limbs(hash_keys + (size_t)i * limbs, i, limbs, place);
		CHECK(hash_seconds(STRUCTURE_EXACT, 64 * limbs, hash_keys, limbs) < hash_expected(STRUCTURE_EXACT, limbs) * 5 / 4);
	}
}

static void
hash_spreads(uint32_t structure, uint32_t key_bits)
{
	const uint64_t last = hash_count(structure) - 1, mask = hash_mask(key_bits);

	for (uint32_t distance = 1; distance < 5000; distance += distance / 2 + 1)
		hash_check(structure, key_bits, hash_distant, distance);
	for (uint32_t shift = 0; last <= mask >> shift; shift++)
		hash_check(structure, key_bits, hash_shifted, shift);
	for (uint32_t shift = 10; last >> 10 <= mask >> shift; shift++)
		hash_check(structure, key_bits, hash_of_two, shift);
	for (uint32_t seed = 1; seed < 20; seed++)
		hash_check(structure, key_bits, hash_scattered, seed);
}

/* In a dense table many keys look into two buckets. When its entries have gone, in another order than they came, each looks into one, though the array has
 * stayed: nothing is found wrongly otherwise, but ever slower. */
static void
hash_returns(uint32_t structure, uint32_t key_bits)
{
	const uint32_t count = hash_count(structure);
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = hash_writer(&memory, structure, key_bits);
	const uint64_t mask = hash_mask(key_bits);
	uint32_t before = 0, after = 0;

	for (uint32_t i = 0; i < count; i++) {
		hash_keys[i] = hash_scattered(i, 1);
		CHECK(hash_insert(writer, &hash_keys[i], key_bits) == TABLE_OK);
	}
	writer_compact(writer);
	for (uint32_t i = 0; i < count; i++)
		before += hash_goes_on(writer_table(writer), structure, &hash_keys[i]);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t key = hash_keys[(uint64_t)i * 7919 % count];

		CHECK(writer_delete(writer, &(const struct table_match){ .value = &key, .mask = &mask }) == TABLE_OK);
	}
	for (uint32_t i = 0; i < count; i++)
		after += hash_goes_on(writer_table(writer), structure, &hash_keys[i]);
	CHECK(before > count / 20);
	CHECK(after == 0);
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

/* Keys drawn at random, alike but for few adjacent bits: wherever in the key these are, a table of ordinary size has room for them. */
static void
hash_few_bits(uint32_t structure, uint32_t key_bits)
{
	for (uint32_t shift = 0; shift + HASH_WIDTH <= key_bits; shift++) {
		struct test_host memory = { .allocations_left = UINT64_MAX };
		struct writer *writer = hash_writer(&memory, structure, key_bits);
		uint64_t random = shift + 1;

		for (uint32_t i = 0; i < HASH_MANY; i++) {
			const uint64_t key = test_random(&random) >> (64 - HASH_WIDTH) << shift;
			const enum table_status status = hash_insert(writer, &key, key_bits);

			CHECK(status == TABLE_OK || status == TABLE_EXISTS);
			if (status != TABLE_OK && status != TABLE_EXISTS)
				break;
		}
		CHECK(memory.bytes < HASH_MANY * 200);	/* two thirds of it are needed; an array that has doubled once more goes beyond it */
		writer_destroy(writer);
	}
}

/* Of 2^16 hashes, how many differ in their low 16 bits: some 41,000 if they are random. */
static uint32_t
hash_positions(const uint64_t *hashes)
{
	static uint8_t seen[1u << 16];
	uint32_t count = 0;

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < 1u << 16; i++) {
		count += seen[hashes[i] & 0xffff] == 0;
		seen[hashes[i] & 0xffff] = 1;
	}
	return count;
}

/* Records and rules that differ in 16 bits have positions of their own, wherever these bits are. The writer alone looks them up: nothing is found wrongly
 * otherwise, but a million insertions take minutes. */
static void
hash_spreads_contents(void)
{
	static uint64_t of_records[1u << 16], of_rules[1u << 16];
	const struct records records = { .bytes = 16 };
	const struct rules rules = { .limbs = 2 };

	for (uint32_t shift = 0; shift <= 112; shift++) {
		for (uint64_t i = 0; i < 1u << 16; i++) {
			const uint64_t low = shift < 64 ? i << shift : 0;
			const uint64_t high = shift >= 64 ? i << (shift - 64) : shift > 48 ? i >> (64 - shift) : 0;
			const uint64_t content[2] = { 0x1234 ^ low, 0xff ^ high };

			of_records[i] = records_hash(&records, content);
			of_rules[i] = rules_hash(&rules, 24, content);
		}
		CHECK(hash_positions(of_records) > 35000);
		CHECK(hash_positions(of_rules) > 35000);
	}
}

/* Keys 0 and 1 have hashes that differ in their lowest 16 bits alone, keys 0 and 2 in their upper 32. */
static uint64_t
hash_neighbour(uint64_t i)
{
	static const uint64_t first[] = { 2, 0x7102aa0ebbe9, 0x000100000002 };

	return i < 3 ? first[i] : hash_distant(i, 7);
}

/* A perfect hash has a slot for each key, whichever bits of their hashes are equal. */
static void
hash_perfect_neighbours(void)
{
	struct test_host memory = { .allocations_left = UINT64_MAX };
	struct writer *writer = hash_writer(&memory, STRUCTURE_PERFECT, 48);

	CHECK((hash_neighbour(0) * PERFECT_MULTIPLIER ^ hash_neighbour(1) * PERFECT_MULTIPLIER) >> 16 == 0);
	CHECK((uint32_t)(hash_neighbour(0) * PERFECT_MULTIPLIER ^ hash_neighbour(2) * PERFECT_MULTIPLIER) == 0);
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t key = hash_neighbour(i);

		CHECK(hash_insert(writer, &key, 48) == TABLE_OK);
	}
	for (uint64_t i = 0; i < 40; i++) {
		const uint64_t key = hash_neighbour(i);
		const uint32_t number = writer_lookup(writer, &key);

		CHECK(number != 0 && ((const struct test_record *)table_record(writer_table(writer), number))->value == key % 9);
	}
	writer_destroy(writer);
	CHECK(memory.bytes == 0);
}

void
test_table_hash(void)
{
	hash_perfect_neighbours();
	hash_spreads_contents();
	hash_spreads(STRUCTURE_EXACT48, 48);
	hash_spreads(STRUCTURE_EXACT60, 60);
	hash_spreads(STRUCTURE_EXACT, 48);
	hash_spreads_limbs(2);
	for (uint32_t limbs = 3; limbs <= HASH_LIMBS_MOST; limbs++)
		hash_spreads_limbs(limbs);
	hash_returns(STRUCTURE_EXACT48, 48);
	hash_returns(STRUCTURE_EXACT60, 60);
	hash_returns(STRUCTURE_EXACT, 64);
	hash_few_bits(STRUCTURE_EXACT48, 48);
	hash_few_bits(STRUCTURE_EXACT60, 60);
	hash_few_bits(STRUCTURE_EXACT, 64);
}
