/* What `worker.host` points to: the port that the worker drives, and what the control thread hands to it between bursts. Part of the host. */
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
	const uint8_t *(*bytes)(const void *packet);	/* first byte of a packet; NULL: `packet` is its address */
	/* Puts the next pipeline in the place of `pipeline`, if there is one, and returns the one that the worker is attached to. */
	const struct pipeline *(*change)(struct worker *worker, const struct pipeline *pipeline);
	_Atomic uint32_t attention;	/* not 0: the control thread has something for the end of this burst */
	_Atomic uint32_t cpu_port;	/* packets to this port are the control plane's; HOST_NO_PORT: there is none */
	struct ring *injected;	/* packets to process as if they were received; the tag is their port */
	struct ring *to_cpu;	/* packets that were sent to `cpu_port` */
};

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

/* Behind a burst of injected packets: those that are left are taken at the next end of a burst. */
static inline void
host_call_again(struct worker *worker)
{
	struct host *host = worker->host;

	if (ring_first(host->injected) != NULL)
		atomic_store_explicit(&host->attention, 1, memory_order_relaxed);
}

#endif
