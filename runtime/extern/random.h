/* Random numbers that do not depend on scheduling: a function of seed, packet number and draw number, as the
 * interpreter's random.rs defines it. */
#ifndef BACUS_RANDOM_H
#define BACUS_RANDOM_H

#include "wide.h"

static inline uint64_t
random_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The packet number of a copy or of a re-entering packet; the first one made of a packet has ordinal 1. */
static inline uint64_t
random_copy_number(uint64_t parent, uint64_t ordinal)
{
	return random_mix(parent ^ ordinal);
}

/* The base of a packet's draws. */
static inline uint64_t
random_base(uint64_t seed, uint64_t packet_number)
{
	return seed ^ random_mix(packet_number);
}

/* Draw number `draw`, from 0. */
static inline uint64_t
random_draw(uint64_t base, uint64_t draw)
{
	return random_mix(base + draw);
}

/* A number from `low` to `high`; `draws` counts the packet's draws. */
static inline uint64_t
random_between(uint64_t base, uint64_t *draws, uint64_t low, uint64_t high)
{
	const uint64_t draw = random_draw(base, (*draws)++), range = high - low + 1;

	if (high < low)
		return low;
	return range == 0 ? draw : low + draw % range;
}

/* The same for numbers of more than 64 bits, up to 2048. `out` must not be an operand. */
static inline void
random_between_wide(uint64_t base, uint64_t *draws, uint64_t *out, const uint64_t *low, const uint64_t *high, uint32_t width)
{
	uint64_t draw[32], range[32], quotient[32];
	const uint64_t one[32] = { 1 };

	for (uint32_t i = 0; i < wide_limbs(width); i++)
		draw[i] = random_draw(base, (*draws)++);
	wide_copy(out, low, width);
	if (wide_less(high, low, width))
		return;
	wide_subtract(range, high, low, width);
	wide_add(range, range, one, width);
	if (wide_is_zero(range, width)) {	/* all of 2^width: low is 0 */
		wide_copy(out, draw, width);
		wide_trim(out, width);
		return;
	}
	/* The draw may have more bits than the width: divide at whole limbs. */
	wide_divide(quotient, out, draw, range, 64 * wide_limbs(width));
	wide_add(out, out, low, width);
}

#endif
