/* The copying model: what a driver of DPDK has written to an mbuf is copied into the program's own descriptor, and back when the packet leaves.
 *
 * Each mbuf has a buffer of its own memory for good, so the buffer that a packet's address is in gives its mbuf. */
#ifndef BACUS_DPDK_COPYING_H
#define BACUS_DPDK_COPYING_H

#include <rte_mbuf.h>

#include "packet/own_pool.h"
#include "port/layer.h"

struct dpdk_copying {
	struct own_pool own;		/* as the pipeline sees it; buffers are taken from the mempool */
	struct rte_mempool *mempool;
	struct rte_mbuf **mbufs;	/* by buffer */
};

/* 0, or -1: there is no memory. */
int dpdk_copying_create(struct dpdk_copying *copying, const char *name, uint32_t buffers, uint32_t bytes);
void dpdk_copying_destroy(struct dpdk_copying *copying);

/* Keeps the packets that lie in one buffer, or can be moved into one, in their order; the others are freed. */
uint16_t dpdk_copying_whole(struct rte_mbuf **packets, uint16_t count);

/* Replaces mbufs of one segment by their packets' addresses. */
void dpdk_copying_in(void **packets, uint16_t *lengths, uint32_t count);

/* Replaces the packets that leave, and those that are freed, by their mbufs. Packets that are lost: there was no buffer for a copy. */
uint32_t dpdk_copying_out(struct dpdk_copying *copying, struct worker *worker);

#endif
