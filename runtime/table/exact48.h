/* Exact match on keys of at most 48 bits: a cuckoo hash with buckets of one cache line, eight entries each.
 * An entry is one word: the key, and above it the 16-bit record number. One store inserts, changes or deletes
 * it, so a reader never combines the key of one entry with the number of another.
 *
 * A key is in one of two buckets. It is in the second one only if the first was full on insertion. While
 * there are such keys, the last slot of the first bucket is not zero: a marker without record fills it if no
 * entry does. So most lookups read one line, misses included.
 *
 * Joint exact tables have one array. A lookup then finds the record numbers of both tables for the key, as
 * one atomic word; `table_part` separates them. */
#ifndef BACUS_TABLE_EXACT48_H
#define BACUS_TABLE_EXACT48_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define EXACT48_SLOTS 8u
#define EXACT48_KEY_BITS 48u
#define EXACT48_KEY 0xffffffffffffull

/* A slot is one word:
 *
 *    bits 63..48   record numbers: of one table, or a part for each of two joint ones; 0: no entry
 *    bits 47..0    key
 *    0             empty
 *    0 : 2^48-1    marker, in the last slot only: keys were displaced, and no entry holds the slot
 */
struct exact48_bucket {
	_Alignas(64) uint64_t slots[EXACT48_SLOTS];
};

/* An array of buckets, replaced as a whole when it grows. The head is a line of its own, so that buckets are
 * lines. */
struct exact48_array {
	_Alignas(64) uint64_t bucket_count;
	uint64_t bytes;
	uint8_t unused[48];
	struct exact48_bucket buckets[];
};

struct exact48 {
	struct table table;
	struct exact48_array *array;
};

static inline uint64_t
exact48_hash(const struct exact48 *table, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)limbs;
	return table_hash(key[0]);
}

/* Pairs with the release store in `exact48_publish`: the buckets and their count are complete by then. */
static inline const struct exact48_array *
exact48_array(const struct exact48 *table)
{
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

static inline const struct exact48_bucket *
exact48_first(const struct exact48_array *array, uint64_t hash)
{
	return &array->buckets[table_bucket(hash, array->bucket_count)];
}

/* The second bucket: keys of one first bucket have second buckets all over the array. */
static inline const struct exact48_bucket *
exact48_second(const struct exact48_array *array, uint64_t hash)
{
	return &array->buckets[table_bucket(hash >> 32, array->bucket_count)];
}

/* The line to prefetch. */
static inline const void *
exact48_address(const struct exact48 *table, uint64_t hash)
{
	return exact48_first(exact48_array(table), hash);
}

/* A stage of the lookup: the second line, to be prefetched for a key that is not in its first bucket, if
 * `exact48_overflowed`. */
static inline const void *
exact48_address_second(const struct exact48 *table, uint64_t hash, const uint64_t *key)
{
	(void)key;
	return exact48_second(exact48_array(table), hash);
}

/* Whether a key that is not in this bucket may be in its second one. Read after the slots. The last slot of a
 * full bucket is an entry, so keys were displaced only from buckets whose last slot is not zero. Where an entry
 * is there though none was displaced, the second line is read in vain. */
static inline uint32_t
exact48_overflowed(const void *address)
{
	const struct exact48_bucket *bucket = address;

	return __atomic_load_n(&bucket->slots[EXACT48_SLOTS - 1], __ATOMIC_ACQUIRE) != 0;
}

/* Whether a key of a group that missed in its first bucket is looked up in its second one. A key of zeros may
 * have been missed by mistake; its hash is 0, so both buckets are the same. */
static inline uint32_t
exact48_goes_on(const void *address, const uint64_t *key)
{
	return exact48_overflowed(address) || key[0] == 0;
}

#if defined(TABLE_AVX512)
/* Whether the bucket was prefetched to L1 or to L2. */
enum exact48_from { EXACT48_FIRST_CACHE, EXACT48_SECOND_CACHE };

/* A bucket's words. From L2 they are loaded in halves: one 64-byte load makes a lookup in 16M keys 20 cycles
 * instead of 16 (Zen 4). From L1, halves cost a fifteenth more. The barrier keeps the compiler from merging
 * them. */
static inline __m512i
exact48_words(const struct exact48_bucket *bucket, enum exact48_from from)
{
	__m256i front;

	if (from == EXACT48_FIRST_CACHE)
		return _mm512_load_si512((const void *)bucket->slots);
	front = _mm256_load_si256((const void *)bucket->slots);
	__asm__("" : "+x"(front));
	return _mm512_inserti64x4(_mm512_castsi256_si512(front), _mm256_load_si256((const void *)(bucket->slots + 4)), 1);
}

/* The words minus the key.
 *
 *    word  n : k   XOR   0 : key   =   n : 0   if the key is in the word, else n : not 0
 *          16  48        16   48       16  48
 */
static inline __m512i
exact48_rest(__m512i words, uint64_t key)
{
	return _mm512_xor_si512(words, _mm512_set1_epi64((long long)key));
}

/* The first element is the record number if the key is in the bucket, else 0. Rotated by 16 bits, a
 * difference is below 2^16 if the word has this key. Empty slots match a key of zeros with number 0, so 0 is
 * excluded.
 *
 *    rotated by 16     0 : n    if the key matches (48 bits above 16), else at least 2^16
 *    minus 1           <= 0xfffe   exactly for n = 1 .. 0xffff: one compare tests key and number
 *    compress          the first matching word to element 0, zeros behind it
 */
static inline __m128i
exact48_number(const struct exact48_bucket *bucket, uint64_t key)
{
	const __m512i rotated = _mm512_rol_epi64(exact48_rest(exact48_words(bucket, EXACT48_FIRST_CACHE), key), 64 - EXACT48_KEY_BITS);
	const __m512i below = _mm512_add_epi64(rotated, _mm512_set1_epi64(-1));
	const __mmask8 match = _mm512_cmple_epu64_mask(below, _mm512_set1_epi64(0xfffe));

	return _mm512_castsi512_si128(_mm512_maskz_compress_epi64(match, rotated));
}

/* The first word with the key, as a difference: its record number above 48 zeros. Two operations less than
 * `exact48_number`, a fifth of a lookup in L1. For a key of zeros, the first match may be an empty slot. The
 * marker's key is found correctly, since the marker is the last word. */
static inline __m128i
exact48_first_word(const struct exact48_bucket *bucket, uint64_t key, enum exact48_from from)
{
	const __m512i rest = exact48_rest(exact48_words(bucket, from), key);
	const __mmask8 match = _mm512_testn_epi64_mask(rest, _mm512_set1_epi64((long long)EXACT48_KEY));

	return _mm512_castsi512_si128(_mm512_maskz_compress_epi64(match, rest));
}
#elif defined(TABLE_AVX2)
/* The words minus the key, reduced to four: one has the record number, above 48 zeros, if the key is in the
 * bucket; the others are zero.
 *
 *    front  w0 w1 w2 w3     back  w4 w5 w6 w7     each n : 0 or, masked, 0
 *    max    of word pairs w0,w4 .. w3,w7 by 32-bit halves: lower halves are all zero, so upper ones decide
 */
static inline __m256i
exact48_rest(const struct exact48_bucket *bucket, uint64_t key)
{
	const __m256i wanted = _mm256_set1_epi64x((long long)key), zero = _mm256_setzero_si256(), whole = _mm256_set1_epi64x((long long)EXACT48_KEY);
	const __m256i front = _mm256_xor_si256(_mm256_load_si256((const void *)bucket->slots), wanted);
	const __m256i back = _mm256_xor_si256(_mm256_load_si256((const void *)(bucket->slots + 4)), wanted);
	const __m256i front_match = _mm256_cmpeq_epi64(_mm256_and_si256(front, whole), zero);
	const __m256i back_match = _mm256_cmpeq_epi64(_mm256_and_si256(back, whole), zero);

	return _mm256_max_epu32(_mm256_and_si256(front, front_match), _mm256_and_si256(back, back_match));
}
#endif

/* The record number of the key, 0 for none. At most one word with the key has a number. If an entry is deleted
 * and inserted again while the words are read, both numbers may be seen; the larger one is taken, since each is
 * valid and their OR is not. The fence is for the compiler: `exact48_overflowed` has to be loaded after these
 * words. On x86, loads stay in order by themselves. */
static inline uint32_t
exact48_scan(const struct exact48_bucket *bucket, uint64_t key)
{
#if defined(TABLE_AVX512)
	const __m128i number = exact48_number(bucket, key);

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	return (uint32_t)_mm_cvtsi128_si32(number);
#elif defined(TABLE_AVX2)
	const __m256i rest = exact48_rest(bucket, key);
	const __m128i half = _mm_max_epu32(_mm256_castsi256_si128(rest), _mm256_extracti128_si256(rest, 1));
	const __m128i word = _mm_max_epu32(half, _mm_unpackhi_epi64(half, half));

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	return (uint32_t)((uint64_t)_mm_cvtsi128_si64(word) >> EXACT48_KEY_BITS);
#else
	uint64_t found = 0;

	for (uint32_t slot = 0; slot < EXACT48_SLOTS; slot++) {
		const uint64_t held = __atomic_load_n(&bucket->slots[slot], __ATOMIC_ACQUIRE);

		found = ((held ^ key) & EXACT48_KEY) == 0 && held > found ? held : found;
	}
	return (uint32_t)(found >> EXACT48_KEY_BITS);
#endif
}

/* A stage of the lookup: one bucket only. */
static inline uint32_t
exact48_find_in(const struct exact48 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	(void)table;
	(void)hash;
	(void)limbs;
	return exact48_scan(address, key[0]);
}

/* Completes a lookup that missed in the bucket at `address`. If the array was replaced since that address was
 * computed, the second bucket alone would be wrong, so the lookup starts over. In the current array a key that
 * is in no second bucket ends at `exact48_overflowed`, as in `exact48_find`. */
static inline uint32_t
exact48_find_second(const struct exact48 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct exact48_array *array = exact48_array(table);

	(void)limbs;
	if ((uintptr_t)address - (uintptr_t)array >= array->bytes) {
		const struct exact48_bucket *first = exact48_first(array, hash);
		const uint32_t found = exact48_scan(first, key[0]);

		if (found != 0 || !exact48_overflowed(first))
			return found;
	}
	return exact48_scan(exact48_second(array, hash), key[0]);
}

/* Hits first: a hit in the first bucket needs no look at the last slot. The key of zeros comes through here as
 * well: `exact48_scan` takes no word without number for it. */
static inline uint32_t
exact48_find(const struct exact48 *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t found = exact48_scan(address, key[0]);

	if (__builtin_expect(found != 0, 1) || exact48_overflowed(address) == 0)
		return found;
	return exact48_find_second(table, address, hash, key, limbs);
}

TABLE_GROUP_ADDRESS(exact48)

TABLE_GROUP_LINES(exact48)

#ifdef TABLE_AVX2
/* Combines the record numbers of four keys.
 *
 *    AVX-512   first a . . .   second b   third c   fourth d: element 0 of each, a 64-bit word n : 0
 *              lower = a b, upper = c d
 *    AVX2      each of four keys has n : 0 in one of four words
 *              front = max(unpack low, high of first, second): per 128-bit lane a b; back alike c d
 *              words = max of both lanes: a b c d
 *    shuffle 0xdd takes the odd 32-bit halves, n << 16, of a b c d; the shift leaves n
 */
static inline __attribute__((always_inline)) __m128i
exact48_scan_four(const struct table_group *group, uint32_t i)
{
	const void *const *addresses = group->addresses + i;
	const uint64_t *keys = group->keys + i;
#ifdef TABLE_AVX512
	const enum exact48_from from = group->request_far ? EXACT48_SECOND_CACHE : EXACT48_FIRST_CACHE;
	const __m128i first = exact48_first_word(addresses[0], keys[0], from), second = exact48_first_word(addresses[1], keys[1], from);
	const __m128i third = exact48_first_word(addresses[2], keys[2], from), fourth = exact48_first_word(addresses[3], keys[3], from);
	const __m128 lower = _mm_castsi128_ps(_mm_unpacklo_epi64(first, second)), upper = _mm_castsi128_ps(_mm_unpacklo_epi64(third, fourth));
#else
	const __m256i first = exact48_rest(addresses[0], keys[0]), second = exact48_rest(addresses[1], keys[1]);
	const __m256i third = exact48_rest(addresses[2], keys[2]), fourth = exact48_rest(addresses[3], keys[3]);
	const __m256i front = _mm256_max_epu32(_mm256_unpacklo_epi64(first, second), _mm256_unpackhi_epi64(first, second));
	const __m256i back = _mm256_max_epu32(_mm256_unpacklo_epi64(third, fourth), _mm256_unpackhi_epi64(third, fourth));
	const __m256i words = _mm256_max_epu32(_mm256_permute2x128_si256(front, back, 0x20), _mm256_permute2x128_si256(front, back, 0x31));
	const __m128 lower = _mm_castsi128_ps(_mm256_castsi256_si128(words)), upper = _mm_castsi128_ps(_mm256_extracti128_si256(words, 1));
#endif

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	return _mm_srli_epi32(_mm_castps_si128(_mm_shuffle_ps(lower, upper, 0xdd)), 16);
}
#endif

/* Four keys of a group in their first buckets. A bit for each miss, and for keys of zeros, which may have
 * been missed by mistake. */
static inline __attribute__((always_inline)) uint32_t
exact48_find_four(const struct exact48 *table, const struct exact48_array *array, const struct table_group *group, uint32_t i)
{
#ifdef TABLE_AVX2
	(void)table;
	(void)array;
	return table_group_found(group, i, exact48_scan_four(group, i));
#else
	uint32_t missed = 0;

	for (uint32_t j = 0; j < 4; j++)
		missed |= exact48_find_one(table, array, group, i + j) << j;
	return missed;
#endif
}

TABLE_GROUP_OF_TWO(exact48)

#endif
