/* The DPDK port layer: the loop of a worker. */
#define _GNU_SOURCE
#define ALLOW_EXPERIMENTAL_API
#include "port/dpdk.h"
#include "port/dpdk_copying.h"
#include "port/interface.h"
#include "port/sleep.h"
#include "port/spread.h"

#include <sched.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#define DPDK_TRIES 64u		/* how often a full transmit queue is asked again */
#define DPDK_SPINS 256u		/* empty polls before other threads of this core run */

/* Cycles to nanoseconds, in fixed point. */
struct clock {
	uint64_t start;
	uint64_t scale;
};

static struct clock
clock_begin(uint64_t now_ns)
{
	const uint64_t scale = (uint64_t)(((__uint128_t)1000000000u << 32) / rte_get_tsc_hz());

	/* Begins at the worker's clock: it never goes back when a pipeline is exchanged. */
	return (struct clock){ rte_rdtsc() - (uint64_t)(((__uint128_t)now_ns << 32) / scale), scale };
}

static inline uint64_t
clock_now(const struct clock *clock)
{
	return (uint64_t)(((__uint128_t)(rte_rdtsc() - clock->start) * clock->scale) >> 32);
}

uint16_t
dpdk_transmit(struct dpdk_port *port, uint16_t queue, struct rte_mbuf **packets, uint16_t count)
{
	uint64_t refused = 0;
	uint16_t taken;

	if (port->interface == NULL)
		return rte_eth_tx_burst(port->device, queue, packets, count);
	taken = interface_send(port->interface, (void **)packets, NULL, count, &refused);
	rte_pktmbuf_free_bulk(packets, taken);
	if (refused != 0)
		atomic_fetch_add_explicit(&port->unsent, refused, memory_order_relaxed);
	return taken;
}

static void
dpdk_send(struct worker_ports *served, struct dpdk_port *port, struct rte_mbuf **packets, uint16_t count)
{
	const uint16_t queue = (uint16_t)(served->worker % port->queues);
	uint16_t sent = 0;

	if (port->shared)
		rte_spinlock_lock(&port->lock);
	for (uint32_t tries = 0; sent < count && tries < DPDK_TRIES; tries++)
		sent = (uint16_t)(sent + dpdk_transmit(port, queue, packets + sent, (uint16_t)(count - sent)));
	if (port->shared)
		rte_spinlock_unlock(&port->lock);
	port_count(&served->sent[port - dpdk_ports], sent);
	if (sent < count) {
		atomic_fetch_add_explicit(&port->unsent, count - sent, memory_order_relaxed);
		rte_pktmbuf_free_bulk(packets + sent, (unsigned int)(count - sent));
	}
}

/* Hands the packets that wait for one port to it. */
static inline void
dpdk_drain(struct worker_ports *served, uint32_t place)
{
	struct dpdk_port *port = &dpdk_ports[place];

	if (__builtin_expect(atomic_load_explicit(&port->disabled, memory_order_relaxed) != 0, 0)) {
		atomic_fetch_add_explicit(&port->unsent, served->waiting_count[place], memory_order_relaxed);
		rte_pktmbuf_free_bulk(served->waiting[place], served->waiting_count[place]);
	} else if (port->served) {
		dpdk_send(served, port, served->waiting[place], served->waiting_count[place]);
	} else {
		port_count(&served->nowhere, served->waiting_count[place]);
		rte_pktmbuf_free_bulk(served->waiting[place], served->waiting_count[place]);
	}
	served->waiting_count[place] = 0;
}

/* The pipeline has dropped what goes to numbers beyond the ports; numbers between them that no port has end here. */
void
dpdk_flush(struct worker *worker)
{
	struct worker_ports *served = ((struct host *)worker->host)->port;
	struct output *out = &worker->out;
	uint32_t lowest = DPDK_PORTS, highest = 0;

	port_count(&served->handed, out->count);
	if (served->copying != NULL)
		port_count(&served->nowhere, dpdk_copying_out(served->copying, worker));
	port_count(&served->to_cpu, dpdk_to_cpu(worker));
	for (uint32_t i = 0; i < out->count; i++) {
		const uint32_t place = dpdk_places[out->ports[i]];

		lowest = place < lowest ? place : lowest;
		highest = place > highest ? place : highest;
		served->waiting[place][served->waiting_count[place]++] = out->packets[i];
		if (served->waiting_count[place] == DPDK_BURST)
			dpdk_drain(served, place);
	}
	for (uint32_t place = lowest; out->count != 0 && place <= highest; place++)
		if (served->waiting_count[place] != 0)
			dpdk_drain(served, place);
	out->count = 0;
	if (worker->freed.count != 0)
		rte_pktmbuf_free_bulk((struct rte_mbuf **)worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

/* In this order: lookups, output, end of the burst. An end is counted for an empty burst as well, so an idle
 * worker delays no grace period. */
static inline void
dpdk_step(struct worker *worker, const struct pipeline *pipeline, struct burst *burst)
{
	pipeline->process(worker, burst);
	dpdk_flush(worker);
	port_quiescent(worker);
}

/* Keeps the frames that cannot have been truncated, in their order. A whole frame that fills its slot is dropped with the truncated ones: the driver does not
 * distinguish them. */
static uint16_t
dpdk_drop_truncated(struct dpdk_source *source, struct rte_mbuf **packets, uint16_t count)
{
	uint16_t whole = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (packets[i]->pkt_len < source->slot_bytes)
			packets[whole++] = packets[i];
		else
			rte_pktmbuf_free(packets[i]);
	}
	if (whole != count)
		port_count(&source->truncated, (uint32_t)(count - whole));
	return whole;
}

/* A port that is disabled takes packets from its device, so that none is old when it is enabled again, and drops them. */
static uint16_t
dpdk_discard(struct dpdk_source *source, struct rte_mbuf **packets, uint16_t count)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < count; i++)
		bytes += packets[i]->pkt_len;
	rte_pktmbuf_free_bulk(packets, count);
	port_count(&source->discarded, count);
	port_count(&source->discarded_bytes, bytes);
	return 0;
}

static inline uint16_t
dpdk_take(struct worker_ports *served, struct dpdk_source *source, struct rte_mbuf **packets, uint16_t limit)
{
	uint16_t count;

	if (source->interface != NULL)
		return interface_receive(source->interface, &served->pool, (void **)packets, NULL, limit);
	count = rte_eth_rx_burst(source->device, source->queue, packets, limit);
	if (source->slot_bytes != 0)
		count = dpdk_drop_truncated(source, packets, count);
	if (served->copying != NULL && count != 0) {
		const uint16_t all = count;

		count = dpdk_copying_whole(packets, count);
		port_count(&source->truncated, (uint32_t)(all - count));
	}
	return count;
}

static inline uint16_t
dpdk_receive(struct worker_ports *served, struct dpdk_source *source, struct rte_mbuf **packets, uint16_t limit)
{
	const uint16_t count = dpdk_take(served, source, packets, limit);

	if (__builtin_expect(atomic_load_explicit(&source->disabled, memory_order_relaxed) != 0, 0))
		return dpdk_discard(source, packets, count);
	if (count != 0 && source->interface == NULL)
		port_count(&source->received, count);
	return count;
}

/* What a poll of all sources has found: packets that came, those for other workers among them, and those that were processed. */
struct polled {
	uint32_t came;
	uint32_t processed;
};

/* The worker of a packet. Its first bytes may lie in several segments. */
static inline uint32_t
dpdk_spread_worker(const struct rte_mbuf *packet, uint16_t port)
{
	uint8_t front[SPREAD_BYTES];
	const uint32_t bytes = packet->pkt_len < SPREAD_BYTES ? packet->pkt_len : SPREAD_BYTES;

	if (packet->nb_segs == 1)
		return spread_worker(rte_pktmbuf_mtod(packet, const uint8_t *), packet->data_len, port);
	return spread_worker(rte_pktmbuf_read(packet, 0, bytes, front), bytes, port);
}

/* Puts the packets of other workers into their rings, which have room. How many are left, in their order. */
static uint32_t
dpdk_spread(struct worker_ports *served, uint16_t *ports, const uint16_t *from, uint32_t count, uint32_t received)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct rte_mbuf *packet = served->packets_in[i];
		const uint32_t to = dpdk_spread_worker(packet, from[i]);
		const uint16_t length = packet->pkt_len < UINT16_MAX ? (uint16_t)packet->pkt_len : UINT16_MAX;

		if (to != SPREAD_HERE && to != served->worker) {
			spread_put(served->worker, to, (struct spread_slot){ packet, length, from[i], received });
			continue;
		}
		served->packets_in[kept] = packet;
		ports[kept++] = from[i];
	}
	spread_rouse(served->worker);
	return kept;
}

static void
dpdk_process(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const struct clock *clock,
             const uint16_t *ports, uint32_t count)
{
	struct burst burst = { .count = count, .ports = ports, .packets = (void **)served->packets_in, .lengths = served->lengths_in };

	if (count == 0)
		return;
	if (served->copying != NULL)
		dpdk_copying_in(burst.packets, served->lengths_in, count);
	worker->clock_ns = clock_now(clock);
	dpdk_step(worker, pipeline, &burst);
	port_count(&served->bursts, 1);
	port_count(&served->packets, count);
}

/* What other workers have received for this one: a burst of each. */
static void
dpdk_poll_rings(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const struct clock *clock,
                uint16_t limit, struct polled *polled)
{
	for (uint32_t other = 0; other < spread.workers; other++) {
		struct spread_ring *ring = spread.rings[other][served->worker];
		const uint32_t count = ring == NULL ? 0 : spread_ready(ring, limit);

		for (uint32_t i = 0; i < count; i++) {
			const struct spread_slot *slot = spread_slot(ring, i);

			served->packets_in[i] = slot->packet;
			served->injected[i] = slot->port;
		}
		if (count == 0)
			continue;
		spread_take(ring, count);
		dpdk_process(worker, served, pipeline, clock, served->injected, count);
		polled->came += count;
		polled->processed += count;
	}
}

/* Polls every source once. */
static struct polled
dpdk_poll(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const struct clock *clock, uint16_t limit)
{
	struct polled polled = { 0 };

	dpdk_take_back(served->worker);
	for (uint32_t i = 0; i < served->source_count; i++) {
		struct dpdk_source *source = &served->sources[i];
		const uint32_t room = spread_room(served->worker);
		uint32_t count;

		if (room == 0)
			break;
		count = dpdk_receive(served, source, served->packets_in, room < limit ? (uint16_t)room : limit);
		polled.came += count;
		if (spread_is_on())
			count = dpdk_spread(served, served->injected, source->numbers, count, 1);
		polled.processed += count;
		dpdk_process(worker, served, pipeline, clock, source->numbers, count);
	}
	dpdk_poll_rings(worker, served, pipeline, clock, limit, &polled);
	return polled;
}

/* Nothing has come: whatever waits in the pipeline goes on. Also the quiescent state of an idle worker: one per
 * poll of all sources. */
static void
dpdk_idle(struct worker *worker, const struct pipeline *pipeline, const struct clock *clock)
{
	struct burst nothing = { 0 };

	worker->clock_ns = clock_now(clock);
	dpdk_step(worker, pipeline, &nothing);
}

static inline uint16_t
dpdk_limit(const struct worker_ports *served, const struct pipeline *pipeline)
{
	const uint32_t wanted = served->limit != 0 && served->limit < pipeline->burst ? served->limit : pipeline->burst;

	return (uint16_t)(wanted < DPDK_BURST ? wanted : DPDK_BURST);
}

/* What the control thread has for the worker, a burst of each kind at most. A changeover may be among it, so the
 * pipeline is taken anew. One end is counted behind all of it. */
static const struct pipeline *
dpdk_answer(struct worker *worker, struct worker_ports *served, const struct pipeline *old, const struct clock *clock)
{
	const struct pipeline *pipeline = host_answer(worker, old);
	const uint16_t limit = dpdk_limit(served, pipeline);
	const uint32_t room = spread_room(served->worker);
	struct burst burst = { .ports = served->injected, .packets = (void **)served->packets_in, .lengths = served->lengths_in };

	worker->clock_ns = clock_now(clock);
	port_count(&served->packets, dpdk_resumed(worker, served->copying, pipeline, limit));
	burst.count = dpdk_injected(worker, served->copying, served->packets_in, served->injected, room < limit ? room : limit);
	if (spread_is_on())
		burst.count = dpdk_spread(served, served->injected, served->injected, burst.count, 0);
	if (served->copying != NULL)
		dpdk_copying_in(burst.packets, served->lengths_in, burst.count);
	port_count(&served->packets, burst.count);
	dpdk_step(worker, pipeline, &burst);
	host_call_again(worker);
	return pipeline;
}

/* Whether all that the worker polls wakes it, or has no more packets: the kernel's interfaces do, captures have none, and other ethdevs do not. */
static int
dpdk_may_sleep(const struct worker *worker, const struct worker_ports *served)
{
	for (uint32_t i = 0; i < served->source_count; i++)
		if (served->sources[i].interface == NULL && !served->sources[i].ends)
			return 0;
	return sleeper_may(worker, dpdk_polls);
}

/* Sleeps until a packet has come to one of the worker's interfaces. */
static void
dpdk_sleep(struct worker *worker, const struct worker_ports *served, const _Atomic uint32_t *stop, long most_ns)
{
	struct sleeper sleeper;

	sleeper_begin(&sleeper, worker);
	for (uint32_t i = 0; i < served->source_count; i++)
		for (uint32_t ring = 0; ring < 2 && served->sources[i].interface != NULL; ring++)
			sleeper_add(&sleeper, served->sources[i].interface->rings[ring].socket);
	sleeper_sleep(&sleeper, worker, stop, most_ns);
}

void
dpdk_run(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	uint16_t limit = dpdk_limit(served, pipeline);
	const int registered = rte_thread_register();	/* for a cache of buffers of its own; without, it is only slower */
	const struct clock clock = clock_begin(worker->clock_ns);
	struct idleness idleness = { .packet_ns = worker->clock_ns };
	uint64_t busy_since = 0;

	if (sleeper_may(worker, dpdk_polls))
		sleeper_hurry();
	atomic_store(&spread.hosts[served->worker], worker->host);
	while (atomic_load_explicit(stop, memory_order_relaxed) == 0) {
		const struct polled polled = dpdk_poll(worker, served, pipeline, &clock, limit);

		/* Packets that were handed to others alone are no burst of this worker, which then counts an end for none. */
		if (polled.processed == 0)
			dpdk_idle(worker, pipeline, &clock);
		if (polled.came != 0) {
			idleness_end(&idleness, worker);
		} else {
			const long sleep_ns = idleness_go_on(&idleness, worker, pipeline, dpdk_may_sleep(worker, served), DPDK_SPINS);

			if (sleep_ns != 0)
				dpdk_sleep(worker, served, stop, sleep_ns);
		}
		/* The clock is read for each burst anyway: a busy time ends with the first one of the next poll. */
		if (busy_since != 0 && worker->clock_ns > busy_since)
			port_count(&served->busy_ns, worker->clock_ns - busy_since);
		busy_since = polled.came != 0 ? worker->clock_ns : 0;
		atomic_store_explicit(&served->idle_polls, idleness.polls, memory_order_relaxed);
		if (host_calls(worker)) {
			pipeline = dpdk_answer(worker, served, pipeline, &clock);
			limit = dpdk_limit(served, pipeline);
		}
	}
	/* So that what is counted at the end is all. */
	dpdk_idle(worker, pipeline, &clock);
	atomic_store(&spread.hosts[served->worker], NULL);
	if (registered == 0)
		rte_thread_unregister();
}
