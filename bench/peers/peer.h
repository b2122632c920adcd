/* What programs written by hand share: how they get their entries, and how a burst of either descriptor is read and sent.
 *
 * A peer is a pipeline (runtime/abi.h), so the port, the packets and the clock are those of compiled programs. If it exports `bacus_peer`, its
 * tables are its own: the host gives it each entry as the pipeline's descriptors lay it out, in the order of the writes. */
#ifndef BACUS_PEER_H
#define BACUS_PEER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi.h"
#include "table/writer.h"

struct peer {
	int (*open)(uint64_t entries);	/* of the tables that grow. Functions return 0 on success */
	int (*insert)(uint32_t table, const struct table_match *match, const void *record);
	int (*ready)(void);		/* all entries are there */
};

extern const struct peer bacus_peer;

/* Bursts that peers have constant loops for; any other count takes the same loops with a variable. */
#define PEER_BURST 64u
#define PEER_MOST 256u

/* Inlined into the caller, once for each constant count. */
#define PEER_INLINE static inline __attribute__((always_inline))

/* Calls STAGE with `count` as a constant where it is one of the common bursts. */
#define PEER_COUNTS(count, STAGE, ...)                                                                                      \
	do {                                                                                                                \
		if ((count) == 64)                                                                                          \
			STAGE(__VA_ARGS__, 64);                                                                             \
		else if ((count) == 32)                                                                                     \
			STAGE(__VA_ARGS__, 32);                                                                             \
		else                                                                                                        \
			STAGE(__VA_ARGS__, count);                                                                          \
	} while (0)

static inline uint64_t
load64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t
load32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint16_t
load16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* Table memory: zeroed, of large pages where the kernel gives them. */
static inline void *
peer_allocate(size_t bytes)
{
	const size_t page = (size_t)2 << 20;
	uint8_t *memory = mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	memory += -(uintptr_t)memory & (page - 1);
	(void)madvise(memory, bytes + page, MADV_HUGEPAGE);
	return memory;
}

static inline void
prefetch(const void *address)
{
	__builtin_prefetch(address, 0, 3);
}

/* A burst as arrays: the address and length of each packet. */
#ifdef PEER_MBUF

#include <rte_mbuf.h>

#define PEER_DESCRIPTOR DESCRIPTOR_MBUF

PEER_INLINE uint8_t *
burst_data(const struct burst *burst, uint32_t i)
{
	return rte_pktmbuf_mtod((struct rte_mbuf *)burst->packets[i], uint8_t *);
}

PEER_INLINE uint32_t
burst_length(const struct burst *burst, uint32_t i)
{
	return ((const struct rte_mbuf *)burst->packets[i])->data_len;
}

#else

#define PEER_DESCRIPTOR DESCRIPTOR_OWN

PEER_INLINE uint8_t *
burst_data(const struct burst *burst, uint32_t i)
{
	return burst->packets[i];
}

PEER_INLINE uint32_t
burst_length(const struct burst *burst, uint32_t i)
{
	return burst->lengths[i];
}

#endif

/* Sends all packets of a burst, in order. The host's arrays have room for four bursts and are empty when a burst comes. */
PEER_INLINE void
burst_send(struct worker *worker, const struct burst *burst, const uint16_t *ports, uint32_t count)
{
	struct output *out = &worker->out;
	const uint32_t at = out->count;

	memcpy(out->packets + at, burst->packets, count * sizeof(out->packets[0]));
	if (PEER_DESCRIPTOR == DESCRIPTOR_OWN)
		memcpy(out->lengths + at, burst->lengths, count * sizeof(out->lengths[0]));
	memcpy(out->ports + at, ports, count * sizeof(out->ports[0]));
	out->count = at + count;
}

/* Sends the packets whose bit in `bad` is 0 and drops the others, without a branch on a packet: each is appended to both lists, and taken
 * back from one. */
static inline void
burst_split(struct worker *worker, const struct burst *burst, const uint16_t *ports, const uint8_t *bad)
{
	void **packets = worker->out.packets, **dropped = worker->freed.packets;
	uint16_t *lengths = worker->out.lengths, *numbers = worker->out.ports;
	uint32_t sent = worker->out.count, freed = worker->freed.count;

	for (uint32_t i = 0; i < burst->count; i++) {
		packets[sent] = burst->packets[i];
		if (PEER_DESCRIPTOR == DESCRIPTOR_OWN)
			lengths[sent] = burst->lengths[i];
		numbers[sent] = ports[i];
		dropped[freed] = burst->packets[i];
		sent += !bad[i];
		freed += bad[i] != 0;
	}
	worker->out.count = sent;
	worker->freed.count = freed;
}

/* A pipeline without state of its own. */
static inline int
peer_attach(struct worker *worker)
{
	(void)worker;
	return 0;
}

static inline void
peer_detach(struct worker *worker)
{
	(void)worker;
}

/* The rest of a peer: NAME's tables, and the function that takes a burst. */
#define PEER_PIPELINE(NAME, TABLES, PROCESS)                                                                                \
	const struct pipeline bacus_pipeline = {                                                                            \
		.version = ABI_VERSION, .descriptor = PEER_DESCRIPTOR, .layout = ABI_LAYOUT, .program = NAME, .burst = PEER_BURST, \
		.table_count = sizeof(TABLES) / sizeof(TABLES[0]), .tables = TABLES, .worker_bytes = 64,                    \
		.attach = peer_attach, .detach = peer_detach, .process = PROCESS,                                           \
	}

#endif
