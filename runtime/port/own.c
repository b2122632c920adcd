/* Own packet memory: where the buffers come from. Part of the host. */
#include "packet/own_pool.h"
#include "port/region.h"

#include <stdlib.h>

static void *
own_allocate(struct pool *pool)
{
	struct own_pool *own = pool->handle;

	return own->free_count == 0 ? NULL : own->free[--own->free_count];
}

struct own_pool *
own_create(uint32_t count, uint32_t buffer_bytes, uint32_t headroom_bytes)
{
	struct own_pool *own = calloc(1, sizeof(*own));

	if (own == NULL)
		return NULL;
	own->pool = (struct pool){ own, own_allocate, buffer_bytes, headroom_bytes, count, 0 };
	own->count = count;
	own->shift = (uint32_t)__builtin_ctz(buffer_bytes);
	own->bytes = ((size_t)count << own->shift) + buffer_bytes;
	own->region = region_allocate(own->bytes);
	own->memory = own->region + (-(uintptr_t)own->region & (buffer_bytes - 1));
	own->free = calloc(count, sizeof(*own->free));
	own->holders = calloc(count, 1);
	if (own->region == NULL || own->free == NULL || own->holders == NULL) {
		own_destroy(own);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		own->free[i] = own_front(own, own->memory + ((size_t)(count - 1 - i) << own->shift));
	own->free_count = count;
	return own;
}

void
own_destroy(struct own_pool *own)
{
	region_release(own->region, own->bytes);
	free(own->free);
	free(own->holders);
	free(own);
}
