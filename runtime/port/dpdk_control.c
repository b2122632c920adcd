/* The DPDK port layer: packets from and to the control thread. */
#include "port/dpdk.h"

int
dpdk_fill(struct rte_mbuf *packet, const uint8_t *bytes, uint32_t length)
{
	struct rte_mbuf *last = packet;
	uint32_t done = 0;

	for (;;) {
		const uint32_t room = rte_pktmbuf_tailroom(last), left = length - done;
		const uint32_t part = left < room ? left : room;

		memcpy(rte_pktmbuf_mtod(last, uint8_t *), bytes + done, part);
		last->data_len = (uint16_t)part;
		done += part;
		if (done == length)
			break;
		last->next = rte_pktmbuf_alloc(packet->pool);
		if (last->next == NULL)
			return 0;
		last = last->next;
		packet->nb_segs++;
	}
	packet->pkt_len = length;
	return 1;
}

static struct rte_mbuf *
dpdk_packet(struct worker *worker, const uint8_t *bytes, uint32_t length, uint32_t port)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(dpdk_mempool);

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
dpdk_injected(struct worker *worker, struct rte_mbuf **packets, uint16_t *ports, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->injected;
	const struct ring_head *head;
	uint32_t count = 0;

	/* A packet without a buffer is counted and lost: waiting for one here would stop the worker, and the packets that hold buffers. */
	while (count < limit && (head = ring_first(ring)) != NULL) {
		packets[count] = dpdk_packet(worker, (const uint8_t *)(head + 1), head->bytes, head->tag);
		ports[count] = (uint16_t)head->tag;
		count += packets[count] != NULL;
		ring_release(ring, head);
	}
	return count;
}

uint32_t
dpdk_resumed(struct worker *worker, const struct pipeline *pipeline, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->resumed;
	const struct ring_head *head;
	uint32_t taken = 0;

	for (uint32_t count = 0; count < limit && (head = ring_first(ring)) != NULL; count++) {
		struct host_resumed resumed;
		struct rte_mbuf *packet = NULL;

		/* What was saved by a pipeline that has been replaced does not fit the present one, and is not resumed. */
		if (host_resumed(worker, head, &resumed))
			packet = dpdk_packet(worker, resumed.packet, resumed.length, 0);
		else
			host_count_not_taken(worker);
		if (packet != NULL) {
			host_resume(worker, pipeline, packet, &resumed);
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
