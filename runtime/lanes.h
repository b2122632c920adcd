/* SIMD lanes: a vector has one 32-bit number of each of LANES packets. Generated code defines LANES as 8 or
 * 16 before it includes this file, after one of packet/.
 *
 * The first stage of the hot path is such code where the plan has `vector` (crates/emit/src/path/vector.rs).
 * Comparisons yield masks, all ones or zero in each lane.
 *
 *    memory            packet 0: bytes ..   packet 1: bytes ..   packet 2: ..       16 bytes of each, one load
 *    lanes_quarter     4 rows of words of packets i, i + 4, i + 8, i + 12
 *    lanes_transpose   4 vectors, each one word of 4 packets per 128-bit quarter
 *    lanes_swapped      bytes of each word swapped: numbers of the program
 *    vector w          word w of packet 0, 1, 2, .. LANES - 1, in order
 */
#ifndef BACUS_LANES_H
#define BACUS_LANES_H

#include <string.h>

#include "abi.h"
#include "table/vectors.h"

#if LANES != 8 && LANES != 16
#error "LANES: 8 or 16 packets side by side"
#endif

/* No function with external linkage passes vectors: the calling convention differs between compilers and
 * processors. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define LANES_INLINE static inline __attribute__((always_inline))

/* Unsigned, as numbers of P4 are. A vector longer than the machine's is legal, and compiled to several; shifts
 * and comparisons are by lane. */
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
typedef uint16_t lanes_narrow __attribute__((vector_size(2 * LANES)));
typedef uint64_t lanes_wide __attribute__((vector_size(8 * LANES)));

/* A batch of packets: addresses and lengths of their bytes. */
struct lanes_packets {
	void *const *data;
	lanes length;
};

LANES_INLINE lanes
lanes_numbers(const uint32_t *numbers)
{
	lanes vector;

	memcpy(&vector, numbers, sizeof(vector));
	return vector;
}

/* Loads 16-bit numbers. */
LANES_INLINE lanes
lanes_widened(const uint16_t *numbers)
{
	lanes_narrow vector;

	memcpy(&vector, numbers, sizeof(vector));
	return __builtin_convertvector(vector, lanes);
}

/* The ingress ports. */
LANES_INLINE lanes
lanes_ports(const struct burst *burst, uint32_t i)
{
	return lanes_widened(burst->ports + i);
}

/* In every lane the mask is all ones or zero, so compilers make one instruction of it where there is one. */
LANES_INLINE lanes
lanes_blend(lanes mask, lanes then, lanes otherwise)
{
	return (mask & then) | (~mask & otherwise);
}

LANES_INLINE const uint8_t *
lanes_bytes(const struct lanes_packets *packets, uint32_t i, uint32_t offset)
{
	return (const uint8_t *)packets->data[i] + offset;
}

/* Broadcasts a number. */
LANES_INLINE lanes
lanes_broadcast(uint32_t number)
{
	return (lanes){ 0 } + number;
}

/* Broadcasts a constant, hidden from the compiler: it stays in a register, or in memory, instead of being
 * rematerialized at each use. */
LANES_INLINE lanes
lanes_constant(uint32_t number)
{
	lanes numbers = lanes_broadcast(number);

#if defined(__AVX512VL__) || (defined(__AVX2__) && LANES == 8)
	__asm__("" : "+v"(numbers));
#endif
	return numbers;
}

/* Whether the number is uniform over all packets. Differences in halves of 64 bits: half as many scalar steps,
 * and no comparison per lane. */
LANES_INLINE int
lanes_uniform(lanes numbers)
{
	const lanes others = numbers ^ lanes_broadcast(numbers[0]);
	uint64_t parts[LANES / 2], any = 0;

	memcpy(parts, &others, sizeof(parts));
	for (uint32_t i = 0; i < LANES / 2; i++)
		any |= parts[i];
	return any == 0;
}

#if defined(TABLE_AVX512) && LANES == 16

/* 16 bytes of packets i, i + 4, i + 8, i + 12.
 *
 *    quarter 0       1           2           3
 *    a0 a1 a2 a3     e0 .. e3    i0 .. i3    m0 .. m3        i = 0: packets a, e, i, m of a .. p
 *
 * With this order the transposition below stays within quarters, and its result is in the order of packets. */
LANES_INLINE __m512i
lanes_quarter(const struct lanes_packets *packets, uint32_t i, uint32_t offset)
{
	__m512i rows = _mm512_castsi128_si512(_mm_loadu_si128((const void *)lanes_bytes(packets, i, offset)));

	rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)lanes_bytes(packets, i + 4, offset)), 1);
	rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)lanes_bytes(packets, i + 8, offset)), 2);
	return _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)lanes_bytes(packets, i + 12, offset)), 3);
}

#define LANES_VECTOR __m512i
#define LANES_LOW32 _mm512_unpacklo_epi32
#define LANES_HIGH32 _mm512_unpackhi_epi32
#define LANES_LOW64 _mm512_unpacklo_epi64
#define LANES_HIGH64 _mm512_unpackhi_epi64

LANES_INLINE lanes
lanes_swapped(__m512i words)
{
	/* Bytes 3 2 1 0 7 6 5 4 .. (the arguments are from the highest down): each 32-bit word is byte-swapped. */
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

	return (lanes)_mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(swap));
}

/* Two 64-bit numbers of every fourth packet. A quarter is one packet's two limbs, and packets are two numbers
 * long: the next quarter's is four packets on. */
LANES_INLINE void
lanes_store_quarters(uint64_t *to, __m512i numbers)
{
	_mm_storeu_si128((void *)to, _mm512_castsi512_si128(numbers));
	_mm_storeu_si128((void *)(to + 8), _mm512_extracti32x4_epi32(numbers, 1));
	_mm_storeu_si128((void *)(to + 16), _mm512_extracti32x4_epi32(numbers, 2));
	_mm_storeu_si128((void *)(to + 24), _mm512_extracti32x4_epi32(numbers, 3));
}

/* A bit for each packet whose mask is set. */
LANES_INLINE uint32_t
lanes_movemask(lanes mask)
{
	return _mm512_movepi32_mask((__m512i)mask);
}

#elif defined(TABLE_AVX2) && LANES == 8

LANES_INLINE __m256i
lanes_quarter(const struct lanes_packets *packets, uint32_t i, uint32_t offset)
{
	const __m256i row = _mm256_castsi128_si256(_mm_loadu_si128((const void *)lanes_bytes(packets, i, offset)));

	return _mm256_inserti128_si256(row, _mm_loadu_si128((const void *)lanes_bytes(packets, i + 4, offset)), 1);
}

#define LANES_VECTOR __m256i
#define LANES_LOW32 _mm256_unpacklo_epi32
#define LANES_HIGH32 _mm256_unpackhi_epi32
#define LANES_LOW64 _mm256_unpacklo_epi64
#define LANES_HIGH64 _mm256_unpackhi_epi64

LANES_INLINE lanes
lanes_swapped(__m256i words)
{
	const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

	return (lanes)_mm256_shuffle_epi8(words, _mm256_broadcastsi128_si256(swap));
}

LANES_INLINE void
lanes_store_quarters(uint64_t *to, __m256i numbers)
{
	_mm_storeu_si128((void *)to, _mm256_castsi256_si128(numbers));
	_mm_storeu_si128((void *)(to + 8), _mm256_extracti128_si256(numbers, 1));
}

LANES_INLINE uint32_t
lanes_movemask(lanes mask)
{
	return (uint32_t)_mm256_movemask_ps((__m256)mask);
}

#else

LANES_INLINE uint32_t
lanes_movemask(lanes mask)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < LANES; i++)
		bits |= (mask[i] & 1u) << i;
	return bits;
}

#endif

/* A bit for each of the first `count` packets. */
LANES_INLINE uint32_t
lanes_first(uint32_t count)
{
	return (1u << (count < LANES ? count : LANES)) - 1;
}

/* The sum of the numbers of packets in the set.
 *
 *    16 -> 8 -> 4 -> 2 -> 1 numbers: the upper half is added to the lower one each time
 *    AVX2 has no mask registers: bit i of the set is tested in lane i, which gives the lane's mask
 */
LANES_INLINE uint32_t
lanes_sum(lanes numbers, uint32_t set)
{
#ifdef LANES_VECTOR
#if LANES == 16
	const __m512i chosen = _mm512_maskz_mov_epi32((__mmask16)set, (__m512i)numbers);
	const __m256i eight = _mm256_add_epi32(_mm512_castsi512_si256(chosen), _mm512_extracti64x4_epi64(chosen, 1));
#else
	const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	const __m256i chosen = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)set), bits), bits);
	const __m256i eight = _mm256_and_si256((__m256i)numbers, chosen);
#endif
	const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
	const __m128i two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));

	return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 1)));
#else
	uint32_t sum = 0;

	for (uint32_t i = 0; i < LANES; i++)
		sum += numbers[i] & -(set >> i & 1);
	return sum;
#endif
}

/* Loads the lengths of the first packets of a burst. 1 if each has so many contiguous bytes, else 0. `missing`
 * collects over all packets, so there is one branch for a vector; it is taken for a burst with a short packet
 * only. */
LANES_INLINE int
lanes_lengths(const struct burst *burst, uint32_t bytes, lanes *length)
{
#ifdef PACKET_LENGTHS_EIGHT
	const __m256i wanted = _mm256_set1_epi32((int)bytes);
	__m256i lengths[LANES / 8], missing = _mm256_setzero_si256();

	for (uint32_t eight = 0; eight < LANES / 8; eight++) {
		__m256i contiguous;

		packet_lengths_eight(burst, 8 * eight, &lengths[eight], &contiguous);
		missing = _mm256_or_si256(missing, _mm256_cmpgt_epi32(wanted, contiguous));
	}
#if defined(TABLE_AVX512) && LANES == 16
	/* Through memory, store forwarding of two halves to one load would stall. */
	*length = (lanes)_mm512_inserti64x4(_mm512_castsi256_si512(lengths[0]), lengths[1], 1);
#else
	memcpy(length, lengths, sizeof(*length));
#endif
	return _mm256_testz_si256(missing, missing);
#else
	uint32_t lengths[LANES], missing = 0;

	for (uint32_t at = 0; at < LANES; at++) {
		const struct packet packet = packet_take(burst, at);

		lengths[at] = packet_length(&packet);
		missing |= packet_contiguous(&packet) - bytes;	/* below zero has the highest bit: no packet is that long */
	}
	*length = lanes_numbers(lengths);
	return missing >> 31 == 0;
#endif
}

/* Takes packets `i` and following as a batch. 1 if each has so many contiguous bytes, else 0. For bursts without
 * an array of addresses, `data` gets the addresses of the first bytes. 1 is by far the most frequent: else the
 * group runs packet by packet. */
LANES_INLINE int
lanes_take(const struct burst *burst, uint32_t i, uint32_t bytes, void **data, struct lanes_packets *packets)
{
	/* A burst of constant size, so that the compiler knows each packet's position. */
	const struct burst these = { .count = LANES, .packets = burst->packets + i };

	if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN) {
		packets->data = these.packets;
		packets->length = lanes_widened(burst->lengths + i);
		return lanes_movemask((lanes)(packets->length < bytes)) == 0;
	}
	for (uint32_t at = 0; at < LANES; at++) {
		const struct packet packet = packet_take(&these, at);

		data[at] = packet_data(&packet);
	}
	/* Forces the addresses to memory: they do not fit into registers, and moving them around costs more. */
	__asm__("" : "+m"(*(void *(*)[LANES])data));
	packets->data = data;
	return lanes_lengths(&these, bytes, &packets->length);
}

#define LANES_GROUP 64u		/* the largest group */
#define LANES_STEP 4u	/* packets that are deferred in one step */
#define LANES_WAITING (LANES + LANES_GROUP + LANES_STEP)
/* Timeout in bursts: some 2,000 packets, below a tenth of a millisecond. Counters are read much less often,
 * and one call in that time costs nothing. */
#define LANES_TIMEOUT 32u

/* Deferred packets that are collected until a vector is full: fewer than LANES before those of another group are
 * added.
 *
 *    packets   | waiting: < LANES | of the group that is added: <= 64 | stored and ignored: < LANES_STEP |
 */
struct lanes_deferred {
	uint32_t count;
	void *packets[LANES_WAITING];	/* as in bursts */
	uint16_t lengths[LANES_WAITING];	/* own descriptor only; unused with mbufs */
	uint16_t ports[LANES_WAITING];	/* ingress ports */
};

/* Defers the packets of a group that are in the set. A loop over set bits would be mispredicted, so LANES_STEP
 * are stored at a time, which is one step for most groups. What is stored beyond the last one is ignored. When
 * the set is used up within a step, `set` gives a valid index again: the packet is stored beyond the end. */
LANES_INLINE void
lanes_defer(struct lanes_deferred *waiting, const struct burst *burst, uint32_t from, uint64_t set)
{
	uint32_t at = waiting->count;

	for (uint64_t rest = set; rest != 0;) {
		for (uint32_t step = 0; step < LANES_STEP; step++, at++, rest &= rest - 1) {
			const uint32_t i = from + (uint32_t)__builtin_ctzll(rest != 0 ? rest : set);

			waiting->packets[at] = burst->packets[i];
			waiting->ports[at] = burst->ports[i];
			if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN)
				waiting->lengths[at] = burst->lengths[i];
		}
	}
	waiting->count += (uint32_t)__builtin_popcountll(set);
}

/* Takes `count` deferred packets, at least one, as a burst of LANES. If there are fewer, the first one fills
 * up the rest. */
LANES_INLINE struct burst
lanes_take_batch(struct lanes_deferred *waiting, uint32_t count)
{
	const uint32_t from = waiting->count - count;

	for (uint32_t at = count; at < LANES; at++) {
		waiting->packets[from + at] = waiting->packets[from];
		waiting->lengths[from + at] = waiting->lengths[from];
		waiting->ports[from + at] = waiting->ports[from];
	}
	waiting->count = from;
	return (struct burst){
		.count = LANES, .ports = waiting->ports + from, .packets = waiting->packets + from, .lengths = waiting->lengths + from };
}

#ifdef LANES_VECTOR
/* Transposes 4x4 words within each 128-bit quarter.
 *
 *    rows      a0 a1 a2 a3   b0 b1 b2 b3   c0 ..   d0 ..        one packet per row, words 0..3
 *    low       a0 b0 a1 b1   next_low   c0 d0 c1 d1
 *    high      a2 b2 a3 b3   next_high  c2 d2 c3 d3
 *    rows'     a0 b0 c0 d0   a1 b1 c1 d1   a2 ..   a3 ..        one word per row
 *
 * The transposition is its own inverse: `lanes_store_two` uses it in the other direction. */
LANES_INLINE void
lanes_transpose(LANES_VECTOR *rows)
{
	const LANES_VECTOR low = LANES_LOW32(rows[0], rows[1]), high = LANES_HIGH32(rows[0], rows[1]);
	const LANES_VECTOR next_low = LANES_LOW32(rows[2], rows[3]), next_high = LANES_HIGH32(rows[2], rows[3]);

	rows[0] = LANES_LOW64(low, next_low);
	rows[1] = LANES_HIGH64(low, next_low);
	rows[2] = LANES_LOW64(high, next_high);
	rows[3] = LANES_HIGH64(high, next_high);
}
#endif

/* The four big-endian words of each packet's 16 bytes from `offset` on, a vector per word. */
LANES_INLINE void
lanes_load(const struct lanes_packets *packets, uint32_t offset, lanes *words)
{
#ifdef LANES_VECTOR
	LANES_VECTOR rows[4];

	for (uint32_t row = 0; row < 4; row++)
		rows[row] = lanes_quarter(packets, row, offset);
	lanes_transpose(rows);
	for (uint32_t word = 0; word < 4; word++)
		words[word] = lanes_swapped(rows[word]);
#else
	uint32_t rows[4][LANES];

	for (uint32_t i = 0; i < LANES; i++) {
		uint32_t row[4];

		memcpy(row, lanes_bytes(packets, i, offset), sizeof(row));
		for (uint32_t word = 0; word < 4; word++)
			rows[word][i] = __builtin_bswap32(row[word]);
	}
	for (uint32_t word = 0; word < 4; word++)
		words[word] = lanes_numbers(rows[word]);
#endif
}

/* Stores four bytes of each packet, most significant first. */
LANES_INLINE void
lanes_store_bytes(uint32_t *to, lanes bytes)
{
#ifdef LANES_VECTOR
	const lanes swapped = lanes_swapped((LANES_VECTOR)bytes);
#else
	const lanes swapped = bytes << 24 | (bytes & 0xff00) << 8 | (bytes >> 8 & 0xff00) | bytes >> 24;
#endif

	memcpy(to, &swapped, sizeof(swapped));
}

LANES_INLINE void
lanes_store_numbers(uint32_t *to, lanes numbers)
{
	memcpy(to, &numbers, sizeof(numbers));
}

#if defined(TABLE_AVX2) && LANES == 8

/* Four 64-bit numbers.
 *
 *    low   l0 l1 l2 l3   widened   0:l0 0:l1 0:l2 0:l3       high likewise, shifted up by 32, then OR
 */
LANES_INLINE void
lanes_store_four(uint64_t *to, __m128i low, __m128i high)
{
	const __m256i upper = _mm256_slli_epi64(_mm256_cvtepu32_epi64(high), 32);

	_mm256_storeu_si256((void *)to, _mm256_or_si256(_mm256_cvtepu32_epi64(low), upper));
}

/* 64-bit numbers in halves: a vector twice as long as the machine's would go through memory. */
LANES_INLINE void
lanes_store_wide(uint64_t *to, lanes low, lanes high)
{
	const __m256i lows = (__m256i)low, highs = (__m256i)high;

	lanes_store_four(to, _mm256_castsi256_si128(lows), _mm256_castsi256_si128(highs));
	lanes_store_four(to + 4, _mm256_extracti128_si256(lows, 1), _mm256_extracti128_si256(highs, 1));
}

#else

LANES_INLINE void
lanes_store_wide(uint64_t *to, lanes low, lanes high)
{
	const lanes_wide numbers = __builtin_convertvector(low, lanes_wide) | __builtin_convertvector(high, lanes_wide) << 32;

	memcpy(to, &numbers, sizeof(numbers));
}

#endif

/* Stores 64-bit numbers with a stride of `stride` numbers per packet. */
LANES_INLINE void
lanes_store(uint64_t *to, uint32_t stride, lanes low, lanes high)
{
	uint64_t each[LANES];

	if (stride == 1) {
		lanes_store_wide(to, low, high);
		return;
	}
	lanes_store_wide(each, low, high);
	for (uint32_t i = 0; i < LANES; i++)
		to[i * stride] = each[i];
}

/* Stores two 64-bit numbers per packet, as in keys of up to 128 bits.
 *
 *    words   low of a b c d.., high of .., next low .., next high ..     four vectors, one lane per packet
 *    after   a: low high next next | e: .. | i: .. | m: ..               four words, two limbs, of each packet
 */
LANES_INLINE void
lanes_store_two(uint64_t *to, lanes low, lanes high, lanes next_low, lanes next_high)
{
#ifdef LANES_VECTOR
	LANES_VECTOR words[4] = { (LANES_VECTOR)low, (LANES_VECTOR)high, (LANES_VECTOR)next_low, (LANES_VECTOR)next_high };

	lanes_transpose(words);
	for (uint32_t packet = 0; packet < 4; packet++)
		lanes_store_quarters(to + 2 * packet, words[packet]);
#else
	lanes_store(to, 2, low, high);
	lanes_store(to + 1, 2, next_low, next_high);
#endif
}

#endif
