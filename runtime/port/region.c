/* Zeroed memory from the host. Part of the host. */
#define _GNU_SOURCE
#include "port/region.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_MAPPED ((size_t)1 << 20)
#define REGION_PAGE ((size_t)1 << 21)
#define REGION_ALIGNMENT ((size_t)64)

static size_t
region_round(size_t bytes, size_t to)
{
	return (bytes + to - 1) & ~(to - 1);
}

/* The kernel aligns to small pages: map a large page more, and give back the excess. */
static void *
region_map(size_t bytes)
{
	const size_t room = bytes + REGION_PAGE;
	uint8_t *memory = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *front;

	if (memory == MAP_FAILED)
		return NULL;
	front = (uint8_t *)region_round((uintptr_t)memory, REGION_PAGE);
	if (front != memory)
		(void)munmap(memory, (size_t)(front - memory));
	if (front + bytes != memory + room)
		(void)munmap(front + bytes, (size_t)(memory + room - front) - bytes);
	(void)madvise(front, bytes, MADV_HUGEPAGE);
	return front;
}

void *
region_allocate(size_t bytes)
{
	void *memory;

	if (bytes >= REGION_MAPPED)
		return region_map(region_round(bytes, REGION_PAGE));
	memory = aligned_alloc(REGION_ALIGNMENT, region_round(bytes == 0 ? 1 : bytes, REGION_ALIGNMENT));
	if (memory != NULL)
		memset(memory, 0, region_round(bytes == 0 ? 1 : bytes, REGION_ALIGNMENT));
	return memory;
}

void
region_release(void *memory, size_t bytes)
{
	if (memory == NULL)
		return;
	if (bytes >= REGION_MAPPED)
		(void)munmap(memory, region_round(bytes, REGION_PAGE));
	else
		free(memory);
}
