/* Rules in order of priority, compared one by one: any mixture of match kinds. Eight rules are adjacent in a block, each limb of their values and
 * masks in one vector, so that a compiler with wide registers compares eight at once. Blocks are never changed while readers may see them, but for the
 * numbers of records; the writer replaces a block and the list of blocks.
 *
 *    block     records 0..7 | count | value limb 0 of rules 0..7 | limb 1 .. | mask limb 0 .. | upper ends ..
 *    match     OR over limbs of (key ^ value) & mask is 0; one bit for each rule, the lowest one wins
 *
 * Priorities are in the order of blocks and rules, not in what readers load. */
#ifndef BACUS_TABLE_LIST_H
#define BACUS_TABLE_LIST_H

#include "table/table.h"
#include "table/vectors.h"

#define LIST_LANES 8u
#define LIST_RANGES_MAX 32u

/* `count` rules, then 8 for each limb of the value, of the mask and, if the table has range fields, of the upper ends; then the writer's own numbers. */
struct list_block {
	uint32_t records[LIST_LANES];
	uint32_t count;
	uint32_t unused[7];
	_Alignas(64) uint64_t limbs[][LIST_LANES];
};

/* The whole list as readers see it. */
struct list_array {
	uint64_t block_count;
	struct list_block *blocks[];
};

struct list {
	struct table table;
	uint32_t limbs;
	uint32_t range_count;
	const uint64_t *ranges;		/* for each range field, `limbs` limbs with ones in its place */
	struct list_array *array;
};

/* Lists are scanned, not hashed. */
static inline uint64_t
list_hash(const struct list *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
list_address(const struct list *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* Whether the key's bits under `field` are between those of the rule's two ends. */
static inline uint32_t
list_in_range(const struct list_block *block, uint32_t lane, const uint64_t *field, const uint64_t *key, uint32_t limbs)
{
	uint32_t below = 0, above = 0;	/* by the limbs so far, from the low one: higher ones overrule */

	for (uint32_t limb = 0; limb < limbs; limb++) {
		const uint64_t held = key[limb] & field[limb];
		const uint64_t low = block->limbs[limb][lane] & field[limb], high = block->limbs[2 * limbs + limb][lane] & field[limb];

		below = held != low ? held < low : below;
		above = held != high ? held > high : above;
	}
	return !(below | above);
}

/* A bit for each of the eight rules that match the key under its mask. What these read never changes. */
static inline uint32_t
list_agree(const struct list_block *block, const uint64_t *key, uint32_t limbs)
{
#if defined(TABLE_AVX512)
	__m512i differ = _mm512_setzero_si512();

	for (uint32_t limb = 0; limb < limbs; limb++) {
		const __m512i value = _mm512_load_si512((const void *)block->limbs[limb]), mask = _mm512_load_si512((const void *)block->limbs[limbs + limb]);

		differ = _mm512_or_si512(differ, _mm512_and_si512(_mm512_xor_si512(value, _mm512_set1_epi64((long long)key[limb])), mask));
	}
	return _mm512_testn_epi64_mask(differ, differ);
#elif defined(TABLE_AVX2)
	__m256i front = _mm256_setzero_si256(), back = front;

	for (uint32_t limb = 0; limb < limbs; limb++) {
		const __m256i *values = (const void *)block->limbs[limb], *masks = (const void *)block->limbs[limbs + limb];
		const __m256i wanted = _mm256_set1_epi64x((long long)key[limb]);

		front = _mm256_or_si256(front, _mm256_and_si256(_mm256_xor_si256(values[0], wanted), masks[0]));
		back = _mm256_or_si256(back, _mm256_and_si256(_mm256_xor_si256(values[1], wanted), masks[1]));
	}
	front = _mm256_cmpeq_epi64(front, _mm256_setzero_si256());
	back = _mm256_cmpeq_epi64(back, _mm256_setzero_si256());
	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(front)) | (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(back)) << 4;
#else
	uint64_t differ[LIST_LANES] = { 0 };
	uint32_t match = 0;

	for (uint32_t limb = 0; limb < limbs; limb++)
		for (uint32_t lane = 0; lane < LIST_LANES; lane++)
			differ[lane] |= (key[limb] ^ block->limbs[limb][lane]) & block->limbs[limbs + limb][lane];
	for (uint32_t lane = 0; lane < LIST_LANES; lane++)
		match |= (uint32_t)(differ[lane] == 0) << lane;
	return match;
#endif
}

/* A bit for each rule of the block that matches. Ranges are tested only for rules that agree otherwise: few do,
 * and a range of any width is a loop over limbs. */
static inline uint32_t
list_match(const struct list *table, const struct list_block *block, const uint64_t *key, uint32_t limbs)
{
	uint32_t match = list_agree(block, key, limbs);

	/* Lanes behind the last rule have masks of 0, so they agree with any key. */
	match &= ((uint32_t)1 << block->count) - 1;
	for (uint32_t range = 0; range < table->range_count; range++)
		for (uint32_t left = match; left != 0; left &= left - 1) {
			const uint32_t lane = (uint32_t)__builtin_ctz(left);

			if (!list_in_range(block, lane, table->ranges + (size_t)range * limbs, key, limbs))
				match &= ~((uint32_t)1 << lane);
		}
	return match;
}

/* Acquire for the record only: blocks are complete before the array that leads to them is published. */
static inline uint32_t
list_find(const struct list *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct list_array *array = address;

	(void)hash;
	for (uint64_t i = 0; i < array->block_count; i++) {
		const struct list_block *block = array->blocks[i];
		const uint32_t match = list_match(table, block, key, limbs);

		if (match != 0)
			return __atomic_load_n(&block->records[__builtin_ctz(match)], __ATOMIC_ACQUIRE);
	}
	return 0;
}

#endif
