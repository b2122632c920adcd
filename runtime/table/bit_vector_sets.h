/* The sets of rules of bit_vector.h as readers see them, and the intersection of some. */
#ifndef BACUS_TABLE_BIT_VECTOR_SETS_H
#define BACUS_TABLE_BIT_VECTOR_SETS_H

#include "table/chunk.h"
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

/* Of some words of an intersection: a bit for each that is not empty, and the first of those. `first` is the
 * first word with a bit, `any` is the index of that word: both are needed for the rule's place. */
struct bit_vector_meeting {
	uint32_t any;
	uint64_t first;
};

#ifdef TABLE_AVX512
/* The first word is moved to the front in registers: reloading a stored vector would wait for store
 * forwarding.
 *
 *    all       0  0  w2 w3         any   1100
 *    compress  w2 w3 0  0          element 0: the first word that is not empty
 */
static inline __attribute__((always_inline)) struct bit_vector_meeting
bit_vector_meet_quad(const uint64_t *const *sets, uint64_t at, uint32_t chunks)
{
	__m256i all = _mm256_load_si256((const void *)(sets[0] + at));
	__mmask8 any;

	for (uint32_t chunk = 1; chunk < chunks; chunk++)
		all = _mm256_and_si256(all, _mm256_load_si256((const void *)(sets[chunk] + at)));
	any = _mm256_test_epi64_mask(all, all);
	return (struct bit_vector_meeting){ any, (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(_mm256_maskz_compress_epi64(any, all))) };
}

static inline __attribute__((always_inline)) struct bit_vector_meeting
bit_vector_meet_line(const uint64_t *const *sets, uint64_t at, uint32_t chunks)
{
	__m512i all = _mm512_load_si512((const void *)(sets[0] + at));
	__mmask8 any;

	for (uint32_t chunk = 1; chunk < chunks; chunk++)
		all = _mm512_and_si512(all, _mm512_load_si512((const void *)(sets[chunk] + at)));
	any = _mm512_test_epi64_mask(all, all);
	return (struct bit_vector_meeting){ any, (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(any, all))) };
}

/* Of 4, 8 or 16 words of the intersection, from word `at` on. */
static inline __attribute__((always_inline)) struct bit_vector_meeting
bit_vector_meet(const uint64_t *const *sets, uint64_t at, uint32_t span, uint32_t chunks)
{
	struct bit_vector_meeting front, back;

	if (span == BIT_VECTOR_QUAD)
		return bit_vector_meet_quad(sets, at, chunks);
	front = bit_vector_meet_line(sets, at, chunks);
	if (span == BIT_VECTOR_LINE)
		return front;
	back = bit_vector_meet_line(sets, at + BIT_VECTOR_LINE, chunks);
	return (struct bit_vector_meeting){ front.any | back.any << BIT_VECTOR_LINE, front.any != 0 ? front.first : back.first };
}
#else
/* Stores four words into `meet`; a bit for each of them that is not empty. AVX2 has no compress: the first word
 * that is not empty is loaded again, by its number. */
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

/* Of 4, 8 or 16 words of the intersection, from word `at` on. */
static inline __attribute__((always_inline)) struct bit_vector_meeting
bit_vector_meet(const uint64_t *const *sets, uint64_t at, uint32_t span, uint32_t chunks)
{
	_Alignas(32) uint64_t meet[BIT_VECTOR_STRIDE];
	uint32_t any = 0;

	for (uint32_t quad = 0; quad < span; quad += BIT_VECTOR_QUAD)
		any |= bit_vector_meet_quad(sets, at + quad, chunks, meet + quad) << quad;
	return (struct bit_vector_meeting){ any, meet[__builtin_ctz(any | 1u << (span - 1))] };
}
#endif

/* The place of the first rule in `span` words from word `at` on; some place there, if there is none. */
static inline __attribute__((always_inline)) uint64_t
bit_vector_place(struct bit_vector_meeting meeting, uint64_t at, uint32_t span)
{
	const uint64_t word = at + (uint32_t)__builtin_ctz(meeting.any | 1u << (span - 1));

	return word * 64 + (uint32_t)__builtin_ctzll(meeting.first | (uint64_t)1 << 63);
}

#endif
