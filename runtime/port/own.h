/* Own packet memory: buffers that a worker hands out and takes back, last one first. A packet is the address of its first byte.
 *
 * A buffer is `buffer_bytes` long and aligned to that, so the buffer of a packet is its address with the low bits gone, however far the
 * pipeline has moved the front. First bytes are spread over 16 cache lines, or all packets would fall into the same few cache sets. */
#ifndef BACUS_OWN_H
#define BACUS_OWN_H

#include "abi.h"

#define OWN_COLOURS 16u
#define OWN_COLOUR_BYTES 64u

struct own_pool {
	struct pool pool;	/* what the pipeline sees; `handle` is this */
	void **free;		/* a stack of first bytes */
	uint32_t free_count;
	uint32_t count;		/* buffers */
	uint32_t shift;		/* log2 of buffer_bytes */
	uint32_t shared;	/* holders beyond the first, of all buffers: while it is 0 nobody need look at `holders` */
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

/* Where the packet of buffer `number` begins when it arrives. */
static inline void *
own_first(const struct own_pool *own, uint32_t number)
{
	return own->memory + ((uint64_t)number << own->shift) + own->pool.headroom_bytes + number % OWN_COLOURS * OWN_COLOUR_BYTES;
}

/* A further holder of a packet that nobody will write. 0 on success; more than 255 need a copy. */
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

/* One holder less; with the last the buffer is free. */
static inline void
own_free(struct own_pool *own, void *const *packets, uint32_t count)
{
	void **top = own->free + own->free_count;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t number = own_number(own, packets[i]);

		if (__builtin_expect(own->shared != 0, 0) && own->holders[number] != 0) {
			own->holders[number]--;
			own->shared--;
			continue;
		}
		*top++ = own_first(own, number);
	}
	own->free_count = (uint32_t)(top - own->free);
}

#endif
