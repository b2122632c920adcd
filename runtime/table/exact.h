/* Exact match on keys of any width: a cuckoo hash with buckets of one cache line, or of two neighbouring ones. Most hits and
 * most misses read one bucket.
 *
 * A line holds five keys of one limb, or three of two limbs. Keys of three and four limbs are in buckets of two lines, three
 * in each: both lines are prefetched at once, and they are in one page. For wider keys the slot holds the 64-bit hash, and
 * its number is that of an item elsewhere, with the whole key and the record number: two lines, one after the other. A key
 * is in one of two buckets. A bucket counts the keys that it displaced to their second one, so a second bucket is read only
 * then. */
#ifndef BACUS_TABLE_EXACT_H
#define BACUS_TABLE_EXACT_H

#include "table/group.h"
#include "table/table.h"
#include "table/vectors.h"

#define EXACT_SEED 0x2d358dccaa6c78a5ull
#define EXACT_MULTIPLIER_WIDE 0x8bb84b93962eacc9ull

/* Keys from the front; a word of flags at the end, and record numbers before it. A slot without record number
 * is empty.
 *
 *    bytes   0       8       16      24      32      40  44  48  52  56  60
 *    1 limb  key 0   key 1   key 2   key 3   key 4   r0  r1  r2  r3  r4  flags
 *    2 limbs key 0           key 1           key 2           r0  r1  r2  flags
 *    3 limbs key 0                   key 1                   r0  r1  r2  flags     the second line: key 2
 *    4 limbs key 0                           unused          r0  r1  r2  flags     the second line: key 1, key 2
 *    wider   as 1 limb, with hashes for keys and item numbers for record numbers
 *
 *    flags   displaced keys (24 bits) | slots in a grace period (8 bits)
 *
 * A reader takes from flags only whether keys were displaced; the mask of slots is the writer's own. */
struct exact_bucket {
	_Alignas(64) union {
		uint64_t keys[8];
		uint32_t words[16];
	};
};

#define EXACT_FLAGS 15u
#define EXACT_LINE_LIMBS 8u
#define EXACT_LEFT_SHIFT 8u	/* flags: from here on, the number of displaced keys; below, the mask of slots in a grace period */

/* An array of buckets, replaced as a whole when it grows. Its head is a line of its own, so that buckets are
 * lines. Readers load the size with the array's address, never apart: a size of one array with buckets of
 * another would lead beyond its end. */
struct exact_array {
	_Alignas(64) uint64_t bucket_count;	/* lines: where a bucket is two of them, it has the number of its first one, which is even */
	uint64_t bytes;
	uint64_t firsts;	/* a mask for the number of a line that gives the number of its bucket */
	uint8_t unused[40];
	struct exact_bucket buckets[];
};

struct exact {
	struct table table;
	struct exact_array *array;
	uint8_t *items;		/* of keys that are too wide for buckets, in lines: uint32_t record, uint32_t unused, the key */
};

/* Whether keys are in items. */
static inline uint32_t
exact_has_items(uint32_t limbs)
{
	return limbs > 4;
}

/* Lines of a bucket. */
static inline uint32_t
exact_bucket_lines(uint32_t limbs)
{
	return limbs == 3 || limbs == 4 ? 2 : 1;
}

/* Limbs of a key in a bucket, and slots per bucket. */
static inline uint32_t
exact_slot_limbs(uint32_t limbs)
{
	return exact_has_items(limbs) ? 1 : limbs;
}

static inline uint32_t
exact_slots(uint32_t limbs)
{
	return exact_slot_limbs(limbs) == 1 ? 5 : 3;
}

/* Where a slot's key begins in its bucket, in limbs. Of a bucket of two lines, keys from the end of the first line on are in
 * the second one, for record numbers and flags are in the first. */
static inline uint32_t
exact_key_at(uint32_t limbs, uint32_t slot)
{
	const uint32_t front = limbs == 3 ? 2 : 1;

	if (exact_bucket_lines(limbs) == 1 || slot < front)
		return slot * exact_slot_limbs(limbs);
	return EXACT_LINE_LIMBS + (slot - front) * limbs;
}

/* Both halves of a 128-bit product: a bit of a product depends on lower bits of its factors only, one of the
 * folded product on higher ones as well. This is no permutation, and need not be: whole keys are compared. */
static inline uint64_t
exact_mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 product;
	const product wide = (product)a * b;

	return (uint64_t)(wide >> 64) ^ (uint64_t)wide;
}

static inline uint64_t
exact_hash(const struct exact *table, const uint64_t *key, uint32_t limbs)
{
	uint64_t hash;

	(void)table;
	if (limbs == 1)
		return table_hash(key[0]);
	hash = exact_mix(key[0] ^ EXACT_SEED, key[1] ^ TABLE_MULTIPLIER);
	for (uint32_t i = 2; i < limbs; i++)
		hash = exact_mix(hash ^ EXACT_MULTIPLIER_WIDE, key[i] ^ TABLE_MULTIPLIER);
	return table_finalize(hash);
}

static inline const struct exact_array *
exact_array(const struct exact *table)
{
	return __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
}

static inline const struct exact_bucket *
exact_first(const struct exact_array *array, uint64_t hash)
{
	return &array->buckets[table_bucket(hash, array->bucket_count) & array->firsts];
}

/* Two choices: what overflows one bucket goes to another, so that chains of displacements are rare up to a load
 * of 5/8. The hash's upper half, so that keys of one first bucket are spread over all second ones. */
static inline const struct exact_bucket *
exact_second(const struct exact_array *array, uint64_t hash)
{
	return &array->buckets[table_bucket(hash >> 32, array->bucket_count) & array->firsts];
}

/* The line to prefetch. */
static inline const void *
exact_address(const struct exact *table, uint64_t hash)
{
	return exact_first(exact_array(table), hash);
}

/* A stage of the lookup: the second line, to be prefetched for a key that is not in its first bucket, if
 * `exact_overflowed`. */
static inline const void *
exact_address_second(const struct exact *table, uint64_t hash, const uint64_t *key)
{
	(void)key;
	return exact_second(exact_array(table), hash);
}

/* Whether a key that is not in this bucket may be in its second one. Read after the slots, since the writer
 * copies a key, then counts it here, then removes it. The acquire load pairs with the release store in
 * `exact_add_flags`. Read before the slots, it could be 0 for a key that is then moved away: a miss for a key
 * that is always there. */
static inline uint32_t
exact_overflowed(const void *address)
{
	const struct exact_bucket *bucket = address;

	return __atomic_load_n(&bucket->words[EXACT_FLAGS], __ATOMIC_ACQUIRE) >> EXACT_LEFT_SHIFT;
}

/* Whether a key of a group that missed in its first bucket is looked up in its second one. */
static inline uint32_t
exact_goes_on(const void *address, const uint64_t *key)
{
	(void)key;
	return exact_overflowed(address);
}

/* The number in the slot whose key is `key`. A slot's number is read before its key: a reused slot gets its new
 * key first, so a reader that sees the new number sees the new key. A second, empty slot may have the same key,
 * of an entry that was deleted and inserted again. If both are seen with numbers, the larger one is taken: each
 * is a valid record number, their OR is not. No branch per slot: which slot matches is random, and would be
 * mispredicted. Hence the mask: gcc may make a branch of `differ == 0 && ...`. */
static inline uint32_t
exact_scan(const struct exact_bucket *bucket, const uint64_t *key, uint32_t limbs)
{
	const uint32_t slots = exact_slots(limbs);
	const uint64_t *held = bucket->keys;
	uint32_t found = 0;

	for (uint32_t slot = 0; slot < slots; slot++) {
		const uint32_t record = __atomic_load_n(&bucket->words[EXACT_FLAGS - slots + slot], __ATOMIC_ACQUIRE);
		uint64_t differ = 0;
		uint32_t matching;

		for (uint32_t limb = 0; limb < limbs; limb++)
			differ |= __atomic_load_n(held + exact_key_at(limbs, slot) + limb, __ATOMIC_RELAXED) ^ key[limb];
		matching = record & (0u - (uint32_t)(differ == 0));
		found = matching > found ? matching : found;
	}
	return found;
}

#ifdef TABLE_AVX2
/* A bit for each of the bucket's eight words that equals `wanted`. Words are read atomically, in no order. AVX2:
 * two halves of the line, four bits each. */
static inline uint32_t
exact_words(const struct exact_bucket *bucket, uint64_t wanted)
{
#ifdef TABLE_AVX512
	return _mm512_cmpeq_epi64_mask(_mm512_load_si512((const void *)bucket->keys), _mm512_set1_epi64((long long)wanted));
#else
	const __m256i all = _mm256_set1_epi64x((long long)wanted);
	const __m256i front = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)bucket->keys), all);
	const __m256i back = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)(bucket->keys + 4)), all);

	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(front)) | (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(back)) << 4;
#endif
}

/* For a key of one limb in a bucket: the record number in one of four words if the key is there, else zeros.
 * Numbers are read before keys, see `exact_scan`; loads are not reordered on this processor, and each word is
 * read atomically.
 *
 *    records  r0 r1 r2 r3          front   all ones or zeros for keys 0..3, 64 bits each
 *    last     r4 0  0  0           fifth   the same for key 4; its upper half compares record numbers: unused
 *    shuffle  takes the even 32-bit halves of `front`: one word for each of keys 0..3
 *    result   word i is r(i) if key i matches; word 0 may be r4 instead
 */
static inline __m128i
exact_matched_one(const struct exact_bucket *bucket, uint64_t key)
{
	const __m128i records = _mm_loadu_si128((const void *)(bucket->words + EXACT_FLAGS - 5));
	const __m128i last = _mm_cvtsi32_si128((int)__atomic_load_n(&bucket->words[EXACT_FLAGS - 1], __ATOMIC_RELAXED));
	const __m256i wanted = _mm256_set1_epi64x((long long)key);
	__m256i front;
	__m128i fifth, matched;

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	front = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)bucket->keys), wanted);
	fifth = _mm_cmpeq_epi64(_mm_load_si128((const void *)(bucket->keys + 4)), _mm256_castsi256_si128(wanted));
	__atomic_signal_fence(__ATOMIC_ACQ_REL);	/* the flags are read after this, see `exact_overflowed` */
	matched = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(_mm256_castsi256_si128(front)),
						  _mm_castsi128_ps(_mm256_extracti128_si256(front, 1)), 0x88));
	return _mm_max_epu32(_mm_and_si128(records, matched), _mm_and_si128(last, fifth));
}

/* The same for a key of two limbs: three words for the slots, after one of zeros.
 *
 *    records  0  r0 r1 r2          words 12..15 of the bucket moved up by one, so that the flags fall out
 *    front    lo0 hi0 | lo1 hi1    limbs that are equal; ANDed with their swap (0x4e), both halves mean "key i"
 *    matched  m0 m0 m1 m2          blended from front's low lane, its high lane (bit 2) and `third` (bit 3)
 */
static inline __m128i
exact_matched_two(const struct exact_bucket *bucket, const uint64_t *key)
{
	const __m128i records = _mm_slli_si128(_mm_load_si128((const void *)(bucket->keys + 6)), 4);
	/* From both limbs, since a key that was just made would be loaded behind two stores: these are not forwarded to a
	 * load of both, which waits until they have left the core. */
	const __m128i wanted = _mm_set_epi64x((long long)key[1], (long long)key[0]);
	__m256i front;
	__m128i third, matched;

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	front = _mm256_cmpeq_epi64(_mm256_load_si256((const void *)bucket->keys), _mm256_broadcastsi128_si256(wanted));
	third = _mm_cmpeq_epi64(_mm_load_si128((const void *)(bucket->keys + 4)), wanted);
	__atomic_signal_fence(__ATOMIC_ACQ_REL);	/* the flags are read after this, see `exact_overflowed` */
	front = _mm256_and_si256(front, _mm256_shuffle_epi32(front, 0x4e));
	third = _mm_and_si128(third, _mm_shuffle_epi32(third, 0x4e));
	matched = _mm_blend_epi32(_mm256_castsi256_si128(front), _mm256_extracti128_si256(front, 1), 4);
	return _mm_and_si128(records, _mm_blend_epi32(matched, third, 8));
}

/* The number of a key of three or four limbs in a bucket of two lines, see `exact_scan`. Of three limbs, a fourth one that is
 * loaded with them does not count. */
static inline uint32_t
exact_scan_lines(const struct exact_bucket *bucket, const uint64_t *key, uint32_t limbs)
{
	const uint64_t *held = bucket->keys;
	const __m256i counts = _mm256_set_epi64x(limbs == 4 ? -1 : 0, -1, -1, -1);
	const __m256i wanted = limbs == 4 ? _mm256_loadu_si256((const void *)key) :
					    _mm256_set_epi64x(0, (long long)key[2], (long long)key[1], (long long)key[0]);
	uint32_t records[3], found = 0;
	__m256i differ[3];

	for (uint32_t slot = 0; slot < 3; slot++)
		records[slot] = __atomic_load_n(&bucket->words[EXACT_FLAGS - 3 + slot], __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	for (uint32_t slot = 0; slot < 3; slot++)
		differ[slot] = _mm256_xor_si256(_mm256_loadu_si256((const void *)(held + exact_key_at(limbs, slot))), wanted);
	__atomic_signal_fence(__ATOMIC_ACQ_REL);	/* the flags are read after this, see `exact_overflowed` */
	for (uint32_t slot = 0; slot < 3; slot++) {
		const uint32_t matching = records[slot] & (0u - (uint32_t)_mm256_testz_si256(differ[slot], counts));

		found = matching > found ? matching : found;
	}
	return found;
}

static inline __m128i
exact_matched(const struct exact_bucket *bucket, const uint64_t *key, uint32_t limbs)
{
	return limbs == 2 ? exact_matched_two(bucket, key) : exact_matched_one(bucket, key[0]);
}

/* The numbers of four keys, from their match vectors. At most one slot of a key matches, except as
 * `exact_scan` explains.
 *
 *    first a0 a1 a2 a3   second b0 b1 b2 b3   (third c, fourth d alike)
 *    front = max(a0 b0 a1 b1, a2 b2 a3 b3)    back = the same of c and d
 *    max(low 64 bits of front, back; high 64 bits of both) = max(a) max(b) max(c) max(d)
 */
static inline __m128i
exact_numbers(__m128i first, __m128i second, __m128i third, __m128i fourth)
{
	const __m128i front = _mm_max_epu32(_mm_unpacklo_epi32(first, second), _mm_unpackhi_epi32(first, second));
	const __m128i back = _mm_max_epu32(_mm_unpacklo_epi32(third, fourth), _mm_unpackhi_epi32(third, fourth));

	return _mm_max_epu32(_mm_unpacklo_epi64(front, back), _mm_unpackhi_epi64(front, back));
}
#endif

/* Bytes from one item to the next. An item that fits into a line lies in one: half of those of 40 bytes would lie in
 * two, and each lookup of a large table waits for both. */
static inline size_t
exact_item_bytes(uint32_t limbs)
{
	const size_t bytes = 8 + 8 * (size_t)limbs;

	return bytes > 32 && bytes < 64 ? 64 : bytes;
}

/* `items` is loaded after the slot's number (acquire), so it is an array that has this item. Record first, then
 * the key: the record's word is the one that `modify` stores. */
static inline uint8_t *
exact_item(const struct exact *table, uint32_t item, uint32_t limbs)
{
	return __atomic_load_n(&table->items, __ATOMIC_ACQUIRE) + item * exact_item_bytes(limbs);
}

/* Whether an item's key differs from `key`. */
static inline uint64_t
exact_differs(const uint8_t *item, const uint64_t *key, uint32_t limbs)
{
	const uint64_t *held = (const uint64_t *)(const void *)(item + 8);
	uint64_t differ = 0;
	uint32_t limb = 0;

#ifdef TABLE_AVX2
	/* Each word is read atomically, in no order; the record number is read behind them. */
	for (; limb + 4 <= limbs; limb += 4) {
		const __m256i words = _mm256_loadu_si256((const void *)(held + limb));
		const __m256i other = _mm256_xor_si256(words, _mm256_loadu_si256((const void *)(key + limb)));

		differ |= (uint64_t)!_mm256_testz_si256(other, other);
	}
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
#endif
	for (; limb < limbs; limb++)
		differ |= __atomic_load_n(held + limb, __ATOMIC_RELAXED) ^ key[limb];
	return differ;
}

/* Keys in items: every slot with this hash leads to an item, whose key decides. Two keys may have
 * one 64-bit hash, so a slot with another key does not end the search. The vector compare only filters: it reads
 * keys before numbers, and the item's own key decides. Few keys have a second such slot, and which
 * slot it is cannot be predicted, so there is no branch for each slot. */
static inline uint32_t
exact_scan_wide(const struct exact *table, const struct exact_bucket *bucket, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
#ifdef TABLE_AVX2
	uint32_t match = exact_words(bucket, hash) & 31;

	__atomic_signal_fence(__ATOMIC_ACQ_REL);
#else
	uint32_t match = 0;

	for (uint32_t slot = 0; slot < 5; slot++)
		match |= (uint32_t)(__atomic_load_n(&bucket->keys[slot], __ATOMIC_ACQUIRE) == hash) << slot;
#endif
	for (; match != 0; match &= match - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctz(match);
		const uint32_t number = __atomic_load_n(&bucket->words[EXACT_FLAGS - 5 + slot], __ATOMIC_ACQUIRE);
		const uint8_t *item = exact_item(table, number, limbs);

		if (number != 0 && exact_differs(item, key, limbs) == 0)
			return __atomic_load_n((const uint32_t *)(const void *)item, __ATOMIC_ACQUIRE);
	}
	return 0;
}

/* A stage of the lookup: one bucket only. Keys in items first: their buckets have hashes in them, and are searched
 * for the hash. */
static inline uint32_t
exact_find_in(const struct exact *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	if (exact_has_items(limbs))
		return exact_scan_wide(table, address, hash, key, limbs);
#ifdef TABLE_AVX2
	if (exact_bucket_lines(limbs) == 2)
		return exact_scan_lines(address, key, limbs);
	const __m128i matched = exact_matched(address, key, limbs);

	return (uint32_t)_mm_cvtsi128_si32(exact_numbers(matched, matched, matched, matched));
#else
	return exact_scan(address, key, limbs);
#endif
}

/* Completes a lookup that missed in the bucket at `address`. If the array was replaced since that address was
 * computed, the second bucket alone would be wrong, so the lookup starts over.
 *
 * An old array is not freed while a lookup has its addresses, so these cannot lie within the new one. */
static inline uint32_t
exact_find_second(const struct exact *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const struct exact_array *array = exact_array(table);

	if ((uintptr_t)address - (uintptr_t)array >= array->bytes) {
		const uint32_t found = exact_find_in(table, exact_first(array, hash), hash, key, limbs);

		if (found != 0)
			return found;
	}
	return exact_find_in(table, exact_second(array, hash), hash, key, limbs);
}

static inline uint32_t
exact_find(const struct exact *table, const void *address, uint64_t hash, const uint64_t *key, uint32_t limbs)
{
	const uint32_t found = exact_find_in(table, address, hash, key, limbs);

	if (found != 0 || __builtin_expect(exact_overflowed(address) == 0, 1))
		return found;
	return exact_find_second(table, address, hash, key, limbs);
}

TABLE_GROUP_ADDRESS(exact)
TABLE_GROUP_LINES(exact)

#ifdef TABLE_AVX2
/* Prefetches the items of a group's wide keys, whose buckets have come: read one by one, each would be a miss that
 * nothing hides. A number that is out of date prefetches what is not needed. */
static inline __attribute__((always_inline)) void
exact_prefetch_items(const struct exact *table, const struct exact_array *array, const struct table_group *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct exact_bucket *bucket = exact_group_address(table, array, group, i);
		const uint32_t match = exact_words(bucket, exact_group_hash(table, group, i)) & 31;
		const uint32_t slot = (uint32_t)__builtin_ctz(match | 1u << 4);
		const uint8_t *item = exact_item(table, bucket->words[EXACT_FLAGS - 5 + slot], group->limbs);

		__builtin_prefetch(item, 0, 3);
		if (exact_item_bytes(group->limbs) > 64)
			__builtin_prefetch(item + 8 * (size_t)group->limbs, 0, 3);
	}
}
#endif

/* Four keys of a group in their first buckets. A bit for each miss. Keys of one or two limbs: their numbers come
 * out of vectors together. Wide keys one by one. */
static inline __attribute__((always_inline)) uint32_t
exact_find_four(const struct exact *table, const struct exact_array *array, const struct table_group *group, uint32_t i)
{
	uint32_t missed = 0;

#ifdef TABLE_AVX2
	const uint32_t limbs = group->limbs;

	if (limbs <= 2) {
		__m128i matched[4];

		for (uint32_t j = 0; j < 4; j++)
			matched[j] = exact_matched(group->addresses[i + j], group->keys + (size_t)(i + j) * limbs, limbs);
		return table_group_found(group, i, exact_numbers(matched[0], matched[1], matched[2], matched[3]));
	}
	if (i == 0 && exact_has_items(limbs))
		exact_prefetch_items(table, array, group);
#endif
	for (uint32_t j = 0; j < 4; j++)
		missed |= exact_find_one(table, array, group, i + j) << j;
	return missed;
}

TABLE_GROUP_OF_TWO(exact)

#endif
