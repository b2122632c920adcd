/* What `worker.host` points to: the port that the worker drives, and what the control thread hands to it between bursts. Part of the host.
 *
 *    control thread                                worker, at each end of a burst
 *    write a ring, a changeover, the gate          attention == 0: go on (one load)
 *    attention = 1 (seq_cst)                       else attention = 0 (exchange), then look at all of them
 *
 * A call between the exchange and the look is answered at the next end: `attention` is 1 again by then. So no call is lost, and none needs
 * a lock. */
#ifndef BACUS_HOST_H
#define BACUS_HOST_H

#include <stdatomic.h>
#include <stdint.h>

#include "abi.h"
#include "port/ring.h"

#define HOST_NO_PORT UINT32_MAX

struct host {
	void *port;		/* struct memory_port, or the DPDK layer's */
	void *control;		/* the host's own */
	void (*copy)(const void *packet, uint16_t length, uint8_t *to);	/* all bytes of a packet */
	/* Puts the next pipeline in the place of `pipeline`, if there is one, and returns the one that the worker is attached to. */
	const struct pipeline *(*change)(struct worker *worker, const struct pipeline *pipeline);
	_Atomic uint32_t attention;	/* not 0: the control thread has something for the end of this burst */
	_Atomic uint32_t cpu_port;	/* packets to this port are the control plane's; HOST_NO_PORT: there is none */
	struct ring *injected;	/* packets to process as if they were received; the tag is their port */
	struct ring *to_cpu;	/* packets that were sent to `cpu_port` */
	struct ring *resumed;	/* packets that go on where they were punted; the tag is the node */
	/* Written and read by the worker's thread: relaxed. */
	_Atomic uint32_t generation;	/* the pipeline that the worker is attached to */
	/* 1: the worker sleeps. It holds nothing that it has found, so writers do not wait for it; a call of the control thread writes to `rouse`. */
	_Atomic uint32_t sleeping;
	uint64_t mark;	/* of the packet that goes on; 0 between such packets */
	_Atomic uint64_t not_taken;	/* packets of `injected` and `resumed` that were lost: no buffer, or saved by another pipeline */
	int wake;	/* a socket; -1: there is none, and the worker must not sleep */
	int rouse;	/* its other end, which others write to */
	int control_rouse;	/* a socket that wakes the control thread; -1: there is none */
	const _Atomic uint32_t *control_sleeps;	/* 1: it waits until a worker has packets again */
};

/* The front of a punted packet's message, sent to the control plane and back. What was saved follows, rounded up to 8 bytes, then the packet. */
struct host_saved {
	uint32_t saved_bytes;
	uint32_t generation;
	uint64_t mark;	/* what the control plane gave a packet that went on and is punted again; else 0 */
};

/* A message of `resumed`, in its parts. Pointers into the ring: good until the message is released. */
struct host_resumed {
	const uint8_t *saved;	/* aligned to 8 bytes */
	const uint8_t *packet;
	uint32_t length;
	uint32_t node;
	uint64_t mark;
};

/* 0: another pipeline has saved it. */
static inline int
host_resumed(const struct worker *worker, const struct ring_head *head, struct host_resumed *resumed)
{
	const struct host *host = worker->host;
	const struct host_saved *front = (const struct host_saved *)(const void *)(head + 1);
	const uint32_t saved_bytes = (front->saved_bytes + 7) & ~(uint32_t)7;

	resumed->saved = (const uint8_t *)(front + 1);
	resumed->packet = resumed->saved + saved_bytes;
	resumed->length = head->bytes - (uint32_t)sizeof(*front) - saved_bytes;
	resumed->node = head->tag;
	resumed->mark = front->mark;
	return front->generation == atomic_load_explicit(&host->generation, memory_order_relaxed);
}

/* Lets a packet go on in the pipeline that saved it. Should it be punted again, it is known by its mark. */
static inline void
host_resume(struct worker *worker, const struct pipeline *pipeline, void *packet, const struct host_resumed *resumed)
{
	struct host *host = worker->host;

	host->mark = resumed->mark;
	pipeline->resume(worker, packet, (uint16_t)resumed->length, resumed->saved, resumed->node);
	host->mark = 0;
}

static inline void
host_count_not_taken(struct worker *worker)
{
	struct host *host = worker->host;

	atomic_store_explicit(&host->not_taken, atomic_load_explicit(&host->not_taken, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* The port whose packets go to the control plane, or HOST_NO_PORT. */
static inline uint32_t
host_cpu_port(const struct worker *worker)
{
	const struct host *host = worker->host;

	return atomic_load_explicit(&host->cpu_port, memory_order_relaxed);
}

/* Whether the control thread has something for the worker. Between bursts: one load of a line that nearly never changes. */
static inline int
host_calls(struct worker *worker)
{
	struct host *host = worker->host;

	return __builtin_expect(atomic_load_explicit(&host->attention, memory_order_relaxed) != 0, 0);
}

/* Takes what the control thread has, behind a call. Returns the pipeline that the worker is attached to from now on. */
static inline const struct pipeline *
host_answer(struct worker *worker, const struct pipeline *pipeline)
{
	struct host *host = worker->host;

	/* What was written before the call is seen behind it, and a call that comes now is answered at the next end of a burst. */
	(void)atomic_exchange(&host->attention, 0);
	return host->change(worker, pipeline);
}

/* Behind a burst of the control thread's packets: those that are left are taken at the next end of a burst.
 * Relaxed is enough: the worker itself reads it next, and a call of the control thread stores the same. */
static inline void
host_call_again(struct worker *worker)
{
	struct host *host = worker->host;

	if (ring_first(host->injected) != NULL || ring_first(host->resumed) != NULL)
		atomic_store_explicit(&host->attention, 1, memory_order_relaxed);
}

#endif
