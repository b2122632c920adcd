/* A few exact entries that are all compared with the key in vectors: no hash, and only the first lines are
 * read. At most 32, with keys of at most 128 bits. What readers see never changes except for record numbers;
 * the writer replaces it as a whole. */
#ifndef BACUS_TABLE_COMPARE_H
#define BACUS_TABLE_COMPARE_H

#include "table/table.h"
#include "table/vectors.h"

#define COMPARE_MOST 32u
#define COMPARE_LANES 8u
#define COMPARE_KEY_BITS 128u

/* For each eight entries, their low limbs, then, if keys have two, their high ones. Places behind the last entry hold key 0 and record 0.
 *
 *    block 0   low limbs of entries 0..7 | high limbs of entries 0..7 |   block 1   8..15 | ..
 *              a vector of 512 bits, or two of 256
 */
struct compare_array {
	uint32_t records[COMPARE_MOST];
	uint32_t block_count;
	uint32_t unused[15];
	_Alignas(64) uint64_t keys[][COMPARE_LANES];
};

struct compare {
	struct table table;
	struct compare_array *array;
};

static inline uint64_t
compare_hash(const struct compare *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
compare_address(const struct compare *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* A bit for each of eight keys that is the one looked for. AVX2 compares halves: four bits of each. */
static inline uint32_t
compare_equal(const uint64_t (*keys)[COMPARE_LANES], const uint64_t *key, uint32_t limbs)
{
	uint32_t match = 0xff;

	for (uint32_t limb = 0; limb < limbs; limb++) {
#if defined(TABLE_AVX512)
		match &= _mm512_cmpeq_epi64_mask(_mm512_load_si512((const void *)keys[limb]), _mm512_set1_epi64((long long)key[limb]));
#elif defined(TABLE_AVX2)
		const __m256i wanted = _mm256_set1_epi64x((long long)key[limb]);
		const __m256i front = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)keys[limb]), wanted);
		const __m256i back = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(keys[limb] + 4)), wanted);

		match &= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(front)) | (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(back)) << 4;
#else
		uint32_t equal = 0;

		for (uint32_t lane = 0; lane < COMPARE_LANES; lane++)
			equal |= (uint32_t)(keys[limb][lane] == key[limb]) << lane;
		match &= equal;
#endif
	}
	return match;
}

static inline uint32_t
compare_find(const struct compare *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct compare_array *array = address;
	uint32_t match = 0;

	(void)table;
	(void)hash;
	for (uint32_t block = 0; block < array->block_count; block++)
		/* All blocks, without a branch: four at most, and which one matches is unpredictable. */
		match |= compare_equal(array->keys + (size_t)block * limbs, key, limbs) << block * COMPARE_LANES;
	/* Without a match the last place is read: it has a record only if the table is full. */
	return __atomic_load_n(&array->records[__builtin_ctz(match | 1u << (COMPARE_MOST - 1))], __ATOMIC_ACQUIRE) & (0u - (match != 0));
}

#endif
