/* Grouped lookups: a structure that gains more from a group than from packets one by one has a function
 * `NAME_find_group`. Rules are compared with several keys at a time, trees are descended level by level, and
 * second lines are read after all first ones.
 *
 * Where this is inlined, all parameters are literals or locals of the caller, so unused parts cost nothing. A
 * group's results are what the packets' own lookups would give in any order: each is one lookup, and the entries
 * that a write changes meanwhile are seen before or after it, packet by packet. */
#ifndef BACUS_TABLE_GROUP_H
#define BACUS_TABLE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "table/vectors.h"

#define TABLE_GROUP_MOST 64u	/* packets */
#define TABLE_LINE 64u	/* bytes of a bucket */

struct table_group {
	uint32_t count;
	uint32_t limbs;			/* of a key */
	uint32_t form;			/* of a key, for scan.h: its `scan_form`, or 0 */
	uint32_t walks_ahead;	/* 1: nodes of lpm_trie.h are prefetched before the group reads them */
	uint32_t is_far;	/* 1: first lines were prefetched, so second ones are, too */
	uint32_t pairs;		/* 1: what is prefetched by an address is two lines */
	const uint64_t *keys;
	const uint64_t *hashes;	/* NULL: computed again from the keys where needed */
	const void *const *addresses;	/* NULL: unknown, or from before the last grace period */
	uint32_t *found;		/* numbers of records */
	/* Lines of a newer group: one is prefetched with each lookup of this group. NULL: none. */
	const void *const *requests;
	uint32_t request_count;
	uint32_t request_far;	/* 1: to L2, as this group's own lines were */
	/* Of hash tables whose entries have a record each: those that are found are prefetched, for they are one more
	 * line for each packet. The array may have been replaced since, which only makes the prefetch useless. NULL: none. */
	const uint8_t *records;
	uint32_t record_stride;
};

/* The line behind one. */
static inline const void *
table_next_line(const void *line)
{
	return (const uint8_t *)line + TABLE_LINE;
}

static inline __attribute__((always_inline)) void
table_group_prefetch(const struct table_group *group, size_t i)
{
	const uint8_t *line = group->requests[i];

	for (uint32_t j = 0; j <= group->pairs; j++, line += TABLE_LINE)
		if (group->request_far)
			__builtin_prefetch(line, 0, 2);
		else
			__builtin_prefetch(line, 0, 3);
}

/* The prefetch of each lookup for the newer group. */
static inline __attribute__((always_inline)) void
table_group_request(const struct table_group *group, uint32_t i)
{
	if (group->requests != NULL && i < group->request_count)
		table_group_prefetch(group, i);
}

/* The same for four lookups. */
static inline __attribute__((always_inline)) void
table_group_request_four(const struct table_group *group, uint32_t i)
{
	if (group->requests == NULL)
		return;
	if (__builtin_expect(i + 4 <= group->request_count, 1))
		for (uint32_t j = 0; j < 4; j++)
			table_group_prefetch(group, (size_t)i + j);
	else
		for (uint32_t j = 0; j < 4; j++)
			table_group_request(group, i + j);
}

/* Prefetches for the packets that the newer group has more than this one. */
static inline __attribute__((always_inline)) void
table_group_request_rest(const struct table_group *group)
{
	for (uint32_t i = group->count; group->requests != NULL && i < group->request_count; i++)
		table_group_request(group, i);
}

/* Prefetches the second bucket of a key. */
static inline __attribute__((always_inline)) void
table_group_request_second(const struct table_group *group, const uint8_t *address)
{
	__builtin_prefetch(address, 0, 3);
	if (group->pairs)
		__builtin_prefetch(address + TABLE_LINE, 0, 3);
}

static inline __attribute__((always_inline)) void
table_group_record(const struct table_group *group, uint32_t found)
{
	if (group->records != NULL)
		__builtin_prefetch(group->records + (size_t)found * group->record_stride, 0, 3);
}

/* The lookups of a group in an empty table: nothing is found. Only the newer group's lines are prefetched.
 * Prefetches go on, since the newer group may find the table filled. */
static inline __attribute__((always_inline)) uint64_t
table_group_miss(const struct table_group *group)
{
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = 0;
	for (uint32_t i = 0; i < group->request_count; i++)
		table_group_request(group, i);
	return 0;
}

#ifdef TABLE_AVX2
/* Stores the results of four lookups. A bit for each that is 0. */
static inline __attribute__((always_inline)) uint32_t
table_group_found(const struct table_group *group, uint32_t i, __m128i found)
{
	table_group_request_four(group, i);
	_mm_storeu_si128((void *)(group->found + i), found);
	for (uint32_t j = 0; group->records != NULL && j < 4; j++)
		table_group_record(group, group->found[i + j]);
	return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(found, _mm_setzero_si128())));
}
#endif

/* A bit for each packet of the group whose number is at least `least`. AVX2 has no unsigned comparison:
 * max(found, bound) == found is the same. */
static inline __attribute__((always_inline)) uint64_t
table_group_from(const struct table_group *group, uint32_t least)
{
	uint64_t from = 0;
	uint32_t i = 0;

#if defined(TABLE_AVX512)
	const __m512i bound = _mm512_set1_epi32((int)least);

	for (; i + 16 <= group->count; i += 16)
		from |= (uint64_t)_mm512_cmpge_epu32_mask(_mm512_loadu_si512((const void *)(group->found + i)), bound) << i;
#elif defined(TABLE_AVX2)
	const __m256i bound = _mm256_set1_epi32((int)least);

	for (; i + 8 <= group->count; i += 8) {
		const __m256i found = _mm256_loadu_si256((const void *)(group->found + i));
		const __m256i reached = _mm256_cmpeq_epi32(_mm256_max_epu32(found, bound), found);

		from |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(reached)) << i;
	}
#endif
	for (; i < group->count; i++)
		from |= (uint64_t)(group->found[i] >= least) << i;
	return from;
}

/* Extracts this table's part of all results from a joint array, as `table_part` does. */
static inline __attribute__((always_inline)) void
table_group_part(const struct table_group *group, uint32_t shift, uint32_t bits)
{
	const uint32_t ones = ((uint32_t)1 << bits) - 1, count = group->count;
	uint32_t *found = group->found;

	for (uint32_t i = 0; i < count; i++)
		found[i] = found[i] >> shift & ones;
}

/* Odd numbers without pattern: the digits of the golden ratio, and halves of two multipliers of xxHash and
 * lowbias32. Odd, so that multiplication is a permutation of 64-bit (and 60-bit) numbers: no two keys collide
 * before the hash is cut to a bucket. exact60.h undoes it. */
#define TABLE_MULTIPLIER 0x9e3779b97f4a7c15ull
#define TABLE_FINALIZER 0xc2b2ae3d846ca68bull

/* Finalizes a product to a hash. Half of the product alone leaves most buckets empty and overfills others for
 * keys at regular distances. Both halves, multiplied again, are as good for numbered or composed keys as for
 * random ones. */
static inline uint64_t
table_finalize(uint64_t product)
{
	return (product ^ product >> 32) * TABLE_FINALIZER;
}

/* The hash of a key of one limb: the lower half is for the first bucket, the upper one for the second. A
 * permutation: `key ^ key >> 32` keeps the upper half and so can be undone, and both factors are odd. Without
 * that fold, keys that differ only in their upper half would differ only in the product's upper half.
 *
 * A key of 0 has hash 0, in both halves: its two buckets are one. exact48.h depends on it. */
static inline uint64_t
table_hash(uint64_t key)
{
	return table_finalize((key ^ key >> 32) * TABLE_MULTIPLIER);
}

/* The bucket, of `count`, for half of a hash. The upper half of a product in place of a remainder: any number of
 * buckets, without a division. Each bucket has 2^32 / `count` halves of hashes, rounded up or down. */
static inline uint64_t
table_bucket(uint64_t half, uint64_t count)
{
	return (half & UINT32_MAX) * count >> 32;
}

/* The first buckets of four keys: `buckets[table_bucket(table_hash(key), count)]`, each a line. Only the
 * lower half of the hash is computed. Vectors of eight keys gain nothing for lines in L1 and L2, and cost
 * more beyond (1M keys: 14.4 cycles for 12.5, a Xeon with AMX). */
static inline __attribute__((always_inline)) void
table_group_four(const void *buckets, uint64_t count, const uint64_t *keys, const void **addresses)
{
#ifdef TABLE_AVX2
	const __m256i words = _mm256_loadu_si256((const void *)keys), base = _mm256_set1_epi64x((long long)(uintptr_t)buckets);
	const __m256i folded = _mm256_xor_si256(words, _mm256_srli_epi64(words, 32));
#ifdef TABLE_AVX512
	const __m256i product = _mm256_mullo_epi64(folded, _mm256_set1_epi64x((long long)TABLE_MULTIPLIER));
	const __m256i halves = _mm256_xor_si256(product, _mm256_srli_epi64(product, 32));
#else
	/* AVX2 multiplies 32 bits only. With key = k1:k0 and multiplier = m1:m0 (halves), modulo 2^64:
	 *
	 *    product = k0*m0  +  (k0*m1 + k1*m0) << 32
	 *    low      lane: k0*m0, 64 bits
	 *    cross    lane: k1*m0 above k0*m1, 32 bits each
	 *    high     lane, lower half: k0*m1 + k1*m0 + (k0*m0 >> 32), the product's upper half
	 *
	 * Upper halves of `high` and `halves` are garbage, which the 32-bit products below do not read. */
	const uint64_t upper = TABLE_MULTIPLIER >> 32, lower = TABLE_MULTIPLIER & UINT32_MAX;
	const __m256i low = _mm256_mul_epu32(folded, _mm256_set1_epi64x((long long)lower));
	/* Cross terms of the product: low half of the key below, high half above. */
	const __m256i cross = _mm256_mullo_epi32(folded, _mm256_set1_epi64x((long long)(upper | lower << 32)));
	const __m256i high = _mm256_add_epi32(_mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32)), _mm256_srli_epi64(low, 32));
	const __m256i halves = _mm256_xor_si256(high, low);
#endif
	const __m256i hash = _mm256_mullo_epi32(halves, _mm256_set1_epi32((int)(uint32_t)TABLE_FINALIZER));
	const __m256i index = _mm256_srli_epi64(_mm256_mul_epu32(hash, _mm256_set1_epi64x((long long)count)), 32);

	_mm256_storeu_si256((void *)addresses, _mm256_add_epi64(_mm256_slli_epi64(index, 6), base));
#else
	for (uint32_t i = 0; i < 4; i++)
		addresses[i] = (const uint8_t *)buckets + table_bucket(table_hash(keys[i]), count) * TABLE_LINE;
#endif
}

/* The same for any number of keys. */
static inline __attribute__((always_inline)) void
table_group_lines(const void *buckets, uint64_t bucket_count, const uint64_t *keys, const void **addresses, uint32_t count)
{
	uint32_t i = 0;

	for (; i + 4 <= count; i += 4)
		table_group_four(buckets, bucket_count, keys + i, addresses + i);
	for (; i < count; i++)
		addresses[i] = (const uint8_t *)buckets + table_bucket(table_hash(keys[i]), bucket_count) * TABLE_LINE;
}

/* Of keys of one limb: the lines of many are computed at once, to be prefetched. They are of one array; after a grace period they are
 * still good as long as that has not been replaced. `NAME_is_at` compares the size as well as the address: memory of a retired array
 * may be allocated again for a new one. If that has the same size, its lines are the same. */
#define TABLE_GROUP_LINES(NAME)                                                                                                                     \
	struct NAME##_lines {                                                                                                                       \
		const struct NAME##_array *array;                                                                                                   \
		uint64_t bucket_count;	/* when it was taken; it may have gone since */                                                             \
	};                                                                                                                                          \
                                                                                                                                                    \
	static inline struct NAME##_lines                                                                                                           \
	NAME##_lines(const struct NAME *table)                                                                                                      \
	{                                                                                                                                           \
		const struct NAME##_array *array = NAME##_array(table);                                                                             \
                                                                                                                                                    \
		return (struct NAME##_lines){ array, array->bucket_count };                                                                         \
	}                                                                                                                                           \
                                                                                                                                                    \
	static inline int                                                                                                                           \
	NAME##_is_at(const struct NAME *table, const struct NAME##_lines *lines)                                                                    \
	{                                                                                                                                           \
		const struct NAME##_array *array = NAME##_array(table);                                                                             \
                                                                                                                                                    \
		return array == lines->array && array->bucket_count == lines->bucket_count;                                                         \
	}                                                                                                                                           \
                                                                                                                                                    \
	static inline __attribute__((always_inline)) void                                                                                           \
	NAME##_addresses(const struct NAME##_lines *lines, const uint64_t *keys, const void **addresses, uint32_t count)                            \
	{                                                                                                                                           \
		table_group_lines(lines->array->buckets, lines->bucket_count, keys, addresses, count);                                              \
	}

/* `NAME_find_group` of a structure whose keys are in one of two lines: all first ones, then the second ones of the keys that were not there, all of which are
 * prefetched before one is read. For lookups in several tables, the halves are called, so that other lookups overlap with second lines. Which keys were not
 * there cannot be predicted, so one loop over them for the whole group is better than several. The array is taken once, for both halves: where addresses are
 * computed here, all are of the same one, and `NAME_find_second` notices a newer one. The functions that it takes are those below; `NAME_find_four` looks into
 * four keys' first lines and returns a bit for each that is not there: of keys of at most two limbs, `addresses` are known by then. Which array a line belongs
 * to decides whether a second lookup is valid. A first line of an old array, read during this burst, is a consistent state of the table before it was
 * replaced. Its second line is not: the bucket of the same hash is another one in the new array. So `NAME_find_second` checks, and starts over. What a
 * structure has to define for the macros below:
 *
 *    NAME_hash, NAME_array, NAME_first     of a key, of a table, of a hash in an array
 *    NAME_find_in, NAME_find_four          lookups of one key, and of four, in their first lines
 *    NAME_goes_on                          whether a key that was missed there may be in its second line
 *    NAME_address_second, NAME_find_second the second line; the lookup there, in whatever array is current
 */
#define TABLE_GROUP_ADDRESS(NAME)                                                                                                                   \
	static inline __attribute__((always_inline)) uint64_t                                                                                       \
	NAME##_group_hash(const struct NAME *table, const struct table_group *group, uint32_t i)                                                    \
	{                                                                                                                                           \
		return group->hashes != NULL ? group->hashes[i] : NAME##_hash(table, group->keys + (size_t)i * group->limbs, group->limbs);         \
	}                                                                                                                                           \
                                                                                                                                                    \
	static inline __attribute__((always_inline)) const void *                                                                                   \
	NAME##_group_address(const struct NAME *table, const struct NAME##_array *array, const struct table_group *group, uint32_t i)               \
	{                                                                                                                                           \
		return group->addresses != NULL ? group->addresses[i] : NAME##_first(array, NAME##_group_hash(table, group, i));                    \
	}                                                                                                                                           \
                                                                                                                                                    \
	static inline __attribute__((always_inline)) uint32_t                                                                                       \
	NAME##_find_one(const struct NAME *table, const struct NAME##_array *array, const struct table_group *group, uint32_t i)                    \
	{                                                                                                                                           \
		const uint32_t limbs = group->limbs;                                                                                                \
		const uint64_t *key = group->keys + (size_t)i * limbs;                                                                              \
		const void *address = NAME##_group_address(table, array, group, i);                                                                 \
		const uint32_t found = NAME##_find_in(table, address, limbs > 2 ? NAME##_group_hash(table, group, i) : 0, key, limbs);              \
                                                                                                                                                    \
		table_group_request(group, i);                                                                                                      \
		table_group_record(group, found);                                                                                                   \
		group->found[i] = found;                                                                                                            \
		return (uint32_t)(found == 0);                                                                                                      \
	}

#define TABLE_GROUP_SECONDS(NAME)                                                                                                                   \
	/* Of keys that are not in their first lines, those that may be in their second ones, which are prefetched. */                              \
	static inline __attribute__((always_inline)) uint64_t                                                                                       \
	NAME##_group_second(const struct NAME *table, const struct NAME##_array *array, const struct table_group *group, uint64_t missed)           \
	{                                                                                                                                           \
		const uint32_t limbs = group->limbs;                                                                                                \
		uint64_t second = 0;                                                                                                                \
                                                                                                                                                    \
		for (; missed != 0; missed &= missed - 1) {                                                                                         \
			const uint32_t at = (uint32_t)__builtin_ctzll(missed);                                                                      \
                                                                                                                                                    \
			if (!NAME##_goes_on(NAME##_group_address(table, array, group, at), group->keys + (size_t)at * limbs))                       \
				continue;                                                                                                           \
			second |= missed & -missed;                                                                                                 \
			table_group_request_second(                                                                                                 \
				group, NAME##_address_second(table, NAME##_group_hash(table, group, at), group->keys + (size_t)at * limbs));        \
		}                                                                                                                                   \
		return second;                                                                                                                      \
	}                                                                                                                                           \
                                                                                                                                                    \
	/* The second half. */                                                                                                                      \
	static inline __attribute__((always_inline)) void                                                                                           \
	NAME##_find_seconds(const struct NAME *table, const struct NAME##_array *array, const struct table_group *group, uint64_t second)           \
	{                                                                                                                                           \
		const uint32_t limbs = group->limbs;                                                                                                \
                                                                                                                                                    \
		for (; second != 0; second &= second - 1) {                                                                                         \
			const uint32_t at = (uint32_t)__builtin_ctzll(second);                                                                      \
			const void *address = NAME##_group_address(table, array, group, at);                                                        \
			const uint64_t hash = NAME##_group_hash(table, group, at);                                                                  \
                                                                                                                                                    \
			if (!group->is_far && !NAME##_goes_on(address, group->keys + (size_t)at * limbs))                                           \
				continue;                                                                                                           \
			group->found[at] =                                                                                                          \
				NAME##_find_second(table, address, hash, group->keys + (size_t)at * limbs, limbs);                                  \
			table_group_record(group, group->found[at]);                                                                                \
		}                                                                                                                                   \
	}

#define TABLE_GROUP_FIRSTS(NAME)                                                                                                                    \
	/* Where all first lines of a group are: between compares, the vectors' ports would be busy with hashes. */                                 \
	static inline __attribute__((always_inline)) void                                                                                           \
	NAME##_group_lines(const struct NAME *table, const struct NAME##_array *array, const struct table_group *group, const void **addresses)     \
	{                                                                                                                                           \
		if (group->limbs == 1 && group->hashes == NULL)                                                                                     \
			table_group_lines(array->buckets, array->bucket_count, group->keys, addresses, group->count);                               \
		else                                                                                                                                \
			for (uint32_t i = 0; i < group->count; i++)                                                                                 \
				addresses[i] = NAME##_first(array, NAME##_group_hash(table, group, i));                                             \
	}                                                                                                                                           \
                                                                                                                                                    \
	/* The first half. Bits of the packets whose keys may be in their second lines. */                                                          \
	static inline __attribute__((always_inline)) uint64_t                                                                                       \
	NAME##_find_firsts(const struct NAME *table, const struct NAME##_array *array, const struct table_group *asked)                             \
	{                                                                                                                                           \
		_Alignas(TABLE_LINE) const void *made[TABLE_GROUP_MOST];                                                                            \
		struct table_group group = *asked;                                                                                                  \
		uint64_t missed = 0, second;                                                                                                        \
		uint32_t i = 0;                                                                                                                     \
                                                                                                                                                    \
		if (group.addresses == NULL && group.limbs <= 2) {                                                                                  \
			NAME##_group_lines(table, array, &group, made);                                                                             \
			/* Addresses go from vectors to pointers through memory: what else moves them is what compares need. */                     \
			__asm__("" : "+m"(made));                                                                                                   \
			group.addresses = made;                                                                                                     \
		}                                                                                                                                   \
		for (; i + 4 <= group.count; i += 4)                                                                                                \
			missed |= (uint64_t)NAME##_find_four(table, array, &group, i) << i;                                                         \
		for (; i < group.count; i++)                                                                                                        \
			missed |= (uint64_t)NAME##_find_one(table, array, &group, i) << i;                                                          \
		second = group.is_far ? NAME##_group_second(table, array, &group, missed) : missed;                                                 \
		table_group_request_rest(&group);                                                                                                   \
		return second;                                                                                                                      \
	}

#define TABLE_GROUP_HALVES(NAME)                                                                                                                    \
	static inline __attribute__((always_inline)) void                                                                                           \
	NAME##_find_group(const struct NAME *table, const struct table_group *group)                                                                \
	{                                                                                                                                           \
		const struct NAME##_array *array = NAME##_array(table);                                                                             \
                                                                                                                                                    \
		NAME##_find_seconds(table, array, group, NAME##_find_firsts(table, array, group));                                                  \
	}

#define TABLE_GROUP_OF_TWO(NAME)  \
	TABLE_GROUP_SECONDS(NAME) \
	TABLE_GROUP_FIRSTS(NAME)  \
	TABLE_GROUP_HALVES(NAME)

#endif
