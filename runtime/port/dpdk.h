/* The DPDK port layer: a shared object of its own, loaded once by the host, so that everything else works without DPDK.
 *
 * A port is any ethdev: a NIC by its PCI address, or a virtual device by its devargs. A lane is what one worker serves: a receive queue of some
 * ports, and a queue to send by for each of them. */
#ifndef BACUS_DPDK_H
#define BACUS_DPDK_H

#include <stdatomic.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_spinlock.h>

#include "abi.h"
#include "port/host.h"
#include "port/trace.h"

#define DPDK_VERSION 11u
#define DPDK_NUMBERS 65536u	/* numbers that ports may have: 0 .. 65535 */
#define DPDK_PORTS 512u		/* places of open ports; the first is that of numbers which no port has */
#define DPDK_WORKERS 64u
#define DPDK_BURST 512u		/* the largest burst that a pipeline may ask for here */
#define DPDK_CACHE 256u		/* mbufs that each worker keeps at hand */
#define DPDK_ERROR_BYTES 512u

/* How much to take, and what the machine offers. */
struct dpdk_settings {
	uint32_t huge;		/* 0: no huge pages */
	uint32_t megabytes;
	uint32_t buffers;	/* packets in flight, of all workers */
	uint32_t buffer_bytes;	/* bytes of a packet that lie side by side, headroom not counted */
	uint32_t vector_bits;	/* of the widest vectors that DPDK's libraries compute with; 0: what they do by themselves, which is 256 */
	uint32_t reads_buffers;	/* 1: a device reads packets in place, by addresses other than this process's */
	uint32_t interfaces;	/* of the kernel, to be opened before the workers begin */
	uint32_t nic_count;	/* NICs to take, and no others: the machine's own must stay with the kernel */
	const char *const *nics;	/* PCI addresses */
};

struct dpdk_counts {
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
struct dpdk_totals {
	uint64_t received;
	uint64_t handed;	/* that its pipeline gave to ports, copies among them */
	uint64_t nowhere;	/* of these, the ones for numbers that no port has */
	uint64_t to_cpu;	/* and the ones for the control plane */
	uint64_t bursts;	/* of at least one packet */
	uint64_t busy_ns;	/* from a burst to the next poll */
	uint64_t tsc_hz;	/* cycles of the time-stamp counter in a second */
};

/* Descriptors that a queue may have. */
struct dpdk_ring {
	uint32_t least;
	uint32_t most;
};

struct interface;

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
	rte_spinlock_t lock;	/* of the transmit queues, where workers share them */
	uint32_t shared;	/* 1: they do */
	_Atomic uint32_t disabled;	/* 1: nothing is received or sent */
	_Atomic uint64_t unsent;
	struct dpdk_kept received_bytes, sent_bytes, missed, errors, refused;
};

/* A receive queue that a lane polls. */
struct dpdk_source {
	struct interface *interface;	/* NULL: an ethdev */
	_Atomic uint64_t received;	/* packets, of an ethdev */
	_Atomic uint64_t truncated;	/* frames, of an ethdev; dropped */
	_Atomic uint64_t discarded;	/* packets that came while the port was disabled */
	_Atomic uint64_t discarded_bytes;
	_Atomic uint32_t disabled;	/* as its port */
	uint32_t slot_bytes;	/* of its port */
	uint16_t device;
	uint16_t queue;
	uint16_t numbers[DPDK_BURST];	/* its port's number, once for each packet of a burst */
};

static inline int
dpdk_source_is_of(const struct dpdk_source *source, const struct dpdk_port *port)
{
	return source->interface == port->interface && source->device == port->device;
}

struct dpdk_lane {
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
	_Atomic uint64_t handed;	/* as in `struct dpdk_totals` */
	_Atomic uint64_t nowhere;
	_Atomic uint64_t to_cpu;
	_Atomic uint64_t bursts;
	_Atomic uint64_t busy_ns;
	struct rte_mbuf *packets_in[DPDK_BURST];
	uint16_t injected[DPDK_BURST];	/* ports of injected packets */
};

struct dpdk_memory;

/* What the layer exports, as `bacus_dpdk`. Functions that can fail return 0 on success and write a sentence to `error`. */
struct dpdk_layer {
	uint32_t version;
	uint32_t unused;
	int (*start)(const struct dpdk_settings *settings, char *error);
	int (*open)(uint16_t number, const char *device, uint32_t descriptors, char *error);	/* 0 descriptors: the default number */
	int (*open_interface)(uint16_t number, const char *name, uint32_t slots, char *error);	/* of the kernel; 0 slots: the default number */
	int (*ring)(uint16_t number, struct dpdk_ring *ring);	/* of an open port; not 0 if the device does not let it be chosen */
	int (*begin)(uint32_t workers, char *error);	/* when all ports are open */
	int (*add)(uint16_t number, char *error);	/* an open port, to those that are served; no worker is within a burst. If it fails, the port is closed */
	void (*remove)(uint16_t number);	/* likewise; closes the port */
	struct dpdk_lane *(*lane)(uint32_t worker);
	struct pool *(*lane_pool)(struct dpdk_lane *lane);
	void (*lane_limit)(struct dpdk_lane *lane, uint32_t packets);	/* taken at once, from the next run on; 0: what the pipeline takes */
	void (*flush)(struct worker *worker);
	void (*copy)(const void *packet, uint16_t length, uint8_t *to);
	void (*run)(struct worker *worker, struct dpdk_lane *lane, const struct pipeline *pipeline, const _Atomic uint32_t *stop);
	uint64_t (*idle_polls)(const struct dpdk_lane *lane);
	uint64_t (*packets)(const struct dpdk_lane *lane);	/* taken so far */
	void (*totals)(const struct dpdk_lane *lane, struct dpdk_totals *totals);
	int (*counts)(uint16_t number, struct dpdk_counts *counts);
	int (*enable)(uint16_t number, uint32_t enabled, char *error);	/* or disables: links are taken down, and packets of both directions dropped */
	int (*watch)(uint16_t number, uint32_t *enabled);	/* enum link_state; takes an interface again that is back. -1: the port is not open */
	uint32_t (*inject)(uint16_t number, const uint8_t *frame, uint32_t length, uint32_t count);	/* copies sent, while no worker runs */
	void (*stop)(void);		/* closes all ports, so that captures are whole, and gives devices back: they may be opened again */
	uint32_t (*held)(void);		/* buffers that are not free */
	/* The in-memory port for mbufs; as in memory.h. */
	struct dpdk_memory *(*memory_create)(void);
	void (*memory_destroy)(struct dpdk_memory *port);
	struct pool *(*memory_pool)(struct dpdk_memory *port);
	void (*memory_load)(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst);
	void (*memory_more)(struct dpdk_memory *port, uint64_t packets);
	const struct memory_counts *(*memory_counts)(const struct dpdk_memory *port);
	const struct sent_log *(*memory_log)(const struct dpdk_memory *port);
	void (*memory_log_restart)(struct dpdk_memory *port, uint32_t logging);
	void (*memory_flush)(struct worker *worker);
	void (*memory_run)(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);
};

extern const struct dpdk_layer bacus_dpdk;

/* Of all workers; made by `start`. */
extern struct rte_mempool *dpdk_mempool;
extern struct dpdk_port dpdk_ports[DPDK_PORTS];
extern uint16_t dpdk_places[DPDK_NUMBERS];	/* by number: where in `dpdk_ports` the port is */

/* The port with a number; one that is not open, if none has it. */
static inline struct dpdk_port *
dpdk_port_of(uint16_t number)
{
	return &dpdk_ports[dpdk_places[number]];
}
extern struct dpdk_lane *dpdk_lanes[DPDK_WORKERS];	/* NULL from some number on */

void *dpdk_allocate(struct pool *pool);
int dpdk_fail(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

int dpdk_open(uint16_t number, const char *device, uint32_t descriptors, char *error);
int dpdk_open_interface(uint16_t number, const char *name, uint32_t slots, char *error);
int dpdk_ring(uint16_t number, struct dpdk_ring *ring);
int dpdk_begin(uint32_t workers, char *error);
int dpdk_add(uint16_t number, char *error);
void dpdk_remove(uint16_t number);
struct dpdk_lane *dpdk_lane(uint32_t worker);
int dpdk_counts(uint16_t number, struct dpdk_counts *counts);
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
uint32_t dpdk_injected(struct worker *worker, struct rte_mbuf **packets, uint16_t *ports, uint32_t limit);

/* Resumes up to `limit` punted packets. How many went on. */
uint32_t dpdk_resumed(struct worker *worker, const struct pipeline *pipeline, uint32_t limit);

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
void dpdk_run(struct worker *worker, struct dpdk_lane *lane, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

struct dpdk_memory *dpdk_memory_create(void);
void dpdk_memory_destroy(struct dpdk_memory *port);
struct pool *dpdk_memory_pool(struct dpdk_memory *port);
void dpdk_memory_load(struct dpdk_memory *port, const struct trace *trace, uint64_t packets, uint32_t burst);
void dpdk_memory_more(struct dpdk_memory *port, uint64_t packets);
const struct memory_counts *dpdk_memory_counts(const struct dpdk_memory *port);
const struct sent_log *dpdk_memory_log(const struct dpdk_memory *port);
void dpdk_memory_log_restart(struct dpdk_memory *port, uint32_t logging);
void dpdk_memory_flush(struct worker *worker);
void dpdk_memory_run(struct worker *worker, struct dpdk_memory *port, const struct pipeline *pipeline, const _Atomic uint32_t *stop);

/* A count that one thread writes and others read. A load and a store, without a locked instruction: no other
 * thread adds to it. */
static inline void
dpdk_count(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more, memory_order_relaxed);
}

/* The end of a burst, made known to writers. The worker alone writes it: a plain addition, published. */
static inline void
dpdk_quiescent(struct worker *worker)
{
	/* A full fence, as in memory.c: what the next burst reads must not be read before writers can see that
	 * this one is over. */
	atomic_fetch_add(&worker->quiescent, 1);
}

#endif
