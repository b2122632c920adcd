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
dpdk_packet(const struct ring_head *head)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(dpdk_mempool);

	if (packet == NULL)
		return NULL;
	packet->port = (uint16_t)head->tag;
	if (dpdk_fill(packet, (const uint8_t *)(head + 1), head->bytes))
		return packet;
	rte_pktmbuf_free(packet);
	return NULL;
}

uint32_t
dpdk_injected(struct worker *worker, struct rte_mbuf **packets, uint16_t *ports, uint32_t limit, uint32_t *lost)
{
	struct ring *ring = ((struct host *)worker->host)->injected;
	const struct ring_head *head;
	uint32_t count = 0;

	while (count < limit && (head = ring_first(ring)) != NULL) {
		packets[count] = dpdk_packet(head);
		ports[count] = (uint16_t)head->tag;
		if (packets[count] != NULL)
			count++;
		else
			++*lost;
		ring_release(ring, head);
	}
	return count;
}

static void
dpdk_give(struct ring *ring, const struct rte_mbuf *packet, uint32_t port)
{
	uint8_t *to = ring_reserve(ring, port, packet->pkt_len);

	if (to == NULL)
		return;
	for (; packet != NULL; packet = packet->next) {
		memcpy(to, rte_pktmbuf_mtod(packet, const uint8_t *), packet->data_len);
		to += packet->data_len;
	}
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
