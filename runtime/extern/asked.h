/* Which keys tables are asked for, for profiles: each sets a bit of its table's map, and by the bits that are still clear a reader estimates how many there
 * were (Whang, Vander-Zanden and Taylor, "A linear-time probabilistic counting algorithm for database applications", 1990). Keys of more than one
 * worker are the bits of all their maps. */
#ifndef BACUS_ASKED_H
#define BACUS_ASKED_H

#include "abi.h"

_Static_assert(ASKED_WORDS == 1024, "a key's bit is told by 16 bits of its hash");

static inline void
asked_note(const struct worker *worker, uint32_t table, const uint64_t *key, uint32_t limbs)
{
	uint64_t *map = worker->asked + (size_t)table * ASKED_WORDS, *word;
	uint64_t hash = 0;

	for (uint32_t limb = 0; limb < limbs; limb++) {
		hash = (hash ^ key[limb]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	hash *= 0xd6e8feb86659fd93ull;
	word = &map[hash >> 54];
	/* A single store, as for other counts. */
	__atomic_store_n(word, *word | UINT64_C(1) << (hash >> 48 & 63), __ATOMIC_RELAXED);
}

#endif
