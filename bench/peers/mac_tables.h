/* The two MAC tables of a bridge, sources and destinations, over rte_hash: each in an rte_hash of its own, or with ONE_TABLE both in one. There, an address
 * of both tables is one key, whose data show which of the tables have it. */
#ifndef BACUS_PEER_MAC_TABLES_H
#define BACUS_PEER_MAC_TABLES_H

#include "dpdk.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#if !defined(ONE_TABLE)
#define ONE_TABLE 0
#endif

enum { SOURCES, DESTINATIONS, MAC_TABLES };

#define MAC_TABLES_KNOWN(which) ((uint64_t)1 << (62 + (which)))	/* in the data of a key */
#define MAC_TABLES_VALUE UINT32_MAX				/* a destination's */

struct mac_tables {
	struct rte_hash *hashes[MAC_TABLES];	/* with ONE_TABLE both are the same */
};

static inline size_t
mac_tables_bytes(uint64_t entries, uint32_t key_bytes)
{
	return (ONE_TABLE ? 1 : 2) * peer_hash_bytes(entries, key_bytes);
}

/* For so many entries in each table. */
static inline int
mac_tables_create(struct mac_tables *mac_tables, uint64_t entries, uint32_t key_bytes, int socket)
{
	char name[32];

	for (uint32_t which = SOURCES; which < MAC_TABLES; which++) {
		const struct rte_hash_parameters parameters = {
			.name = peer_name(name, sizeof(name), which == SOURCES ? "from" : "to"), .entries = peer_hash_slots(entries),
			.key_len = key_bytes, .hash_func = rte_hash_crc, .socket_id = socket,
		};

		mac_tables->hashes[which] = ONE_TABLE && which != SOURCES ? mac_tables->hashes[SOURCES] : rte_hash_create(&parameters);
		if (mac_tables->hashes[which] == NULL)
			return peer_fail("rte_hash_create");
	}
	return 0;
}

static inline int
mac_tables_insert(struct mac_tables *mac_tables, uint32_t which, const void *key, uint32_t value)
{
	void *before = NULL;
	uint64_t word = MAC_TABLES_KNOWN(which) | (which == DESTINATIONS ? value : 0);

	if (ONE_TABLE && rte_hash_lookup_data(mac_tables->hashes[which], key, &before) >= 0)
		word |= (uintptr_t)before;
	return rte_hash_add_key_data(mac_tables->hashes[which], key, (void *)(uintptr_t)word);
}

/* The value, or -1. */
static inline int64_t
mac_tables_find(const struct mac_tables *mac_tables, uint32_t which, const void *key)
{
	void *found = NULL;

	if (rte_hash_lookup_data(mac_tables->hashes[which], key, &found) < 0 || !((uintptr_t)found & MAC_TABLES_KNOWN(which)))
		return -1;
	return (int64_t)((uintptr_t)found & MAC_TABLES_VALUE);
}

/* A bit for each key of a burst that the table has; `found` gets whole words. */
PEER_INLINE uint64_t
mac_tables_find_bulk(const struct mac_tables *mac_tables, uint32_t which, const void **keys, void **found, uint32_t count)
{
	const uint64_t all = count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
	uint64_t hits = 0, known = UINT64_MAX;

	rte_hash_lookup_bulk_data(mac_tables->hashes[which], keys, count, &hits, found);
	if (!ONE_TABLE)
		return hits;
	if (__builtin_expect(hits == all, 1)) {
		for (uint32_t i = 0; i < count; i++)
			known &= (uintptr_t)found[i];
		if (__builtin_expect((known & MAC_TABLES_KNOWN(which)) != 0, 1))
			return hits;
	}
	for (uint64_t left = hits; left != 0; left &= left - 1)
		if (!((uintptr_t)found[__builtin_ctzll(left)] & MAC_TABLES_KNOWN(which)))
			hits &= ~(left & -left);
	return hits;
}

#endif
