/* The DPDK port layer: packets from and to the control thread. */
#define _GNU_SOURCE
#include "port/dpdk.h"
#include "port/dpdk_copying.h"
#include "port/interface.h"

/* Bytes behind those of a packet, in as many segments as they need. 0: no memory. */
static int
dpdk_append(struct rte_mbuf *first, struct rte_mbuf **last, const uint8_t *bytes, size_t count)
{
	while (count != 0) {
		const size_t room = rte_pktmbuf_tailroom(*last), part = count < room ? count : room;

		memcpy(rte_pktmbuf_mtod_offset(*last, uint8_t *, (*last)->data_len), bytes, part);
		(*last)->data_len = (uint16_t)((*last)->data_len + part);
		first->pkt_len += (uint32_t)part;
		bytes += part;
		count -= part;
		if (count == 0)
			break;
		(*last)->next = rte_pktmbuf_alloc(first->pool);
		if ((*last)->next == NULL)
			return 0;
		*last = (*last)->next;
		first->nb_segs++;
	}
	return 1;
}

int
dpdk_fill(struct rte_mbuf *packet, const uint8_t *bytes, uint32_t length)
{
	struct rte_mbuf *last = packet;

	return dpdk_append(packet, &last, bytes, length);
}

static struct rte_mbuf *
dpdk_packet(struct worker *worker, const struct dpdk_copying *copying, const uint8_t *bytes, uint32_t length, uint32_t port)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(copying != NULL ? copying->mempool : dpdk_mempool);

	if (packet != NULL) {
		packet->port = (uint16_t)port;
		if (dpdk_fill(packet, bytes, length))
			return packet;
	}
	rte_pktmbuf_free(packet);
	host_count_not_taken(worker);
	return NULL;
}

uint32_t
dpdk_injected(struct worker *worker, const struct dpdk_copying *copying, struct rte_mbuf **packets, uint16_t *ports, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->injected;
	const struct ring_head *head;
	uint32_t count = 0;

	/* A packet without a buffer is counted and lost: waiting for one here would stop the worker, and the packets that hold buffers. */
	while (count < limit && (head = ring_first(ring)) != NULL) {
		packets[count] = dpdk_packet(worker, copying, (const uint8_t *)(head + 1), head->bytes, head->tag);
		ports[count] = (uint16_t)head->tag;
		count += packets[count] != NULL;
		ring_release(ring, head);
	}
	return count;
}

uint32_t
dpdk_resumed(struct worker *worker, const struct dpdk_copying *copying, const struct pipeline *pipeline, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->resumed;
	const struct ring_head *head;
	uint32_t taken = 0;

	for (uint32_t count = 0; count < limit && (head = ring_first(ring)) != NULL; count++) {
		struct host_resumed resumed;
		struct rte_mbuf *packet = NULL;

		/* What was saved by a pipeline that has been replaced does not fit the present one, and is not resumed. */
		if (host_resumed(worker, head, &resumed))
			packet = dpdk_packet(worker, copying, resumed.packet, resumed.length, 0);
		else
			host_count_not_taken(worker);
		if (packet != NULL) {
			host_resume(worker, pipeline, copying != NULL ? rte_pktmbuf_mtod(packet, void *) : (void *)packet, &resumed);
			taken++;
		}
		ring_release(ring, head);
	}
	return taken;
}

void
dpdk_copy(const void *packet, uint16_t length, uint8_t *to)
{
	uint32_t left = length;

	for (const struct rte_mbuf *segment = packet; segment != NULL && left != 0; segment = segment->next) {
		const uint32_t part = segment->data_len < left ? segment->data_len : left;

		memcpy(to, rte_pktmbuf_mtod(segment, const uint8_t *), part);
		to += part;
		left -= part;
	}
}

static void
dpdk_give(struct ring *ring, const struct rte_mbuf *packet, uint32_t port)
{
	/* As much as is reserved: a packet is at most 65,535 bytes long to a program. */
	const uint16_t length = packet->pkt_len < UINT16_MAX ? (uint16_t)packet->pkt_len : UINT16_MAX;
	uint8_t *to = ring_reserve(ring, port, length);

	if (to == NULL)
		return;
	dpdk_copy(packet, length, to);
	ring_commit(ring);
}

uint32_t
dpdk_take_cpu(struct worker *worker, uint32_t cpu_port)
{
	struct ring *ring = ((struct host *)worker->host)->to_cpu;
	struct output *out = &worker->out;
	uint32_t kept = 0, taken;

	for (uint32_t i = 0; i < out->count; i++) {
		if (out->ports[i] != cpu_port) {
			out->packets[kept] = out->packets[i];
			out->ports[kept++] = out->ports[i];
			continue;
		}
		dpdk_give(ring, out->packets[i], cpu_port);
		rte_pktmbuf_free(out->packets[i]);
	}
	taken = out->count - kept;
	out->count = kept;
	return taken;
}

static void *
dpdk_make(struct pool *pool, const struct iovec *parts, uint32_t count)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(pool->handle), *last = packet;

	if (packet == NULL)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (!dpdk_append(packet, &last, parts[i].iov_base, parts[i].iov_len)) {
			rte_pktmbuf_free(packet);
			return NULL;
		}
	}
	return packet;
}

static uint32_t
dpdk_parts(const void *packet, uint32_t length, struct iovec *parts, uint32_t most)
{
	const struct rte_mbuf *first = packet;
	uint32_t count = 0;

	(void)length;
	if (first->nb_segs > most)
		return 0;
	for (const struct rte_mbuf *segment = first; segment != NULL; segment = segment->next)
		parts[count++] = (struct iovec){ .iov_base = rte_pktmbuf_mtod(segment, void *), .iov_len = segment->data_len };
	return count;
}

const struct interface_packets dpdk_interface_packets = { .make = dpdk_make, .parts = dpdk_parts, .longest = UINT32_MAX };
