/* Lookups of both addresses of each packet of a burst in tables of exact.h: entry 2i is the destination of packet i, entry 2i + 1 its source. */
#ifndef BACUS_PEER_PAIRS_H
#define BACUS_PEER_PAIRS_H

#include "exact.h"

struct pairs {
	_Alignas(64) uint64_t key[2 * PEER_BURST];
	_Alignas(64) const struct exact_bucket *bucket[2 * PEER_BURST];
	_Alignas(64) uint16_t value[2 * PEER_BURST];
	uint16_t missed[2 * PEER_BURST];	/* entries whose first bucket had no match */
	uint32_t missed_count;
};

/* Which table an entry is looked up in. */
typedef const struct exact *pairs_table(const void *flight, uint32_t entry);

PEER_INLINE void
pairs_begin(struct pairs *pairs, uint32_t i, const struct exact *dmac, uint64_t to, const struct exact *smac, uint64_t from)
{
	pairs->key[2 * i] = to;
	pairs->key[2 * i + 1] = from;
	pairs->bucket[2 * i] = exact_first(dmac, to);
	pairs->bucket[2 * i + 1] = exact_first(smac, from);
}

/* Compares the first buckets, asks for the second ones of keys that were not there, and with each line consumed for one of `next`, if there is one. */
PEER_INLINE void
pairs_compare(struct pairs *pairs, const struct pairs *next, const void *flight, pairs_table table, const uint32_t count)
{
	uint32_t missed_count = 0;

	for (uint32_t entry = 0; entry < 2 * count; entry++) {
		const struct exact_bucket *bucket = pairs->bucket[entry];
		const uint32_t match = exact_match(bucket, pairs->key[entry]);

		if (next != NULL)
			prefetch(next->bucket[entry]);
		pairs->value[entry] = exact_value(bucket, match);
		pairs->missed[missed_count] = (uint16_t)entry;
		missed_count += match == 0;
	}
	pairs->missed_count = missed_count;
	for (uint32_t i = 0; i < missed_count; i++)
		prefetch(exact_second(table(flight, pairs->missed[i]), pairs->key[pairs->missed[i]]));
}

PEER_INLINE void
pairs_retry(struct pairs *pairs, const void *flight, pairs_table table)
{
	for (uint32_t i = 0; i < pairs->missed_count; i++) {
		const uint32_t entry = pairs->missed[i];
		const uint64_t key = pairs->key[entry];

		pairs->value[entry] = exact_find_second(exact_second(table(flight, entry), key), key);
	}
}

#endif
