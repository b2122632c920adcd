/* The in-memory port of the own descriptor. Part of the host. */
#include "port/memory.h"

/* The host is built for any x86-64; the two loops over packets are built for wider vectors as well, and the machine takes what it has. */
#if defined(__GLIBC__) && defined(__x86_64__)
#define MEMORY_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MEMORY_CLONES
#endif

/* Packets of one frame. */
static inline void
memory_fill_uniform(struct memory_port *port, uint64_t position, uint32_t first, uint32_t count)
{
	const struct trace trace = port->trace;	/* stores to packets cannot change a local */
	const struct overlay overlay = port->overlay;
	const struct frame frame = trace.frames[0];
	const uint8_t *own = trace_own(&trace, position);
	void *const *packets = port->packets + first;

	for (uint32_t i = 0; i < count; i++) {
		trace_merge(packets[i], frame.bytes, own, &overlay);
		trace_copy_rest(packets[i], &frame);
		own += trace.overlay_bytes;
	}
	for (uint32_t i = first; i < first + count; i++) {
		port->lengths[i] = (uint16_t)frame.length;
		port->ports[i] = frame.port;
	}
}

static inline void
memory_fill_mixed(struct memory_port *port, uint64_t position, uint32_t first, uint32_t count)
{
	const struct trace trace = port->trace;
	const struct overlay overlay = port->overlay;
	void *const *packets = port->packets + first;
	uint16_t *lengths = port->lengths + first, *ports = port->ports + first;

	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = trace_copy(&trace, &overlay, position + i, packets[i]);

		lengths[i] = (uint16_t)frame->length;
		ports[i] = frame->port;
	}
}

/* Takes `count` buffers from the top of the stack and fills them. */
MEMORY_CLONES static void
memory_fill(struct memory_port *port, uint32_t count)
{
	const int uniform = trace_is_uniform(&port->trace);
	struct own_pool *own = port->own;
	uint32_t done = 0;

	own->free_count -= count;
	memcpy(port->packets, own->free + own->free_count, count * sizeof(port->packets[0]));
	while (done < count) {
		const uint32_t run = trace_run(&port->trace, port->position, count - done);

		if (uniform)
			memory_fill_uniform(port, port->position, done, run);
		else
			memory_fill_mixed(port, port->position, done, run);
		done += run;
		port->position = port->position + run == port->trace.count ? 0 : port->position + run;
	}
}

/* The next burst: fewer packets than there are only when buffers run out. */
static uint32_t
memory_receive(struct memory_port *port, uint32_t limit)
{
	uint32_t count = port->left < limit ? (uint32_t)port->left : limit;

	port->left -= count;
	if (__builtin_expect(port->own->free_count < count, 0)) {
		const uint32_t lost = count - port->own->free_count;

		port->counts.starved += lost;
		port->position = (port->position + lost) % port->trace.count;
		count -= lost;
	}
	memory_fill(port, count);
	port->counts.received += count;
	return count;
}

static void
memory_note(struct memory_port *port, const struct output *out)
{
	for (uint32_t i = 0; i < out->count; i++)
		memcpy(sent_append(&port->log, out->lengths[i], out->ports[i]), out->packets[i], out->lengths[i]);
}

/* What a device would count, and the buffers back on the stack. */
MEMORY_CLONES static void
memory_send(struct memory_port *port, const struct output *out)
{
	const uint32_t count = out->count;
	const uint16_t *lengths = out->lengths, *numbers = out->ports;
	uint32_t bytes = 0, ports = 0;

	for (uint32_t i = 0; i < count; i++) {
		bytes += lengths[i];
		ports += numbers[i];
	}
	port->counts.sent += count;
	port->counts.sent_bytes += bytes;
	port->counts.sent_ports += ports;
	own_free(port->own, out->packets, count);
}

void
memory_port_copy(const void *packet, uint16_t length, uint8_t *to)
{
	memcpy(to, packet, length);
}

/* Takes packets to `cpu_port` out of those that leave. */
static void
memory_to_cpu(struct worker *worker, struct memory_port *port, uint32_t cpu_port)
{
	struct ring *ring = ((struct host *)worker->host)->to_cpu;
	struct output *out = &worker->out;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < out->count; i++) {
		uint8_t *to;

		if (out->ports[i] != cpu_port) {
			out->packets[kept] = out->packets[i];
			out->lengths[kept] = out->lengths[i];
			out->ports[kept++] = out->ports[i];
			continue;
		}
		to = ring_reserve(ring, out->ports[i], out->lengths[i]);
		if (to != NULL) {
			memcpy(to, out->packets[i], out->lengths[i]);
			ring_commit(ring);
		}
		own_free(port->own, &out->packets[i], 1);
		port->counts.released++;
	}
	out->count = kept;
}

void
memory_port_flush(struct worker *worker)
{
	struct memory_port *port = ((struct host *)worker->host)->port;
	const uint32_t cpu_port = host_cpu_port(worker);

	if (__builtin_expect(cpu_port != HOST_NO_PORT, 0))
		memory_to_cpu(worker, port, cpu_port);
	if (port->logging)
		memory_note(port, &worker->out);
	memory_send(port, &worker->out);
	worker->out.count = 0;
	if (worker->freed.count == 0)
		return;
	port->counts.released += worker->freed.count;
	own_free(port->own, worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

/* One call of `process`, its output sent, and its end made known to writers: one writer, so a plain addition, published.
 * Output is sent before the end is counted: packets that are sent refer to no table any more. */
static inline void
memory_step(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, uint32_t count)
{
	struct burst burst = { count, port->ports, port->packets, port->lengths };

	pipeline->process(worker, &burst);
	memory_port_flush(worker);
	/* A full fence: what the next burst reads must not be read before writers can see that this one is
	 * over. A release store would let a later load pass it, and a writer would free what that load found.
	 * Pairs with the fence at the begin of a grace period. */
	atomic_fetch_add(&worker->quiescent, 1);
}

/* Packets that are taken at once. */
static inline uint32_t
memory_limit(const struct memory_port *port, const struct pipeline *pipeline)
{
	const uint32_t limit = port->burst != 0 && port->burst < pipeline->burst ? port->burst : pipeline->burst;

	return limit < MEMORY_BURST ? limit : MEMORY_BURST;
}

/* A buffer with these bytes; NULL: there is none, which is counted. */
static void *
memory_packet(struct worker *worker, struct memory_port *port, const uint8_t *bytes, uint32_t length)
{
	struct own_pool *own = port->own;
	void *packet;

	if (own->free_count == 0) {
		host_count_not_taken(worker);
		return NULL;
	}
	packet = own->free[--own->free_count];
	memcpy(packet, bytes, length);
	port->counts.received++;
	return packet;
}

static void
memory_injected(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->injected;
	const struct ring_head *head;
	uint32_t count = 0;

	while (count < limit && (head = ring_first(ring)) != NULL) {
		port->packets[count] = memory_packet(worker, port, (const uint8_t *)(head + 1), head->bytes);
		port->lengths[count] = (uint16_t)head->bytes;
		port->ports[count] = (uint16_t)head->tag;
		count += port->packets[count] != NULL;
		ring_release(ring, head);
	}
	if (count != 0)
		memory_step(worker, port, pipeline, count);
}

static void
memory_resumed(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->resumed;
	const struct ring_head *head;

	for (uint32_t count = 0; count < limit && (head = ring_first(ring)) != NULL; count++) {
		struct host_resumed resumed;
		void *packet = NULL;

		if (host_resumed(worker, head, &resumed))
			packet = memory_packet(worker, port, resumed.packet, resumed.length);
		else
			host_count_not_taken(worker);
		if (packet != NULL)
			host_resume(worker, pipeline, packet, &resumed);
		ring_release(ring, head);
	}
	memory_port_flush(worker);
}

/* What the control thread has for the worker, a burst of each kind at most. It is part of the next burst: an end is only counted behind `process`, for a
 * pipeline keeps what it has found from one call to the next. A resumed packet looks up tables outside of `process`: between two counted ends, as the
 * packets of a burst do. */
static const struct pipeline *
memory_answer(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline)
{
	pipeline = host_answer(worker, pipeline);
	memory_resumed(worker, port, pipeline, memory_limit(port, pipeline));
	memory_injected(worker, port, pipeline, memory_limit(port, pipeline));
	host_call_again(worker);
	return pipeline;
}

void
memory_port_run(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	uint32_t limit = memory_limit(port, pipeline);

	while ((port->left != 0 || host_calls(worker)) && atomic_load_explicit(stop, memory_order_relaxed) == 0) {
		if (port->left != 0)
			memory_step(worker, port, pipeline, memory_receive(port, limit));
		if (host_calls(worker)) {
			pipeline = memory_answer(worker, port, pipeline);
			limit = memory_limit(port, pipeline);
		}
	}
	/* Packets that enter again do so after the burst; a pipeline that holds some for a later one gives them up to an empty one, and with them what it has found
	 * for them: behind the run, no writer waits for it. */
	if (!port->holding)
		memory_step(worker, port, pipeline, 0);
}

struct memory_port *
memory_port_create(uint32_t buffers, uint32_t buffer_bytes, uint32_t headroom_bytes)
{
	struct memory_port *port = calloc(1, sizeof(*port));

	if (port == NULL)
		return NULL;
	port->own = own_create(buffers, buffer_bytes, headroom_bytes);
	if (port->own == NULL) {
		free(port);
		return NULL;
	}
	return port;
}

void
memory_port_destroy(struct memory_port *port)
{
	own_destroy(port->own);
	free(port->log.packets);
	free(port->log.data);
	free(port);
}

struct pool *
memory_port_pool(struct memory_port *port)
{
	return &port->own->pool;
}

void
memory_port_load(struct memory_port *port, const struct trace *trace, uint64_t packets, uint32_t burst)
{
	port->trace = *trace;
	port->overlay = trace_overlay(trace);
	port->position = 0;
	port->left = packets;
	port->burst = burst;
}

void
memory_port_more(struct memory_port *port, uint64_t packets)
{
	port->left = packets;
}

void
memory_port_hold(struct memory_port *port, uint32_t holding)
{
	port->holding = holding;
}

/* The rest stay where they lie on the stack, above those that are taken and given back, and are as they were when the ring grows again. */
void
memory_port_ring(struct memory_port *port, uint32_t buffers)
{
	port->own->free_count = buffers;
}

const struct memory_counts *
memory_port_counts(const struct memory_port *port)
{
	return &port->counts;
}

uint32_t
memory_port_free(const struct memory_port *port)
{
	return port->own->free_count;
}

const struct sent_log *
memory_port_log(const struct memory_port *port)
{
	return &port->log;
}

void
memory_port_log_restart(struct memory_port *port, uint32_t logging)
{
	port->log.count = 0;
	port->log.data_bytes = 0;
	port->logging = logging;
}
