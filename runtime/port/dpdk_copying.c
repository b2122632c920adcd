/* The DPDK port layer: the copying model. */
#include "port/dpdk_copying.h"

#include <stdlib.h>
#include <string.h>

#define COPYING_CACHE 256u
#define COPYING_HEADROOM 256u

static void *
copying_allocate(struct pool *pool)
{
	const struct dpdk_copying *copying = (const struct dpdk_copying *)pool->handle;
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(copying->mempool);

	return mbuf == NULL ? NULL : rte_pktmbuf_mtod(mbuf, void *);
}

/* A buffer's packets begin where own packets do, spread over cache sets: there the mbuf's room begins, less its headroom. */
static void
copying_bind(struct rte_mempool *mempool, void *argument, void *object, unsigned int number)
{
	struct dpdk_copying *copying = argument;
	struct rte_mbuf *mbuf = object;
	const struct own_pool *own = &copying->own;
	uint8_t *front = own_front(own, own->memory + ((size_t)number << own->shift));

	(void)mempool;
	mbuf->buf_addr = front - RTE_PKTMBUF_HEADROOM;
	mbuf->buf_len = (uint16_t)(own->pool.buffer_bytes - (uint32_t)((uintptr_t)front & (own->pool.buffer_bytes - 1)) + RTE_PKTMBUF_HEADROOM - 8);
	rte_mbuf_iova_set(mbuf, (uintptr_t)mbuf->buf_addr);
	copying->mbufs[number] = mbuf;
}

int
dpdk_copying_create(struct dpdk_copying *copying, const char *name, uint32_t buffers, uint32_t bytes)
{
	struct own_pool *own = own_create(buffers, bytes, COPYING_HEADROOM);

	if (own == NULL)
		return -1;
	copying->own = *own;
	free(own);
	copying->own.pool.handle = copying;
	copying->own.pool.allocate = copying_allocate;
	copying->mbufs = calloc(buffers, sizeof(*copying->mbufs));
	copying->mempool = rte_pktmbuf_pool_create(name, buffers, COPYING_CACHE, 0, RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
	if (copying->mbufs == NULL || copying->mempool == NULL) {
		dpdk_copying_destroy(copying);
		return -1;
	}
	(void)rte_mempool_obj_iter(copying->mempool, copying_bind, copying);
	return 0;
}

void
dpdk_copying_destroy(struct dpdk_copying *copying)
{
	struct own_pool *own = malloc(sizeof(*own));

	rte_mempool_free(copying->mempool);
	free(copying->mbufs);
	if (own == NULL)
		return;
	*own = copying->own;
	own_destroy(own);
}

uint16_t
dpdk_copying_whole(struct rte_mbuf **packets, uint16_t count)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (packets[i]->nb_segs == 1 || rte_pktmbuf_linearize(packets[i]) == 0)
			packets[kept++] = packets[i];
		else
			rte_pktmbuf_free(packets[i]);
	}
	return kept;
}

void
dpdk_copying_in(void **packets, uint16_t *lengths, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *mbuf = packets[i];

		lengths[i] = (uint16_t)mbuf->pkt_len;
		packets[i] = rte_pktmbuf_mtod(mbuf, void *);
	}
}

static inline struct rte_mbuf *
copying_mbuf(const struct dpdk_copying *copying, const void *packet)
{
	return copying->mbufs[own_number(&copying->own, packet)];
}

/* A packet with other holders leaves as a copy: an mbuf has one length and one beginning. NULL: there is no buffer. */
static struct rte_mbuf *
copying_shared(struct dpdk_copying *copying, const void *packet, uint16_t length)
{
	struct rte_mbuf *copy = rte_pktmbuf_alloc(copying->mempool);

	--copying->own.holders[own_number(&copying->own, packet)];
	copying->own.shared--;
	if (copy != NULL)
		memcpy(rte_pktmbuf_mtod(copy, void *), packet, length);
	return copy;
}

static inline int
copying_is_shared(const struct dpdk_copying *copying, const void *packet)
{
	return __builtin_expect(copying->own.shared != 0, 0) && copying->own.holders[own_number(&copying->own, packet)] != 0;
}

static uint32_t
copying_send(struct dpdk_copying *copying, struct output *out)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < out->count; i++) {
		uint8_t *packet = out->packets[i];
		const int is_shared = copying_is_shared(copying, packet);
		struct rte_mbuf *mbuf = is_shared ? copying_shared(copying, packet, out->lengths[i]) : copying_mbuf(copying, packet);

		if (mbuf == NULL)
			continue;
		if (!is_shared)
			mbuf->data_off = (uint16_t)(packet - (uint8_t *)mbuf->buf_addr);
		mbuf->data_len = out->lengths[i];
		mbuf->pkt_len = out->lengths[i];
		out->packets[kept] = mbuf;
		out->ports[kept++] = out->ports[i];
	}
	return kept;
}

uint32_t
dpdk_copying_out(struct dpdk_copying *copying, struct worker *worker)
{
	const uint32_t handed = worker->out.count;
	struct released *freed = &worker->freed;
	uint32_t kept = 0;

	worker->out.count = copying_send(copying, &worker->out);
	for (uint32_t i = 0; i < freed->count; i++) {
		if (copying_is_shared(copying, freed->packets[i])) {
			--copying->own.holders[own_number(&copying->own, freed->packets[i])];
			copying->own.shared--;
			continue;
		}
		freed->packets[kept++] = copying_mbuf(copying, freed->packets[i]);
	}
	freed->count = kept;
	return handed - worker->out.count;
}
