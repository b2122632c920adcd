/* The DPDK port layer: opening, configuring and counting ethdevs. */
#define _GNU_SOURCE
#include "port/dpdk.h"
#include "port/dpdk_copying.h"
#include "port/interface.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include <rte_alarm.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>

#define DPDK_RING 1024u		/* default descriptors of a queue; the device brings it within its limits */
#define DPDK_INJECTED 32u	/* packets that are sent at once */

struct dpdk_port dpdk_ports[DPDK_PORTS];
uint16_t dpdk_places[DPDK_NUMBERS];

/* The port of a number, which keeps its place; NULL if all places are taken. */
static struct dpdk_port *
dpdk_port_new(uint16_t number, char *error)
{
	static uint16_t taken;

	if (dpdk_places[number] == 0) {
		if (taken == DPDK_PORTS - 1) {
			(void)port_fail(error, "at most %u ports", DPDK_PORTS - 1);
			return NULL;
		}
		dpdk_places[number] = ++taken;
	}
	return dpdk_port_of(number);
}
struct worker_ports *dpdk_worker_ports[DPDK_WORKERS];

/* A device's name: the part before the first comma. */
static void
dpdk_name(const char *device, char *name, size_t bytes)
{
	const size_t length = strcspn(device, ",");

	snprintf(name, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), device);
}

static uint16_t
dpdk_smaller(uint32_t a, uint32_t b)
{
	return (uint16_t)(a < b ? a : b);
}

static void
dpdk_port_begin(struct dpdk_port *port, uint16_t number)
{
	port->number = number;
	port->open = 1;
	rte_spinlock_init(&port->lock);
	atomic_store(&port->unsent, 0);
	atomic_store(&port->disabled, 0);
	port->received_bytes = port->sent_bytes = port->missed = port->errors = port->refused = (struct dpdk_kept){ 0 };
}

/* DPDK's driver of packet sockets truncates frames to its slots without a mark. A slot begins with the kernel's header (TPACKET_V2) of 66 bytes. */
static uint32_t
dpdk_slot_bytes(const char *device)
{
	const char *slot = strstr(device, ",framesz=");
	const unsigned long bytes = slot != NULL ? strtoul(slot + strlen(",framesz="), NULL, 10) : 2048;

	return strncmp(device, "net_af_packet", strlen("net_af_packet")) == 0 && bytes > 66 ? (uint32_t)bytes - 66 : 0;
}

/* Whether it is a capture of DPDK's driver, and none of its interfaces. */
static uint32_t
dpdk_ends(const char *device)
{
	return strncmp(device, "net_pcap", strlen("net_pcap")) == 0 && strstr(device, ",rx_pcap=") != NULL && strstr(device, "iface=") == NULL;
}

int
dpdk_open(uint16_t number, const char *device, uint32_t descriptors, char *error)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct dpdk_port *port = dpdk_port_new(number, error);
	int failure;

	if (port == NULL)
		return -1;
	dpdk_name(device, name, sizeof(name));
	failure = rte_eth_dev_is_valid_port(0) && rte_eth_dev_get_port_by_name(name, &port->device) == 0 ? -EEXIST : rte_dev_probe(device);
	if (failure != 0)
		return port_fail(error, "DPDK cannot open `%s`: %s", device, rte_strerror(-failure));
	if (rte_eth_dev_get_port_by_name(name, &port->device) != 0)
		return port_fail(error, "`%s` is no network device", device);
	port->slot_bytes = dpdk_slot_bytes(device);
	port->ends = dpdk_ends(device);
	port->descriptors = dpdk_smaller(descriptors != 0 ? descriptors : DPDK_RING, UINT16_MAX);
	dpdk_port_begin(port, number);
	return 0;
}

int
dpdk_open_interface(uint16_t number, const char *name, uint32_t slots, uint32_t kind, char *note, char *error)
{
	struct dpdk_port *port = dpdk_port_new(number, error);

	if (port == NULL)
		return -1;
	if (kind == INTERFACE_XDP)
		return port_fail(error, "AF_XDP sockets are for switches without DPDK: write net_af_xdp0,iface=%s", name);
	*note = 0;
	port->interface = interface_open(name, slots != 0 ? slots : DPDK_RING, &dpdk_interface_packets, error);
	if (port->interface == NULL)
		return -1;
	dpdk_port_begin(port, number);
	return 0;
}

/* A device with a ring of descriptors reports how many there may be, or a default. A device that reports neither has another ring, or none. */
int
dpdk_ring(uint16_t number, struct port_ring *ring)
{
	const struct dpdk_port *port = dpdk_port_of(number);
	struct rte_eth_dev_info info;
	const struct rte_eth_desc_lim *in = &info.rx_desc_lim, *out = &info.tx_desc_lim;

	if (!port->open || port->interface != NULL || rte_eth_dev_info_get(port->device, &info) != 0)
		return -1;
	if (in->nb_max == UINT16_MAX && info.default_rxportconf.ring_size == 0)
		return -1;
	*ring = (struct port_ring){
		.least = in->nb_min > out->nb_min ? in->nb_min : out->nb_min,
		.most = dpdk_smaller(in->nb_max, out->nb_max),
	};
	return 0;
}

/* What is to be done with a device, and by which thread. */
struct dpdk_call {
	int (*function)(uint16_t device);
	uint16_t device;
	int result;
	_Atomic uint32_t done;
};

static void
dpdk_called(void *argument)
{
	struct dpdk_call *call = argument;

	call->result = call->function(call->device);
	atomic_store(&call->done, 1);
}

/* Starts or closes a device. Memif's other end talks to DPDK's interrupt thread, which changes the same memory without a lock: a device that is closed
 * meanwhile is freed under it. So the interrupt thread itself does it, between two messages. */
static int
dpdk_call(const struct dpdk_port *port, int (*function)(uint16_t device))
{
	struct dpdk_call call = { .function = function, .device = port->device };
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(port->device, &info) != 0 || strcmp(info.driver_name, "net_memif") != 0 ||
	    rte_eal_alarm_set(1, dpdk_called, &call) != 0)
		return function(port->device);
	while (atomic_load(&call.done) == 0)
		(void)sched_yield();
	return call.result;
}

static int
dpdk_start_device(uint16_t device)
{
	return rte_eth_dev_start(device);
}

/* As many queues as workers, if the device has them. */
static int
dpdk_configure(struct dpdk_port *port, uint32_t workers, char *error)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf configuration = { 0 };
	uint16_t ring_in = port->descriptors, ring_out = port->descriptors;
	int failure = rte_eth_dev_info_get(port->device, &info);

	if (failure != 0)
		return port_fail(error, "port %u does not describe its device: %s", port->number, rte_strerror(-failure));
	port->queues = dpdk_smaller(workers, dpdk_smaller(info.max_rx_queues, info.max_tx_queues));
	if (port->queues == 0)
		return port_fail(error, "port %u has %u queues to receive and %u to send; it needs one of each", port->number, info.max_rx_queues,
			info.max_tx_queues);
	port->shared = port->queues < workers;
	configuration.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (port->queues > 1 && info.flow_type_rss_offloads != 0) {
		configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		configuration.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP);
	}
	failure = rte_eth_dev_configure(port->device, port->queues, port->queues, &configuration);
	if (failure == 0)
		failure = rte_eth_dev_adjust_nb_rx_tx_desc(port->device, &ring_in, &ring_out);
	for (uint16_t queue = 0; failure == 0 && queue < port->queues; queue++) {
		failure = rte_eth_rx_queue_setup(port->device, queue, ring_in, SOCKET_ID_ANY, NULL, dpdk_mempool);
		if (failure == 0)
			failure = rte_eth_tx_queue_setup(port->device, queue, ring_out, SOCKET_ID_ANY, NULL);
	}
	if (failure == 0)
		failure = dpdk_call(port, dpdk_start_device);
	if (failure != 0)
		return port_fail(error, "port %u cannot be set up: %s", port->number, rte_strerror(-failure));
	(void)rte_eth_promiscuous_enable(port->device);	/* what a device cannot do, it need not: captures have no filter */
	return 0;
}

/* An interface has one queue, and locks of its own. */
static void
dpdk_serve_interface(struct dpdk_port *port, uint32_t workers)
{
	port->queues = 1;
	port->shared = workers > 1;
}

/* Ports that are opened again keep the workers' ports, so that readers of idle polls find them. */
static struct worker_ports *
dpdk_worker_ports_create(uint32_t worker)
{
	struct worker_ports *served = dpdk_worker_ports[worker] != NULL ? dpdk_worker_ports[worker] : calloc(1, sizeof(*served));

	if (served == NULL)
		return NULL;
	served->worker = worker;
	memset(served->sent, 0, sizeof(served->sent));
	atomic_store(&served->handed, 0);
	atomic_store(&served->nowhere, 0);
	served->source_count = 0;
	if (dpdk_copying != NULL && served->copying == NULL) {
		served->copying = malloc(sizeof(*served->copying));
		if (served->copying == NULL)
			return NULL;
		/* The memory is that of all; who else has a packet is counted by the worker that has it. */
		*served->copying = *dpdk_copying;
		served->copying->own.pool.handle = served->copying;
	}
	served->pool = (struct pool){ .handle = dpdk_mempool, .allocate = dpdk_allocate, .count = dpdk_mempool->size };
	return served;
}

static int
dpdk_worker_ports_add(struct worker_ports *served, const struct dpdk_port *port, uint16_t queue)
{
	struct dpdk_source *sources = realloc(served->sources, (served->source_count + 1) * sizeof(*sources));

	if (sources == NULL)
		return -1;
	served->sources = sources;
	sources = &sources[served->source_count++];
	sources->interface = port->interface;
	sources->device = port->device;
	sources->queue = queue;
	sources->slot_bytes = port->slot_bytes;
	sources->ends = port->ends;
	atomic_store(&sources->received, 0);
	atomic_store(&sources->truncated, 0);
	atomic_store(&sources->discarded, 0);
	atomic_store(&sources->discarded_bytes, 0);
	atomic_store(&sources->disabled, atomic_load(&port->disabled));
	for (uint32_t i = 0; i < DPDK_BURST; i++)
		sources->numbers[i] = port->number;
	return 0;
}

/* Workers that the ports are distributed over. */
static uint32_t dpdk_workers;

/* A port with a queue for each worker is served by all; the queues of others go round. */
static int
dpdk_serve(struct dpdk_port *port, char *error)
{
	static uint32_t next;

	if (port->interface != NULL)
		dpdk_serve_interface(port, dpdk_workers);
	else if (dpdk_configure(port, dpdk_workers, error) != 0)
		return -1;
	for (uint16_t queue = 0; queue < port->queues; queue++)
		if (dpdk_worker_ports_add(dpdk_worker_ports[port->shared ? next++ % dpdk_workers : queue], port, queue) != 0)
			return port_fail(error, "no memory for the queues of port %u", port->number);
	port->served = 1;
	return 0;
}

int
dpdk_begin(uint32_t workers, char *error)
{
	if (workers > DPDK_WORKERS)
		return port_fail(error, "at most %u workers", DPDK_WORKERS);
	for (uint32_t worker = 0; worker < workers; worker++) {
		dpdk_worker_ports[worker] = dpdk_worker_ports_create(worker);
		if (dpdk_worker_ports[worker] == NULL)
			return port_fail(error, "no memory for %u workers", workers);
	}
	dpdk_workers = workers;
	for (uint32_t place = 0; place < DPDK_PORTS; place++)
		if (dpdk_ports[place].open && dpdk_serve(&dpdk_ports[place], error) != 0)
			return -1;
	return 0;
}

struct worker_ports *
dpdk_ports_of(uint32_t worker)
{
	return dpdk_worker_ports[worker];
}

static struct rte_mbuf *
dpdk_frame(const uint8_t *frame, uint32_t length)
{
	struct rte_mbuf *packet = rte_pktmbuf_alloc(dpdk_mempool);
	char *bytes = packet == NULL ? NULL : rte_pktmbuf_append(packet, (uint16_t)length);

	if (bytes != NULL)
		memcpy(bytes, frame, length);
	else
		rte_pktmbuf_free(packet);
	return bytes != NULL ? packet : NULL;
}

/* Ends when the device takes no more: its ring is full, or its link is down. */
uint32_t
dpdk_inject(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count)
{
	struct dpdk_port *port = dpdk_port_of(number);
	struct rte_mbuf *packets[DPDK_INJECTED];
	uint32_t sent = 0, made = DPDK_INJECTED, taken = DPDK_INJECTED;

	if (!port->open)
		return 0;
	while (sent < count && made == DPDK_INJECTED && taken == made) {
		for (made = 0; made < DPDK_INJECTED && made < count - sent; made++) {
			packets[made] = dpdk_frame(frame, length);
			if (packets[made] == NULL)
				break;
		}
		taken = dpdk_transmit(port, 0, packets, (uint16_t)made);
		rte_pktmbuf_free_bulk(packets + taken, made - taken);
		sent += taken;
	}
	return sent;
}

/* A device that is closed still has its name. Given back, it may be opened with other arguments. */
static int
dpdk_close_device(uint16_t device)
{
	struct rte_eth_dev_info info;
	const int known = rte_eth_dev_info_get(device, &info) == 0;

	(void)rte_eth_dev_stop(device);
	(void)rte_eth_dev_close(device);
	return known ? rte_dev_remove(info.device) : 0;
}

static void
dpdk_forget_device(struct dpdk_port *port)
{
	port->interface = NULL;
	port->open = 0;
	port->served = 0;
	atomic_store(&port->disabled, 0);
}

static void
dpdk_close(struct dpdk_port *port)
{
	if (port->interface != NULL)
		interface_close(port->interface);
	else
		(void)dpdk_call(port, dpdk_close_device);
	dpdk_forget_device(port);
}

static void *
dpdk_close_interface(void *interface)
{
	interface_close(interface);
	return NULL;
}

/* The kernel holds a thread that closes a packet socket until no core can be using it, 10 to 40 ms for each of three sockets. Interfaces have threads of their
 * own for that, so that all wait together: 60 of them took 5.7 s one after the other. */
void
dpdk_stop(void)
{
	pthread_t threads[DPDK_PORTS];
	uint32_t count = 0;

	for (uint32_t place = 0; place < DPDK_PORTS; place++) {
		struct dpdk_port *port = &dpdk_ports[place];

		if (!port->open)
			continue;
		if (port->interface != NULL && pthread_create(&threads[count], NULL, dpdk_close_interface, port->interface) == 0) {
			count++;
			dpdk_forget_device(port);
		} else
			dpdk_close(port);
	}
	while (count > 0)
		(void)pthread_join(threads[--count], NULL);
}

/* What the workers poll without this port, in the same order. */
static void
dpdk_forget(const struct dpdk_port *port)
{
	for (uint32_t worker = 0; worker < dpdk_workers; worker++) {
		struct worker_ports *served = dpdk_worker_ports[worker];
		uint32_t kept = 0;

		for (uint32_t i = 0; i < served->source_count; i++)
			if (!dpdk_source_is_of(&served->sources[i], port))
				served->sources[kept++] = served->sources[i];
		served->source_count = kept;
	}
}

int
dpdk_add(uint16_t number, char *error)
{
	struct dpdk_port *port = dpdk_port_of(number);

	if (!port->open)
		return port_fail(error, "port %u is not open", number);
	/* The place may be that of a port that has been removed. */
	for (uint32_t worker = 0; worker < dpdk_workers; worker++)
		atomic_store(&dpdk_worker_ports[worker]->sent[port - dpdk_ports], 0);
	if (dpdk_serve(port, error) == 0)
		return 0;
	dpdk_remove(number);
	return -1;
}

void
dpdk_remove(uint16_t number)
{
	struct dpdk_port *port = dpdk_port_of(number);

	if (!port->open)
		return;
	dpdk_forget(port);
	dpdk_close(port);
}
