/* The port layer without DPDK: the loop of a worker. */
#define _GNU_SOURCE
#include "port/native.h"
#include "port/sleep.h"
#include "port/spread.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#define NATIVE_TRIES 64u	/* how often a full port is asked again */
#define NATIVE_SPINS 256u	/* empty polls before other threads of this core run */

/* The kernel's clock, which needs no system call: read once a burst. */
static inline uint64_t
clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
native_clock(void)
{
	return clock_ns();
}

/* Of what happens between two readings of both clocks. */
uint64_t
native_tsc_hz(void)
{
	static uint64_t begin_ns, begin_tsc;
	const uint64_t ns = clock_ns(), tsc = __builtin_ia32_rdtsc();

	if (begin_ns == 0) {
		begin_ns = ns;
		begin_tsc = tsc;
	}
	return ns - begin_ns < 1000000 ? 0 : (uint64_t)((__uint128_t)(tsc - begin_tsc) * 1000000000u / (ns - begin_ns));
}

static inline uint16_t
native_transmit(const struct worker_ports *served, struct native_port *port, void *const *packets, const uint16_t *lengths, uint16_t count)
{
	struct xdp_queue *queue = port->senders[served->worker];
	uint64_t refused = 0;
	uint16_t taken;

	if (port->memif != NULL) {
		taken = memif_send(port->memif, packets, lengths, count, &refused);
		own_free(served->own, packets, taken);
	} else if (port->xdp != NULL && queue != NULL) {
		taken = xdp_send(queue, packets, lengths, count, &refused);
	} else {
		taken = interface_send(port->interface, packets, lengths, count, &refused);
		own_free(served->own, packets, taken);
	}
	if (refused != 0)
		atomic_fetch_add_explicit(&port->unsent, refused, memory_order_relaxed);
	return taken;
}

static void
native_send(struct worker_ports *served, struct native_port *port, struct native_output *output)
{
	uint32_t sent = 0;

	for (uint32_t tries = 0; sent < output->count && tries < NATIVE_TRIES; tries++)
		sent += native_transmit(served, port, output->packets + sent, output->lengths + sent, (uint16_t)(output->count - sent));
	if (sent < output->count) {
		atomic_fetch_add_explicit(&port->unsent, output->count - sent, memory_order_relaxed);
		own_free(served->own, output->packets + sent, output->count - sent);
	}
}

/* Hands the packets that wait for one port to it. */
static inline void
native_drain(struct worker_ports *served, uint32_t place)
{
	struct native_port *port = &native_ports[place];
	struct native_output *output = served->outputs[place];

	if (__builtin_expect(!port->served, 0)) {
		port_count(&served->nowhere, output->count);
		own_free(served->own, output->packets, output->count);
	} else if (__builtin_expect(atomic_load_explicit(&port->disabled, memory_order_relaxed) != 0, 0)) {
		atomic_fetch_add_explicit(&port->unsent, output->count, memory_order_relaxed);
		own_free(served->own, output->packets, output->count);
	} else {
		native_send(served, port, output);
	}
	output->count = 0;
}

/* Takes packets to the control plane's port out of those that leave. How many. */
static uint32_t
native_take_cpu(struct worker *worker, struct worker_ports *served, uint32_t cpu_port)
{
	struct ring *ring = ((struct host *)worker->host)->to_cpu;
	struct output *out = &worker->out;
	uint32_t kept = 0, taken;

	for (uint32_t i = 0; i < out->count; i++) {
		uint8_t *to;

		if (out->ports[i] != cpu_port) {
			out->packets[kept] = out->packets[i];
			out->lengths[kept] = out->lengths[i];
			out->ports[kept++] = out->ports[i];
			continue;
		}
		to = ring_reserve(ring, cpu_port, out->lengths[i]);
		if (to != NULL) {
			memcpy(to, out->packets[i], out->lengths[i]);
			ring_commit(ring);
		}
		own_free(served->own, &out->packets[i], 1);
	}
	taken = out->count - kept;
	out->count = kept;
	return taken;
}

/* The pipeline has dropped what goes to numbers beyond the ports; numbers between them that no port has end here. */
void
native_flush(struct worker *worker)
{
	struct worker_ports *served = ((struct host *)worker->host)->port;
	struct output *out = &worker->out;
	const uint32_t cpu_port = host_cpu_port(worker);
	uint32_t lowest = NATIVE_PORTS, highest = 0;

	port_count(&served->handed, out->count);
	if (__builtin_expect(cpu_port != HOST_NO_PORT, 0))
		port_count(&served->to_cpu, native_take_cpu(worker, served, cpu_port));
	for (uint32_t i = 0; i < out->count; i++) {
		const uint32_t place = native_places[out->ports[i]];
		struct native_output *output = served->outputs[place];

		lowest = place < lowest ? place : lowest;
		highest = place > highest ? place : highest;
		output->packets[output->count] = out->packets[i];
		output->lengths[output->count++] = out->lengths[i];
		if (output->count == NATIVE_BURST)
			native_drain(served, place);
	}
	for (uint32_t place = lowest; out->count != 0 && place <= highest; place++)
		if (served->outputs[place] != NULL && served->outputs[place]->count != 0)
			native_drain(served, place);
	out->count = 0;
	own_free(served->own, worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

/* In this order: lookups, output, end of the burst. An end is counted for an empty burst as well, so an idle worker delays no grace period. */
static inline void
native_step(struct worker *worker, const struct pipeline *pipeline, struct burst *burst)
{
	pipeline->process(worker, burst);
	native_flush(worker);
	port_quiescent(worker);
}

/* A port that is disabled takes packets from its interface, so that none is old when it is enabled again, and drops them. */
static uint16_t
native_discard(struct worker_ports *served, struct native_source *source, uint16_t count)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < count; i++)
		bytes += served->lengths_in[i];
	own_free(served->own, served->packets_in, count);
	port_count(&source->discarded, count);
	port_count(&source->discarded_bytes, bytes);
	return 0;
}

/* Buffers that the kernel may hold for each of the worker's queues: half of all, together. */
static inline uint32_t
native_most_filled(const struct worker_ports *served)
{
	return served->own->count / 2 / (served->source_count == 0 ? 1 : served->source_count);
}

static inline uint16_t
native_receive(struct worker_ports *served, struct native_source *source, uint16_t limit)
{
	uint16_t count;

	if (source->queue != NULL)
		count = xdp_receive(source->queue, served->packets_in, served->lengths_in, limit, native_most_filled(served));
	else if (source->port->memif != NULL)
		count = memif_receive(source->port->memif, &served->own->pool, served->packets_in, served->lengths_in, limit);
	else
		count = interface_receive(source->port->interface, &served->own->pool, served->packets_in, served->lengths_in, limit);
	if (__builtin_expect(atomic_load_explicit(&source->port->disabled, memory_order_relaxed) != 0, 0))
		return native_discard(served, source, count);
	return count;
}

/* What a poll of all sources has found: packets that came, those for other workers among them, and those that were processed. */
struct polled {
	uint32_t came;
	uint32_t processed;
};

/* Buffers that other workers have copied are the worker's again. */
static void
native_take_back(struct worker_ports *served)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		struct spread_ring *ring = spread.rings[served->worker][other];
		const uint64_t read = ring == NULL ? 0 : atomic_load_explicit(&ring->read, memory_order_acquire);
		uint64_t back = ring == NULL ? 0 : spread_take_back(ring, read);

		for (; back < read; back++)
			own_free(served->own, &ring->slots[back & (ring->size - 1)].packet, 1);
	}
}

/* Puts the packets of other workers into their rings, which have room. How many are left, in their order. */
static uint32_t
native_spread(struct worker_ports *served, uint16_t *ports, const uint16_t *from, uint32_t count, uint32_t received)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t to = spread_worker(served->packets_in[i], served->lengths_in[i], from[i]);

		if (to != SPREAD_HERE && to != served->worker) {
			spread_put(served->worker, to, (struct spread_slot){ served->packets_in[i], served->lengths_in[i], from[i], received });
			continue;
		}
		served->packets_in[kept] = served->packets_in[i];
		served->lengths_in[kept] = served->lengths_in[i];
		ports[kept++] = from[i];
	}
	spread_rouse(served->worker);
	return kept;
}

static void
native_process(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const uint16_t *ports, uint32_t count)
{
	struct burst burst = { .count = count, .ports = ports, .packets = served->packets_in, .lengths = served->lengths_in };

	if (count == 0)
		return;
	worker->clock_ns = clock_ns();
	native_step(worker, pipeline, &burst);
	port_count(&served->bursts, 1);
	port_count(&served->packets, count);
}

static void
native_lose(struct worker *worker, const struct spread_slot *slot)
{
	struct native_port *port = native_port_of(slot->port);

	if (slot->received == 0) {
		host_count_not_taken(worker);
		return;
	}
	atomic_fetch_add_explicit(&port->lost, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&port->lost_bytes, slot->length, memory_order_relaxed);
}

/* Packets from a ring, in buffers of this worker. Those for which there is none are lost, and their ports count them. */
static uint32_t
native_copy_in(struct worker *worker, struct worker_ports *served, struct spread_ring *ring, uint32_t most)
{
	const uint32_t ready = spread_ready(ring, most);
	uint32_t count = 0;

	for (uint32_t i = 0; i < ready; i++) {
		const struct spread_slot *slot = spread_slot(ring, i);
		const struct iovec part = { slot->packet, slot->length };
		void *packet = native_make(&served->own->pool, &part, 1);

		if (packet == NULL) {
			native_lose(worker, slot);
			continue;
		}
		served->packets_in[count] = packet;
		served->lengths_in[count] = slot->length;
		served->injected[count++] = slot->port;
	}
	spread_take(ring, ready);
	return count;
}

/* What other workers have received for this one: a burst of each. */
static void
native_poll_rings(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, uint16_t limit, struct polled *polled)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		struct spread_ring *ring = spread.rings[other][served->worker];
		const uint32_t count = ring == NULL ? 0 : native_copy_in(worker, served, ring, limit);

		native_process(worker, served, pipeline, served->injected, count);
		polled->came += count;
		polled->processed += count;
	}
}

/* Polls every source once. */
static struct polled
native_poll(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, uint16_t limit)
{
	struct polled polled = { 0 };

	native_take_back(served);
	for (uint32_t i = 0; i < served->source_count; i++) {
		struct native_source *source = served->sources[i];
		const uint32_t room = spread_room(served->worker);
		uint32_t count;

		if (room == 0)
			break;
		count = native_receive(served, source, room < limit ? (uint16_t)room : limit);
		polled.came += count;
		if (spread_is_on())
			count = native_spread(served, served->injected, source->numbers, count, 1);
		polled.processed += count;
		native_process(worker, served, pipeline, source->numbers, count);
	}
	native_poll_rings(worker, served, pipeline, limit, &polled);
	return polled;
}

/* Nothing has come: whatever waits in the pipeline goes on. Also the quiescent state of an idle worker: one per poll of all sources. */
static void
native_idle(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline)
{
	struct burst nothing = { 0 };

	worker->clock_ns = clock_ns();
	native_step(worker, pipeline, &nothing);
	for (uint32_t i = 0; i < served->source_count; i++)
		if (served->sources[i]->queue != NULL)
			xdp_reclaim(served->sources[i]->queue);
}

static inline uint16_t
native_limit(const struct worker_ports *served, const struct pipeline *pipeline)
{
	const uint32_t wanted = served->limit != 0 && served->limit < pipeline->burst ? served->limit : pipeline->burst;

	return (uint16_t)(wanted < NATIVE_BURST ? wanted : NATIVE_BURST);
}

/* A buffer with these bytes; NULL: there is none, which is counted. */
static void *
native_packet(struct worker *worker, struct worker_ports *served, const uint8_t *bytes, uint32_t length)
{
	const struct iovec part = { (void *)(uintptr_t)bytes, length };
	void *packet = length <= own_capacity(served->own) - 8 ? native_make(&served->own->pool, &part, 1) : NULL;

	if (packet == NULL)
		host_count_not_taken(worker);
	return packet;
}

static uint32_t
native_injected(struct worker *worker, struct worker_ports *served, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->injected;
	const struct ring_head *head;
	uint32_t count = 0;

	/* A packet without a buffer is counted and lost: waiting for one here would stop the worker, and the packets that hold buffers. */
	while (count < limit && (head = ring_first(ring)) != NULL) {
		served->packets_in[count] = native_packet(worker, served, (const uint8_t *)(head + 1), head->bytes);
		served->lengths_in[count] = (uint16_t)head->bytes;
		served->injected[count] = (uint16_t)head->tag;
		count += served->packets_in[count] != NULL;
		ring_release(ring, head);
	}
	return count;
}

static uint32_t
native_resumed(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, uint32_t limit)
{
	struct ring *ring = ((struct host *)worker->host)->resumed;
	const struct ring_head *head;
	uint32_t taken = 0;

	for (uint32_t count = 0; count < limit && (head = ring_first(ring)) != NULL; count++) {
		struct host_resumed resumed;
		void *packet = NULL;

		/* What was saved by a pipeline that has been replaced does not fit the present one, and is not resumed. */
		if (host_resumed(worker, head, &resumed))
			packet = native_packet(worker, served, resumed.packet, resumed.length);
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

/* What the control thread has for the worker, a burst of each kind at most. A changeover may be among it, so the pipeline is taken anew. One end is counted
 * behind all of it. */
static const struct pipeline *
native_answer(struct worker *worker, struct worker_ports *served, const struct pipeline *old)
{
	const struct pipeline *pipeline = host_answer(worker, old);
	const uint16_t limit = native_limit(served, pipeline);
	const uint32_t room = spread_room(served->worker);
	struct burst burst = { .ports = served->injected, .packets = served->packets_in, .lengths = served->lengths_in };

	worker->clock_ns = clock_ns();
	port_count(&served->packets, native_resumed(worker, served, pipeline, limit));
	burst.count = native_injected(worker, served, room < limit ? room : limit);
	if (spread_is_on())
		burst.count = native_spread(served, served->injected, served->injected, burst.count, 0);
	port_count(&served->packets, burst.count);
	native_step(worker, pipeline, &burst);
	host_call_again(worker);
	return pipeline;
}

/* Sleeps until a packet has come to one of the worker's ports. */
static void
native_sleep(struct worker *worker, const struct worker_ports *served, const _Atomic uint32_t *stop, long most_ns)
{
	struct sleeper sleeper;
	int has_come = 0;

	sleeper_begin(&sleeper, worker);
	for (uint32_t i = 0; i < served->source_count; i++) {
		const struct native_source *source = served->sources[i];

		if (source->port->memif != NULL) {
			const int file = memif_arm(source->port->memif);

			has_come |= file < 0;
			sleeper_add(&sleeper, file);
			continue;
		}
		sleeper_add(&sleeper, source->queue != NULL ? xdp_queue_fd(source->queue) : source->port->interface->rings[0].socket);
		if (source->queue == NULL)
			sleeper_add(&sleeper, source->port->interface->rings[1].socket);
	}
	if (!has_come)
		sleeper_sleep(&sleeper, worker, stop, most_ns);
	for (uint32_t i = 0; i < served->source_count; i++)
		if (served->sources[i]->port->memif != NULL)
			memif_disarm(served->sources[i]->port->memif);
}

void
native_run(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	uint16_t limit = native_limit(served, pipeline);
	const int may_sleep = sleeper_may(worker, native_polls);
	struct idleness idleness = { .packet_ns = clock_ns() };
	uint64_t busy_since = 0;

	if (may_sleep)
		sleeper_hurry();
	(void)native_tsc_hz();
	atomic_store(&spread.hosts[served->worker], worker->host);
	while (atomic_load_explicit(stop, memory_order_relaxed) == 0) {
		const struct polled polled = native_poll(worker, served, pipeline, limit);

		/* Packets that were handed to others alone are no burst of this worker, which then counts an end for none. */
		if (polled.processed == 0)
			native_idle(worker, served, pipeline);
		if (polled.came != 0) {
			idleness_end(&idleness, worker);
		} else {
			const long sleep_ns = idleness_go_on(&idleness, worker, pipeline, may_sleep, NATIVE_SPINS);

			if (sleep_ns != 0)
				native_sleep(worker, served, stop, sleep_ns);
		}
		/* The clock is read for each burst anyway: a busy time ends with the first one of the next poll. */
		if (busy_since != 0 && worker->clock_ns > busy_since)
			port_count(&served->busy_ns, worker->clock_ns - busy_since);
		busy_since = polled.came != 0 ? worker->clock_ns : 0;
		atomic_store_explicit(&served->idle_polls, idleness.polls, memory_order_relaxed);
		if (host_calls(worker)) {
			pipeline = native_answer(worker, served, pipeline);
			limit = native_limit(served, pipeline);
		}
	}
	/* So that what is counted at the end is all. */
	native_idle(worker, served, pipeline);
	atomic_store(&spread.hosts[served->worker], NULL);
}
