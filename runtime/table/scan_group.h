/* A group of packets against the few rules of a scan.h: packets stand side by side, and a rule's words, each in all lanes of a vector, serve all of them. With
 * AVX-512 a vector has sixteen packets instead of eight. */
#ifndef BACUS_TABLE_SCAN_GROUP_H
#define BACUS_TABLE_SCAN_GROUP_H

#include "table/group.h"
#include "table/scan_rules.h"

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

#endif
