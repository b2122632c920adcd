/* Numbers in network order, and the checksum of IP, TCP and UDP. Part of each port layer. */
#ifndef BACUS_CHECKSUM_H
#define BACUS_CHECKSUM_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t
load16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t
load32(const uint8_t *at)
{
	return (uint32_t)load16(at) << 16 | load16(at + 2);
}

static inline void
store16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void
store32(uint8_t *at, uint32_t value)
{
	store16(at, value >> 16);
	store16(at + 2, value);
}

/* The sum of 16-bit words as they lie in memory, of which 32 bits are left; the last byte of an odd number counts as the first of a word. Words are added two
 * at a time: a sum of 32-bit words has the same remainder. */
static inline uint64_t
checksum_sum(const uint8_t *bytes, uint32_t count)
{
	uint64_t sum = 0;
	uint32_t word, i = 0;

	for (; i + 4 <= count; i += 4) {
		memcpy(&word, bytes + i, sizeof(word));
		sum += word;
	}
	if (i < count) {
		word = 0;
		memcpy(&word, bytes + i, count - i);
		sum += word;
	}
	sum = (sum & UINT32_MAX) + (sum >> 32);
	return (sum & UINT16_MAX) + (sum >> 16);
}

/* Stores the complement of a sum of 16-bit words, folded. `checksum_sum` adds words as they lie in memory. `zero` replaces 0. */
static inline void
store_checksum(uint8_t *at, uint64_t sum, uint16_t zero)
{
	uint16_t folded;

	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	folded = (uint16_t)~sum;
	folded = folded == 0 ? zero : folded;
	memcpy(at, &folded, sizeof(folded));
}

/* The sum of protocol and length, as a pseudo-header has them. */
static inline uint64_t
segment_pseudo(uint32_t protocol, uint32_t bytes)
{
	return htobe16((uint16_t)protocol) + (uint64_t)htobe16((uint16_t)bytes);
}

/* The sum of the pseudo-header of what an IP header carries. */
static inline uint64_t
pseudo_sum(const uint8_t *ip, uint32_t protocol, uint32_t bytes)
{
	const uint64_t addresses = ip[0] >> 4 == 6 ? checksum_sum(ip + 8, 32) : checksum_sum(ip + 12, 8);

	return addresses + segment_pseudo(protocol, bytes);
}

/* Whether a sum over words and their checksum is that of a right one. */
static inline int
checksum_is_right(uint64_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

#endif
