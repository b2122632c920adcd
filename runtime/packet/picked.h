/* Packets of a group that leave a hot path for the next one: a burst of their own, whose packets go back to their
 * places. */
#ifndef BACUS_PACKET_PICKED_H
#define BACUS_PACKET_PICKED_H

#include <stdint.h>

#include "abi.h"

#define PICKED_MOST 64

struct picked {
	uint16_t ports[PICKED_MOST];
	void *packets[PICKED_MOST];
	uint16_t lengths[PICKED_MOST];	/* own only */
	uint8_t places[PICKED_MOST];	/* in the group */
};

/* Copies the packets in the set, of the group from number `from` on. Returns them as a burst. */
static inline struct burst
picked_take(struct picked *picked, const struct burst *burst, uint32_t from, uint64_t set)
{
	uint32_t count = 0;

	for (; set != 0; set &= set - 1) {
		const uint32_t i = (uint32_t)__builtin_ctzll(set);

		picked->places[count] = (uint8_t)i;
		picked->ports[count] = burst->ports[from + i];
		picked->packets[count] = burst->packets[from + i];
		if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN)
			picked->lengths[count] = burst->lengths[from + i];
		count++;
	}
	return (struct burst){ .count = count, .ports = picked->ports, .packets = picked->packets, .lengths = picked->lengths };
}

/* The places of a set of picked packets, as a set. */
static inline uint64_t
picked_places(const struct picked *picked, uint64_t set)
{
	uint64_t places = 0;

	for (; set != 0; set &= set - 1)
		places |= 1ull << picked->places[__builtin_ctzll(set)];
	return places;
}

/* Puts packets in the set back into their group, where they may begin elsewhere now, each with the port that it is
 * to leave by. */
static inline void
picked_put(const struct picked *picked, const struct burst *burst, uint32_t from, uint64_t set, const uint16_t *to, uint16_t *ports)
{
	for (; set != 0; set &= set - 1) {
		const uint32_t k = (uint32_t)__builtin_ctzll(set);
		const uint32_t i = picked->places[k];

		burst->packets[from + i] = picked->packets[k];
		if (PACKET_DESCRIPTOR == DESCRIPTOR_OWN)
			burst->lengths[from + i] = picked->lengths[k];
		ports[i] = to[k];
	}
}

#endif
