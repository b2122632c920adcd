/* Own packet memory: buffers that a worker hands out and takes back, last one first. A packet is the address of its first byte.
 *
 * A buffer is `buffer_bytes` long and aligned to that, so the buffer of a packet is its address with the low bits gone, however far the
 * pipeline has moved the front. First bytes are spread over cache lines, or all packets would fall into the same few cache sets: buffers
 * of 2 KB side by side begin in two of a first-level cache's 64 sets, and with 16 lines for each pair in 32. */
#ifndef BACUS_OWN_POOL_H
#define BACUS_OWN_POOL_H

#include "abi.h"

#define OWN_COLOURS 16u
#define OWN_COLOUR_BYTES 64u

struct own_pool {
	struct pool pool;	/* what the pipeline sees; `handle` is this */
	void **free;		/* a stack of first bytes */
	uint32_t free_count;
	uint32_t count;		/* buffers */
	uint32_t shift;		/* log2 of buffer_bytes */
	uint32_t shared;	/* holders beyond the first, of all buffers: while it is 0 `holders` need not be read */
	uint8_t *memory;	/* the first buffer */
	uint8_t *region;	/* what it was cut from */
	size_t bytes;
	uint8_t *holders;	/* by buffer: holders beyond the first. Only the worker that owns the pool writes them. */
};

/* NULL when there is no memory. `buffer_bytes` is a power of two, above headroom and colours. */
struct own_pool *own_create(uint32_t count, uint32_t buffer_bytes, uint32_t headroom_bytes);
void own_destroy(struct own_pool *own);

/* Bytes that a packet may have: what is left of a buffer behind headroom and colours. */
static inline uint32_t
own_capacity(const struct own_pool *own)
{
	return own->pool.buffer_bytes - own->pool.headroom_bytes - OWN_COLOURS * OWN_COLOUR_BYTES;
}

static inline uint32_t
own_number(const struct own_pool *own, const void *packet)
{
	return (uint32_t)((uint64_t)((const uint8_t *)packet - own->memory) >> own->shift);
}

/* Where a packet begins when it arrives, by any address in its buffer. */
static inline void *
own_front(const struct own_pool *own, const void *packet)
{
	const uintptr_t at = (uintptr_t)packet;
	const uintptr_t colour = at >> (own->shift + 1) & (OWN_COLOURS - 1);

	return (void *)((at & ~(uintptr_t)(own->pool.buffer_bytes - 1)) + own->pool.headroom_bytes + colour * OWN_COLOUR_BYTES);
}

/* A further holder of a packet that will not be written. 0 on success; more than 255 need a copy. */
static inline int
own_share(struct own_pool *own, const void *packet)
{
	uint8_t *holders = &own->holders[own_number(own, packet)];

	if (*holders == UINT8_MAX)
		return -1;
	++*holders;
	own->shared++;
	return 0;
}

/* One holder less, where some packet has several; with the last the buffer is free. */
static inline void
own_free_shared(struct own_pool *own, void *const *packets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *holders = &own->holders[own_number(own, packets[i])];

		if (*holders != 0) {
			--*holders;
			own->shared--;
		} else {
			own->free[own->free_count++] = own_front(own, packets[i]);
		}
	}
}

/* Takes packets back. Packets are rarely shared; if none is, this is a copy of addresses, reset to the front of their buffers. */
static inline void
own_free(struct own_pool *own, void *const *packets, uint32_t count)
{
	const struct own_pool fixed = *own;
	void **top = fixed.free + fixed.free_count;

	if (__builtin_expect(fixed.shared != 0, 0)) {
		own_free_shared(own, packets, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		top[i] = own_front(&fixed, packets[i]);
	own->free_count += count;
}

#endif
