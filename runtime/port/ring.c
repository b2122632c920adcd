/* A bounded queue of messages between two threads: its memory, and its functions for the part of the host that is not C.
 * The caller keeps to one thread at each end: `Ring` of crates/runtime/src/ring.rs has this in its contracts. */
#include "port/ring.h"
#include "port/region.h"

struct ring *
ring_create(uint64_t bytes)
{
	struct ring *ring = region_allocate(sizeof(*ring));

	if (ring == NULL)
		return NULL;
	ring->memory = region_allocate(bytes);
	ring->bytes = bytes;
	if (ring->memory == NULL) {
		ring_destroy(ring);
		return NULL;
	}
	return ring;
}

void
ring_destroy(struct ring *ring)
{
	region_release(ring->memory, ring->bytes);
	region_release(ring, sizeof(*ring));
}

uint8_t *
ring_host_reserve(struct ring *ring, uint32_t tag, uint32_t bytes)
{
	return ring_reserve(ring, tag, bytes);
}

void
ring_host_commit(struct ring *ring)
{
	ring_commit(ring);
}

const struct ring_head *
ring_host_first(struct ring *ring)
{
	return ring_first(ring);
}

void
ring_host_release(struct ring *ring, const struct ring_head *head)
{
	ring_release(ring, head);
}

/* By either thread: empty at some moment of the call. */
int
ring_host_is_empty(const struct ring *ring)
{
	return atomic_load_explicit(&ring->read, memory_order_acquire) == atomic_load_explicit(&ring->written, memory_order_acquire);
}

uint64_t
ring_host_lost(const struct ring *ring)
{
	return atomic_load_explicit(&ring->lost, memory_order_relaxed);
}

/* By any thread: bytes that waited at some moment of the call. `read` is loaded first, and never passes `written`. */
uint64_t
ring_host_waiting(const struct ring *ring)
{
	const uint64_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
	const uint64_t waiting = atomic_load_explicit(&ring->written, memory_order_acquire) - read;

	return waiting < ring->bytes ? waiting : ring->bytes;
}
