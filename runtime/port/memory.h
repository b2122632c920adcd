/* The in-memory port of the own descriptor: replays a trace into recycled buffers as a NIC would, and takes back what is sent.
 * No DPDK, no network, no clock: equal traces give equal runs. Part of the host; the same for mbufs is in dpdk_memory.c. */
#ifndef BACUS_MEMORY_H
#define BACUS_MEMORY_H

#include <stdatomic.h>

#include "port/host.h"
#include "port/own.h"
#include "port/trace.h"

#define MEMORY_BURST 256u	/* the largest burst that a pipeline may ask for here */

struct memory_port {
	struct trace trace;
	uint64_t position;	/* next packet of the trace */
	uint64_t left;		/* packets still to be received */
	uint32_t burst;		/* packets handed over at once, or 0: what the pipeline takes */
	uint32_t stopped;	/* an assertion has failed: no burst any more */
	struct own_pool *own;
	struct sent_log *log;	/* NULL: what is sent is counted only */
	uint64_t received;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t sent_ports;	/* sum of port numbers: evidence that two runs did the same */
	uint64_t released;
	uint64_t starved;	/* packets lost for want of a buffer */
	uint16_t ports[MEMORY_BURST];
	uint16_t lengths[MEMORY_BURST];
	void *packets[MEMORY_BURST];
};

/* `worker.flush`, with the port in `worker.host`. */
void memory_flush(struct worker *worker);

/* Bursts until `left` is 0 (then what the pipeline holds is driven out as well), an assertion fails, or `*stop` is not 0. */
void memory_run(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

#endif
