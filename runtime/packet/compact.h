/* Compaction: arrays of packet members without those of some packets. Which packets stay is unpredictable, so
 * there are no branches: vectors are compressed, or four packets at a time are shuffled.
 *
 * Elements stored after the last kept one are undefined, and the next store overwrites them. An element never
 * moves backwards, so no store goes beyond as many elements as were read. */
#ifndef BACUS_PACKET_COMPACT_H
#define BACUS_PACKET_COMPACT_H

#include <stdint.h>
#include <string.h>

#include "table/vectors.h"

#if defined(TABLE_AVX512) && defined(__AVX512VBMI2__)
#define COMPACT_COMPRESSES 1

/* Compresses in registers: compressing stores are many times slower on some processors. */
static inline void
compact_addresses(void **to, void *const *from, __mmask8 set)
{
	_mm512_storeu_si512(to, _mm512_maskz_compress_epi64(set, _mm512_loadu_si512(from)));
}

static inline void
compact_numbers_eight(uint16_t *to, const uint16_t *from, __mmask8 set)
{
	_mm_storeu_si128((void *)to, _mm_maskz_compress_epi16(set, _mm_loadu_si128((const void *)from)));
}

/* Compresses numbers 32 packets at a time; `count` is a multiple of 32.
 *
 *    set    0b..1011      from  n0 n1 n2 n3 ..      to  n0 n1 n3 ..
 */
static inline void
compact_numbers(uint16_t *to, const uint16_t *from, uint32_t count, uint64_t set)
{
	for (uint32_t i = 0; i < count; i += 32, set >>= 32) {
		_mm512_storeu_si512(to, _mm512_maskz_compress_epi16((__mmask32)set, _mm512_loadu_si512(from + i)));
		to += __builtin_popcount((uint32_t)set);
	}
}
#elif defined(TABLE_AVX2)
/* For each set of four: shuffle indices of the selected halves, for 32-bit halves of addresses and bytes of
 * numbers.
 *
 *    set 0b1010 (packets 1 and 3)   { 2, 3, 6, 7 }
 *    addresses   as 32-bit halves   0 1 | 2 3 | 4 5 | 6 7   ─▶   2 3 | 6 7 | ..
 *    numbers     as bytes of 16-bit numbers, the same indices
 */
static const uint8_t compact_halves[16][8] __attribute__((unused)) = {
	{ 0 },
	{ 0, 1 },
	{ 2, 3 },
	{ 0, 1, 2, 3 },
	{ 4, 5 },
	{ 0, 1, 4, 5 },
	{ 2, 3, 4, 5 },
	{ 0, 1, 2, 3, 4, 5 },
	{ 6, 7 },
	{ 0, 1, 6, 7 },
	{ 2, 3, 6, 7 },
	{ 0, 1, 2, 3, 6, 7 },
	{ 4, 5, 6, 7 },
	{ 0, 1, 4, 5, 6, 7 },
	{ 2, 3, 4, 5, 6, 7 },
	{ 0, 1, 2, 3, 4, 5, 6, 7 },
};

/* Eight indices: bytes for `shuffle_epi8`, widened to 32 bits for `permutevar8x32`. */
static inline __m128i
compact_order(uint64_t set)
{
	return _mm_loadl_epi64((const void *)compact_halves[set & 0xf]);
}
#endif

/* Numbers by packet, beside its address: lengths, ports. */
struct compact_numbers {
	uint16_t *to;
	const uint16_t *from;
};

/* Copies the selected ones of `count` packets, bit 0 being the first: addresses, and so many arrays of
 * numbers. Returns their number. */
static inline uint32_t
compact_packets(void **to, void *const *from, const struct compact_numbers *numbers, uint32_t kinds, uint32_t count, uint64_t set)
{
	uint32_t at = 0, i = 0;

#ifdef COMPACT_COMPRESSES
	const uint32_t whole = count & ~31u;

	for (uint32_t kind = 0; kind < kinds; kind++)
		compact_numbers(numbers[kind].to, numbers[kind].from, whole, set);
	for (; i < whole; i += 8, set >>= 8) {
		compact_addresses(to + at, from + i, (__mmask8)set);
		at += (uint32_t)__builtin_popcount(set & 0xff);
	}
	for (; i + 8 <= count; i += 8, set >>= 8) {
		compact_addresses(to + at, from + i, (__mmask8)set);
		for (uint32_t kind = 0; kind < kinds; kind++)
			compact_numbers_eight(numbers[kind].to + at, numbers[kind].from + i, (__mmask8)set);
		at += (uint32_t)__builtin_popcount(set & 0xff);
	}
#elif defined(TABLE_AVX2)
	for (; i + 4 <= count; i += 4, set >>= 4) {
		const __m128i order = compact_order(set);
		const __m256i addresses = _mm256_loadu_si256((const void *)(from + i));

		_mm256_storeu_si256((void *)(to + at), _mm256_permutevar8x32_epi32(addresses, _mm256_cvtepu8_epi32(order)));
		for (uint32_t kind = 0; kind < kinds; kind++) {
			const __m128i four = _mm_loadl_epi64((const void *)(numbers[kind].from + i));

			_mm_storel_epi64((void *)(numbers[kind].to + at), _mm_shuffle_epi8(four, order));
		}
		at += (uint32_t)__builtin_popcount(set & 0xf);
	}
#endif
	for (; i < count; i++, set >>= 1) {
		to[at] = from[i];
		for (uint32_t kind = 0; kind < kinds; kind++)
			numbers[kind].to[at] = numbers[kind].from[i];
		at += set & 1;
	}
	return at;
}

#endif
