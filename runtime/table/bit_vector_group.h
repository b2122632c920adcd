/* A group of packets in the sets of bit_vector_sets.h: first the classes of all, chunk by chunk, then their sets, a line of each at a time. So what is of a
 * chunk stays in registers, and packets that found their rule in the first lines read no more.
 *
 * Most of the work is to locate the classes. Where bytes can be looked up in registers, that is found for 32 packets at once. Where sets have only
 * four words as well, those of eight packets meet in registers, chunk by chunk: neither the sets' positions nor what is left of them goes through
 * memory. Sets of more words gain nothing by that: what they wait for is their lines, and which packets are left (1,000 rules: 38.8 cycles for 34.7,
 * Zen 4). */
#ifndef BACUS_TABLE_BIT_VECTOR_GROUP_H
#define BACUS_TABLE_BIT_VECTOR_GROUP_H

#include "table/bit_vector_sets.h"
#include "table/group.h"

#define BIT_VECTOR_PACKETS 32u	/* looked up together */
#define BIT_VECTOR_EIGHT 8u
#define BIT_VECTOR_EIGHTS (BIT_VECTOR_PACKETS / BIT_VECTOR_EIGHT)

/* The positions of each packet's sets, in words from the first chunk's first set on: one register leads to all of them. */
struct bit_vector_search {
	uint32_t count;
	uint32_t sets[BIT_VECTOR_CHUNKS_MOST][BIT_VECTOR_PACKETS];
};

static inline uint32_t
bit_vector_first_set(const struct bit_vector_array *array, uint32_t chunk)
{
	return (uint32_t)(array->sets[chunk] - array->sets[0]);
}

#ifdef TABLE_AVX512_BYTES
/* A limb of all keys. */
struct bit_vector_limb {
	__m512i eights[BIT_VECTOR_EIGHTS];
};

/* One of two limbs of eight keys, or their only one.
 *
 *    keys of two limbs   a0 a1 b0 b1 c0 c1 d0 d1 | e0 e1 .. h0 h1        two vectors
 *    even + limb         picks 0 2 4 .. 14, or 1 3 .. 15:  a0 b0 .. h0    one limb of each
 */
static inline __attribute__((always_inline)) __m512i
bit_vector_limbs(const uint64_t *keys, uint32_t limbs, uint32_t limb)
{
	const __m512i first = _mm512_loadu_si512((const void *)keys);
	const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);

	if (limbs == 1)
		return first;
	return _mm512_permutex2var_epi64(first, _mm512_add_epi64(even, _mm512_set1_epi64(limb)), _mm512_loadu_si512((const void *)(keys + 8)));
}

/* The chunk's values in all keys, in the order of the packets.
 *
 *    bits[i]      eight keys, shifted so that the chunk is in the low 16 bits of each 64
 *    permute      takes 16-bit element 4 * k of both vectors: 16 values side by side
 *    front, back  joined: 32 values of 16 bits, one per packet
 */
static inline __attribute__((always_inline)) __m512i
bit_vector_values(const struct bit_vector_limb *limbs, uint32_t limb_count, const struct chunk *chunk)
{
	const uint32_t position = 8 * chunk->offset + chunk->shift, limb = position / 64, low = position % 64;
	const __m512i lowest = _mm512_set_epi16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
	__m512i bits[BIT_VECTOR_EIGHTS], front, back;

	for (uint32_t i = 0; i < BIT_VECTOR_EIGHTS; i++) {
		bits[i] = _mm512_srl_epi64(limbs[limb].eights[i], _mm_cvtsi32_si128((int)low));
		if (low + CHUNK_BITS > 64 && limb + 1 < limb_count)
			bits[i] = _mm512_or_si512(bits[i], _mm512_sll_epi64(limbs[limb + 1].eights[i], _mm_cvtsi32_si128((int)(64 - low))));
	}
	front = _mm512_permutex2var_epi16(bits[0], lowest, bits[1]);
	back = _mm512_permutex2var_epi16(bits[2], lowest, bits[3]);
	return _mm512_and_si512(_mm512_inserti64x4(front, _mm512_castsi512_si256(back), 1), _mm512_set1_epi16((short)chunk->mask));
}

/* The positions of the numbers of all values. `chunk_number` for 32 values, as far as the index of the number; the
 * numbers themselves are loaded later.
 *
 *    upper   the page: 8 bits
 *    below   pages[upper] from the first 128 bytes (permutex2var: 7 bits of index), above from the last 128
 *    page    one of both, by the page's top bit, which is the sign of the 16-bit value
 *    among   page << 8 | low bits of the value       for a page with all of its numbers
 *    alone   page + whole * 255                      = whole * 256 + (page - whole), for a page of one number
 */
static inline __attribute__((always_inline)) __m512i
bit_vector_places(const struct chunk_index *index, __m512i values)
{
	const uint8_t *bytes = index->pages;
	const __m512i upper = _mm512_srli_epi16(values, 8), byte = _mm512_set1_epi16(0xff), whole = _mm512_set1_epi16((short)index->whole);
	const __m512i below = _mm512_permutex2var_epi8(_mm512_loadu_si512((const void *)bytes), upper, _mm512_loadu_si512((const void *)(bytes + 64)));
	const __m512i above = _mm512_permutex2var_epi8(_mm512_loadu_si512((const void *)(bytes + 128)), upper, _mm512_loadu_si512((const void *)(bytes + 192)));
	const __m512i page = _mm512_and_si512(_mm512_mask_mov_epi16(below, _mm512_movepi16_mask(values), above), byte);
	const __m512i among = _mm512_or_si512(_mm512_slli_epi16(page, 8), _mm512_and_si512(values, byte));
	/* A page that is one number is stored after the whole ones. */
	const __m512i alone = _mm512_add_epi16(page, _mm512_set1_epi16((short)(index->whole * (CHUNK_PAGE - 1))));

	return _mm512_mask_mov_epi16(among, _mm512_cmpge_epu16_mask(page, whole), alone);
}

/* The positions of the numbers of all classes, chunk by chunk, and in which index. */
struct bit_vector_places {
	const struct chunk_index *indexes[BIT_VECTOR_CHUNKS_MOST];
	_Alignas(64) uint16_t places[BIT_VECTOR_CHUNKS_MOST][BIT_VECTOR_PACKETS];
};

static inline __attribute__((always_inline)) void
bit_vector_places_together(const struct bit_vector *table, const uint64_t *keys, uint32_t limb_count, struct bit_vector_places *places, uint32_t chunks)
{
	struct bit_vector_limb limbs[2];

	for (uint32_t i = 0; i < BIT_VECTOR_EIGHTS; i++)
		for (uint32_t limb = 0; limb < limb_count; limb++)
			limbs[limb].eights[i] = bit_vector_limbs(keys + (size_t)i * 8 * limb_count, limb_count, limb);
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		const struct chunk_index *index = __atomic_load_n(&table->chunks[chunk].index, __ATOMIC_ACQUIRE);

		places->indexes[chunk] = index;
		_mm512_store_si512((void *)places->places[chunk], bit_vector_places(index, bit_vector_values(limbs, limb_count, &table->chunks[chunk].bits)));
	}
}

static inline __attribute__((always_inline)) void
bit_vector_sets_together(const struct bit_vector *table, const struct bit_vector_array *array, const uint64_t *keys, uint32_t limb_count,
	struct bit_vector_search *search, uint32_t chunks, uint32_t words)
{
	struct bit_vector_places places;

	/* All places before the first is read again: what was stored as a vector is not there at once. */
	bit_vector_places_together(table, keys, limb_count, &places, chunks);
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		const uint16_t *numbers = places.indexes[chunk]->numbers;
		const uint32_t first = bit_vector_first_set(array, chunk);

		/* Eight at a time, for compilers that do not unroll longer loops, whose end would be
		 * mispredicted each time. */
		for (uint32_t eight = 0; eight < BIT_VECTOR_PACKETS; eight += 8)
			for (uint32_t i = 0; i < 8; i++)
				search->sets[chunk][eight + i] = numbers[places.places[chunk][eight + i]] * words + first;
	}
}

/* The intersection of eight packets' sets of four words. Their addresses are two loads, since loads are the
 * bottleneck. Four 16-bit places are taken out of one 64-bit load by shifts. */
static inline __attribute__((always_inline)) void
bit_vector_meet_eight(const struct bit_vector_array *array, const struct bit_vector_places *places, uint32_t from, uint32_t chunks, __m256i *left)
{
	for (uint32_t i = 0; i < BIT_VECTOR_EIGHT; i++)
		left[i] = _mm256_set1_epi32(-1);
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		const uint16_t *numbers = places->indexes[chunk]->numbers;
		const uint64_t *sets = array->sets[chunk];

		for (uint32_t four = 0; four < BIT_VECTOR_EIGHT; four += 4) {
			uint64_t next;

			memcpy(&next, places->places[chunk] + from + four, sizeof(next));
			for (uint32_t i = four; i < four + 4; i++, next >>= 16)
				left[i] = _mm256_and_si256(left[i], _mm256_load_si256((const void *)(sets + (size_t)numbers[(uint16_t)next] * BIT_VECTOR_QUAD)));
		}
	}
}

/* A word of eight packets' quads becomes a vector of its own.
 *
 *    pairs[i]   a0 a1 a2 a3 | e0 e1 e2 e3          packets i and i + 4 (a .. h: packets)
 *    even[0]    a0 b0 | a2 b2 | e0 f0 | e2 f2      unpacklo of pairs 0 and 1; odd: words 1 and 3
 *    even[1]    c0 d0 | c2 d2 | g0 h0 | g2 h2
 *    words[0]   a0 b0 c0 d0 e0 f0 g0 h0            `low`: 0 1, 8 9, 4 5, 12 13; `high` gives word 2
 */
struct bit_vector_words {
	__m512i words[BIT_VECTOR_QUAD];
};

static inline __attribute__((always_inline)) struct bit_vector_words
bit_vector_transpose(const __m256i *quads)
{
	const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0), high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
	__m512i pairs[4], even[2], odd[2];

	for (uint32_t i = 0; i < 4; i++)
		pairs[i] = _mm512_inserti64x4(_mm512_castsi256_si512(quads[i]), quads[i + 4], 1);
	for (uint32_t i = 0; i < 2; i++) {
		even[i] = _mm512_unpacklo_epi64(pairs[2 * i], pairs[2 * i + 1]);
		odd[i] = _mm512_unpackhi_epi64(pairs[2 * i], pairs[2 * i + 1]);
	}
	return (struct bit_vector_words){ {
		_mm512_permutex2var_epi64(even[0], low, even[1]), _mm512_permutex2var_epi64(odd[0], low, odd[1]),
		_mm512_permutex2var_epi64(even[0], high, even[1]), _mm512_permutex2var_epi64(odd[0], high, odd[1]),
	} };
}

/* The records of the first rules in eight packets' intersections; 0 for none.
 *
 *    first    from the last word to the first: the first word that is not empty is what stays
 *    last     64 * word + 63
 *    lowest   first & -first: one bit b;   lzcnt = 63 - b;   place = last - lzcnt = 64 * word + b
 *    gather   under a mask: lanes without a rule load nothing and give 0
 */
static inline __attribute__((always_inline)) __m256i
bit_vector_first_of_eight(const uint32_t *records, const __m256i *left)
{
	const struct bit_vector_words all = bit_vector_transpose(left);
	__m512i first = all.words[BIT_VECTOR_QUAD - 1], last = _mm512_set1_epi64(64 * BIT_VECTOR_QUAD - 1), lowest;

	for (uint32_t word = BIT_VECTOR_QUAD - 1; word-- > 0;) {
		const __mmask8 here = _mm512_test_epi64_mask(all.words[word], all.words[word]);

		first = _mm512_mask_mov_epi64(first, here, all.words[word]);
		last = _mm512_mask_mov_epi64(last, here, _mm512_set1_epi64(64 * word + 63));
	}
	lowest = _mm512_and_si512(first, _mm512_sub_epi64(_mm512_setzero_si512(), first));
	return _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), _mm512_test_epi64_mask(first, first),
		_mm512_sub_epi64(last, _mm512_lzcnt_epi64(lowest)), (const void *)records, 4);
}

/* Looks up 32 packets in sets of four words. All places are computed before the first set is read, so loads of
 * eight packets overlap. */
static inline __attribute__((always_inline)) void
bit_vector_quads(const struct bit_vector *table, const struct bit_vector_array *array, const uint64_t *keys, uint32_t limbs, uint32_t *found)
{
	const uint32_t chunks = table->chunk_count;
	struct bit_vector_places places;

	bit_vector_places_together(table, keys, limbs, &places, chunks);
	for (uint32_t from = 0; from < BIT_VECTOR_PACKETS; from += BIT_VECTOR_EIGHT) {
		__m256i left[BIT_VECTOR_EIGHT];

		bit_vector_meet_eight(array, &places, from, chunks, left);
		_mm256_storeu_si256((void *)(found + from), bit_vector_first_of_eight(array->records, left));
	}
}
#endif

/* Chunk by chunk, so that a chunk's parameters stay in registers. The result is an offset from the first set of
 * all, as a number of 32 bits: half the memory of an address. */
static inline __attribute__((always_inline)) void
bit_vector_sets(const struct bit_vector *table, const struct bit_vector_array *array, const uint64_t *keys, uint32_t limbs,
		struct bit_vector_search *search, uint32_t chunks, uint32_t words)
{
#ifdef TABLE_AVX512_BYTES
	if (limbs <= 2 && search->count == BIT_VECTOR_PACKETS) {
		bit_vector_sets_together(table, array, keys, limbs, search, chunks, words);
		return;
	}
#endif
	for (uint32_t chunk = 0; chunk < chunks; chunk++) {
		const struct chunk bits = table->chunks[chunk].bits;
		const struct chunk_index *index = __atomic_load_n(&table->chunks[chunk].index, __ATOMIC_ACQUIRE);
		const uint32_t first = bit_vector_first_set(array, chunk);

		for (uint32_t i = 0; i < search->count; i++) {
			uint32_t value = chunk_value(&bits, keys + (size_t)i * limbs);

			/* Compilers would make some steps in vectors, and bring each value there and back. */
			__asm__("" : "+r"(value));
			search->sets[chunk][i] = chunk_number(index, value) * words + first;
		}
	}
}

/* What is read for all packets. */
struct bit_vector_readers {
	const uint64_t *sets;
	const uint32_t *records;
	uint32_t *found;
};

/* Searches a packet's first rule in `span` words of its sets. Branch-free, since a match is unpredictable: a
 * failed search gives no rule. 1: it failed. Without a rule `bit_vector_place` gives some place, whose record is
 * loaded and masked away. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_look(struct bit_vector_readers from, const struct bit_vector_search *search, uint32_t packet, uint64_t at, uint32_t span, uint32_t chunks)
{
	const uint64_t *sets[BIT_VECTOR_CHUNKS_MOST];
	struct bit_vector_meeting meeting;

	sets[0] = from.sets;	/* there is at least one chunk, which compilers do not know */
	for (uint32_t chunk = 0; chunk < chunks; chunk++)
		sets[chunk] = from.sets + search->sets[chunk][packet];
	meeting = bit_vector_meet(sets, at, span, chunks);
	from.found[packet] = __atomic_load_n(&from.records[bit_vector_place(meeting, at, span)], __ATOMIC_ACQUIRE) & -(uint32_t)(meeting.any != 0);
	return meeting.any == 0;
}

/* The same for all packets: a bit for each failure. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_look_all(struct bit_vector_readers from, const struct bit_vector_search *search, uint32_t span, uint32_t chunks)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < search->count; i++)
		left |= bit_vector_look(from, search, i, 0, span, chunks) << i;
	return left;
}

/* For the remaining packets. Bits rather than a list: which packets are left cannot be predicted, but often none
 * is. */
static inline __attribute__((always_inline)) uint32_t
bit_vector_look_again(struct bit_vector_readers from, const struct bit_vector_search *search, uint32_t packets, uint64_t at, uint32_t chunks)
{
	uint32_t left = 0;

	for (; packets != 0; packets &= packets - 1) {
		const uint32_t packet = (uint32_t)__builtin_ctz(packets);

		left |= bit_vector_look(from, search, packet, at, BIT_VECTOR_LINE, chunks) << packet;
	}
	return left;
}

/* Inlined with a literal number of chunks, so that the loops over them are gone, and of words, if these are few. */
static inline __attribute__((always_inline)) void
bit_vector_some(const struct bit_vector *table, const struct bit_vector_array *array, const struct table_group *group, uint32_t from, uint32_t chunks,
		uint32_t words)
{
	const uint64_t *keys = group->keys + (size_t)from * group->limbs;
	const struct bit_vector_readers readers = { array->sets[0], array->records, group->found + from };
	struct bit_vector_search search;
	uint32_t left;

	search.count = group->count - from < BIT_VECTOR_PACKETS ? group->count - from : BIT_VECTOR_PACKETS;
#ifdef TABLE_AVX512_BYTES
	if (words == BIT_VECTOR_QUAD && group->limbs <= 2 && search.count == BIT_VECTOR_PACKETS) {
		bit_vector_quads(table, array, keys, group->limbs, group->found + from);
		return;
	}
#endif
	bit_vector_sets(table, array, keys, group->limbs, &search, chunks, words);
	left = bit_vector_look_all(readers, &search, words == BIT_VECTOR_QUAD ? BIT_VECTOR_QUAD : BIT_VECTOR_LINE, chunks);
	for (uint64_t at = BIT_VECTOR_LINE; at < words && left != 0; at += BIT_VECTOR_LINE)
		left = bit_vector_look_again(readers, &search, left, at, chunks);
}

static inline __attribute__((always_inline)) void
bit_vector_chunks(const struct bit_vector *table, const struct table_group *group, uint32_t chunks)
{
	const struct bit_vector_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);

	for (uint32_t from = 0; from < group->count; from += BIT_VECTOR_PACKETS)
		if (array->words == BIT_VECTOR_QUAD)
			bit_vector_some(table, array, group, from, chunks, BIT_VECTOR_QUAD);
		else
			bit_vector_some(table, array, group, from, chunks, (uint32_t)array->words);
}

#endif
