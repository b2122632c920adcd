/* The in-memory port of the own descriptor: replays a trace into recycled buffers as a NIC would, and takes back what is sent.
 * No DPDK, no network, no clock: equal traces give equal runs. Part of the host; the same for mbufs is in dpdk_memory.c. */
#ifndef BACUS_MEMORY_H
#define BACUS_MEMORY_H

#include <stdatomic.h>

#include "packet/own_pool.h"
#include "port/host.h"
#include "port/trace.h"

#define MEMORY_BURST 512u	/* the largest burst that a pipeline may ask for here */

struct memory_port {
	struct trace trace;
	struct overlay overlay;
	uint64_t position;	/* next packet of the trace */
	uint64_t left;		/* packets still to be received */
	uint32_t burst;		/* packets handed over at once, or 0: what the pipeline takes */
	uint32_t logging;
	uint32_t holding;	/* no burst of nothing at the end of a run */
	struct own_pool *own;
	struct sent_log log;
	struct memory_counts counts;
	uint16_t ports[MEMORY_BURST];
	uint16_t lengths[MEMORY_BURST];
	void *packets[MEMORY_BURST];
};

/* NULL when there is no memory. */
struct memory_port *memory_port_create(uint32_t buffers, uint32_t buffer_bytes, uint32_t headroom_bytes);
void memory_port_destroy(struct memory_port *port);
struct pool *memory_port_pool(struct memory_port *port);

/* `packets` packets of the trace come next, from its first on, again and again. `burst`: how many at once, 0 for what the pipeline takes. */
void memory_port_load(struct memory_port *port, const struct trace *trace, uint64_t packets, uint32_t burst);

/* `packets` more, from where the trace was left. */
void memory_port_more(struct memory_port *port, uint64_t packets);

/* While `holding`, a run ends without the empty burst that flushes the pipeline: more packets may come. Meanwhile
 * writers do not wait for the worker: they may do no more than replace a default action, once. */
void memory_port_hold(struct memory_port *port, uint32_t holding);

/* From now on so many of its buffers are there to be filled, as on a device whose ring has so many descriptors. None may be held. */
void memory_port_ring(struct memory_port *port, uint32_t buffers);

/* What has come and gone. */
const struct memory_counts *memory_port_counts(const struct memory_port *port);

/* Free buffers. */
uint32_t memory_port_free(const struct memory_port *port);

/* The log of what was sent, from now on written if `logging`; emptied. */
const struct sent_log *memory_port_log(const struct memory_port *port);
void memory_port_log_restart(struct memory_port *port, uint32_t logging);

/* `host.copy`. */
void memory_port_copy(const void *packet, uint16_t length, uint8_t *to);

/* `worker.flush`, with the port in `worker.host`. */
void memory_port_flush(struct worker *worker);

/* Bursts until `left` is 0, or `*stop` is not 0; then what the pipeline holds is driven out as well, unless `holding`. */
void memory_port_run(struct worker *worker, struct memory_port *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

#endif
