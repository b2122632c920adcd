/* The port layer without DPDK: interfaces of the kernel, by packet sockets or AF_XDP, and memif. Packets are the program's own descriptors, and the ports
 * fill them: there is no other descriptor to copy from (docs/ports.md).
 *
 * Each worker has a pool of buffers of its own. A buffer returns to the pool that it came from, since the worker that receives a packet also sends it. */
#ifndef BACUS_NATIVE_H
#define BACUS_NATIVE_H

#include "packet/own_pool.h"
#include "port/interface.h"
#include "port/layer.h"
#include "port/memif.h"
#include "port/xdp.h"

#define NATIVE_NUMBERS 65536u	/* numbers that ports may have: 0 .. 65535 */
#define NATIVE_PORTS 512u	/* places of open ports; the first is that of numbers which no port has */
#define NATIVE_WORKERS 64u
#define NATIVE_BURST 512u	/* the largest burst that a pipeline may ask for here */

struct native_port {
	struct interface *interface;	/* NULL: it is no interface of the kernel */
	struct xdp_interface *xdp;	/* NULL: it has packet sockets */
	struct memif *memif;		/* NULL: it is not memif */
	uint16_t number;
	uint32_t served;		/* 1: workers poll it, and send by it. Changes only while no worker is within a burst */
	_Atomic uint32_t disabled;	/* 1: nothing is received or sent */
	_Atomic uint64_t unsent;
	_Atomic uint64_t lost;		/* came, and their workers had no buffer for them */
	_Atomic uint64_t lost_bytes;
	struct xdp_queue *senders[NATIVE_WORKERS];	/* by worker, with AF_XDP */
};

/* A port, or a queue of it, that a worker polls. */
struct native_source {
	struct native_port *port;
	struct xdp_queue *queue;	/* NULL: it has packet sockets, or is memif */
	_Atomic uint64_t discarded;	/* packets that came while the port was disabled */
	_Atomic uint64_t discarded_bytes;
	uint16_t numbers[NATIVE_BURST];	/* its port's number, once for each packet of a burst */
};

struct native_output {
	uint32_t count;
	void *packets[NATIVE_BURST];
	uint16_t lengths[NATIVE_BURST];
};

struct worker_ports {
	struct own_pool *own;
	uint32_t worker;
	uint32_t limit;		/* packets taken at once, or 0: what the pipeline takes */
	uint32_t source_count;
	struct native_source **sources;
	_Atomic uint64_t idle_polls;
	_Atomic uint64_t packets;
	_Atomic uint64_t handed;	/* as in `struct port_totals` */
	_Atomic uint64_t nowhere;
	_Atomic uint64_t to_cpu;
	_Atomic uint64_t bursts;
	_Atomic uint64_t busy_ns;
	struct native_output *outputs[NATIVE_PORTS];	/* by place, within one flush; NULL: no port was ever there */
	void *packets_in[NATIVE_BURST];
	uint16_t lengths_in[NATIVE_BURST];
	uint16_t injected[NATIVE_BURST];	/* ports of packets that are injected, or from other workers */
};

extern struct native_port native_ports[NATIVE_PORTS];
extern uint16_t native_places[NATIVE_NUMBERS];	/* by number: where in `native_ports` the port is */
extern struct worker_ports *native_worker_ports[NATIVE_WORKERS];	/* NULL from some number on */
extern uint32_t native_workers;
extern uint32_t native_polls;	/* 1: idle workers do not sleep */

static inline struct native_port *
native_port_of(uint16_t number)
{
	return &native_ports[native_places[number]];
}

static inline int
native_is_open(const struct native_port *port)
{
	return port->interface != NULL || port->memif != NULL;
}

int native_open(uint16_t number, const char *device, uint32_t descriptors, char *error);
int native_open_interface(uint16_t number, const char *name, uint32_t slots, uint32_t kind, char *note, char *error);
/* The pool of each worker, for frames of so many bytes at least. */
int native_pools(uint32_t frame_bytes, char *error);

/* Bytes of the longest packet. */
uint32_t native_longest(void);

int native_begin(uint32_t workers, char *error);
int native_add(uint16_t number, char *error);
void native_remove(uint16_t number);
int native_counts(uint16_t number, struct port_counts *counts);
int native_enable(uint16_t number, uint32_t enabled, char *error);
int native_watch(uint16_t number, uint32_t *enabled);
uint32_t native_inject(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count);
void native_stop(void);

int native_spread_by(const struct spread_step *steps, uint32_t count, char *error);

void native_flush(struct worker *worker);
void native_run(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const _Atomic uint32_t *stop);
uint64_t native_clock(void);
uint64_t native_tsc_hz(void);

/* A packet of these parts, in a buffer of the pool; NULL: there is none. */
void *native_make(struct pool *pool, const struct iovec *parts, uint32_t count);

#endif
