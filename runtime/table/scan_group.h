/* A group of packets against the few rules of a scan.h: one packet per SIMD lane, and a rule's words
 * broadcast. A vector has eight packets, or sixteen with AVX-512.
 *
 *    scan_rules.h   one key against a block:   lane = rule       key broadcast
 *    here           one rule against packets:  lane = packet     rule broadcast
 *
 * For few rules this needs fewer instructions: nothing of a packet is loaded again, and no lane is searched for. */
#ifndef BACUS_TABLE_SCAN_GROUP_H
#define BACUS_TABLE_SCAN_GROUP_H

#include "table/group.h"
#include "table/scan_rules.h"

#ifdef TABLE_AVX2
#define SCAN_PACKETS 16u	/* compared with a rule at a time, at least */
#define SCAN_VECTORS 2u		/* that a rule's words serve, at most */

#ifdef TABLE_AVX512
/* What a bit of three vectors makes of theirs. */
/* Bit a*4 + b*2 + c of the constant is the result for bits a, b, c. */
#define SCAN_DIFFER 0x28	/* (a ^ b) & c */
#define SCAN_OR_AND 0xf8	/* a | (b & c) */
#define SCAN_OR_XOR 0xf6	/* a | (b ^ c) */
#define SCAN_EIGHTS 2u		/* of packets to a vector */
#define SCAN_GROUP_MOST 256u	/* rules: twice as many as below, for one takes a packet 1.0 instructions instead of 2.6 (5-tuples, gcc 12) */
typedef __m512i scan_vector;
#else
#define SCAN_EIGHTS 1u
#define SCAN_GROUP_MOST 128u	/* rules: of more, half are skipped packet by packet, since a match ends the search there */
typedef __m256i scan_vector;
#endif

/* Keys of some packets, in `SCAN_VECTORS` vectors at most for each word. */
struct scan_lanes {
	scan_vector words[SCAN_WORDS_MOST][SCAN_VECTORS];
	scan_vector pairs[SCAN_RANGES_MOST][SCAN_VECTORS];
	scan_vector wides[SCAN_RANGES_MOST][SCAN_VECTORS];
};

/* A last odd limb alone: the next one may lie beyond the keys. */
static inline __m128i
scan_load(const uint64_t *key, uint32_t limb, uint32_t limbs)
{
	return limb + 1 < limbs ? _mm_loadu_si128((const void *)(key + limb)) : _mm_loadl_epi64((const void *)(key + limb));
}

/* Transposes the words of eight keys, so that a vector has one word of each.
 *
 *    packets[i]    a0 a1 a2 a3 | e0 e1 e2 e3        two limbs of packet i and of packet i + 4 (a .. h: packets)
 *    low[0]        a0 b0 a1 b1 | e0 f0 e1 f1        unpacklo_epi32(packets 0, 1)
 *    low[1]        c0 d0 c1 d1 | g0 h0 g1 h1
 *    words[0]      a0 b0 c0 d0 | e0 f0 g0 h0        unpacklo_epi64(low[0], low[1]): word 0 of all eight
 *    words[1]      a1 b1 c1 d1 | ..                 the upper halves; words 2 and 3 from `high`
 */
static inline __attribute__((always_inline)) void
scan_transpose(const uint64_t *keys, uint32_t limbs, __m256i *words)
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
		words[2 * limb] = _mm256_unpacklo_epi64(low[0], low[1]);
		words[2 * limb + 1] = _mm256_unpackhi_epi64(low[0], low[1]);
		words[2 * limb + 2] = _mm256_unpacklo_epi64(high[0], high[1]);
		words[2 * limb + 3] = _mm256_unpackhi_epi64(high[0], high[1]);
	}
}

/* As `scan_bits`, of eight keys. */
static inline __m256i
scan_bits_lanes(const __m256i *words, struct scan_field field)
{
	const uint32_t word = field.shift / 32, low = field.shift % 32;
	__m256i bits = _mm256_srl_epi32(words[word], _mm_cvtsi32_si128((int)low));

	if (low + field.width > 32)
		bits = _mm256_or_si256(bits, _mm256_sll_epi32(words[word + 1], _mm_cvtsi32_si128((int)(32 - low))));
	return _mm256_and_si256(bits, _mm256_set1_epi32((int)(uint32_t)(((uint64_t)1 << field.width) - 1)));
}

/* What the packets of a vector have for one word, eight by eight. */
static inline scan_vector
scan_join(const __m256i *eights)
{
#ifdef TABLE_AVX512
	return _mm512_inserti64x4(_mm512_castsi256_si512(eights[0]), eights[1], 1);
#else
	return eights[0];
#endif
}

/* The keys of one vector's packets. The same form as `scan_prepare`, for eight packets at a time: words as they
 * are, ranges shifted out of words. */
static inline __attribute__((always_inline)) void
scan_prepare_vector(const struct scan *table, const uint64_t *keys, uint32_t limbs, struct scan_lanes *lanes, uint32_t vector, uint32_t words, uint32_t pairs,
		    uint32_t wides)
{
	__m256i all[SCAN_EIGHTS][SCAN_WORDS_MOST + 4], bits[SCAN_EIGHTS];

	for (uint32_t eight = 0; eight < SCAN_EIGHTS; eight++)
		scan_transpose(keys + (size_t)eight * 8 * limbs, limbs, all[eight]);
	for (uint32_t i = 0; i < words; i++) {
		for (uint32_t eight = 0; eight < SCAN_EIGHTS; eight++)
			bits[eight] = all[eight][table->words[i]];
		lanes->words[i][vector] = scan_join(bits);
	}
	for (uint32_t i = 0; i < pairs; i++) {
		for (uint32_t eight = 0; eight < SCAN_EIGHTS; eight++) {
			const __m256i second = scan_bits_lanes(all[eight], table->pairs[2 * i + 1]);

			bits[eight] = _mm256_or_si256(scan_bits_lanes(all[eight], table->pairs[2 * i]), _mm256_slli_epi32(second, 16));
		}
		lanes->pairs[i][vector] = scan_join(bits);
	}
	for (uint32_t i = 0; i < wides; i++) {
		for (uint32_t eight = 0; eight < SCAN_EIGHTS; eight++)
			bits[eight] = scan_bits_lanes(all[eight], table->wides[i]);
		lanes->wides[i][vector] = scan_join(bits);
	}
}

/* Zero in the lanes of packets that match a rule, whose values are at `rule` and in every eighth word after it.
 * As `scan_block`, whose rows this reads column by column. AVX-512 folds two steps into one ternary operation. */
static inline __attribute__((always_inline)) scan_vector
scan_rule(const uint32_t *rule, const struct scan_lanes *lanes, uint32_t vector, uint32_t words, uint32_t pairs, uint32_t wides)
{
#ifdef TABLE_AVX512
	__m512i miss = _mm512_setzero_si512();

	for (uint32_t i = 0; i < words; i++, rule += 2 * SCAN_LANES) {
		const __m512i key = lanes->words[i][vector], value = _mm512_set1_epi32((int)rule[0]), mask = _mm512_set1_epi32((int)rule[SCAN_LANES]);

		if (i == 0)
			miss = _mm512_ternarylogic_epi32(key, value, mask, SCAN_DIFFER);
		else
			miss = _mm512_ternarylogic_epi32(miss, _mm512_xor_si512(key, value), mask, SCAN_OR_AND);
	}
	for (uint32_t i = 0; i < pairs; i++, rule += 2 * SCAN_LANES) {
		const __m512i above = _mm512_sub_epi16(lanes->pairs[i][vector], _mm512_set1_epi32((int)rule[0]));

		miss = _mm512_or_si512(miss, _mm512_subs_epu16(above, _mm512_set1_epi32((int)rule[SCAN_LANES])));
	}
	for (uint32_t i = 0; i < wides; i++, rule += 2 * SCAN_LANES) {
		const __m512i above = _mm512_sub_epi32(lanes->wides[i][vector], _mm512_set1_epi32((int)rule[0]));

		miss = _mm512_ternarylogic_epi32(miss, above, _mm512_min_epu32(above, _mm512_set1_epi32((int)rule[SCAN_LANES])), SCAN_OR_XOR);
	}
#else
	__m256i miss = _mm256_setzero_si256();

	for (uint32_t i = 0; i < words; i++, rule += 2 * SCAN_LANES) {
		const __m256i differ = _mm256_xor_si256(lanes->words[i][vector], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_and_si256(differ, _mm256_set1_epi32((int)rule[SCAN_LANES])));
	}
	for (uint32_t i = 0; i < pairs; i++, rule += 2 * SCAN_LANES) {
		const __m256i above = _mm256_sub_epi16(lanes->pairs[i][vector], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_subs_epu16(above, _mm256_set1_epi32((int)rule[SCAN_LANES])));
	}
	for (uint32_t i = 0; i < wides; i++, rule += 2 * SCAN_LANES) {
		const __m256i above = _mm256_sub_epi32(lanes->wides[i][vector], _mm256_set1_epi32((int)rule[0]));

		miss = _mm256_or_si256(miss, _mm256_xor_si256(above, _mm256_min_epu32(above, _mm256_set1_epi32((int)rule[SCAN_LANES]))));
	}
#endif
	return miss;
}

static inline scan_vector
scan_place(uint32_t place)
{
#ifdef TABLE_AVX512
	return _mm512_set1_epi32((int)place);
#else
	return _mm256_set1_epi32((int)place);
#endif
}

/* One vector is decremented instead of broadcasting a new place for each rule. */
static inline scan_vector
scan_place_before(scan_vector place)
{
#ifdef TABLE_AVX512
	return _mm512_add_epi32(place, _mm512_set1_epi32(-1));
#else
	return _mm256_add_epi32(place, _mm256_set1_epi32(-1));
#endif
}

/* `place` where nothing is missed, what was best before elsewhere. A blend under the mask of the lanes that
 * match; AVX2 takes the top bit of each byte of an all-ones lane. */
static inline scan_vector
scan_place_best(scan_vector best, scan_vector place, scan_vector miss)
{
#ifdef TABLE_AVX512
	return _mm512_mask_mov_epi32(best, _mm512_cmpeq_epi32_mask(miss, _mm512_setzero_si512()), place);
#else
	return _mm256_blendv_epi8(best, place, _mm256_cmpeq_epi32(miss, _mm256_setzero_si256()));
#endif
}

static inline void
scan_store(uint32_t *places, scan_vector best)
{
#ifdef TABLE_AVX512
	_mm512_storeu_si512((void *)places, best);
#else
	_mm256_storeu_si256((void *)places, best);
#endif
}

/* So many vectors of packets against all rules, last rule first: the last match takes precedence. So each match
 * overwrites the one before, and the first rule in order is the last to be stored: no minimum, no branch.
 * `place` counts down with the rules. Lanes behind the last rule have masks of 0 and may match a key, but they are
 * the first to be compared, and their records are 0: a packet that no rule matches is left with one of them, or
 * with the place behind the last block. */
static inline __attribute__((always_inline)) void
scan_together(const struct scan *table, const struct scan_array *array, const struct table_group *group, uint32_t from, uint32_t vectors, uint32_t words,
	      uint32_t pairs, uint32_t wides)
{
	const uint32_t stride = 2 * (words + pairs + wides), limbs = group->limbs, eights = vectors * SCAN_EIGHTS;
	scan_vector place = scan_place((uint32_t)array->rest_count * SCAN_LANES), best[SCAN_VECTORS] = { place, place };
	struct scan_lanes lanes;
	uint32_t places[SCAN_VECTORS * SCAN_EIGHTS * 8];

	for (uint32_t vector = 0; vector < vectors; vector++) {
		const uint64_t *keys = group->keys + (size_t)(from + vector * SCAN_EIGHTS * 8) * limbs;

		scan_prepare_vector(table, keys, limbs, &lanes, vector, words, pairs, wides);
	}
	for (uint32_t block = (uint32_t)array->rest_count; block-- != 0;) {
		const uint32_t *rows = array->rows[(size_t)block * stride];

		for (uint32_t lane = SCAN_LANES; lane-- != 0;) {
			place = scan_place_before(place);
			for (uint32_t vector = 0; vector < vectors; vector++)
				best[vector] = scan_place_best(best[vector], place, scan_rule(rows + lane, &lanes, vector, words, pairs, wides));
		}
	}
	for (uint32_t vector = 0; vector < vectors; vector++)
		scan_store(places + vector * SCAN_EIGHTS * 8, best[vector]);
	for (uint32_t i = 0; i < eights * 8; i++)
		group->found[from + i] = __atomic_load_n(&array->records[places[i]], __ATOMIC_ACQUIRE);
}
#endif

/* Returns how many of the group's packets, from the first on, have been looked up in vectors. The counts are
 * literals. For more rules a packet alone is faster: it stops at its match, a group at none. */
static inline __attribute__((always_inline)) uint32_t
scan_few_group(const struct scan *table, const struct scan_array *array, const struct table_group *group, uint32_t words, uint32_t pairs, uint32_t wides)
{
	uint32_t from = 0;

#ifdef TABLE_AVX2
	const uint32_t most = SCAN_VECTORS * SCAN_EIGHTS * 8;

	if (array->rest_count > SCAN_GROUP_MOST / SCAN_LANES)
		return 0;
	for (; from + most <= group->count; from += most)
		scan_together(table, array, group, from, SCAN_VECTORS, words, pairs, wides);
	for (; most > SCAN_PACKETS && from + SCAN_PACKETS <= group->count; from += SCAN_PACKETS)
		scan_together(table, array, group, from, 1, words, pairs, wides);
#else
	(void)table;
	(void)array;
	(void)group;
	(void)words;
	(void)pairs;
	(void)wides;
#endif
	return from;
}

#endif
