/* Exact match on keys of at most 48 bits by a perfect hash, for constant or rarely written entries: a key has
 * exactly one slot. The upper bits of its hash choose a pilot, a number for which a search has found distinct
 * slots for all of its keys. Pilots are two bytes for some four keys, so they stay cached. There are no
 * buckets, no second line and no branch; but an insertion may have to search.
 *
 *    key * odd number = hash     63 ........... 48 | 47 ...... 16 | 15 .. 0
 *                                pilot number         32 bits, times the pilot: upper bits are the slot
 *    pilots[number] ─▶ pilot ─▶ slots[slot] ─▶ number : key
 *
 * Pilots are odd, so multiplying by one permutes 32-bit numbers: another pilot gives a bucket's keys new slots,
 * unless their 32 bits are equal. Then the array takes bits 0 to 31 instead. The lower 48 bits of the hash are a
 * permutation of the key, so any two keys differ in one of the two. A pilot's number uses the top bits of the
 * hash, as many as there are pilots. */
#ifndef BACUS_TABLE_PERFECT_H
#define BACUS_TABLE_PERFECT_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define PERFECT_KEY_BITS 48u
#define PERFECT_KEY 0xffffffffffffull
#define PERFECT_MULTIPLIER 0x9e3779b97f4a7c15ull

/* Replaced as a whole when it grows. */
struct perfect_array {
	uint64_t *slots;	/* a key, and above it its record number: 0 for no entry */
	uint32_t hash_shift;	/* the lowest of the 32 bits of the hash that make slots */
	uint32_t slot_shift;	/* 32 less the bits of a slot's number */
	uint32_t pilot_shift;	/* 64 less the bits of a pilot's number */
	uint64_t bytes;
	/* All odd. Behind this, and yet by a pointer: so the number of a pilot is an index to address it by, without an addition. */
	uint16_t *pilots;
};

struct perfect {
	struct table table;
	struct perfect_array *array;
};

static inline uint64_t
perfect_hash(const struct perfect *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0] * PERFECT_MULTIPLIER;
}

/* The number of a slot: from 32 bits of the hash. */
static inline uint32_t
perfect_slot(const struct perfect_array *array, uint64_t hash, uint32_t pilot)
{
	return (uint32_t)(hash >> array->hash_shift) * pilot >> array->slot_shift;
}

static inline uint64_t
perfect_bucket(const struct perfect_array *array, uint64_t hash)
{
	return hash >> array->pilot_shift;
}

/* The line to prefetch. Reads the pilot. Pilots are small enough to be cached, so this is the only dependent
 * load before the line. The pilot of another moment than the slot's is right as well: old slots keep their words
 * for a grace period (perfect.c). */
static inline const void *
perfect_address(const struct perfect *table, uint64_t hash)
{
	const struct perfect_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
	const uint32_t pilot = __atomic_load_n(&array->pilots[perfect_bucket(array, hash)], __ATOMIC_ACQUIRE);

	return &array->slots[perfect_slot(array, hash, pilot)];
}

/* The key is compared as a whole, so a slot of another key is a miss. A key of zeros finds number 0 in an empty
 * slot, which is a miss, too. */
static inline uint32_t
perfect_find(const struct perfect *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint64_t word = __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);

	(void)table;
	(void)hash;
	(void)limbs;
	return (word ^ key[0]) << 16 == 0 ? (uint32_t)(word >> PERFECT_KEY_BITS) : 0;
}

/* The slot of a key of a group, all in one array. Relaxed: the address depends on the pilot, and the word that
 * is found has its key. */
static inline __attribute__((always_inline)) const uint64_t *
perfect_group_slot(const struct perfect_array *array, const struct table_group *group, uint32_t i)
{
	uint64_t hash;

	if (group->addresses != NULL)
		return group->addresses[i];
	hash = perfect_hash(NULL, &group->keys[i], 1);
	return &array->slots[perfect_slot(array, hash, __atomic_load_n(&array->pilots[perfect_bucket(array, hash)], __ATOMIC_RELAXED))];
}

/* Words are inserted into vectors one by one, as memory operands: gathers take three times as long (Zen 4),
 * and so would a buffer.
 *
 *    words    n0 : k0   n1 : k1 ..   XOR keys: n : 0 where the key is in its slot
 *    match    the lower 48 bits are zero
 *    found    the upper 16 bits, narrowed to 32 each; 0 where there is no match
 */
#if defined(TABLE_AVX512)
#define PERFECT_TOGETHER 8u

static inline __attribute__((always_inline)) void
perfect_find_some(const struct perfect_array *array, const struct table_group *group, uint32_t i)
{
	__m512i words = _mm512_setzero_si512();
	__mmask8 match;

#pragma GCC unroll 8
	for (uint32_t j = 0; j < PERFECT_TOGETHER; j++) {
		const __m512i word = _mm512_set1_epi64((long long)*perfect_group_slot(array, group, i + j));

		words = _mm512_mask_mov_epi64(words, (__mmask8)(1u << j), word);
	}
	words = _mm512_xor_si512(words, _mm512_loadu_si512((const void *)(group->keys + i)));
	match = _mm512_testn_epi64_mask(words, _mm512_set1_epi64((long long)PERFECT_KEY));
	_mm256_storeu_si256((void *)(group->found + i), _mm512_maskz_cvtepi64_epi32(match, _mm512_srli_epi64(words, PERFECT_KEY_BITS)));
}
#elif defined(TABLE_AVX2)
#define PERFECT_TOGETHER 4u

static inline __attribute__((always_inline)) void
perfect_find_some(const struct perfect_array *array, const struct table_group *group, uint32_t i)
{
	const long long first = (long long)*perfect_group_slot(array, group, i), second = (long long)*perfect_group_slot(array, group, i + 1);
	const long long third = (long long)*perfect_group_slot(array, group, i + 2), fourth = (long long)*perfect_group_slot(array, group, i + 3);
	const __m256i held = _mm256_setr_epi64x(first, second, third, fourth), keys = _mm256_loadu_si256((const void *)(group->keys + i));
	const __m256i words = _mm256_xor_si256(held, keys);
	const __m256i match = _mm256_cmpeq_epi64(_mm256_slli_epi64(words, 64 - PERFECT_KEY_BITS), _mm256_setzero_si256());
	const __m256i numbers = _mm256_and_si256(_mm256_srli_epi64(words, PERFECT_KEY_BITS), match);
	const __m128 lower = _mm_castsi128_ps(_mm256_castsi256_si128(numbers)), upper = _mm_castsi128_ps(_mm256_extracti128_si256(numbers, 1));

	_mm_storeu_si128((void *)(group->found + i), _mm_castps_si128(_mm_shuffle_ps(lower, upper, 0x88)));
}
#endif

static inline __attribute__((always_inline)) void
perfect_find_group(const struct perfect *table, const struct table_group *group)
{
	const struct perfect_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
	uint32_t i = 0;

#ifdef PERFECT_TOGETHER
	for (; i + PERFECT_TOGETHER <= group->count; i += PERFECT_TOGETHER) {
		for (uint32_t j = 0; j < PERFECT_TOGETHER; j += 4)
			table_group_request_four(group, i + j);
		perfect_find_some(array, group, i);
	}
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
#endif
	for (; i < group->count; i++) {
		table_group_request(group, i);
		group->found[i] = perfect_find(table, perfect_group_slot(array, group, i), 0, group->keys + i, 1);
	}
	table_group_request_rest(group);
}

#endif
