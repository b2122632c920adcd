/* The two tables of stations of a bridge, sources and destinations, over rte_hash: each in a table of its own, or with ONE_TABLE both in one, where a station
 * that is in both is one key. What stands there says which of the tables have it. */
#ifndef BACUS_PEER_STATIONS_H
#define BACUS_PEER_STATIONS_H

#include "dpdk.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#if !defined(ONE_TABLE)
#define ONE_TABLE 0
#endif

enum { SOURCES, DESTINATIONS, STATIONS };

#define STATIONS_KNOWN(which) ((uint64_t)1 << (62 + (which)))	/* in what stands there */
#define STATIONS_VALUE UINT32_MAX				/* a destination's */

struct stations {
	struct rte_hash *hashes[STATIONS];	/* twice the same, if there is one */
};

static inline size_t
stations_bytes(uint64_t entries, uint32_t key_bytes)
{
	return (ONE_TABLE ? 1 : 2) * peer_hash_bytes(entries, key_bytes);
}

/* For so many stations. */
static inline int
stations_create(struct stations *stations, uint64_t entries, uint32_t key_bytes, int socket)
{
	char name[32];

	for (uint32_t which = SOURCES; which < STATIONS; which++) {
		const struct rte_hash_parameters parameters = {
			.name = peer_name(name, sizeof(name), which == SOURCES ? "from" : "to"), .entries = peer_hash_slots(entries),
			.key_len = key_bytes, .hash_func = rte_hash_crc, .socket_id = socket,
		};

		stations->hashes[which] = ONE_TABLE && which != SOURCES ? stations->hashes[SOURCES] : rte_hash_create(&parameters);
		if (stations->hashes[which] == NULL)
			return peer_fail("rte_hash_create");
	}
	return 0;
}

static inline int
stations_insert(struct stations *stations, uint32_t which, const void *key, uint32_t value)
{
	void *before = NULL;
	uint64_t word = STATIONS_KNOWN(which) | (which == DESTINATIONS ? value : 0);

	if (ONE_TABLE && rte_hash_lookup_data(stations->hashes[which], key, &before) >= 0)
		word |= (uintptr_t)before;
	return rte_hash_add_key_data(stations->hashes[which], key, (void *)(uintptr_t)word);
}

/* The value, or -1. */
static inline int64_t
stations_find(const struct stations *stations, uint32_t which, const void *key)
{
	void *found = NULL;

	if (rte_hash_lookup_data(stations->hashes[which], key, &found) < 0 || !((uintptr_t)found & STATIONS_KNOWN(which)))
		return -1;
	return (int64_t)((uintptr_t)found & STATIONS_VALUE);
}

/* A bit for each key of a burst that the table has; what is found is whole words. */
PEER_INLINE uint64_t
stations_find_bulk(const struct stations *stations, uint32_t which, const void **keys, void **found, uint32_t count)
{
	const uint64_t all = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
	uint64_t hits = 0, known = UINT64_MAX;

	rte_hash_lookup_bulk_data(stations->hashes[which], keys, count, &hits, found);
	if (!ONE_TABLE)
		return hits;
	if (__builtin_expect(hits == all, 1)) {
		for (uint32_t i = 0; i < count; i++)
			known &= (uintptr_t)found[i];
		if (__builtin_expect((known & STATIONS_KNOWN(which)) != 0, 1))
			return hits;
	}
	for (uint64_t left = hits; left != 0; left &= left - 1)
		if (!((uintptr_t)found[__builtin_ctzll(left)] & STATIONS_KNOWN(which)))
			hits &= ~(left & -left);
	return hits;
}

#endif
