/* Sixteen packets at a time, with AVX-512: their header words transposed into lanes, and the router's checks as operators on vectors. */
#ifndef BACUS_PEER_LANES_H
#define BACUS_PEER_LANES_H

#include "ipv4fwd.h"

#include <immintrin.h>

#define LANES_AVX512 1

typedef uint32_t u32x16 __attribute__((vector_size(64)));

/* 16 bytes at `offset` of packets i, i + 4, i + 8, i + 12: lanes of a vector that transposes into packet order. */
PEER_INLINE __m512i
lanes_quarter(const uint8_t *const *data, uint32_t i, uint32_t offset)
{
	__m512i rows = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(data[i] + offset)));

	rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(data[i + 4] + offset)), 1);
	rows = _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(data[i + 8] + offset)), 2);
	return _mm512_inserti32x4(rows, _mm_loadu_si128((const void *)(data[i + 12] + offset)), 3);
}

/* The four 32-bit words at `offset` of sixteen packets, a vector each. */
PEER_INLINE void
lanes_load_words(const uint8_t *const *data, uint32_t offset, u32x16 words[4])
{
	const __m512i a = lanes_quarter(data, 0, offset), b = lanes_quarter(data, 1, offset);
	const __m512i c = lanes_quarter(data, 2, offset), d = lanes_quarter(data, 3, offset);
	const __m512i ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
	const __m512i cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);

	words[0] = (u32x16)_mm512_unpacklo_epi64(ab_low, cd_low);
	words[1] = (u32x16)_mm512_unpackhi_epi64(ab_low, cd_low);
	words[2] = (u32x16)_mm512_unpacklo_epi64(ab_high, cd_high);
	words[3] = (u32x16)_mm512_unpackhi_epi64(ab_high, cd_high);
}

PEER_INLINE u32x16
lanes_swap32(u32x16 x)
{
	return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

/* Checks of RFC 1812, the new word of time to live and checksum, and the address; a bit for each bad packet. */
PEER_INLINE uint32_t
lanes_ipv4(const uint8_t *const *data, const uint16_t *length, uint32_t *address, uint32_t *words)
{
	const u32x16 lengths = (u32x16)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)length));
	u32x16 front[4], rest[4], low, high, sum, word, checksum, destination, total, bad;

	lanes_load_words(data, 2, front);	/* [2]: smac's end and the ethertype; [3]: version, tos, total length */
	lanes_load_words(data, 18, rest);	/* fragment; ttl, protocol, checksum; source; destination */
	low = (front[3] & 0xffff) + (rest[0] & 0xffff) + (rest[1] & 0xffff) + (rest[2] & 0xffff) + (rest[3] & 0xffff);
	high = (front[3] >> 16) + (rest[0] >> 16) + (rest[1] >> 16) + (rest[2] >> 16) + (rest[3] >> 16);
	sum = low + high;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	total = lanes_swap32(front[3]) & 0xffff;
	bad = (u32x16)(front[2] >> 16 != TYPE_IPV4) | (u32x16)((front[3] & 0xff) != 0x45);
	bad |= (u32x16)(lengths < ETHERNET_BYTES + IPV4_BYTES) | (u32x16)(total < IPV4_BYTES);
	bad |= (u32x16)(total + ETHERNET_BYTES > lengths) | (u32x16)(sum != 0xffff) | (u32x16)((rest[1] & 0xff) <= 1);
	checksum = (rest[1] >> 16) + 1;
	word = ((rest[1] - 1) & 0xffff) | (checksum - (u32x16)(checksum >= 0xffff)) << 16;
	destination = lanes_swap32(rest[3]);
	memcpy(address, &destination, sizeof(destination));
	memcpy(words, &word, sizeof(word));
	return _mm512_movepi32_mask((__m512i)bad);
}

#endif
