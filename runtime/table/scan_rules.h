/* The rules of scan.h as readers see them, and one key compared with eight of them or with one. */
#ifndef BACUS_TABLE_SCAN_RULES_H
#define BACUS_TABLE_SCAN_RULES_H

#include "table/chunk.h"
#include "table/table.h"
#include "table/vectors.h"

#define SCAN_MOST 4096u			/* rules */
#define SCAN_LANES 8u
#define SCAN_BLOCKS 8u			/* between two branches */
#define SCAN_PARTITIONS_MOST 4u
#define SCAN_KEY_BITS 640u
#define SCAN_WORDS_MOST (SCAN_KEY_BITS / 32)
#define SCAN_RANGES_MOST 8u
#define SCAN_RULE_WORDS 4u		/* of a key as it is compared with one rule at a time */

/* Bits of the key: a range field. Width 0: none. */
struct scan_field {
	uint32_t shift;
	uint32_t width;
};

/* A rule alone: its values, then their masks, as in a block. Half a line, so two single rules share one. Values
 * and masks are one vector each. */
struct scan_rule {
	_Alignas(16) uint32_t values[SCAN_RULE_WORDS];
	uint32_t masks[SCAN_RULE_WORDS];
};

/* Blocks, or single rules, of one value of a chunk: at least one, which may be empty. */
struct scan_bucket {
	uint32_t first;
	uint32_t last;		/* how many there are beyond the first */
};

/* A chunk, and its values' buckets; number 0 is an empty one. A rule is in the bucket of one partition, or in none. A
 * key looks into one bucket of each partition, and into the rest. */
struct scan_partition {
	struct chunk chunk;
	uint32_t expected;		/* blocks or rules that are compared without reading how many there are: no more are in all but few buckets */
	struct chunk_index *index;
	struct scan_bucket *buckets;
};

/* For each block, in rows of eight: value and mask of each word, then lower end and width of each pair of ranges, then of each wide range. First the blocks of
 * the rules that are in no bucket. Places are the ranks of rules, in the order in which they match.
 *
 *    block    row 0   value of word 0 of rules 0..7          a vector of 256 bits
 *             row 1   mask of word 0 of rules 0..7
 *             row 2   value of word 1 ..
 *             ..      pairs of ranges: lower ends (two of 16 bits), then widths; then wide ranges: the same in 32
 *    a rule matches if no row has a miss:   (value ^ key) & mask        for words
 *                                          key - low > width, unsigned  for ranges: below `low` it wraps around
 */
struct scan_array {
	uint64_t rest_count;	/* blocks */
	uint64_t bytes;
	uint32_t *records;	/* by place; 0 behind the last rule */
	/* Ranks in place of records: the least one that matches wins, whatever its bucket. */
	uint32_t *places;	/* by block and lane; UINT32_MAX for none */
	struct scan_rule *rules;	/* those that are stored one by one */
	uint32_t *rule_places;	/* as `places`, for them */
	uint32_t rule_count;
	uint32_t single_count;	/* partitions with single rules */
	uint32_t partition_count;	/* these, and those with blocks after them */
	uint32_t has_blocks;	/* 1: there are rules in blocks */
	struct scan_partition partitions[SCAN_PARTITIONS_MOST];
	_Alignas(64) uint32_t rows[][SCAN_LANES];
};

struct scan {
	struct table table;
	struct scan_array *array;
	uint32_t word_count;	/* of the key's 32-bit words that are not all range */
	uint32_t pair_count;
	uint32_t wide_count;
	uint32_t words[SCAN_WORDS_MOST];
	uint32_t whole_pairs;	/* a bit for each pair that lies in one limb of the key in its comparison form */
	struct chunk pair_chunks[2 * SCAN_RANGES_MOST];
	struct scan_field pairs[2 * SCAN_RANGES_MOST];
	struct scan_field wides[SCAN_RANGES_MOST];
};

/* A key in the form that blocks are compared with. */
struct scan_key {
	uint32_t words[SCAN_WORDS_MOST];
	uint32_t pairs[SCAN_RANGES_MOST];
	uint32_t wides[SCAN_RANGES_MOST];
};

/* The bits of a field of at most 32 bits. A field may cross two limbs; `low` is not 0 then, so the shift by 64 -
 * low is defined. */
static inline uint32_t
scan_bits(const uint64_t *key, struct scan_field field)
{
	const uint32_t limb = field.shift / 64, low = field.shift % 64;
	uint64_t bits = key[limb] >> low;

	if (low + field.width > 64)
		bits |= key[limb + 1] << (64 - low);
	return (uint32_t)(bits & (((uint64_t)1 << field.width) - 1));
}

static inline uint32_t
scan_word32(const uint64_t *key, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, (const uint8_t *)key + offset, sizeof(word));
	return word;
}

/* A pair that lies side by side in the key is one load; others are put together from two. */
static inline __attribute__((always_inline)) void
scan_prepare(const struct scan *table, const uint64_t *key, struct scan_key *prepared, uint32_t words, uint32_t pairs, uint32_t wides)
{
	for (uint32_t i = 0; i < words; i++)
		prepared->words[i] = scan_word32(key, 4 * table->words[i]);
	for (uint32_t i = 0; i < pairs; i++) {
		const struct chunk *chunks = &table->pair_chunks[2 * i];

		if (table->whole_pairs >> i & 1)
			prepared->pairs[i] = scan_word32(key, chunks[0].offset);
		else
			prepared->pairs[i] = chunk_value(&chunks[0], key) | chunk_value(&chunks[1], key) << 16;
	}
	for (uint32_t i = 0; i < wides; i++)
		prepared->wides[i] = scan_bits(key, table->wides[i]);
}

/* A bit for each rule of the block that matches.
 *
 *    words    differ = value ^ key, all lanes at once: nonzero under the mask is a miss
 *    pairs    above = key - low in 16-bit lanes; subs saturates: 0 unless above > width
 *    wides    above ^ min(above, width): 0 unless above > width, for which AVX2 has no unsigned comparison
 *    result   lanes whose misses are all 0
 */
static inline __attribute__((always_inline)) uint32_t
scan_block(const uint32_t (*rows)[SCAN_LANES], const struct scan_key *key, uint32_t words, uint32_t pairs, uint32_t wides)
{
#if defined(TABLE_AVX2)
	__m256i miss = _mm256_setzero_si256();

	for (uint32_t i = 0; i < words; i++, rows += 2) {
		const __m256i differ = _mm256_xor_si256(_mm256_load_si256((const void *)rows[0]), _mm256_set1_epi32((int)key->words[i]));

		miss = _mm256_or_si256(miss, _mm256_and_si256(differ, _mm256_load_si256((const void *)rows[1])));
	}
	for (uint32_t i = 0; i < pairs; i++, rows += 2) {
		const __m256i above = _mm256_sub_epi16(_mm256_set1_epi32((int)key->pairs[i]), _mm256_load_si256((const void *)rows[0]));

		miss = _mm256_or_si256(miss, _mm256_subs_epu16(above, _mm256_load_si256((const void *)rows[1])));
	}
	for (uint32_t i = 0; i < wides; i++, rows += 2) {
		const __m256i above = _mm256_sub_epi32(_mm256_set1_epi32((int)key->wides[i]), _mm256_load_si256((const void *)rows[0]));

		miss = _mm256_or_si256(miss, _mm256_xor_si256(above, _mm256_min_epu32(above, _mm256_load_si256((const void *)rows[1]))));
	}
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(miss, _mm256_setzero_si256())));
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

/* In 64 bits, for which compilers have a conditional move only: they take the minimum of 32 to a vector register and back. */
static inline uint32_t
scan_earlier(uint64_t one, uint64_t other)
{
	return (uint32_t)(one < other ? one : other);
}

/* The place of a block's first matching rule, or the best one so far. Branch-free, since a match is
 * unpredictable. Without a match `ctz` gives some lane, whose place is ORed to UINT32_MAX, which loses. */
static inline __attribute__((always_inline)) uint32_t
scan_best(const struct scan_array *array, uint32_t block, const struct scan_key *key, uint32_t best, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const size_t stride = 2 * (words + pairs + wides);
	const uint32_t match = scan_block((const uint32_t (*)[SCAN_LANES])array->rows + block * stride, key, words, pairs, wides);
	const uint32_t lane = (uint32_t)__builtin_ctz(match | 1u << (SCAN_LANES - 1));

	return scan_earlier(best, array->places[block * SCAN_LANES + lane] | (uint32_t)-(match == 0));
}

#ifdef TABLE_AVX2
#define SCAN_KEY_IS_FORM 1	/* without ranges, one rule is compared with a key as it is */
#else
#define SCAN_KEY_IS_FORM 0
#endif

/* Whether a single rule matches: words, then pairs of ranges.
 *
 *    keys     word 0 | word 1 | word 2 | word 3        words first, then pairs of ranges; unused ones are 0
 *    miss     (keys ^ values) & masks                  for words
 *    outside  subs(keys - values, masks), 16-bit lanes for pairs, blended in by `is_pair`
 *
 * `is_pair` is a constant where this is inlined with literal counts. */
static inline __attribute__((always_inline)) uint32_t
scan_rule_matches(const struct scan_rule *rule, const uint64_t *key, uint32_t limbs, const struct scan_key *prepared, uint32_t words, uint32_t pairs)
{
#if defined(TABLE_AVX2)
	const __m128i values = _mm_load_si128((const void *)rule->values), masks = _mm_load_si128((const void *)rule->masks);
	uint32_t lanes[SCAN_RULE_WORDS] = { 0 };
	__m128i keys = _mm_set_epi64x(limbs > 1 ? (long long)key[1] : 0, (long long)key[0]), miss;

	for (uint32_t i = 0; i < words; i++)
		lanes[i] = prepared->words[i];
	for (uint32_t i = 0; i < pairs; i++)
		lanes[words + i] = prepared->pairs[i];
	if (pairs != 0)
		keys = _mm_setr_epi32((int)lanes[0], (int)lanes[1], (int)lanes[2], (int)lanes[3]);
	miss = _mm_and_si128(_mm_xor_si128(keys, values), masks);
	if (pairs != 0) {
		const __m128i outside = _mm_subs_epu16(_mm_sub_epi16(keys, values), masks);
		const __m128i is_pair = _mm_setr_epi32(-(int)(words <= 0), -(int)(words <= 1), -(int)(words <= 2), -(int)(words <= 3));

		miss = _mm_blendv_epi8(miss, outside, is_pair);
	}
	return (uint32_t)_mm_testz_si128(miss, miss);
#else
	uint32_t miss = 0;

	(void)key;
	(void)limbs;
	for (uint32_t i = 0; i < words; i++)
		miss |= (rule->values[i] ^ prepared->words[i]) & rule->masks[i];
	for (uint32_t i = 0; i < pairs; i++) {
		const uint32_t low = rule->values[words + i], width = rule->masks[words + i];
		const uint16_t first = (uint16_t)(prepared->pairs[i] - low), second = (uint16_t)((prepared->pairs[i] >> 16) - (low >> 16));

		miss |= (uint32_t)(first > (width & 0xffff)) | (uint32_t)(second > width >> 16);
	}
	return miss == 0;
#endif
}

/* As `scan_best`, of one rule. */
static inline __attribute__((always_inline)) uint32_t
scan_rule_best(const struct scan_array *array, uint32_t number, const uint64_t *key, uint32_t limbs, const struct scan_key *prepared, uint32_t best,
	       uint32_t words, uint32_t pairs)
{
	const uint32_t match = scan_rule_matches(&array->rules[number], key, limbs, prepared, words, pairs);

	return scan_earlier(best, array->rule_places[number] | (match - 1));
}

#endif
