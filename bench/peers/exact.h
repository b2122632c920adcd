/* Exact match on 48 bits: eight entries to a cache line, each a key and a 16-bit value in one word; two choices of bucket. Stages only: no
 * function here loops over packets or asks for lines.
 *
 * An empty slot is all ones, so a lookup of ff:ff:ff:ff:ff:ff may match it: its value reads as EXACT_MISS, which is right. */
#ifndef BACUS_PEER_EXACT_H
#define BACUS_PEER_EXACT_H

#include "peer.h"

#include <immintrin.h>

#define EXACT_MISS 0xffffu
#define EXACT_KEY 0xffffffffffffull
#define EXACT_MULTIPLIER 0x9e3779b97f4a7c15ull
#define EXACT_SECOND_MULTIPLIER 0xc2b2ae3d27d4eb4full
#define EXACT_LOAD 0.75
#define EXACT_EVICTIONS 2000u

struct exact_bucket {
	_Alignas(64) uint64_t slots[8];
};

struct exact {
	struct exact_bucket *buckets;
	uint64_t bucket_count;
};

PEER_INLINE const struct exact_bucket *
exact_first(const struct exact *table, uint64_t key)
{
	return &table->buckets[(key * EXACT_MULTIPLIER >> 32) * table->bucket_count >> 32];
}

PEER_INLINE const struct exact_bucket *
exact_second(const struct exact *table, uint64_t key)
{
	return &table->buckets[((key ^ key >> 21) * EXACT_SECOND_MULTIPLIER >> 32) * table->bucket_count >> 32];
}

/* One bit for each slot that holds `key`. */
PEER_INLINE uint32_t
exact_match(const struct exact_bucket *bucket, uint64_t key)
{
#if defined(__AVX512F__)
	const __m512i differ = _mm512_xor_si512(_mm512_load_si512((const void *)bucket->slots), _mm512_set1_epi64((long long)key));

	return _mm512_testn_epi64_mask(differ, _mm512_set1_epi64((long long)EXACT_KEY));
#elif defined(__AVX2__)
	const __m256i keys = _mm256_set1_epi64x((long long)(key << 16)), *slots = (const void *)bucket->slots;
	const __m256i low = _mm256_cmpeq_epi64(_mm256_slli_epi64(_mm256_load_si256(slots), 16), keys);
	const __m256i high = _mm256_cmpeq_epi64(_mm256_slli_epi64(_mm256_load_si256(slots + 1), 16), keys);

	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(low)) | (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(high)) << 4;
#else
	uint32_t match = 0;

	for (uint32_t i = 0; i < 8; i++)
		match |= (uint32_t)(((bucket->slots[i] ^ key) & EXACT_KEY) == 0) << i;
	return match;
#endif
}

/* The value in the slot that matched; without a match, whatever the last slot holds. */
PEER_INLINE uint16_t
exact_value(const struct exact_bucket *bucket, uint32_t match)
{
	return (uint16_t)(bucket->slots[__builtin_ctz(match | 0x80)] >> 48);
}

PEER_INLINE uint16_t
exact_find_second(const struct exact_bucket *second, uint64_t key)
{
	const uint32_t match = exact_match(second, key);

	return match ? exact_value(second, match) : EXACT_MISS;
}

static inline int
exact_create(struct exact *table, uint64_t entries)
{
	table->bucket_count = (uint64_t)((double)entries / (8 * EXACT_LOAD)) + 2;
	table->buckets = peer_allocate(table->bucket_count * sizeof(*table->buckets));
	if (table->buckets == NULL)
		return -1;
	memset(table->buckets, 0xff, table->bucket_count * sizeof(*table->buckets));
	return 0;
}

static inline int
exact_place(struct exact_bucket *bucket, uint64_t entry)
{
	for (uint32_t i = 0; i < 8; i++) {
		if (bucket->slots[i] == UINT64_MAX) {
			bucket->slots[i] = entry;
			return 1;
		}
	}
	return 0;
}

/* Cuckoo insertion, before there are readers. 0 on success. */
static inline int
exact_insert(struct exact *table, uint64_t key, uint16_t value)
{
	uint64_t entry = key | (uint64_t)value << 48, random = key * EXACT_SECOND_MULTIPLIER | 1;

	for (uint32_t attempt = 0; attempt < EXACT_EVICTIONS; attempt++) {
		struct exact_bucket *first = (struct exact_bucket *)(uintptr_t)exact_first(table, entry & EXACT_KEY);
		struct exact_bucket *second = (struct exact_bucket *)(uintptr_t)exact_second(table, entry & EXACT_KEY);
		struct exact_bucket *victim;
		uint64_t evicted;

		if (exact_place(first, entry) || exact_place(second, entry))
			return 0;
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		victim = random & 8 ? second : first;
		evicted = victim->slots[random & 7];
		victim->slots[random & 7] = entry;
		entry = evicted;
	}
	return -1;
}

#endif
