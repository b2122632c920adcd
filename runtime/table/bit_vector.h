/* Ternary match by bit vectors, for some fifty to four thousand rules: each chunk of the key, of at most 16 bits, selects a class, a class is the set of
 * rules which that chunk of a key allows, and the first rule in the intersection of all sets is the answer. The cost depends on the number of chunks
 * and, little, on that of rules; not on which rules they are. A range field, of at most 16 bits, is a chunk of its own.
 *
 * The classes of a chunk's values are replaced as a whole, and so are the sets, whose bits are the rules in their order: what is visible between two stores
 * is always the table with the last change or without. */
#ifndef BACUS_TABLE_BIT_VECTOR_H
#define BACUS_TABLE_BIT_VECTOR_H

#include "table/chunk.h"
#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define BIT_VECTOR_MOST 4096u		/* rules */
#define BIT_VECTOR_CHUNKS_MOST 48u
#define BIT_VECTOR_QUAD 4u		/* words of a set, if there are no more */
#define BIT_VECTOR_LINE 8u		/* larger sets are whole lines: the writer does not know which vectors readers have */
#define BIT_VECTOR_STRIDE 16u		/* words that are looked at between two branches */

struct bit_vector_chunk {
	struct chunk_index *index;	/* classes */
	struct chunk bits;
};

/* The sets of all chunks. `sets[chunk]` has one for each class, of `words` words. */
struct bit_vector_array {
	uint64_t words;
	uint64_t bytes;
	uint32_t *records;	/* by place, 64 for each word */
	uint64_t *sets[BIT_VECTOR_CHUNKS_MOST];
};

struct bit_vector {
	struct table table;
	struct bit_vector_array *array;
	uint32_t chunk_count;
	struct bit_vector_chunk chunks[BIT_VECTOR_CHUNKS_MOST];
};

static inline uint64_t
bit_vector_hash(const struct bit_vector *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
bit_vector_address(const struct bit_vector *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* Four words of the intersection, from word `at` on, into `meet`; a bit for each of them that is not empty. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_meet_quad(const uint64_t *const *sets, uint64_t at, uint32_t chunks, uint64_t *meet)
{
#ifdef TABLE_AVX2
	__m256i all = _mm256_load_si256((const void *)(sets[0] + at));

	for (uint32_t chunk = 1; chunk < chunks; chunk++)
		all = _mm256_and_si256(all, _mm256_load_si256((const void *)(sets[chunk] + at)));
	_mm256_store_si256((void *)meet, all);
	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(all, _mm256_setzero_si256()))) ^ 0xf;
#else
	uint32_t any = 0;

	for (uint32_t word = 0; word < BIT_VECTOR_QUAD; word++) {
		uint64_t all = __atomic_load_n(&sets[0][at + word], __ATOMIC_RELAXED);

		for (uint32_t chunk = 1; chunk < chunks; chunk++)
			all &= __atomic_load_n(&sets[chunk][at + word], __ATOMIC_RELAXED);
		meet[word] = all;
		any |= (uint32_t)(all != 0) << word;
	}
	return any;
#endif
}

#ifdef TABLE_AVX512
/* The same of eight words, which are a line. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_meet_line(const uint64_t *const *sets, uint64_t at, uint32_t chunks, uint64_t *meet)
{
	__m512i all = _mm512_load_si512((const void *)(sets[0] + at));

	for (uint32_t chunk = 1; chunk < chunks; chunk++)
		all = _mm512_and_si512(all, _mm512_load_si512((const void *)(sets[chunk] + at)));
	_mm512_store_si512((void *)meet, all);
	return _mm512_test_epi64_mask(all, all);
}
#endif

/* The same of up to `BIT_VECTOR_STRIDE` words. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_meet(const uint64_t *const *sets, uint64_t from, uint64_t words, uint32_t chunks, uint64_t *meet)
{
	uint32_t any = 0;

#ifdef TABLE_AVX512
	if (words == BIT_VECTOR_QUAD)
		return bit_vector_meet_quad(sets, from, chunks, meet);
	for (uint32_t at = 0; at < BIT_VECTOR_STRIDE && from + at < words; at += BIT_VECTOR_LINE)
		any |= bit_vector_meet_line(sets, from + at, chunks, meet + at) << at;
#else
	for (uint32_t at = 0; at < BIT_VECTOR_STRIDE && from + at < words; at += BIT_VECTOR_QUAD)
		any |= bit_vector_meet_quad(sets, from + at, chunks, meet + at) << at;
#endif
	return any;
}

/* The record of the first rule in all sets. Which word has it cannot be predicted, so there is no branch about it; sixteen words are a thousand rules. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_first_rule(const struct bit_vector_array *array, const uint64_t *const *sets, uint32_t chunks, uint64_t *meet)
{
	for (uint64_t from = 0; from < array->words; from += BIT_VECTOR_STRIDE) {
		const uint32_t any = bit_vector_meet(sets, from, array->words, chunks, meet);

		if (any != 0) {
			const uint32_t word = (uint32_t)__builtin_ctz(any);

			return __atomic_load_n(&array->records[(from + word) * 64 + (uint32_t)__builtin_ctzll(meet[word])], __ATOMIC_ACQUIRE);
		}
	}
	return 0;
}

/* Inlined with a literal count, so that the loop over the chunks is gone. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_all(const struct bit_vector *table, const struct bit_vector_array *array, const uint64_t *key, uint32_t chunks)
{
	const uint64_t words = array->words;
	const uint64_t *sets[BIT_VECTOR_CHUNKS_MOST];
	_Alignas(64) uint64_t meet[BIT_VECTOR_STRIDE];

	sets[0] = array->sets[0];
	for (uint32_t i = 0; i < chunks; i++) {
		const struct bit_vector_chunk *chunk = &table->chunks[i];

		sets[i] = array->sets[i] + chunk_number(__atomic_load_n(&chunk->index, __ATOMIC_ACQUIRE), chunk_value(&chunk->bits, key)) * words;
	}
	return bit_vector_first_rule(array, sets, chunks, meet);
}

static inline uint32_t
bit_vector_find(const struct bit_vector *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct bit_vector_array *array = address;

	(void)hash;
	(void)limbs;
	switch (table->chunk_count) {
	case 2:
		return bit_vector_all(table, array, key, 2);
	case 3:
		return bit_vector_all(table, array, key, 3);
	case 4:
		return bit_vector_all(table, array, key, 4);
	case 5:
		return bit_vector_all(table, array, key, 5);
	case 6:
		return bit_vector_all(table, array, key, 6);
	case 7:
		return bit_vector_all(table, array, key, 7);
	default:
		return bit_vector_all(table, array, key, table->chunk_count);
	}
}

/* Packets whose sets are found together. */
#define BIT_VECTOR_PACKETS 16u

/* All classes of some packets, then all their sets: no packet's rule waits for more than the lines of all. */
static inline __attribute__((always_inline)) void
bit_vector_some(const struct bit_vector *table, const struct bit_vector_array *array, const struct table_group *group, uint32_t from, uint32_t count,
		uint32_t chunks)
{
	const uint64_t words = array->words;
	const uint64_t *sets[BIT_VECTOR_PACKETS][BIT_VECTOR_CHUNKS_MOST];
	_Alignas(64) uint64_t meet[BIT_VECTOR_STRIDE];

	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		const struct chunk bits = table->chunks[chunk].bits;
		const struct chunk_index *index = __atomic_load_n(&table->chunks[chunk].index, __ATOMIC_ACQUIRE);
		const uint64_t *first = array->sets[chunk];

		for (uint32_t i = 0; i < count; i++) {
			const uint64_t *key = group->keys + (size_t)(from + i) * group->limbs;

			sets[i][chunk] = first + chunk_number(index, chunk_value(&bits, key)) * words;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		group->found[from + i] = bit_vector_first_rule(array, sets[i], chunks, meet);
}

static inline __attribute__((always_inline)) void
bit_vector_find_group(const struct bit_vector *table, const struct table_group *group)
{
	const struct bit_vector_array *array = bit_vector_address(table, 0);

	for (uint32_t from = 0; from < group->count; from += BIT_VECTOR_PACKETS) {
		const uint32_t left = group->count - from, count = left < BIT_VECTOR_PACKETS ? left : BIT_VECTOR_PACKETS;

		switch (table->chunk_count) {
		case 4:
			bit_vector_some(table, array, group, from, count, 4);
			break;
		case 7:
			bit_vector_some(table, array, group, from, count, 7);
			break;
		default:
			bit_vector_some(table, array, group, from, count, table->chunk_count);
		}
	}
}

#endif
