/* The DPDK port layer: the in-memory port for mbufs. As memory.c, with what a driver does to an mbuf. */
#include "port/dpdk.h"

struct dpdk_memory {
	struct pool pool;
	struct trace trace;
	uint64_t position;
	uint64_t left;
	uint32_t burst;
	uint32_t logging;
	struct sent_log log;
	struct memory_counts counts;
	uint16_t ports[DPDK_BURST];
	struct rte_mbuf *packets[DPDK_BURST];
};

struct dpdk_memory *
dpdk_memory_create(void)
{
	struct dpdk_memory *port = calloc(1, sizeof(*port));

	if (port != NULL)
		port->pool = (struct pool){ .handle = dpdk_mempool, .allocate = dpdk_allocate };
	return port;
}

void
dpdk_memory_destroy(struct dpdk_memory *port)
{
	free(port->log.packets);
	free(port->log.data);
	free(port);
}

struct pool *
dpdk_memory_pool(struct dpdk_memory *port)
{
	return &port->pool;
}

void
dpdk_memory_load(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst)
{
	port->trace = *trace;
	port->position = 0;
	port->left = packets;
	port->burst = burst;
}

const struct memory_counts *
dpdk_memory_counts(const struct dpdk_memory *port)
{
	return &port->counts;
}

const struct sent_log *
dpdk_memory_log(const struct dpdk_memory *port)
{
	return &port->log;
}

void
dpdk_memory_log_restart(struct dpdk_memory *port, uint32_t logging)
{
	port->log.count = 0;
	port->log.data_bytes = 0;
	port->logging = logging;
}

/* A frame that one buffer does not hold comes in as many as it takes, as from a NIC. 0: out of buffers. */
static int
dpdk_memory_chain(struct rte_mbuf *first, const struct frame *frame)
{
	struct rte_mbuf *last = first;
	uint32_t done = 0;

	for (;;) {
		const uint32_t room = rte_pktmbuf_tailroom(last), left = frame->length - done;
		const uint32_t part = left < room ? left : room;

		memcpy(rte_pktmbuf_mtod(last, uint8_t *), frame->bytes + done, part);
		last->data_len = (uint16_t)part;
		done += part;
		if (done == frame->length)
			break;
		last->next = rte_pktmbuf_alloc(first->pool);
		if (last->next == NULL)
			return 0;
		last = last->next;
		first->nb_segs++;
	}
	first->pkt_len = frame->length;
	return 1;
}

static inline int
dpdk_memory_write(const struct trace *trace, uint64_t position, struct rte_mbuf *packet)
{
	const struct frame *frame = trace_frame(trace, position);

	rte_pktmbuf_reset(packet);
	packet->port = frame->port;
	if (__builtin_expect(frame->length + LINE_BYTES > rte_pktmbuf_tailroom(packet), 0))
		return dpdk_memory_chain(packet, frame);
	(void)trace_copy(trace, position, rte_pktmbuf_mtod(packet, uint8_t *));
	packet->data_len = (uint16_t)frame->length;
	packet->pkt_len = frame->length;
	return 1;
}

/* The next burst; packets for which there is no buffer are lost. */
static uint32_t
dpdk_memory_receive(struct dpdk_memory *port, uint32_t limit)
{
	const struct trace trace = port->trace;
	const uint32_t wanted = port->left < limit ? (uint32_t)port->left : limit;
	uint32_t count = 0;

	port->left -= wanted;
	port->counts.received += wanted;
	if (rte_mempool_get_bulk(dpdk_mempool, (void **)port->packets, wanted) != 0) {
		port->counts.starved += wanted;
		port->position = (port->position + wanted) % trace.count;
		return 0;
	}
	for (uint32_t i = 0; i < wanted; i++) {
		struct rte_mbuf *packet = port->packets[i];

		port->ports[count] = trace_frame(&trace, port->position)->port;
		if (dpdk_memory_write(&trace, port->position, packet)) {
			port->packets[count++] = packet;
		} else {
			rte_pktmbuf_free(packet);
			port->counts.starved++;
		}
		port->position = trace_next(&trace, port->position);
	}
	return count;
}

static void
dpdk_memory_note(struct dpdk_memory *port, const struct output *out)
{
	for (uint32_t i = 0; i < out->count; i++) {
		const struct rte_mbuf *packet = out->packets[i];
		uint8_t *to = sent_append(&port->log, packet->pkt_len, out->ports[i]);

		for (; packet != NULL; packet = packet->next) {
			memcpy(to, rte_pktmbuf_mtod(packet, const uint8_t *), packet->data_len);
			to += packet->data_len;
		}
	}
}

void
dpdk_memory_flush(struct worker *worker)
{
	struct dpdk_memory *port = ((struct host *)worker->host)->port;
	struct output *out = &worker->out;

	if (port->logging)
		dpdk_memory_note(port, out);
	for (uint32_t i = 0; i < out->count; i++) {
		port->counts.sent_bytes += ((const struct rte_mbuf *)out->packets[i])->pkt_len;
		port->counts.sent_ports += out->ports[i];
	}
	port->counts.sent += out->count;
	rte_pktmbuf_free_bulk((struct rte_mbuf **)out->packets, out->count);
	out->count = 0;
	port->counts.released += worker->freed.count;
	rte_pktmbuf_free_bulk((struct rte_mbuf **)worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

static inline void
dpdk_memory_step(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, uint32_t count)
{
	struct burst burst = { .count = count, .ports = port->ports, .packets = (void **)port->packets };

	pipeline->process(worker, &burst);
	dpdk_memory_flush(worker);
	dpdk_quiescent(worker);
}

void
dpdk_memory_run(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	uint32_t limit = port->burst != 0 && port->burst < pipeline->burst ? port->burst : pipeline->burst;

	if (limit > DPDK_BURST)
		limit = DPDK_BURST;
	while (port->left != 0 && atomic_load_explicit(stop, memory_order_relaxed) == 0)
		dpdk_memory_step(worker, port, pipeline, dpdk_memory_receive(port, limit));
	if (port->left == 0)
		dpdk_memory_step(worker, port, pipeline, 0);
}
