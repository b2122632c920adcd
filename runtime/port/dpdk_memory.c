/* The DPDK port layer: the in-memory port for mbufs. As memory.c, with what a driver does to an mbuf. */
#include "port/dpdk.h"
#include "port/dpdk_copying.h"

struct dpdk_memory {
	struct pool pool;
	struct rte_mempool *mempool;
	struct dpdk_copying *copying;	/* NULL: the pipeline has the mbufs themselves */
	struct trace trace;
	struct overlay overlay;
	uint64_t position;
	uint64_t left;
	uint32_t burst;
	uint32_t logging;
	uint32_t long_frames;	/* 1: some frame of the trace takes more than one buffer */
	struct sent_log log;
	struct memory_counts counts;
	uint32_t free_count;
	uint16_t ports[DPDK_BURST];
	struct rte_mbuf *packets[DPDK_BURST];
	uint16_t lengths[DPDK_BURST];	/* of own descriptors */
	struct rte_mbuf *free[2 * DPDK_BURST];	/* taken back, last one first to go: a burst finds its buffers in the first cache level */
};

/* Buffers of the copying model, of all its ports. */
static struct dpdk_copying *
dpdk_memory_copying(void)
{
	static struct dpdk_copying *made;
	const uint32_t room = rte_pktmbuf_data_room_size(dpdk_mempool);
	uint32_t bytes = 4096;

	while (bytes < room + OWN_COLOURS * OWN_COLOUR_BYTES + RTE_PKTMBUF_HEADROOM + 8)
		bytes *= 2;
	if (made != NULL)
		return made;
	made = calloc(1, sizeof(*made));
	if (made != NULL && dpdk_copying_create(made, "bacus_copying", dpdk_mempool->size, bytes) == 0)
		return made;
	free(made);
	made = NULL;
	return NULL;
}

struct dpdk_memory *
dpdk_memory_create(uint32_t copies)
{
	struct dpdk_memory *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return NULL;
	port->mempool = dpdk_mempool;
	port->pool = (struct pool){ .handle = dpdk_mempool, .allocate = dpdk_allocate, .count = dpdk_mempool->size };
	if (!copies)
		return port;
	port->copying = dpdk_memory_copying();
	if (port->copying == NULL) {
		free(port);
		return NULL;
	}
	port->mempool = port->copying->mempool;
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
	return port->copying != NULL ? &port->copying->own.pool : &port->pool;
}

void
dpdk_memory_load(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst)
{
	port->trace = *trace;
	port->overlay = trace_overlay(trace);
	port->long_frames = 0;
	for (uint32_t i = 0; i < trace->frame_count; i++)
		port->long_frames |= trace->frames[i].length + RTE_PKTMBUF_HEADROOM + LINE_BYTES > rte_pktmbuf_data_room_size(dpdk_mempool);
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

/* What a driver writes to an mbuf of one segment, in one store: where the packet begins, one holder, one segment, its port; no flags; its length, twice. */
static inline half_line
dpdk_memory_describe(const struct frame *frame)
{
	const uint64_t rearm = RTE_PKTMBUF_HEADROOM | (uint64_t)1 << 16 | (uint64_t)1 << 32 | (uint64_t)frame->port << 48;

	_Static_assert(offsetof(struct rte_mbuf, rx_descriptor_fields1) == offsetof(struct rte_mbuf, rearm_data) + 16, "they lie side by side");
	return (half_line){ rearm, 0, (uint64_t)frame->length << 32, frame->length };
}

static inline uint8_t *
dpdk_memory_begin(struct rte_mbuf *packet, half_line description)
{
	*(half_line *)(void *)&packet->rearm_data = description;
	return (uint8_t *)packet->buf_addr + RTE_PKTMBUF_HEADROOM;
}

/* The slow path, for frames of any length: a burst is filled by it when its trace has one that no buffer holds. */
static uint32_t
dpdk_memory_fill_any(struct dpdk_memory *port, uint32_t wanted)
{
	const struct trace trace = port->trace;
	uint32_t count = 0;

	for (uint32_t i = 0; i < wanted; i++) {
		struct rte_mbuf *packet = port->packets[i];
		const struct frame *frame = trace_frame(&trace, port->position);

		rte_pktmbuf_reset(packet);
		packet->port = frame->port;
		port->ports[count] = frame->port;
		if (dpdk_fill(packet, frame->bytes, frame->length)) {
			port->packets[count++] = packet;
		} else {
			rte_pktmbuf_free(packet);
			port->counts.starved++;
		}
		port->position = trace_next(&trace, port->position);
	}
	return count;
}

/* Packets of one frame. */
static inline void
dpdk_memory_fill_uniform(struct dpdk_memory *port, uint32_t first, uint32_t count)
{
	const struct trace trace = port->trace;	/* stores to packets cannot change a local */
	const struct overlay overlay = port->overlay;
	const struct frame frame = trace.frames[0];
	const half_line description = dpdk_memory_describe(&frame);
	const uint8_t *own = trace_own(&trace, port->position);
	struct rte_mbuf **packets = port->packets + first;

	for (uint32_t i = 0; i < count; i++) {
		uint8_t *buffer = dpdk_memory_begin(packets[i], description);

		trace_merge(buffer, frame.bytes, own, &overlay);
		trace_copy_rest(buffer, &frame);
		own += trace.overlay_bytes;
	}
	for (uint32_t i = first; i < first + count; i++)
		port->ports[i] = frame.port;
}

static inline void
dpdk_memory_fill_mixed(struct dpdk_memory *port, uint32_t first, uint32_t count)
{
	const struct trace trace = port->trace;
	const struct overlay overlay = port->overlay;
	const uint64_t position = port->position;
	struct rte_mbuf **packets = port->packets + first;
	uint16_t *ports = port->ports + first;

	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = trace_frame(&trace, position + i);

		(void)trace_copy(&trace, &overlay, position + i, dpdk_memory_begin(packets[i], dpdk_memory_describe(frame)));
		ports[i] = frame->port;
	}
}

static void
dpdk_memory_fill(struct dpdk_memory *port, uint32_t count)
{
	const int uniform = trace_is_uniform(&port->trace);
	uint32_t done = 0;

	while (done < count) {
		const uint32_t run = trace_run(&port->trace, port->position, count - done);

		if (uniform)
			dpdk_memory_fill_uniform(port, done, run);
		else
			dpdk_memory_fill_mixed(port, done, run);
		done += run;
		port->position = port->position + run == port->trace.count ? 0 : port->position + run;
	}
}

/* `count` buffers into `packets`. Takes more than are missing from the pool, so that calls are rare, but no more than a worker's cache holds: else the pool
 * takes from its ring the buffers that were freed longest ago. */
static inline int
dpdk_memory_take(struct dpdk_memory *port, uint32_t count)
{
	while (__builtin_expect(port->free_count < count, 0)) {
		if (rte_mempool_get_bulk(port->mempool, (void **)port->free + port->free_count, DPDK_CACHE) == 0)
			port->free_count += DPDK_CACHE;
		else if (rte_mempool_get_bulk(port->mempool, (void **)port->free + port->free_count, count - port->free_count) == 0)
			port->free_count = count;
		else
			return -1;
	}
	port->free_count -= count;
	memcpy(port->packets, port->free + port->free_count, count * sizeof(port->packets[0]));
	return 0;
}

/* Gives the pool what the port has taken back, so that between runs every buffer that is free is there. Those that were used last come last, as many as a
 * worker's cache keeps: in a thread that DPDK knows the next run takes those first, which the processor's caches have. */
static void
dpdk_memory_drain(struct dpdk_memory *port)
{
	const uint32_t last = port->free_count < DPDK_CACHE ? port->free_count : DPDK_CACHE, rest = port->free_count - last;

	if (rest != 0)
		rte_mempool_put_bulk(port->mempool, (void *const *)port->free, rest);
	if (last != 0)
		rte_mempool_put_bulk(port->mempool, (void *const *)port->free + rest, last);
	port->free_count = 0;
}

/* The next burst; packets for which there is no buffer are lost. */
static uint32_t
dpdk_memory_receive(struct dpdk_memory *port, uint32_t limit)
{
	const uint32_t wanted = port->left < limit ? (uint32_t)port->left : limit;

	port->left -= wanted;
	port->counts.received += wanted;
	if (dpdk_memory_take(port, wanted) != 0) {
		port->counts.starved += wanted;
		port->position = (port->position + wanted) % port->trace.count;
		return 0;
	}
	if (port->long_frames)
		return dpdk_memory_fill_any(port, wanted);
	dpdk_memory_fill(port, wanted);
	return wanted;
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

/* What some have and what all have: where both are the same, each has it. */
struct dpdk_memory_shared {
	uint64_t some;
	uint64_t all;
};

static inline void
dpdk_memory_share(struct dpdk_memory_shared *shared, uint64_t number)
{
	shared->some |= number;
	shared->all &= number;
}

static inline int
dpdk_memory_all_have(const struct dpdk_memory_shared *shared, uint64_t number)
{
	return shared->some == number && shared->all == number;
}

/* Holders and segments of an mbuf, which are adjacent in it. */
static inline uint32_t
dpdk_memory_holders(const struct rte_mbuf *packet)
{
	uint32_t both;

	_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2, "both are read at once");
	memcpy(&both, (const uint8_t *)packet + offsetof(struct rte_mbuf, refcnt), sizeof(both));
	return both;
}

/* Frees as a driver with the fast-free offload does where it may: one pool, one holder, one segment. Returns the packets' bytes. */
static uint64_t
dpdk_memory_free(struct dpdk_memory *port, struct rte_mbuf **packets, uint32_t count)
{
	struct dpdk_memory_shared pools = { 0, UINT64_MAX }, holders = { 0, UINT64_MAX };
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *packet = packets[i];

		dpdk_memory_share(&pools, (uint64_t)(uintptr_t)packet->pool);
		dpdk_memory_share(&holders, dpdk_memory_holders(packet));
		bytes += packet->pkt_len;
	}
	if (__builtin_expect(count != 0 && !(dpdk_memory_all_have(&pools, (uint64_t)(uintptr_t)port->mempool) && dpdk_memory_all_have(&holders, 0x10001)), 0)) {
		rte_pktmbuf_free_bulk(packets, count);
	} else if (__builtin_expect(port->free_count + count > 2 * DPDK_BURST, 0)) {
		rte_mempool_put_bulk(port->mempool, (void *const *)packets, count);
	} else {
		memcpy(port->free + port->free_count, packets, count * sizeof(packets[0]));
		port->free_count += count;
	}
	return bytes;
}

void
dpdk_memory_flush(struct worker *worker)
{
	struct dpdk_memory *port = ((struct host *)worker->host)->port;
	struct output *out = &worker->out;
	const uint16_t *numbers = out->ports;
	uint32_t count, ports = 0;

	if (port->copying != NULL)
		(void)dpdk_copying_out(port->copying, worker);
	port->counts.released += dpdk_to_cpu(worker);
	count = out->count;
	if (port->logging)
		dpdk_memory_note(port, out);
	for (uint32_t i = 0; i < count; i++)
		ports += numbers[i];
	port->counts.sent += count;
	port->counts.sent_ports += ports;
	if (count != 0)
		port->counts.sent_bytes += dpdk_memory_free(port, (struct rte_mbuf **)out->packets, count);
	out->count = 0;
	if (worker->freed.count == 0)
		return;
	port->counts.released += worker->freed.count;
	(void)dpdk_memory_free(port, (struct rte_mbuf **)worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

static inline void
dpdk_memory_step(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, uint32_t count)
{
	struct burst burst = { .count = count, .ports = port->ports, .packets = (void **)port->packets, .lengths = port->lengths };

	if (port->copying != NULL)
		dpdk_copying_in((void **)port->packets, port->lengths, count);
	pipeline->process(worker, &burst);
	dpdk_memory_flush(worker);
	port_quiescent(worker);
}

void
dpdk_memory_more(struct dpdk_memory *port, uint64_t packets)
{
	port->left = packets;
}

static inline uint32_t
dpdk_memory_limit(const struct dpdk_memory *port, const struct pipeline *pipeline)
{
	const uint32_t limit = port->burst != 0 && port->burst < pipeline->burst ? port->burst : pipeline->burst;

	return limit < DPDK_BURST ? limit : DPDK_BURST;
}

/* As in memory.c. */
static const struct pipeline *
dpdk_memory_answer(struct worker *worker, struct dpdk_memory *port, const struct pipeline *old)
{
	const struct pipeline *pipeline = host_answer(worker, old);
	const uint32_t limit = dpdk_memory_limit(port, pipeline);
	uint32_t count;

	port->counts.received += dpdk_resumed(worker, port->copying, pipeline, limit);
	count = dpdk_injected(worker, port->copying, port->packets, port->ports, limit);
	port->counts.received += count;
	if (count != 0)
		dpdk_memory_step(worker, port, pipeline, count);
	dpdk_memory_flush(worker);
	host_call_again(worker);
	return pipeline;
}

void
dpdk_memory_run(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	uint32_t limit = dpdk_memory_limit(port, pipeline);

	while ((port->left != 0 || host_calls(worker)) && atomic_load_explicit(stop, memory_order_relaxed) == 0) {
		if (port->left != 0)
			dpdk_memory_step(worker, port, pipeline, dpdk_memory_receive(port, limit));
		if (host_calls(worker)) {
			pipeline = dpdk_memory_answer(worker, port, pipeline);
			limit = dpdk_memory_limit(port, pipeline);
		}
	}
	dpdk_memory_step(worker, port, pipeline, 0);
	dpdk_memory_drain(port);
}
