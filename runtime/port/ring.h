/* A bounded queue of messages between two threads, one of which writes and one of which reads. Neither waits, locks or allocates.
 *
 * A message is contiguous: its head, and its bytes rounded up to 8. Where it does not fit in front of the memory's end, the rest stays empty. A message that
 * finds no room is lost, and counted: those that are in the queue stay. Part of the host.
 *
 *    memory    | m3 | free ..          | m1 | m2 | skip |      positions only grow; memory is position modulo size
 *              ^ written modulo size    ^ read
 *
 *    writer                                      reader
 *    load read (acquire): bytes up to it free    load written (acquire): messages up to it whole
 *    message into memory                         message out of memory
 *    store written (release)                     store read (release)
 *
 * Each index has one thread that stores it, and a line of its own: the other thread's stores do not slow it down. */
#ifndef BACUS_RING_H
#define BACUS_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SKIP UINT32_MAX	/* in place of a length: the next message is at the memory's begin */
#define RING_LINE 64

struct ring_head {
	uint32_t bytes;
	uint32_t tag;		/* of the writer's own meaning */
};

struct ring {
	uint8_t *memory;
	uint64_t bytes;		/* a power of two */
	/* The writer's. */
	_Alignas(RING_LINE) _Atomic uint64_t written;
	uint64_t reserved;	/* the end of the message that is being written */
	_Atomic uint64_t lost;
	/* The reader's. */
	_Alignas(RING_LINE) _Atomic uint64_t read;
};

static inline uint64_t
ring_size(uint32_t bytes)
{
	return sizeof(struct ring_head) + (((uint64_t)bytes + 7) & ~(uint64_t)7);
}

static inline struct ring_head *
ring_at(const struct ring *ring, uint64_t position)
{
	return (struct ring_head *)(void *)(ring->memory + (position & (ring->bytes - 1)));
}

/* Room for the bytes of a message, which `ring_commit` then publishes; NULL: there is none, and the message is lost.
 * Nothing is visible before `ring_commit`, a skipped end neither. A head always fits in front of the end, for
 * positions are multiples of 8. */
static inline uint8_t *
ring_reserve(struct ring *ring, uint32_t tag, uint32_t bytes)
{
	const uint64_t read = atomic_load_explicit(&ring->read, memory_order_acquire), need = ring_size(bytes);
	uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
	const uint64_t front = ring->bytes - (at & (ring->bytes - 1)), skipped = need <= front ? 0 : front;

	if (skipped + need > ring->bytes - (at - read)) {
		const uint64_t lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);

		atomic_store_explicit(&ring->lost, lost + 1, memory_order_relaxed);
		return NULL;
	}
	if (skipped != 0)
		ring_at(ring, at)->bytes = RING_SKIP;
	at += skipped;
	*ring_at(ring, at) = (struct ring_head){ bytes, tag };
	ring->reserved = at + need;
	return (uint8_t *)(ring_at(ring, at) + 1);
}

static inline void
ring_commit(struct ring *ring)
{
	atomic_store_explicit(&ring->written, ring->reserved, memory_order_release);
}

/* The oldest message, whose bytes follow its head; NULL: there is none. It stays until `ring_release`. */
static inline const struct ring_head *
ring_first(struct ring *ring)
{
	const uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
	uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);

	if (at == written)
		return NULL;
	if (ring_at(ring, at)->bytes == RING_SKIP) {
		/* A skipped end is published together with the message behind it. */
		at += ring->bytes - (at & (ring->bytes - 1));
		atomic_store_explicit(&ring->read, at, memory_order_release);
	}
	return ring_at(ring, at);
}

/* Lets go of the message that `ring_first` gave. */
static inline void
ring_release(struct ring *ring, const struct ring_head *head)
{
	const uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);

	atomic_store_explicit(&ring->read, at + ring_size(head->bytes), memory_order_release);
}

/* NULL: no memory. `bytes`: a power of two; a message and its head take at most half of it. A larger message
 * could find the queue empty and yet no contiguous room for it. */
struct ring *ring_create(uint64_t bytes);
void ring_destroy(struct ring *ring);

/* The same, for the part of the host that is not C. */
uint8_t *ring_host_reserve(struct ring *ring, uint32_t tag, uint32_t bytes);
void ring_host_commit(struct ring *ring);
const struct ring_head *ring_host_first(struct ring *ring);
void ring_host_release(struct ring *ring, const struct ring_head *head);
int ring_host_is_empty(const struct ring *ring);
uint64_t ring_host_lost(const struct ring *ring);
uint64_t ring_host_waiting(const struct ring *ring);

#endif
