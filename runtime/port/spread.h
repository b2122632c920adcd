/* Packets of a flow are processed by one worker, whatever worker has received them. Part of each port layer.
 *
 * The compiler names the parts of a packet by which state asks to spread packets, and where they lie: steps of a tree. Their hash names the worker.
 * A packet for another worker goes through a ring of pointers, which one worker writes and one reads. Nothing is lost there: while a ring has no room,
 * the worker takes nothing from its ports, whose own queues then fill up, and count what they lose.
 *
 *    slots   | back .. read | read .. written | free ..      positions only grow; the slot is position modulo size
 *              given back     handed over
 *
 *    writer                                      reader
 *    slots, then written (release)               load written (acquire): slots up to it whole
 *    load read (acquire): slots up to it read    copies or takes the packets, then read (release)
 *
 * `staged` and `back` are the writer's alone, and others read how much is held.
 *
 * A change of steps has an order. First, SPREAD_WAIT keeps packets in the queues of the ports. When the rings are empty, the new steps are set. So a packet in
 * a ring always goes to the worker that the current steps name. Workers also empty rings without steps.
 *
 * Buffers of own descriptors belong to the pool of one worker: the reader copies the packet, and the writer takes the buffer back. mbufs go as they are. */
#ifndef BACUS_SPREAD_H
#define BACUS_SPREAD_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>

#include "port/host.h"

#define SPREAD_WORKERS 64u
#define SPREAD_SLOTS 1024u	/* of a ring, at most */
#define SPREAD_SLOTS_LEAST 64u	/* a burst: with less, workers take packets from their ports one by one */
#define SPREAD_BYTES 512u	/* at a packet's front, which steps may read */
#define SPREAD_HERE UINT32_MAX	/* the packet stays with the worker that has received it */
#define SPREAD_MULTIPLIER 0x9e3779b97f4a7c15ull

enum spread_kind {
	SPREAD_TEST,	/* goes on if the value, under `mask`, is from `low` to `high`; else at the step `otherwise` */
	SPREAD_MIX,	/* takes the value into the hash */
	SPREAD_DONE,	/* the hash is complete */
	SPREAD_KEEP,	/* the packet stays */
	SPREAD_WAIT,	/* alone: packets wait at their ports */
};

/* `crates/runtime/src/layer.rs` mirrors this by hand. */
struct spread_step {
	uint32_t kind;		/* enum spread_kind */
	uint32_t bit;		/* of the value in the packet */
	uint32_t width;		/* 1 to 56 bits; 0: the value is the port's number */
	uint32_t otherwise;
	uint64_t mask;
	uint64_t low;
	uint64_t high;
};

/* A packet for another worker. */
struct spread_slot {
	void *packet;
	uint16_t length;	/* of own descriptors */
	uint16_t port;
	uint32_t received;	/* 1: its port has counted it; 0: it is the control plane's */
};

struct spread_ring {
	/* The writer's. */
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t staged;	/* written, and not yet handed over */
	_Atomic uint64_t back;	/* buffers of the slots before it are the writer's again */
	/* The reader's. */
	_Alignas(64) _Atomic uint64_t read;
	_Alignas(64) uint64_t size;	/* a power of two */
	struct spread_slot *slots;
};

/* What all workers of the layer have in common. Changes only while no worker is within a burst. */
struct spread {
	uint32_t workers;
	uint32_t count;		/* 0: packets stay where they are */
	struct spread_step *steps;
	struct spread_ring *rings[SPREAD_WORKERS][SPREAD_WORKERS];	/* by writer and reader; NULL: none */
	struct host *_Atomic hosts[SPREAD_WORKERS];	/* of workers that have run */
};

extern struct spread spread;

/* From now on packets are spread by these steps; 0: they are not. Of `buffers` the rings of all workers hold a quarter at most. 0, or the message of a failure
 * goes to `error`. */
int spread_set(uint32_t workers, const struct spread_step *steps, uint32_t count, uint32_t buffers, char *error);

/* Packets of a port that its worker has received, and no other has taken yet; and their bytes. */
uint32_t spread_waiting_of(uint16_t port, uint64_t *bytes);

/* Slots whose packets no worker has taken back. */
uint32_t spread_held(void);

/* Slots whose packets no other worker has taken. */
uint32_t spread_untaken(void);

/* Whether packets wait for a worker. */
int spread_waits(uint32_t worker);

/* Wakes the workers to which packets have been handed, if they sleep. */
void spread_rouse(uint32_t worker);

static inline int
spread_is_on(void)
{
	return spread.count != 0;
}

/* The bits, and those before them in their first byte, are in 64. */
static inline uint64_t
spread_value(const struct spread_step *step, const uint8_t *bytes)
{
	const uint32_t first = step->bit / 8, end = step->bit + step->width;
	uint64_t value = 0;

	for (uint32_t byte = first; byte * 8 < end; byte++)
		value = value << 8 | bytes[byte];
	return value >> (-end & 7) & (UINT64_MAX >> (64 - step->width));
}

/* The worker of a packet, of which so many bytes lie at `bytes`. */
static inline uint32_t
spread_worker(const uint8_t *bytes, uint32_t length, uint16_t port)
{
	const struct spread_step *step = spread.steps;
	uint64_t hash = 0;

	while (step->kind != SPREAD_DONE) {
		uint64_t value = port;

		if (step->kind >= SPREAD_KEEP || step->bit + step->width > 8 * length)
			return SPREAD_HERE;
		if (step->width != 0)
			value = spread_value(step, bytes);
		if (step->kind == SPREAD_MIX) {
			hash = (hash ^ value) * SPREAD_MULTIPLIER;
			hash ^= hash >> 32;
			step++;
			continue;
		}
		value &= step->mask;
		step = value >= step->low && value <= step->high ? step + 1 : &spread.steps[step->otherwise];
	}
	return (uint32_t)((hash * SPREAD_MULTIPLIER >> 32) * spread.workers >> 32);
}

/* A position that its own thread alone writes. */
static inline uint64_t
spread_own(const _Atomic uint64_t *position)
{
	return atomic_load_explicit(position, memory_order_relaxed);
}

/* Packets that the worker may take, whatever other ones they are for. */
static inline uint32_t
spread_room(uint32_t worker)
{
	uint64_t least = UINT32_MAX;

	if (!spread_is_on())
		return UINT32_MAX;
	if (spread.steps->kind == SPREAD_WAIT)
		return 0;
	for (uint32_t other = 0; other < spread.workers; other++) {
		const struct spread_ring *ring = spread.rings[worker][other];
		const uint64_t room = ring == NULL ? least : ring->size - (spread_own(&ring->staged) - spread_own(&ring->back));

		least = room < least ? room : least;
	}
	return (uint32_t)least;
}

/* There is room. */
static inline void
spread_put(uint32_t worker, uint32_t other, struct spread_slot slot)
{
	struct spread_ring *ring = spread.rings[worker][other];
	const uint64_t staged = spread_own(&ring->staged);
	struct spread_slot *to = &ring->slots[staged & (ring->size - 1)];

	/* Who counts what waits may be reading it. */
	to->packet = slot.packet;
	__atomic_store_n(&to->length, slot.length, __ATOMIC_RELAXED);
	__atomic_store_n(&to->port, slot.port, __ATOMIC_RELAXED);
	__atomic_store_n(&to->received, slot.received, __ATOMIC_RELAXED);
	atomic_store_explicit(&ring->staged, staged + 1, memory_order_relaxed);
}

/* The slots whose packets were read are the writer's again. The first of them, of those up to `read`. */
static inline uint64_t
spread_take_back(struct spread_ring *ring, uint64_t read)
{
	const uint64_t back = spread_own(&ring->back);

	atomic_store_explicit(&ring->back, read, memory_order_release);
	return back;
}

/* The next slots for a worker from another one, `most` at most; `spread_take` lets go of them. */
static inline uint32_t
spread_ready(const struct spread_ring *ring, uint32_t most)
{
	const uint64_t count = atomic_load_explicit(&ring->written, memory_order_acquire) - atomic_load_explicit(&ring->read, memory_order_relaxed);

	return count < most ? (uint32_t)count : most;
}

static inline const struct spread_slot *
spread_slot(const struct spread_ring *ring, uint32_t number)
{
	return &ring->slots[(atomic_load_explicit(&ring->read, memory_order_relaxed) + number) & (ring->size - 1)];
}

static inline void
spread_take(struct spread_ring *ring, uint32_t count)
{
	atomic_store_explicit(&ring->read, atomic_load_explicit(&ring->read, memory_order_relaxed) + count, memory_order_release);
}

#endif
