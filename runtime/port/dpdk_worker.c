/* The DPDK port layer: the loop of a worker. */
#define ALLOW_EXPERIMENTAL_API
#include "port/dpdk.h"

#include <sched.h>

#include <rte_cycles.h>
#include <rte_lcore.h>

#define DPDK_TRIES 64u		/* how often a full transmit queue is asked again */
#define DPDK_SPINS 256u		/* empty polls before other threads of this core get their turn */

/* Cycles to nanoseconds, in fixed point. */
struct clock {
	uint64_t start;
	uint64_t scale;
};

static struct clock
clock_begin(uint64_t now_ns)
{
	const uint64_t scale = (uint64_t)(((__uint128_t)1000000000u << 32) / rte_get_tsc_hz());

	/* Begins where the worker's clock stands: it never goes back when a pipeline is exchanged. */
	return (struct clock){ rte_rdtsc() - (uint64_t)(((__uint128_t)now_ns << 32) / scale), scale };
}

static inline uint64_t
clock_now(const struct clock *clock)
{
	return (uint64_t)(((__uint128_t)(rte_rdtsc() - clock->start) * clock->scale) >> 32);
}

static void
dpdk_send(struct dpdk_port *port, uint32_t worker, struct rte_mbuf **packets, uint16_t count)
{
	const uint16_t queue = (uint16_t)(worker % port->queues);
	uint16_t sent = 0;

	if (port->shared)
		rte_spinlock_lock(&port->lock);
	for (uint32_t tries = 0; sent < count && tries < DPDK_TRIES; tries++)
		sent = (uint16_t)(sent + rte_eth_tx_burst(port->device, queue, packets + sent, (uint16_t)(count - sent)));
	if (port->shared)
		rte_spinlock_unlock(&port->lock);
	if (sent < count) {
		atomic_fetch_add_explicit(&port->unsent, count - sent, memory_order_relaxed);
		rte_pktmbuf_free_bulk(packets + sent, (unsigned int)(count - sent));
	}
}

/* Hands the packets that wait for one port to it. */
static inline void
dpdk_drain(struct dpdk_lane *lane, uint32_t number)
{
	struct dpdk_port *port = &dpdk_ports[number];

	if (port->open) {
		dpdk_send(port, lane->worker, lane->waiting[number], lane->waiting_count[number]);
	} else {
		atomic_fetch_add_explicit(&port->unsent, lane->waiting_count[number], memory_order_relaxed);
		rte_pktmbuf_free_bulk(lane->waiting[number], lane->waiting_count[number]);
	}
	lane->waiting_count[number] = 0;
}

/* The pipeline has dropped what goes to numbers beyond the ports; numbers between them that no port has end here. */
void
dpdk_flush(struct worker *worker)
{
	struct dpdk_lane *lane = ((struct host *)worker->host)->port;
	struct output *out = &worker->out;
	uint32_t lowest = DPDK_PORTS, highest = 0;

	for (uint32_t i = 0; i < out->count; i++) {
		const uint32_t number = out->ports[i];

		lowest = number < lowest ? number : lowest;
		highest = number > highest ? number : highest;
		lane->waiting[number][lane->waiting_count[number]++] = out->packets[i];
		if (lane->waiting_count[number] == DPDK_BURST)
			dpdk_drain(lane, number);
	}
	for (uint32_t number = lowest; out->count != 0 && number <= highest; number++)
		if (lane->waiting_count[number] != 0)
			dpdk_drain(lane, number);
	out->count = 0;
	if (worker->freed.count != 0)
		rte_pktmbuf_free_bulk((struct rte_mbuf **)worker->freed.packets, worker->freed.count);
	worker->freed.count = 0;
}

static inline void
dpdk_step(struct worker *worker, const struct pipeline *pipeline, struct burst *burst)
{
	pipeline->process(worker, burst);
	dpdk_flush(worker);
	dpdk_quiescent(worker);
}

/* Polls every source once. Packets received. */
static uint32_t
dpdk_poll(struct worker *worker, struct dpdk_lane *lane, const struct pipeline *pipeline, const struct clock *clock, uint16_t limit)
{
	uint32_t received = 0;

	for (uint32_t i = 0; i < lane->source_count; i++) {
		struct dpdk_source *source = &lane->sources[i];
		const uint16_t count = rte_eth_rx_burst(source->device, source->queue, lane->packets_in, limit);
		struct burst burst = { .count = count, .ports = source->numbers, .packets = (void **)lane->packets_in };

		if (count == 0)
			continue;
		received += count;
		worker->clock_ns = clock_now(clock);
		dpdk_step(worker, pipeline, &burst);
	}
	return received;
}

/* Nothing has come: whatever waits in the pipeline goes on. */
static void
dpdk_idle(struct worker *worker, const struct pipeline *pipeline, const struct clock *clock)
{
	struct burst nothing = { 0 };

	worker->clock_ns = clock_now(clock);
	dpdk_step(worker, pipeline, &nothing);
}

void
dpdk_run(struct worker *worker, struct dpdk_lane *lane, const struct pipeline *pipeline, const _Atomic uint32_t *stop)
{
	const uint32_t wanted = lane->limit != 0 && lane->limit < pipeline->burst ? lane->limit : pipeline->burst;
	const uint16_t limit = (uint16_t)(wanted < DPDK_BURST ? wanted : DPDK_BURST);
	const int registered = rte_thread_register();	/* for a cache of buffers of its own; without, it is only slower */
	const struct clock clock = clock_begin(worker->clock_ns);
	uint64_t idle = 0;

	while (atomic_load_explicit(stop, memory_order_relaxed) == 0) {
		const uint32_t received = dpdk_poll(worker, lane, pipeline, &clock, limit);

		if (received != 0) {
			idle = 0;
			atomic_store_explicit(&lane->packets, atomic_load_explicit(&lane->packets, memory_order_relaxed) + received,
				memory_order_relaxed);
		} else {
			dpdk_idle(worker, pipeline, &clock);
			if (++idle > DPDK_SPINS)
				(void)sched_yield();
		}
		atomic_store_explicit(&lane->idle_polls, idle, memory_order_relaxed);
	}
	/* So that what is counted at the end is all. */
	dpdk_idle(worker, pipeline, &clock);
	if (registered == 0)
		rte_thread_unregister();
}
