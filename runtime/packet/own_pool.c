/* Buffers of one size in one piece of memory, and a stack of the free ones, so that the buffer used last, which is still in cache, is used next. */
#include "packet/own_pool.h"

#include <string.h>

struct own_pool {
	uint32_t buffer_bytes;
	uint32_t headroom_bytes;
	uint32_t count;
	uint32_t free_count;
	uint8_t *buffers;
	struct own_memory memory;
	void *free[];
};

static size_t
own_pool_bytes(uint32_t count)
{
	return sizeof(struct own_pool) + count * sizeof(void *);
}

int
own_pool_create(struct pool *pool, uint32_t buffer_bytes, uint32_t headroom_bytes, uint32_t count, const struct own_memory *memory)
{
	struct own_pool *own;

	if (buffer_bytes < 256 || (buffer_bytes & (buffer_bytes - 1)) != 0)
		return -1;
	if (headroom_bytes > buffer_bytes - sizeof(struct own_buffer) - OWN_TAIL_BYTES)
		return -1;
	own = memory->allocate(memory->host, own_pool_bytes(count), 64);
	if (own == NULL)
		return -1;
	own->buffers = memory->allocate(memory->host, (size_t)count * buffer_bytes, buffer_bytes);
	if (own->buffers == NULL) {
		memory->release(memory->host, own, own_pool_bytes(count));
		return -1;
	}
	own->buffer_bytes = buffer_bytes;
	own->headroom_bytes = headroom_bytes;
	own->count = count;
	own->free_count = count;
	own->memory = *memory;
	for (uint32_t i = 0; i < count; i++) {
		struct own_buffer *buffer = (struct own_buffer *)(void *)(own->buffers + (size_t)i * buffer_bytes);

		*buffer = (struct own_buffer){ .references = 0, .pool = own };
		own->free[count - 1 - i] = buffer;
	}
	*pool = (struct pool){ .handle = own, .allocate = own_pool_allocate, .buffer_bytes = buffer_bytes, .headroom_bytes = headroom_bytes };
	return 0;
}

void
own_pool_destroy(struct pool *pool)
{
	struct own_pool *own = pool->handle;
	const struct own_memory memory = own->memory;

	memory.release(memory.host, own->buffers, (size_t)own->count * own->buffer_bytes);
	memory.release(memory.host, own, own_pool_bytes(own->count));
	pool->handle = NULL;
}

void *
own_pool_allocate(struct pool *pool)
{
	struct own_pool *own = pool->handle;
	struct own_buffer *buffer;

	if (own->free_count == 0)
		return NULL;
	buffer = own->free[--own->free_count];
	buffer->references = 1;
	return (uint8_t *)buffer + sizeof(*buffer) + own->headroom_bytes;
}

void
own_pool_free(struct pool *pool, void *data)
{
	struct own_pool *own = pool->handle;
	struct own_buffer *buffer = own_buffer(data, own->buffer_bytes);

	if (--buffer->references == 0)
		own->free[own->free_count++] = buffer;
}

uint32_t
own_pool_free_count(const struct pool *pool)
{
	return ((const struct own_pool *)pool->handle)->free_count;
}

uint32_t
own_pool_room(const struct pool *pool)
{
	const struct own_pool *own = pool->handle;

	return own->buffer_bytes - (uint32_t)sizeof(struct own_buffer) - own->headroom_bytes - OWN_TAIL_BYTES;
}
