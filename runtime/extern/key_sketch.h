/* The number of distinct keys of lookups, for profiles, by linear counting: each key sets a bit of its
 * table's bitmap, and the clear bits give an estimate (Whang, Vander-Zanden and Taylor, "A linear-time
 * probabilistic counting algorithm for database applications", 1990). Bitmaps of several workers are merged
 * by OR. */
#ifndef BACUS_KEY_SKETCH_H
#define BACUS_KEY_SKETCH_H

#include "abi.h"

_Static_assert(KEY_SKETCH_WORDS == 1024, "a key's bit is chosen by 16 bits of its hash");

static inline void
sketch_add_key(const struct worker *worker, uint32_t table, const uint64_t *key, uint32_t limbs)
{
	uint64_t *map = worker->key_sketches + (size_t)table * KEY_SKETCH_WORDS, *word;
	uint64_t hash = 0;

	for (uint32_t limb = 0; limb < limbs; limb++) {
		hash = (hash ^ key[limb]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	hash *= 0xd6e8feb86659fd93ull;
	word = &map[hash >> 54];
	/* A single atomic store, as for other counts. */
	__atomic_store_n(word, *word | UINT64_C(1) << (hash >> 48 & 63), __ATOMIC_RELAXED);
}

#endif
