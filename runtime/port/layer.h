/* What every port layer gives the host: how ports are opened, served, counted and closed, and the loop of a worker. A layer is a shared object of its own.
 *
 *    dpdk*.c    ethdevs, and interfaces of the kernel; packets are mbufs
 *    native*.c  interfaces of the kernel, without DPDK; packets are the program's own descriptors
 *
 * `crates/runtime/src/layer.rs` mirrors these structs by hand. */
#ifndef BACUS_LAYER_H
#define BACUS_LAYER_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "abi.h"
#include "port/host.h"

#define LAYER_VERSION 19u
#define PORT_ERROR_BYTES 512u

/* How much to take, and what the machine offers. */
struct port_settings {
	uint32_t huge;		/* 0: no huge pages */
	uint32_t megabytes;
	uint32_t buffers;	/* packets in flight, of all workers */
	uint32_t buffer_bytes;	/* bytes of a packet that lie side by side, headroom not counted */
	uint32_t vector_bits;	/* of the widest vectors that DPDK's libraries compute with; 0: what they do by themselves, which is 256 */
	uint32_t reads_buffers;	/* 1: a device reads packets in place, by addresses other than this process's */
	uint32_t interfaces;	/* of the kernel, to be opened before the workers begin */
	uint32_t nic_count;	/* NICs to take, and no others: the machine's own must stay with the kernel */
	const char *const *nics;	/* PCI addresses */
	uint32_t polls;		/* 1: idle workers do not sleep */
	uint32_t workers;
	const char *record;	/* folder for captures of interfaces; NULL: none are written */
	uint32_t hears_outgoing;	/* 1: interfaces also take frames that other programs send there, as libpcap's do */
};

struct port_counts {
	uint64_t received;
	uint64_t received_bytes;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t missed;	/* came while no buffer was free, or the ring was full */
	uint64_t errors;	/* came damaged, or in a form that cannot be taken */
	uint64_t unsent;	/* the device did not take them, or reported later that it could not send them */
	uint64_t waiting;	/* came, and nothing has taken them from the ring yet */
	uint32_t link;		/* enum link_state */
	uint32_t speed_mbps;	/* 0: unknown */
	uint32_t enabled;	/* 0: disabled by the user */
};

enum link_state { LINK_DOWN, LINK_UP, LINK_GONE };

/* Packets of one worker so far. */
struct port_totals {
	uint64_t received;
	uint64_t handed;	/* that its pipeline gave to ports, copies among them */
	uint64_t nowhere;	/* of these, the ones for numbers that no port has */
	uint64_t to_cpu;	/* and the ones for the control plane */
	uint64_t bursts;	/* of at least one packet */
	uint64_t busy_ns;	/* from a burst to the next poll */
	uint64_t tsc_hz;	/* cycles of the time-stamp counter in a second */
};

/* Descriptors that a queue may have. */
struct port_ring {
	uint32_t least;
	uint32_t most;
};

struct spread_step;	/* spread.h */
struct worker_ports;	/* what one worker serves; each layer has its own */

/* What a layer exports, as `bacus_layer`. Functions that can fail return 0 on success and write a sentence to `error`. */
struct port_layer {
	uint32_t version;
	uint32_t descriptor;	/* enum descriptor, of the packets */
	int (*start)(const struct port_settings *settings, char *error);
	int (*open)(uint16_t number, const char *device, uint32_t descriptors, char *error);	/* 0 descriptors: the default number */
	/* Of the kernel; 0 slots: the default number. `note`: a sentence on how it is connected, and why; may be empty. */
	int (*open_interface)(uint16_t number, const char *name, uint32_t slots, uint32_t kind, char *note, char *error);
	int (*ring)(uint16_t number, struct port_ring *ring);	/* of an open port; not 0 if the device does not let it be chosen */
	int (*begin)(uint32_t workers, char *error);	/* when all ports are open */
	int (*add)(uint16_t number, char *error);	/* an open port, to those that are served; no worker is within a burst. If it fails, the port is closed */
	void (*remove)(uint16_t number);	/* likewise; closes the port */
	int (*spread)(const struct spread_step *steps, uint32_t count, char *error);	/* likewise: packets go to workers by these steps; 0: they stay where they come */
	struct worker_ports *(*ports_of)(uint32_t worker);
	struct pool *(*worker_pool)(struct worker_ports *served);
	void (*worker_limit)(struct worker_ports *served, uint32_t packets);	/* taken at once, from the next run on; 0: what the pipeline takes */
	uint32_t (*longest)(void);	/* bytes of the longest packet */
	uint64_t (*clock)(void);	/* what a worker's clock shows before its first burst */
	void (*flush)(struct worker *worker);
	void (*copy)(const void *packet, uint16_t length, uint8_t *to);
	void (*run)(struct worker *worker, struct worker_ports *served, const struct pipeline *pipeline, const _Atomic uint32_t *stop);
	uint64_t (*idle_polls)(const struct worker_ports *served);
	uint64_t (*packets)(const struct worker_ports *served);	/* taken so far */
	void (*totals)(const struct worker_ports *served, struct port_totals *totals);
	int (*counts)(uint16_t number, struct port_counts *counts);
	int (*enable)(uint16_t number, uint32_t enabled, char *error);	/* or disables: links are taken down, and packets of both directions dropped */
	int (*watch)(uint16_t number, uint32_t *enabled);	/* enum link_state; takes an interface again that is back. -1: the port is not open */
	uint32_t (*inject)(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count);	/* copies sent, while no worker runs */
	void (*stop)(void);		/* closes all ports, so that captures are whole, and gives devices back: they may be opened again */
	uint32_t (*held)(void);		/* buffers that are not free */
	uint32_t (*untaken)(void);	/* packets that workers have for others, which have not taken them */
	uint32_t (*length)(const void *packet);	/* bytes of a packet, where a burst does not have them; else NULL */
};

/* How an interface of the kernel is connected. */
enum interface_kind { INTERFACE_ANY, INTERFACE_PACKET, INTERFACE_XDP };

/* Writes a sentence, and returns -1. */
static inline int __attribute__((format(printf, 2, 3)))
port_fail(char *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, PORT_ERROR_BYTES, format, arguments);
	va_end(arguments);
	return -1;
}

/* A count that one thread writes and others read. A load and a store, without a locked instruction: no other
 * thread adds to it. */
static inline void
port_count(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* Packets that are no longer counted as received, but elsewhere. They may be of a port that had the number before, and no count goes below 0. */
static inline void
port_not_received(struct port_counts *counts, uint64_t packets, uint64_t bytes)
{
	counts->received -= packets < counts->received ? packets : counts->received;
	counts->received_bytes -= bytes < counts->received_bytes ? bytes : counts->received_bytes;
}

/* The end of a burst, made known to writers. The worker alone writes it: a plain addition, published. */
static inline void
port_quiescent(struct worker *worker)
{
	/* A full fence, as in memory.c: what the next burst reads must not be read before writers can see that
	 * this one is over. */
	atomic_fetch_add(&worker->quiescent, 1);
}

/* A lock that is held for a burst at most. */
struct port_lock {
	atomic_flag taken;
};

static inline void
port_lock(struct port_lock *lock)
{
	while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
		__builtin_ia32_pause();
}

static inline void
port_unlock(struct port_lock *lock)
{
	atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

#endif
