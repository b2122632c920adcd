/* Arrays of what packets have, without those of some packets. Which ones stay cannot be predicted, so there is no branch about it: four packets at a time,
 * by instructions that move the chosen parts of a register together (AVX2, BMI2).
 *
 * What is stored behind the elements that stay is of no account: the next four, or whatever comes next, are written over it. Since what stays is never
 * further on than it was, no store goes beyond the four that were read. */
#ifndef BACUS_PACKET_COMPACT_H
#define BACUS_PACKET_COMPACT_H

#include <stdint.h>
#include <string.h>

#if !defined(TABLE_PORTABLE) && defined(__AVX2__) && defined(__BMI2__)
#define COMPACT_FOUR 1
#include <immintrin.h>

/* Pairs of 32-bit lanes of the addresses that stay, for each set of four. */
static const uint32_t compact_lanes[16][8] __attribute__((unused)) = {
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

static inline void
compact_addresses(void **to, void *const *from, uint32_t four)
{
	const __m256i lanes = _mm256_loadu_si256((const void *)compact_lanes[four]);

	_mm256_storeu_si256((void *)to, _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)from), lanes));
}

static inline void
compact_numbers(uint16_t *to, const uint16_t *from, uint32_t four)
{
	uint64_t numbers;

	memcpy(&numbers, from, sizeof(numbers));
	numbers = _pext_u64(numbers, _pdep_u64(four, 0x0001000100010001) * UINT16_MAX);
	memcpy(to, &numbers, sizeof(numbers));
}
#endif

#endif
