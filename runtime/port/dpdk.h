/* The DPDK port layer: a shared object of its own, loaded once by the host, so that everything else works without DPDK.
 *
 * A port is any ethdev: a NIC by its PCI address, or a virtual device by its devargs. A worker's ports are what that worker
 * serves: a receive queue of some ports, and a queue to send by for each of them. */
#ifndef BACUS_DPDK_H
#define BACUS_DPDK_H

#include <stdatomic.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "port/layer.h"
#include "port/trace.h"

#define DPDK_NUMBERS 65536u	/* numbers that ports may have: 0 .. 65535 */
#define DPDK_PORTS 512u		/* places of open ports; the first is that of numbers which no port has */
#define DPDK_WORKERS 64u
#define DPDK_BURST 512u		/* the largest burst that a pipeline may ask for here */
#define DPDK_CACHE 256u		/* mbufs that each worker keeps at hand */

struct dpdk_copying;
struct interface;
struct interface_packets;

/* Counts that a device keeps, and forgets when its other end goes (as memif does): what was seen last, and the sum of all before. */
struct dpdk_kept {
	uint64_t last;
	uint64_t before;
};

/* An open ethdev, or an interface of the kernel. */
struct dpdk_port {
	struct interface *interface;	/* NULL: an ethdev */
	uint16_t device;
	uint16_t number;	/* as the program knows it */
	uint16_t queues;	/* for either direction */
	uint16_t open;
	uint32_t served;	/* 1: workers poll it, and send by it. Changes only while no worker is within a burst */
	uint16_t descriptors;	/* that a queue is to have, if the device lets them be chosen */
	uint32_t slot_bytes;	/* frames of so many bytes may have been longer, and are then truncated; 0: the device truncates none */
	uint32_t ends;		/* 1: a capture, from which nothing comes behind the first empty burst */
	rte_spinlock_t lock;	/* of the transmit queues, where workers share them */
	uint32_t shared;	/* 1: they do */
	_Atomic uint32_t disabled;	/* 1: nothing is received or sent */
	_Atomic uint64_t unsent;
	struct dpdk_kept received_bytes, sent_bytes, missed, errors, refused;
};

/* A receive queue that a worker polls. */
struct dpdk_source {
	struct interface *interface;	/* NULL: an ethdev */
	_Atomic uint64_t received;	/* packets, of an ethdev */
	_Atomic uint64_t truncated;	/* frames, of an ethdev; dropped */
	_Atomic uint64_t discarded;	/* packets that came while the port was disabled */
	_Atomic uint64_t discarded_bytes;
	_Atomic uint32_t disabled;	/* as its port */
	uint32_t slot_bytes;	/* of its port */
	uint32_t ends;		/* of its port */
	uint16_t device;
	uint16_t queue;
	uint16_t numbers[DPDK_BURST];	/* its port's number, once for each packet of a burst */
};

static inline int
dpdk_source_is_of(const struct dpdk_source *source, const struct dpdk_port *port)
{
	return source->interface == port->interface && source->device == port->device;
}

struct worker_ports {
	struct pool pool;	/* what the pipeline sees */
	uint32_t worker;
	uint32_t limit;		/* packets taken at once, or 0: what the pipeline takes */
	uint32_t source_count;
	struct dpdk_source *sources;
	_Atomic uint64_t idle_polls;	/* polls of all sources that found nothing, since the last packet */
	_Atomic uint64_t packets;
	struct rte_mbuf *waiting[DPDK_PORTS][DPDK_BURST];	/* sorted by the port's place, within one flush */
	uint16_t waiting_count[DPDK_PORTS];
	_Atomic uint64_t sent[DPDK_PORTS];	/* packets that ethdevs took */
	_Atomic uint64_t handed;	/* as in `struct port_totals` */
	_Atomic uint64_t nowhere;
	_Atomic uint64_t to_cpu;
	_Atomic uint64_t bursts;
	_Atomic uint64_t busy_ns;
	struct dpdk_copying *copying;	/* NULL: pipelines have the mbufs themselves */
	struct rte_mbuf *packets_in[DPDK_BURST];
	uint16_t lengths_in[DPDK_BURST];	/* of own descriptors */
	uint16_t injected[DPDK_BURST];	/* ports of packets that are injected, or from other workers */
};

struct dpdk_memory;

/* The in-memory port for mbufs, exported as `bacus_dpdk_memory`; as in memory.h. */
struct dpdk_memory_layer {
	struct dpdk_memory *(*create)(uint32_t copies);	/* 1: into own descriptors; NULL: there is no memory */
	void (*destroy)(struct dpdk_memory *port);
	struct pool *(*pool)(struct dpdk_memory *port);
	void (*load)(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst);
	void (*more)(struct dpdk_memory *port, uint64_t packets);
	const struct memory_counts *(*counts)(const struct dpdk_memory *port);
	const struct sent_log *(*log)(const struct dpdk_memory *port);
	void (*log_restart)(struct dpdk_memory *port, uint32_t logging);
	void (*flush)(struct worker *worker);
	void (*run)(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);
};

extern const struct port_layer bacus_layer;
extern const struct port_layer bacus_copying_layer;	/* the same, whose pipelines have own descriptors */
extern struct dpdk_copying *dpdk_copying;	/* NULL: they have mbufs */
extern const struct dpdk_memory_layer bacus_dpdk_memory;

/* Of all workers; made by `start`. */
extern struct rte_mempool *dpdk_mempool;
extern uint32_t dpdk_polls;	/* 1: idle workers do not sleep */
extern struct dpdk_port dpdk_ports[DPDK_PORTS];
extern const struct interface_packets dpdk_interface_packets;
extern uint16_t dpdk_places[DPDK_NUMBERS];	/* by number: where in `dpdk_ports` the port is */

/* The port with a number; one that is not open, if none has it. */
static inline struct dpdk_port *
dpdk_port_of(uint16_t number)
{
	return &dpdk_ports[dpdk_places[number]];
}
extern struct worker_ports *dpdk_worker_ports[DPDK_WORKERS];	/* NULL from some number on */

void *dpdk_allocate(struct pool *pool);

int dpdk_open(uint16_t number, const char *device, uint32_t descriptors, char *error);
int dpdk_open_interface(uint16_t number, const char *name, uint32_t slots, uint32_t kind, char *note, char *error);
int dpdk_ring(uint16_t number, struct port_ring *ring);
int dpdk_begin(uint32_t workers, char *error);
int dpdk_spread_by(const struct spread_step *steps, uint32_t count, char *error);

/* The slots of packets that other workers have taken are free again: mbufs are the reader's. */
void dpdk_take_back(uint32_t worker);
int dpdk_add(uint16_t number, char *error);
void dpdk_remove(uint16_t number);
struct worker_ports *dpdk_ports_of(uint32_t worker);
int dpdk_counts(uint16_t number, struct port_counts *counts);
int dpdk_enable(uint16_t number, uint32_t enabled, char *error);
int dpdk_watch(uint16_t number, uint32_t *enabled);
uint32_t dpdk_inject(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count);
void dpdk_stop(void);

/* Sends as many as the device takes at once: the first so many, which it owns. */
uint16_t dpdk_transmit(struct dpdk_port *port, uint16_t queue, struct rte_mbuf **packets, uint16_t count);

/* Makes `packet`, an empty one, a packet with these bytes, in as many buffers as it takes. 0: out of buffers. */
int dpdk_fill(struct rte_mbuf *packet, const uint8_t *bytes, uint32_t length);

/* `host.copy`. */
void dpdk_copy(const void *packet, uint16_t length, uint8_t *to);

/* Takes up to `limit` injected packets, and their ports. Those for which there is no buffer are lost. */
uint32_t dpdk_injected(struct worker *worker, const struct dpdk_copying *copying, struct rte_mbuf **packets, uint16_t *ports, uint32_t limit);

/* Resumes up to `limit` punted packets. How many went on. */
uint32_t dpdk_resumed(struct worker *worker, const struct dpdk_copying *copying, const struct pipeline *pipeline, uint32_t limit);

/* Takes packets to the control plane's port out of `worker.out`. How many. */
uint32_t dpdk_take_cpu(struct worker *worker, uint32_t cpu_port);

/* Likewise; nothing where there is no such port. */
static inline uint32_t
dpdk_to_cpu(struct worker *worker)
{
	const uint32_t cpu_port = host_cpu_port(worker);

	return __builtin_expect(cpu_port != HOST_NO_PORT, 0) ? dpdk_take_cpu(worker, cpu_port) : 0;
}

void dpdk_flush(struct worker *worker);
void dpdk_run(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

struct dpdk_memory *dpdk_memory_create(uint32_t copies);
void dpdk_memory_destroy(struct dpdk_memory *port);
struct pool *dpdk_memory_pool(struct dpdk_memory *port);
void dpdk_memory_load(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst);
void dpdk_memory_more(struct dpdk_memory *port, uint64_t packets);
const struct memory_counts *dpdk_memory_counts(const struct dpdk_memory *port);
const struct sent_log *dpdk_memory_log(const struct dpdk_memory *port);
void dpdk_memory_log_restart(struct dpdk_memory *port, uint32_t logging);
void dpdk_memory_flush(struct worker *worker);
void dpdk_memory_run(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

#endif
