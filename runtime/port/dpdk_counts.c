/* The DPDK port layer: what came and went at a port, and whether its link is up. */
#define _GNU_SOURCE
#include "port/dpdk.h"
#include "port/interface.h"
#include "port/spread.h"

/* A count that has become smaller was begun anew by its device. */
static uint64_t
kept_count(struct dpdk_kept *kept, uint64_t now)
{
	if (now < kept->last)
		kept->before += kept->last;
	kept->last = now;
	return kept->before + now;
}

static enum link_state
device_link(uint16_t device)
{
	struct rte_eth_link link;

	/* What has no link to speak of is never down. */
	return rte_eth_link_get_nowait(device, &link) != 0 || link.link_status == RTE_ETH_LINK_UP ? LINK_UP : LINK_DOWN;
}

static uint32_t
device_speed(uint16_t device)
{
	struct rte_eth_link link;

	if (rte_eth_link_get_nowait(device, &link) != 0 || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return link.link_speed;
}

static void
source_counts(const struct dpdk_source *source, const struct dpdk_port *port, struct port_counts *counts)
{
	const uint64_t discarded = atomic_load_explicit(&source->discarded, memory_order_relaxed);

	if (!dpdk_source_is_of(source, port))
		return;
	counts->received += atomic_load_explicit(&source->received, memory_order_relaxed);
	/* An interface counts what it receives, and a device its bytes, also what is discarded then. */
	port_not_received(counts, source->interface != NULL ? discarded : 0, atomic_load_explicit(&source->discarded_bytes, memory_order_relaxed));
	counts->errors += atomic_load_explicit(&source->truncated, memory_order_relaxed);
	counts->missed += discarded;
}

/* What the ports of its workers have counted. */
static void
worker_counts(const struct dpdk_port *port, struct port_counts *counts)
{
	for (uint32_t worker = 0; worker < DPDK_WORKERS && dpdk_worker_ports[worker] != NULL; worker++) {
		const struct worker_ports *served = dpdk_worker_ports[worker];

		if (port->interface == NULL)
			counts->sent += atomic_load_explicit(&served->sent[port - dpdk_ports], memory_order_relaxed);
		for (uint32_t i = 0; i < served->source_count; i++)
			source_counts(&served->sources[i], port, counts);
	}
}

static int
device_counts(struct dpdk_port *port, struct port_counts *counts)
{
	struct rte_eth_stats stats;

	if (rte_eth_stats_get(port->device, &stats) != 0)
		return -1;
	*counts = (struct port_counts){
		.received_bytes = kept_count(&port->received_bytes, stats.ibytes),
		.sent_bytes = kept_count(&port->sent_bytes, stats.obytes),
		.missed = kept_count(&port->missed, stats.imissed + stats.rx_nombuf),
		.errors = kept_count(&port->errors, stats.ierrors),
		.unsent = kept_count(&port->refused, stats.oerrors),
		.link = device_link(port->device),
		.speed_mbps = device_speed(port->device),
	};
	worker_counts(port, counts);
	/* What a device took, and could not send after all. */
	counts->sent -= counts->unsent < counts->sent ? counts->unsent : counts->sent;
	return 0;
}

static uint32_t
port_enabled(const struct dpdk_port *port)
{
	if (atomic_load_explicit(&port->disabled, memory_order_relaxed) != 0)
		return 0;
	return port->interface == NULL || atomic_load_explicit(&port->interface->enabled, memory_order_relaxed) != 0;
}

/* A port that is disabled has no link, whatever its device reports. */
static enum link_state
port_link(const struct dpdk_port *port, enum link_state link)
{
	return link == LINK_UP && atomic_load_explicit(&port->disabled, memory_order_relaxed) != 0 ? LINK_DOWN : link;
}

int
dpdk_counts(uint16_t number, struct port_counts *counts)
{
	struct dpdk_port *port = dpdk_port_of(number);
	uint64_t bytes;
	uint32_t waiting;

	if (!port->open)
		return -1;
	/* Before what was received: of that it is a part. */
	waiting = spread_waiting_of(number, &bytes);
	if (port->interface != NULL) {
		interface_counts(port->interface, counts);
		worker_counts(port, counts);
	} else if (device_counts(port, counts) != 0)
		return -1;
	port_not_received(counts, waiting, bytes);
	counts->waiting += waiting;
	counts->unsent += atomic_load_explicit(&port->unsent, memory_order_relaxed);
	counts->link = port_link(port, counts->link);
	counts->enabled = port_enabled(port);
	return 0;
}

int
dpdk_watch(uint16_t number, uint32_t *enabled)
{
	struct dpdk_port *port = dpdk_port_of(number);
	enum link_state link;

	if (!port->open)
		return -1;
	link = port->interface != NULL ? interface_watch(port->interface) : device_link(port->device);
	*enabled = port_enabled(port);
	return (int)port_link(port, link);
}
