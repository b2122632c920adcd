/* Ternary match by tuples, for up to some ten thousand rules: rules that fix the same parts of a key are in one hash table by these parts, a tuple, and a key
 * is looked up in each. Few tuples hold most rules, for a rule may be in any tuple whose mask it fixes; rules that fix too few bits are in a tuple with an
 * empty mask, where each key is compared with all of them.
 *
 * A tuple's heads are small and mostly empty, so in most tuples a key reads one word in L1. What it finds are pairs of rules, a line each
 * for keys of 128 bits, compared as lanes of 16 bits: a ternary lane by its mask, a lane of a range by its ends. The best rank wins, the rule's label above
 * its record's number.
 *
 * Rules that readers have seen never change but for a rank, which is one word: a bucket with one more is a new run of pairs, shown by one store of its head.
 * Pairs that nothing leads to any more wait until the writer makes everything anew.
 *
 *    key ─▶ (key & mask) * multipliers, summed ─▶ heads[..] ─▶ first pair << 16 | pairs ─▶ pairs, ranks
 *           of each tuple                          0: no rule
 *
 *    rank   | label 32 | record 32 |     the lower label comes first: labels are in the order of priority, with gaps
 */
#ifndef BACUS_TABLE_TUPLE_SPACE_H
#define BACUS_TABLE_TUPLE_SPACE_H

#include "table/chunk.h"
#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define TUPLE_SPACE_MOST 65536u		/* rules */
#define TUPLE_SPACE_KEY_BITS 512u
#define TUPLE_SPACE_RANGES_MOST 8u
#define TUPLE_SPACE_LIMBS_MOST 10u	/* of a key with its ranges in lanes of their own */
#define TUPLE_SPACE_TUPLES_MOST 32u
#define TUPLE_SPACE_RUN_BITS 16u	/* of a head: how many pairs; above, the first. All rules may be in one bucket, or each in its own */
#define TUPLE_SPACE_RUN_MOST ((1u << TUPLE_SPACE_RUN_BITS) - 1)
#define TUPLE_SPACE_NONE 0x7ff0000000000000ll	/* a rank that loses against all: as a floating-point number, infinity, see `tuple_space_pair` */
#define TUPLE_SPACE_EVERY 8u		/* so many tuples are looked at whatever was found: that a better rule may follow is hard to predict */

static const uint64_t tuple_space_multipliers[TUPLE_SPACE_LIMBS_MOST] = {
	0x9e3779b97f4a7c15ull, 0xc2b2ae3d27d4eb4full, 0xd6e8feb86659fd93ull, 0x8bb84b93962eacc9ull, 0x2d358dccaa6c78a5ull,
	0xbf58476d1ce4e5b9ull, 0x94d049bb133111ebull, 0xff51afd7ed558ccdull, 0xc4ceb9fe1a85ec53ull, 0xa0761d6478bd642full,
};

struct tuple_space_tuple {
	uint64_t mask[TUPLE_SPACE_LIMBS_MOST];	/* bits that all of its rules fix */
	uint32_t *heads;
	uint32_t shift;		/* 64 less the bits of a head's number */
	uint32_t first;		/* no rule of it has a lower label */
};

/* `pairs`: for each two limbs the first and the second rule's lower limbs, their upper ones, and the masks alike. A lane of a range has its lower end, and
 * the distance to the upper one. `ranks`: two for each pair.
 *
 *    unit    lo1 lo2 hi1 hi2 | mlo1 mlo2 mhi1 mhi2        two limbs (128 bits) of rules 1 and 2: one line
 *    a lane of 16 bits is ternary (value, mask) or a range (low, high - low), given by `ternary`
 */
struct tuple_space_array {
	uint64_t bytes;
	uint32_t tuple_count;
	uint32_t pair_count;	/* taken */
	uint32_t pair_room;
	uint32_t head_room;
	int64_t *ranks;
	uint64_t *pairs;
	struct tuple_space_tuple tuples[TUPLE_SPACE_TUPLES_MOST];
};

struct tuple_space {
	struct table table;
	struct tuple_space_array *array;
	uint32_t units;		/* of two limbs, in a rule */
	uint32_t whole;		/* 1: keys can be compared as they are */
	uint32_t range_count;
	uint64_t ternary[TUPLE_SPACE_LIMBS_MOST];	/* ones but in lanes of ranges */
	/* Ranges: their lanes, and where they come from. Those that do not fill a lane of the key have one behind it. */
	uint16_t ranges[TUPLE_SPACE_RANGES_MOST];
	struct chunk lanes[TUPLE_SPACE_RANGES_MOST];
};

static inline uint64_t
tuple_space_hash(const struct tuple_space *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return key[0];
}

static inline const void *
tuple_space_address(const struct tuple_space *table, uint64_t hash)
{
	(void)hash;
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

/* The key as rules are compared with it.
 *
 *    limbs     key as it is | 0 ..                      up to a multiple of two limbs
 *    ranges    that do not fill a 16-bit lane of the key are copied into lanes behind it
 */
static inline __attribute__((always_inline)) void
tuple_space_prepare(const struct tuple_space *table, const uint64_t *key, uint32_t limbs, uint64_t *prepared, uint32_t units)
{
	for (uint32_t limb = 0; limb < 2 * units; limb++)
		prepared[limb] = limb < limbs ? key[limb] : 0;
	/* A lane that is part of the key has its value already. */
	for (uint32_t i = 0; !table->whole && i < table->range_count; i++)
		prepared[table->ranges[i] / 4] |= (uint64_t)chunk_value(&table->lanes[i], key) << table->ranges[i] % 4 * 16;
}

/* A sum of products, since products of limbs are independent of each other; upper bits are the head's number. */
static inline __attribute__((always_inline)) uint32_t
tuple_space_head(const struct tuple_space_tuple *tuple, const uint64_t *key, uint32_t units)
{
	uint64_t hash = 0;

	for (uint32_t limb = 0; limb < 2 * units; limb++)
		hash += (key[limb] & tuple->mask[limb]) * tuple_space_multipliers[limb];
	/* Compilers would multiply in vectors, which AVX2 has no instruction for. */
	__asm__("" : "+r"(hash));
	return __atomic_load_n(&tuple->heads[hash >> tuple->shift], __ATOMIC_ACQUIRE);
}

#ifdef TABLE_AVX2
/* The best ranks so far, of first rules and of second ones. */
typedef __m128d tuple_space_best;

static inline __attribute__((always_inline)) tuple_space_best
tuple_space_none(void)
{
	return _mm_castsi128_pd(_mm_set1_epi64x(TUPLE_SPACE_NONE));
}

/* Ranks are compared as floating-point numbers, whose order is that of their bits: labels keep clear of those that are none or denormal.
 * AVX2 has no minimum of 64-bit integers, but one of doubles.
 *
 *    twice    k0 k1 | k0 k1   permuted by 0xc   limbs   k0 k0 | k1 k1      beside  lo1 lo2 | hi1 hi2
 *    differ   (limbs ^ value) & mask             of ternary lanes
 *    above    subs(limbs - value, mask | ternary): of ranges; saturated to 0 for ternary lanes, whose mask is all ones
 *    either   lower half | upper half: 64 bits per rule; 0 means that it matches
 *    result   min(rank where it matches, best)
 */
static inline __attribute__((always_inline)) tuple_space_best
tuple_space_pair(const struct tuple_space *table, const struct tuple_space_array *array, uint32_t pair, const uint64_t *key, tuple_space_best best,
		 uint32_t units)
{
	const uint64_t *rules = array->pairs + (size_t)pair * 8 * units;
	const __m128d ranks = _mm_load_pd((const double *)(const void *)(array->ranks + 2 * (size_t)pair));
	__m256i miss = _mm256_setzero_si256();
	__m128i either;

	for (uint32_t unit = 0; unit < units; unit++) {
		/* Two loads, since limbs may just have been written: one load of both would wait for the
		 * stores to complete. */
		const __m256i twice = _mm256_broadcastsi128_si256(_mm_set_epi64x((long long)key[2 * unit + 1], (long long)key[2 * unit]));
		const __m256i limbs = _mm256_castpd_si256(_mm256_permute_pd(_mm256_castsi256_pd(twice), 0xc));
		const __m256i lanes = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(table->ternary + 2 * unit)));
		const __m256i ternary = _mm256_castpd_si256(_mm256_permute_pd(_mm256_castsi256_pd(lanes), 0xc));
		const __m256i value = _mm256_load_si256((const void *)(rules + 8 * unit)), mask = _mm256_load_si256((const void *)(rules + 8 * unit + 4));
		const __m256i differ = _mm256_and_si256(_mm256_xor_si256(limbs, value), _mm256_and_si256(mask, ternary));
		const __m256i above = _mm256_subs_epu16(_mm256_sub_epi16(limbs, value), _mm256_or_si256(mask, ternary));

		miss = _mm256_or_si256(miss, _mm256_or_si256(differ, above));
	}
	either = _mm_or_si128(_mm256_castsi256_si128(miss), _mm256_extracti128_si256(miss, 1));
	either = _mm_cmpeq_epi64(either, _mm_setzero_si128());
	return _mm_min_pd(_mm_blendv_pd(best, ranks, _mm_castsi128_pd(either)), best);
}

static inline __attribute__((always_inline)) int64_t
tuple_space_rank(tuple_space_best best)
{
	const __m128i ranks = _mm_castpd_si128(best);
	const int64_t first = _mm_cvtsi128_si64(ranks), second = _mm_extract_epi64(ranks, 1);

	return first < second ? first : second;
}
#else
typedef int64_t tuple_space_best;

static inline tuple_space_best
tuple_space_none(void)
{
	return TUPLE_SPACE_NONE;
}

static inline tuple_space_best
tuple_space_pair(const struct tuple_space *table, const struct tuple_space_array *array, uint32_t pair, const uint64_t *key, tuple_space_best best,
		 uint32_t units)
{
	const uint64_t *rules = array->pairs + (size_t)pair * 8 * units;

	for (uint32_t rule = 0; rule < 2; rule++) {
		const int64_t rank = __atomic_load_n(&array->ranks[2 * (size_t)pair + rule], __ATOMIC_ACQUIRE);
		uint64_t miss = 0;

		for (uint32_t limb = 0; limb < 2 * units; limb++) {
			const uint64_t *at = rules + limb / 2 * 8 + limb % 2 * 2 + rule;

			miss |= (key[limb] ^ at[0]) & at[4] & table->ternary[limb];
		}
		for (uint32_t i = 0; i < table->range_count; i++) {
			const uint32_t lane = table->ranges[i], limb = lane / 4, shift = lane % 4 * 16;
			const uint64_t *at = rules + limb / 2 * 8 + limb % 2 * 2 + rule;

			miss |= (uint64_t)((uint16_t)((key[limb] >> shift) - (at[0] >> shift)) > (uint16_t)(at[4] >> shift));
		}
		best = miss == 0 && rank < best ? rank : best;
	}
	return best;
}

static inline int64_t
tuple_space_rank(tuple_space_best best)
{
	return best;
}
#endif

/* Mostly of one pair: a bucket has one rule or two. */
static inline __attribute__((always_inline)) tuple_space_best
tuple_space_run(const struct tuple_space *table, const struct tuple_space_array *array, uint32_t head, const uint64_t *key, tuple_space_best best,
		uint32_t units)
{
	uint32_t pair = head >> TUPLE_SPACE_RUN_BITS;

	for (uint32_t left = head & TUPLE_SPACE_RUN_MOST; left != 0; left--)
		best = tuple_space_pair(table, array, pair++, key, best, units);
	return best;
}

/* The head of the last tuple, that of nothing: all keys are in it. */
static inline uint32_t
tuple_space_head_of_all(const struct tuple_space_array *array)
{
	return __atomic_load_n(&array->tuples[array->tuple_count - 1].heads[0], __ATOMIC_ACQUIRE);
}

static inline uint32_t
tuple_space_record(tuple_space_best best)
{
	const int64_t rank = tuple_space_rank(best);

	return rank == TUPLE_SPACE_NONE ? 0 : (uint32_t)rank;
}

/* Whether all rules of a tuple lose against what was found, in a table of many tuples. Tuples are in the order
 * of how much they ask for, not of rank, so a later one may still win: hence the test per tuple. `best >> 32` is
 * the label; without a match it is that of infinity, which is above all labels but below UINT32_MAX: tuples
 * without rules are skipped as well. */
static inline int
tuple_space_is_late(const struct tuple_space_tuple *tuple, uint32_t number, tuple_space_best best)
{
	return number >= TUPLE_SPACE_EVERY && tuple_space_rank(best) >> 32 < __atomic_load_n(&tuple->first, __ATOMIC_RELAXED);
}

/* Inlined with a literal number of units, so that the loops over them are gone. The tuple of nothing is apart:
 * its head needs no hash, since all keys have the same one. */
static inline __attribute__((always_inline)) uint32_t
tuple_space_all(const struct tuple_space *table, const struct tuple_space_array *array, const uint64_t *key, uint32_t limbs, uint32_t units)
{
	const uint32_t last = array->tuple_count - 1;
	tuple_space_best best = tuple_space_none();
	uint64_t prepared[TUPLE_SPACE_LIMBS_MOST];

	tuple_space_prepare(table, key, limbs, prepared, units);
	for (uint32_t i = 0; i < last; i++) {
		const struct tuple_space_tuple *tuple = &array->tuples[i];

		if (!tuple_space_is_late(tuple, i, best))
			best = tuple_space_run(table, array, tuple_space_head(tuple, prepared, units), prepared, best, units);
	}
	if (!tuple_space_is_late(&array->tuples[last], last, best))
		best = tuple_space_run(table, array, tuple_space_head_of_all(array), prepared, best, units);
	return tuple_space_record(best);
}

static inline uint32_t
tuple_space_find(const struct tuple_space *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	(void)hash;
	switch (table->units) {
	case 1:
		return tuple_space_all(table, address, key, limbs, 1);
	case 3:
		return tuple_space_all(table, address, key, limbs, 3);
	default:
		return tuple_space_all(table, address, key, limbs, table->units);
	}
}

/* What a group's keys lead to in one tuple: the packets with a head that is not empty, without a branch. The
 * index is advanced by 0 or 1: a hit overwrites nothing, a miss is overwritten by the next one. */
/* One more than there are packets: the store behind the last hit is made, and ignored. */
struct tuple_space_hits {
	uint32_t count;
	uint32_t packets[TABLE_GROUP_MOST + 1];
	uint32_t heads[TABLE_GROUP_MOST + 1];
};

static inline __attribute__((always_inline)) void
tuple_space_heads(const struct tuple_space_tuple *tuple, const uint64_t *keys, uint32_t count, struct tuple_space_hits *hits, uint32_t units)
{
	const struct tuple_space_tuple held = *tuple;
	uint32_t hit = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t head = tuple_space_head(&held, keys + (size_t)i * 2 * units, units);

		hits->packets[hit] = i;
		hits->heads[hit] = head;
		hit += head != 0;
	}
	hits->count = hit;
}

/* Tuple by tuple for all packets. */
static inline __attribute__((always_inline)) void
tuple_space_all_group(const struct tuple_space *table, const struct table_group *group, uint32_t units)
{
	const struct tuple_space_array *array = tuple_space_address(table, 0);
	uint64_t prepared[TABLE_GROUP_MOST * TUPLE_SPACE_LIMBS_MOST];
	const uint64_t *keys = table->whole ? group->keys : prepared;
	tuple_space_best best[TABLE_GROUP_MOST];
	struct tuple_space_hits hits;

	for (uint32_t i = 0; !table->whole && i < group->count; i++)
		tuple_space_prepare(table, group->keys + (size_t)i * group->limbs, group->limbs, prepared + (size_t)i * 2 * units, units);
	for (uint32_t i = 0; i < group->count; i++)
		best[i] = tuple_space_none();
	for (uint32_t i = 0; i + 1 < array->tuple_count; i++) {
		tuple_space_heads(&array->tuples[i], keys, group->count, &hits, units);
		for (uint32_t hit = 0; hit < hits.count; hit++) {
			const uint32_t at = hits.packets[hit];

			best[at] = tuple_space_run(table, array, hits.heads[hit], keys + (size_t)at * 2 * units, best[at], units);
		}
	}
	for (uint32_t i = 0, head = tuple_space_head_of_all(array); head != 0 && i < group->count; i++)
		best[i] = tuple_space_run(table, array, head, keys + (size_t)i * 2 * units, best[i], units);
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = tuple_space_record(best[i]);
}

static inline __attribute__((always_inline)) void
tuple_space_find_group(const struct tuple_space *table, const struct table_group *group)
{
	switch (table->units) {
	case 1:
		tuple_space_all_group(table, group, 1);
		break;
	case 3:
		tuple_space_all_group(table, group, 3);
		break;
	default:
		tuple_space_all_group(table, group, table->units);
	}
}

#endif
