/* What peers over DPDK's libraries share: heaps of large pages for their tables, so that they have the same memory as everybody else. */
#ifndef BACUS_PEER_DPDK_H
#define BACUS_PEER_DPDK_H

#include "peer.h"

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#define PEER_PAGE ((size_t)2 << 20)

/* A name that no other table of the process has. */
static inline const char *
peer_name(char *text, size_t bytes, const char *kind)
{
	snprintf(text, bytes, "%s%lx", kind, (unsigned long)(uintptr_t)&bacus_peer);
	return text;
}

static inline int
peer_fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, rte_strerror(rte_errno));
	return -1;
}

/* A quarter more than there are entries: rte_hash cannot be filled. */
static inline uint32_t
peer_hash_slots(uint64_t entries)
{
	return (uint32_t)(entries + entries / 4 + 64);
}

/* A heap of its own for each peer, with room for `bytes`: DPDK clears all of it at once. Its socket, or any where there is none. */
static inline int
peer_heap(size_t bytes)
{
	const size_t room = (bytes + 16 * PEER_PAGE) & ~(PEER_PAGE - 1);
	char name[32];
	void *memory;

	peer_name(name, sizeof(name), "heap");
	memory = peer_allocate(room);
	if (memory == NULL || rte_malloc_heap_create(name) != 0 ||
	    rte_malloc_heap_memory_add(name, memory, room, NULL, 0, PEER_PAGE) != 0) {
		(void)peer_fail("no heap for tables");
		return SOCKET_ID_ANY;
	}
	return rte_malloc_heap_get_socket(name);
}

/* What an rte_hash takes: slots of keys with their data, buckets, and the ring of free slots; the last two rounded up to a power of two. */
static inline size_t
peer_hash_bytes(uint64_t entries, uint32_t key_bytes)
{
	const uint64_t slots = peer_hash_slots(entries), slot_bytes = (key_bytes + 8 + 15) & ~(uint64_t)15;
	uint64_t rounded = 1;

	while (rounded < slots + 1024)
		rounded *= 2;
	return slots * slot_bytes + rounded * 12 + ((size_t)16 << 20);
}

#endif
