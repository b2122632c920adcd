/* Exact match on keys of up to 60 bits in the buckets of exact48.h, eight entries per line. A word has room
 * for 48 bits of the key; the position of the word determines the rest.
 *
 * An invertible hash maps a key to another number of 60 bits. The upper 32 bits of the hash choose the
 * bucket. With 2^13 buckets or more, all hashes of one bucket are distinguished by their lower 47 bits, which
 * the word holds. Bit 47 of the word means that the bucket is the key's first one. The second bucket is at a
 * distance from the first that the 47 bits determine, so the first one follows from it. Only words are
 * compared, and no two keys have the same word in the same bucket.
 *
 *    hash, 60 bits   59 ............ 28 | 27 ....... 0
 *                    the bucket: 32 bits
 *                            46 .................... 0     the rest: 47 bits (EXACT60_REST)
 *    word, 64 bits   number 63..48 | is first 47 | rest 46..0
 *
 * Why 47 bits are enough: hashes of one bucket are consecutive in their upper 32 bits, and with at least 2^13
 * buckets there are at most 2^19 of them. Their lower 19 of these bits differ, which are bits 46..28 of the
 * hash. */
#ifndef BACUS_TABLE_EXACT60_H
#define BACUS_TABLE_EXACT60_H

#include "table/exact48.h"

#define EXACT60_KEY 0xfffffffffffffffull
#define EXACT60_BUCKET_SHIFT 28u	/* of a hash: the 32 bits from here on choose the bucket */
#define EXACT60_BUCKETS_LEAST 8192u
#define EXACT60_REST (EXACT48_KEY >> 1)	/* of a hash: the bits that a word holds */
#define EXACT60_IS_FIRST (EXACT48_KEY - EXACT60_REST)	/* of a word */

struct exact60 {
	union {
		struct table table;
		struct exact48 words;	/* begins with it */
	};
};

/* An array of exact48.h whose functions work on hashes here. */
struct exact60_array;

static inline const struct exact48_array *
exact60_words(const struct exact60_array *array)
{
	return (const struct exact48_array *)(const void *)array;
}

static inline const struct exact60_array *
exact60_array(const struct exact60 *table)
{
	return (const struct exact60_array *)(const void *)exact48_array(&table->words);
}

/* `table_hash` within 60 bits; both of its steps are invertible there, too. An odd factor has an inverse modulo
 * 2^60. `x ^ x >> 32` has one, since the upper half of x stays as it is. So each hash has one key: a hash that
 * is equal is a key that is equal. */
static inline uint64_t
exact60_hash_of(uint64_t key)
{
	const uint64_t product = (key ^ key >> 32) * TABLE_MULTIPLIER & EXACT60_KEY;

	return (product ^ product >> 32) * TABLE_FINALIZER & EXACT60_KEY;
}

static inline uint64_t
exact60_hash(const struct exact60 *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return exact60_hash_of(key[0]);
}

static inline uint64_t
exact60_first_word(uint64_t hash)
{
	return (hash & EXACT60_REST) | EXACT60_IS_FIRST;
}

static inline uint64_t
exact60_second_word(uint64_t hash)
{
	return hash & EXACT60_REST;
}

static inline uint64_t
exact60_first_index(uint64_t hash, uint64_t bucket_count)
{
	return table_bucket(hash >> EXACT60_BUCKET_SHIFT, bucket_count);
}

/* The distance from a key's first bucket to its second one, modulo the array: at least one and less than all.
 * Keys of one first bucket have second buckets all over the array. Never 0, so that the two words of a key are
 * in two buckets. Only from bits that the word holds: the writer has to go back from a second bucket to the
 * first (`exact60_key`). */
static inline uint64_t
exact60_distance(uint64_t rest, uint64_t bucket_count)
{
	return 1 + table_bucket(rest * TABLE_MULTIPLIER >> 32, bucket_count - 1);
}

static inline uint64_t
exact60_second_index(uint64_t hash, uint64_t bucket_count)
{
	const uint64_t index = exact60_first_index(hash, bucket_count) + exact60_distance(hash & EXACT60_REST, bucket_count);

	return index < bucket_count ? index : index - bucket_count;
}

static inline const struct exact48_bucket *
exact60_first(const struct exact60_array *array, uint64_t hash)
{
	const struct exact48_array *words = exact60_words(array);

	return &words->buckets[exact60_first_index(hash, words->bucket_count)];
}

static inline const struct exact48_bucket *
exact60_second(const struct exact60_array *array, uint64_t hash)
{
	const struct exact48_array *words = exact60_words(array);

	return &words->buckets[exact60_second_index(hash, words->bucket_count)];
}

/* The line to prefetch. */
static inline const void *
exact60_address(const struct exact60 *table, uint64_t hash)
{
	return exact60_first(exact60_array(table), hash);
}

/* A stage of the lookup: the second line, to be prefetched for a key that is not in its first bucket, if
 * `exact60_overflowed`. */
static inline const void *
exact60_address_second(const struct exact60 *table, uint64_t hash, const uint64_t *key)
{
	(void)key;
	return exact60_second(exact60_array(table), hash);
}

/* Whether a key that is not in this bucket may be in its second one. Read after the slots. */
static inline uint32_t
exact60_overflowed(const void *address)
{
	return exact48_overflowed(address);
}

/* Whether a key of a group that missed in its first bucket is looked up in its second one. No key's first
 * word is zero. */
static inline uint32_t
exact60_goes_on(const void *address, const uint64_t *key)
{
	(void)key;
	return exact48_overflowed(address);
}

/* A stage of the lookup: the first bucket only. */
static inline uint32_t
exact60_find_in(const struct exact60 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)key;
	(void)limbs;
	return exact48_scan(address, exact60_first_word(hash));
}

/* Completes a lookup that missed in the bucket at `address`. If the array was replaced since that address was
 * computed, the second bucket alone would be wrong, so the lookup starts over. */
static inline uint32_t
exact60_find_second(const struct exact60 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct exact60_array *array = exact60_array(table);

	(void)key;
	(void)limbs;
	if ((uintptr_t)address - (uintptr_t)array >= exact60_words(array)->bytes) {
		const struct exact48_bucket *first = exact60_first(array, hash);
		const uint32_t found = exact48_scan(first, exact60_first_word(hash));

		if (found != 0 || !exact48_overflowed(first))
			return found;
	}
	return exact48_scan(exact60_second(array, hash), exact60_second_word(hash));
}

static inline uint32_t
exact60_find(const struct exact60 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t found = exact60_find_in(table, address, hash, key, limbs);

	if (__builtin_expect(found != 0, 1) || exact48_overflowed(address) == 0)
		return found;
	return exact60_find_second(table, address, hash, key, limbs);
}

#ifdef TABLE_AVX2
/* Products with `factor` modulo 2^60. AVX2 has 32-bit products only: see `table_group_four`, whose drawing this
 * follows, but that all 64 bits count. */
static inline __attribute__((always_inline)) __m256i
exact60_products(__m256i numbers, uint64_t factor)
{
#ifdef TABLE_AVX512
	const __m256i product = _mm256_mullo_epi64(numbers, _mm256_set1_epi64x((long long)factor));
#else
	const uint64_t upper = factor >> 32, lower = factor & UINT32_MAX;
	/* Cross terms: low half of the number below, high half above. */
	const __m256i cross = _mm256_mullo_epi32(numbers, _mm256_set1_epi64x((long long)(upper | lower << 32)));
	const __m256i high = _mm256_slli_epi64(_mm256_add_epi32(cross, _mm256_srli_epi64(cross, 32)), 32);
	const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(numbers, _mm256_set1_epi64x((long long)lower)), high);
#endif

	return _mm256_and_si256(product, _mm256_set1_epi64x((long long)EXACT60_KEY));
}

static inline __attribute__((always_inline)) __m256i
exact60_hash_four(const uint64_t *keys)
{
	const __m256i numbers = _mm256_loadu_si256((const void *)keys);
	const __m256i products = exact60_products(_mm256_xor_si256(numbers, _mm256_srli_epi64(numbers, 32)), TABLE_MULTIPLIER);

	return exact60_products(_mm256_xor_si256(products, _mm256_srli_epi64(products, 32)), TABLE_FINALIZER);
}

/* `table_bucket` of four hashes: the upper half of a 32-bit product is the index, times 64 bytes. */
static inline __attribute__((always_inline)) __m256i
exact60_address_four(const struct exact48_bucket *buckets, uint64_t bucket_count, __m256i hashes)
{
	const __m256i product = _mm256_mul_epu32(_mm256_srli_epi64(hashes, EXACT60_BUCKET_SHIFT), _mm256_set1_epi64x((long long)bucket_count));
	const __m256i bytes = _mm256_slli_epi64(_mm256_srli_epi64(product, 32), 6);

	return _mm256_add_epi64(bytes, _mm256_set1_epi64x((long long)(uintptr_t)buckets));
}

static inline __attribute__((always_inline)) __m256i
exact60_first_word_four(__m256i hashes)
{
	const __m256i rest = _mm256_and_si256(hashes, _mm256_set1_epi64x((long long)EXACT60_REST));

	return _mm256_or_si256(rest, _mm256_set1_epi64x((long long)EXACT60_IS_FIRST));
}
#endif

/* The first buckets of keys, and their words there; NULL: not wanted. */
static inline __attribute__((always_inline)) void
exact60_firsts(const struct exact48_bucket *buckets, uint64_t bucket_count, const uint64_t *keys, const void **addresses, uint64_t *words, uint32_t count)
{
	uint32_t i = 0;

#ifdef TABLE_AVX2
	for (; i + 4 <= count; i += 4) {
		const __m256i hashes = exact60_hash_four(keys + i);

		if (addresses != NULL)
			_mm256_storeu_si256((void *)(addresses + i), exact60_address_four(buckets, bucket_count, hashes));
		if (words != NULL)
			_mm256_storeu_si256((void *)(words + i), exact60_first_word_four(hashes));
	}
#endif
	for (; i < count; i++) {
		const uint64_t hash = exact60_hash_of(keys[i]);

		if (addresses != NULL)
			addresses[i] = &buckets[exact60_first_index(hash, bucket_count)];
		if (words != NULL)
			words[i] = exact60_first_word(hash);
	}
}

/* Lines of many keys, as in `TABLE_GROUP_LINES`. */
struct exact60_lines {
	struct exact48_lines words;
};

static inline struct exact60_lines
exact60_lines(const struct exact60 *table)
{
	return (struct exact60_lines){ exact48_lines(&table->words) };
}

static inline int
exact60_is_at(const struct exact60 *table, const struct exact60_lines *lines)
{
	return exact48_is_at(&table->words, &lines->words);
}

static inline __attribute__((always_inline)) void
exact60_addresses(const struct exact60_lines *lines, const uint64_t *keys, const void **addresses, uint32_t count)
{
	exact60_firsts(lines->words.array->buckets, lines->words.bucket_count, keys, addresses, NULL, count);
}

TABLE_GROUP_ADDRESS(exact60)
TABLE_GROUP_SECONDS(exact60)

/* The first half of a grouped lookup. The words of all keys are computed before one is compared; lookups then
 * search for words. So the compare loop is that of exact48.h, on other words. Second buckets are another matter:
 * their word differs from the first one, so they are prefetched and read by this file's functions, from the
 * keys. */
static inline __attribute__((always_inline)) uint64_t
exact60_find_firsts(const struct exact60 *table, const struct exact60_array *array, const struct table_group *asked)
{
	_Alignas(TABLE_LINE) const void *addresses[TABLE_GROUP_MOST];
	_Alignas(TABLE_LINE) uint64_t words[TABLE_GROUP_MOST];
	const struct exact48_array *held = exact60_words(array);
	struct table_group group = *asked, worded;
	uint64_t missed;

	exact60_firsts(held->buckets, held->bucket_count, group.keys, group.addresses == NULL ? addresses : NULL, words, group.count);
	/* Through memory, as in TABLE_GROUP_FIRSTS. */
	__asm__("" : "+m"(words));
	if (group.addresses == NULL) {
		__asm__("" : "+m"(addresses));
		group.addresses = addresses;
	}
	worded = group;
	worded.keys = words;
	worded.hashes = NULL;
	worded.is_far = 0;	/* second buckets are not where exact48.h would look for them */
	missed = exact48_find_firsts(&table->words, held, &worded);
	return group.is_far ? exact60_group_second(table, array, &group, missed) : missed;
}

TABLE_GROUP_HALVES(exact60)

/* The modular inverses of the hash's factors. Modulo 2^60; the assertions below multiply them out. */
#define EXACT60_UNDO_FINALIZER 0xe76e59443021123ull
#define EXACT60_UNDO_MULTIPLIER 0x1de83e19937733dull

_Static_assert((TABLE_FINALIZER * EXACT60_UNDO_FINALIZER & EXACT60_KEY) == 1, "the last factor is taken back");
_Static_assert((TABLE_MULTIPLIER * EXACT60_UNDO_MULTIPLIER & EXACT60_KEY) == 1, "the first factor is taken back");

/* The key of a word in a bucket of an array with so many buckets; for the writer. */
static inline uint64_t
exact60_key(uint64_t index, uint64_t bucket_count, uint64_t word)
{
	const uint64_t rest = word & EXACT60_REST, distance = (word & EXACT60_IS_FIRST) != 0 ? 0 : exact60_distance(rest, bucket_count);
	const uint64_t first = index >= distance ? index - distance : index + bucket_count - distance;
	/* The smallest hash of the bucket, and the first one from there with the word's low bits: there are
	 * fewer than 2^19 hashes, or the search begins here. */
	const uint64_t least = (first << 32) / bucket_count;
	const uint64_t choice = least + (((rest >> EXACT60_BUCKET_SHIFT) - least) & (EXACT60_REST >> EXACT60_BUCKET_SHIFT));
	const uint64_t hash = choice << EXACT60_BUCKET_SHIFT | (rest & ((1ull << EXACT60_BUCKET_SHIFT) - 1));
	const uint64_t product = hash * EXACT60_UNDO_FINALIZER & EXACT60_KEY;
	const uint64_t folded = (product ^ product >> 32) * EXACT60_UNDO_MULTIPLIER & EXACT60_KEY;

	return folded ^ folded >> 32;
}

#endif
