/* The port layer without DPDK: packet memory, and what the layer exports. */
#define _GNU_SOURCE
#include "port/native.h"
#include "port/spread.h"

#include <stdlib.h>
#include <string.h>

#define NATIVE_HEADROOM 256u
#define NATIVE_BUFFER 4096u	/* least bytes of a buffer: AF_XDP begins frames 256 bytes behind its front */

struct native_port native_ports[NATIVE_PORTS];
uint16_t native_places[NATIVE_NUMBERS];
struct worker_ports *native_worker_ports[NATIVE_WORKERS];
uint32_t native_workers;
uint32_t native_polls;

static uint32_t native_longest_bytes;

void *
native_make(struct pool *pool, const struct iovec *parts, uint32_t count)
{
	uint8_t *packet = pool->allocate(pool), *to = packet;

	for (uint32_t i = 0; packet != NULL && i < count; i++) {
		if (parts[i].iov_len != 0)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
		to += parts[i].iov_len;
	}
	return packet;
}

/* A power of two that holds packets of so many bytes, with what comes before and behind them. */
static uint32_t
native_buffer_bytes(uint32_t packet_bytes)
{
	uint32_t bytes = NATIVE_BUFFER;

	while (bytes < packet_bytes + NATIVE_HEADROOM + OWN_COLOURS * OWN_COLOUR_BYTES)
		bytes *= 2;
	return bytes;
}

static uint32_t native_buffers, native_packet_bytes;

static int
native_start(const struct port_settings *settings, char *error)
{
	if (settings->workers == 0 || settings->workers > NATIVE_WORKERS)
		return port_fail(error, "at most %u workers", NATIVE_WORKERS);
	interface_expect(settings->interfaces, settings->hears_outgoing);
	interface_record(settings->record);
	native_polls = settings->polls;
	native_workers = settings->workers;
	native_buffers = settings->buffers / settings->workers;
	native_packet_bytes = settings->buffer_bytes;
	for (uint32_t worker = 0; worker < settings->workers; worker++) {
		native_worker_ports[worker] = calloc(1, sizeof(struct worker_ports));
		if (native_worker_ports[worker] == NULL)
			return port_fail(error, "no memory for %u workers", settings->workers);
		native_worker_ports[worker]->worker = worker;
	}
	return 0;
}

int
native_pools(uint32_t frame_bytes, char *error)
{
	const uint32_t bytes = native_buffer_bytes(frame_bytes < native_packet_bytes ? native_packet_bytes : frame_bytes);

	for (uint32_t worker = 0; worker < native_workers; worker++) {
		struct worker_ports *served = native_worker_ports[worker];

		served->own = own_create(native_buffers, bytes, NATIVE_HEADROOM);
		if (served->own == NULL)
			return port_fail(error, "no memory for %u packets of %u bytes: --buffers sets their number", native_buffers * native_workers, bytes);
		native_longest_bytes = own_capacity(served->own) - 8;
	}
	return 0;
}

static struct worker_ports *
native_ports_of(uint32_t worker)
{
	return native_worker_ports[worker];
}

static struct pool *
native_worker_pool(struct worker_ports *served)
{
	return &served->own->pool;
}

static void
native_worker_limit(struct worker_ports *served, uint32_t packets)
{
	served->limit = packets;
}

uint32_t
native_longest(void)
{
	return native_longest_bytes < UINT16_MAX ? native_longest_bytes : UINT16_MAX;
}

static void
native_copy(const void *packet, uint16_t length, uint8_t *to)
{
	memcpy(to, packet, length);
}

static uint64_t
native_idle_polls(const struct worker_ports *served)
{
	return spread_waits(served->worker) ? 0 : atomic_load_explicit(&served->idle_polls, memory_order_relaxed);
}

static uint64_t
native_packets(const struct worker_ports *served)
{
	return atomic_load_explicit(&served->packets, memory_order_relaxed);
}

static void
native_totals(const struct worker_ports *served, struct port_totals *totals)
{
	*totals = (struct port_totals){
		.received = atomic_load_explicit(&served->packets, memory_order_relaxed),
		.handed = atomic_load_explicit(&served->handed, memory_order_relaxed),
		.nowhere = atomic_load_explicit(&served->nowhere, memory_order_relaxed),
		.to_cpu = atomic_load_explicit(&served->to_cpu, memory_order_relaxed),
		.bursts = atomic_load_explicit(&served->bursts, memory_order_relaxed),
		.busy_ns = atomic_load_explicit(&served->busy_ns, memory_order_relaxed),
		.tsc_hz = native_tsc_hz(),
	};
}

/* Of own buffers; no worker runs. */
static uint32_t
native_held(void)
{
	uint32_t held = 0;

	for (uint32_t worker = 0; worker < native_workers; worker++)
		held += native_worker_ports[worker]->own->count - native_worker_ports[worker]->own->free_count;
	return held - spread_held();
}

int
native_spread_by(const struct spread_step *steps, uint32_t count, char *error)
{
	return spread_set(native_workers, steps, count, native_buffers * native_workers, error);
}

/* Interfaces have rings of slots. */
static int
native_ring(uint16_t number, struct port_ring *ring)
{
	(void)number;
	(void)ring;
	return -1;
}

const struct port_layer bacus_layer = {
	.version = LAYER_VERSION,
	.descriptor = DESCRIPTOR_OWN,
	.start = native_start,
	.open = native_open,
	.open_interface = native_open_interface,
	.ring = native_ring,
	.begin = native_begin,
	.add = native_add,
	.remove = native_remove,
	.spread = native_spread_by,
	.ports_of = native_ports_of,
	.worker_pool = native_worker_pool,
	.worker_limit = native_worker_limit,
	.longest = native_longest, .clock = native_clock,
	.flush = native_flush,
	.copy = native_copy,
	.run = native_run,
	.idle_polls = native_idle_polls,
	.packets = native_packets,
	.totals = native_totals,
	.counts = native_counts,
	.enable = native_enable,
	.watch = native_watch,
	.inject = native_inject,
	.stop = native_stop,
	.held = native_held,
	.untaken = spread_untaken,
};
