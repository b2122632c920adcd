/* Ternary match by brute force: eight rules side by side, all words of the key against all of theirs, 64 rules between two branches. Ranges, of fields of at
 * most 32 bits, are compared in lanes as well; those of up to 16 bits two at a time.
 *
 * Of many rules, most say all bits of some chunk of the key: the upper half of an address, a port. Such rules stand in a bucket for the chunk's value, so a key
 * is compared with those of its own value, by one or two chunks, and with the rules that are in no bucket. Where buckets are small, rules stand in them one
 * by one, since a block of eight for each would not stay in the first-level cache. Of few rules, all are compared, and a group of packets is: sixteen side by
 * side against each rule.
 *
 * What readers see never changes but for the numbers of records; the writer replaces it as a whole. */
#ifndef BACUS_TABLE_SCAN_H
#define BACUS_TABLE_SCAN_H

#include "table/chunk.h"
#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define SCAN_MOST 4096u			/* rules */
#define SCAN_LANES 8u
#define SCAN_BLOCKS 8u			/* between two branches */
#define SCAN_WAYS_MOST 4u
#define SCAN_KEY_BITS 640u
#define SCAN_WORDS_MOST (SCAN_KEY_BITS / 32)
#define SCAN_RANGES_MOST 8u
#define SCAN_RULE_WORDS 4u		/* of a key as it is compared with one rule at a time */

/* Bits of the key: a range field. Width 0: none. */
struct scan_field {
	uint32_t shift;
	uint32_t width;
};

/* A rule alone: its values, then their masks, as in a block. */
struct scan_rule {
	_Alignas(16) uint32_t values[SCAN_RULE_WORDS];
	uint32_t masks[SCAN_RULE_WORDS];
};

/* Blocks, or single rules, of one value of a chunk: at least one, which may be empty. */
struct scan_bucket {
	uint32_t first;
	uint32_t last;		/* how many there are beyond the first */
};

/* A chunk, and its values' buckets; number 0 is an empty one. */
struct scan_way {
	struct chunk chunk;
	uint32_t usual;		/* blocks or rules that are compared without asking how many there are: no more are in all but few buckets */
	struct chunk_index *index;
	struct scan_bucket *buckets;
};

/* For each block, in rows of eight: value and mask of each word, then lower end and width of each pair of ranges, then of each wide range. First the blocks of
 * the rules that are in no bucket. Places are the ranks of rules, in the order in which they match. */
struct scan_array {
	uint64_t rest_count;	/* blocks */
	uint64_t bytes;
	uint32_t *records;	/* by place; 0 behind the last rule */
	uint32_t *places;	/* by block and lane; UINT32_MAX for none */
	struct scan_rule *rules;	/* those that stand one by one */
	uint32_t *rule_places;	/* as `places`, for them */
	uint32_t rule_count;
	uint32_t single_count;	/* ways whose rules stand one by one */
	uint32_t way_count;	/* they and those with blocks, behind them */
	uint32_t has_blocks;	/* 1: there are rules in blocks */
	struct scan_way ways[SCAN_WAYS_MOST];
	_Alignas(64) uint32_t rows[][SCAN_LANES];
};

struct scan {
	struct table table;
	struct scan_array *array;
	uint32_t word_count;	/* of the key's 32-bit words that are not all range */
	uint32_t pair_count;
	uint32_t wide_count;
	uint32_t words[SCAN_WORDS_MOST];
	uint32_t whole_pairs;	/* a bit for each pair that lies in the key as it is compared */
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

static inline uint32_t
scan_word32(const uint64_t *key, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, (const uint8_t *)key + offset, sizeof(word));
	return word;
}

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

/* A bit for each rule of the block that matches. */
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

/* The place of a block's first rule that matches, or what was best before. Whether there is one cannot be predicted: no branch about it. */
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

/* Whether a rule that stands alone matches: words, then pairs of ranges. */
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

static inline __attribute__((always_inline)) struct scan_bucket
scan_bucket_of(const struct scan_way *way, const uint64_t *key)
{
	return way->buckets[chunk_number(way->index, chunk_value(&way->chunk, key))];
}

/* The same for a key's bucket, of rules one by one. A bucket with few has its last one compared again. */
static inline __attribute__((always_inline)) uint32_t
scan_single_best(const struct scan *table, const struct scan_array *array, const struct scan_way *way, const uint64_t *key, uint32_t limbs, uint32_t best,
		 uint32_t words, uint32_t pairs)
{
	const struct scan_bucket bucket = scan_bucket_of(way, key);
	struct scan_key prepared;

	prepared.words[0] = prepared.pairs[0] = 0;
	if (pairs != 0 || !SCAN_KEY_IS_FORM)
		scan_prepare(table, key, &prepared, words, pairs, 0);
	best = scan_rule_best(array, bucket.first, key, limbs, &prepared, best, words, pairs);
	if (__builtin_expect(way->usual == 1 && bucket.last == 0, 1))
		return best;
	for (uint32_t i = 1; i < way->usual; i++)
		best = scan_rule_best(array, bucket.first + scan_earlier(i, bucket.last), key, limbs, &prepared, best, words, pairs);
	for (uint32_t i = way->usual; i <= bucket.last; i++)
		best = scan_rule_best(array, bucket.first + i, key, limbs, &prepared, best, words, pairs);
	return best;
}

/* The same for a bucket of blocks. */
static inline __attribute__((always_inline)) uint32_t
scan_way_best(const struct scan_array *array, const struct scan_way *way, const uint64_t *key, const struct scan_key *prepared, uint32_t best, uint32_t words,
	      uint32_t pairs, uint32_t wides)
{
	const struct scan_bucket bucket = scan_bucket_of(way, key);

	for (uint32_t i = 0; i < way->usual; i++)
		best = scan_best(array, bucket.first + scan_earlier(i, bucket.last), prepared, best, words, pairs, wides);
	for (uint32_t i = way->usual; i <= bucket.last; i++)
		best = scan_best(array, bucket.first + i, prepared, best, words, pairs, wides);
	return best;
}

/* The same for the rules in no bucket, of which the first that matches ends the search. */
static inline __attribute__((always_inline)) uint32_t
scan_rest_best(const struct scan_array *array, const struct scan_key *prepared, uint32_t best, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const uint32_t stride = 2 * (words + pairs + wides);
	const uint64_t rest_count = array->rest_count;

	if (array->way_count != 0 && rest_count <= SCAN_BLOCKS) {
		for (uint32_t i = 0; i < rest_count; i++)
			best = scan_best(array, i, prepared, best, words, pairs, wides);
		return best;
	}
	for (uint64_t from = 0; from < rest_count && array->places[from * SCAN_LANES] < best; from += SCAN_BLOCKS) {
		const uint64_t count = rest_count - from < SCAN_BLOCKS ? rest_count - from : SCAN_BLOCKS;
		uint64_t match = 0;

		for (uint64_t i = 0; i < count; i++) {
			const uint32_t (*rows)[SCAN_LANES] = (const uint32_t (*)[SCAN_LANES])array->rows + (from + i) * stride;

			match |= (uint64_t)scan_block(rows, prepared, words, pairs, wides) << i * SCAN_LANES;
		}
		if (match != 0)
			best = scan_earlier(best, array->places[from * SCAN_LANES + (uint32_t)__builtin_ctzll(match)]);
	}
	return best;
}

static inline __attribute__((always_inline)) uint32_t
scan_blocks_best(const struct scan *table, const struct scan_array *array, const uint64_t *key, uint32_t best, uint32_t words, uint32_t pairs, uint32_t wides)
{
	struct scan_key prepared;

	/* For compilers that see a loop over none read the first one. */
	prepared.words[0] = prepared.pairs[0] = prepared.wides[0] = 0;
	scan_prepare(table, key, &prepared, words, pairs, wides);
	for (uint32_t i = array->single_count; i < array->way_count; i++)
		best = scan_way_best(array, &array->ways[i], key, &prepared, best, words, pairs, wides);
	return scan_rest_best(array, &prepared, best, words, pairs, wides);
}

/* Whether a key can be compared with one rule at a time. */
static inline int
scan_fits_rule(uint32_t words, uint32_t pairs, uint32_t wides)
{
	return words + pairs <= SCAN_RULE_WORDS && wides == 0;
}

/* Inlined with literal counts, so that the loops over them are gone. */
static inline __attribute__((always_inline)) uint32_t
scan_all(const struct scan *table, const struct scan_array *array, const uint64_t *key, uint32_t limbs, uint32_t words, uint32_t pairs, uint32_t wides)
{
	uint32_t best = array->rule_count;

	for (uint32_t i = 0; scan_fits_rule(words, pairs, wides) && i < array->single_count; i++)
		best = scan_single_best(table, array, &array->ways[i], key, limbs, best, words, pairs);
	if (array->has_blocks)
		best = scan_blocks_best(table, array, key, best, words, pairs, wides);
	return __atomic_load_n(&array->records[best], __ATOMIC_ACQUIRE);
}

/* What is compared of a key, where the program says it: in the place of `limbs`, so that loops have literal ends. */
static inline uint32_t
scan_form(uint32_t limbs, uint32_t words, uint32_t pairs, uint32_t wides)
{
	return limbs | words << 8 | pairs << 16 | wides << 24;
}

/* The same from the table, where only `limbs` is known. */
static inline uint32_t
scan_form_of(const struct scan *table, uint32_t limbs)
{
	return limbs > UINT8_MAX ? limbs : scan_form(limbs, table->word_count, table->pair_count, table->wide_count);
}

static inline __attribute__((always_inline)) uint32_t
scan_find(const struct scan *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t form = scan_form_of(table, limbs);

	(void)hash;
	return scan_all(table, address, key, form & UINT8_MAX, form >> 8 & UINT8_MAX, form >> 16 & UINT8_MAX, form >> 24);
}

#ifdef TABLE_AVX2
#define SCAN_PACKETS 16u	/* compared with a rule at a time, in two vectors */
#define SCAN_GROUP_MOST 128u	/* rules: of more, half are left out packet by packet, for a packet's rule ends the search */

/* Keys of sixteen packets, in two vectors for each word. */
struct scan_lanes {
	__m256i words[SCAN_WORDS_MOST][2];
	__m256i pairs[SCAN_RANGES_MOST][2];
	__m256i wides[SCAN_RANGES_MOST][2];
};

static inline __m128i
scan_load(const uint64_t *key, uint32_t limb, uint32_t limbs)
{
	return limb + 1 < limbs ? _mm_loadu_si128((const void *)(key + limb)) : _mm_loadl_epi64((const void *)(key + limb));
}

/* The words of eight keys, from packets side by side to words side by side. */
static inline __attribute__((always_inline)) void
scan_transpose(const uint64_t *keys, uint32_t limbs, __m256i (*words)[2], uint32_t half)
{
	for (uint32_t limb = 0; limb < limbs; limb += 2) {
		__m256i packets[4], low[2], high[2];

		for (uint32_t i = 0; i < 4; i++) {
			const __m128i front = scan_load(keys + (size_t)i * limbs, limb, limbs), back = scan_load(keys + (size_t)(i + 4) * limbs, limb, limbs);

			packets[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(front), back, 1);
		}
		for (uint32_t i = 0; i < 2; i++) {
			low[i] = _mm256_unpacklo_epi32(packets[2 * i], packets[2 * i + 1]);
			high[i] = _mm256_unpackhi_epi32(packets[2 * i], packets[2 * i + 1]);
		}
		words[2 * limb][half] = _mm256_unpacklo_epi64(low[0], low[1]);
		words[2 * limb + 1][half] = _mm256_unpackhi_epi64(low[0], low[1]);
		words[2 * limb + 2][half] = _mm256_unpacklo_epi64(high[0], high[1]);
		words[2 * limb + 3][half] = _mm256_unpackhi_epi64(high[0], high[1]);
	}
}

/* As `scan_bits`, of eight keys. */
static inline __m256i
scan_bits_lanes(const __m256i (*words)[2], uint32_t half, struct scan_field field)
{
	const uint32_t word = field.shift / 32, low = field.shift % 32;
	__m256i bits = _mm256_srl_epi32(words[word][half], _mm_cvtsi32_si128((int)low));

	if (low + field.width > 32)
		bits = _mm256_or_si256(bits, _mm256_sll_epi32(words[word + 1][half], _mm_cvtsi32_si128((int)(32 - low))));
	return _mm256_and_si256(bits, _mm256_set1_epi32((int)(uint32_t)(((uint64_t)1 << field.width) - 1)));
}

static inline __attribute__((always_inline)) void
scan_prepare_lanes(const struct scan *table, const uint64_t *keys, uint32_t limbs, struct scan_lanes *lanes, uint32_t words, uint32_t pairs, uint32_t wides)
{
	__m256i all[SCAN_WORDS_MOST + 4][2];

	for (uint32_t half = 0; half < 2; half++) {
		scan_transpose(keys + (size_t)half * 8 * limbs, limbs, all, half);
		for (uint32_t i = 0; i < words; i++)
			lanes->words[i][half] = all[table->words[i]][half];
		for (uint32_t i = 0; i < pairs; i++) {
			const __m256i second = scan_bits_lanes((const __m256i (*)[2])all, half, table->pairs[2 * i + 1]);

			lanes->pairs[i][half] = _mm256_or_si256(scan_bits_lanes((const __m256i (*)[2])all, half, table->pairs[2 * i]), _mm256_slli_epi32(second, 16));
		}
		for (uint32_t i = 0; i < wides; i++)
			lanes->wides[i][half] = scan_bits_lanes((const __m256i (*)[2])all, half, table->wides[i]);
	}
}

/* Zero in the lanes of the packets that a rule matches, whose values stand at `rule` and in every eighth word behind. */
static inline __attribute__((always_inline)) __m256i
scan_rule(const uint32_t *rule, const struct scan_lanes *lanes, uint32_t half, uint32_t words, uint32_t pairs, uint32_t wides)
{
	__m256i miss = _mm256_setzero_si256();

	for (uint32_t i = 0; i < words; i++, rule += 2 * SCAN_LANES) {
		const __m256i differ = _mm256_xor_si256(lanes->words[i][half], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_and_si256(differ, _mm256_set1_epi32((int)rule[SCAN_LANES])));
	}
	for (uint32_t i = 0; i < pairs; i++, rule += 2 * SCAN_LANES) {
		const __m256i above = _mm256_sub_epi16(lanes->pairs[i][half], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_subs_epu16(above, _mm256_set1_epi32((int)rule[SCAN_LANES])));
	}
	for (uint32_t i = 0; i < wides; i++, rule += 2 * SCAN_LANES) {
		const __m256i above = _mm256_sub_epi32(lanes->wides[i][half], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_xor_si256(above, _mm256_min_epu32(above, _mm256_set1_epi32((int)rule[SCAN_LANES]))));
	}
	return miss;
}

/* Sixteen packets against all rules, the last one first: the last that matches has precedence. A rule's words serve all packets. */
static inline __attribute__((always_inline)) void
scan_sixteen(const struct scan *table, const struct scan_array *array, const struct table_group *group, uint32_t from, uint32_t words, uint32_t pairs,
	     uint32_t wides)
{
	const uint32_t stride = 2 * (words + pairs + wides), limbs = group->limbs, none = (uint32_t)array->rest_count * SCAN_LANES;
	__m256i place = _mm256_set1_epi32((int)none), best[2] = { place, place };
	struct scan_lanes lanes;
	uint32_t places[SCAN_PACKETS];

	scan_prepare_lanes(table, group->keys + (size_t)from * limbs, limbs, &lanes, words, pairs, wides);
	for (uint32_t block = (uint32_t)array->rest_count; block-- != 0;) {
		const uint32_t *rows = array->rows[(size_t)block * stride];

		for (uint32_t lane = SCAN_LANES; lane-- != 0;) {
			place = _mm256_add_epi32(place, _mm256_set1_epi32(-1));
			for (uint32_t half = 0; half < 2; half++) {
				const __m256i miss = scan_rule(rows + lane, &lanes, half, words, pairs, wides);
				const __m256i match = _mm256_cmpeq_epi32(miss, _mm256_setzero_si256());

				best[half] = _mm256_blendv_epi8(best[half], place, match);
			}
		}
	}
	for (uint32_t half = 0; half < 2; half++)
		_mm256_storeu_si256((void *)(places + 8 * half), best[half]);
	for (uint32_t i = 0; i < SCAN_PACKETS; i++)
		group->found[from + i] = __atomic_load_n(&array->records[places[i]], __ATOMIC_ACQUIRE);
}

#endif

/* Of rules with buckets: way by way, so that what is of a way stays in registers; then the blocks. */
static inline __attribute__((always_inline)) void
scan_ways_group(const struct scan *table, const struct scan_array *array, const struct table_group *group, uint32_t words, uint32_t pairs, uint32_t wides)
{
	uint32_t best[TABLE_GROUP_MOST];

	for (uint32_t i = 0; i < group->count; i++)
		best[i] = array->rule_count;
	for (uint32_t number = 0; scan_fits_rule(words, pairs, wides) && number < array->single_count; number++) {
		const struct scan_way way = array->ways[number];

		for (uint32_t i = 0; i < group->count; i++)
			best[i] = scan_single_best(table, array, &way, group->keys + (size_t)i * group->limbs, group->limbs, best[i], words, pairs);
	}
	for (uint32_t i = 0; array->has_blocks && i < group->count; i++)
		best[i] = scan_blocks_best(table, array, group->keys + (size_t)i * group->limbs, best[i], words, pairs, wides);
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = __atomic_load_n(&array->records[best[i]], __ATOMIC_ACQUIRE);
}

/* Inlined with literal counts. Few rules are compared with packets side by side; what is left of the group goes packet by packet. */
static inline __attribute__((always_inline)) void
scan_all_group(const struct scan *table, const struct table_group *group, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const struct scan_array *array = scan_address(table, 0);
	uint32_t from = 0;

	if (array->way_count != 0) {
		scan_ways_group(table, array, group, words, pairs, wides);
		return;
	}
#ifdef TABLE_AVX2
	while (array->rest_count <= SCAN_GROUP_MOST / SCAN_LANES && from + SCAN_PACKETS <= group->count) {
		scan_sixteen(table, array, group, from, words, pairs, wides);
		from += SCAN_PACKETS;
	}
#endif
	for (uint32_t i = from; i < group->count; i++) {
		const uint64_t *key = group->keys + (size_t)i * group->limbs;

		group->found[i] = scan_all(table, array, key, group->limbs, words, pairs, wides);
	}
}

static inline __attribute__((always_inline)) void
scan_find_group(const struct scan *table, const struct table_group *group)
{
	const uint32_t form = scan_form_of(table, group->form);

	scan_all_group(table, group, form >> 8 & UINT8_MAX, form >> 16 & UINT8_MAX, form >> 24);
}

#endif
