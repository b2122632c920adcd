/* Ternary match by comparing all rules: a vector has eight rules, the words of the key are compared with
 * theirs, with a branch per 64 rules. Ranges of fields of at most 32 bits are compared in vectors as well;
 * those of up to 16 bits two at a time.
 *
 * Of many rules, most specify all bits of some chunk of the key: a port, or the half of an address before the
 * end of a prefix. These are in buckets by the chunk's value, so a key is compared with one or two buckets,
 * and with the rules without bucket. Small buckets have single rules, since a block of eight per bucket would
 * not stay in L1. Few rules are all compared; a group of packets is compared with each rule in vectors of
 * sixteen or more packets.
 *
 * What readers see never changes except for record numbers; the writer replaces it as a whole.
 *
 *    key ─▶ chunk of partition 0 ─▶ bucket ─▶ 1 .. `expected` blocks or rules, always compared; rarely more
 *        ─▶ chunk of partition 1 ─▶ ..
 *        ─▶ blocks of the rest, in order of rank, until one matches
 *    best = least rank of all matches ─▶ records[best]
 *
 * `records` is the one thing that `modify` changes in place: one store, of one word. */
#ifndef BACUS_TABLE_SCAN_H
#define BACUS_TABLE_SCAN_H

#include "table/scan_group.h"
#include "table/scan_rules.h"

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

static inline __attribute__((always_inline)) struct scan_bucket
scan_bucket_of(const struct scan_partition *partition, const uint64_t *key)
{
	return partition->buckets[chunk_number(partition->index, chunk_value(&partition->chunk, key))];
}

/* As `scan_best`, for a key's bucket of single rules. A bucket with few compares its last one again. `expected`
 * comparisons are made without reading how many there are: the number is unpredictable, a comparison is cheap. */
static inline __attribute__((always_inline)) uint32_t
scan_single_best(const struct scan *table, const struct scan_array *array, const struct scan_partition *partition, const uint64_t *key, uint32_t limbs,
		 uint32_t best, uint32_t words, uint32_t pairs)
{
	const struct scan_bucket bucket = scan_bucket_of(partition, key);
	struct scan_key prepared;

	prepared.words[0] = prepared.pairs[0] = 0;
	if (pairs != 0 || !SCAN_KEY_IS_FORM)
		scan_prepare(table, key, &prepared, words, pairs, 0);
	best = scan_rule_best(array, bucket.first, key, limbs, &prepared, best, words, pairs);
	if (__builtin_expect(partition->expected == 1 && bucket.last == 0, 1))
		return best;
	for (uint32_t i = 1; i < partition->expected; i++)
		best = scan_rule_best(array, bucket.first + scan_earlier(i, bucket.last), key, limbs, &prepared, best, words, pairs);
	for (uint32_t i = partition->expected; i <= bucket.last; i++)
		best = scan_rule_best(array, bucket.first + i, key, limbs, &prepared, best, words, pairs);
	return best;
}

/* The same for a bucket of blocks. */
static inline __attribute__((always_inline)) uint32_t
scan_partition_best(const struct scan_array *array, const struct scan_partition *partition, const uint64_t *key, const struct scan_key *prepared,
		    uint32_t best, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const struct scan_bucket bucket = scan_bucket_of(partition, key);

	for (uint32_t i = 0; i < partition->expected; i++)
		best = scan_best(array, bucket.first + scan_earlier(i, bucket.last), prepared, best, words, pairs, wides);
	for (uint32_t i = partition->expected; i <= bucket.last; i++)
		best = scan_best(array, bucket.first + i, prepared, best, words, pairs, wides);
	return best;
}

/* The same for the rules without bucket, where the first match ends the search. `places[from * SCAN_LANES] <
 * best`: ranks ascend through the rest, so a block whose first rule ranks behind the best match cannot win any
 * more. */
static inline __attribute__((always_inline)) uint32_t
scan_rest_best(const struct scan_array *array, const struct scan_key *prepared, uint32_t best, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const uint32_t stride = 2 * (words + pairs + wides);
	const uint64_t rest_count = array->rest_count;

	if (array->partition_count != 0 && rest_count <= SCAN_BLOCKS) {
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
	for (uint32_t i = array->single_count; i < array->partition_count; i++)
		best = scan_partition_best(array, &array->partitions[i], key, &prepared, best, words, pairs, wides);
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
	/* A rank behind all rules: its record is 0. */
	uint32_t best = array->rule_count;

	for (uint32_t i = 0; scan_fits_rule(words, pairs, wides) && i < array->single_count; i++)
		best = scan_single_best(table, array, &array->partitions[i], key, limbs, best, words, pairs);
	if (array->has_blocks)
		best = scan_blocks_best(table, array, key, best, words, pairs, wides);
	return __atomic_load_n(&array->records[best], __ATOMIC_ACQUIRE);
}

/* What is compared of a key, where the program gives it: in the place of `limbs`, so that loops have literal ends.
 *
 *    bits 0..7 limbs | 8..15 words | 16..23 pairs | 24..31 wides
 */
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

/* Rules with buckets: partition by partition, so that a partition's parameters stay in registers; then the blocks. Single rules of
 * all partitions first: `best` of a packet then excludes most blocks of the rest. */
static inline __attribute__((always_inline)) void
scan_partitions_group(const struct scan *table, const struct scan_array *array, const struct table_group *group, uint32_t words, uint32_t pairs, uint32_t wides)
{
	uint32_t best[TABLE_GROUP_MOST];

	for (uint32_t i = 0; i < group->count; i++)
		best[i] = array->rule_count;
	for (uint32_t number = 0; scan_fits_rule(words, pairs, wides) && number < array->single_count; number++) {
		const struct scan_partition partition = array->partitions[number];

		for (uint32_t i = 0; i < group->count; i++)
			best[i] = scan_single_best(table, array, &partition, group->keys + (size_t)i * group->limbs, group->limbs, best[i], words, pairs);
	}
	for (uint32_t i = 0; array->has_blocks && i < group->count; i++)
		best[i] = scan_blocks_best(table, array, group->keys + (size_t)i * group->limbs, best[i], words, pairs, wides);
	for (uint32_t i = 0; i < group->count; i++)
		group->found[i] = __atomic_load_n(&array->records[best[i]], __ATOMIC_ACQUIRE);
}

/* Inlined with literal counts. Few rules are compared with vectors of packets; the remainder of the group
 * runs packet by packet. */
static inline __attribute__((always_inline)) void
scan_all_group(const struct scan *table, const struct table_group *group, uint32_t words, uint32_t pairs, uint32_t wides)
{
	const struct scan_array *array = scan_address(table, 0);
	uint32_t from;

	if (array->partition_count != 0) {
		scan_partitions_group(table, array, group, words, pairs, wides);
		return;
	}
	from = scan_few_group(table, array, group, words, pairs, wides);
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
