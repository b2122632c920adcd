/* Packet memory of the program's own: buffers of one size, a power of two, aligned to it. A packet is known by the address of its first byte; the buffer
 * it is in, and with it the count of references, by masking that address. One worker's pool is used by that worker alone. */
#ifndef BACUS_OWN_POOL_H
#define BACUS_OWN_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

struct own_pool;

/* In front of each buffer. */
struct own_buffer {
	uint32_t references;	/* 0: in the pool */
	uint32_t unused;
	struct own_pool *pool;
	uint8_t rest[48];
};

/* Bytes at a buffer's end that no packet uses, so that even an empty packet's address is in its buffer, and a load of 8 bytes stays in it. */
#define OWN_TAIL_BYTES 8u

static inline struct own_buffer *
own_buffer(const void *data, uint32_t buffer_bytes)
{
	return (struct own_buffer *)((uintptr_t)data & ~(uintptr_t)(buffer_bytes - 1));
}

/* What a pool needs: memory aligned to `alignment`, or NULL. */
struct own_memory {
	void *(*allocate)(void *host, size_t bytes, size_t alignment);
	void (*release)(void *host, void *memory, size_t bytes);
	void *host;
};

/* Fills `pool` for the ABI: handle, allocate, buffer_bytes, headroom_bytes. 0 on success. `buffer_bytes` is a power of two. */
int own_pool_create(struct pool *pool, uint32_t buffer_bytes, uint32_t headroom_bytes, uint32_t count, const struct own_memory *memory);
void own_pool_destroy(struct pool *pool);

/* `pool->allocate`: a packet's first byte, one reference, full headroom; or NULL. */
void *own_pool_allocate(struct pool *pool);

/* Takes one reference off; the last one gives the buffer back. `data`: any address in it. */
void own_pool_free(struct pool *pool, void *data);

/* Buffers that are not in use. */
uint32_t own_pool_free_count(const struct pool *pool);

/* Bytes that a packet with full headroom may have. */
uint32_t own_pool_room(const struct pool *pool);

#endif
