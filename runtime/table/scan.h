/* Ternary match by brute force: sixteen rules side by side, all words of the key against all of theirs, 64 rules between two branches. For up to some fifty
 * rules nothing is faster. Ranges, of fields of at most 32 bits, are compared in lanes as well; those of up to 16 bits two at a time.
 *
 * What readers see never changes but for the numbers of records; the writer replaces it as a whole. */
#ifndef BACUS_TABLE_SCAN_H
#define BACUS_TABLE_SCAN_H

#include "table/table.h"
#include "table/vectors.h"

#define SCAN_MOST 1024u			/* rules */
#define SCAN_LANES 16u
#define SCAN_BLOCKS 4u			/* between two branches */
#define SCAN_KEY_BITS 640u
#define SCAN_WORDS_MOST (SCAN_KEY_BITS / 32)
#define SCAN_RANGES_MOST 8u

/* Bits of the key: a range field. Width 0: none. */
struct scan_field {
	uint32_t shift;
	uint32_t width;
};

/* For each block, in rows of sixteen: value and mask of each word, then lower end and width of each pair of ranges, then of each wide range. */
struct scan_array {
	uint64_t block_count;
	uint64_t bytes;
	uint32_t *records;	/* by place; 0 behind the last rule */
	uint8_t unused[40];
	_Alignas(64) uint32_t rows[][SCAN_LANES];
};

struct scan {
	struct table table;
	struct scan_array *array;
	uint32_t word_count;	/* of the key's 32-bit words that are not all range */
	uint32_t pair_count;
	uint32_t wide_count;
	uint32_t words[SCAN_WORDS_MOST];
	struct scan_field pairs[2 * SCAN_RANGES_MOST];
	struct scan_field wides[SCAN_RANGES_MOST];
};

/* A key in the form that blocks are compared with. */
struct scan_key {
	uint32_t words[SCAN_WORDS_MOST];
	uint32_t pairs[SCAN_RANGES_MOST];
	uint32_t wides[SCAN_RANGES_MOST];
};

static inline uint64_t
scan_hash(const struct scan *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
scan_address(const struct scan *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* The bits of a field of at most 32 bits. */
static inline uint32_t
scan_bits(const uint64_t *key, struct scan_field field)
{
	const uint32_t limb = field.shift / 64, low = field.shift % 64;
	uint64_t bits = key[limb] >> low;

	if (low + field.width > 64)
		bits |= key[limb + 1] << (64 - low);
	return (uint32_t)(bits & (((uint64_t)1 << field.width) - 1));
}

static inline void
scan_prepare(const struct scan *table, const uint64_t *key, struct scan_key *prepared, uint32_t words, uint32_t pairs, uint32_t wides)
{
	for (uint32_t i = 0; i < words; i++)
		prepared->words[i] = (uint32_t)(key[table->words[i] / 2] >> table->words[i] % 2 * 32);
	for (uint32_t i = 0; i < pairs; i++)
		prepared->pairs[i] = scan_bits(key, table->pairs[2 * i]) | scan_bits(key, table->pairs[2 * i + 1]) << 16;
	for (uint32_t i = 0; i < wides; i++)
		prepared->wides[i] = scan_bits(key, table->wides[i]);
}

/* A bit for each rule of the block that matches. */
static inline uint32_t
scan_block(const uint32_t (*rows)[SCAN_LANES], const struct scan_key *key, uint32_t words, uint32_t pairs, uint32_t wides)
{
#if defined(TABLE_AVX512)
	__m512i miss = _mm512_setzero_si512();

	for (uint32_t i = 0; i < words; i++, rows += 2) {
		const __m512i differ = _mm512_xor_si512(_mm512_load_si512(rows[0]), _mm512_set1_epi32((int)key->words[i]));

		miss = _mm512_ternarylogic_epi32(miss, differ, _mm512_load_si512(rows[1]), 0xf8);
	}
	for (uint32_t i = 0; i < pairs; i++, rows += 2) {
		const __m512i above = _mm512_sub_epi16(_mm512_set1_epi32((int)key->pairs[i]), _mm512_load_si512(rows[0]));

		miss = _mm512_or_si512(miss, _mm512_subs_epu16(above, _mm512_load_si512(rows[1])));
	}
	for (uint32_t i = 0; i < wides; i++, rows += 2) {
		const __m512i above = _mm512_sub_epi32(_mm512_set1_epi32((int)key->wides[i]), _mm512_load_si512(rows[0]));

		miss = _mm512_or_si512(miss, _mm512_xor_si512(above, _mm512_min_epu32(above, _mm512_load_si512(rows[1]))));
	}
	return _mm512_testn_epi32_mask(miss, miss);
#elif defined(TABLE_AVX2)
	__m256i miss[2] = { _mm256_setzero_si256(), _mm256_setzero_si256() };
	uint32_t match[2];

	for (uint32_t i = 0; i < words; i++, rows += 2) {
		const __m256i wanted = _mm256_set1_epi32((int)key->words[i]);

		for (uint32_t half = 0; half < 2; half++) {
			const __m256i differ = _mm256_xor_si256(_mm256_load_si256((const void *)(rows[0] + 8 * half)), wanted);

			miss[half] = _mm256_or_si256(miss[half], _mm256_and_si256(differ, _mm256_load_si256((const void *)(rows[1] + 8 * half))));
		}
	}
	for (uint32_t i = 0; i < pairs; i++, rows += 2)
		for (uint32_t half = 0; half < 2; half++) {
			const __m256i low = _mm256_load_si256((const void *)(rows[0] + 8 * half));
			const __m256i above = _mm256_sub_epi16(_mm256_set1_epi32((int)key->pairs[i]), low);

			miss[half] = _mm256_or_si256(miss[half], _mm256_subs_epu16(above, _mm256_load_si256((const void *)(rows[1] + 8 * half))));
		}
	for (uint32_t i = 0; i < wides; i++, rows += 2)
		for (uint32_t half = 0; half < 2; half++) {
			const __m256i low = _mm256_load_si256((const void *)(rows[0] + 8 * half));
			const __m256i above = _mm256_sub_epi32(_mm256_set1_epi32((int)key->wides[i]), low);
			const __m256i within = _mm256_min_epu32(above, _mm256_load_si256((const void *)(rows[1] + 8 * half)));

			miss[half] = _mm256_or_si256(miss[half], _mm256_xor_si256(above, within));
		}
	for (uint32_t half = 0; half < 2; half++)
		match[half] = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(miss[half], _mm256_setzero_si256())));
	return match[0] | match[1] << 8;
#else
	uint32_t miss[SCAN_LANES] = { 0 }, match = 0;

	for (uint32_t i = 0; i < words; i++, rows += 2)
		for (uint32_t lane = 0; lane < SCAN_LANES; lane++)
			miss[lane] |= (rows[0][lane] ^ key->words[i]) & rows[1][lane];
	for (uint32_t i = 0; i < pairs; i++, rows += 2)
		for (uint32_t lane = 0; lane < SCAN_LANES; lane++) {
			const uint16_t first = (uint16_t)(key->pairs[i] - rows[0][lane]), second = (uint16_t)((key->pairs[i] >> 16) - (rows[0][lane] >> 16));

			miss[lane] |= (uint32_t)(first > (rows[1][lane] & 0xffff)) | (uint32_t)(second > rows[1][lane] >> 16);
		}
	for (uint32_t i = 0; i < wides; i++, rows += 2)
		for (uint32_t lane = 0; lane < SCAN_LANES; lane++)
			miss[lane] |= (uint32_t)(key->wides[i] - rows[0][lane] > rows[1][lane]);
	for (uint32_t lane = 0; lane < SCAN_LANES; lane++)
		match |= (uint32_t)(miss[lane] == 0) << lane;
	return match;
#endif
}

/* Inlined with literal counts, so that the loops over them are gone. */
static inline __attribute__((always_inline)) uint32_t
scan_all(const struct scan *table, const struct scan_array *array, const uint64_t *key, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const uint32_t stride = 2 * (words + pairs + wides);
	const uint64_t block_count = array->block_count;
	struct scan_key prepared;

	/* For compilers that see a loop over none read the first one. */
	prepared.words[0] = prepared.pairs[0] = prepared.wides[0] = 0;
	scan_prepare(table, key, &prepared, words, pairs, wides);
	for (uint64_t from = 0; from < block_count; from += SCAN_BLOCKS) {
		const uint64_t count = block_count - from < SCAN_BLOCKS ? block_count - from : SCAN_BLOCKS;
		uint64_t match = 0;

		for (uint64_t i = 0; i < count; i++)
			match |= (uint64_t)scan_block(array->rows + (from + i) * stride, &prepared, words, pairs, wides) << i * SCAN_LANES;
		if (match != 0)
			return __atomic_load_n(&array->records[from * SCAN_LANES + (uint32_t)__builtin_ctzll(match)], __ATOMIC_ACQUIRE);
	}
	return 0;
}

static inline uint32_t
scan_find(const struct scan *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct scan_array *array = address;

	(void)hash;
	(void)limbs;
	if (table->wide_count != 0 || table->pair_count > 1)
		return scan_all(table, array, key, table->word_count, table->pair_count, table->wide_count);
	switch (2 * table->word_count + table->pair_count) {
	case 2:
		return scan_all(table, array, key, 1, 0, 0);
	case 4:
		return scan_all(table, array, key, 2, 0, 0);
	case 5:
		return scan_all(table, array, key, 2, 1, 0);
	case 6:
		return scan_all(table, array, key, 3, 0, 0);
	case 7:
		return scan_all(table, array, key, 3, 1, 0);
	case 8:
		return scan_all(table, array, key, 4, 0, 0);
	case 9:
		return scan_all(table, array, key, 4, 1, 0);
	default:
		return scan_all(table, array, key, table->word_count, table->pair_count, 0);
	}
}

#endif
